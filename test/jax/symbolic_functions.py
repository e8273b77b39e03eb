"""Functions that are exported with symbolic sizes: `define(name, function, shapes..., sizes=[...])` for each.

A shape is text as jax.export.symbolic_shape reads it, "b, 2*s, 3", or a pair of it and an element type. `sizes` are the
values of the symbols for one call each; without them there are five, of which some are 1 and the bound. `where` are
JAX's constraints between symbols, `high` the end of random integers. Random numbers are small and distinct enough that
a result at a wrong place differs.
"""
import jax
import jax.numpy as jnp
from jax import lax

CASES = {}
ONE = [{"b": 1}, {"b": 2}, {"b": 7}, {"b": 15}, {"b": 16}]
TWO = [{"b": 1, "s": 1}, {"b": 1, "s": 8}, {"b": 3, "s": 5}, {"b": 8, "s": 1}, {"b": 8, "s": 8}]
FROM_TWO = [{"b": 2}, {"b": 3}, {"b": 7}, {"b": 15}, {"b": 16}]


def define(name, f, *shapes, sizes=None, where=(), high=4):
    specs = [(s, "float32") if isinstance(s, str) else s for s in shapes]
    CASES[name] = (f, specs, sizes or (TWO if any("s" in s for s, _ in specs) else ONE), where, high)


# One op at a time.
for op in ("negative", "exp", "tanh", "sin", "cos", "log1p", "sqrt", "sign", "floor", "isfinite", "square", "rint"):
    define(op, lambda x, op=op: getattr(jnp, op)(abs(x) if op in ("log1p", "sqrt") else x), "b, 3")
for op in ("add", "subtract", "multiply", "maximum", "minimum", "arctan2", "less", "equal"):
    define(op, getattr(jnp, op), "b, s", "b, s")
    define(op + "_row", getattr(jnp, op), "b, s", "s")
    define(op + "_column", getattr(jnp, op), "b, s", "b, 1")
for op in ("sum", "prod", "max", "min", "mean", "var", "argmax", "argmin", "any", "all"):
    define(op + "_rows", lambda x, op=op: getattr(jnp, op)(x, axis=0), "b, s")
    define(op + "_columns", lambda x, op=op: getattr(jnp, op)(x, axis=1), "b, s")
    define(op + "_of_all", lambda x, op=op: getattr(jnp, op)(x), "b, s")
for op in ("cumsum", "cumprod", "cummax", "cummin"):
    for axis in (0, 1):
        for reverse in (False, True):
            define(f"{op}_{axis}{'_reverse' if reverse else ''}",
                   lambda x, op=op, axis=axis, reverse=reverse: getattr(lax, op)(x * 0.5, axis=axis, reverse=reverse),
                   "b, s")
for kind in ("int32", "uint8", "bfloat16", "float16"):
    define("affine_" + kind, lambda x: x * 2 + x, ("b, 3", kind))
    define("total_" + kind, lambda x: x.sum(axis=0), ("b, 3", kind))
define("convert", lambda x: x.astype("int32") + 1, "b, 3")
define("where", lambda x: jnp.where(x > 0, x, -1.0), "b, s")
define("clip", lambda x: jnp.clip(x, -1, 1), "b, s")
define("select_n", lambda p, x, y: lax.select(p, x, y), ("b, s", "bool"), "b, s", "b, s")

# Shapes.
define("flatten", lambda x: x.reshape(-1), "b, s")
define("flatten3", lambda x: x.reshape(x.shape[0], -1), "b, s, 3")
define("split_rows", lambda x: x.reshape(-1, 4, 3), "4*b, 3")
define("split_heads", lambda x: x.reshape(x.shape[0], x.shape[1], 2, 4).transpose(0, 2, 1, 3), "b, s, 8")
define("join_heads", lambda x: x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], 8), "b, 2, s, 4")
define("swap", lambda x: x.T.reshape(-1), "b, s")
define("transpose", lambda x: x.T, "b, s")
define("expand", lambda x: x[:, None, :] - x[None, :, :], "b, 3")
define("squeeze", lambda x: x[:, 0, :] * 2, "b, 1, s")
define("broadcast_to", lambda x, y: jnp.broadcast_to(x, (y.shape[0], 3)), "3", "b")
define("tile", lambda x: jnp.tile(x, (2, 3)), "b, s")
define("repeat", lambda x: jnp.repeat(x, 3, axis=0), "b, 2")
define("stack", lambda x, y: jnp.stack([x, y]), "b, s", "b, s")
define("concatenate", lambda x, y: jnp.concatenate([x, y, x]), "b, 3", "s, 3")
define("concatenate_columns", lambda x, y: jnp.concatenate([x, y], axis=1), "b, s", "b, 3")
define("flip", lambda x: jnp.flip(x), "b, s")
define("flip_rows", lambda x: jnp.flip(x, 0), "b, s")
define("roll", lambda x: jnp.roll(x, 1, axis=0), "b, 3")
define("roll2", lambda x: jnp.roll(x, -2, axis=1), "b, s")
define("pad", lambda x: jnp.pad(x, ((1, 2), (0, 3)), constant_values=7), "b, s")
define("pad_low", lambda x: jnp.pad(x, ((x.shape[0], 2), (0, 0))), "b, 3")
define("pad_to", lambda x, y: jnp.pad(x, ((0, y.shape[0] - x.shape[0]), (1, 1))), "b, 3", "s",
       where=("s >= b",), sizes=[{"b": 1, "s": 1}, {"b": 1, "s": 8}, {"b": 3, "s": 5}, {"b": 8, "s": 8}, {"b": 7, "s": 8}])
define("pad_interior", lambda x: lax.pad(x, 5.0, ((1, 0, 2), (0, 1, 1))), "b, s")
define("pad_negative", lambda x: lax.pad(x, 5.0, ((-1, 2, 0), (0, 0, 0))), "b, s")
define("tril", lambda x: jnp.tril(x), "b, s, s")
define("triu", lambda x: jnp.triu(x, 1), "b, s")
define("diagonal_mask", lambda x: x * jnp.eye(x.shape[0]), "b, b")
define("arange", lambda x: x + jnp.arange(x.shape[0]), "b")
define("iota_columns", lambda x: x + lax.broadcasted_iota("float32", (x.shape[0], x.shape[1]), 1), "b, s")
define("zeros_like", lambda x: jnp.zeros_like(x) + 1, "b, s")
define("full", lambda x: jnp.full((x.shape[0], 2 * x.shape[1]), 3.0), "b, s")
define("odd", lambda x: x * 2 + jnp.arange(x.shape[0]), "2*b + 1")
define("sum_of_sizes", lambda x, y: x[:y.shape[0]] * 2 + y, "b + s", "b")
define("size_as_value", lambda x: x.sum() / x.shape[0] + x.shape[1], "b, s")
define("floordiv", lambda x: x[:x.shape[0] // 2] + 1, "b, 3", sizes=FROM_TWO)
define("from_half", lambda x: x[x.shape[0] // 2:], "b, 3")
define("first", lambda x: x[0], "b, s")
define("last", lambda x: x[-1], "b, s")
define("but_first", lambda x: x[1:] * 2, "b, 3", where=("b >= 2",), sizes=FROM_TWO)
define("but_last", lambda x: x[:-1] * 2, "b, 3", where=("b >= 2",), sizes=FROM_TWO)
define("diff", lambda x: jnp.diff(x, axis=0), "b, 3", where=("b >= 2",), sizes=FROM_TWO)
define("stride", lambda x: x[::2], "b, 3")
define("stride_columns", lambda x: x[:, ::3], "b, s")
define("slice_columns", lambda x: x[:, 1:3], "b, 5")
define("slice_to", lambda x, y: x[1:y.shape[0] + 1], "b, 3", "s", where=("b >= s + 1",),
       sizes=[{"b": 2, "s": 1}, {"b": 8, "s": 7}, {"b": 8, "s": 1}, {"b": 5, "s": 3}, {"b": 6, "s": 5}])
define("windows", lambda x: x.reshape(-1, 4).sum(axis=1), "4*b")
define("mod_size", lambda x: x * (x.shape[0] % 3), "b, 2")
define("max_size", lambda x, y: jnp.zeros((jax.core.max_dim(x.shape[0], y.shape[0]), 2)) + 1, "b", "s")

# Indices.
define("take", lambda x, i: jnp.take(x, i, axis=0), "b, 3", ("s", "int32"), high=1)
define("take_clip", lambda x, i: jnp.take(x, i, axis=0, mode="clip"), "b, 3", ("s", "int32"), high=20)
define("take_fill", lambda x, i: jnp.take(x, i, axis=0, mode="fill", fill_value=-1), "b, 3", ("s", "int32"), high=20)
define("take_along", lambda x, i: jnp.take_along_axis(x, i, axis=1), "b, s", ("b, 2", "int32"), high=1)
define("index_rows", lambda x, i: x[i], "b, 3", ("s", "int32"), high=1)
define("embedding", lambda w, i: w[i], "11, 4", ("b, s", "int32"), high=11)
define("one_hot", lambda i: jax.nn.one_hot(i, 5), ("b", "int32"), high=5)
define("scatter_add", lambda x, i, u: x.at[i].add(u), "b, 3", ("s", "int32"), "s, 3", high=1)
define("scatter_set", lambda x: x.at[0].set(1.0), "b, 3")
define("scatter_column", lambda x: x.at[:, 1].set(0.0), "b, 3")
define("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, num_segments=5), "b, 3", ("b", "int32"), high=5)
define("bincount", lambda i: jnp.bincount(i, length=6), ("b", "int32"), high=6)
define("dynamic_slice", lambda x, i: lax.dynamic_slice_in_dim(x, i, 1), "b, 3", ("", "int32"), high=20)
define("dynamic_slice_size", lambda x, i, y: lax.dynamic_slice_in_dim(x, i, y.shape[0]), "b, 3", ("", "int32"), "s",
       where=("b >= s",), high=9,
       sizes=[{"b": 1, "s": 1}, {"b": 8, "s": 3}, {"b": 5, "s": 5}, {"b": 8, "s": 8}, {"b": 7, "s": 2}])
define("dynamic_update", lambda x, i: lax.dynamic_update_slice_in_dim(x, jnp.ones((1, 3)), i, 0), "b, 3", ("", "int32"),
       high=20)
define("sort_rows", lambda x: jnp.sort(x, axis=0), "b, s")
define("sort_columns", lambda x: jnp.sort(x, axis=1), "b, s")
define("argsort", lambda x: jnp.argsort(x, axis=1), "b, s")
define("top_k", lambda x: lax.top_k(x, 3), "b, 8")
define("top_all", lambda x: lax.top_k(x, x.shape[1]), "b, s")

define("median", lambda x: jnp.median(x, axis=1), "b, 5")

# Products, windows, networks.
define("matmul", lambda x, w: x @ w, "b, 5", "5, 7")
define("matmul_inner", lambda x, w: x @ w, "3, b", "b, 4")
define("matmul_all", lambda x, w: x @ w, "b, s", "s, b")
define("gram", lambda x: x.T @ x, "b, s")
define("vector", lambda x, y: x @ y, "b", "b")
define("outer", lambda x, y: jnp.outer(x, y), "b", "s")
define("einsum", lambda x, y: jnp.einsum("bik,bjk->bij", x, y), "b, s, 4", "b, s, 4")
define("einsum_batch", lambda x, y: jnp.einsum("ib,bk->bik", x, y), "s, b", "b, 4")
define("conv", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
       "b, 8, 8, 3", "3, 3, 3, 4")
define("conv_spatial",
       lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
       "1, b, s, 2", "3, 3, 2, 4")
define("conv_valid",
       lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")),
       "b, s + 2, 6, 2", "3, 3, 2, 4")
define("conv_strided",
       lambda x, w: lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
       "2, b, s, 2", "3, 3, 2, 4")
define("pool", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
       "2, 2*b, 2*s, 3")
define("pool_same", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), "1, b, s, 3")
define("pool_mean", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 1, 1, 1), "SAME") / 4, "b, s, 4, 2")
define("softmax", lambda x: jax.nn.softmax(x, axis=-1), "b, s")
define("softmax_rows", lambda x: jax.nn.softmax(x, axis=0), "b, s")
define("log_softmax", lambda x: jax.nn.log_softmax(x), "b, s")
define("logsumexp", lambda x: jax.nn.logsumexp(x, axis=1), "b, s")
define("layer_norm",
       lambda x, g: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g, "b, s, 8", "8")
define("batch_norm", lambda x: (x - x.mean(0)) / jnp.sqrt(x.var(0) + 1e-3), "b, 4")
define("normalize", lambda x: x / (1 + jnp.linalg.norm(x, axis=1, keepdims=True)), "b, s")
define("gelu", lambda x: jax.nn.gelu(x), "b, s")
define("mlp", lambda x, w, v: jax.nn.relu(x @ w) @ v, "b, 6", "6, 10", "10, 3")
define("attention", lambda q, k, v: jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k)) @ v, "b, s, 4", "b, s, 4", "b, s, 4")
define("causal", lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True), "b, s, 2, 4", "b, s, 2, 4",
       "b, s, 2, 4")
define("masked_attention",
       lambda q, m: jax.nn.softmax(jnp.where(m, q @ q.swapaxes(1, 2), -1e9), axis=-1) @ q, "b, s, 4", ("b, s, s", "bool"))
define("huber", lambda x, y: jnp.where(abs(x - y) < 1, 0.5 * (x - y)**2, abs(x - y) - 0.5).mean(), "b, s", "b, s")
define("cross_entropy", lambda x, i: -jnp.take_along_axis(jax.nn.log_softmax(x), i[:, None], axis=1).mean(), "b, 5",
       ("b", "int32"), high=5)
define("grad_mlp", lambda x, w: jax.grad(lambda w: (jnp.tanh(x @ w * 0.05)**2).sum())(w), "b, 5", "5, 3")
define("grad_input", lambda x, w: jax.grad(lambda x: jnp.tanh(x @ w * 0.05).sum())(x), "b, 5", "5, 3")
define("grad_softmax", lambda x: jax.grad(lambda x: (jax.nn.softmax(x)**2).sum())(x), "b, s")
define("grad_conv",
       lambda x, w: jax.grad(lambda w: (lax.conv_general_dilated(x, w, (1, 1), "SAME")**2).sum())(w), "b, 2, 6, 6",
       "3, 2, 3, 3")
define("grad_cumsum", lambda x: jax.grad(lambda x: (jnp.cumsum(x)**2).sum())(x), "b")
define("vmap", lambda x, w: jax.vmap(lambda r: jnp.tanh(r @ w))(x), "b, 5", "5, 4")
define("jvp", lambda x, t: jax.jvp(lambda x: jnp.sin(x) * x, (x,), (t,)), "b, s", "b, s")
define("covariance", lambda x: jnp.cov(x.T), "b, 4", where=("b >= 2",), sizes=FROM_TWO)

# Control flow.
define("cond", lambda x, p: lax.cond(p, lambda y: y + 1, lambda y: y * 2, x), "b, s", ("", "bool"))
define("switch", lambda x, i: lax.switch(i, [lambda y: y, lambda y: -y, lambda y: y * 3], x), "b, s", ("", "int32"), high=3)
define("while_loop", lambda x: lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 1.1 + 1), (0, x))[1], "b, s")
define("while_data", lambda x: lax.while_loop(lambda c: abs(c).max() > 0.1, lambda c: c * 0.5, x), "b, s")
define("loop_over_rows", lambda x: lax.fori_loop(0, x.shape[0], lambda i, c: c + x[i], jnp.zeros((3,))), "b, 3")
define("scan_rows", lambda x: lax.scan(lambda c, r: (c * 0.5 + r, c.sum()), jnp.zeros(x.shape[1:]), x), "b, s")
define("scan_batch", lambda x: lax.scan(lambda c, r: (c * 0.5 + r, c), x[0], x)[1], "b, s, 4")
define("scan_fixed", lambda x: lax.scan(lambda c, r: (jnp.tanh(c + r), c), jnp.zeros((x.shape[1],)), x), "5, b")
define("scan_reverse", lambda x: lax.scan(lambda c, r: (c + r, c), 0.0, x, reverse=True), "b")
define("rnn", lambda x, w: lax.scan(lambda h, r: (jnp.tanh(h @ w + r),) * 2, jnp.zeros((x.shape[1], 4)), x)[1], "s, b, 4",
       "4, 4")
define("associative_scan", lambda x: lax.associative_scan(jnp.add, x), "8, b")
define("map", lambda x: lax.map(lambda r: r * 2, x), "b, s")
define("equal_results", lambda x: (x * 2, x * 2, x, x[:, 0]), "b, s")

# Linear algebra, transforms, random numbers.
define("cholesky", lambda x: jnp.linalg.cholesky(x @ x.swapaxes(1, 2) + 3 * jnp.eye(3)), "b, 3, 3")
define("solve_rows", lambda x, y: jax.scipy.linalg.solve_triangular(x + 5 * jnp.eye(3), y, lower=True), "3, 3", "3, b")
SQUARE = [{"b": 1, "s": 1}, {"b": 1, "s": 6}, {"b": 3, "s": 2}, {"b": 6, "s": 1}, {"b": 6, "s": 6}]
define("cholesky_sizes", lambda x: jnp.linalg.cholesky(x @ x.swapaxes(1, 2) + 30 * jnp.eye(x.shape[1])), "b, s, s", sizes=SQUARE)
define("eigvalsh", lambda x: jnp.linalg.eigvalsh(x + x.swapaxes(1, 2)), "b, 4, 4")
define("eigh_product", lambda x: (lambda w, v: (v * w[:, None, :]) @ v.swapaxes(1, 2))(*jnp.linalg.eigh(x + x.swapaxes(1, 2))),
       "b, 4, 4")
define("singular_values", lambda x: jnp.linalg.svd(x, compute_uv=False), "b, 4, 3")
define("svd_product", lambda x: (lambda u, s, v: (u * s[:, None, :]) @ v)(*jnp.linalg.svd(x, full_matrices=False)), "b, 3, 4")
define("qr_product", lambda x: (lambda q, r: q @ r)(*jnp.linalg.qr(x)), "b, 4, 3")
define("lu_product", lambda x: (lambda p, l, u: p @ (l @ u))(*jax.vmap(jax.scipy.linalg.lu)(x + 5 * jnp.eye(3))),
       "b, 3, 3")
define("inverse", lambda x: jnp.linalg.inv(x + 20 * jnp.eye(3)), "b, 3, 3")
define("inverse_sizes", lambda x: jnp.linalg.inv(x + 40 * jnp.eye(x.shape[1])), "b, s, s", sizes=SQUARE)
define("determinant", lambda x: jnp.linalg.slogdet(x + 20 * jnp.eye(3)), "b, 3, 3")
define("solve", lambda x, y: jnp.linalg.solve(x + 20 * jnp.eye(3), y), "b, 3, 3", "b, 3, s")
define("solve_triangular", lambda x, y: lax.linalg.triangular_solve(x + 20 * jnp.eye(3), y, lower=True), "b, 3, 3", "b, s, 3")
define("vmap_cholesky_solve", lambda x, y: jax.vmap(lambda a, v: jax.scipy.linalg.cho_solve(
    jax.scipy.linalg.cho_factor(a @ a.T + 30 * jnp.eye(3)), v))(x, y), "b, 3, 3", "b, 3")
define("fft", lambda x: jnp.abs(jnp.fft.fft(x)), "b, 8")
define("rfft", lambda x: jnp.abs(jnp.fft.rfft(x)), "b, 8")
define("uniform", lambda k, x: jax.random.uniform(k, x.shape) + x, ("2", "uint32"), "b, 3")
define("normal", lambda k, x: jax.random.normal(k, x.shape), ("2", "uint32"), "b, s")
define("erf", lambda x: jax.scipy.special.erf(x), "b, s")
define("gammaln", lambda x: jax.scipy.special.gammaln(abs(x) + 1), "b")
define("polyval", lambda x: jnp.polyval(jnp.array([1.0, -2.0, 0.5]), x), "b, s")
define("interp", lambda x: jnp.interp(x, jnp.array([-2.0, 0.0, 3.0]), jnp.array([1.0, 5.0, 2.0])), "b")
define("histogram_like", lambda x: (x[:, None] > jnp.arange(5.0)).sum(axis=0), "b")
define("two_results", lambda x: (x * 2, x.sum(axis=0), x.shape[0] * 2), "b, s")

# Windows of symbolic images, and their gradients.
NHWC = ("NHWC", "HWIO", "NHWC")
IMAGES = [{"b": 1, "s": 3}, {"b": 1, "s": 8}, {"b": 3, "s": 5}, {"b": 8, "s": 3}, {"b": 8, "s": 8}]


def convolve(strides=(1, 1), padding="SAME", **more):
    return lambda x, w: lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=NHWC, **more)


define("conv_dilated_kernel", convolve(rhs_dilation=(2, 2)), "b, s, 7, 2", "3, 3, 2, 4")
define("conv_dilated_input", convolve(padding=((1, 2), (2, 1)), lhs_dilation=(2, 3)), "b, s, 5, 2", "3, 3, 2, 4")
define("conv_strided_valid", convolve((2, 1), "VALID"), "b, s, 6, 2", "3, 3, 2, 4", where=("s >= 3",), sizes=IMAGES)
define("conv_grouped", convolve(feature_group_count=3), "b, s, s, 6", "3, 3, 2, 6")
define("conv_depthwise", convolve((2, 2), feature_group_count=4), "b, s, 5, 4", "3, 3, 1, 4")
define("conv_pointwise", convolve(), "b, s, s, 6", "1, 1, 6, 4")
define("conv_one_dimension", lambda x, w: lax.conv_general_dilated(x, w, (1,), [(2, 0)], dimension_numbers=("NWC", "WIO", "NWC")),
       "b, s, 4", "3, 4, 5")
define("conv_transpose", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=NHWC), "b, s, 4, 2",
       "3, 3, 2, 4")
define("conv_transpose_valid", lambda x, w: lax.conv_transpose(x, w, (2, 2), "VALID", dimension_numbers=NHWC), "b, s, 4, 2",
       "3, 3, 2, 4")
define("grad_conv_strided", lambda x, w: jax.grad(lambda x, w: (convolve((2, 2), ((1, 1), (1, 1)))(x, w)**2).sum(), (0, 1))(x, w),
       "b, 2*s, 6, 2", "3, 3, 2, 4")
define("grad_conv_kernel", lambda x, w: jax.grad(lambda w: (convolve()(x, w)**2).sum())(w), "b, s, s, 2", "3, 3, 2, 4")
define("grad_conv_grouped", lambda x, w: jax.grad(lambda x, w: (convolve(feature_group_count=2)(x, w)**2).sum(), (0, 1))(x, w),
       "b, 5, 5, 4", "3, 3, 2, 4")
define("grad_max_pool", lambda x: jax.grad(lambda x: (lax.reduce_window(
    x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")**2).sum())(x + jnp.arange(6.0)[:, None] / 64), "b, 2*s, 6, 3")
define("grad_mean_pool", lambda x: jax.grad(lambda x: (lax.reduce_window(
    x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")**2).sum())(x), "b, s, 6, 3")
define("mean_pool_counts", lambda x: (lambda sums: sums(x) / sums(jnp.ones_like(x)))(
    lambda v: lax.reduce_window(v, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")), "b, s, 6, 3")
define("global_pool", lambda x: x.mean(axis=(1, 2)), "b, s, s, 3")
define("upsample", lambda x: jnp.repeat(jnp.repeat(x, 2, axis=1), 2, axis=2), "b, s, s, 2")
define("space_to_depth", lambda x: x.reshape(x.shape[0], x.shape[1] // 2, 2, 2, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(
    x.shape[0], x.shape[1] // 2, 2, 12), "b, 2*s, 4, 3")

# More shapes.
define("pad_reflect", lambda x: jnp.pad(x, ((0, 0), (2, 1)), mode="reflect"), "b, 5")
define("pad_edge", lambda x: jnp.pad(x, ((1, 2), (2, 1)), mode="edge"), "b, s")
define("pad_wrap", lambda x: jnp.pad(x, ((0, 0), (2, 1)), mode="wrap"), "b, 4")
define("pad_symmetric", lambda x: jnp.pad(x, ((0, 0), (1, 1)), mode="symmetric"), "b, 4")
define("merge_dims", lambda x: (x.reshape(x.shape[0] * x.shape[1], 6) * 2).reshape(x.shape), "b, s, 6")
define("split_last", lambda x: x.reshape(x.shape[0], 2 * x.shape[1], 3), "b, s, 6")
define("merge_last", lambda x: x.reshape(x.shape[0], -1, 6).sum(axis=1), "b, 2*s, 3")
define("concatenate_three", lambda x, y: jnp.concatenate([x, y, x * 2], axis=1).cumsum(axis=1), "b, s, 2", "b, 3, 2")
define("repeat_columns", lambda x: jnp.repeat(x, 2, axis=1), "b, s")
define("tile_by_size", lambda x: jnp.tile(x, (x.shape[0], 1)), "b, 3")
define("roll_by_value", lambda x, i: jnp.roll(x, i, axis=0), "b, 3", ("", "int32"), high=9)
define("rot90", lambda x: jnp.rot90(x), "b, s")
define("moveaxis", lambda x: jnp.moveaxis(x, 0, -1).reshape(3, -1), "b, 3, s")
define("stack_columns", lambda x, y: jnp.stack([x, y, x + y], axis=-1), "b, s", "b, s")
define("split_in_two", lambda x: tuple(jnp.split(x, 2, axis=1)), "b, 6")
define("chunks", lambda x: x.reshape(2, -1, 3)[1] - x.reshape(2, -1, 3)[0], "2*b, 3")
define("meshgrid", lambda x, y: jnp.meshgrid(x, y, indexing="ij"), "b", "s")
define("linspace_by_size", lambda x: x * (jnp.arange(x.shape[0]) / x.shape[0]), "b")
define("half_of_two", lambda x: x.reshape(-1, x.shape[1] // 2, 2).sum(axis=1), "b, 2*s")
define("mod_of_sizes", lambda x: x + (x.shape[0] + x.shape[1]) % 5 - x.shape[1] // 2, "b, s")
define("min_of_sizes", lambda x, y: x[:jax.core.min_dim(x.shape[0], y.shape[0])] * 2, "b, 2", "s")
define("trace", lambda x: jnp.trace(x), "b, b")
define("diagonal", lambda x: jnp.diagonal(x, axis1=0, axis2=1), "b, b, 2")
define("diag_matrix", lambda x: jnp.diag(x), "b")
define("kron_row", lambda x, y: jnp.kron(x, y), "b", "3")

# More indices and orders.
define("take_along_rows", lambda x, i: jnp.take_along_axis(x, i, axis=0), "b, s", ("2, s", "int32"), high=1)
define("gather_batched", lambda x, i: jax.vmap(lambda r, k: r[k])(x, i), "b, 7, 2", ("b, s", "int32"), high=7)
define("one_hot_of_size", lambda i, x: jax.nn.one_hot(i, x.shape[0]) @ x, ("s", "int32"), "b, 3", high=1)
define("scatter_max", lambda x, i, u: x.at[i].max(u), "7, 3", ("b", "int32"), "b, 3", high=7)
define("scatter_mul_pairs", lambda x, i, u: x.at[i, i].multiply(u), "b, 5", ("s", "int32"), "s", high=1)
define("segment_max", lambda x, i: jax.ops.segment_max(x, i, num_segments=4), "b, 3", ("b", "int32"), high=4)
define("digitize", lambda x: jnp.digitize(x, jnp.array([-2.0, 0.0, 1.5])), "b, s")
define("argsort_rows", lambda x: jnp.argsort(x, axis=0), "b, s")
define("sort_descending", lambda x: jnp.sort(x, axis=-1, descending=True), "b, s")
define("sort_pairs", lambda x, y: lax.sort((x, y), num_keys=2), "b, s", "b, s")
define("lexsort", lambda x, y: jnp.lexsort((x, y)), "b", "b")
define("top_k_rows", lambda x: lax.top_k(x.T, 1), "b, 3")
define("quantile", lambda x: jnp.quantile(x, 0.3, axis=1), "b, 6")
define("rank_of", lambda x: jnp.argsort(jnp.argsort(x)), "b")
define("cumulative_argmax", lambda x: jnp.argmax(jnp.cumsum(x, axis=1), axis=1), "b, s")
define("logcumsumexp", lambda x: lax.cumlogsumexp(x, axis=1), "b, s")
define("nonzero_padded", lambda x: jnp.nonzero(x > 0, size=4, fill_value=-1)[0], "b")
define("set_but_first", lambda x: x.at[1:].set(x[:-1] * 2), "b, 3", where=("b >= 2",), sizes=FROM_TWO)
define("add_but_last", lambda x: x.at[:, :-1].add(x[:, 1:]), "b, s", where=("s >= 2",),
       sizes=[{"b": 1, "s": 2}, {"b": 1, "s": 8}, {"b": 3, "s": 5}, {"b": 8, "s": 2}, {"b": 8, "s": 8}])
define("set_first_rows", lambda x, y: x.at[:y.shape[0]].set(y), "b + s, 3", "s, 3")
define("set_last_rows", lambda x, y: x.at[x.shape[0] - y.shape[0]:].set(y), "b + s, 3", "s, 3")
define("set_block", lambda x, y: x.at[:y.shape[0], 1:1 + y.shape[1]].max(y), "b + s, s + b + 1", "s, b")
define("set_strided", lambda x: x.at[::2].set(0.0), "b, 3")
define("set_middle", lambda x: x.at[1:-1].multiply(3.0), "b + 2")
define("set_windows", lambda x, i, y: jax.vmap(lambda k: x.at[k].set(y), out_axes=0)(i), "5, s", ("b", "int32"), "s", high=5)
define("scatter_windows", lambda x, i, u: lax.scatter_add(x, i[:, None], u, lax.ScatterDimensionNumbers((1,), (), (0,))),
       "b + 1", ("s", "int32"), "s, 2", high=12)
define("unique_padded", lambda x: jnp.unique(x, size=4, fill_value=-9), ("b", "int32"))
define("dynamic_slice_two", lambda x, i, j: lax.dynamic_slice(x, (i, j), (1, 2)), "b, 5", ("", "int32"), ("", "int32"), high=9)
define("where_index", lambda x, i: jnp.where(jnp.arange(x.shape[0]) == i, x, 0).sum(), "b", ("", "int32"), high=9)

# More networks.
define("cache_update", lambda c, k, i: lax.dynamic_update_slice(c, k, (0, i, 0)), "b, 8, 4", "b, 1, 4", ("", "int32"), high=8)
define("cache_attention", lambda q, c, n: jax.nn.softmax(jnp.where(
    jnp.arange(c.shape[1]) <= n, jnp.einsum("bd,bkd->bk", q, c), -1e9), axis=-1)[:, None, :] @ c, "b, 4", "b, s, 4",
       ("", "int32"))
define("rope", lambda x: (lambda t, u, v: jnp.concatenate([u * jnp.cos(t) - v * jnp.sin(t), u * jnp.sin(t) + v * jnp.cos(t)], -1))(
    jnp.arange(x.shape[1])[:, None] * jnp.array([1.0, 0.1]), x[..., :2], x[..., 2:]), "b, s, 4")
define("causal_by_iota", lambda q: (lambda s: jax.nn.softmax(jnp.where(
    lax.broadcasted_iota("int32", s.shape, 1) >= lax.broadcasted_iota("int32", s.shape, 2), s, -1e9), -1) @ q)(
        jnp.einsum("bqd,bkd->bqk", q, q)), "b, s, 4")
define("cross_attention", lambda q, k: jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 2) @ k.swapaxes(1, 2), "b, 3, 2, 4",
       "b, s, 2, 4")
define("grouped_attention", lambda q, k: jax.nn.dot_product_attention(q, k, k), "b, s, 4, 8", "b, s, 2, 8")
define("lengths_attention", lambda q, n: jax.nn.dot_product_attention(q, q, q, key_value_seq_lengths=n + 1), "b, s, 2, 4",
       ("b", "int32"), high=1)
define("grad_attention", lambda q, k: jax.grad(lambda q, k: (jax.nn.softmax(q @ k.swapaxes(1, 2)) @ k).sum(), (0, 1))(
    q / 4, k / 4), "b, s, 4", "b, s, 4")
define("rms_norm", lambda x, g: x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g, "b, s, 8", "8")
define("group_norm", lambda x: (lambda g: ((g - g.mean((1, 3), keepdims=True)) / jnp.sqrt(
    g.var((1, 3), keepdims=True) + 1e-2)).reshape(x.shape))(x.reshape(x.shape[0], x.shape[1], 2, 3)), "b, s, 6")
define("grad_layer_norm", lambda x, g: jax.grad(lambda x, g: (((x - x.mean(-1, keepdims=True)) * lax.rsqrt(
    x.var(-1, keepdims=True) + 1e-2) * g)**2).sum(), (0, 1))(x, g), "b, s, 8", "8")
define("softmax_where", lambda x, m: jax.nn.softmax(x, axis=1, where=m), "b, s", ("b, s", "bool"))
define("sum_where", lambda x, m: (x.sum(axis=0, where=m), x.max(axis=1, where=m, initial=-9)), "b, s", ("b, s", "bool"))
define("logsumexp_where", lambda x, m: jax.nn.logsumexp(x, axis=0, where=m | (x > 0).all()), "b, s", ("b, s", "bool"))
define("swiglu", lambda x, w, v: (jax.nn.silu(x @ w) * (x @ w)) @ v, "b, s, 4", "4, 10", "10, 4")
define("moe", lambda x, g, w: jnp.einsum("be,beo->bo", jax.nn.softmax(x @ g), jnp.einsum("bi,eio->beo", x, w)), "b, 4", "4, 3",
       "3, 4, 5")
define("lstm_cell", lambda x, h, w: (lambda z: jax.nn.sigmoid(z[:, :4]) * jnp.tanh(z[:, 4:8]) + jax.nn.sigmoid(z[:, 8:]) * h)(
    jnp.concatenate([x, h], 1) @ w), "b, 3", "b, 4", "7, 12")
define("grad_rnn", lambda x, w: jax.grad(lambda w: lax.scan(lambda h, r: (jnp.tanh(h @ w + r),) * 2, jnp.zeros((
    x.shape[1], 4)), x)[1].sum())(w / 8), "s, b, 4", "4, 4")
define("grad_embedding", lambda w, i: jax.grad(lambda w: (w[i]**2).sum())(w), "11, 4", ("b, s", "int32"), high=11)
define("grad_cross_entropy", lambda x, i: jax.grad(lambda x: -jnp.take_along_axis(
    jax.nn.log_softmax(x), i[:, None], axis=1).mean())(x), "b, 5", ("b", "int32"), high=5)
define("hessian_vector", lambda x, v: jax.jvp(jax.grad(lambda x: (jnp.tanh(x)**3).sum()), (x,), (v,))[1], "b, s", "b, s")
define("jacobian_rows", lambda x: jax.vmap(jax.jacfwd(lambda r: jnp.stack([r.sum(), (r * r).sum()])))(x), "b, 3")
define("adam", lambda p, g, m, v: (lambda m, v: (p - 0.1 * m / (jnp.sqrt(v) + 1e-3), m, v))(
    0.9 * m + 0.1 * g, 0.9 * abs(v) + 0.1 * g * g), "b, 3", "b, 3", "b, 3", "b, 3")
define("quantize", lambda x: (lambda s: (jnp.clip(jnp.round(x / s), -127, 127).astype("int8"), s))(
    abs(x).max(axis=1, keepdims=True) / 127 + 1e-3), "b, s")
define("int8_matmul", lambda x, w: lax.dot_general(x.astype("int8"), w.astype("int8"), (((1,), (0,)), ((), ())),
                                                   preferred_element_type="int32"), ("b, 6", "int32"), ("6, 5", "int32"))
define("bf16_matmul", lambda x, w: (x.astype("bfloat16") @ w.astype("bfloat16")).astype("float32"), "b, 8", "8, 5")
define("cosine_similarity", lambda x, y: (x @ y.T) / (1 + jnp.linalg.norm(x, axis=1)[:, None] * jnp.linalg.norm(y, axis=1)),
       "b, 5", "s, 5")
define("pairwise", lambda x, y: ((x[:, None, :] - y[None, :, :])**2).sum(-1), "b, 3", "s, 3")
define("einsum_three", lambda x, y, z: jnp.einsum("bs,sk,kb->bk", x, y, z), "b, s", "s, 4", "4, b")
define("einsum_trace", lambda x: jnp.einsum("bii->b", x), "b, s, s")
define("tensordot", lambda x, y: jnp.tensordot(x, y, axes=((1, 2), (0, 1))), "b, s, 3", "s, 3, 2")
define("matrix_power", lambda x: jnp.linalg.matrix_power(x / 4, 5), "b, 3, 3")

# More control flow.
define("fori_by_size", lambda x: lax.fori_loop(0, x.shape[0], lambda i, c: c * 0.5 + i, x), "b, s")
define("while_by_value", lambda x, n: lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * 0.5 + 1), (0, x))[1], "b, s",
       ("", "int32"), high=9)
define("fori_update", lambda x: lax.fori_loop(0, x.shape[0], lambda i, c: c.at[i].set(c[i] * i), x), "b, 3")
define("scan_pairs", lambda x, y: lax.scan(lambda c, r: (c + r[0] @ r[1], c), jnp.zeros(()), (x, y)), "b, s", "b, s")
define("scan_in_scan", lambda x: lax.scan(lambda c, r: (c + lax.scan(lambda d, e: (d * 0.5 + e, d), 0.0, r)[0], c), 0.0, x),
       "b, s")
define("map_matmul", lambda x, w: lax.map(lambda r: r @ w, x), "b, s, 3", "3, 4")
define("associative_rows", lambda x: lax.associative_scan(jnp.maximum, x, axis=1), "b, 9")
define("grad_scan", lambda x: jax.grad(lambda x: lax.scan(lambda c, r: (jnp.sin(c + r), None), 0.0, x)[0])(x), "b")
define("vmap_cond", lambda x, p: jax.vmap(lambda r, q: lax.cond(q, lambda y: y + 1, lambda y: y * 2, r))(x, p), "b, 3",
       ("b", "bool"))
define("vmap_while", lambda x: jax.vmap(lambda r: lax.while_loop(lambda c: abs(c) > 0.5, lambda c: c / 2, r))(x), "b")
define("newton", lambda x: lax.fori_loop(0, 20, lambda i, y: 0.5 * (y + (abs(x) + 1) / y), abs(x) + 1), "b, s")

# More numbers.
define("fft_rows", lambda x: jnp.abs(jnp.fft.fft2(x)), "b, 4, 6")
define("irfft", lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * 2), "b, s, 8")
define("fft_convolve", lambda x, w: jnp.fft.irfft(jnp.fft.rfft(x, 16) * jnp.fft.rfft(w, 16), 16), "b, 8", "8")
define("complex_product", lambda x, y: jnp.abs((x + 1j * y) @ (y - 1j * x).T), "b, 3", "b, 3")
define("bernoulli", lambda k, x: jax.random.bernoulli(k, 0.3, x.shape), ("2", "uint32"), "b, s")
define("randint", lambda k, x: jax.random.randint(k, x.shape, 0, 9), ("2", "uint32"), "b, s")
define("dropout", lambda k, x: jnp.where(jax.random.bernoulli(k, 0.8, x.shape), x / 0.8, 0), ("2", "uint32"), "b, s, 3")
define("gumbel", lambda k, x: jnp.argmax(x + jax.random.gumbel(k, x.shape), axis=1), ("2", "uint32"), "b, 5")
define("categorical", lambda k, x: jax.random.categorical(k, x), ("2", "uint32"), "b, 5")
define("random_bits", lambda k, x: jax.random.bits(k, (x.shape[0], 2 * x.shape[1])), ("2", "uint32"), "b, s")
define("split_keys", lambda k, x: jax.vmap(lambda q: jax.random.uniform(q, (3,)))(jax.random.split(k, x.shape[0])),
       ("2", "uint32"), "b")
define("bit_counts", lambda x: lax.population_count(x) + lax.clz(x) + (x << 2) ^ (x >> 1), ("b, s", "int32"), high=90)
define("bitcast", lambda x: lax.bitcast_convert_type(x, "int32") & 255, "b, s")
define("integer_division", lambda x, y: (x // (y + 1), x % (y + 1)), ("b, s", "int32"), ("b, s", "int32"), high=50)
define("float16_sum", lambda x: x.astype("float16").sum(axis=1), "b, s")
define("digamma", lambda x: jax.scipy.special.digamma(abs(x) + 1), "b")
define("betainc", lambda x: jax.scipy.special.betainc(2.0, 3.0, abs(jnp.sin(x))), "b")
define("erfinv", lambda x: jax.scipy.special.erfinv(jnp.sin(x) * 0.9), "b")
define("nan_to_num", lambda x: jnp.nan_to_num(x / jnp.where(x > 0, x, 0), nan=7, posinf=5, neginf=-5), "b, s")
define("isclose_all", lambda x, y: (jnp.allclose(x, x), jnp.isclose(x, y, atol=1)), "b, s", "b, s")
define("histogram", lambda x: jnp.histogram(x, bins=4, range=(-4, 4))[0], "b")
define("gradient", lambda x: jnp.gradient(x), "b", where=("b >= 2",), sizes=FROM_TWO)
define("trapezoid", lambda x: jnp.trapezoid(x, axis=1), "b, 6")
define("ptp_std", lambda x: (jnp.ptp(x, axis=0), x.std(axis=1)), "b, s")
define("average", lambda x, w: jnp.average(x, axis=0, weights=abs(w) + 1), "b, s", "b")
define("select", lambda x: jnp.select([x > 1, x > 0], [x * 2, x * 3], -1.0), "b, s")
define("resize", lambda x: jax.image.resize(x, (x.shape[0], 8, 6, 2), "bilinear"), "b, 4, 4, 2")
define("map_coordinates", lambda x, i: jax.scipy.ndimage.map_coordinates(x, [i, i * 0.5], order=1), "5, 4", "b")
