"""The operations of random modules, by family. Each function adds one operation to a Builder, or nothing if no operands fit.

Every file of a family ends with OPERATIONS, a list of (function, weight).
"""
import importlib

from families import attention, blocks, control, effects, elementwise, indexed, large, library, linalg, movement, reductions, weights
from generate import Unfit

LARGE = list(zip(*(large.OPERATIONS + weights.OPERATIONS)))
MAKERS, WEIGHTS = zip(*(o for f in (attention, blocks, control, effects, elementwise, indexed, library, linalg, movement, reductions) for o in f.OPERATIONS))


def only(name):
    """The operations of one family, as Module.operations."""
    return tuple(zip(*importlib.import_module(f"families.{name}").OPERATIONS))


def step(b):
    """Adds one operation and its operands."""
    for _ in range(20):
        count = len(b.lines)
        try:
            v = b.random.choices(*(LARGE if b.module.large and b.entry and b.random.random() < 0.8 else
                                   b.module.operations or (MAKERS, WEIGHTS)))[0](b)
        except Unfit:
            v = None
        if v:
            return v
        if len(b.lines) > count + 30:
            return None
    return None
