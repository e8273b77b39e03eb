// Loads one runtime and two models and runs both: load_two libhlo_rt.so saxpy.so product.so
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::mem::{size_of, transmute, zeroed};
use std::ptr::null;

extern "C" {
    fn dlopen(path: *const c_char, mode: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// hlo_view.
#[repr(C)]
struct View {
    struct_size: u32,
    element_type: i32,
    data: *const c_void,
    bytes: u64,
    dims: *const i64,
    minor_to_major: *const i64,
    rank: i32,
    reserved: i32,
}

/// hlo_call, up to its message.
#[repr(C)]
struct Call {
    struct_size: u32,
    abi: u32,
    arena: *mut c_void,
    arena_bytes: usize,
    services: [*const c_void; 6],
    state: *mut c_void,
    cancel: *const i32,
    deadline_ns: i64,
    profile: *mut c_void,
    profile_count: u32,
    profile_stride: u32,
    rng_seed: u64,
    run_id: i64,
    message: *mut c_char,
    message_bytes: usize,
}

type Describe = unsafe extern "C" fn() -> *const c_void;
type Clear = unsafe extern "C" fn(*mut Call, u32);
type Run = unsafe extern "C" fn(*const c_void, *const Call, *const View, u32, *const View, u32) -> i32;

unsafe fn open(path: &str) -> *mut c_void {
    let library = dlopen(CString::new(path).unwrap().as_ptr(), 2);
    assert!(!library.is_null(), "cannot load {path}");
    library
}

unsafe fn find(library: *mut c_void, name: &str) -> *mut c_void {
    let symbol = dlsym(library, CString::new(name).unwrap().as_ptr());
    assert!(!symbol.is_null(), "no {name}");
    symbol
}

fn view<T>(data: &[T]) -> View {
    View {
        struct_size: size_of::<View>() as u32,
        element_type: 0,
        data: data.as_ptr() as *const c_void,
        bytes: std::mem::size_of_val(data) as u64,
        dims: null(),
        minor_to_major: null(),
        rank: 0,
        reserved: 0,
    }
}

fn main() {
    let paths: Vec<String> = std::env::args().collect();
    unsafe {
        let runtime = open(&paths[1]);
        let clear: Clear = transmute(find(runtime, "hlo_call_clear"));
        let run: Run = transmute(find(runtime, "hlo_run_checked"));
        let saxpy: Describe = transmute(find(open(&paths[2]), "saxpy_describe"));
        let product: Describe = transmute(find(open(&paths[3]), "product_describe"));
        let mut arena = vec![0u8; 1 << 20];
        let mut message = [0 as c_char; 256];
        let mut call: Call = zeroed();
        clear(&mut call, size_of::<Call>() as u32);
        call.arena = ((arena.as_mut_ptr() as usize + 63) / 64 * 64) as *mut c_void;
        call.arena_bytes = arena.len() - 64;
        call.message = message.as_mut_ptr();
        call.message_bytes = message.len();
        let (a, x, y) = (vec![2f32], vec![3f32; 1000], vec![0.5f32; 1000]);
        let out = vec![0f32; 1000];
        let status = run(saxpy(), &call, [view(&a), view(&x), view(&y)].as_ptr(), 3, &view(&out), 1);
        println!("saxpy: {} {} {}", status, out[0], out[999]);
        let m = vec![1f64; 64 * 64];
        let (p, q) = (vec![0f64; 64 * 64], vec![0f64; 64 * 64]);
        let status = run(product(), &call, [view(&m), view(&m)].as_ptr(), 2, [view(&p), view(&q)].as_ptr(), 2);
        println!("product: {} {} {}", status, p[0], q[64 * 64 - 1]);
        let short = vec![0f32; 999];
        let status = run(saxpy(), &call, [view(&a), view(&x), view(&y)].as_ptr(), 3, &view(&short), 1);
        println!("short: {} {}", status & 0xff, CStr::from_ptr(message.as_ptr()).to_str().unwrap());
    }
}
