// What the parser of MLIR 22 would crash on is refused before it reads the text.
// RUN: not hlo-opt --hlo --print-hlo %s 2>&1 | FileCheck %s

// CHECK: refused.mlir:5:33: error: an array attribute has integers or floats of a fixed width, not index
module attributes {some.list = [array // the bracket may be anywhere
    < index : 1>]} {
}
