// Equations that are refused, by name.
// RUN: not hlo-opt --hlo --print-hlo --split-input-file %s 2>&1 | FileCheck %s

// CHECK: error: 'stablehlo.einsum' op repeats label 'a' of the operand, which is not supported
func.func public @main(%x: tensor<2x2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.einsum"(%x, %y) {einsum_config = "aa,a->a"} : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK: error: 'stablehlo.unary_einsum' op has '.' in its equation; supported are letters
func.func public @main(%x: tensor<2x2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.unary_einsum"(%x) {einsum_config = "...a->a"} : (tensor<2x2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// CHECK: error: 'stablehlo.einsum' op has sizes 2 and 3 for label 'b'
func.func public @main(%x: tensor<2x2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.einsum"(%x, %y) {einsum_config = "ab,b->a"} : (tensor<2x2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
