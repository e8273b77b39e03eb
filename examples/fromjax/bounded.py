"""A function of any number of rows up to 1009 (rows.hlo), and what JAX computes for 600 rows (rows.bin).

JAX writes no bounded dimensions (`<=1009`): it exports for one size, or with symbols in StableHLO. But where the bound is a
number that the program has nowhere else, such as a prime, the text for that size tells which dimensions it decides.
"""
import re

import jax
import jax.numpy as jnp
import numpy as np

ROWS = 1009


def classify(x, w, count):
    """Probabilities, the mean row and the best column of each row."""
    h = jax.nn.relu(x @ w)
    # h.mean(axis=0) would divide by 1009: what JAX takes from a shape is a constant. So the number is an argument.
    return jax.nn.softmax(h, axis=1), h.sum(axis=0) / count, jnp.argmax(h, axis=1)


def with_bound(text, bound):
    """The text with `<=bound` for each dimension of size `bound`."""
    shapes = r"(?<=[a-z0-9]\[)[\d,]+(?=\])"
    for line in text.splitlines():
        sizes = [int(n) for dims in re.findall(shapes, line) for n in dims.split(",")]
        slices = [s for s in re.findall(r"\[(\d+:\d+(?::\d+)?)\]", line) if int(s.split(":")[1]) > bound // 2]
        if max(sizes, default=0) > bound or f"constant({bound})" in line or set(slices) - {f"0:{bound}"}:
            raise ValueError(f"a number that the bound has gone into: {line.strip()}")
    return re.sub(shapes, lambda dims: re.sub(rf"\b{bound}\b", f"<={bound}", dims[0]), text)


random = np.random.default_rng(0)
x, w = random.standard_normal((ROWS, 16)).astype(np.float32), random.standard_normal((16, 10)).astype(np.float32)
text = jax.jit(classify).lower(x, w, np.float32(ROWS)).as_text(dialect="hlo")
open("rows.hlo", "w").write(with_bound(text, ROWS))

# The check that matters: another size than the bound, against JAX.
x = x[:600]
results = jax.jit(classify)(x, w, np.float32(600))
open("rows.bin", "wb").write(b"".join(np.asarray(a).tobytes() for a in (x, w, *results)))
