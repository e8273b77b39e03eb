"""Writes StableHLO texts whose cost is far above their size into a folder: NAME.mlir."""
import os
import sys

SIGNATURE = "func.func @main(%x: tensor<f32>) -> tensor<f32>"
RETURN = "  return %x : tensor<f32>\n}\n"


def loops(levels):
    text = SIGNATURE + " {\n"
    for i in range(levels):
        text += f"  %w{i} = stablehlo.while(%a{i} = {f'%a{i - 1}' if i else '%x'}) : tensor<f32>\n  cond {{\n"
        text += f"    %c{i} = stablehlo.compare LT, %a{i}, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        text += f"    stablehlo.return %c{i} : tensor<i1>\n  }} do {{\n"
    for i in reversed(range(levels)):
        text += f"  stablehlo.return {f'%w{i + 1}' if i + 1 < levels else f'%a{i}'} : tensor<f32>\n  }}\n"
    return text + "  return %w0 : tensor<f32>\n}\n"


def calls(count):
    text = SIGNATURE + " {\n  %0 = call @f0(%x) : (tensor<f32>) -> tensor<f32>\n  return %0 : tensor<f32>\n}\n"
    for i in range(count):
        text += SIGNATURE.replace("@main", f"private @f{i}")
        text += f" {{\n  %0 = call @f{i + 1}(%x) : (tensor<f32>) -> tensor<f32>\n  return %0 : tensor<f32>\n}}\n"
    return text + SIGNATURE.replace("@main", f"private @f{count}") + " {\n" + RETURN


def aliases(first, following, count, use):
    chain = (following.replace("PREVIOUS", str(i)).replace("NEXT", str(i + 1)) for i in range(count))
    return first + "".join(chain) + use.replace("LAST", str(count))


LONG = "tensor<" + "1x" * 5000 + "f32>"
HUGE = "tensor<1000000x1000000x1000000xf32>"
ENTRY_OF_ALIAS = "func.func @main(%x: !tLAST) -> !tLAST {\n  return %x : !tLAST\n}\n"
TEXTS = {
    "attributes": aliases("#a0 = [1]\n", "#aNEXT = [#aPREVIOUS]\n", 20000, SIGNATURE + " attributes {x.y = #aLAST} {\n" + RETURN),
    "brackets": "func.func @main() { return " + "(" * 100000,
    "calls": calls(5000),
    "deep-tuples": aliases("!t0 = tuple<tensor<f32>>\n", "!tNEXT = tuple<!tPREVIOUS>\n", 20000, ENTRY_OF_ALIAS),
    "locations": aliases('#l0 = loc("a")\n', "#lNEXT = loc(callsite(#lPREVIOUS at #lPREVIOUS))\n", 20000,
                         SIGNATURE + " {\n  %0 = stablehlo.sine %x : tensor<f32> loc(#lLAST)\n  return %0 : tensor<f32>\n}\n"),
    "loops": loops(60),
    "mesh-axes": f"sdy.mesh @m = <[{', '.join(f'{chr(34)}a{i}{chr(34)}=1' for i in range(100000))}]>\n" + SIGNATURE + " {\n" + RETURN,
    "rank": (SIGNATURE + " {\n" + RETURN).replace("tensor<f32>", LONG),
    "size": f"func.func @main() -> {HUGE} {{\n  %0 = stablehlo.constant dense<0.0> : {HUGE}\n  return %0 : {HUGE}\n}}\n",
    "wide-tuples": aliases("!t0 = tuple<tensor<f32>, tensor<f32>>\n", "!tNEXT = tuple<!tPREVIOUS, !tPREVIOUS>\n", 60, ENTRY_OF_ALIAS),
}
for name, text in TEXTS.items():
    with open(os.path.join(sys.argv[1], name + ".mlir"), "w", encoding="utf-8") as file:
        file.write(text)
