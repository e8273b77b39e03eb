"""Gathers, scatters, dynamic slices and updates."""
import jax.numpy as jnp
from jax import lax

from programs import Program

A, I = "f32[5,6]", "s32[4]:index"


def update(name, function):
    return [Program(f"at_{name}", lambda x, i, y: getattr(x.at[i], name)(y), (A, I, "f32[4,6]"))] if function else []


PROGRAMS = [
    Program("rows", lambda x, i: x[i], (A, I)),
    Program("columns", lambda x, i: x[:, i], (A, I)),
    Program("pairs", lambda x, i, j: x[i, j], (A, I, I)),
    Program("outer_pairs", lambda x, i, j: x[i[:, None], j], (A, I, I)),
    Program("one", lambda x, i: x[i], (A, "s32[]:index")),
    Program("negative", lambda x, i: x[-i], (A, I)),
    Program("take", lambda x, i: jnp.take(x, i, axis=1), (A, I)),
    Program("take_clip", lambda x, i: jnp.take(x, i * 3, axis=0, mode="clip"), (A, I)),
    Program("take_fill", lambda x, i: jnp.take(x, i * 3, axis=0, mode="fill", fill_value=7), (A, I)),
    Program("take_wrap", lambda x, i: jnp.take(x, i * 3, axis=0, mode="wrap"), (A, I)),
    Program("take_along_axis", lambda x, i: jnp.take_along_axis(x, i, axis=1), (A, "s32[5,2]:index")),
    Program("choose", lambda i, x: jnp.choose(i, [x, x + 1, x + 2], mode="clip"), (I, "f32[4]")),
    Program("one_hot_rows", lambda x, i: jnp.eye(6)[i] @ x.T, (A, I)),
    Program("embedding", lambda x, i: x[i] * 2, ("bf16[9,8]", "s32[2,3]:index")),
    Program("small_index_type", lambda x, i: x[i], (A, "u8[4]:index")),
    Program("mixed_index", lambda x, i: x[1:4, i, None], (A, I)),
    Program("dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i, i + 1), (2, 3)), (A, "s32[]:index")),
    Program("dynamic_slice_in_dim", lambda x, i: lax.dynamic_slice_in_dim(x, i, 2, axis=1), (A, "s32[]:index")),
    Program("dynamic_index", lambda x, i: lax.dynamic_index_in_dim(x, i, axis=1, keepdims=False), (A, "s32[]:index")),
    Program("dynamic_update_slice", lambda x, y, i: lax.dynamic_update_slice(x, y, (i, 0)), (A, "f32[2,3]", "s32[]:index")),
    Program("dynamic_update_index", lambda x, y, i: lax.dynamic_update_index_in_dim(x, y, i, 0), (A, "f32[6]", "s32[]:index")),
    *[p for n in "set add multiply min max divide".split() for p in update(n, True)],
    Program("at_power", lambda x, i: x.at[i].power(2), (A, I)),
    Program("at_apply", lambda x, i: x.at[i].apply(jnp.sin), (A, I)),
    Program("at_get_fill", lambda x, i: x.at[i * 3].get(mode="fill", fill_value=0), (A, I)),
    Program("at_slice", lambda x, y: x.at[1:3, ::2].set(y), (A, "f32[2,3]")),
    Program("at_drop", lambda x, i: x.at[i * 3].set(1.0, mode="drop"), (A, I)),
    Program("at_unique", lambda x, y: x.at[jnp.array([3, 0])].add(y, unique_indices=True), (A, "f32[2,6]")),
    Program("at_sorted", lambda x, y: x.at[jnp.array([0, 3])].add(y, indices_are_sorted=True), (A, "f32[2,6]")),
    Program("at_integers", lambda x, i: x.at[i].add(1), ("s32[5]", I)),
    Program("at_complex", lambda x, i: x.at[i].add(1 + 2j), ("c64[5]", I)),
    Program("segment_sum", lambda x, i: jnp.zeros((3, 6)).at[i].add(x), ("f32[4,6]", I)),
    Program("fill_diagonal", lambda x: jnp.fill_diagonal(x, 2.0, inplace=False), ("f32[4,4]",)),
    Program("put_along_axis", lambda x, i: x.at[jnp.arange(5)[:, None], i].set(0), (A, "s32[5,2]:index")),
    Program("nonzero", lambda x: jnp.nonzero(x > 0, size=7, fill_value=-1), (A,)),
    Program("argwhere", lambda x: jnp.argwhere(x > 0, size=5), (A,)),
    Program("extract", lambda x: jnp.extract(x > 0, x, size=5, fill_value=0), (A,)),
    Program("compress", lambda x: jnp.compress(jnp.array([True, False, True, True, False]), x, axis=0, size=3), (A,)),
    Program("unravel", lambda i: jnp.unravel_index(i, (3, 4)), ("s32[6]:index",)),
    Program("ravel_multi", lambda i, j: jnp.ravel_multi_index((i, j), (3, 4), mode="clip"), (I, I)),
    Program("masked_mean", lambda x, p: jnp.where(p, x, 0).sum() / p.sum(), (A, "pred[5,6]")),
    Program("batched_gather", lambda x, i: x[jnp.arange(2)[:, None], i], ("f32[2,5,3]", "s32[2,4]:index")),
]
