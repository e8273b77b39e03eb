// Constraints of the specification, each broken once: binary.
// RUN: hlo-opt --verify-diagnostics --split-input-file %s

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %0 = "stablehlo.and"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // expected-error {{[and_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>, %y: tensor<4xi1>) {
  %0 = "stablehlo.and"(%x, %y) : (tensor<4xi32>, tensor<4xi1>) -> tensor<4xi32> // expected-error {{[and_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %0 = "stablehlo.or"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // expected-error {{[or_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>, %y: tensor<4xi1>) {
  %0 = "stablehlo.or"(%x, %y) : (tensor<4xi32>, tensor<4xi1>) -> tensor<4xi32> // expected-error {{[or_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %0 = "stablehlo.xor"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // expected-error {{[xor_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>, %y: tensor<4xi1>) {
  %0 = "stablehlo.xor"(%x, %y) : (tensor<4xi32>, tensor<4xi1>) -> tensor<4xi32> // expected-error {{[xor_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  %0 = "stablehlo.shift_left"(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1> // expected-error {{[shift_left_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>, %y: tensor<4xui32>) {
  %0 = "stablehlo.shift_left"(%x, %y) : (tensor<4xi32>, tensor<4xui32>) -> tensor<4xi32> // expected-error {{[shift_left_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  %0 = "stablehlo.shift_right_arithmetic"(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1> // expected-error {{[shift_right_arithmetic_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>, %y: tensor<4xui32>) {
  %0 = "stablehlo.shift_right_arithmetic"(%x, %y) : (tensor<4xi32>, tensor<4xui32>) -> tensor<4xi32> // expected-error {{[shift_right_arithmetic_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  %0 = "stablehlo.shift_right_logical"(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1> // expected-error {{[shift_right_logical_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>, %y: tensor<4xui32>) {
  %0 = "stablehlo.shift_right_logical"(%x, %y) : (tensor<4xi32>, tensor<4xui32>) -> tensor<4xi32> // expected-error {{[shift_right_logical_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  %0 = "stablehlo.divide"(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1> // expected-error {{[divide_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  %0 = "stablehlo.divide"(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32> // expected-error {{[divide_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  %0 = "stablehlo.power"(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1> // expected-error {{[power_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  %0 = "stablehlo.power"(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32> // expected-error {{[power_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  %0 = "stablehlo.remainder"(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1> // expected-error {{[remainder_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  %0 = "stablehlo.remainder"(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32> // expected-error {{[remainder_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  %0 = "stablehlo.subtract"(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1> // expected-error {{[subtract_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  %0 = "stablehlo.subtract"(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32> // expected-error {{[subtract_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>) {
  %0 = "stablehlo.atan2"(%x, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32> // expected-error {{[atan2_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  %0 = "stablehlo.atan2"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32> // expected-error {{[atan2_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %0 = "stablehlo.maximum"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32> // expected-error {{[maximum_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi128>, %y: tensor<4xi128>) {
  %0 = "stablehlo.maximum"(%x, %y) : (tensor<4xi128>, tensor<4xi128>) -> tensor<4xi128> // expected-error {{[maximum_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %0 = "stablehlo.minimum"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32> // expected-error {{[minimum_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi128>, %y: tensor<4xi128>) {
  %0 = "stablehlo.minimum"(%x, %y) : (tensor<4xi128>, tensor<4xi128>) -> tensor<4xi128> // expected-error {{[minimum_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %0 = "stablehlo.multiply"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32> // expected-error {{[multiply_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi128>, %y: tensor<4xi128>) {
  %0 = "stablehlo.multiply"(%x, %y) : (tensor<4xi128>, tensor<4xi128>) -> tensor<4xi128> // expected-error {{[multiply_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  %0 = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32> // expected-error {{[add_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi3>, %y: tensor<4xi3>) {
  %0 = "stablehlo.add"(%x, %y) : (tensor<4xi3>, tensor<4xi3>) -> tensor<4xi3> // expected-error {{[add_i1]}}
  return }
// -----
func.func @f(%x: tensor<4x!quant.uniform<i8:f32, 1.0>>, %y: tensor<4xf32>) {
  %0 = "stablehlo.add"(%x, %y) : (tensor<4x!quant.uniform<i8:f32, 1.0>>, tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 1.0>> // expected-error {{[add_c2]}}
  return }
// -----
func.func @f(%x: tensor<4x!quant.uniform<i8:f32, 1.0>>, %y: tensor<4x!quant.uniform<i16:f32, 1.0>>) {
  %0 = "stablehlo.add"(%x, %y) : (tensor<4x!quant.uniform<i8:f32, 1.0>>, tensor<4x!quant.uniform<i16:f32, 1.0>>) -> tensor<4x!quant.uniform<i8:f32, 1.0>> // expected-error {{[add_c3]}}
  return }
// -----
func.func @f(%x: tensor<4x!quant.uniform<i8:f32, 1.0>>, %y: tensor<4x!quant.uniform<i8:f16, 1.0>>) {
  %0 = "stablehlo.add"(%x, %y) : (tensor<4x!quant.uniform<i8:f32, 1.0>>, tensor<4x!quant.uniform<i8:f16, 1.0>>) -> tensor<4x!quant.uniform<i8:f32, 1.0>> // expected-error {{[add_c4]}}
  return }
// -----
func.func @f(%x: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %y: tensor<2x2x!quant.uniform<i8:f32, 1.0>>) {
  %0 = "stablehlo.add"(%x, %y) : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2x2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x2x!quant.uniform<i8:f32, 1.0>> // expected-error {{[add_c5]}}
  return }
// -----
func.func @f(%x: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %y: tensor<2x2x!quant.uniform<i8:f32, 1.0>>) {
  %0 = "stablehlo.add"(%x, %y) : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2x2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>> // expected-error {{[add_c6]}}
  return }
// -----
func.func @f(%x: tensor<2x2x!quant.uniform<i8:f32, 1.0>>, %y: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  %0 = "stablehlo.add"(%x, %y) : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>> // expected-error {{[add_c7]}}
  return }
// -----
func.func @f(%x: tensor<4xf16>, %y: tensor<4xf32>) {
  %0 = "stablehlo.complex"(%x, %y) : (tensor<4xf16>, tensor<4xf32>) -> tensor<4xcomplex<f32>> // expected-error {{[complex_i1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  %0 = "stablehlo.complex"(%x, %y) : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xcomplex<f32>> // expected-error {{[complex_i2]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  %0 = "stablehlo.complex"(%x, %y) : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xcomplex<f32>> // expected-error {{[complex_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %0 = "stablehlo.complex"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xcomplex<f32>> // expected-error {{[complex_c2]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %0 = "stablehlo.complex"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f64>> // expected-error {{[complex_c3]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  %0 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xi1> // expected-error {{[compare_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  %0 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xi1> // expected-error {{[compare_c2]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %0 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // expected-error {{[compare_o1]}}
  return }
// -----
func.func @f(%x: tensor<5xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) {
  %0 = "stablehlo.clamp"(%x, %y, %z) : (tensor<5xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // expected-error {{[clamp_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<5xf32>) {
  %0 = "stablehlo.clamp"(%x, %y, %z) : (tensor<4xf32>, tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32> // expected-error {{[clamp_c2]}}
  return }
// -----
func.func @f(%x: tensor<4xi32>, %y: tensor<4xf32>, %z: tensor<4xf32>) {
  %0 = "stablehlo.clamp"(%x, %y, %z) : (tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // expected-error {{[clamp_c3]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) {
  %0 = "stablehlo.clamp"(%x, %y, %z) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32> // expected-error {{[clamp_c4]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) {
  %0 = "stablehlo.select"(%x, %y, %z) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // expected-error {{[select_i1]}}
  return }
// -----
func.func @f(%x: tensor<5xi1>, %y: tensor<4xf32>, %z: tensor<4xf32>) {
  %0 = "stablehlo.select"(%x, %y, %z) : (tensor<5xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> // expected-error {{[select_c1]}}
  return }
// -----
func.func @f(%x: tensor<4xi1>, %y: tensor<4xf32>, %z: tensor<4xi32>) {
  %0 = "stablehlo.select"(%x, %y, %z) : (tensor<4xi1>, tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32> // expected-error {{[select_c2]}}
  return }
