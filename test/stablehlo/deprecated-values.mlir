// Values of einsum and torch_index_select, worked out by hand.
// RUN: hlo-run %s | FileCheck %s
module @values {
  func.func public @main() -> (tensor<2x2xi32>, tensor<2xi32>, tensor<2x1x3xi32>) {
    %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %y = stablehlo.constant dense<[[1, 0, 2], [0, 1, 1]]> : tensor<2x3xi32>
    %i = stablehlo.constant dense<[[1], [0]]> : tensor<2x1xi32>
    %0 = "stablehlo.einsum"(%x, %y) {einsum_config = "ak,bk->ba"} : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x2xi32>
    %1 = "stablehlo.unary_einsum"(%x) {einsum_config = "ab->a"} : (tensor<2x3xi32>) -> tensor<2xi32>
    %2 = "stablehlo.torch_index_select"(%x, %i) {dim = 0 : i64, batch_dims = 0 : i64} : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2x1x3xi32>
    return %0, %1, %2 : tensor<2x2xi32>, tensor<2xi32>, tensor<2x1x3xi32>
  }
}
// CHECK: s32[2,2]
// CHECK: 7 16
// CHECK: 5 11
// CHECK: s32[2]
// CHECK: 6 15
// CHECK: s32[2,1,3]
// CHECK: 4 5 6
// CHECK: 1 2 3
