// Constraints of the specification, each broken once: dot.
// RUN: hlo-opt --verify-diagnostics --split-input-file %s

func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x3xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> // expected-error {{[dot_general_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x3xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = []>}> : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> // expected-error {{[dot_general_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x3xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> // expected-error {{[dot_general_c3]}}
  return }
// -----
func.func @f(%a0: tensor<6x6xf32>, %a1: tensor<6x6xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<4x3xf32> // expected-error {{[dot_general_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x3xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [2], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> // expected-error {{[dot_general_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x3xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> // expected-error {{[dot_general_c6]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x3xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [2], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> // expected-error {{[dot_general_c7]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x3xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2]>}> : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> // expected-error {{[dot_general_c8]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x5xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4xf32> // expected-error {{[dot_general_c9]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<5x3xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<5x3xf32>) -> tensor<4x3xf32> // expected-error {{[dot_general_c10]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x3xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>, #stablehlo<precision HIGH>]}> : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> // expected-error {{[dot_general_c11]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x3xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<3x4xf32> // expected-error {{[dot_general_c12]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x3xi32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x6xf32>, tensor<6x3xi32>) -> tensor<4x3xf32> // expected-error {{[dot_general_c13]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x!quant.uniform<i8:f32, 1.0>>, %a1: tensor<6x3x!quant.uniform<i8:f32, 1.0>>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x6x!quant.uniform<i8:f32, 1.0>>, tensor<6x3x!quant.uniform<i8:f32, 1.0>>) -> tensor<4x3xf32> // expected-error {{[dot_general_c14]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x!quant.uniform<i8:f32, 1.0>>, %a1: tensor<6x3x!quant.uniform<i8:f32, 1.0:3>>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x6x!quant.uniform<i8:f32, 1.0>>, tensor<6x3x!quant.uniform<i8:f32, 1.0:3>>) -> tensor<4x3x!quant.uniform<i8:f32, 1.0>> // expected-error {{[dot_general_c15]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x!quant.uniform<i8:f32, 1.0>>, %a1: tensor<6x3x!quant.uniform<i8:f32:0, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}>>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x6x!quant.uniform<i8:f32, 1.0>>, tensor<6x3x!quant.uniform<i8:f32:0, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}>>) -> tensor<4x3x!quant.uniform<i8:f32, 1.0>> // expected-error {{[dot_general_c16]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x!quant.uniform<i8:f32, 1.0>>, %a1: tensor<6x3x!quant.uniform<i4:f32, 1.0>>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x6x!quant.uniform<i8:f32, 1.0>>, tensor<6x3x!quant.uniform<i4:f32, 1.0>>) -> tensor<4x3x!quant.uniform<i8:f32, 1.0>> // expected-error {{[dot_general_c17]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x!quant.uniform<i8:f32, 1.0>>, %a1: tensor<6x3x!quant.uniform<i8:f16, 1.0>>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x6x!quant.uniform<i8:f32, 1.0>>, tensor<6x3x!quant.uniform<i8:f16, 1.0>>) -> tensor<4x3x!quant.uniform<i8:f32, 1.0>> // expected-error {{[dot_general_c18]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x!quant.uniform<i8:f32, 1.0>>, %a1: tensor<6x3x!quant.uniform<i8:f32, 1.0>>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x6x!quant.uniform<i8:f32, 1.0>>, tensor<6x3x!quant.uniform<i8:f32, 1.0>>) -> tensor<4x3x!quant.uniform<i32:f32:1, {1.0, 1.0, 1.0}>> // expected-error {{[dot_general_c19]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf16>, %a1: tensor<6x3x!quant.uniform<i8:f32, 1.0>>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x6xf16>, tensor<6x3x!quant.uniform<i8:f32, 1.0>>) -> tensor<4x3xf16> // expected-error {{[dot_general_c20]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x3xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> // expected-error {{[dot_general_c21]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x3xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 0, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> // expected-error {{[dot_general_c22]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x3xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 0, num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> // expected-error {{[dot_general_c23]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x3xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 0, allow_imprecise_accumulation = false>}> : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> // expected-error {{[dot_general_c24]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x3xf32>) {
  %r = "stablehlo.dot_general"(%a0, %a1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = i32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> // expected-error {{[dot_general_i8]}}
  return }
// -----
func.func @f(%a0: tensor<2x2x2xf32>, %a1: tensor<6x3xf32>) {
  %r = "stablehlo.dot"(%a0, %a1) : (tensor<2x2x2xf32>, tensor<6x3xf32>) -> tensor<4x3xf32> // expected-error {{[dot_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<5x3xf32>) {
  %r = "stablehlo.dot"(%a0, %a1) : (tensor<4x6xf32>, tensor<5x3xf32>) -> tensor<4x3xf32> // expected-error {{[dot_c10]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<6x3xf32>) {
  %r = "stablehlo.dot"(%a0, %a1) : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<3x4xf32> // expected-error {{[dot_c12]}}
  return }
