// What the parser of MLIR 22 would crash on is refused before it reads the text.
// RUN: not hlo-opt --hlo --print-hlo --split-input-file %s 2>&1 | FileCheck %s

// CHECK: error: an array attribute has integers or floats of a fixed width, not index
module attributes {some.list = [array // the bracket may be anywhere
    < index : 1>]} {
}

// -----
// It would make a table of as many entries.
// CHECK: error: the number of a result is too large
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  return %x#4294967295 : tensor<f32>
}
