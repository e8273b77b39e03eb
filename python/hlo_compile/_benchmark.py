"""Timing of a function."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any, Callable


@dataclass(frozen=True)
class Timing:
    """Seconds of the calls that `benchmark` made."""
    minimum: float
    median: float
    p90: float
    runs: int

    def __str__(self) -> str:
        def show(seconds: float) -> str:
            for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
                if seconds * scale >= 1:
                    break
            return f"{seconds * scale:.3g} {unit}"

        return f"min {show(self.minimum)}, median {show(self.median)}, p90 {show(self.p90)}, {self.runs} runs"


def benchmark(function: Callable[..., Any], *args: Any, seconds: float = 0.5, **kwargs: Any) -> Timing:
    """Calls function(*args, **kwargs) for about `seconds`, at least three times, after one call that does not count.
    Results that are jax arrays are waited for. Donated arguments do not fit: a call ends them.

    >>> import hlo_compile as hc, numpy as np
    >>> f = hc.compile("HloModule m\\nENTRY e { x = f32[8] parameter(0)\\n ROOT y = f32[8] negate(x) }")
    >>> hc.benchmark(f, np.ones(8, np.float32), seconds=0.01).runs >= 3
    True
    """

    def once() -> float:
        start = time.perf_counter()
        results = function(*args, **kwargs)
        for result in results if isinstance(results, (tuple, list)) else (results,):
            wait = getattr(result, "block_until_ready", None)
            if wait:
                wait()
        return time.perf_counter() - start

    once()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        times.append(once())
    times.sort()
    return Timing(times[0], statistics.median(times), times[min(len(times) - 1, int(len(times) * 0.9))], len(times))
