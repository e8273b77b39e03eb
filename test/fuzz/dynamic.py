#!/usr/bin/env python3
"""Random modules with bounded dynamic dimensions, each compared with the same module of static shapes.

  dynamic.py --tool=build/bin/hlo-run [--seed=1] [--count=100] [--seconds=60] [--xla] [--keep=FOLDER]

A seed makes a DAG of 2 to 14 operations on arrays of which some dimensions are `<=N`, and the sizes that they have in
this run. The program has up to 1, 3, 12 or 40 versions for sizes, and its buffers are dense or of the bounds' shape.
Written a second time with these sizes as static dimensions, the module must give the same results: elements beyond the
sizes never count. With --xla also XLA:CPU runs the dynamic module, its parameters made by set-dimension-size (it takes
no dynamic ones); what it gets wrong (see README.md) is then left out. Integers only, so that everything agrees exactly.
The last line reads `N passed, N failed`. Needs numpy; jax for --xla.
"""
import argparse
import math
import os
import pickle
import random
import subprocess
import sys
import tempfile
import time

import numpy as np

COMPUTATIONS = "\n".join(
    f"{op} {{ a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = s32[] {op}(a, b) }}"
    for op in ("add", "maximum", "minimum", "multiply")) + """
greater { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=GT }
less { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
ge { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=GE }
by_first {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
"""


class Dim:
    """A dimension: its size in this run, and its bound if it is dynamic."""

    def __init__(self, size, bound=None):
        self.size, self.bound = size, bound

    @property
    def most(self):
        return self.size if self.bound is None else self.bound

    def text(self, dynamic):
        return f"<={self.bound}" if dynamic and self.bound is not None else str(self.size)

    def same(self, other):
        return self.size == other.size and self.bound == other.bound


class Value:
    def __init__(self, name, dims):
        self.name, self.dims = name, dims

    def text(self, dynamic):
        return type_text(self.dims, dynamic)


def type_text(dims, dynamic, element="s32"):
    return f"{element}[{','.join(d.text(dynamic) for d in dims)}]"


def braces(values):
    return "{" + ",".join(map(str, values)) + "}"


class Generator:
    """Writes each line twice: `lines[1]` is the dynamic module, `lines[0]` the static one."""

    def __init__(self, seed, for_xla):
        self.random, self.for_xla = random.Random(seed), for_xla
        self.lines, self.extra, self.values, self.inputs = ([], []), ([], []), [], []
        self.counter = 0

    def name(self):
        self.counter += 1
        return f"v{self.counter}"

    def emit(self, dims, op, element="s32"):
        """`op` is text, or a function of whether the text is the dynamic one."""
        name = self.name()
        for dynamic in (0, 1):
            text = op(dynamic) if callable(op) else op
            self.lines[dynamic].append(f"  {name} = {type_text(dims, dynamic, element)} {text}")
        return Value(name, dims)

    def keep(self, dims, op):
        if math.prod(d.most for d in dims) > 20000:
            return
        self.values.append(self.emit(dims, op))

    def scalar(self, number):
        return self.emit([], f"constant({number})").name

    def pick(self, least_rank=0):
        fitting = [v for v in self.values if len(v.dims) >= least_rank]
        return self.random.choice(fitting) if fitting else None

    def like(self, value):
        """Another value of the same sizes and bounds."""
        fitting = [v for v in self.values
                   if len(v.dims) == len(value.dims) and all(a.same(b) for a, b in zip(v.dims, value.dims))]
        return self.random.choice(fitting)

    # ---- operations -----------------------------------------------------------------------------------------------
    def unary(self):
        x = self.pick()
        self.keep(x.dims, f"{self.random.choice(['negate', 'abs', 'not', 'sign', 'copy'])}({x.name})")

    def binary(self):
        x = self.pick()
        op = self.random.choice(["add", "subtract", "multiply", "maximum", "minimum", "divide", "remainder", "and", "xor"])
        self.keep(x.dims, f"{op}({x.name}, {self.like(x).name})")

    def select(self):
        x = self.pick()
        y = self.like(x)
        p = self.emit(x.dims, f"compare({x.name}, {y.name}), direction=LT", "pred")
        self.keep(x.dims, f"select({p.name}, {x.name}, {self.like(x).name})")

    def size(self):
        x = self.pick(1)
        d = self.random.randrange(len(x.dims))
        n = self.emit([], lambda dynamic: f"get-dimension-size({x.name}), dimensions={{{d}}}")
        self.values.append(n)

    def broadcast(self):
        x = self.pick()
        at = self.random.randint(0, len(x.dims))
        dims = x.dims[:at] + [Dim(self.random.randint(1, 3))] + x.dims[at:]
        self.keep(dims, f"broadcast({x.name}), dimensions={braces(i for i in range(len(dims)) if i != at)}")

    def transpose(self):
        x = self.pick(2)
        order = self.random.sample(range(len(x.dims)), len(x.dims))
        self.keep([x.dims[i] for i in order], f"transpose({x.name}), dimensions={braces(order)}")

    def reverse(self):
        x = self.pick(1)
        some = self.random.sample(range(len(x.dims)), self.random.randint(1, len(x.dims)))
        self.keep(x.dims, f"reverse({x.name}), dimensions={braces(some)}")

    def pad(self):
        x, config, dims = self.pick(1), [], []
        for d in x.dims:
            low, high = self.random.choice([(0, 0), (1, 0), (0, 2), (2, 1)] + ([] if self.for_xla else [(-1, 1), (1, -1)]))
            inner = self.random.choice([0, 0, 1])
            grow = lambda n, low=low, high=high, inner=inner: n + max(n - 1, 0) * inner + low + high  # noqa: E731
            if grow(d.size) < 0 or d.size + low < 0 or low < 0 and d.size == 0:
                return
            config.append(f"{low}_{high}_{inner}")
            dims.append(Dim(grow(d.size), None if d.bound is None else grow(d.bound)))
        self.keep(dims, f"pad({x.name}, {self.scalar(self.random.randint(-9, 9))}), padding={'x'.join(config)}")

    def concatenate(self):
        x = self.pick(1)
        at = self.random.randrange(len(x.dims))
        fitting = [v for v in self.values if len(v.dims) == len(x.dims) and
                   all(a.same(b) for i, (a, b) in enumerate(zip(v.dims, x.dims)) if i != at)]
        parts = [self.random.choice(fitting) for _ in range(self.random.randint(1, 3))]
        dynamic = any(v.dims[at].bound is not None for v in parts)
        joined = Dim(sum(v.dims[at].size for v in parts), sum(v.dims[at].most for v in parts) if dynamic else None)
        self.keep(x.dims[:at] + [joined] + x.dims[at + 1:],
                  f"concatenate({', '.join(v.name for v in parts)}), dimensions={{{at}}}")

    def slice(self):
        x, dims, ranges = self.pick(1), [], ([], [])
        for d in x.dims:
            if not d.most:
                return
            start, stride = self.random.randrange(min(2, d.most)), self.random.choice([1, 1, 2])
            limit = d.most if self.for_xla or self.random.random() < 0.5 else self.random.randint(start, d.most)
            if self.for_xla and d.bound is not None and start >= d.size:
                start = 0
            count = lambda n, start=start, stride=stride: max(0, -(-(n - start) // stride))  # noqa: E731
            low = min(start, d.size)
            ranges[1].append(f"[{start}:{limit}:{stride}]")
            ranges[0].append(f"[{low}:{max(low, min(limit, d.size))}:{stride}]")
            dims.append(Dim(count(min(limit, d.size)), None if d.bound is None else count(limit)))
        self.keep(dims, lambda dynamic: f"slice({x.name}), slice={{{','.join(ranges[dynamic])}}}")

    def merge(self):
        x = self.pick(2)
        at = self.random.randrange(len(x.dims) - 1)
        a, b = x.dims[at:at + 2]
        one = Dim(a.size * b.size, None if a.bound is None and b.bound is None else a.most * b.most)
        if one.bound is not None and 0 in (a.most, b.most) or any(d.bound == 1 for d in x.dims):
            return  # a dimension of one element at most could be merged with either neighbour
        self.keep(x.dims[:at] + [one] + x.dims[at + 2:], f"reshape({x.name})")

    def split(self):
        x = self.pick(1)
        at = self.random.randrange(len(x.dims))
        d = x.dims[at]
        factors = [k for k in (2, 3) if d.most and d.most % k == 0 and d.size % k == 0]
        if not factors or self.for_xla and d.bound is not None:
            return
        k = self.random.choice(factors)
        rest = Dim(d.size // k, None if d.bound is None else d.bound // k)
        pair = self.random.choice([[Dim(k), rest], [rest, Dim(k)]])
        self.keep(x.dims[:at] + pair + x.dims[at + 1:], f"reshape({x.name})")

    def reshape(self):
        """A dynamic-reshape that permutes the dimensions."""
        x = self.pick(2)
        dims = self.random.sample(x.dims, len(x.dims))
        if self.for_xla:  # keeps the elements in place if equal bounds are swapped
            dims = [Dim(math.prod(d.size for d in dims), math.prod(d.most for d in dims))]
        if all(d.bound is None for d in dims) or 0 in [d.most for d in dims]:
            return
        sizes = ", ".join(self.scalar(d.size) for d in dims)
        self.keep(dims, lambda dynamic: f"dynamic-reshape({x.name}, {sizes})" if dynamic else f"reshape({x.name})")

    def reduce(self):
        x = self.pick(1)
        some = sorted(self.random.sample(range(len(x.dims)), self.random.randint(1, len(x.dims))))
        op, start = self.random.choice([("add", 0), ("maximum", -2**31), ("minimum", 2**31 - 1), ("multiply", 1)])
        self.keep([d for i, d in enumerate(x.dims) if i not in some],
                  f"reduce({x.name}, {self.scalar(start)}), dimensions={braces(some)}, to_apply={op}")

    def window(self):
        x, dims, parts = self.pick(1), [], {"size": [], "stride": [], "pad": [], "rhs_dilate": []}
        for d in x.dims:
            size, stride, dilate = self.random.choice([1, 1, 2, 3]), self.random.choice([1, 1, 2]), self.random.choice([1, 1, 2])
            low, high = (0, 0) if self.for_xla else self.random.choice([(0, 0), (1, 0), (1, 1), (2, 1)])
            count = lambda n: max(0, (n + low + high - ((size - 1) * dilate + 1)) // stride + 1)  # noqa: B023,E731
            if count(d.most) == 0 or self.for_xla and count(d.size) == 0:
                return
            for key, value in (("size", size), ("stride", stride), ("pad", f"{low}_{high}"), ("rhs_dilate", dilate)):
                parts[key].append(str(value))
            dims.append(Dim(count(d.size), None if d.bound is None else count(d.bound)))
        op, start = self.random.choice([("add", 0), ("maximum", -2**31), ("add", 7)])
        text = " ".join(f"{key}={'x'.join(values)}" for key, values in parts.items())
        self.keep(dims, f"reduce-window({x.name}, {self.scalar(start)}), window={{{text}}}, to_apply={op}")

    def pool_gradient(self):
        x = self.pick(1)
        at = self.random.randrange(len(x.dims))
        d = x.dims[at]
        if d.bound is None or d.bound % 2 or d.size % 2 or not d.size:
            return
        shape = "x".join("2" if i == at else "1" for i in range(len(x.dims)))
        half = x.dims[:at] + [Dim(d.size // 2, d.bound // 2)] + x.dims[at + 1:]
        source = self.emit(half, f"reduce-window({x.name}, {self.scalar(0)}), window={{size={shape} stride={shape}}}, to_apply=add")
        self.keep(x.dims, f"select-and-scatter({x.name}, {source.name}, {self.scalar(0)}), "
                          f"window={{size={shape} stride={shape}}}, select=ge, scatter=add")

    def sort(self):
        x = self.pick(1)
        at = self.random.randrange(len(x.dims))
        if self.random.random() < 0.6:
            self.keep(x.dims, f"sort({x.name}), dimensions={{{at}}}, to_apply={self.random.choice(['less', 'greater'])}")
            return
        name, y = self.name(), self.like(x)
        for dynamic in (0, 1):
            t = x.text(dynamic)
            self.lines[dynamic].append(
                f"  {name} = ({t}, {t}) sort({x.name}, {y.name}), dimensions={{{at}}}, is_stable=true, to_apply=by_first")
        self.keep(x.dims, f"get-tuple-element({name}), index=1")

    def dot(self):
        x = self.pick(1)
        pairs = [(v, i, j) for v in self.values for i in range(len(x.dims)) for j in range(len(v.dims))
                 if x.dims[i].same(v.dims[j])]
        y, i, j = self.random.choice(pairs)
        dims = [d for k, d in enumerate(x.dims) if k != i] + [d for k, d in enumerate(y.dims) if k != j]
        if len(dims) <= 3:
            self.keep(dims, f"dot({x.name}, {y.name}), lhs_contracting_dims={{{i}}}, rhs_contracting_dims={{{j}}}")

    def indices(self):
        """An array of indices of rank 1, dynamic or not."""
        d = self.random.choice([Dim(3), Dim(self.random.randint(0, 3), 3)])
        x = self.emit([Dim(3)], f"constant({braces(self.random.randint(0, 3) for _ in range(3))})")
        if d.bound is None:
            return Value(x.name, [d])
        n = self.scalar(d.size)
        return self.emit([d], lambda dynamic: f"set-dimension-size({x.name}, {n}), dimensions={{0}}" if dynamic
                         else f"slice({x.name}), slice={{[0:{d.size}]}}")

    def gather(self):
        x, i = self.pick(1), self.indices()
        at = self.random.randrange(len(x.dims))
        if x.dims[at].size == 0 or any(d.most == 1 for k, d in enumerate(x.dims) if k != at and d.bound is not None):
            return
        if x.dims[at].size < 4:  # starts are clamped by the bound
            limit = self.scalar(x.dims[at].size - 1)
            b = self.emit(i.dims, f"broadcast({limit}), dimensions={{}}")
            i = self.emit(i.dims, f"minimum({i.name}, {b.name})")
        offsets = [k for k in range(len(x.dims)) if k != at]
        rest = [d for k, d in enumerate(x.dims) if k != at]
        self.keep(rest[:at] + i.dims + rest[at:], lambda dynamic:
                  f"gather({x.name}, {i.name}), offset_dims={braces(offsets)}, collapsed_slice_dims={{{at}}}, start_index_map={{{at}}}, "
                  f"index_vector_dim=1, slice_sizes={braces(1 if k == at else (d.most if dynamic else d.size) for k, d in enumerate(x.dims))}")

    def scatter(self):
        x, i = self.pick(1), self.indices()
        u = self.emit(i.dims + x.dims[1:], f"broadcast({self.pick_scalar()}), dimensions={{}}")
        if x.dims[0].size < 4:  # an index between size and bound writes elements that are not valid
            return
        if i.dims[0].bound is not None or any(d.bound is not None for d in x.dims[1:]):
            u = self.true_part(u)
        self.keep(x.dims, f"scatter({x.name}, {i.name}, {u.name}), update_window_dims={braces(range(1, len(x.dims)))}, "
                          f"inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add")

    def pick_scalar(self):
        fitting = [v for v in self.values if not v.dims]
        return self.random.choice(fitting).name if fitting else self.scalar(self.random.randint(-5, 5))

    def true_part(self, value):
        """Cuts a value written with its bounds to its sizes."""
        for d, dim in enumerate(value.dims):
            if dim.bound is not None:
                n, x = self.scalar(dim.size), value.name
                value = self.emit(value.dims, lambda dynamic, x=x, n=n, d=d:
                                  f"set-dimension-size({x}, {n}), dimensions={{{d}}}" if dynamic else f"copy({x})")
        return value

    def update(self):
        x = self.pick(1)
        at = self.random.randrange(len(x.dims))
        if x.dims[at].size == 0:
            return
        zero = self.scalar(0)
        start = self.scalar(self.random.randrange(x.dims[at].size))
        starts = ", ".join(start if k == at else zero for k in range(len(x.dims)))
        part = [Dim(1) if k == at else d for k, d in enumerate(x.dims)]
        row = self.emit(part, lambda dynamic: f"dynamic-slice({x.name}, {starts}), dynamic_slice_sizes="
                        f"{braces(d.most if dynamic else d.size for d in part)}")
        new = self.emit(part, f"multiply({row.name}, {row.name})")
        self.keep(x.dims, f"dynamic-update-slice({x.name}, {new.name}, {starts})")

    def loop(self):
        x = self.pick()
        n, op = self.random.randint(0, 3), self.random.choice(["add", "subtract", "xor"])
        name, c = self.name(), self.scalar(0)
        for dynamic in (0, 1):
            t = f"(s32[], {x.text(dynamic)})"
            self.extra[dynamic].append(
                f"{name}_c {{\n  p = {t} parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant({n})\n"
                f"  ROOT r = pred[] compare(i, n), direction=LT\n}}\n{name}_b {{\n  p = {t} parameter(0)\n"
                f"  i = s32[] get-tuple-element(p), index=0\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
                f"  x = {x.text(dynamic)} get-tuple-element(p), index=1\n  y = {x.text(dynamic)} negate(x)\n"
                f"  z = {x.text(dynamic)} {op}(y, x)\n  ROOT r = {t} tuple(j, z)\n}}\n")
            self.lines[dynamic].append(f"  {name}_t = {t} tuple({c}, {x.name})")
            self.lines[dynamic].append(f"  {name} = {t} while({name}_t), condition={name}_c, body={name}_b")
        self.keep(x.dims, f"get-tuple-element({name}), index=1")

    def branch(self):
        x = self.pick()
        y = self.like(x)
        name, p = self.name(), self.emit([], f"constant({self.random.randint(0, 1)})", "pred").name
        for dynamic in (0, 1):
            t = f"({x.text(dynamic)})"
            for side, op in (("a", "negate"), ("b", "abs")):
                self.extra[dynamic].append(
                    f"{name}_{side} {{\n  p = {t} parameter(0)\n  x = {x.text(dynamic)} get-tuple-element(p), index=0\n"
                    f"  y = {x.text(dynamic)} {op}(x)\n  ROOT r = {t} tuple(y)\n}}\n")
            self.lines[dynamic].append(f"  {name}_x = {t} tuple({x.name})")
            self.lines[dynamic].append(f"  {name}_y = {t} tuple({y.name})")
            self.lines[dynamic].append(f"  {name} = {t} conditional({p}, {name}_x, {name}_y), "
                                       f"true_computation={name}_a, false_computation={name}_b")
        self.keep(x.dims, f"get-tuple-element({name}), index=0")

    def cut(self):
        """Makes a static dimension dynamic."""
        x = self.pick(1)
        at = self.random.randrange(len(x.dims))
        d = x.dims[at]
        if d.bound is not None or d.size == 0:
            return
        size = self.random.randint(1 if self.for_xla else 0, d.size)
        n = self.scalar(size)
        ranges = ",".join(f"[0:{size if i == at else other.size}]" for i, other in enumerate(x.dims))
        self.keep(x.dims[:at] + [Dim(size, d.size)] + x.dims[at + 1:], lambda dynamic:
                  f"set-dimension-size({x.name}, {n}), dimensions={{{at}}}" if dynamic else f"slice({x.name}), slice={{{ranges}}}")

    def partial_update(self):
        """Writes a smaller array, of which only the valid part is written."""
        u = self.pick(1)
        if self.for_xla or any(d.bound is None for d in u.dims):
            return
        extra = [self.random.randint(0, 2) for _ in u.dims]
        x = self.emit([Dim(d.most + e) for d, e in zip(u.dims, extra)], f"broadcast({self.pick_scalar()}), dimensions={{}}")
        if any(e == 0 for e in extra):  # an update of a whole dimension sets its size
            return
        starts = ", ".join(self.scalar(self.random.randint(0, e)) for e in extra)
        self.keep(x.dims, f"dynamic-update-slice({x.name}, {u.name}, {starts})")

    def mapped(self):
        x = self.pick(1)
        dims = braces(range(len(x.dims)))
        self.keep(x.dims, f"map({x.name}, {self.like(x).name}), dimensions={dims}, to_apply={self.random.choice(['add', 'maximum'])}")

    def clamp(self):
        x = self.pick()
        self.keep(x.dims, f"clamp({self.like(x).name}, {x.name}, {self.like(x).name})")

    def convolution(self):
        x = self.pick(3)
        if self.for_xla or len(x.dims) != 3:
            return
        b, s, f = x.dims
        size, low, high = self.random.randint(1, 3), self.random.randint(0, 1), self.random.randint(0, 2)
        stride = self.random.choice([1, 1, 2])
        count = lambda n: max(0, (n + low + high - size) // stride + 1)  # noqa: E731
        out = self.random.choice([Dim(2), f])
        k = self.emit([Dim(size), f, out], f"broadcast({self.pick_scalar()}), dimensions={{}}")
        i = self.emit(k.dims, "iota(), iota_dimension=0")
        if f.bound is not None or out.bound is not None:
            k, i = self.true_part(k), self.true_part(i)
        k = self.emit(k.dims, f"add({k.name}, {i.name})")
        if count(s.most) == 0 or 0 in (b.most, f.most, out.most):
            return
        self.keep([b, Dim(count(s.size), None if s.bound is None else count(s.bound)), out],
                  f"convolution({x.name}, {k.name}), window={{size={size} stride={stride} pad={low}_{high}}}, dim_labels=b0f_0io->b0f")

    # ---- the module -----------------------------------------------------------------------------------------------
    def parameters(self):
        """Arrays that share some dimensions."""
        known = [Dim(self.random.randint(1, 4)) for _ in range(2)]
        for _ in range(self.random.randint(1, 3)):
            bound = self.random.choice([1, 2, 3, 4, 4, 6, 8, 17, 40])
            known.append(Dim(self.random.choice([bound, self.random.randint(0 if not self.for_xla else 1, bound)]), bound))
        number = 0
        for _ in range(self.random.randint(1, 4)):
            dims = [self.random.choice(known) for _ in range(self.random.choice([1, 1, 2, 2, 3]))]
            array = np.array([self.random.randint(-20, 20) for _ in range(math.prod(d.size for d in dims))],
                             np.int32).reshape([d.size for d in dims])
            name = self.name()
            self.lines[0].append(f"  {name} = {type_text(dims, 0)} parameter({number})")
            if self.for_xla:
                bounds = [Dim(d.most) for d in dims]
                whole = np.full([d.size for d in bounds], 77, np.int32)
                whole[tuple(slice(d.size) for d in dims)] = array
                last = f"{name}_p"
                self.lines[1].append(f"  {last} = {type_text(bounds, 1)} parameter({number})")
                for i, d in enumerate(dims):
                    if d.bound is not None:
                        bounds[i] = d
                        self.lines[1].append(f"  {name}_n{i} = s32[] constant({d.size})")
                        self.lines[1].append(f"  {name}_{i} = {type_text(bounds, 1)} set-dimension-size({last}, {name}_n{i}), "
                                             f"dimensions={{{i}}}")
                        last = f"{name}_{i}"
                self.lines[1].append(f"  {name} = {type_text(dims, 1)} copy({last})")
                self.inputs.append((array, whole))
            else:
                self.lines[1].append(f"  {name} = {type_text(dims, 1)} parameter({number})")
                self.inputs.append((array, array))
            self.values.append(Value(name, dims))
            number += 1

    def run(self):
        self.parameters()
        operations = [self.unary, self.binary, self.select, self.size, self.broadcast, self.transpose, self.reverse, self.pad,
                      self.concatenate, self.slice, self.merge, self.split, self.reshape, self.reduce, self.window, self.sort,
                      self.dot, self.gather, self.scatter, self.update, self.loop, self.branch, self.pool_gradient, self.cut,
                      self.partial_update, self.mapped, self.clamp, self.convolution]
        for _ in range(self.random.randint(2, 14)):
            operation = self.random.choice(operations)
            try:
                operation()
            except (IndexError, AttributeError):  # no value fits
                continue
        results = self.values[-self.random.randint(1, 6):]
        texts = []
        for dynamic in (0, 1):
            types = ", ".join(v.text(dynamic) for v in results)
            root = f"  ROOT root = ({types}) tuple({', '.join(v.name for v in results)})"
            texts.append("\n".join(["HloModule m", COMPUTATIONS, *self.extra[dynamic], "ENTRY main {",
                                    *self.lines[dynamic], root, "}", ""]))
        return texts, [[pair[k] for pair in self.inputs] for k in (0, 1)]


def run_tool(tool, text, inputs, folder, name):
    base = os.path.join(folder, name)
    with open(base + ".hlo", "w") as file:
        file.write(text)
    np.savez(base + ".in.npz", **{f"in{i}": x for i, x in enumerate(inputs)})
    guard = "--guard-pages=" + ("before", "after")[len(text) % 2]
    versions = f"--size-versions={(1, 3, 12, 40)[len(text) // 2 % 4]}"
    form = "--dynamic-buffers=" + ("bound", "dense")[len(text) // 8 % 2]
    done = subprocess.run([tool, base + ".hlo", f"--inputs={base}.in.npz", f"--outputs={base}.out.npz", guard, versions, form],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        return f"exit code {done.returncode}: {done.stdout.strip()[-400:]}"
    arrays = np.load(base + ".out.npz")
    return [arrays[f"out{i}"] for i in range(len(arrays.files))]


def run_xla(text, inputs):
    """Runs XLA:CPU in a process of its own, which may abort."""
    from jaxlib import _hlo, _jax  # noqa: F401
    import jax
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
        try:
            client = jax.devices("cpu")[0].client
            computation = _hlo.XlaComputation(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
            module = _jax.mlir.xla_computation_to_mlir_module(computation)
            devices = _jax.DeviceList(tuple(client.local_devices()[:1]))
            executable = client.compile_and_load(module, devices, _jax.CompileOptions())
            result = [np.asarray(r) for r in executable.execute([jax.device_put(x) for x in inputs])]
        except Exception as error:  # any error is reported to the parent
            result = str(error)
        with os.fdopen(write, "wb") as pipe:
            pickle.dump(result, pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else "aborted"


def differences(ours, reference):
    """Differences between the results. `reference` may have the shape of the bounds; its first elements, densely, are the valid ones."""
    for i, (a, b) in enumerate(zip(ours, reference, strict=True)):
        if a.ndim != b.ndim or any(m > n for m, n in zip(a.shape, b.shape)):
            yield f"out{i}: shape {list(a.shape)}, expected {list(b.shape)}"
        elif (a.reshape(-1) != b.reshape(-1)[:a.size]).any():
            yield f"out{i}: {a.tolist()}, expected {b.reshape(-1)[:a.size].reshape(a.shape).tolist()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="hlo-run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--xla", action="store_true")
    parser.add_argument("--keep", help="folder for the modules that fail")
    options = parser.parse_args()
    if options.xla:
        os.environ.update(JAX_PLATFORMS="cpu", JAX_ENABLE_X64="1", TF_CPP_MIN_LOG_LEVEL="3")
    passed = failed = refused = agreed = 0
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(options.seed, options.seed + options.count):
            if time.monotonic() - start > options.seconds:
                break
            texts, inputs = Generator(seed, options.xla).run()
            results = [run_tool(options.tool, texts[k], inputs[k], scratch, "static dynamic".split()[k]) for k in (0, 1)]
            problems = [f"{name}: {r}" for name, r in zip(("static", "dynamic"), results) if isinstance(r, str)]
            if not problems:
                problems = [f"dynamic and static module: {d}" for d in differences(results[1], results[0])]
                problems += [f"dynamic and static module: out{i}: shape {a.shape}, expected {b.shape}"
                             for i, (a, b) in enumerate(zip(*reversed(results))) if a.shape != b.shape]
            if options.xla and not problems:
                reference = run_xla(texts[1], inputs[1])
                if isinstance(reference, str):
                    refused += 1
                    print(f"seed {seed}: refused by XLA: {reference.strip().splitlines()[0][:150]}")
                else:
                    problems = [f"dynamic module and XLA: {d}" for d in differences(results[1], reference)]
                    agreed += not problems
            passed, failed = passed + (not problems), failed + bool(problems)
            if problems:
                print(f"seed {seed}: " + "\n  ".join(p[:500] for p in problems))
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    for name, text, arrays in zip(("static", "dynamic"), texts, inputs):
                        run_tool(options.tool, text, arrays, options.keep, f"{seed}_{name}")
    if options.xla:
        print(f"XLA: {agreed} agree, {refused} refused by XLA")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0 or not passed)


if __name__ == "__main__":
    main()
