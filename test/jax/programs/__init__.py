"""JAX functions by topic. Every file ends with PROGRAMS, a list of Program."""
import collections
import importlib

TOPICS = ("elementwise", "arrays", "reductions", "linear", "special", "indexing", "control", "networks", "randomness", "derivatives", "primitives")

# A function and the types of its arguments, such as "f32[3,4]"; a kind behind a colon says what values an argument has:
# small integers, positive, unit (within -1 and 1), spd (symmetric and positive definite), index (of a dimension of 3), key.
Program = collections.namedtuple("Program", "name function arguments")


def programs():
    """All of them; names are TOPIC.NAME."""
    found = [p._replace(name=f"{topic}.{p.name}") for topic in TOPICS for p in importlib.import_module(f"programs.{topic}").PROGRAMS]
    names = [p.name for p in found]
    assert len(set(names)) == len(names), [n for n, count in collections.Counter(names).items() if count > 1]
    return found


def each(module, names, *arguments):
    """Programs that call one function of a module each, named by a line of words."""
    return [Program(n, getattr(module, n), arguments) for n in names.split()]
