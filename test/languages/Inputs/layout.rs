// Prints the offsets and sizes of the wrapper's structs: lines "STRUCT FIELD OFFSET BYTES".
#[path = "../../../examples/languages/rust/hlo.rs"]
mod hlo;

macro_rules! print_fields {
    ($type:ty, $name:expr, $($field:ident = $c:expr),*) => {{
        let value = std::mem::MaybeUninit::<$type>::zeroed();
        let base = value.as_ptr();
        $(unsafe {
            let field = std::ptr::addr_of!((*base).$field);
            fn bytes<T>(_: *const T) -> usize { std::mem::size_of::<T>() }
            println!("{} {} {} {}", $name, $c, field as usize - base as usize, bytes(field));
        })*
    }};
}

fn main() {
    print_fields!(hlo::Module, "hlo_module_desc", struct_size = "struct_size", abi = "abi", name = "name",
        signature = "signature", arena_bytes = "arena_bytes", state_bytes = "state_bytes",
        cpu_features = "cpu_features", arch = "arch", fp_mode = "fp_mode", arena_align = "arena_align",
        needs = "needs", num_inputs = "num_inputs", num_outputs = "num_outputs");
    print_fields!(hlo::Buffer, "hlo_buffer_desc", name = "name", dims = "dims", minor_to_major = "minor_to_major",
        bytes = "bytes", kind = "type", rank = "rank", align = "align", alias = "alias");
    print_fields!(hlo::Call, "hlo_call", struct_size = "struct_size", abi = "abi", arena = "arena",
        arena_bytes = "arena_bytes", alloc = "alloc", exec = "exec", custom_calls = "custom_calls",
        infeed = "infeed", outfeed = "outfeed", comm = "comm", state = "state", cancel = "cancel",
        deadline_ns = "deadline_ns", profile = "profile", profile_count = "profile_count",
        profile_stride = "profile_stride", rng_seed = "rng_seed", run_id = "run_id", message = "message",
        message_bytes = "message_bytes");
    print_fields!(hlo::View, "hlo_view", struct_size = "struct_size", kind = "type", data = "data",
        bytes = "bytes", dims = "dims", minor_to_major = "minor_to_major", rank = "rank", reserved = "reserved");
    println!("sizeof hlo_view {}", std::mem::size_of::<hlo::View>());
}
