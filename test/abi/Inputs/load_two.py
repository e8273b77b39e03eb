"""Loads one runtime and two models, and runs both, with Python's own library only.

    load_two.py libhlo_rt.so saxpy.so product.so
"""
import array
import ctypes
import sys
from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_uint32, c_uint64, c_void_p


class Buffer(Structure):  # hlo_buffer_desc, as far as it is used
    _fields_ = [("name", c_char_p), ("dims", POINTER(c_int64)), ("minor_to_major", POINTER(c_int64)),
                ("bytes", c_uint64), ("type", c_int32), ("rank", c_int32)]


class Module(Structure):  # hlo_module_desc, the same
    _fields_ = [("struct_size", c_uint32), ("abi", c_uint32), ("name", c_char_p), ("texts", c_char_p * 4),
                ("signature", c_uint64), ("arena_bytes", c_uint64), ("state_bytes", c_uint64),
                ("cpu_features", c_uint64), ("arch", c_uint32), ("fp_mode", c_uint32), ("arena_align", c_uint32),
                ("needs", c_uint32), ("num_inputs", c_uint32), ("num_outputs", c_uint32)]


class Call(Structure):  # hlo_call up to its message
    _fields_ = [("struct_size", c_uint32), ("abi", c_uint32), ("arena", c_void_p), ("arena_bytes", c_uint64),
                ("alloc", c_void_p), ("exec", c_void_p), ("custom_calls", c_void_p), ("feeds", c_void_p * 2),
                ("comm", c_void_p), ("state", c_void_p), ("cancel", c_void_p), ("deadline_ns", c_int64),
                ("profile", c_void_p), ("profile_size", c_uint32 * 2), ("rng_seed", c_uint64), ("run_id", c_int64),
                ("message", c_void_p), ("message_bytes", c_uint64)]


class View(Structure):  # hlo_view
    _fields_ = [("struct_size", c_uint32), ("type", c_int32), ("data", c_void_p), ("bytes", c_uint64),
                ("dims", POINTER(c_int64)), ("minor_to_major", POINTER(c_int64)), ("rank", c_int32),
                ("reserved", c_int32)]


rt = ctypes.CDLL(sys.argv[1])
for name in ("hlo_input_at", "hlo_output_at"):
    getattr(rt, name).restype = POINTER(Buffer)
    getattr(rt, name).argtypes = [POINTER(Module), c_uint32]
rt.hlo_call_clear.argtypes = [POINTER(Call), c_uint32]
rt.hlo_type_name.restype = rt.hlo_status_name.restype = c_char_p
rt.hlo_arena_bytes.argtypes, rt.hlo_arena_bytes.restype = [POINTER(Module), c_uint32], c_uint64
rt.hlo_pool_create.restype = rt.hlo_pool_executor.restype = c_void_p
rt.hlo_pool_executor.argtypes = rt.hlo_pool_destroy.argtypes = [c_void_p]
rt.hlo_run_checked.argtypes = [POINTER(Module), POINTER(Call), POINTER(View), c_uint32, POINTER(View), c_uint32]


THREADS = 2


class Model:
    def __init__(self, path, name):
        self.library = ctypes.CDLL(path)
        describe = getattr(self.library, name + "_describe")
        describe.restype = POINTER(Module)
        self.desc = describe()
        self.message = ctypes.create_string_buffer(256)
        self.memory = ctypes.create_string_buffer(rt.hlo_arena_bytes(self.desc, THREADS) + 64)

    def leaves(self):
        module = self.desc.contents
        return ([rt.hlo_input_at(self.desc, i).contents for i in range(module.num_inputs)],
                [rt.hlo_output_at(self.desc, i).contents for i in range(module.num_outputs)])

    def signature(self):
        def text(leaf):
            dims = ",".join(str(leaf.dims[i]) for i in range(leaf.rank))
            return "%s:%s[%s]" % (leaf.name.decode(), rt.hlo_type_name(leaf.type).decode(), dims)
        return "%s(%s) -> %s" % (self.desc.contents.name.decode(), *[" ".join(map(text, s)) for s in self.leaves()])

    def run(self, inputs, outputs, pool=None):
        call = Call()
        rt.hlo_call_clear(call, ctypes.sizeof(call))
        call.arena = (ctypes.addressof(self.memory) + 63) // 64 * 64
        call.arena_bytes = rt.hlo_arena_bytes(self.desc, THREADS)
        call.exec = rt.hlo_pool_executor(pool) if pool else None
        call.message = ctypes.addressof(self.message)
        call.message_bytes = len(self.message)

        def views(arrays, leaves):
            result = (View * len(arrays))()
            for view, data, leaf in zip(result, arrays, leaves):
                address, count = data.buffer_info()
                view.struct_size, view.data, view.bytes = ctypes.sizeof(View), address, count * data.itemsize
                view.type = leaf.type
            return result
        ins, outs = self.leaves()
        status = rt.hlo_run_checked(self.desc, call, views(inputs, ins), len(inputs), views(outputs, outs),
                                    len(outputs))
        return rt.hlo_status_name(status).decode() + (": " + self.message.value.decode() if status else "")


saxpy, product = Model(sys.argv[2], "saxpy"), Model(sys.argv[3], "product")
print(saxpy.signature())
print(product.signature())
pool = rt.hlo_pool_create(THREADS)
n = 64
for threads in (None, pool):
    x, y, out = array.array("f", range(1000)), array.array("f", [0.5] * 1000), array.array("f", bytes(4000))
    print(saxpy.run([array.array("f", [2]), x, y], [out], threads), out[0], out[999])
    unit = array.array("d", [float(i == j) for i in range(n) for j in range(n)])
    m = array.array("d", [float(i + j) for i in range(n) for j in range(n)])
    p, q = array.array("d", bytes(8 * n * n)), array.array("d", bytes(8 * n * n))
    print(product.run([unit, m], [p, q], threads), p == m, q[0] == sum(i * i for i in range(n)))
print(saxpy.run([array.array("f", [2]), x, y], [array.array("f", bytes(3996))]))
print(saxpy.run([array.array("f", [2]), x], [out]))
print(saxpy.run([array.array("f", [2]), x, y], [y]))
rt.hlo_pool_destroy(pool)
