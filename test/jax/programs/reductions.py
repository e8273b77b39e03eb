"""Reductions, scans, sorts, windows and statistics."""
import jax
import jax.numpy as jnp
from jax import lax

from programs import Program, each

A = "f32[5,6]"


def window(init, function, dims=(1, 3, 3, 1), strides=(1, 2, 1, 1), padding="SAME", **more):
    return lambda x: lax.reduce_window(x, init, function, dims, strides, padding, **more)


PROGRAMS = [
    *each(jnp, "sum prod max min mean std var all any argmax argmin cumsum cumprod median ptp nansum nanprod nanmax nanmin nanmean nanstd nanvar "
               "nanargmax nancumsum count_nonzero sort argsort", A),
    *[Program(f"{n}_rows", lambda x, n=n: getattr(jnp, n)(x, axis=1), (A,)) for n in
      "sum prod max min mean std var all any argmax argmin cumsum cumprod median sort argsort".split()],
    *[Program(f"{n}_columns_kept", lambda x, n=n: getattr(jnp, n)(x, axis=0, keepdims=True), (A,)) for n in "sum max mean var any argmin".split()],
    *[Program(f"{n}_integers", getattr(jnp, n), ("s32[5,6]:small",)) for n in "sum prod max min argmax cumsum sort mean".split()],
    Program("sum_bf16", lambda x: jnp.sum(x, axis=0), ("bf16[5,6]",)),
    Program("sum_complex", jnp.sum, ("c64[5,6]",)),
    Program("sum_bytes", lambda x: jnp.sum(x, dtype=jnp.int32), ("s8[5,6]",)),
    Program("sum_where", lambda x, p: jnp.sum(x, where=p, axis=1), (A, "pred[5,6]")),
    Program("max_initial", lambda x: jnp.max(x, initial=0.3), (A,)),
    Program("mean_of_three", lambda x: x.mean(axis=(0, 2)), ("f32[2,3,4]",)),
    Program("quantile", lambda x: jnp.quantile(x, 0.3, axis=1), (A,)),
    Program("percentile", lambda x: jnp.percentile(x, jnp.array([25.0, 75.0])), (A,)),
    Program("average", lambda x, w: jnp.average(x, weights=w, axis=1), (A, A + ":positive")),
    Program("cov", jnp.cov, (A,)),
    Program("corrcoef", jnp.corrcoef, (A,)),
    Program("histogram", lambda x: jnp.histogram(x, bins=4, range=(-2, 2)), (A,)),
    Program("bincount", lambda x: jnp.bincount(x, length=5), ("s32[9]:index",)),
    Program("digitize", lambda x: jnp.digitize(x, jnp.array([-1.0, 0.0, 1.0])), (A,)),
    Program("searchsorted", lambda x: jnp.searchsorted(jnp.array([-1.0, 0.0, 1.0]), x), (A,)),
    Program("unique", lambda x: jnp.unique(x, size=4, fill_value=9), ("s32[9]:index",)),
    Program("partition", lambda x: jnp.partition(x, 2), (A,)),
    Program("lexsort", lambda x, y: jnp.lexsort((x, y)), ("s32[9]:index", "f32[9]")),
    Program("sort_pairs", lambda x, y: lax.sort((x, y), num_keys=1), ("s32[9]:index", "f32[9]")),
    Program("sort_two_keys", lambda x, y, z: lax.sort((x, y, z), num_keys=2), ("s32[9]:index", "f32[9]", "s32[9]")),
    Program("sort_descending", lambda x: jnp.sort(x, descending=True), (A,)),
    Program("sort_complex", jnp.sort, ("c64[9]",)),
    Program("top_k", lambda x: lax.top_k(x, 3), (A,)),
    Program("approx_max_k", lambda x: lax.approx_max_k(x, 2), (A,)),
    Program("cumsum_reverse", lambda x: lax.cumsum(x, axis=1, reverse=True), (A,)),
    Program("cummax", lambda x: lax.cummax(x, axis=0), (A,)),
    Program("cummin", lambda x: lax.cummin(x, axis=0), (A,)),
    Program("cumlogsumexp", lambda x: lax.cumlogsumexp(x, axis=1), (A,)),
    Program("associative_scan", lambda x: lax.associative_scan(jnp.multiply, x), (A,)),
    Program("reduce_own", lambda x: lax.reduce(x, jnp.float32(1), lambda a, b: a * b + 0.5 * (a - b) * 0, (1,)), (A,)),
    Program("reduce_pair", lambda x, y: lax.reduce((x, y), (jnp.float32(0), jnp.int32(0)), lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])), (0,)),
            (A, "s32[5,6]")),
    Program("reduce_and_or", lambda x: (lax.reduce_and(x, axes=(0,)), lax.reduce_or(x, axes=(1,)), lax.reduce_xor(x, axes=(0,))), ("s32[5,6]",)),
    Program("max_pool", window(-jnp.inf, lax.max), ("f32[1,6,6,2]",)),
    Program("sum_pool", window(0.0, lax.add, padding="VALID"), ("f32[1,6,6,2]",)),
    Program("min_pool_dilated", window(jnp.inf, lax.min, padding="VALID", window_dilation=(1, 2, 2, 1)), ("f32[1,6,6,2]",)),
    Program("pool_of_dilated", window(0.0, lax.add, base_dilation=(1, 2, 1, 1)), ("f32[1,6,6,2]",)),
    Program("average_pool_gradient", jax.grad(lambda x: (window(0.0, lax.add)(x) ** 2).sum()), ("f32[1,6,6,2]",)),
    Program("max_pool_gradient", jax.grad(lambda x: (window(-jnp.inf, lax.max)(x) ** 2).sum()), ("f32[1,6,6,2]",)),
    Program("logsumexp", lambda x: jax.nn.logsumexp(x, axis=1), (A,)),
    Program("convolve", lambda x, y: jnp.convolve(x, y), ("f32[9]", "f32[3]")),
    Program("correlate", lambda x, y: jnp.correlate(x, y, mode="same"), ("f32[9]", "f32[3]")),
    Program("interp", lambda x: jnp.interp(x, jnp.array([-1.0, 0.0, 1.0]), jnp.array([2.0, 3.0, 7.0])), (A,)),
    Program("trapezoid", jnp.trapezoid, (A,)),
    Program("polyfit_values", lambda x: jnp.polyval(jnp.array([1.0, 2.0, 3.0]), x), (A,)),
    Program("reduce_empty", lambda x: x.sum(1), ("f32[3,0]",)),
]
