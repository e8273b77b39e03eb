// Weights as panels of 16 columns; what follows element by element is done on the result as the dot has it.
// RUN: hlo-opt --hlo-pack-operands=width=16 --split-input-file %s | FileCheck %s

// CHECK-LABEL: module @bias
// CHECK: hlo.computation @main(%[[X:.*]]: tensor<8x64xf32>, %[[W:.*]]: tensor<64x32xf32>, %[[B:.*]]: tensor<32xf32>)
// CHECK-DAG: %[[S:.*]] = hlo.reshape %[[W]] : (tensor<64x32xf32>) -> tensor<64x2x16xf32>
// CHECK-DAG: %[[P:.*]] = hlo.transpose %[[S]] {dimensions = array<i64: 1, 0, 2>}
// CHECK: %[[D:.*]] = hlo.dot %[[X]], %[[P]] {{.*}} -> tensor<8x2x16xf32>
// CHECK: %[[R:.*]] = hlo.reshape %[[B]] : (tensor<32xf32>) -> tensor<2x16xf32>
// CHECK: %[[C:.*]] = hlo.broadcast %[[R]] {dimensions = array<i64: 1, 2>}
// CHECK: %[[A:.*]] = hlo.add %[[D]], %[[C]]
// CHECK: %[[Y:.*]] = hlo.reshape %[[A]] : (tensor<8x2x16xf32>) -> tensor<8x32xf32>
// CHECK: hlo.return %[[Y]]
module @bias attributes {hlo.immutable_leaves = array<i64: 1>} {
  hlo.computation @main(%x: tensor<8x64xf32>, %w: tensor<64x32xf32>, %b: tensor<32xf32>) -> tensor<8x32xf32> attributes {entry} {
    %d = hlo.dot %x, %w {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
    %c = hlo.broadcast %b {dimensions = array<i64: 1>} : (tensor<32xf32>) -> tensor<8x32xf32>
    %a = hlo.add %d, %c : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    hlo.return %a : tensor<8x32xf32>
  }
}

// -----
// Contracted along the last dimension, with a batch.
// CHECK-LABEL: module @batch
// CHECK: %[[S:.*]] = hlo.reshape %{{.*}} : (tensor<3x32x64xf32>) -> tensor<3x2x16x64xf32>
// CHECK: hlo.transpose %[[S]] {dimensions = array<i64: 0, 1, 3, 2>}
// CHECK: hlo.dot {{.*}}rhs_contracting_dims = array<i64: 2>{{.*}} -> tensor<3x8x2x16xf32>
module @batch attributes {hlo.immutable_leaves = array<i64: 1>} {
  hlo.computation @main(%x: tensor<3x8x64xf32>, %w: tensor<3x32x64xf32>) -> tensor<3x8x32xf32> attributes {entry} {
    %d = hlo.dot %x, %w {lhs_batch_dims = array<i64: 0>, rhs_batch_dims = array<i64: 0>, lhs_contracting_dims = array<i64: 2>, rhs_contracting_dims = array<i64: 2>} : (tensor<3x8x64xf32>, tensor<3x32x64xf32>) -> tensor<3x8x32xf32>
    hlo.return %d : tensor<3x8x32xf32>
  }
}

// -----
// Not if a panel would be left over, nor if calls may change the right side.
// CHECK-LABEL: module @odd
// CHECK-NOT: hlo.transpose
module @odd attributes {hlo.immutable_leaves = array<i64: 1>} {
  hlo.computation @main(%x: tensor<8x64xf32>, %w: tensor<64x24xf32>) -> tensor<64x8xf32> attributes {entry} {
    %d = hlo.dot %x, %w {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<8x64xf32>, tensor<64x24xf32>) -> tensor<8x24xf32>
    %e = hlo.dot %w, %d {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 1>} : (tensor<64x24xf32>, tensor<8x24xf32>) -> tensor<64x8xf32>
    hlo.return %e : tensor<64x8xf32>
  }
}

// -----
// The output features of a convolution's kernel become its last dimension.
// CHECK-LABEL: module @kernel
// CHECK: %[[T:.*]] = hlo.transpose %{{.*}} {dimensions = array<i64: 2, 3, 1, 0>} : (tensor<32x16x3x3xf32>) -> tensor<3x3x16x32xf32>
// CHECK: hlo.convolution %{{.*}}, %[[T]] {{.*}}kernel = [i = 2, o = 3, 0, 1]
module @kernel attributes {hlo.immutable_leaves = array<i64: 1>} {
  hlo.computation @main(%x: tensor<1x16x8x8xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<1x32x6x6xf32> attributes {entry} {
    %c = hlo.convolution %x, %w {dim_labels = #hlo.conv_dims<input = [b = 0, f = 1, 2, 3], kernel = [i = 1, o = 0, 2, 3], output = [b = 0, f = 1, 2, 3]>, window = #hlo.window<size = [3, 3], stride = [1, 1], pad_low = [0, 0], pad_high = [0, 0], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reversal = [0, 0]>} : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x6x6xf32>
    hlo.return %c : tensor<1x32x6x6xf32>
  }
}

// -----
// A 1x1 convolution of few positions is a dot.
// CHECK-LABEL: module @positions
// CHECK-NOT: hlo.convolution
// CHECK: hlo.dot {{.*}} : (tensor<2x7x7x64xf32>, tensor<2x64x16xf32>) -> tensor<2x7x7x2x16xf32>
// CHECK: hlo.reshape {{.*}} -> tensor<2x7x7x32xf32>
module @positions attributes {hlo.immutable_leaves = array<i64: 1>} {
  hlo.computation @main(%x: tensor<2x7x7x64xf32>, %w: tensor<1x1x64x32xf32>) -> tensor<2x7x7x32xf32> attributes {entry} {
    %c = hlo.convolution %x, %w {dim_labels = #hlo.conv_dims<input = [b = 0, f = 3, 1, 2], kernel = [i = 2, o = 3, 0, 1], output = [b = 0, f = 3, 1, 2]>, window = #hlo.window<size = [1, 1], stride = [1, 1], pad_low = [0, 0], pad_high = [0, 0], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reversal = [0, 0]>} : (tensor<2x7x7x64xf32>, tensor<1x1x64x32xf32>) -> tensor<2x7x7x32xf32>
    hlo.return %c : tensor<2x7x7x32xf32>
  }
}

// -----
// Not with a stride.
// CHECK-LABEL: module @strided
// CHECK: hlo.convolution
module @strided attributes {hlo.immutable_leaves = array<i64: 1>} {
  hlo.computation @main(%x: tensor<2x7x7x64xf32>, %w: tensor<1x1x64x32xf32>) -> tensor<2x4x4x32xf32> attributes {entry} {
    %c = hlo.convolution %x, %w {dim_labels = #hlo.conv_dims<input = [b = 0, f = 3, 1, 2], kernel = [i = 2, o = 3, 0, 1], output = [b = 0, f = 3, 1, 2]>, window = #hlo.window<size = [1, 1], stride = [2, 2], pad_low = [0, 0], pad_high = [0, 0], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reversal = [0, 0]>} : (tensor<2x7x7x64xf32>, tensor<1x1x64x32xf32>) -> tensor<2x4x4x32xf32>
    hlo.return %c : tensor<2x4x4x32xf32>
  }
}
