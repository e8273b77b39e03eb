//! A safe wrapper of libhlo_rt.so: compiled modules that are called with slices.
//!
//! One `Model` serves one call at a time; several may run at once. The structs are the beginnings
//! of those of the same names in <hlo/rt.h>, which only grow at their ends.
#![allow(dead_code)]

use std::ffi::{c_void, CStr};
use std::marker::PhantomData;
use std::mem::{size_of, zeroed};
use std::os::raw::c_char;
use std::ptr::null_mut;

const ABI: u32 = 2;

#[repr(C)]
pub struct Module {
    pub struct_size: u32, pub abi: u32,
    pub name: *const c_char,
    pub texts: [*const c_char; 4],
    pub signature: u64, pub arena_bytes: u64, pub state_bytes: u64, pub cpu_features: u64,
    pub arch: u32, pub fp_mode: u32, pub arena_align: u32, pub needs: u32,
    pub num_inputs: u32, pub num_outputs: u32,
}

#[repr(C)]
pub struct Buffer {
    pub name: *const c_char, pub dims: *const i64, pub minor_to_major: *const i64,
    pub bytes: u64,
    pub kind: i32, pub rank: i32, pub align: u32, pub alias: i32,
}

#[repr(C)]
pub struct Call {
    pub struct_size: u32, pub abi: u32,
    pub arena: *mut c_void, pub arena_bytes: usize,
    pub alloc: *const c_void, pub exec: *const c_void, pub custom_calls: *const c_void,
    pub infeed: *const c_void, pub outfeed: *const c_void, pub comm: *const c_void,
    pub state: *mut c_void,
    pub cancel: *const i32, pub deadline_ns: i64,
    pub profile: *mut c_void, pub profile_count: u32, pub profile_stride: u32,
    pub rng_seed: u64, pub run_id: i64,
    pub message: *mut c_char, pub message_bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct View {
    pub struct_size: u32, pub kind: i32,
    pub data: *mut c_void, pub bytes: u64,
    pub dims: *const i64, pub minor_to_major: *const i64, pub rank: i32, pub reserved: i32,
}

#[link(name = "hlo_rt")]
extern "C" {
    fn hlo_output_at(module: *const Module, i: u32) -> *const Buffer;
    fn hlo_arena_bytes(module: *const Module, threads: u32) -> u64;
    fn hlo_call_clear(call: *mut Call, struct_size: u32);
    fn hlo_status_name(status: i32) -> *const c_char;
    fn hlo_pool_create(threads: u32) -> *mut c_void;
    fn hlo_pool_destroy(pool: *mut c_void);
    fn hlo_pool_executor(pool: *const c_void) -> *const c_void;
    fn hlo_run_checked(module: *const Module, call: *const Call, inputs: *const View, num_inputs: u32,
        outputs: *const View, num_outputs: u32) -> i32;
}

/// A failed call: its status (HLO_ERR_* of <hlo/rt.h>), the status's name, and a text.
#[derive(Debug)]
pub struct Error { pub status: i32, pub name: String, pub message: String }
impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result { write!(f, "{}: {}", self.name, self.message) }
}
impl std::error::Error for Error {}

fn error<T>(status: i32, message: &str) -> Result<T, Error> {
    let name = unsafe { CStr::from_ptr(hlo_status_name(status)) };
    Err(Error { status, name: name.to_string_lossy().into_owned(), message: message.to_string() })
}

/// Element types of slices. Safe to implement only where any bytes are a value.
pub unsafe trait Element { const KIND: i32; }
unsafe impl Element for f32 { const KIND: i32 = 18; }
unsafe impl Element for f64 { const KIND: i32 = 19; }
unsafe impl Element for i32 { const KIND: i32 = 7; }
unsafe impl Element for i64 { const KIND: i32 = 8; }
unsafe impl Element for u8 { const KIND: i32 = 12; }

#[derive(Clone, Copy, PartialEq)]
enum Use { Input, Output, State }

/// An array of a call, which borrows its slice.
pub struct Array<'a> { view: View, used: Use, borrow: PhantomData<&'a mut [u8]> }
fn array<'a, T: Element>(data: *const T, n: usize, used: Use) -> Array<'a> {
    let view = View { struct_size: size_of::<View>() as u32, kind: T::KIND, data: data as *mut c_void,
        bytes: (n * size_of::<T>()) as u64, ..unsafe { zeroed() } };
    Array { view, used, borrow: PhantomData }
}
pub fn input<T: Element>(data: &[T]) -> Array<'_> { array(data.as_ptr(), data.len(), Use::Input) }
pub fn output<T: Element>(data: &mut [T]) -> Array<'_> { array(data.as_ptr(), data.len(), Use::Output) }
/// An input, and the output that may have its memory.
pub fn state<T: Element>(data: &mut [T]) -> Array<'_> { array(data.as_ptr(), data.len(), Use::State) }

#[repr(C, align(64))]
#[derive(Clone)]
struct Line([u8; 64]);

/// A module, its scratch memory, and a pool if there is more than one thread.
pub struct Model { module: *const Module, arena: Vec<Line>, pool: *mut c_void }
unsafe impl Send for Model {}

impl Model {
    /// # Safety
    /// `describe` must be the PREFIX_describe of an object that hlo-compile made.
    pub unsafe fn new(describe: unsafe extern "C" fn() -> *const Module, threads: u32) -> Result<Model, Error> {
        let module = describe();
        if (*module).abi != ABI || (*module).arena_align > 64 { return error(515, "another ABI"); }
        let pool = if threads > 1 { hlo_pool_create(threads) } else { null_mut() };
        if threads > 1 && pool.is_null() { return error(8, "no threads"); }
        let lines = (hlo_arena_bytes(module, threads) as usize + 63) / 64;
        Ok(Model { module, arena: vec![Line([0; 64]); lines], pool })
    }

    /// Runs the module on its inputs and states in order, then the outputs that are in no state's memory.
    pub fn run(&mut self, arrays: &mut [Array]) -> Result<(), Error> {
        let (outputs, inputs): (Vec<&Array>, Vec<&Array>) = arrays.iter().partition(|a| a.used == Use::Output);
        let (mut rest, mut states) = (outputs.iter(), inputs.iter().filter(|a| a.used == Use::State).count());
        let (mut views, mut message) = (Vec::new(), [0u8; 256]);
        for i in 0..unsafe { (*self.module).num_outputs } {
            let of = unsafe { (*hlo_output_at(self.module, i)).alias };
            let shared = inputs.get(of as usize).filter(|a| of >= 0 && a.used == Use::State);
            states -= shared.is_some() as usize;
            views.extend(shared.or_else(|| rest.next()).map(|a| a.view));
        }
        views.extend(rest.map(|a| a.view)); // too many: the runtime says so
        if states > 0 { return error(3, "no output may have the memory of a state"); }
        let ins: Vec<View> = inputs.iter().map(|a| a.view).collect();
        let status = unsafe {
            let mut call: Call = zeroed();
            hlo_call_clear(&mut call, size_of::<Call>() as u32);
            call.arena = self.arena.as_mut_ptr() as *mut c_void;
            call.arena_bytes = self.arena.len() * 64;
            call.exec = if self.pool.is_null() { null_mut() } else { hlo_pool_executor(self.pool) };
            call.message = message.as_mut_ptr() as *mut c_char;
            call.message_bytes = message.len();
            hlo_run_checked(self.module, &call, ins.as_ptr(), ins.len() as u32, views.as_ptr(), views.len() as u32)
        };
        let text = String::from_utf8_lossy(&message);
        if status == 0 { Ok(()) } else { error(status, text.trim_end_matches('\0')) }
    }
}
impl Drop for Model { fn drop(&mut self) { unsafe { hlo_pool_destroy(self.pool) } } }
