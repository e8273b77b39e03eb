"""Checks the results of a module against its bounds."""
import numpy as np

from bounds.interpreter import Interpreter
from bounds.number import Number, format_of, from_bits, rounded
from generate import COMPLEX


# Some results are as far as e says, and the interpreter's own roundings, in f64, are 2^-29 of those of f32.
SLACK = 1 + 2.0 ** -20


def bounds(text, specs, arrays, exact, wanted, given):
    """The Number of each instruction in `wanted`, by name. `arrays` and `given` hold bits."""
    parameters = [Number(t, from_bits(t, x)) for (t, *_), x in zip(specs, arrays)]
    interpreter = Interpreter(text, parameters, exact)
    types = {n: line.type[0] for n, line in interpreter.entry.lines.items() if n in given}
    interpreter.given = {n: Number(types[n], from_bits(types[n], x)) for n, x in given.items()}
    return interpreter.results(wanted)


def within(number, raw):
    """For each element of a result (its bits): True if it is the value rounded once, or no farther from it than the bound.

    If the bound reaches beyond the largest finite number, or an intermediate value was infinite, infinities and NaN are
    accepted too: which of them results depends on the order of operations.
    """
    x, expected = from_bits(number.type, raw), rounded(number.type, number.x)
    with np.errstate(all="ignore"):
        good = (x == expected) | np.isnan(x) & np.isnan(expected)
        if not number.once:
            _, _, largest = format_of(number.type)
            good |= np.abs(x - number.x) <= number.e * SLACK
            good |= np.isinf(number.e) | np.isnan(number.e)
            good |= ~np.isfinite(x) & ~(np.abs(number.x) + number.e < largest)
        if number.type in COMPLEX:
            good |= ~np.isfinite(x) & ~np.isfinite(expected)
    return good


def difference(number, raw, reference=None):
    """A message about the elements beyond the bounds; empty if there are none."""
    if np.shape(raw) != number.shape:
        return f"{list(np.shape(raw))} instead of {list(number.shape)}"
    good = within(number, raw)
    if good.all():
        return None
    x = from_bits(number.type, raw)
    with np.errstate(all="ignore"):
        excess = np.where(good, 0, np.nan_to_num(np.abs(x - number.x) / number.error, nan=np.inf))
    where = np.unravel_index(np.argmax(excess), excess.shape)
    text = (f"{(~good).sum()} of {good.size} beyond their bounds, worst at {list(map(int, where))}: {x[where]} instead of {number.x[where]} "
            f"+- {number.error[where]:.3g}")
    if reference is not None:
        y = from_bits(number.type, reference)
        text += f"; XLA: {y[where]}, {(~within(number, reference)).sum()} beyond"
    return text
