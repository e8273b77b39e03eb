"""One data-parallel training step with shardings: step.hlo, for one device or, with --partitions=4, for four ranks.

The function is written for whole arrays; in_shardings says that the samples are split over four devices. hlo-compile
partitions the text that lower() gives: each rank's program takes a quarter of the samples and sums the gradients.
"""
import os

# Four devices on this machine; only their number matters, and the target is always the CPU.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

SAMPLES, FEATURES, HIDDEN = 64, 8, 32


def step(params, x, y):
    def loss_of(params):
        return jnp.mean((jnp.tanh(x @ params["w1"]) @ params["w2"] - y) ** 2)

    loss, gradients = jax.value_and_grad(loss_of)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), loss


shape = jax.ShapeDtypeStruct
params = {"w1": shape((FEATURES, HIDDEN), "float32"), "w2": shape((HIDDEN, 1), "float32")}
x, y = shape((SAMPLES, FEATURES), "float32"), shape((SAMPLES, 1), "float32")

mesh = Mesh(jax.devices(), ("parts",))
whole, part = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("parts"))
jitted = jax.jit(step, in_shardings=(whole, part, part), out_shardings=whole)
open("step.hlo", "w").write(jitted.lower(params, x, y).as_text(dialect="hlo"))
