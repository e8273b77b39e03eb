// Broadcasts of dimensions of size 1, and in another order; slices, pads, gathers.
// RUN: hlo-opt --hlo --print-hlo --split-input-file %s | FileCheck %s

// CHECK-LABEL: HloModule broadcasts
module @broadcasts {
  func.func public @main(%x: tensor<1x3xf32>, %y: tensor<2x3xf32>) -> (tensor<4x3xf32>, tensor<3x5x2xf32>) {
    %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<4x3xf32>
    %1 = stablehlo.broadcast_in_dim %y, dims = [2, 0] : (tensor<2x3xf32>) -> tensor<3x5x2xf32>
    return %0, %1 : tensor<4x3xf32>, tensor<3x5x2xf32>
  }
}
// CHECK: %broadcast_in_dim.1 = f32[3]{0} reshape(%x.1)
// CHECK: %broadcast_in_dim.1.1 = f32[4,3]{1,0} broadcast(%broadcast_in_dim.1), dimensions={1}
// CHECK: %broadcast_in_dim.2 = f32[3,2]{1,0} transpose(%y.1), dimensions={1,0}
// CHECK: %broadcast_in_dim.2.1 = f32[3,5,2]{2,1,0} broadcast(%broadcast_in_dim.2), dimensions={0,2}

// -----

// CHECK-LABEL: HloModule moves
module @moves {
  func.func public @main(%x: tensor<4x6xf32>, %i: tensor<i32>) -> (tensor<2x2xf32>, tensor<7x9xf32>, tensor<6x4xf32>, tensor<2x3xf32>, tensor<4x6xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.slice %x [1:3, 0:6:3] : (tensor<4x6xf32>) -> tensor<2x2xf32>
    %1 = stablehlo.pad %x, %zero, low = [1, -1], high = [2, 4], interior = [0, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<7x9xf32>
    %2 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %3 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 3] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %4 = stablehlo.reverse %x, dims = [1] : tensor<4x6xf32>
    return %0, %1, %2, %3, %4 : tensor<2x2xf32>, tensor<7x9xf32>, tensor<6x4xf32>, tensor<2x3xf32>, tensor<4x6xf32>
  }
}
// CHECK: %constant.1 = f32[] constant(0)
// CHECK: %slice.1 = f32[2,2]{1,0} slice(%x.1), slice={[1:3:1], [0:6:3]}
// CHECK: %pad.1 = f32[7,9]{1,0} pad(%x.1, %constant.1), padding=1_2x-1_4
// CHECK: %transpose.1 = f32[6,4]{1,0} transpose(%x.1), dimensions={1,0}
// CHECK: %dynamic_slice.1 = f32[2,3]{1,0} dynamic-slice(%x.1, %i.1, %i.1), dynamic_slice_sizes={2,3}
// CHECK: %reverse.1 = f32[4,6]{1,0} reverse(%x.1), dimensions={1}

// -----

// CHECK-LABEL: HloModule indexed
module @indexed {
  func.func public @main(%x: tensor<4x6xf32>, %i: tensor<5x1xi32>, %u: tensor<5x6xf32>) -> (tensor<5x6xf32>, tensor<4x6xf32>) {
    %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<5x1xi32>) -> tensor<5x6xf32>
    %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<5x1xi32>, tensor<5x6xf32>) -> tensor<4x6xf32>
    return %0, %1 : tensor<5x6xf32>, tensor<4x6xf32>
  }
}
// CHECK: %scatter_body.1 (
// CHECK: ROOT %add.1 = f32[] add(%p.1, %p.2)
// CHECK: %gather.1 = f32[5,6]{1,0} gather(%x.1, %i.1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}
// CHECK: %scatter.1 = f32[4,6]{1,0} scatter(%x.1, %i.1, %u.1), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=%scatter_body.1
