"""Systematic mistakes, made from the valid cases of a table; imported by cases.py.

Each mutant changes one thing. The tool must refuse it with a position in the text, or accepted.txt must list it as valid.
"""
import copy
import functools
import os
import re

from cases import HERE, split_top

ACCEPTED = os.path.join(HERE, "accepted.txt")


def mutants(cases):
    """All mutants of the valid cases, each text once. Of opcodes that share their cases, the first stands for all."""
    seen, result = set(), []
    for case in cases:
        if not case.valid or not case.first:
            continue
        statements = [s.strip() for s in split_top(case.text, ";")]
        for i, statement in enumerate(statements):
            for changed in change_statement(statement):
                text = "; ".join(statements[:i] + [changed] + statements[i + 1:])
                if text not in seen:
                    seen.add(text)
                    mutant = copy.copy(case)
                    mutant.text = mutant.source = text
                    mutant.valid, mutant.expected = False, []
                    result.append(mutant)
    return result


def parse(statement):
    """`prefix shape opcode(operands), attributes` in its parts."""
    match = re.match(r"(\w+ = )?", statement)
    prefix, rest = match.group(0), statement[match.end():]
    depth = 0
    for i, c in enumerate(rest):
        if c == " " and depth == 0:
            break
        depth += (c in "([{") - (c in ")]}")
    shape, rest = rest[:i], rest[i + 1:]
    opcode, rest = rest.split("(", 1)
    depth = 1
    for i, c in enumerate(rest):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0:
            break
    operands = [o.strip() for o in split_top(rest[:i], ",")] if rest[:i].strip() else []
    attributes = [a.strip() for a in split_top(rest[i + 1:], ",")][1:]
    return prefix, shape, opcode, operands, attributes


def change_statement(statement):
    prefix, shape, opcode, operands, attributes = parse(statement)

    def join(shape=shape, operands=operands, attributes=attributes):
        return prefix + shape + " " + opcode + "(" + ", ".join(operands) + ")" + "".join(", " + a for a in attributes)

    def replaced(items, i, new):
        return items[:i] + new + items[i + 1:]

    for changed in change_shape(shape):
        yield join(shape=changed)
    yield join(attributes=attributes + ["foo=1"])
    if opcode == "constant":
        return
    if opcode != "parameter":
        yield join(operands=operands + ["f32[] %extra"])
    for i, operand in enumerate(operands):
        yield join(operands=replaced(operands, i, []))
        match = re.match(r"(.*) (%\w+)$", operand)
        if match:
            for changed in change_shape(match.group(1)):
                yield join(operands=replaced(operands, i, [changed + " " + match.group(2)]))
    for i, attribute in enumerate(attributes):
        yield join(attributes=replaced(attributes, i, []))
        yield join(attributes=attributes + [attribute])
        name, value = attribute.split("=", 1)
        for changed in change_value(value):
            yield join(attributes=replaced(attributes, i, [name + "=" + changed]))


def change_shape(shape):
    """Shapes that differ in one thing: the element type, a size, the rank, array or tuple."""
    yield "(" + shape + ")"
    yield "token[]"
    yield "f32[]"
    yield "()"
    for match in re.finditer(r"(\w+)\[([^\]]*)\](\{[\d,]*\})?", shape):
        element, sizes, _ = match.groups()
        others = {"f32": ["s32", "c64", "pred"], "token": ["f32"]}.get(element, ["f32", "pred", "s16"])
        variants = [f"{other}[{sizes}]" for other in others]
        if element != "token":
            dims = sizes.split(",") if sizes else []
            variants.append(f"{element}[{','.join(dims + ['1'])}]")
            for i, dim in enumerate(dims):
                number = int(dim.removeprefix("<="))
                for other in (str(number + 1), "0", "-1", "9223372036854775807"):
                    variants.append(f"{element}[{','.join(dims[:i] + [other] + dims[i + 1:])}]")
                variants.append(f"{element}[{','.join(dims[:i] + dims[i + 1:])}]")
            if len(dims) > 1:
                variants.append(f"{element}[{sizes}]{{{','.join('0' for _ in dims)}}}")
            if dims:
                variants.append(f"{element}[{sizes}]{{{','.join(str(len(dims) - i) for i in range(len(dims)))}}}")
        for variant in variants:
            yield shape[:match.start()] + variant + shape[match.end():]


def change_value(value):
    """Values of another kind, and values with one number or name changed."""
    yield from ("x", "{}", "-1", '"x"', "nowhere", "nothing", "")
    for match in re.finditer(r"\d+", value):
        for number in (str(int(match.group()) + 1), "0", "-1", "9223372036854775807", "99999999999999999999", "1.5"):
            yield value[:match.start()] + number + value[match.end():]
    if value.startswith("{") and value.endswith("}"):
        items = [i.strip() for i in split_top(value[1:-1], ",")]
        yield "{" + ",".join(items[:-1]) + "}"
        yield "{" + ",".join(items + items[-1:]) + "}"
        yield "{" + ",".join(items[::-1]) + "}"
        yield value[:-1]
        yield value + "}"


@functools.cache
def accepted():
    return frozenset(line.rstrip("\n") for line in open(ACCEPTED)) if os.path.exists(ACCEPTED) else frozenset()


def check(case, result):
    if result.crash:
        return result.crash
    if any(line < 1 or column < 1 for line, column, _ in result.errors):
        return "an error has no place: " + str(result.errors)
    valid = case.text in accepted()
    if not result.errors and not valid:
        return "is accepted, and accepted.txt does not list it"
    if result.errors and valid:
        return "accepted.txt lists it, but: " + result.errors[0][2]
    return None


def list_accepted(cases, results):
    """Adds the modules accepted now to accepted.txt; review it before it is committed."""
    new = {case.text for case, result in zip(cases, results) if not result.errors and not result.crash}
    with open(ACCEPTED, "w") as file:
        file.write("\n".join(sorted(accepted() | new)) + "\n")
    accepted.cache_clear()
