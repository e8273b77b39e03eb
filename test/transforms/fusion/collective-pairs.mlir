// Costly work beside a collective is no part of a kernel behind its end: a dot, a reduction, an exponential. A cheap op
// is, and so is work that the program has behind the end.
// RUN: hlo-opt %s --split-input-file --hlo-fusion | FileCheck %s

// CHECK-LABEL: module @beside
// CHECK: hlo.all_reduce
// CHECK: hlo.dot
// CHECK: strategy = "dot"
// CHECK: hlo.exponential
// CHECK: hlo.collective_done
// CHECK: hlo.negate
// CHECK: hlo.add
// CHECK: strategy = "loop"
// CHECK: hlo.return
module @beside attributes {hlo.replica_count = 2 : i64} {
  hlo.computation @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %0 = hlo.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    hlo.return %0 : tensor<f32>
  }
  hlo.computation @main(%p: tensor<64x64xf32>, %q: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {entry} {
    %0 = hlo.all_reduce %p {hlo.async, to_apply = @sum} : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = hlo.dot %p, %q {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = hlo.exponential %q : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %3 = hlo.negate %2 : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %4 = hlo.collective_done %0, %p : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %5 = hlo.add %1, %4 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %6 = hlo.add %5, %3 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    hlo.return %6 : tensor<64x64xf32>
  }
}

// -----

// CHECK-LABEL: module @behind
// CHECK: hlo.collective_done
// CHECK: hlo.dot
// CHECK-NEXT: hlo.add
// CHECK: strategy = "dot"
module @behind attributes {hlo.replica_count = 2 : i64} {
  hlo.computation @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %0 = hlo.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    hlo.return %0 : tensor<f32>
  }
  hlo.computation @main(%p: tensor<64x64xf32>, %q: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {entry} {
    %0 = hlo.all_reduce %p {hlo.async, to_apply = @sum} : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %4 = hlo.collective_done %0, %p : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = hlo.dot %p, %q {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %5 = hlo.add %1, %4 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    hlo.return %5 : tensor<64x64xf32>
  }
}
