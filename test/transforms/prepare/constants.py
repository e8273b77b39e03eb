"""Prints modules with constant weights: constants.py NAME. The elements are small whole numbers, never all equal."""
import sys


def literal(*shape):
    def part(shape, first):
        if not shape:
            return str(first * 7 % 11 - 5)
        return "{" + ", ".join(part(shape[1:], first * shape[0] + i) for i in range(shape[0])) + "}"
    return part(shape, 0)


DOT = "dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
MODULES = {
    # Weights of a dot.
    "dot": f"""
  x = f32[64,96] parameter(0)
  w = f32[96,96] constant({literal(96, 96)})
  ROOT d = f32[64,96] {DOT}""",
    # The same, scaled by column.
    "scaled": f"""
  x = f32[64,96] parameter(0)
  w = f32[96,96] constant({literal(96, 96)})
  s = f32[96] constant({literal(96)})
  d = f32[64,96] {DOT}
  b = f32[64,96] broadcast(s), dimensions={{1}}
  ROOT m = f32[64,96] multiply(d, b)""",
    # One dot has constant weights, the other has a parameter.
    "both": f"""
  x = f32[64,96] parameter(0)
  v = f32[96,112] parameter(1)
  w = f32[96,96] constant({literal(96, 96)})
  d = f32[64,96] {DOT}
  ROOT e = f32[64,112] dot(d, v), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}""",
    # A transposed constant that an element-wise op reads.
    "transposed": f"""
  x = f32[64,48] parameter(0)
  w = f32[48,64] constant({literal(48, 64)})
  t = f32[64,48] transpose(w), dimensions={{1,0}}
  ROOT a = f32[64,48] add(x, t)""",
    # The same of fewer than 4 KiB.
    "small": f"""
  x = bf16[40,40] parameter(0)
  w = bf16[40,40] constant({literal(40, 40)})
  t = bf16[40,40] transpose(w), dimensions={{1,0}}
  ROOT a = bf16[40,40] add(x, t)""",
    # Half precision, negated, in another order.
    "negated": f"""
  x = f32[64,48] parameter(0)
  w = f32[48,64] constant({literal(48, 64)})
  t = f32[64,48] transpose(w), dimensions={{1,0}}
  n = f32[64,48] negate(t)
  h = bf16[64,48] convert(n)
  xh = bf16[64,48] convert(x)
  ROOT d = f32[64,64] dot(xh, h), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}""",
    # A large constant repeated.
    "repeated": f"""
  x = f32[64,2048] parameter(0)
  w = f32[2048] constant({literal(2048)})
  b = f32[64,2048] broadcast(w), dimensions={{1}}
  n = f32[64,2048] negate(b)
  t = f32[2048,64] transpose(n), dimensions={{1,0}}
  ROOT d = f32[64,64] dot(x, t), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}""",
    # Functions that no standard defines to the last bit.
    "inexact": f"""
  x = f32[64,96] parameter(0)
  c = f32[96,96] constant({literal(96, 96)})
  w = f32[96,96] exponential(c)
  ROOT d = f32[64,96] {DOT}""",
}
name = sys.argv[1]
print(f"HloModule {name}\n\nENTRY main {{{MODULES[name]}\n}}")
