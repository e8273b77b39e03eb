// Elementwise ops, in the form that is printed.
// RUN: grep -v '^//' %s > %t.expected
// RUN: hlo-opt %s | diff %t.expected -
// RUN: hlo-opt --mlir-print-op-generic %s | hlo-opt | diff %t.expected -
module {
  func.func @unary(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>, %arg2: tensor<4xcomplex<f32>>, %arg3: tensor<?xf32>) {
    %0 = stablehlo.abs %arg2 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %1 = stablehlo.abs %arg0 : tensor<4xf32>
    %2 = stablehlo.cbrt %arg0 : tensor<4xf32>
    %3 = stablehlo.ceil %arg0 : tensor<4xf32>
    %4 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xi8>
    %5 = stablehlo.count_leading_zeros %arg1 : tensor<4xi32>
    %6 = stablehlo.cosine %arg0 : tensor<4xf32>
    %7 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 9.9999999999999995E-7, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
    %8 = stablehlo.exponential_minus_one %arg0 : tensor<4xf32>
    %9 = stablehlo.floor %arg0 : tensor<4xf32>
    %10 = stablehlo.imag %arg2 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %11 = stablehlo.is_finite %arg0 : (tensor<4xf32>) -> tensor<4xi1>
    %12 = stablehlo.log %arg3 : (tensor<?xf32>) -> tensor<4xf32>
    %13 = stablehlo.log_plus_one %arg0 : tensor<4xf32>
    %14 = stablehlo.logistic %arg0 : tensor<4xf32>
    %15 = stablehlo.negate %arg0 : tensor<4xf32>
    %16 = stablehlo.not %arg1 : tensor<4xi32>
    %17 = stablehlo.popcnt %arg1 : tensor<4xi32>
    %18 = stablehlo.real %arg2 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %19 = stablehlo.reduce_precision %arg0, format = e8m7 : tensor<4xf32>
    %20 = stablehlo.round_nearest_afz %arg0 : tensor<4xf32>
    %21 = stablehlo.round_nearest_even %arg0 : tensor<4xf32>
    %22 = stablehlo.rsqrt %arg0 : tensor<4xf32>
    %23 = stablehlo.sign %arg0 : tensor<4xf32>
    %24 = stablehlo.sine %arg0 : tensor<4xf32>
    %25 = stablehlo.sqrt %arg0 : tensor<4xf32>
    %26 = stablehlo.tan %arg0 : tensor<4xf32>
    %27 = stablehlo.tanh %arg0 : tensor<4xf32>
    %28 = stablehlo.uniform_quantize %arg0 : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>
    %29 = stablehlo.uniform_dequantize %28 : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4xf32>
    return
  }
  func.func @binary(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xui32>, %arg3: tensor<i1>, %arg4: tensor<f32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
    %1 = stablehlo.and %arg2, %arg2 : tensor<4xui32>
    %2 = stablehlo.atan2 %arg0, %arg1 : tensor<4xf32>
    %3 = stablehlo.clamp %arg4, %arg0, %arg4 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %4 = stablehlo.clamp %arg0, %arg0, %arg1 : tensor<4xf32>
    %5 = stablehlo.compare LT, %arg0, %arg1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %6 = stablehlo.compare EQ, %arg0, %arg1, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %7 = stablehlo.complex %arg0, %arg1 : tensor<4xcomplex<f32>>
    %8 = stablehlo.divide %arg0, %arg1 : tensor<4xf32>
    %9 = stablehlo.maximum %arg0, %arg1 : tensor<4xf32>
    %10 = stablehlo.minimum %arg0, %arg1 : tensor<4xf32>
    %11 = stablehlo.multiply %arg0, %arg1 : tensor<4xf32>
    %12 = stablehlo.or %arg2, %arg2 : tensor<4xui32>
    %13 = stablehlo.power %arg0, %arg1 : tensor<4xf32>
    %14 = stablehlo.remainder %arg0, %arg1 : tensor<4xf32>
    %15 = stablehlo.select %arg3, %arg0, %arg1 : tensor<i1>, tensor<4xf32>
    %16 = stablehlo.shift_left %arg2, %arg2 : tensor<4xui32>
    %17 = stablehlo.shift_right_arithmetic %arg2, %arg2 : tensor<4xui32>
    %18 = stablehlo.shift_right_logical %arg2, %arg2 : tensor<4xui32>
    %19 = stablehlo.subtract %arg0, %arg1 {some.name = "kept"} : tensor<4xf32>
    %20 = stablehlo.xor %arg2, %arg2 : tensor<4xui32>
    return
  }
}

