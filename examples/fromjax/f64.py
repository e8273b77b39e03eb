"""Double precision: the root of a by Newton's method (newton.hlo)."""
import jax

# Before the first array is made. Without it JAX computes in float32, whatever dtype the arguments have.
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402


def newton(a):
    """x with x * x == a, and the number of steps."""
    def step(state):
        x, last, n = state
        return (x + a / x) / 2, x, n + 1
    x, _, n = jax.lax.while_loop(lambda s: jnp.abs(s[0] - s[1]) > 1e-15 * s[0], step, (a, jnp.zeros_like(a), 0))
    return x, n


open("newton.hlo", "w").write(jax.jit(newton).lower(np.float64(2)).as_text(dialect="hlo"))
x, n = newton(np.float64(2))
print(f"JAX: {x:.16g} after {n} steps")
