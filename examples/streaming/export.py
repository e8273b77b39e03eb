"""Writes stream.hlo: a small network that classifies points as they come in. Needs numpy alone.

The weights are those of a network of 16 hidden units that tells the inside of the unit circle from the outside: hidden unit k looks in
direction k, so that their sum grows with the distance from the origin.
"""
import numpy as np

HIDDEN = 16


def array(values):
    values = np.asarray(values)
    if values.ndim == 0:
        return repr(float(values))
    return "{" + ", ".join(array(v) for v in values) + "}"


angles = 2 * np.pi * np.arange(HIDDEN) / HIDDEN
w1 = np.round(np.stack([np.cos(angles), np.sin(angles)]), 6)
# The mean of max(cos, 0) over all directions is 1 / pi.
w2 = np.full((HIDDEN, 1), round(np.pi / HIDDEN, 6))
with open("stream.hlo", "w") as out:
    out.write(f"""HloModule stream

// For each of `batches` items from the infeed: 4 points in, the probability that each is inside the unit circle out.
more {{
  state = (s32[], token[]) parameter(0)
  left = s32[] get-tuple-element(state), index=0
  zero = s32[] constant(0)
  ROOT any = pred[] compare(left, zero), direction=GT
}}

step {{
  state = (s32[], token[]) parameter(0)
  left = s32[] get-tuple-element(state), index=0
  before = token[] get-tuple-element(state), index=1
  item = (f32[4,2], token[]) infeed(before)
  points = f32[4,2] get-tuple-element(item), index=0
  received = token[] get-tuple-element(item), index=1
  w1 = f32[2,{HIDDEN}] constant({array(w1)})
  hidden = f32[4,{HIDDEN}] dot(points, w1), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  zero = f32[] constant(0)
  zeros = f32[4,{HIDDEN}] broadcast(zero), dimensions={{}}
  active = f32[4,{HIDDEN}] maximum(hidden, zeros)
  w2 = f32[{HIDDEN},1] constant({array(w2)})
  radius = f32[4,1] dot(active, w2), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  flat = f32[4] reshape(radius)
  one = f32[] constant(1)
  ones = f32[4] broadcast(one), dimensions={{}}
  inside = f32[4] subtract(ones, flat)
  ten = f32[] constant(10)
  tens = f32[4] broadcast(ten), dimensions={{}}
  sharp = f32[4] multiply(inside, tens)
  probability = f32[4] logistic(sharp)
  sent = token[] outfeed(probability, received)
  step = s32[] constant(1)
  next = s32[] subtract(left, step)
  ROOT after = (s32[], token[]) tuple(next, sent)
}}

ENTRY main {{
  batches = s32[] parameter(0)
  start = token[] after-all()
  state = (s32[], token[]) tuple(batches, start)
  end = (s32[], token[]) while(state), condition=more, body=step
  ROOT left = s32[] get-tuple-element(end), index=0
}}
""")
