// Constants, reshapes, broadcasts, slices and gather, in the form that is printed.
// RUN: grep -v '^//' %s > %t.expected
// RUN: hlo-opt %s | diff %t.expected -
// RUN: hlo-opt --mlir-print-op-generic %s | hlo-opt | diff %t.expected -
module {
  func.func @constants() -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01>> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<2x3xf32>
    %c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %c_0 = stablehlo.constant {some.name = 1 : i64} dense<true> : tensor<i1>
    %cst_1 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
    %cst_2 = stablehlo.constant() <{value = dense<7> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>
    %0 = stablehlo.iota dim = 1 : tensor<2x3xi32>
    return %cst_2 : tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>
  }
  func.func @shapes(%arg0: tensor<4x6xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<?x6xf32, #stablehlo.bounds<8, ?>>, %arg3: tensor<2xi32>, %arg4: tensor<i32>, %arg5: tensor<f32>) {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<4x6xf32>) -> tensor<4x6x4xi8>
    %1 = stablehlo.broadcast %arg0, sizes = [2] : (tensor<4x6xf32>) -> tensor<2x4x6xf32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<4x6xf32>) -> tensor<4x3x6xf32>
    %3 = stablehlo.broadcast_in_dim %arg5, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %4 = stablehlo.dynamic_broadcast_in_dim %arg1, %arg3, dims = [0, 1] {known_nonexpanding_dimensions = array<i64: 1>} : (tensor<?x6xf32>, tensor<2xi32>) -> tensor<?x6xf32>
    %5 = stablehlo.dynamic_iota %arg3, dim = 0 : (tensor<2xi32>) -> tensor<?x?xi32>
    %6 = stablehlo.dynamic_reshape %arg1, %arg3 : (tensor<?x6xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %7 = stablehlo.reshape %arg0 : (tensor<4x6xf32>) -> tensor<24xf32>
    %8 = stablehlo.reverse %arg0, dims = [0] : tensor<4x6xf32>
    %9 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %10 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
    %11 = stablehlo.set_dimension_size %arg0, %arg4, dim = 0 : (tensor<4x6xf32>, tensor<i32>) -> tensor<?x6xf32, #stablehlo.bounds<4, ?>>
    %12 = stablehlo.negate %arg2 : tensor<?x6xf32, #stablehlo.bounds<8, ?>>
    return
  }
  func.func @slices(%arg0: tensor<4x6xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<2xi32>, %arg3: tensor<i32>, %arg4: tensor<f32>, %arg5: tensor<3x1xi32>) {
    %0 = stablehlo.slice %arg0 [0:4:2, 1:6] : (tensor<4x6xf32>) -> tensor<2x5xf32>
    %1 = stablehlo.dynamic_slice %arg0, %arg3, %arg3, sizes = [2, 2] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
    %2 = stablehlo.dynamic_update_slice %arg0, %1, %arg3, %arg3 : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
    %3 = stablehlo.real_dynamic_slice %arg1, %arg2, %arg2, %arg2 : (tensor<?x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %4 = stablehlo.pad %arg0, %arg4, low = [1, 0], high = [0, -1], interior = [1, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<8x5xf32>
    %5 = stablehlo.dynamic_pad %arg1, %arg4, %arg2, %arg2, %arg2 : (tensor<?x6xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %6 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<4x6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
    %7 = "stablehlo.gather"(%arg0, %arg5) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32>
    %8 = "stablehlo.dynamic_gather"(%arg1, %arg5, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?x6xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x?xf32>
    %9 = "stablehlo.torch_index_select"(%arg0, %arg2) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<2x6xf32>
    return
  }
}

