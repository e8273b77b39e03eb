"""Functions sharded over four devices, as JAX compiles them: the text of one device, run by four ranks of hlo-run.

Results are exact as in functions.py; each rank's must be the bytes of JAX's shard.
"""
import collections
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from arrays import stored
from functions import array

RANKS = 4
# `kind`: jit (shardings are hints to XLA's partitioner), shard_map, or pmap.
Case = collections.namedtuple("Case", "name kind function arguments inputs outputs axes")
CASES = []


def case(kind, arguments, inputs=None, outputs=None, axes=(("d", 4),)):
    def add(function):
        CASES.append(Case(function.__name__, kind, function, arguments, inputs, outputs, axes))
        return function
    return add


GRID = (("a", 2), ("b", 2))
ROWS, COLUMNS, WHOLE = P("d"), P(None, "d"), P()


@case("jit", ("f32[8,16]", "f32[16,12]"), (ROWS, WHOLE), ROWS)
def product_of_rows(x, w):
    return x @ w


@case("jit", ("f32[8,16]", "f32[16,12]"), (WHOLE, COLUMNS), COLUMNS)
def product_of_columns(x, w):
    return x @ w


@case("jit", ("f32[8,16]", "f32[16,12]"), (COLUMNS, ROWS), WHOLE)
def product_summed(x, w):
    return x @ w


@case("jit", ("f32[8,16]", "f32[16,32]", "f32[32,6]"), (P("a"), P(None, "b"), P("b")), P("a"), GRID)
def layers_on_grid(x, w, v):
    return jax.nn.relu(x @ w) @ v


@case("jit", ("f32[2,6,4,8]", "f32[2,6,4,8]"), (P("a", None, "b"), P("a", None, "b")), P("a", "b"), GRID)
def scores_on_grid(q, k):
    return jnp.einsum("bqhd,bkhd->bhqk", q, k)


@case("jit", ("f32[8,12]",), (ROWS,), ROWS)
def transposed(x):
    return x.T


@case("jit", ("f32[8,12]",), (ROWS,), ROWS)
def without_collectives(x):
    return x * 2 + 1, x[:, ::-1]


@case("jit", ("s32[8,12]",), (ROWS,), ROWS)
def sorted_across(x):
    return jnp.sort(x, 0), jnp.cumsum(x, 0)


@case("jit", ("f32[8,5]", "f32[4,5]"), (ROWS, ROWS), ROWS)
def moved_across(x, y):
    return jnp.roll(x, 3, 0), x[::-1], jnp.concatenate([x, y], 0)


@case("jit", ("f32[16,4]", "u8[8]"), (ROWS, WHOLE), WHOLE)
def gathered(x, i):
    return x[i], lax.dynamic_slice(x, (i[0].astype(jnp.int32), 0), (4, 3))


@case("jit", ("f32[16,4]", "u8[8]", "f32[8,4]"), (ROWS, WHOLE, WHOLE), ROWS)
def scattered(x, i, new):
    return x.at[i].add(new)


@case("jit", ("f32[4,8,8,3]", "f32[3,3,3,4]"), (P(None, "d"), WHOLE), P(None, "d"))
def convolution_with_halo(x, k):
    return lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@case("jit", ("f32[8,4]",), (COLUMNS,), (ROWS, COLUMNS))
def scanned(x):
    return lax.scan(lambda c, v: (c + v, c * 2), jnp.zeros(4), x)


@case("jit", ("f32[16,5]",), (ROWS,), WHOLE)
def reduced(x):
    return jnp.argmax(x, 0), x.max(), x.sum(1), (x > 0).sum()


@case("jit", ("f32[8,3]", "f32[16,8]", "f32[16,3]"), (ROWS, ROWS, ROWS), ROWS)
def gradient_of_sharded_weights(w, x, y):
    return jax.grad(lambda w: jnp.sum((x @ w - y) ** 2))(w)


@case("jit", ("u32[2]",), (WHOLE,), ROWS)
def random_bits(key):
    return jax.random.bits(key, (8, 4)), jnp.arange(8)


@case("shard_map", ("f32[8,3]",), (ROWS,), WHOLE)
def summed(x):
    return lax.psum(x, "d"), lax.pmax(x, "d"), lax.psum(x > 0, "d")


@case("shard_map", ("bf16[8,3]",), (ROWS,), WHOLE)
def summed_bf16(x):
    return lax.psum(x, "d")


@case("shard_map", ("f32[8,4]",), (P("a", "b"),), (P(None, "b"), P("a", None)), GRID)
def extremes_on_grid(x):
    return lax.pmax(x, "a"), lax.pmin(x, "b")


@case("shard_map", ("f32[8,8]",), (ROWS,), ROWS)
def exchanged(x):
    return lax.all_to_all(x, "d", 1, 0, tiled=True), lax.psum_scatter(x, "d", scatter_dimension=1, tiled=True)


@case("shard_map", ("f32[8,3]",), (ROWS,), ROWS)
def shifted(x):
    return lax.ppermute(x, "d", [(i, (i + 1) % 4) for i in range(4)]), x + lax.axis_index("d")


@case("shard_map", ("f32[8,3]",), (ROWS,), ROWS)
def ring(x):
    def step(_, state):
        return lax.ppermute(state[0], "d", [(i, (i + 1) % 4) for i in range(4)]), state[1] * 2 + state[0]
    return lax.fori_loop(0, 4, step, (x, x * 0))[1]


@case("pmap", ("f32[4,5,3]", "s32[4]"))
def mapped(x, n):
    return x - lax.psum(x, "d"), lax.all_gather(n, "d"), x.T


@case("pmap", ("f32[4,6]",))
def mapped_without_collectives(x):
    return x[::-1] * 2


def compile_in_jax(one, arguments):
    """The function compiled for the mesh, its arguments and its results as sharded arrays."""
    if one.kind == "pmap":
        compiled = jax.pmap(one.function, axis_name="d").lower(*arguments).compile()
        return compiled, arguments, jax.tree.leaves(compiled(*arguments))
    mesh = Mesh(np.array(jax.devices()[:RANKS]).reshape([n for _, n in one.axes]), [name for name, _ in one.axes])
    place = lambda specs: jax.tree.map(lambda spec: NamedSharding(mesh, spec), specs, is_leaf=lambda s: isinstance(s, P))  # noqa: E731
    function = one.function
    if one.kind == "shard_map":
        function = jax.shard_map(function, mesh=mesh, in_specs=one.inputs, out_specs=one.outputs)
    compiled = jax.jit(function, in_shardings=place(one.inputs), out_shardings=place(one.outputs)).lower(*arguments).compile()
    arguments = [jax.device_put(a, s) for a, s in zip(arguments, place(one.inputs))]
    return compiled, arguments, jax.tree.leaves(compiled(*arguments))


def shard(one, value, rank):
    """One rank's part of an array; as bits for types that numpy's files do not have."""
    if isinstance(value, np.ndarray):  # an argument of pmap
        part = value[rank:rank + 1]
    else:
        part = next(np.asarray(s.data) for s in value.addressable_shards if s.device == jax.devices()[rank])
    return stored(part)


def check(one, tool, folder):
    """What is wrong, or None."""
    random = np.random.default_rng(len(one.name))
    compiled, arguments, results = compile_in_jax(one, [array(spec, random) for spec in one.arguments])
    (folder / f"{one.name}.hlo").write_text(compiled.as_text())
    for rank in range(RANKS):
        np.savez(folder / f"{one.name}.{rank}.npz", **{f"in{i}": shard(one, a, rank) for i, a in enumerate(arguments)})
    done = subprocess.run([tool, f"{one.name}.hlo", f"--partitions={RANKS}", f"--inputs={one.name}.%r.npz", f"--outputs={one.name}.out.%r.npz"],
                          cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    if done.returncode:
        return f"hlo-run {done.returncode}: {done.stdout.strip()[-600:]}"
    for rank in range(RANKS):
        found = np.load(folder / f"{one.name}.out.{rank}.npz")
        for i, value in enumerate(results):
            wanted, ours = shard(one, value, rank), found[f"out{i}"]
            if ours.shape != wanted.shape or ours.tobytes() != np.ascontiguousarray(wanted).tobytes():
                return f"rank {rank}, result {i}: {ours.tolist()} instead of {wanted.tolist()}"[:600]
    return None
