"""Functions of each element, in the types that users have."""
import jax
import jax.numpy as jnp
from jax import lax

from programs import Program, each

A = "f32[3,5]"


def typed(name, function, *types):
    return [Program(f"{name}_{t}", function, (f"{t}[7]",)) for t in types]


PROGRAMS = [
    *each(jnp, "abs negative sign sin cos tan sinh cosh tanh arctan arcsinh exp exp2 expm1 floor ceil round rint trunc square cbrt "
               "deg2rad rad2deg sinc isnan isinf isfinite signbit reciprocal nan_to_num fabs isposinf isneginf positive degrees radians "
               "i0 angle real imag conj logical_not", A),
    *each(jnp, "log log2 log10 log1p sqrt", A + ":positive"),
    *each(jnp, "arcsin arccos arctanh", A + ":unit"),
    Program("arccosh", lambda x: jnp.arccosh(x + 1), (A + ":positive",)),
    *each(jnp, "add subtract multiply divide maximum minimum fmax fmin arctan2 hypot logaddexp logaddexp2 copysign nextafter heaviside "
               "mod fmod remainder floor_divide equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor "
               "divmod float_power", A, A),
    Program("power", jnp.power, (A + ":positive", A)),
    Program("ldexp", jnp.ldexp, (A, "s32[3,5]:small")),
    Program("frexp", jnp.frexp, (A,)),
    Program("modf", jnp.modf, (A,)),
    *[Program(f"{n}_integers", getattr(jnp, n), ("s32[9]", "s32[9]:small")) for n in
      "add subtract multiply maximum minimum bitwise_and bitwise_or bitwise_xor equal less gcd lcm floor_divide remainder left_shift right_shift".split()],
    *[Program(f"{n}_integer", getattr(jnp, n), ("s32[9]",)) for n in "abs negative sign invert square bitwise_count".split()],
    *[Program(f"{n}_unsigned", getattr(jnp, n), ("u8[9]", "u8[9]")) for n in "add multiply maximum floor_divide right_shift".split()],
    *typed("sine", jnp.sin, "f64", "f16", "bf16", "c64", "c128"),
    *typed("exponential", jnp.exp, "f64", "f16", "bf16", "c64"),
    *typed("logarithm", jnp.log, "c64", "f64"),
    *typed("root", jnp.sqrt, "c64", "c128"),
    *typed("tangent", jnp.tanh, "f64", "bf16", "c64"),
    *typed("log1p", jnp.log1p, "c64"),
    *typed("expm1", jnp.expm1, "c64", "f64"),
    *typed("arcsine", jnp.arcsin, "c64"),
    *typed("arccosine", jnp.arccos, "c64"),
    *typed("arctangent", jnp.arctan, "c64", "f64"),
    *typed("arcsinh", jnp.arcsinh, "c64"),
    *typed("magnitude", jnp.abs, "c64", "s8", "bf16"),
    *typed("to_bf16", lambda x: x.astype(jnp.bfloat16), "f32", "f64", "s32"),
    *typed("to_f16", lambda x: x.astype(jnp.float16), "f32", "u8"),
    *typed("to_s8", lambda x: x.astype(jnp.int8), "f32", "s32"),
    *typed("to_u32", lambda x: x.astype(jnp.uint32), "s32", "f32"),
    *typed("to_f8e4m3fn", lambda x: x.astype(jnp.float8_e4m3fn), "f32", "bf16"),
    *typed("to_f8e5m2", lambda x: x.astype(jnp.float8_e5m2), "f32"),
    *typed("to_s4_and_back", lambda x: x.astype(jnp.int4).astype(jnp.int8) + 1, "s8", "s32"),
    *typed("to_bool", lambda x: x.astype(bool), "f32", "s32"),
    *typed("bits", lambda x: lax.bitcast_convert_type(x, jnp.int32), "f32", "u32"),
    Program("bytes", lambda x: lax.bitcast_convert_type(x, jnp.uint8), ("f32[3]",)),
    Program("of_bytes", lambda x: lax.bitcast_convert_type(x, jnp.float16), ("u8[3,2]",)),
    Program("clip", lambda x: jnp.clip(x, -0.5, 0.5), (A,)),
    Program("where", lambda p, x, y: jnp.where(p, x, y), ("pred[3,5]", A, A)),
    Program("where_scalar", lambda x: jnp.where(x > 0, x, 0.1 * x), (A,)),
    Program("select_n", lambda i, x, y, z: lax.select_n(i, x, y, z), ("s32[4]:index", "f32[4]", "f32[4]", "f32[4]")),
    Program("broadcast_rules", lambda x, y: x[:, None, :] * y + 1, ("f32[3,5]", "f32[4,1]")),
    Program("mixed_types", lambda x, y: x * y, ("f32[5]", "s32[5]:small")),
    Program("complex_parts", lambda x, y: lax.complex(x, y) * (1 + 2j), ("f32[5]", "f32[5]")),
    Program("powers", lambda x: x**2 + x**3 + x**-1 + x**0.5, ("f32[5]:positive",)),
    Program("integer_power", lambda x: x**5, ("s32[5]:small",)),
    Program("reduce_precision", lambda x: lax.reduce_precision(x, 5, 7), (A,)),
    Program("constants", lambda x: x + jnp.array([1.5, jnp.inf, -jnp.inf, 3e-40, jnp.pi]) * jnp.float32(2), ("f32[3,5]",)),
    Program("nan_constant", lambda x: jnp.where(x > 0, x, jnp.nan), (A,)),
    Program("scalar", lambda x, y: x * y + 1, ("f32[]", "f64[]")),
    Program("empty", lambda x: jnp.sin(x) + 1, ("f32[0,3]",)),
    Program("shared_subexpressions", lambda x: (jnp.sin(x) + jnp.sin(x) * 2, jnp.sin(x)), (A,)),
    Program("dictionary", lambda x: {"b": x + 1, "a": (x * 2, [x])}, (A,)),
    Program("argument_twice", lambda x, y: (x, y, x), (A, A)),
    Program("nested_jit", lambda x: jax.jit(lambda y: jax.jit(jnp.cos)(y) + jax.jit(jnp.cos)(y + 1))(x), (A,)),
]
