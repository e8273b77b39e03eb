// Weights as panels of 16 columns whose rows hold pairs along k. The dot reads them through marked ops, which its kernel
// takes in.
// RUN: hlo-opt --hlo-pack-operands="width=16 group=2" --split-input-file %s | FileCheck %s
// RUN: hlo-opt --hlo-pack-operands --split-input-file %s | FileCheck %s --check-prefix=KEPT

// CHECK-LABEL: module @whole
// CHECK: hlo.computation @main(%[[X:.*]]: tensor<8x64xf32>, %[[W:.*]]: tensor<64x32xf32>)
// CHECK: %[[S:.*]] = hlo.reshape %{{.*}} : (tensor<1x1x64x32xf32>) -> tensor<1x1x32x2x2x16xf32>
// CHECK-NEXT: %[[P:.*]] = hlo.transpose %[[S]] {dimensions = array<i64: 0, 4, 1, 2, 5, 3>} : {{.*}} -> tensor<1x2x1x32x16x2xf32>
// CHECK-NEXT: %[[T:.*]] = hlo.transpose %[[P]] {dimensions = array<i64: 0, 2, 3, 5, 1, 4>, hlo.panels} : {{.*}} -> tensor<1x1x32x2x2x16xf32>
// CHECK-NEXT: %[[U:.*]] = hlo.reshape %[[T]] {hlo.panels} : {{.*}} -> tensor<1x1x64x32xf32>
// CHECK-NEXT: %[[V:.*]] = hlo.reshape %[[U]] {hlo.panels} : {{.*}} -> tensor<64x32xf32>
// CHECK-NEXT: hlo.dot %[[X]], %[[V]] {{.*}}rhs_contracting_dims = array<i64: 0>
// KEPT-LABEL: module @whole
// KEPT-NOT: hlo.transpose
// KEPT: hlo.dot
module @whole attributes {hlo.immutable_leaves = array<i64: 1>} {
  hlo.computation @main(%x: tensor<8x64xf32>, %w: tensor<64x32xf32>) -> tensor<8x32xf32> attributes {entry} {
    %d = hlo.dot %x, %w {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
    hlo.return %d : tensor<8x32xf32>
  }
}

// -----
// Zeros fill k up to groups and n up to panels; the dot reads none of them.
// CHECK-LABEL: module @odd
// CHECK: hlo.pad {{.*}}padding_high = array<i64: 0, 0, 1, 8>{{.*}} -> tensor<1x1x64x32xf32>
// CHECK: hlo.slice {{.*}}hlo.panels{{.*}} : (tensor<1x1x64x32xf32>) -> tensor<1x1x63x24xf32>
// CHECK: hlo.dot {{.*}} -> tensor<8x24xf32>
module @odd attributes {hlo.immutable_leaves = array<i64: 1>} {
  hlo.computation @main(%x: tensor<8x63xf32>, %w: tensor<63x24xf32>) -> tensor<8x24xf32> attributes {entry} {
    %d = hlo.dot %x, %w {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<8x63xf32>, tensor<63x24xf32>) -> tensor<8x24xf32>
    hlo.return %d : tensor<8x24xf32>
  }
}

// -----
// The left side, with a batch, and contracted along its last dimension: it is read in the order batch, k, n.
// CHECK-LABEL: module @left
// CHECK: hlo.transpose %{{.*}} {dimensions = array<i64: 0, 2, 1>} : (tensor<3x32x64xf32>) -> tensor<3x64x32xf32>
// CHECK: hlo.transpose {{.*}} -> tensor<3x2x1x32x16x2xf32>
// CHECK: %[[V:.*]] = hlo.reshape %{{.*}} {hlo.panels} : {{.*}} -> tensor<3x64x32xf32>
// CHECK: hlo.dot %[[V]], {{.*}}lhs_batch_dims = array<i64: 0>{{.*}}lhs_contracting_dims = array<i64: 1>
module @left attributes {hlo.immutable_leaves = array<i64: 0>} {
  hlo.computation @main(%w: tensor<3x32x64xf32>, %x: tensor<3x8x64xf32>) -> tensor<3x32x8xf32> attributes {entry} {
    %d = hlo.dot %w, %x {lhs_batch_dims = array<i64: 0>, rhs_batch_dims = array<i64: 0>, lhs_contracting_dims = array<i64: 2>, rhs_contracting_dims = array<i64: 2>} : (tensor<3x32x64xf32>, tensor<3x8x64xf32>) -> tensor<3x32x8xf32>
    hlo.return %d : tensor<3x32x8xf32>
  }
}

// -----
// Neither side of a product that calls do not change at all, nor what they change.
// CHECK-LABEL: module @neither
// CHECK-NOT: hlo.transpose
// CHECK: hlo.return
module @neither attributes {hlo.immutable_leaves = array<i64: 0, 1>} {
  hlo.computation @main(%v: tensor<8x64xf32>, %w: tensor<64x32xf32>, %x: tensor<8x32xf32>, %y: tensor<8x32xf32>) -> (tensor<8x32xf32>, tensor<8x8xf32>) attributes {entry} {
    %d = hlo.dot %v, %w {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 0>} : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
    %e = hlo.dot %x, %y {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: 1>} : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x8xf32>
    hlo.return %d, %e : tensor<8x32xf32>, tensor<8x8xf32>
  }
}

// -----
// A convolution's kernel: the taps in their order, pairs of channels, panels of features. Without panels its output
// features become the last dimension.
// CHECK-LABEL: module @kernel
// CHECK: hlo.transpose %{{.*}} {dimensions = array<i64: 2, 3, 1, 0>} : (tensor<32x16x3x3xf32>) -> tensor<3x3x16x32xf32>
// CHECK: hlo.transpose {{.*}} -> tensor<1x2x9x8x16x2xf32>
// CHECK: %[[V:.*]] = hlo.reshape %{{.*}} {hlo.panels} : {{.*}} -> tensor<3x3x16x32xf32>
// CHECK: hlo.convolution %{{.*}}, %[[V]] {{.*}}kernel = [i = 2, o = 3, 0, 1]
// KEPT-LABEL: module @kernel
// KEPT: %[[T:.*]] = hlo.transpose %{{.*}} {dimensions = array<i64: 2, 3, 1, 0>} : (tensor<32x16x3x3xf32>) -> tensor<3x3x16x32xf32>
// KEPT: hlo.convolution %{{.*}}, %[[T]] {{.*}}kernel = [i = 2, o = 3, 0, 1]
module @kernel attributes {hlo.immutable_leaves = array<i64: 1>} {
  hlo.computation @main(%x: tensor<1x16x8x8xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<1x32x6x6xf32> attributes {entry} {
    %c = hlo.convolution %x, %w {dim_labels = #hlo.conv_dims<input = [b = 0, f = 1, 2, 3], kernel = [i = 1, o = 0, 2, 3], output = [b = 0, f = 1, 2, 3]>, window = #hlo.window<size = [3, 3], stride = [1, 1], pad_low = [0, 0], pad_high = [0, 0], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reversal = [0, 0]>} : (tensor<1x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x6x6xf32>
    hlo.return %c : tensor<1x32x6x6xf32>
  }
}
