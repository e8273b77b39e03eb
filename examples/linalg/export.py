"""Exports two functions of jax.numpy.linalg as HLO text: eigh.hlo and svd.hlo. Needs jax (0.10.2 was used)."""
import re

import jax
import jax.numpy as jnp


def save(name, function, *arguments):
    text = jax.jit(function).lower(*arguments).as_text(dialect="hlo")
    # Where each instruction comes from in this file is of no use to others.
    text = re.sub(r", metadata=\{[^}]*\}", "", text)
    head, _, rest = text.partition("\n")
    rest = re.sub(r"(?ms)^(FileNames|FunctionNames|FileLocations|StackFrames)\n.*?\n\n", "", rest)
    with open(name + ".hlo", "w") as out:
        out.write(head + "\n" + rest)


save("eigh", lambda a: jnp.linalg.eigh(a), jnp.zeros((40, 40)))
save("svd", lambda a: jnp.linalg.svd(a, full_matrices=False), jnp.zeros((3, 30, 20)))
