"""Functions as users write them, for run.py. Their results are exact, so XLA:CPU and hlo-compile must agree in every byte.

Exact are data movement, integers, and floats that hold small integers: their sums and products do not round, in any
order. `case` gives the arguments as text, `f32[3,4]`: small integers of that type from a generator seeded by the
function's name. `real` gives arbitrary floats, for functions that only move them.
"""
import collections
import dataclasses
import zlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from arrays import TYPES

Case = collections.namedtuple("Case", "name function arguments donate x64 keep_unused")
CASES = []


def case(*arguments, donate=(), x64=False, keep_unused=False):
    def add(function):
        CASES.append(Case(function.__name__, function, arguments, donate, x64, keep_unused))
        return function
    return add


@dataclasses.dataclass
class Real:
    """Arbitrary floats, with infinities, NaNs and both zeros among them."""
    spec: str


def array(spec, random):
    if isinstance(spec, Real):
        values = array("f64" + spec.spec[spec.spec.index("["):], random) + random.standard_normal(np.shape(array(spec.spec, random)))
        values.flat[:5] = [np.inf, -np.inf, np.nan, 0.0, -0.0][:values.size]
        return values.astype(TYPES[spec.spec.partition("[")[0]])
    if not isinstance(spec, str):
        return spec
    name, _, dims = spec.rstrip("]").partition("[")
    shape, dtype = tuple(int(d) for d in dims.split(",") if d), np.dtype(TYPES[name])
    least = 0 if name[0] in "up" else -8
    values = random.integers(least, 2 if name == "pred" else 8, size=shape)
    if dtype.kind == "c":
        values = values + 1j * random.integers(-8, 8, size=shape)
    return np.asarray(values).astype(dtype)


def arguments_of(one):
    """The case's arguments, with arrays in place of the texts."""
    random = np.random.default_rng(zlib.crc32(one.name.encode()))
    return jax.tree.map(lambda spec: array(spec, random), one.arguments, is_leaf=lambda x: isinstance(x, Real))


# --- Transposed ---------------------------------------------------------------------------------------------------

@case("f32[13,37]")
def transposed(x):
    return x.T * 2


@case(Real("f32[5,6,7]"))
def transposed_cyclic(x):
    return jnp.transpose(x, (2, 0, 1))


@case(Real("f32[2,9,8,3]"))
def nhwc_to_nchw(images):
    return jnp.moveaxis(images, -1, 1)


@case("u8[16,12,3]")
def image_to_planes(image):
    return jnp.transpose(image, (2, 0, 1)).astype(jnp.float32) / 256


@case(Real("bf16[19,34]"))
def transposed_bf16(x):
    return x.T


@case("f32[21,10]")
def transposed_predicate(x):
    return (x > 0).T, jnp.any(x > 6, axis=0), jnp.all(x < 7)


@case("s8[33,65]")
def transposed_bytes(x):
    return x.T, (x + x).T


@case("c64[7,11]", "c64[7,11]")
def adjoint(a, b):
    return a.conj().T, (a * b).T, jnp.real(a).T, jnp.imag(b)


@case("f64[9,14]", "s64[9,14]", x64=True)
def transposed_wide(x, n):
    return x.T + 0.5, n.T * 3


@case("c128[6,5]", x64=True)
def transposed_c128(z):
    return z.T, (z @ z.conj().T)


@case("f32[8,5]", "f32[8]")
def transposed_bias(x, b):
    return x.T + b, x.T - b[None, :]


@case(Real("f16[4,3,5,2]"))
def axes_swapped_twice(x):
    y = jnp.swapaxes(x, 0, 3)
    return y, jnp.swapaxes(y, 1, 2), y.reshape(6, 20).T


@case("f32[6,9]")
def same_result_twice(x):
    y = x.T
    return y, x, y, x.T


@case("f32[12,7]")
def transposed_reshape(x):
    return x.T.reshape(12, 7), x.reshape(7, 12).T, x.ravel(order="F")


@case("s4[10,6]")
def transposed_nibbles(x):
    return x.T


@case("f8e4m3fn[9,16]")
def transposed_f8(x):
    return x.T, x.astype(jnp.bfloat16).T


# --- Reversed, rolled, sliced ----------------------------------------------------------------------------------------

@case(Real("f32[5,17,3]"))
def reversed_all(x):
    return x[::-1, ::-1, ::-1], jnp.flip(x, 1)


@case("s32[11,6]")
def reversed_transposed(x):
    return x[::-1].T, x.T[:, ::-1], x[:, ::-1].T[::2]


@case("u16[9,13]")
def rotated(x):
    return jnp.rot90(x), jnp.rot90(x, 2), jnp.rot90(x, -1)


@case(Real("f32[10,12]"))
def rolled(x):
    return jnp.roll(x, 3, axis=1).T, jnp.roll(x, (1, -2), (0, 1))


@case("f32[20,15]")
def strided(x):
    return x[1::3, 4:1:-1].T, x[::-2, 7]


@case("f32[6,10]")
def padded_and_tiled(x):
    return jnp.pad(x, ((1, 2), (0, 3)), constant_values=-1).T, jnp.tile(x.T, (2, 3)), jnp.repeat(x, 2, axis=0).T


@case("f32[4,5]", "f32[4,5]", "f32[4]")
def joined(a, b, c):
    return jnp.stack([a, b], axis=-1), jnp.concatenate([a, b], axis=1).T, jnp.column_stack([a, c])


@case("f32[9,9]")
def triangles(x):
    return jnp.tril(x).T, jnp.triu(x, 1), jnp.diag(x), jnp.trace(x)


@case("s32[7]", "s32[5]")
def grids(a, b):
    x, y = jnp.meshgrid(a, b)
    return x, y, jnp.indices((3, 4)), (x * y).T


# --- Products -----------------------------------------------------------------------------------------------------------

@case("f32[9,33]", "f32[33,20]")
def einsum_product_transposed(a, b):
    return jnp.einsum("ij,jk->ki", a, b)


@case("f32[3,7,10]", "f32[3,10,6]")
def einsum_batch_moved(a, b):
    return jnp.einsum("bij,bjk->kib", a, b), jnp.einsum("bij,bjk->ik", a, b)


@case("f32[2,8,4,16]", "f32[2,8,4,16]")
def einsum_attention(q, k):
    return jnp.einsum("bqhd,bkhd->bhqk", q, k), jnp.einsum("bqhd,bkhd->kqhb", q, k)


@case("f32[12]", "f32[7]")
def einsum_outer(a, b):
    return jnp.einsum("i,j->ji", a, b), jnp.kron(a, b)


@case("f64[4,5,6]", "f64[5,3]", x64=True)
def einsum_f64(a, b):
    return jnp.einsum("ijk,jl->lki", a, b), jnp.einsum("ijk->kji", a)


@case("s32[11,11]", "s32[11,4]")
def einsum_integers(a, b):
    return jnp.einsum("ij,jk->ki", a, b), jnp.einsum("ii->i", a), jnp.einsum("ij->ji", a), jnp.einsum("ij->", a)


@case("s8[24,16]", "s8[16,9]")
def product_of_bytes(a, b):
    return lax.dot(a, b, preferred_element_type=jnp.int32).T


@case("bf16[8,32]", "bf16[32,5]")
def product_bf16(a, b):
    return (a @ b).T, (a.astype(jnp.float32) @ b.astype(jnp.float32)).T


@case("c64[6,8]", "c64[8,5]")
def product_complex(a, b):
    return (a @ b).T, jnp.vdot(a[:, 0], b[:6, 1])


@case("f32[3,4,5]", "f32[4,3,6]")
def tensordot(a, b):
    return jnp.tensordot(a, b, axes=((0, 1), (1, 0))).T


@case("f32[1,10,10,3]", "f32[3,3,3,4]")
def convolution_to_nchw(image, kernel):
    out = lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jnp.transpose(out, (0, 3, 1, 2))


@case("f32[16,10]", "f32[10,6]", "f32[16,6]")
def gradient_of_weights(x, w, y):
    return jax.grad(lambda w: jnp.sum((x @ w - y) ** 2))(w), jax.grad(lambda w: jnp.sum((x @ w.T - y) ** 2))(w.T)


@case("u8[5,4]")
def jacobian(x):
    x = x.astype(jnp.float32)  # not negative: XLA:CPU takes x * 0 as 0 for a factor that is 0 or 1
    return jax.jacfwd(lambda v: (v * v).T)(x), jax.jacrev(lambda v: v.sum(0) * v[0])(x)


# --- vmap --------------------------------------------------------------------------------------------------------------

@case("f32[6,15]")
def vmap_out_axis(x):
    return jax.vmap(lambda row: row * 2 + row[0], out_axes=1)(x)


@case("f32[9,5]", "f32[5,7]")
def vmap_product(w, x):
    return jax.vmap(lambda v: w @ v, in_axes=1, out_axes=1)(x), jax.vmap(lambda v: w @ v, in_axes=1, out_axes=0)(x)


@case("f32[4]", "f32[6]", "f32[3]")
def vmap_nested(a, b, c):
    f = jax.vmap(jax.vmap(jax.vmap(lambda x, y, z: x * y + z, (None, None, 0)), (None, 0, None)), (0, None, None), out_axes=2)
    return f(a, b, c)


@case("f32[5,20]", "s32[5]")
def vmap_take(x, i):
    return jax.vmap(lambda row, k: lax.dynamic_slice(row, (k,), (4,)), out_axes=1)(x, i), jax.vmap(lambda r, k: r[k])(x, i)


@case("f32[5,8]", "s32[5]", "f32[5,3]", donate=(0,))
def vmap_update(x, i, new):
    return jax.vmap(lambda row, k, v: lax.dynamic_update_slice(row, v, (k,)))(x, i, new)


@case("f32[4,9]", "f32[4,6]")
def vmap_searchsorted(table, x):
    return jax.vmap(jnp.searchsorted, out_axes=1)(jnp.sort(table, axis=1), x)


@case({"w": "f32[3,4,5]", "b": "f32[3,5]"}, "f32[4]")
def vmap_ensemble(params, x):
    return jax.vmap(lambda p: {"y": x @ p["w"] + p["b"], "size": p["w"].sum()}, out_axes={"y": 1, "size": 0})(params)


# --- Loops -----------------------------------------------------------------------------------------------------------------

@case("f32[10,6]")
def scan_columns(x):
    def body(carry, row):
        carry = carry + row
        return carry, (carry * 2, row[::-1])
    last, (sums, back) = lax.scan(body, jnp.zeros(6), x)
    return last, sums.T, back


@case("s32[12,5]")
def scan_reversed(x):
    return lax.scan(lambda c, r: (jnp.maximum(c, r), c - r), x[0], x, reverse=True)


@case({"position": "f32[3,2]", "count": "s32[]"}, "f32[7,2,3]")
def scan_tree(state, forces):
    def body(state, force):
        state = {"position": state["position"] + force.T, "count": state["count"] + 1}
        return state, state["position"].T
    return lax.scan(body, state, forces)


@case()
def fibonacci():
    return lax.scan(lambda c, _: ((c[1], c[0] + c[1]), c[0]), (jnp.int32(0), jnp.int32(1)), None, length=20)


@case("u32[9]")
def while_loop(x):
    def body(state):
        n, steps = state
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + (n > 1)
    return lax.while_loop(lambda s: jnp.any(s[0] > 4), body, (x + 1, jnp.zeros(9, jnp.uint32)))


@case("f32[8,8]", "s32[]", donate=(0,))
def fori_donated(x, n):
    return lax.fori_loop(0, n + 10, lambda i, y: y.at[i % 8].add(1.0).T, x)


@case("s32[6,31]")
def cumulative(x):
    return jnp.cumsum(x, axis=1).T, lax.cummax(x, axis=0), lax.cummin(x, axis=1, reverse=True), jnp.cumsum(x[:, ::-1], 0)


@case("s32[16,3]", "s32[16,3]")
def associative_scan(a, b):
    def combine(left, right):
        return left[0] * right[0], left[1] * right[0] + right[1]
    return lax.associative_scan(combine, (a % 3, b))


@case("f32[7,4]")
def mapped(x):
    return lax.map(lambda row: jnp.outer(row, row[:2]).T, x)


@case("s32[]", "f32[5,3]")
def branches(which, x):
    return (lax.switch(which % 3, [lambda x: x.T, lambda x: (x * 2).T, lambda x: jnp.zeros((3, 5))], x),
            lax.cond(which > 0, lambda: x[::-1], lambda: -x))


# --- Sorted ------------------------------------------------------------------------------------------------------------------

@case(Real("f32[23,9]"))
def sort_columns(x):
    return jnp.sort(x, axis=0), jnp.sort(x, axis=1).T


@case("s32[14,8]")
def argsort_columns(x):
    return jnp.argsort(x, axis=0), jnp.argsort(x, axis=1).T, jnp.argsort(-x, axis=0, descending=True)


@case("s32[40]", "s32[40]", "f32[40]")
def sort_by_keys(a, b, values):
    return lax.sort((a, b, values), num_keys=2), jnp.lexsort((a, b)), values[jnp.lexsort((b, a))]


@case(Real("f32[7,50]"))
def top_k(x):
    values, indices = lax.top_k(jnp.where(jnp.isnan(x), 0, x), 5)
    return values.T, indices


@case("s32[60]")
def unique_values(x):
    return jnp.unique(x, size=20, fill_value=99, return_counts=True, return_inverse=True)


@case("bf16[17,6]")
def sort_bf16_descending(x):
    return jnp.sort(x, axis=0, descending=True).T


@case("f32[6,25]", "s64[30]", x64=True)
def positions(x, n):
    return jnp.argmax(x, axis=0), jnp.argmin(x, axis=1), jnp.argsort(n), jnp.nonzero(n > 0, size=30, fill_value=-1)[0]


# --- Trees, scalars, names ----------------------------------------------------------------------------------------------------

@case({"b": "f32[3]", "a": {"z": "s32[2]", "kernel": "f32[3,4]"}})
def tree_of_results(params):
    return {"norm": (params["a"]["kernel"] ** 2).sum(), "kernel": params["a"]["kernel"].T,
            "rest": [params["b"][::-1], (params["a"]["z"], None)]}


@case("f32[]", "s32[]", "pred[]", "u8[]")
def scalars(x, n, flag, byte):
    return x * 2, n - 1, ~flag, byte + jnp.uint8(1), jnp.where(flag, x, -x), n.astype(jnp.float32) / 4, (x, x > 0)


Momentum = collections.namedtuple("Momentum", "velocity count")


@case({"w": "f32[5,3]"}, Momentum({"w": "f32[5,3]"}, "s32[]"), "f32[8,5]", donate=(0, 1))
def donated_step(params, state, x):
    gradient = jax.grad(lambda p: jnp.sum((x @ p["w"]) ** 2))(params)
    velocity = jax.tree.map(lambda v, g: v + g / 2, state.velocity, gradient)
    return jax.tree.map(lambda p, v: p - v / 4, params, velocity), Momentum(velocity, state.count + 1)


@case("f32[6,6]", "f32[6,6]", donate=(0, 1))
def donated_exchanged(a, b):
    return b.T, a.T


@case("f32[4,6]", "s32[3]", "f32[6,4]", donate=(0, 1, 2))
def donated_of_other_shape(a, n, b):
    return a.T + b, n + 1


@case("f32[3,4]", "f32[9]", "s32[2]")
def unused_argument(x, ignored, n):
    return x.T, n * 2


@case("f32[3,4]", "f32[9]", "s32[2]", keep_unused=True)
def unused_argument_kept(x, ignored, n):
    return x.T, n * 2


@case("f32[4,3]")
def closed_over(x, weights=np.arange(15, dtype=np.float32).reshape(5, 3) - 7):
    return x @ weights.T, jnp.asarray(weights).T + x[0, 0]


@case("f32[0,5]", "f32[3,5]")
def empty(none, x):
    return none.T, jnp.concatenate([none, x]).T, none.sum(0)


@case("f32[3,2]", "f32[2,3]", "s32[]")
def hostile_names(int, struct, signature):
    return {"default": int.T + struct, "args": struct.T - int, "signature": signature + 1}


@case("f32[2,3]")
def passed_through(x):
    return x, x.T, jnp.ones((2, 2)), jnp.arange(3)


# --- Indices, bits, random numbers --------------------------------------------------------------------------------------------

@case("f32[30,4]", "s32[12]")
def gathered(table, i):
    rows = table[i]
    return rows.T, table[:, jnp.abs(i) % 4].T, jnp.take_along_axis(table, jnp.abs(i[None, :4]), axis=0)


@case("f32[8,5]", "s32[10]", "f32[10,5]", donate=(0,))
def scattered(x, i, new):
    return x.at[i].add(new), x.T.at[:, 2].set(1.0), x.at[jnp.abs(i)].max(new).T


@case("f32[25,3]", "u8[25]")
def segments(x, group):
    return (jax.ops.segment_sum(x, group, num_segments=8).T, jnp.bincount(group, length=8),
            jax.nn.one_hot(group, 8, axis=0, dtype=jnp.int8))


@case("s32[9,20]")
def integer_arithmetic(x):
    return (x // 3).T, (x % 3).T, jnp.sign(x), x ** 2, jnp.abs(x), jnp.clip(x, -3, 4).T, lax.rem(x, jnp.int32(5)), x.sum(0)


@case("u32[40]", "s32[40]")
def bits(x, n):
    return x << 3, x >> 1, n >> 1, x ^ jnp.uint32(0xAAAA5555), lax.population_count(x), lax.clz(x), ~n, lax.bitcast_convert_type(n, jnp.float32)


@case("u64[20]", "s64[20]", x64=True)
def bits_wide(x, n):
    return x * jnp.uint64(0x9E3779B97F4A7C15) >> 32, n * n - 1, lax.clz(x), (x - 1) // 7, n.astype(jnp.float64), (n << 40).reshape(4, 5).T


@case("u32[2]")
def random_numbers(key):
    a, b, c = jax.random.split(key, 3)
    return (jax.random.bits(a, (3, 7)).T, jax.random.uniform(b, (5, 4)).T, jax.random.permutation(c, 20),
            jax.random.randint(a, (6,), 0, 100), jax.random.bernoulli(b, 0.5, (9,)))


@case(Real("f32[6,8]"))
def rounded(x):
    return jnp.floor(x).T, jnp.round(x), jnp.trunc(x), jnp.isnan(x).T, jnp.signbit(x), x.astype(jnp.bfloat16).T, x.astype(jnp.float16)


@case(Real("f64[7,6]"), x64=True)
def narrowed(x):
    y = jnp.nan_to_num(x, posinf=100.0, neginf=-100.0)
    return y.astype(jnp.float32).T, y.astype(jnp.int32), y.astype(jnp.int8).T, y.astype(jnp.bfloat16)


@case("f32[2,3,12,12]")
def pooled(x):
    high = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return jnp.transpose(high, (0, 2, 3, 1)), x.mean((2, 3)).shape[0] * high.sum((0, 3)).T


@case("f32[9,4,3]")
def reductions(x):
    return x.sum((0, 2)), x.max(1).T, x.min(), jnp.prod(jnp.sign(x), 0).T, (x > 0).sum(0).T, jnp.ptp(x, axis=(1, 2))


@case("f32[40]", "f32[40]")
def polynomial(x, y):
    return jnp.polyval(jnp.array([1.0, -2.0, 3.0]), x), jnp.convolve(x, y[:5]), jnp.where(x > y, x, y)[::-1]


