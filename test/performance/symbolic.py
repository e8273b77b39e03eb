#!/usr/bin/env python3
"""Times objects with dimensions `<=64` at several sizes against objects compiled for exactly these sizes.

  symbolic.py [--tool build/bin/hlo-run] [--sizes 1,7,32,64] [--filter REGEX] [--seconds 0.1] [--rounds 3] [--threads 1]
              [--special] [--flags ...]

Each row is a module of this file, written once with its symbols as `<=64` and once as the size. Both run on the same random
inputs, in turns; the smallest time of all rounds counts, and results are compared. Prints a table of ratios (bounded over
exact) with a geometric mean for each size; exit status 1 if results differ. Needs numpy.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

BOUND = 64
SUMS = """
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] maximum(a, b) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
"""


def dense(x, w, b, o, name, relu=True):
    """name = relu(x . w + b), o columns."""
    last = f"  {name} = f32[$B,{o}] maximum({name}s, {name}z)\n" if relu else f"  {name} = f32[$B,{o}] copy({name}s)\n"
    return f"""  {name}d = f32[$B,{o}] dot({x}, {w}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  {name}b = f32[$B,{o}] broadcast({b}), dimensions={{1}}
  {name}s = f32[$B,{o}] add({name}d, {name}b)
  {name}0 = f32[] constant(0)
  {name}z = f32[$B,{o}] broadcast({name}0), dimensions={{}}
""" + last


def softmax(x, shape, name):
    """name = softmax(x) along the last dimension."""
    rank = shape.count(",") + 1
    rows, kept = shape.rpartition(",")[0], ",".join(map(str, range(rank - 1)))
    return f"""  {name}l = f32[] constant(-inf)
  {name}0 = f32[] constant(0)
  {name}m = f32[{rows}] reduce({x}, {name}l), dimensions={{{rank - 1}}}, to_apply=max
  {name}n = f32[{shape}] broadcast({name}m), dimensions={{{kept}}}
  {name}d = f32[{shape}] subtract({x}, {name}n)
  {name}e = f32[{shape}] exponential({name}d)
  {name}s = f32[{rows}] reduce({name}e, {name}0), dimensions={{{rank - 1}}}, to_apply=add
  {name}t = f32[{shape}] broadcast({name}s), dimensions={{{kept}}}
  {name} = f32[{shape}] divide({name}e, {name}t)
"""


def layer_norm(x, rows, width, name):
    """name = (x - mean) / sqrt(variance + eps) along the last dimension."""
    shape, rank = f"{rows},{width}", rows.count(",") + 2
    kept = ",".join(map(str, range(rank - 1)))
    return f"""  {name}0 = f32[] constant(0)
  {name}i = f32[] constant({1 / width})
  {name}c = f32[{rows}] broadcast({name}i), dimensions={{}}
  {name}s = f32[{rows}] reduce({x}, {name}0), dimensions={{{rank - 1}}}, to_apply=add
  {name}m = f32[{rows}] multiply({name}s, {name}c)
  {name}n = f32[{shape}] broadcast({name}m), dimensions={{{kept}}}
  {name}d = f32[{shape}] subtract({x}, {name}n)
  {name}q = f32[{shape}] multiply({name}d, {name}d)
  {name}t = f32[{rows}] reduce({name}q, {name}0), dimensions={{{rank - 1}}}, to_apply=add
  {name}v = f32[{rows}] multiply({name}t, {name}c)
  {name}p = f32[] constant(1e-5)
  {name}o = f32[{rows}] broadcast({name}p), dimensions={{}}
  {name}w = f32[{rows}] add({name}v, {name}o)
  {name}r = f32[{rows}] rsqrt({name}w)
  {name}u = f32[{shape}] broadcast({name}r), dimensions={{{kept}}}
  {name} = f32[{shape}] multiply({name}d, {name}u)
"""


def attention(q, k, v, shape, keys, name):
    """name = softmax(q . k) . v of arrays [batch, heads, rows, 64]."""
    lead = ",".join(shape.split(",")[:2])
    rows = shape.split(",")[2]
    return f"""  {name}a = f32[{lead},{rows},{keys}] dot({q}, {k}), lhs_batch_dims={{0,1}}, rhs_batch_dims={{0,1}}, lhs_contracting_dims={{3}}, rhs_contracting_dims={{3}}
""" + softmax(name + "a", f"{lead},{rows},{keys}", name + "x") + f"""  {name} = f32[{shape}] dot({name}x, {v}), lhs_batch_dims={{0,1}}, rhs_batch_dims={{0,1}}, lhs_contracting_dims={{3}}, rhs_contracting_dims={{2}}
"""


def heads(x, w, rows, name):
    """name = x[$B,rows,256] . w as four heads."""
    return f"""  {name}f = f32[$B,{rows},256] dot({x}, {w}), lhs_contracting_dims={{2}}, rhs_contracting_dims={{0}}
  {name}g = f32[$B,{rows},4,64] reshape({name}f)
  {name} = f32[$B,4,{rows},64] transpose({name}g), dimensions={{0,2,1,3}}
"""


def self_attention():
    """Heads of one array x[$B,$S,256]."""
    return entry("".join(heads("x", "w" + name, "$S", name) for name in "qkv") + attention("q", "k", "v", "$B,4,$S,64", "$S", "a") +
                 root("a", "f32[$B,4,$S,64]"), ("x", "f32[$B,$S,256]"), ("wq", "f32[256,256]"), ("wk", "f32[256,256]"), ("wv", "f32[256,256]"))


def entry(body, *parameters):
    lines = "".join(f"  {name} = {shape} parameter({i})\n" for i, (name, shape) in enumerate(parameters))
    return "HloModule m\n" + SUMS + "ENTRY main {\n" + lines + body + "}\n"


def root(name, shape):
    return f"  ROOT out = {shape} copy({name})\n"


def transformer():
    body = layer_norm("x", "$B,32", 256, "n") + "".join(heads("n", "w" + name, "32", name) for name in "qkv")
    body += attention("q", "k", "v", "$B,4,32,64", "32", "a") + """  at = f32[$B,32,4,64] transpose(a), dimensions={0,2,1,3}
  ar = f32[$B,32,256] reshape(at)
  o = f32[$B,32,256] dot(ar, wo), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  y = f32[$B,32,256] add(x, o)
""" + layer_norm("y", "$B,32", 256, "h") + """  u = f32[$B,32,1024] dot(h, w1), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  zero = f32[] constant(0)
  zeros = f32[$B,32,1024] broadcast(zero), dimensions={}
  r = f32[$B,32,1024] maximum(u, zeros)
  d = f32[$B,32,256] dot(r, w2), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  s = f32[$B,32,256] add(y, d)
""" + root("s", "f32[$B,32,256]")
    return entry(body, ("x", "f32[$B,32,256]"), ("wq", "f32[256,256]"), ("wk", "f32[256,256]"), ("wv", "f32[256,256]"),
                 ("wo", "f32[256,256]"), ("w1", "f32[256,1024]"), ("w2", "f32[1024,256]"))


def cnn():
    return entry("""  c1 = f32[$B,28,28,16] convolution(x, k1), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  zero = f32[] constant(0)
  z1 = f32[$B,28,28,16] broadcast(zero), dimensions={}
  r1 = f32[$B,28,28,16] maximum(c1, z1)
  low = f32[] constant(-inf)
  p1 = f32[$B,14,14,16] reduce-window(r1, low), window={size=1x2x2x1 stride=1x2x2x1}, to_apply=max
  c2 = f32[$B,14,14,32] convolution(p1, k2), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  z2 = f32[$B,14,14,32] broadcast(zero), dimensions={}
  r2 = f32[$B,14,14,32] maximum(c2, z2)
  p2 = f32[$B,7,7,32] reduce-window(r2, low), window={size=1x2x2x1 stride=1x2x2x1}, to_apply=max
  f = f32[$B,1568] reshape(p2)
""" + dense("f", "w", "b", 10, "d", relu=False) + softmax("d", "$B,10", "s") + root("s", "f32[$B,10]"),
                 ("x", "f32[$B,28,28,1]"), ("k1", "f32[3,3,1,16]"), ("k2", "f32[3,3,16,32]"), ("w", "f32[1568,10]"), ("b", "f32[10]"))


def recurrent():
    """32 steps of h = tanh(h . w + x), a batch of $B."""
    return f"""HloModule m
body {{
  p = (s32[], f32[$B,256], f32[256,256], f32[$B,256]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  h = f32[$B,256] get-tuple-element(p), index=1
  w = f32[256,256] get-tuple-element(p), index=2
  x = f32[$B,256] get-tuple-element(p), index=3
  d = f32[$B,256] dot(h, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  s = f32[$B,256] add(d, x)
  t = f32[$B,256] tanh(s)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], f32[$B,256], f32[256,256], f32[$B,256]) tuple(j, t, w, x)
}}
condition {{
  p = (s32[], f32[$B,256], f32[256,256], f32[$B,256]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(32)
  ROOT r = pred[] compare(i, n), direction=LT
}}
ENTRY main {{
  x = f32[$B,256] parameter(0)
  w = f32[256,256] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[$B,256], f32[256,256], f32[$B,256]) tuple(zero, x, w, x)
  l = (s32[], f32[$B,256], f32[256,256], f32[$B,256]) while(t), condition=condition, body=body
  ROOT h = f32[$B,256] get-tuple-element(l), index=1
}}
"""


MODULES = {
    "dot": entry(dense("x", "w", "b", 512, "d") + root("d", "f32[$B,512]"),
                 ("x", "f32[$B,512]"), ("w", "f32[512,512]"), ("b", "f32[512]")),
    "dot_features": entry("  d = f32[256,$B] dot(w, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n" +
                          root("d", "f32[256,$B]"), ("x", "f32[512,$B]"), ("w", "f32[256,512]")),
    "dot_contracted": entry("  d = f32[256,128] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n" +
                            root("d", "f32[256,128]"), ("x", "f32[$B,256]"), ("y", "f32[$B,128]")),
    "mlp": entry(dense("x", "w1", "b1", 256, "d") + dense("d", "w2", "b2", 256, "e") +
                 dense("e", "w3", "b3", 10, "f", relu=False) + root("f", "f32[$B,10]"),
                 ("x", "f32[$B,784]"), ("w1", "f32[784,256]"), ("b1", "f32[256]"), ("w2", "f32[256,256]"), ("b2", "f32[256]"),
                 ("w3", "f32[256,10]"), ("b3", "f32[10]")),
    "conv": entry("  c = f32[$B,28,28,64] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f\n" +
                  root("c", "f32[$B,28,28,64]"), ("x", "f32[$B,28,28,32]"), ("k", "f32[3,3,32,64]")),
    "conv_spatial": entry("  c = f32[4,$B,$B,32] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f\n" +
                          root("c", "f32[4,$B,$B,32]"), ("x", "f32[4,$B,$B,32]"), ("k", "f32[3,3,32,32]")),
    "elementwise": entry("  e = f32[$B,4096] exponential(x)\n  m = f32[$B,4096] multiply(e, x)\n" + root("m", "f32[$B,4096]"),
                         ("x", "f32[$B,4096]")),
    "softmax": entry(softmax("x", "$B,1024", "s") + root("s", "f32[$B,1024]"), ("x", "f32[$B,1024]")),
    "softmax_short": entry(softmax("x", "256,$B", "s") + root("s", "f32[256,$B]"), ("x", "f32[256,$B]")),
    "layer_norm": entry(layer_norm("x", "$B", 768, "n") + root("n", "f32[$B,768]"), ("x", "f32[$B,768]")),
    "attention": self_attention(),
    "attention_keys": entry(attention("q", "k", "v", "8,4,$B,64", "$B", "a") + root("a", "f32[8,4,$B,64]"),
                            ("q", "f32[8,4,$B,64]"), ("k", "f32[8,4,$B,64]"), ("v", "f32[8,4,$B,64]")),
    "column_sum": entry("  zero = f32[] constant(0)\n  s = f32[1024] reduce(x, zero), dimensions={0}, to_apply=add\n" +
                        root("s", "f32[1024]"), ("x", "f32[$B,1024]")),
    "gather": entry("  g = f32[$B,256] gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
                    "index_vector_dim=1, slice_sizes={1,256}\n" + root("g", "f32[$B,256]"),
                    ("t", "f32[5000,256]"), ("i", "s32[$B]")),
    "scatter": entry("  s = f32[500,256] scatter(t, i, u), update_window_dims={1}, inserted_window_dims={0}, "
                     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n" + root("s", "f32[500,256]"),
                     ("t", "f32[500,256]"), ("i", "s32[$B]"), ("u", "f32[$B,256]")),
    "sort": entry("  s = f32[$B,256] sort(x), dimensions={1}, to_apply=less\n" + root("s", "f32[$B,256]"), ("x", "f32[$B,256]")),
    "sort_along": entry("  s = f32[256,$B] sort(x), dimensions={1}, to_apply=less\n" + root("s", "f32[256,$B]"),
                        ("x", "f32[256,$B]")),
    "cumulative": entry("  zero = f32[] constant(0)\n  s = f32[$B,512] reduce-window(x, zero), window={size=1x512 pad=0_0x511_0}, "
                        "to_apply=add\n" + root("s", "f32[$B,512]"), ("x", "f32[$B,512]")),
    "cumulative_along": entry("  zero = f32[] constant(0)\n  s = f32[$B,512] reduce-window(x, zero), window={size=64x1 pad=63_0x0_0}, "
                              "to_apply=add\n" + root("s", "f32[$B,512]"), ("x", "f32[$B,512]")),
    "scan": recurrent(),
    "transformer": transformer(),
    "cnn": cnn(),
}


def written(text, size):
    """The module for one size; with none, for all up to the bound."""
    for symbol in "$B", "$S":
        text = text.replace(symbol, f"<={BOUND}" if size is None else str(size))
    return text


def specialize(text, sizes):
    """The flag that gives each of the sizes a version of its own."""
    main = text[text.index("ENTRY"):]
    dims = [f"{name}:{i}" for name, shape in re.findall(r"(\w+) = \w+\[([^\]]*)\] parameter\(", main)
            for i, dim in enumerate(shape.split(",")) if dim.startswith("$")]
    return "--specialize=" + ",".join(":".join(f"{dim}={size}" for dim in dims) for size in sizes)


def inputs_of(text, size):
    arrays, generator = {}, np.random.default_rng(1)
    main = written(text, size)[written(text, size).index("ENTRY"):]
    for element, shape, number in re.findall(r"= (f32|s32)\[([\d,]*)\] parameter\((\d+)\)", main):
        dims = [int(d) for d in shape.split(",") if d]
        arrays[f"in{number}"] = (generator.integers(0, 500, dims).astype("i4") if element == "s32"
                                 else generator.standard_normal(dims).astype("f4"))
    return arrays


def run(options, folder, name, module, inputs, extra):
    result = os.path.join(folder, name + ".out.npz")
    done = subprocess.run([options.tool, module, f"--inputs={inputs}", f"--outputs={result}", f"--bench={options.seconds}",
                           f"--threads={options.threads}", "--json", *extra], capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        sys.exit(f"{name}: exit status {done.returncode}: {done.stderr[:2000]}")
    return lines[-1], dict(np.load(result))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="build/bin/hlo-run")
    parser.add_argument("--sizes", default="1,7,32,64")
    parser.add_argument("--filter", default="")
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--special", action="store_true", help="--specialize the bounded module for the sizes")
    parser.add_argument("--flags", nargs="*", default=[], help="of hlo-run for the bounded module")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    ratios, wrong = {size: [] for size in sizes}, []
    print("| module | " + " | ".join(map(str, sizes)) + " |\n|---" + "|--:" * len(sizes) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in MODULES.items():
            if not re.search(options.filter, name):
                continue
            row, flags = [], options.flags + [specialize(text, sizes)] * options.special
            for size in sizes:
                files = [os.path.join(folder, f"{name}.{kind}.hlo") for kind in ("bounded", "exact")]
                for path, given in zip(files, (None, size)):
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(written(text, given))
                inputs = os.path.join(folder, "in.npz")
                np.savez(inputs, **inputs_of(text, size))
                times, results = [math.inf, math.inf], [None, None]
                for _ in range(options.rounds):
                    for which, path in enumerate(files):
                        answer, results[which] = run(options, folder, f"{name}.{which}", path, inputs,
                                                     flags if which == 0 else [])
                        times[which] = min(times[which], answer["run_ms_min"])
                for key, value in results[1].items():
                    if not np.allclose(results[0][key], value, rtol=1e-4, atol=1e-4, equal_nan=True):
                        wrong.append(f"{name} at {size}: {key} differs")
                ratios[size].append(times[0] / times[1])
                row.append(f"{ratios[size][-1]:.2f} ({times[1] * 1e3:.1f} us)")
            print(f"| {name} | " + " | ".join(row) + " |", flush=True)
    means = [math.exp(sum(map(math.log, r)) / len(r)) if r else 1 for r in ratios.values()]
    print("| geometric mean | " + " | ".join(f"{mean:.2f}" for mean in means) + " |")
    print("| worst | " + " | ".join(f"{max(r, default=1):.2f}" for r in ratios.values()) + " |")
    for message in wrong:
        print("wrong: " + message)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
