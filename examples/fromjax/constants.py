"""One network exported twice: with its weights as constants (net_constants.hlo), and as parameters (net.hlo, weights.bin).

check.bin holds an input and JAX's result for it.
"""
import jax
import jax.numpy as jnp
import numpy as np

random = np.random.default_rng(0)
shapes = {"w1": (64, 256), "b1": (256,), "w2": (256, 10)}
weights = {name: (random.standard_normal(shape) / 8).astype(np.float32) for name, shape in shapes.items()}


def net(weights, x):
    return jax.nn.softmax(jax.nn.relu(x @ weights["w1"] + weights["b1"]) @ weights["w2"])


x = random.standard_normal((1, 64)).astype(np.float32)

# What a function closes over becomes a constant; what is an argument becomes a parameter.
constants = jax.jit(lambda x: net(weights, x)).lower(x).as_text(dialect="hlo")
parameters = jax.jit(net).lower(weights, x).as_text(dialect="hlo")
open("net_constants.hlo", "w").write(constants)
open("net.hlo", "w").write(parameters)

# The parameters are the leaves of the arguments in order; buffers are row-major.
with open("weights.bin", "wb") as out:
    for leaf in jax.tree.leaves(weights):
        out.write(np.ascontiguousarray(leaf).tobytes())
open("check.bin", "wb").write(x.tobytes() + np.asarray(jax.jit(net)(weights, x)).tobytes())

size = sum(leaf.nbytes for leaf in jax.tree.leaves(weights))
print(f"weights {size} bytes, text with constants {len(constants)} bytes, with parameters {len(parameters)} bytes")
