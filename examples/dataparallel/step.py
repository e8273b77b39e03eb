#!/usr/bin/env python3
"""Writes step_1.hlo and step_4.hlo: one step of training a small network, on a whole batch and on a quarter of it.

The network is p = tanh(x w1 + b1) w2 + b2, the loss the mean of (p - y)^2 over the whole batch. A step takes parameters and a
(part of a) batch and gives the loss and the new parameters. On 4 replicas, each has 64 of 256 samples; loss and gradients are
sums over samples, so one all-reduce of all of them makes every replica do the same step as one device does on all 256.
"""
import pathlib

HERE = pathlib.Path(__file__).parent
SAMPLES, FEATURES, HIDDEN, RATE = 256, 8, 32, 0.05


def step(replicas):
    n, f, h = SAMPLES // replicas, FEATURES, HIDDEN
    shapes = {"loss": "f32[]", "dw1": f"f32[{f},{h}]", "db1": f"f32[{h}]", "dw2": f"f32[{h},1]", "db2": "f32[1]"}
    sums = ", ".join(shapes)
    types = ", ".join(shapes.values())
    reduce = "".join(f"  {name}_all = {shape} get-tuple-element(all), index={i}\n"
                     for i, (name, shape) in enumerate(shapes.items()))
    if replicas > 1:
        gather = f"  all = ({types}) all-reduce({sums}), replica_groups={{}}, to_apply=sum\n" + reduce
    else:
        gather = f"  all = ({types}) tuple({sums})\n" + reduce
    update = ""
    for name in ("w1", "b1", "w2", "b2"):
        shape = shapes["d" + name]
        update += (f"  rate_{name} = {shape} broadcast(rate), dimensions={{}}\n"
                   f"  change_{name} = {shape} multiply(d{name}_all, rate_{name})\n"
                   f"  new_{name} = {shape} subtract({name}, change_{name})\n")
    # The new parameters take the place of the old ones.
    alias = ", ".join(f"{{{i + 1}}}: ({i}, {{}}, may-alias)" for i in range(4))
    return f"""HloModule step_{replicas}, replica_count={replicas}, input_output_alias={{ {alias} }}

sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}}

ENTRY step {{
  w1 = f32[{f},{h}] parameter(0)
  b1 = f32[{h}] parameter(1)
  w2 = f32[{h},1] parameter(2)
  b2 = f32[1] parameter(3)
  x = f32[{n},{f}] parameter(4)
  y = f32[{n},1] parameter(5)
  zero = f32[] constant(0)
  rate = f32[] constant({RATE})

  xw = f32[{n},{h}] dot(x, w1), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  b1s = f32[{n},{h}] broadcast(b1), dimensions={{1}}
  z = f32[{n},{h}] add(xw, b1s)
  t = f32[{n},{h}] tanh(z)
  tw = f32[{n},1] dot(t, w2), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  b2s = f32[{n},1] broadcast(b2), dimensions={{1}}
  p = f32[{n},1] add(tw, b2s)

  d = f32[{n},1] subtract(p, y)
  square = f32[{n},1] multiply(d, d)
  mean = f32[] constant({1 / SAMPLES})
  means = f32[{n},1] broadcast(mean), dimensions={{}}
  parts = f32[{n},1] multiply(square, means)
  loss = f32[] reduce(parts, zero), dimensions={{0,1}}, to_apply=sum

  twice = f32[] constant({2 / SAMPLES})
  twices = f32[{n},1] broadcast(twice), dimensions={{}}
  dp = f32[{n},1] multiply(d, twices)
  dw2 = f32[{h},1] dot(t, dp), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}
  db2 = f32[1] reduce(dp, zero), dimensions={{0}}, to_apply=sum
  dt = f32[{n},{h}] dot(dp, w2), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  tt = f32[{n},{h}] multiply(t, t)
  one = f32[] constant(1)
  ones = f32[{n},{h}] broadcast(one), dimensions={{}}
  slope = f32[{n},{h}] subtract(ones, tt)
  dz = f32[{n},{h}] multiply(dt, slope)
  dw1 = f32[{f},{h}] dot(x, dz), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}
  db1 = f32[{h}] reduce(dz, zero), dimensions={{0}}, to_apply=sum

{gather}
{update}
  ROOT result = (f32[], {shapes['dw1']}, {shapes['db1']}, {shapes['dw2']}, {shapes['db2']}) tuple(loss_all, new_w1, new_b1, new_w2, new_b2)
}}
"""


for replicas in (1, 4):
    (HERE / f"step_{replicas}.hlo").write_text(step(replicas))
