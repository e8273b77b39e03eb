"""Modules with much to put on a stack: make.py concatenate|custom-call BUFFERS, or make.py loop CARRIES.

The loop turns its carries and adds 1, a thousand times; the result is their sum, carry n counted n + 1 times.
"""
import sys


def buffers(kind, count):
    for i in range(count):
        yield "  p%d = f32[3] parameter(%d)" % (i, i)
    operands = ", ".join("p%d" % i for i in range(count))
    if kind == "concatenate":
        yield "  ROOT all = f32[%d] concatenate(%s), dimensions={0}" % (3 * count, operands)
    else:
        yield ('  ROOT all = f32[3] custom-call(%s), custom_call_target="many_operands", '
               "api_version=API_VERSION_STATUS_RETURNING" % operands)


def loop(count):
    array, carries = "s32[200]", range(count)
    state = "(s32[], %s)" % ", ".join(array for _ in carries)
    yield "body {\n  s = %s parameter(0)" % state
    yield "  i = s32[] get-tuple-element(s), index=0\n  one = s32[] constant(1)\n  j = s32[] add(i, one)"
    yield "  ones = %s broadcast(one), dimensions={}" % array
    for n in carries:
        yield "  v%d = %s get-tuple-element(s), index=%d" % (n, array, n + 1)
    for n in carries:
        yield "  w%d = %s add(v%d, ones)" % (n, array, (n + 1) % count)
    yield "  ROOT r = %s tuple(j, %s)\n}\n" % (state, ", ".join("w%d" % n for n in carries))
    yield "condition {\n  s = %s parameter(0)\n  i = s32[] get-tuple-element(s), index=0" % state
    yield "  end = s32[] constant(1000)\n  ROOT c = pred[] compare(i, end), direction=LT\n}\n\nENTRY main {"
    yield "  zero = s32[] constant(0)\n  p = %s iota(), iota_dimension=0" % array
    for n in carries:
        yield "  q%d = s32[] constant(%d)\n  b%d = %s broadcast(q%d), dimensions={}" % (n, n, n, array, n)
        yield "  p%d = %s add(p, b%d)" % (n, array, n)
    yield "  t = %s tuple(zero, %s)" % (state, ", ".join("p%d" % n for n in carries))
    yield "  w = %s while(t), condition=condition, body=body" % state
    for n in carries:
        yield "  o%d = %s get-tuple-element(w), index=%d" % (n, array, n + 1)
        yield "  f%d = s32[] constant(%d)\n  g%d = %s broadcast(f%d), dimensions={}" % (n, n + 1, n, array, n)
        yield "  h%d = %s multiply(o%d, g%d)" % (n, array, n, n)
        yield "  x%d = %s add(%s, h%d)" % (n, array, "x%d" % (n - 1) if n else "p", n)
    yield "  ROOT out = %s subtract(x%d, p)" % (array, count - 1)


kind, number = sys.argv[1], int(sys.argv[2])
print("HloModule %s_%d\n" % (kind.replace("-", "_"), number))
if kind == "loop":
    print("\n".join(loop(number)))
else:
    print("ENTRY main {")
    print("\n".join(buffers(kind, number)))
print("}")
