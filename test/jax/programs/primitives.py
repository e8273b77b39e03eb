"""Functions of jax.lax that the other files do not reach."""
import jax.numpy as jnp
from jax import lax

from programs import Program, each

A = "f32[3,5]"

PROGRAMS = [
    *each(lax, "abs cbrt ceil cos exp exp2 expm1 floor is_finite logistic neg round sign sin square tan tanh bessel_i0e bessel_i1e erf erfc "
               "asinh atan cosh sinh", A),
    *each(lax, "lgamma digamma rsqrt sqrt log log1p", A + ":positive"),
    *each(lax, "acos asin atanh erf_inv", A + ":unit"),
    *each(lax, "population_count clz bitwise_not", "u32[7]"),
    *each(lax, "add atan2 div max min mul nextafter rem sub eq ne lt le gt ge", A, A),
    *each(lax, "bitwise_and bitwise_or bitwise_xor shift_left shift_right_logical shift_right_arithmetic", "s32[7]", "s32[7]:small"),
    *each(lax, "igamma igammac", A + ":positive", A + ":positive"),
    Program("pow", lax.pow, (A + ":positive", A)),
    Program("pow_integer_exponent", lambda x, y: lax.pow(x, y), (A, "s32[3,5]:small")),
    Program("integer_pow", lambda x: lax.integer_pow(x, -3), (A + ":positive",)),
    Program("clamp", lambda x: lax.clamp(-0.5, x, 0.5), (A,)),
    Program("clamp_arrays", lax.clamp, (A, A, A)),
    Program("round_even", lambda x: lax.round(x * 2, lax.RoundingMethod.TO_NEAREST_EVEN), (A,)),
    Program("regularized_beta", lambda a, b, x: lax.betainc(a, b, jnp.abs(x)), (A + ":positive", A + ":positive", A + ":unit")),
    Program("zeta", lambda x, q: lax.zeta(x + 1, q), (A + ":positive", A + ":positive")),
    Program("polygamma", lambda x: lax.polygamma(jnp.full_like(x, 1), x), (A + ":positive",)),
    Program("conj", lax.conj, ("c64[5]",)),
    Program("real_imag", lambda x: (lax.real(x), lax.imag(x)), ("c64[5]",)),
    Program("broadcast", lambda x: lax.broadcast(x, (2,)), (A,)),
    Program("broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (3, 2, 5), (0, 2)), (A,)),
    Program("convert_element_type", lambda x: lax.convert_element_type(x, jnp.int32), (A,)),
    Program("argmax_index_type", lambda x: lax.argmax(x, 1, jnp.int32), (A,)),
    Program("reduce_max", lambda x: lax.reduce_max(x, axes=(0,)), (A,)),
    Program("cumprod", lambda x: lax.cumprod(x, axis=1), (A,)),
    Program("scatter_apply", lambda x: x.at[jnp.array([0, 2])].multiply(3.0), (A,)),
    Program("mulhi", lambda x, y: lax.mulhi(x, y), ("u32[7]", "u32[7]")) if hasattr(lax, "mulhi") else
    Program("wide_product", lambda x, y: (x.astype(jnp.uint64) * y.astype(jnp.uint64)) >> 32, ("u32[7]", "u32[7]")),
    Program("rng_bit_generator", lambda k: lax.rng_bit_generator(k, (5,)), ("u64[2]:key",)),
    Program("expand_dims", lambda x: lax.expand_dims(x, (1,)), (A,)),
    Program("squeeze", lambda x: lax.squeeze(x, (1,)), ("f32[3,1,5]",)),
    Program("select_and_gather_add", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2), (1, 2), "SAME"), (A,)),
    Program("exp2_f64", lax.exp2, ("f64[7]",)),
    Program("tan_f64", lax.tan, ("f64[7]",)),
    Program("tan_complex", lax.tan, ("c64[7]",)),
    Program("atan2_f64", lax.atan2, ("f64[7]", "f64[7]")),
    Program("cosh_bf16", lax.cosh, ("bf16[7]",)),
    Program("nextafter_f64", lax.nextafter, ("f64[7]", "f64[7]")),
    Program("nextafter_bf16", lax.nextafter, ("bf16[7]", "bf16[7]")),
]
