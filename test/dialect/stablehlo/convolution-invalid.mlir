// Constraints of the specification, each broken once: convolution.
// RUN: hlo-opt --verify-diagnostics --split-input-file %s

func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c1]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 1>}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c2]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 1, 0>}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c3]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64, padding = dense<0> : tensor<3x2xi64>}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c4]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64, lhs_dilation = array<i64: 1>}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c5]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64, lhs_dilation = array<i64: 1, 0>}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c6]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64, rhs_dilation = array<i64: 1>}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c7]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64, rhs_dilation = array<i64: -1, 1>}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c8]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64, window_reversal = array<i1: true>}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c9]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x2xf32>, %a1: tensor<3x3x2x8xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 4 : i64}> : (tensor<2x8x8x2xf32>, tensor<3x3x2x8xf32>) -> tensor<?x6x6x8xf32> // expected-error {{[convolution_c10]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x1x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 3 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x1x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c11]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c12]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 4, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c13]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 3, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c13]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 3, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c18]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = -1, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c20]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x3x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x3x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c14]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x2xf32>, %a1: tensor<3x3x2x5xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 2 : i64}> : (tensor<2x8x8x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x6x6x5xf32> // expected-error {{[convolution_c15]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x5xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x5xf32>) -> tensor<2x6x6x5xf32> // expected-error {{[convolution_c16]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c17]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c19]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 0 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c21]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 0 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c22]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 2 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c23]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>, #stablehlo<precision HIGH>]}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c24]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x5x6xf32> // expected-error {{[convolution_c25]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64, padding = dense<[[9223372036854775807, 1], [0, 0]]> : tensor<2x2xi64>}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c25]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6xf32> // expected-error {{[convolution_c26]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xi32>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xi32>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c27]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4x!quant.uniform<i8:f32, 1.0>>, %a1: tensor<3x3x2x6x!quant.uniform<i8:f32, 1.0>>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x2x6x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x6x6x6xf32> // expected-error {{[convolution_c28]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4x!quant.uniform<i8:f32, 1.0>>, %a1: tensor<3x3x2x6x!quant.uniform<i8:f32:2, {1.0, 1.0}>>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x2x6x!quant.uniform<i8:f32:2, {1.0, 1.0}>>) -> tensor<2x6x6x6x!quant.uniform<i8:f32, 1.0>> // expected-error {{[convolution_c29]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4x!quant.uniform<i8:f32, 1.0>>, %a1: tensor<3x3x2x6x!quant.uniform<i8:f32:3, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}>>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x2x6x!quant.uniform<i8:f32:3, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}>>) -> tensor<2x6x6x6x!quant.uniform<i8:f32:1, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}>> // expected-error {{[convolution_c30]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4x!quant.uniform<i8:f32, 1.0>>, %a1: tensor<3x3x2x6x!quant.uniform<i4:f32, 1.0>>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x2x6x!quant.uniform<i4:f32, 1.0>>) -> tensor<2x6x6x6x!quant.uniform<i8:f32, 1.0>> // expected-error {{[convolution_c31]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4x!quant.uniform<i8:f32, 1.0>>, %a1: tensor<3x3x2x6x!quant.uniform<i8:f16, 1.0>>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x2x6x!quant.uniform<i8:f16, 1.0>>) -> tensor<2x6x6x6x!quant.uniform<i8:f32, 1.0>> // expected-error {{[convolution_c32]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4x!quant.uniform<i8:f32, 1.0>>, %a1: tensor<3x3x2x6x!quant.uniform<i8:f32, 1.0>>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4x!quant.uniform<i8:f32, 1.0>>, tensor<3x3x2x6x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x6x6x6x!quant.uniform<i8:f32:3, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}>> // expected-error {{[convolution_c33]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf16>, %a1: tensor<3x3x2x6x!quant.uniform<i8:f32, 1.0>>) {
  %r = "stablehlo.convolution"(%a0, %a1) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf16>, tensor<3x3x2x6x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x6x6x6xf16> // expected-error {{[convolution_c34]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>, %a2: tensor<4xi32>) {
  %r = "stablehlo.dynamic_conv"(%a0, %a1, %a2) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>, tensor<4xi32>) -> tensor<2x6x6x6xf32> // expected-error {{[dynamic_conv_i3]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x2x6xf32>, %a2: tensor<3x2xi32>) {
  %r = "stablehlo.dynamic_conv"(%a0, %a1, %a2) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x2x6xf32>, tensor<3x2xi32>) -> tensor<2x6x6x6xf32> // expected-error {{[dynamic_conv_c4]}}
  return }
// -----
func.func @f(%a0: tensor<2x8x8x4xf32>, %a1: tensor<3x3x1x6xf32>, %a2: tensor<2x2xi32>) {
  %r = "stablehlo.dynamic_conv"(%a0, %a1, %a2) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 3 : i64, batch_group_count = 1 : i64}> : (tensor<2x8x8x4xf32>, tensor<3x3x1x6xf32>, tensor<2x2xi32>) -> tensor<2x6x6x6xf32> // expected-error {{[dynamic_conv_c11]}}
  return }
