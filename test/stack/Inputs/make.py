"""Modules of many buffers: make.py concatenate|custom-call COUNT, or dot."""
import sys

kind, count = sys.argv[1], int(sys.argv[2])
print("HloModule %s_%d\n\nENTRY main {" % (kind.replace("-", "_"), count))
for i in range(count):
    print("  p%d = f32[3] parameter(%d)" % (i, i))
operands = ", ".join("p%d" % i for i in range(count))
if kind == "concatenate":
    print("  ROOT all = f32[%d] concatenate(%s), dimensions={0}" % (3 * count, operands))
else:
    print('  ROOT all = f32[3] custom-call(%s), custom_call_target="many_operands", '
          "api_version=API_VERSION_STATUS_RETURNING" % operands)
print("}")
