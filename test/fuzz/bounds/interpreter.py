"""Interprets modules of the generator: for each result, the value in f64 and a bound of the error (see number.py).

Operations that are not interpreted (random bits, dynamic sizes, stochastic conversions) are exact values taken from the
reference: `given_by_reference` lists the instructions that it must return besides the results.
"""
import re

import numpy as np

from bounds import contractions, elementwise, movement
from bounds.number import Number, from_bits, is_inexact, rounded, settle, to_type, wrap
from dress import split_type
from generate import COMPLEX, INTS, for_reference, numpy_type

LINE = re.compile(r"  (ROOT )?([\w.\-]+) = (.*)")
HYPERBOLIC = re.compile(r" (acos|asin|atanh|cosh|sinh|asinh|acosh)\(")
NAME = re.compile(r"[A-Za-z_][\w.\-]*")
SAME = {"copy", "bitcast", "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast", "all-reduce-start",
        "all-reduce-done", "domain", "add-dependency", "custom-call", "opt-barrier"}
FOREIGN = {"rng-bit-generator", "rng-get-and-update-state", "stochastic-convert", "set-dimension-size"}
BINARY = {"add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power", "atan2", "and", "or", "xor", "shift-left", "shift-right-logical",
          "shift-right-arithmetic"}


def parse_type(text):
    """(element type, dimensions); for a tuple a list of them."""
    text = text.strip()
    if not text.startswith("("):
        match = re.match(r"(\w+)\[([^\]]*)\]", text)
        return match[1], [int(d.strip("<= ")) for d in match[2].split(",") if d.strip()]
    parts, depth, start = [], 0, 1
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth == 1 and c == "," or depth == 0:
            if text[start:i].strip():
                parts.append(parse_type(text[start:i]))
            start = i + 1
    return parts


class Instruction:
    def __init__(self, name, text, is_root):
        self.name, self.is_root = name, is_root
        self.type_text, rest = split_type(text)
        self.opcode, rest = rest.split("(", 1)
        depth = 1
        for i, c in enumerate(rest):
            depth += (c == "(") - (c == ")")
            if depth == 0:
                break
        self.inside, self.attributes = rest[:i], rest[i + 1:]
        self.operands = [] if self.opcode in ("constant", "parameter", "iota") else NAME.findall(self.inside)
        self.is_dynamic = "<=" in self.type_text

    @property
    def type(self):
        return parse_type(self.type_text)

    def ints(self, name):
        match = re.search(rf"[ ,]{name}=\{{([\d,\- ]*)\}}", self.attributes)
        return [int(d) for d in match[1].split(",") if d.strip()] if match else []

    def word(self, name, default=None):
        match = re.search(rf"[ ,]{name}=([\w.\-]+)", self.attributes)
        return match[1] if match else default

    def called(self):
        """The computations that an instruction calls, in order."""
        names = re.findall(r"(?:to_apply|calls|true_computation|false_computation|select|scatter)=([\w.\-]+)", self.attributes)
        match = re.search(r"branch_computations=\{([^}]*)\}", self.attributes)
        return names + ([n.strip() for n in match[1].split(",")] if match else [])

    def window(self, rank):
        """(size, stride, low, high, base dilation, window dilation) of each dimension."""
        text = re.search(r"window=\{([^}]*)\}", self.attributes)
        fields = dict(f.split("=") for f in text[1].split()) if text else {}

        def of(name, default):
            return [int(v) for v in fields[name].split("x")] if name in fields else [default] * rank
        pads = [tuple(map(int, p.split("_"))) for p in fields["pad"].split("x")] if "pad" in fields else [(0, 0)] * rank
        return [(s, st, *p, b, w, bool(r)) for s, st, p, b, w, r in
                zip(of("size", 1), of("stride", 1), pads, of("lhs_dilate", 1), of("rhs_dilate", 1), of("rhs_reversal", 0))]


class Computation:
    def __init__(self):
        self.lines, self.root = {}, None

    def live(self, wanted, known=()):
        """The instructions that `wanted` depend on, in program order, without the `known` ones."""
        needed = set(wanted)
        for line in reversed(self.lines.values()):
            if line.name in needed and line.name not in known:
                needed.update(line.operands)
        return [line for line in self.lines.values() if line.name in needed and line.name not in known]


def parse(text):
    """(computations by name, the entry)"""
    own = "\n".join(line.split("  // xla:")[0] if HYPERBOLIC.search(line.split("  // xla:")[0]) else line for line in text.splitlines())
    computations, current = {}, None
    for line in for_reference(own).splitlines():
        match = LINE.fullmatch(line)
        if match:
            instruction = Instruction(match[2], match[3], bool(match[1]))
            current.lines[instruction.name] = instruction
            if instruction.is_root:
                current.root = instruction.name
        elif line.endswith("{") and not line.startswith(" "):
            current = computations.setdefault(line.split()[-2], Computation())
    return computations, computations["main"]


def given_by_reference(text, wanted):
    """The entry's instructions whose values the interpreter takes from the reference."""
    _, entry = parse(text)
    foreign, names = set(), []
    for line in entry.live(wanted):
        of = [o for o in line.operands if o in foreign]
        if line.opcode in FOREIGN or line.is_dynamic:
            foreign.add(line.name)
            of = [line.name]
        if of and not line.is_dynamic and not line.type_text.startswith("("):
            names.append(line.name)
    return names


def with_results(text, names):
    """The reference's module, which returns the values of these instructions after its own results."""
    if not names:
        return text
    head, entry = text.split("ENTRY main {\n")
    lines = entry.split("\n")
    types = {}
    for i, line in enumerate(lines):
        match = LINE.fullmatch(line)
        if match:
            types[match[2]] = split_type(match[3])[0]
            if match[1]:
                root, lines[i] = match[2], line.replace("ROOT ", "", 1)
    names = [root, *names]
    last = f"  ROOT given.all = ({', '.join(types[n] for n in names)}) tuple({', '.join(names)})"
    end = max(i for i, line in enumerate(lines) if line.startswith("}"))
    return head + "ENTRY main {\n" + "\n".join(lines[:end] + [last] + lines[end:])


def results_of(text):
    """(name, element type) of each array of the result, in order."""
    _, entry = parse(text)

    def leaves(name):
        line = entry.lines[name]
        if line.opcode == "tuple":
            return [leaf for o in line.operands for leaf in leaves(o)]
        if line.type_text.startswith("("):
            raise NotImplementedError(f"a result of several arrays: {name}")
        return [(name, line.type[0])]
    return leaves(entry.root)


class Interpreter:
    """exact: names of instructions that round nothing, or whose meaning is a rounding."""

    def __init__(self, text, parameters, exact=(), given=None):
        self.computations, self.entry = parse(text)
        self.parameters, self.exact, self.given = parameters, set(exact), given or {}
        self.monoid_cache = {}

    def results(self, wanted):
        """Numbers by name."""
        values = self.run(self.entry, self.parameters, wanted, self.given)
        return {n: values[n] for n in wanted}

    def run(self, computation, arguments, wanted, known=()):
        values = dict(known)
        for line in computation.live(wanted, values):
            values[line.name] = self.step(line, values, arguments)
        return values

    def call(self, name, arguments):
        computation = self.computations[name]
        return self.run(computation, arguments, [computation.root])[computation.root]

    def step(self, line, values, arguments):
        op = line.opcode
        operands = [values[o] for o in line.operands]
        try:
            if op == "parameter":
                return arguments[int(line.inside)]
            if op in elementwise_ops:
                return elementwise_ops[op](self, line, operands)
            return getattr(self, "do_" + op.replace("-", "_"))(line, *operands)
        except NotImplementedError as e:
            raise NotImplementedError(f"{line.name} {op}: {e}") from None

    def is_exact(self, line):
        return line.name in self.exact

    # ---- values that need no arithmetic --------------------------------------------------------------------------------
    def do_constant(self, line):
        t, dims = line.type
        return Number(t, literal(t, dims, line.inside))

    def do_iota(self, line):
        t, dims = line.type
        d = int(line.word("iota_dimension"))
        x = np.arange(dims[d]).reshape([-1 if i == d else 1 for i in range(len(dims))])
        x = wrap(t, x) if t in INTS else rounded(t, x.astype(np.float64))
        return Number(t, np.broadcast_to(x, dims))

    def do_tuple(self, line, *operands):
        return tuple(operands)

    def do_get_tuple_element(self, line, a):
        return self.fixed(line, a[int(line.word("index"))])

    def fixed(self, line, a):
        """a, as an exact Number if the generator counts this instruction's value as exact."""
        return settle(a.type, a.x, exact=True) if self.is_exact(line) and isinstance(a, Number) and is_inexact(a.type) else a

    def do_after_all(self, line, *operands):
        return None

    def do_replica_id(self, line):
        return Number("u32", np.uint32(0))

    do_partition_id = do_replica_id

    def do_get_dimension_size(self, line, a):
        """The size of a static dimension; others are given by the reference."""
        return Number("s32", np.int32(a.shape[line.ints("dimensions")[0]]))

    def do_rng(self, line, low, high):
        """Any number between the bounds: all that modules require."""
        t, dims = line.type
        middle = (low.x + high.x) / 2 if is_inexact(t) else (low.x + high.x) // 2
        return Number(t, np.broadcast_to(middle, dims))

    def do_all_gather_start(self, line, a):
        return (a, a)

    def do_all_gather_done(self, line, a):
        return a[1]

    # ---- control -------------------------------------------------------------------------------------------------------
    def do_call(self, line, *operands):
        return self.fixed(line, self.call(line.word("to_apply") or line.word("calls"), operands))

    do_fusion = do_call

    def do_while(self, line, state):
        condition, body = line.word("condition"), line.word("body")
        for _ in range(10000):
            go = self.call(condition, [state])
            movement.known([go])
            if not go.x:
                return state
            state = self.call(body, [state])
        raise NotImplementedError("a long loop")

    def do_conditional(self, line, which, *operands):
        movement.known([which])
        branches = line.called()
        if which.type == "pred":
            names = [line.word("true_computation"), line.word("false_computation")]
            k = 0 if which.x else 1
        else:
            names = branches
            k = int(which.x) if 0 <= int(which.x) < len(names) else len(names) - 1
        return self.fixed(line, self.call(names[k], [operands[k]]))

    def do_map(self, line, *operands):
        result = self.call(line.word("to_apply"), operands)
        _, dims = line.type
        return self.fixed(line, result.moved(lambda x: np.broadcast_to(x, dims)))

    def do_scan(self, line, *operands):
        carries = int(line.word("num_carries"))
        inputs, state = operands[:-carries], list(operands[-carries:])
        d = line.ints("dimensions")[0]
        steps = list(range(inputs[0].shape[d]))
        if line.word("is_reverse") == "true":
            steps.reverse()
        rows = {}
        for i in steps:
            out = self.call(line.word("to_apply"), [v.moved(lambda x: np.take(x, i, axis=d)) for v in inputs] + state)
            split = len(out) - carries
            rows[i], state = out[:split], list(out[split:])
        outs = []
        for k, type_ in enumerate(line.type[:len(line.type) - carries]):
            parts = [rows[i][k] for i in sorted(rows)]
            if parts:
                outs.append(movement.joined(parts[0].type, parts, lambda arrays: np.stack(arrays, axis=d)))
            else:
                outs.append(Number(type_[0], np.zeros(type_[1], numpy_type(type_[0]))))
        return tuple(outs + state)

    # ---- conversions ---------------------------------------------------------------------------------------------------
    def do_convert(self, line, a):
        return elementwise.convert(line.type[0], a, self.is_exact(line))

    def do_bitcast_convert(self, line, a):
        t, dims = line.type
        if a.e is not None and np.any(a.e > 0):
            raise NotImplementedError("bits of a rounded number")
        if a.type == "f8e8m0fnu":
            raw = (np.frexp(a.x)[1] + 126).astype(np.uint8)
        else:
            raw = np.ascontiguousarray(to_type(a.type, a.x) if is_inexact(a.type) else a.x)
        return Number(t, from_bits(t, raw.reshape(-1).view(numpy_type(t)).reshape(dims)))

    def do_reduce_precision(self, line, a):
        return elementwise.reduce_precision(a, int(line.word("exponent_bits")), int(line.word("mantissa_bits")))

    def do_compare(self, line, a, b):
        return elementwise.compare(line.word("direction"), a, b, line.word("type") == "TOTALORDER")

    def do_select(self, line, p, a, b):
        return elementwise.select(p, a, b)

    def do_clamp(self, line, low, a, high):
        return elementwise.clamp(low, a, high)

    def do_complex(self, line, a, b):
        e = None if a.e is None and b.e is None else np.hypot(a.error, b.error)
        with np.errstate(all="ignore"):
            return Number(line.type[0], a.x + 1j * b.x, e)

    # ---- movement ------------------------------------------------------------------------------------------------------
    def do_broadcast(self, line, a):
        return movement.broadcast(a, line.type[1], line.ints("dimensions"))

    def do_reshape(self, line, a):
        return a.moved(lambda x: x.reshape(line.type[1]))

    do_dynamic_reshape = do_reshape

    def do_transpose(self, line, a):
        return a.moved(lambda x: x.transpose(line.ints("dimensions")))

    def do_reverse(self, line, a):
        return a.moved(lambda x: np.flip(x, line.ints("dimensions")))

    def do_slice(self, line, a):
        text = re.search(r"slice=\{(.*?)\}", line.attributes)[1]
        cut = tuple(slice(*map(int, part.split(":"))) for part in re.findall(r"\[([\d:]+)\]", text))
        return a.moved(lambda x: x[cut])

    def do_pad(self, line, a, value):
        config = [tuple(map(int, p.split("_"))) for p in re.findall(r"-?\d+_-?\d+(?:_\d+)?", line.attributes)]
        return movement.pad(a, value, [c if len(c) == 3 else (*c, 0) for c in config])

    def do_concatenate(self, line, *operands):
        d = line.ints("dimensions")[0]
        return movement.joined(operands[0].type, operands, lambda arrays: np.concatenate(arrays, axis=d))

    def do_dynamic_slice(self, line, a, *indices):
        return movement.dynamic_slice(a, indices, line.ints("dynamic_slice_sizes"))

    def do_dynamic_update_slice(self, line, a, update, *indices):
        return movement.dynamic_update_slice(a, update, indices)

    def do_gather(self, line, a, indices):
        return movement.gather(a, indices, line.ints("offset_dims"), line.ints("collapsed_slice_dims"), line.ints("start_index_map"),
                               int(line.word("index_vector_dim")), line.ints("slice_sizes"), line.ints("operand_batching_dims"),
                               line.ints("start_indices_batching_dims"))

    def do_scatter(self, line, *operands):
        n = len(operands) // 2
        arrays, indices, updates = operands[:n], operands[n], operands[n + 1:]
        places = movement.scatter_places(arrays[0], indices, updates[0], line.ints("update_window_dims"), line.ints("inserted_window_dims"),
                                         line.ints("scatter_dims_to_operand_dims"), int(line.word("index_vector_dim")), line.ints("input_batching_dims"),
                                         line.ints("scatter_indices_batching_dims"))
        ops = self.monoids(line.word("to_apply"), [a.type for a in arrays])
        out = [movement.scatter(op, a, u, places, self.is_exact(line)) for op, a, u in zip(ops, arrays, updates)]
        return out[0] if n == 1 else tuple(out)

    def do_sort(self, line, *operands):
        lines = self.computations[line.word("to_apply")].lines.values()
        compares = [x for x in lines if x.opcode == "compare"]
        if "TOTALORDER" in compares[0].attributes:
            raise NotImplementedError("total order")
        out = movement.sorted_by(operands, line.ints("dimensions")[0], compares[0].word("direction") == "GT", len(compares) > 1)
        return out[0] if len(out) == 1 else tuple(out)

    def do_topk(self, line, a):
        k = int(line.word("k"))
        places = Number("s32", np.broadcast_to(np.arange(a.shape[-1], dtype=np.int32), a.shape))
        out = movement.sorted_by([a, places], a.x.ndim - 1, line.word("largest") == "true")
        return tuple(v.moved(lambda x: x[..., :k]) for v in out)

    # ---- reductions and products ---------------------------------------------------------------------------------------
    def monoids(self, name, types):
        """The name of the operation that the computation applies to each pair of its operands; None for a pair with any other.

        Found by evaluating the computation on all pairs of 0 to 3.
        """
        key = name, tuple(types)
        if key not in self.monoid_cache:
            def grid(t, x):
                return x > 1 if t == "pred" else wrap(t, x) if t in INTS else x.astype(np.complex128 if t in COMPLEX else np.float64)
            a, b = (v.reshape(-1) for v in np.meshgrid(np.arange(4), np.arange(4)))
            found = []
            others = [Number(t, grid(t, np.arange(16) * 7 % 4)) for t in types]  # what must not matter
            for k, t in enumerate(types):
                x, y = Number(t, grid(t, a)), Number(t, grid(t, b))
                outs = []
                for noise in (others, [o.moved(lambda v: v[::-1]) for o in others]):
                    left, right = ([v if i == k else o for i, o in enumerate(noise)] for v in (x, y))
                    out = self.call(name, [*left, *right])
                    outs.append((out[k] if isinstance(out, tuple) else out).x)
                names = ["maximum", "minimum", "add", "multiply"] + ["and", "or", "xor"] * (not is_inexact(t)) + ["subtract"] * (t != "pred")
                if t == "pred":
                    names = ["and", "or", "xor"]
                if t in COMPLEX:
                    names = ["add", "multiply", "subtract"]
                fits = [op for op in names if np.array_equal(elementwise.binary(op, x, y).x, outs[0])]
                if np.array_equal(y.x, outs[0]):
                    fits = ["second"]
                found.append(fits[0] if fits and np.array_equal(outs[0], outs[1]) else None)
            self.monoid_cache[key] = found
        return self.monoid_cache[key]

    def do_reduce(self, line, *operands):
        n = len(operands) // 2
        arrays, starts = operands[:n], operands[n:]
        dims, name = line.ints("dimensions"), line.word("to_apply")
        ops = self.monoids(name, [a.type for a in arrays])
        if None in ops:
            return self.folded(name, arrays, starts, dims)
        out = [contractions.reduce(op, a, s, dims, self.is_exact(line) or n > 1) for op, a, s in zip(ops, arrays, starts)]
        return out[0] if n == 1 else tuple(out)

    def folded(self, name, arrays, starts, dims):
        """A reduction by an associative and commutative computation: halves are combined."""
        kept = [i for i in range(arrays[0].x.ndim) if i not in dims]
        shape = [arrays[0].shape[i] for i in kept]
        rows = [a.moved(lambda x: x.transpose(list(dims) + kept).reshape([-1] + shape)) for a in arrays]
        count = rows[0].shape[0]
        while count > 1:
            half, odd = count // 2, [r.moved(lambda x: x[count - count % 2:]) for r in rows]
            out = self.call(name, [r.moved(lambda x: x[:half]) for r in rows] + [r.moved(lambda x: x[half:2 * half]) for r in rows])
            rows = [movement.joined(o.type, [o, rest], np.concatenate) for o, rest in zip(out, odd)]
            count = rows[0].shape[0]
        starts = [s.moved(lambda x: np.broadcast_to(x, shape)) for s in starts]
        return self.call(name, [*(r.moved(lambda x: x[0]) for r in rows), *starts]) if count else tuple(starts)

    def do_reduce_window(self, line, *operands):
        n = len(operands) // 2
        window = [w[:6] for w in line.window(operands[0].x.ndim)]
        ops = self.monoids(line.word("to_apply"), [a.type for a in operands[:n]])
        out = [contractions.reduce_window(op, a, s, window, self.is_exact(line) or n > 1) for op, a, s in zip(ops, operands[:n], operands[n:])]
        return out[0] if n == 1 else tuple(out)

    def do_select_and_scatter(self, line, a, source, start):
        window = [w[:6] for w in line.window(a.x.ndim)]
        return movement.select_and_scatter(a, source, start, window, lambda x, y: self.call(line.word("select"), [x, y]), self.is_exact(line))

    def do_dot(self, line, a, b):
        return contractions.dot(line.type[0], a, b, line.ints("lhs_batch_dims"), line.ints("rhs_batch_dims"), line.ints("lhs_contracting_dims"),
                                line.ints("rhs_contracting_dims"), self.is_exact(line))

    def do_convolution(self, line, a, b):
        labels = re.search(r"dim_labels=(\w+)_(\w+)->(\w+)", line.attributes).groups()
        window = line.window(len(labels[0]) - 2)
        return contractions.convolution(line.type[0], a, b, labels, window, int(line.word("feature_group_count", 1)),
                                        int(line.word("batch_group_count", 1)), self.is_exact(line))

    def do_fft(self, line, a):
        return contractions.fft(line.word("fft_type"), a, line.ints("fft_length"), line.type[0])

    def do_cholesky(self, line, a):
        return contractions.cholesky(a, line.word("lower") == "true")

    def do_triangular_solve(self, line, a, b):
        return contractions.triangular_solve(a, b, line.word("left_side") == "true", line.word("lower") == "true", line.word("unit_diagonal") == "true",
                                             line.word("transpose_a"))

    def batch_norm(self, kind, line, operands):
        epsilon = float(re.search(r"epsilon=([\d.e\-]+)", line.attributes)[1])
        return contractions.batch_norm(kind, operands, epsilon, int(line.word("feature_index")))

    def do_batch_norm_training(self, line, *operands):
        return self.batch_norm("training", line, operands)

    def do_batch_norm_inference(self, line, *operands):
        return self.batch_norm("inference", line, operands)

    def do_batch_norm_grad(self, line, *operands):
        return self.batch_norm("grad", line, operands)


def same(self, line, operands):
    if line.type_text.startswith("(") and line.opcode == "all-reduce":
        return tuple(operands)
    return self.fixed(line, operands[0])


elementwise_ops = {op: same for op in SAME}
elementwise_ops.update({op: lambda self, line, operands: elementwise.binary(line.opcode, *operands, self.is_exact(line)) for op in BINARY})
elementwise_ops.update({op: lambda self, line, operands: elementwise.unary(line.opcode, *operands, self.is_exact(line)) for op in
                        {*elementwise.MONOTONE, *elementwise.ANALYTIC, *elementwise.ROUND, "sine", "cosine", "cosh", "negate", "abs", "not", "real", "imag",
                         "is-finite", "popcnt", "count-leading-zeros"}})


def literal(type_, dims, text):
    """The elements of a constant's text between its braces, in order."""
    text = re.sub(r"/\*.*?\*/", " ", text)
    if type_ in COMPLEX:
        found = [complex(float(a), float(b)) for a, b in re.findall(r"\(([^,()]+),([^,()]+)\)", text)]
        return np.array(found, np.complex128).reshape(dims)
    words = re.findall(r"[^\s,{}]+", text)
    if type_ == "pred":
        return np.array([w == "true" or w not in ("false",) and float(w) != 0 for w in words], bool).reshape(dims)
    if type_ in INTS:
        return wrap(type_, np.array([int(w) for w in words], object)).reshape(dims) if words else np.zeros(dims, numpy_type(type_))
    return rounded(type_, np.array([float(w) for w in words])).reshape(dims)
