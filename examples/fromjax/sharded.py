"""One data-parallel training step for one device (whole.hlo) and for four (part.hlo).

XLA's partitioner runs when JAX compiles: the text of the compiled function is the program of one device, with its
collectives. That goes for pmap, for shard_map, and for jit with shardings.
"""
import os

# Four devices on this machine; only their number matters, and the target is always the CPU.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.sharding import Mesh, PartitionSpec  # noqa: E402

DEVICES, SAMPLES, FEATURES, HIDDEN = 4, 64, 8, 32


def step(params, x, y):
    """One step on a part of the batch; the mean over parts makes it one on the whole batch."""
    def loss_of(params):
        return jnp.mean((jnp.tanh(x @ params["w1"]) @ params["w2"] - y) ** 2)

    loss, gradients = jax.lax.pmean(jax.value_and_grad(loss_of)(params), "parts")
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), loss


shape = jax.ShapeDtypeStruct
params = {"w1": shape((FEATURES, HIDDEN), "float32"), "w2": shape((HIDDEN, 1), "float32")}
x, y = shape((SAMPLES, FEATURES), "float32"), shape((SAMPLES, 1), "float32")

# Four devices: the text after partitioning. lower(...).as_text() would be the program before it, which is refused.
mesh = Mesh(jax.devices(), ("parts",))
whole, part = PartitionSpec(), PartitionSpec("parts")
# check_vma=False: gradients are those of the part, as in pmap and vmap, until pmean takes their mean.
mapped = jax.shard_map(step, mesh=mesh, in_specs=(whole, part, part), out_specs=whole, check_vma=False)
compiled = jax.jit(mapped).lower(params, x, y).compile()
open("part.hlo", "w").write(compiled.as_text())


# One device: vmap in place of pmap or shard_map. Collectives over its axis become sums over a dimension.
def all_parts(params, x, y):
    def split(a):
        return a.reshape(DEVICES, SAMPLES // DEVICES, -1)
    return jax.vmap(step, (None, 0, 0), None, axis_name="parts")(params, split(x), split(y))


open("whole.hlo", "w").write(jax.jit(all_parts).lower(params, x, y).as_text(dialect="hlo"))
