// Ops that take sizes as operands become static ones at the bounds.
// RUN: hlo-opt %s --split-input-file --stablehlo-refine-sizes='bound=all<=8' | FileCheck %s

// CHECK-LABEL: module @iota
// CHECK: %[[N:.*]] = stablehlo.get_dimension_size %arg0, dim = 0
// CHECK: %[[TWICE:.*]] = stablehlo.multiply %[[N]]
// CHECK: %[[ALL:.*]] = stablehlo.iota dim = 0 : tensor<16xi32>
// CHECK: stablehlo.set_dimension_size %[[ALL]], %[[TWICE]], dim = 0 : {{.*}} -> tensor<?xi32, #stablehlo.bounds<16>>
module @iota {
  func.func @main(%arg0: tensor<?xf32>) -> tensor<?xi32> {
    %n = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %sum = stablehlo.add %n, %n : tensor<i32>
    %shape = stablehlo.reshape %sum : (tensor<i32>) -> tensor<1xi32>
    %0 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    return %0 : tensor<?xi32>
  }
}

// -----

// A static part of the shape is split: a plain reshape. Two `?` dimensions are joined: dynamic_reshape.
// CHECK-LABEL: module @reshape
// CHECK: stablehlo.reshape %arg0 : {{.*}} -> tensor<?x2x3xf32, #stablehlo.bounds<8, ?, ?>>
// CHECK: stablehlo.dynamic_reshape %arg1, {{.*}} -> tensor<?xf32, #stablehlo.bounds<64>>
module @reshape {
  func.func @main(%arg0: tensor<?x6xf32>, %arg1: tensor<?x?xf32>) -> (tensor<?x2x3xf32>, tensor<?xf32>) {
    %n = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %first = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %rest = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
    %shape = stablehlo.concatenate %first, %rest, dim = 0 : (tensor<1xi32>, tensor<2xi32>) -> tensor<3xi32>
    %0 = stablehlo.dynamic_reshape %arg0, %shape : (tensor<?x6xf32>, tensor<3xi32>) -> tensor<?x2x3xf32>
    %a = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %b = stablehlo.get_dimension_size %arg1, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %ab = stablehlo.multiply %a, %b : tensor<i32>
    %flat = stablehlo.reshape %ab : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.dynamic_reshape %arg1, %flat : (tensor<?x?xf32>, tensor<1xi32>) -> tensor<?xf32>
    return %0, %1 : tensor<?x2x3xf32>, tensor<?xf32>
  }
}

// -----

// The slice from n/2 on: as long as the bound, of an array that is longer by as much.
// CHECK-LABEL: module @slice
// CHECK: %[[HALF:.*]] = stablehlo.divide
// CHECK: stablehlo.pad {{.*}} -> tensor<12xf32>
// CHECK: stablehlo.dynamic_slice {{.*}} sizes = [8] : {{.*}} -> tensor<8xf32>
// CHECK: stablehlo.set_dimension_size {{.*}} -> tensor<?xf32, #stablehlo.bounds<8>>
module @slice {
  func.func @main(%arg0: tensor<?xf32>) -> tensor<?xf32> {
    %n = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %half = stablehlo.divide %n, %two : tensor<i32>
    %start = stablehlo.reshape %half : (tensor<i32>) -> tensor<1xi32>
    %limit = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %step = stablehlo.constant dense<1> : tensor<1xi32>
    %0 = stablehlo.real_dynamic_slice %arg0, %start, %limit, %step : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}

// -----

// By the labels of an equation, and by the indices of a selection.
// CHECK-LABEL: module @labels
// CHECK: stablehlo.einsum{{.*}} -> tensor<?x?xf32, #stablehlo.bounds<8, 8>>
// CHECK: stablehlo.torch_index_select{{.*}} -> tensor<?x3xf32, #stablehlo.bounds<8, ?>>
module @labels {
  func.func @main(%x: tensor<?x3xf32>, %y: tensor<3x?xf32>, %i: tensor<?xi32>) -> (tensor<?x?xf32>, tensor<?x3xf32>) {
    %0 = "stablehlo.einsum"(%x, %y) {einsum_config = "ab,bc->ca"} : (tensor<?x3xf32>, tensor<3x?xf32>) -> tensor<?x?xf32>
    %1 = "stablehlo.torch_index_select"(%x, %i) {dim = 0 : i64, batch_dims = 0 : i64} : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x3xf32>
    return %0, %1 : tensor<?x?xf32>, tensor<?x3xf32>
  }
}
