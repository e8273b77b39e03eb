// Dots of floats are marked in a module that allows it; those of integers, and those of other modules, are not.
// RUN: hlo-opt %s --split-input-file --hlo-quantize-activations | FileCheck %s

// CHECK-LABEL: module @allows
// CHECK: hlo.dot {{.*}} {hlo.quantize_activations, {{.*}} -> tensor<1x4xf32>
// CHECK: hlo.dot {{.*}} {lhs_contracting_dims = {{.*}} -> tensor<1x4xsi32>
module @allows attributes {hlo.quantize_activations} {
  hlo.computation @e(%x: tensor<1x8xf32>, %w: tensor<8x4xf32>, %i: tensor<1x8xsi8>, %j: tensor<8x4xsi8>) -> (tensor<1x4xf32>, tensor<1x4xsi32>) attributes {entry} {
    %d = hlo.dot %x, %w {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<1x8xf32>, tensor<8x4xf32>) -> tensor<1x4xf32>
    %n = hlo.dot %i, %j {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<1x8xsi8>, tensor<8x4xsi8>) -> tensor<1x4xsi32>
    hlo.return %d, %n : tensor<1x4xf32>, tensor<1x4xsi32>
  }
}

// -----
// CHECK-LABEL: module @plain
// CHECK: hlo.dot {{.*}} {lhs_contracting_dims = {{.*}} -> tensor<1x4xf32>
module @plain {
  hlo.computation @e(%x: tensor<1x8xf32>, %w: tensor<8x4xf32>) -> tensor<1x4xf32> attributes {entry} {
    %d = hlo.dot %x, %w {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<1x8xf32>, tensor<8x4xf32>) -> tensor<1x4xf32>
    hlo.return %d : tensor<1x4xf32>
  }
}
