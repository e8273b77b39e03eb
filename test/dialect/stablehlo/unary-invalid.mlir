// Constraints of the specification, each broken once: unary.
// RUN: hlo-opt --verify-diagnostics --split-input-file %s

func.func @f(%x: tensor<4xui32>) {
  %0 = "stablehlo.abs"(%x) : (tensor<4xui32>) -> tensor<4xui32> // expected-error {{[abs_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.abs"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[abs_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xcomplex<f32>>) {
  %0 = "stablehlo.abs"(%x) : (tensor<4xcomplex<f32>>) -> tensor<4xf64> // expected-error {{[abs_c2]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.cbrt"(%x) : (tensor<4xi32>) -> tensor<4xi32> // expected-error {{[cbrt_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.cbrt"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[cbrt_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.cosine"(%x) : (tensor<4xi32>) -> tensor<4xi32> // expected-error {{[cosine_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.cosine"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[cosine_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.exponential"(%x) : (tensor<4xi32>) -> tensor<4xi32> // expected-error {{[exponential_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.exponential"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[exponential_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.exponential_minus_one"(%x) : (tensor<4xi32>) -> tensor<4xi32> // expected-error {{[exponential_minus_one_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.exponential_minus_one"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[exponential_minus_one_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.log"(%x) : (tensor<4xi32>) -> tensor<4xi32> // expected-error {{[log_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.log"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[log_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.log_plus_one"(%x) : (tensor<4xi32>) -> tensor<4xi32> // expected-error {{[log_plus_one_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.log_plus_one"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[log_plus_one_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.logistic"(%x) : (tensor<4xi32>) -> tensor<4xi32> // expected-error {{[logistic_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.logistic"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[logistic_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.rsqrt"(%x) : (tensor<4xi32>) -> tensor<4xi32> // expected-error {{[rsqrt_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.rsqrt"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[rsqrt_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.sine"(%x) : (tensor<4xi32>) -> tensor<4xi32> // expected-error {{[sine_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[sine_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.sqrt"(%x) : (tensor<4xi32>) -> tensor<4xi32> // expected-error {{[sqrt_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.sqrt"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[sqrt_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.tan"(%x) : (tensor<4xi32>) -> tensor<4xi32> // expected-error {{[tan_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.tan"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[tan_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.tanh"(%x) : (tensor<4xi32>) -> tensor<4xi32> // expected-error {{[tanh_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[tanh_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xcomplex<f32>>) {
  %0 = "stablehlo.ceil"(%x) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> // expected-error {{[ceil_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.ceil"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[ceil_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xcomplex<f32>>) {
  %0 = "stablehlo.floor"(%x) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> // expected-error {{[floor_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.floor"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[floor_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xcomplex<f32>>) {
  %0 = "stablehlo.round_nearest_afz"(%x) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> // expected-error {{[round_nearest_afz_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.round_nearest_afz"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[round_nearest_afz_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xcomplex<f32>>) {
  %0 = "stablehlo.round_nearest_even"(%x) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> // expected-error {{[round_nearest_even_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.round_nearest_even"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[round_nearest_even_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.convert"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[convert_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.convert"(%x) : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 1.0>> // expected-error {{[convert_o1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.count_leading_zeros"(%x) : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[count_leading_zeros_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.count_leading_zeros"(%x) : (tensor<4xi32>) -> tensor<4xi64> // expected-error {{[count_leading_zeros_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.popcnt"(%x) : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[popcnt_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.popcnt"(%x) : (tensor<4xi32>) -> tensor<4xi64> // expected-error {{[popcnt_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.real"(%x) : (tensor<4xi32>) -> tensor<4xf32> // expected-error {{[real_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xcomplex<f32>>) {
  %0 = "stablehlo.real"(%x) : (tensor<4xcomplex<f32>>) -> tensor<5xf32> // expected-error {{[real_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xcomplex<f32>>) {
  %0 = "stablehlo.real"(%x) : (tensor<4xcomplex<f32>>) -> tensor<4xf64> // expected-error {{[real_c2]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.imag"(%x) : (tensor<4xi32>) -> tensor<4xf32> // expected-error {{[imag_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xcomplex<f32>>) {
  %0 = "stablehlo.imag"(%x) : (tensor<4xcomplex<f32>>) -> tensor<5xf32> // expected-error {{[imag_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xcomplex<f32>>) {
  %0 = "stablehlo.imag"(%x) : (tensor<4xcomplex<f32>>) -> tensor<4xf64> // expected-error {{[imag_c2]}}
  return }
// -----
func.func @f(%x: tensor<4xcomplex<f32>>) {
  %0 = "stablehlo.is_finite"(%x) : (tensor<4xcomplex<f32>>) -> tensor<4xi1> // expected-error {{[is_finite_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.is_finite"(%x) : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[is_finite_o1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.is_finite"(%x) : (tensor<4xf32>) -> tensor<5xi1> // expected-error {{[is_finite_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi1>) {
  %0 = "stablehlo.negate"(%x) : (tensor<4xi1>) -> tensor<4xi1> // expected-error {{[negate_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.negate"(%x) : (tensor<4xi32>) -> tensor<4xf32> // expected-error {{[negate_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.not"(%x) : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[not_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xi1>) {
  %0 = "stablehlo.not"(%x) : (tensor<4xi1>) -> tensor<4xi32> // expected-error {{[not_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xui32>) {
  %0 = "stablehlo.sign"(%x) : (tensor<4xui32>) -> tensor<4xui32> // expected-error {{[sign_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.sign"(%x) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[sign_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.uniform_quantize"(%x) : (tensor<4xi32>) -> tensor<4x!quant.uniform<i8:f32, 1.0>> // expected-error {{[uniform_quantize_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.uniform_quantize"(%x) : (tensor<4xf32>) -> tensor<5x!quant.uniform<i8:f32, 1.0>> // expected-error {{[uniform_quantize_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.uniform_quantize"(%x) : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f16, 1.0>> // expected-error {{[uniform_quantize_c2]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.uniform_dequantize"(%x) : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[uniform_dequantize_i1]}}
  return }
// -----
func.func @f(%x: tensor<4x!quant.uniform<i8:f32, 1.0>>) {
  %0 = "stablehlo.uniform_dequantize"(%x) : (tensor<4x!quant.uniform<i8:f32, 1.0>>) -> tensor<5xf32> // expected-error {{[uniform_dequantize_c1]}}
  return }
// -----
func.func @f(%x: tensor<4x!quant.uniform<i8:f32, 1.0>>) {
  %0 = "stablehlo.uniform_dequantize"(%x) : (tensor<4x!quant.uniform<i8:f32, 1.0>>) -> tensor<4xf64> // expected-error {{[uniform_dequantize_c2]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.reduce_precision"(%x) <{exponent_bits = 0 : i32, mantissa_bits = 1 : i32}> : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[reduce_precision_c2]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.reduce_precision"(%x) <{exponent_bits = 1 : i32, mantissa_bits = -1 : i32}> : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[reduce_precision_c3]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %0 = "stablehlo.reduce_precision"(%x) <{exponent_bits = 1 : i32, mantissa_bits = 1 : i32}> : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[reduce_precision_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>) {
  %0 = "stablehlo.reduce_precision"(%x) <{exponent_bits = 1 : i32, mantissa_bits = 1 : i32}> : (tensor<4xi32>) -> tensor<4xi32> // expected-error {{[reduce_precision_i1]}}
  return }
