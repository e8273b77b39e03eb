"""Trees of arguments and several results: their order and names in C (detect.hlo)."""
import jax
import jax.numpy as jnp
import numpy as np


def detect(options, image):
    score = jax.image.resize(image, (6, 6), "nearest") * options["scale"]
    return {"boxes": jnp.stack([score.argmax(0), score.argmin(0)], axis=1), "best": score.max(),
            "found": (score > options["least"]).any(axis=1), "map": score.T}


arguments = ({"scale": np.float32(2), "least": np.float32(5), "debug": np.bool_(False)}, np.zeros((12, 12), np.float32))

# An argument that the function does not use (`debug`) is no parameter, unless keep_unused says so.
lowered = jax.jit(detect, keep_unused=True).lower(*arguments)
open("detect.hlo", "w").write(lowered.as_text(dialect="hlo"))

# Parameters are named after arguments; results are numbered in the order of the tree's leaves (dictionaries by key).
results, _ = jax.tree.flatten_with_path(jax.eval_shape(detect, *arguments))
for i, (path, leaf) in enumerate(results):
    print(f"out_{i}: {jax.tree_util.keystr(path)} {leaf.dtype}{list(leaf.shape)}")
