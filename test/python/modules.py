"""Texts that several tests compile."""

SAXPY = """HloModule saxpy
ENTRY e {
  a = f32[] parameter(0)
  x = f32[1000] parameter(1)
  y = f32[1000] parameter(2)
  b = f32[1000] broadcast(a), dimensions={}
  ax = f32[1000] multiply(b, x)
  ROOT out = f32[1000] add(ax, y)
}
"""

#: Twenty steps of x * x + c on a matrix, with a result that is the parameter's buffer if it is donated.
STEP = """HloModule step, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY e {
  state = f32[64,8] parameter(0)
  delta = f32[64,8] parameter(1)
  new = f32[64,8] add(state, delta)
  old = f32[64,8] negate(state)
  ROOT r = (f32[64,8], f32[64,8]) tuple(new, old)
}
"""

#: Counts to `n`: as long as one likes.
COUNT = """HloModule count
body {
  p = (s64[], f64[4096]) parameter(0)
  i = s64[] get-tuple-element(p), index=0
  x = f64[4096] get-tuple-element(p), index=1
  one = s64[] constant(1)
  j = s64[] add(i, one)
  y = f64[4096] cosine(x)
  ROOT r = (s64[], f64[4096]) tuple(j, y)
}
condition {
  p = (s64[], f64[4096]) parameter(0)
  i = s64[] get-tuple-element(p), index=0
  zero = s64[] constant(0)
  ROOT less = pred[] compare(i, zero), direction=LT
}
ENTRY e {
  n = s64[] parameter(0)
  x = f64[4096] parameter(1)
  init = (s64[], f64[4096]) tuple(n, x)
  loop = (s64[], f64[4096]) while(init), condition=condition, body=body
  ROOT y = f64[4096] get-tuple-element(loop), index=1
}
"""


def unary(opcode, hlo_type, result=None):
    """A module of one instruction."""
    return f"HloModule unary\nENTRY e {{\n  x = {hlo_type} parameter(0)\n  ROOT y = {result or hlo_type} {opcode}(x)\n}}\n"
