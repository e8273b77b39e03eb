"""Element types by HLO's names, and arrays as files hold them."""
import ml_dtypes
import numpy as np

TYPES = {"pred": np.bool_, "s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64, "u8": np.uint8, "u16": np.uint16,
         "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16,
         "c64": np.complex64, "c128": np.complex128, "s4": ml_dtypes.int4, "f8e4m3fn": ml_dtypes.float8_e4m3fn}


def stored(x):
    """The array as numpy's files have it for hlo-run: bf16 as uint16."""
    x = np.asarray(x)
    return x.view(np.uint16) if x.dtype == ml_dtypes.bfloat16 else x
