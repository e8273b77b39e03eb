// Products, convolutions, factorizations and random numbers, in the form that is printed.
// RUN: grep -v '^//' %s > %t.expected
// RUN: hlo-opt %s | diff %t.expected -
// RUN: hlo-opt --mlir-print-op-generic %s | hlo-opt | diff %t.expected -
module {
  func.func @products(%arg0: tensor<2x4x6xf32>, %arg1: tensor<2x6x3xf32>, %arg2: tensor<4x6xf32>, %arg3: tensor<6x3xf32>, %arg4: tensor<6x3x!quant.uniform<i8:f32, 5.000000e-01>>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x4x6xf32>, tensor<2x6x3xf32>) -> tensor<2x4x3xf32>
    %1 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
    %2 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
    %3 = stablehlo.dot %arg2, %arg3, precision = [HIGH, HIGH] : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
    %4 = stablehlo.dot_general %arg2, %arg4, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x3x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<4x3xf32>
    %5 = stablehlo.einsum %arg2, %arg3, config = "ab,bc->ac" : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
    %6 = stablehlo.unary_einsum %arg2, config = "ab->a" : (tensor<4x6xf32>) -> tensor<4xf32>
    return
  }
  func.func @convolutions(%arg0: tensor<1x8x8x4xf32>, %arg1: tensor<3x3x2x6xf32>, %arg2: tensor<2x2xi32>) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 1], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 2], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<1x4x4x6xf32>
    %1 = "stablehlo.dynamic_conv"(%arg0, %arg1, %arg2) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64}> : (tensor<1x8x8x4xf32>, tensor<3x3x2x6xf32>, tensor<2x2xi32>) -> tensor<1x?x?x6xf32>
    return
  }
  func.func @others(%arg0: tensor<3x4x4xf32>, %arg1: tensor<3x4x2xf32>, %arg2: tensor<4x8xcomplex<f32>>, %arg3: tensor<f32>, %arg4: tensor<2xi64>, %arg5: tensor<2xui64>, %arg6: tensor<4xf32>) {
    %0 = stablehlo.cholesky %arg0, lower = true : tensor<3x4x4xf32>
    %1 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x4x4xf32>, tensor<3x4x2xf32>) -> tensor<3x4x2xf32>
    %2 = stablehlo.fft %arg2, type = FFT, length = [8] : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>>
    %3 = stablehlo.fft %arg0, type = RFFT, length = [4, 4] : (tensor<3x4x4xf32>) -> tensor<3x4x3xcomplex<f32>>
    %4 = stablehlo.rng %arg3, %arg3, %arg4, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
    %output_state, %output = stablehlo.rng_bit_generator %arg5, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
    %5 = "stablehlo.batch_norm_inference"(%arg0, %arg6, %arg6, %arg6, %arg6) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<3x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<3x4x4xf32>
    %output_0, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%arg0, %arg6, %arg6) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<3x4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<3x4x4xf32>, tensor<4xf32>, tensor<4xf32>)
    %grad_operand, %grad_scale, %grad_offset = "stablehlo.batch_norm_grad"(%arg0, %arg6, %arg6, %arg6, %arg0) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<3x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<4xf32>, tensor<4xf32>)
    return
  }
}

