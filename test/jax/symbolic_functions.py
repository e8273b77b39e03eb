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
