// Ops that StableHLO keeps for older programs, as products, gathers and all-reduces.
// RUN: hlo-opt --hlo --print-hlo --split-input-file %s | FileCheck %s

// CHECK-LABEL: HloModule equations
module @equations {
  func.func public @main(%x: tensor<2x3x5xf32>, %y: tensor<5x2x7xf32>) -> (tensor<7x3x2xf32>, tensor<3xf32>, tensor<3x2x5xf32>) {
    %0 = "stablehlo.einsum"(%x, %y) {einsum_config = "abk,kac->cba"} : (tensor<2x3x5xf32>, tensor<5x2x7xf32>) -> tensor<7x3x2xf32>
    %1 = "stablehlo.unary_einsum"(%x) {einsum_config = "abc->b"} : (tensor<2x3x5xf32>) -> tensor<3xf32>
    %2 = "stablehlo.unary_einsum"(%x) {einsum_config = "abc->bac"} : (tensor<2x3x5xf32>) -> tensor<3x2x5xf32>
    return %0, %1, %2 : tensor<7x3x2xf32>, tensor<3xf32>, tensor<3x2x5xf32>
  }
}
// CHECK: f32[2,3,7]{2,1,0} dot({{.*}}), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={1}, rhs_contracting_dims={0}
// CHECK: f32[7,3,2]{2,1,0} transpose({{.*}}), dimensions={2,1,0}
// CHECK: f32[3]{0} dot({{.*}}), lhs_contracting_dims={0,2}, rhs_contracting_dims={0,1}
// CHECK: f32[3,2,5]{2,1,0} transpose({{.*}}), dimensions={1,0,2}

// -----

// CHECK-LABEL: HloModule selects
module @selects {
  func.func public @main(%x: tensor<2x3x5xf32>, %i: tensor<2x7xi32>) -> tensor<2x7x5xf32> {
    %0 = "stablehlo.torch_index_select"(%x, %i) {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<2x3x5xf32>, tensor<2x7xi32>) -> tensor<2x7x5xf32>
    return %0 : tensor<2x7x5xf32>
  }
}
// CHECK: f32[2,7,5]{2,1,0} gather({{.*}}), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1,5}

// -----

// CHECK-LABEL: HloModule sums
module @sums attributes {mhlo.num_replicas = 2 : i32} {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
// CHECK: f32[4]{0} all-reduce({{.*}}), replica_groups={{.*}}to_apply=
