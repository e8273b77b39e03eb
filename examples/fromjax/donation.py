"""A state that is updated in place: running statistics of samples that come in batches (statistics.hlo)."""
import jax
import jax.numpy as jnp
import numpy as np


def statistics(state, batch):
    """The new state, and how far each sample is from the mean so far."""
    count = state["count"] + batch.shape[0]
    total = state["sum"] + batch.sum(axis=0)
    moments = state["moments"] + batch.T @ batch
    return {"count": count, "sum": total, "moments": moments}, jnp.abs(batch - total / count).sum(axis=1)


state = {"count": np.int32(0), "sum": np.zeros(3, np.float32), "moments": np.zeros((3, 3), np.float32)}
batch = np.zeros((8, 3), np.float32)

# donate_argnums: argument 0 may be overwritten. Each of its arrays shares the buffer of a result of its type.
lowered = jax.jit(statistics, donate_argnums=0).lower(state, batch)
open("statistics.hlo", "w").write(lowered.as_text(dialect="hlo"))
