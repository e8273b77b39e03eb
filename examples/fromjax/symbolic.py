"""A function of any number of rows (rows.mlir), and what JAX computes for 600 of them (rows.bin)."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import export


def classify(x, w):
    """Probabilities, the mean row and the best column of each row."""
    h = jax.nn.relu(x @ w)
    return jax.nn.softmax(h, axis=1), h.mean(axis=0), jnp.argmax(h, axis=1)


rows = jax.ShapeDtypeStruct(export.symbolic_shape("b, 16"), np.float32)
weights = jax.ShapeDtypeStruct((16, 10), np.float32)
with open("rows.mlir", "w") as file:
    file.write(export.export(jax.jit(classify))(rows, weights).mlir_module())

# The check that matters: a size other than the bound, against JAX.
random = np.random.default_rng(0)
x, w = random.standard_normal((600, 16)).astype(np.float32), random.standard_normal((16, 10)).astype(np.float32)
with open("rows.bin", "wb") as file:
    file.write(b"".join(np.asarray(a).tobytes() for a in (x, w, *jax.jit(classify)(x, w))))
