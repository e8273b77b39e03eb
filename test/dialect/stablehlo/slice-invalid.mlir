// Constraints of the specification, each broken once: slice.
// RUN: hlo-opt --verify-diagnostics --split-input-file %s

func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.slice"(%a0) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2, 2>, strides = array<i64: 1, 1>}> : (tensor<4x6xf32>) -> tensor<2x2xi32> // expected-error {{[slice_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.slice"(%a0) <{start_indices = array<i64: 0>, limit_indices = array<i64: 2, 2>, strides = array<i64: 1, 1>}> : (tensor<4x6xf32>) -> tensor<2x2xf32> // expected-error {{[slice_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.slice"(%a0) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2, 7>, strides = array<i64: 1, 1>}> : (tensor<4x6xf32>) -> tensor<2x2xf32> // expected-error {{[slice_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.slice"(%a0) <{start_indices = array<i64: 3, 0>, limit_indices = array<i64: 2, 2>, strides = array<i64: 1, 1>}> : (tensor<4x6xf32>) -> tensor<2x2xf32> // expected-error {{[slice_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.slice"(%a0) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2, 2>, strides = array<i64: 1, 0>}> : (tensor<4x6xf32>) -> tensor<2x2xf32> // expected-error {{[slice_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.slice"(%a0) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2, 2>, strides = array<i64: 1, 1>}> : (tensor<4x6xf32>) -> tensor<2x3xf32> // expected-error {{[slice_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>, %a2: tensor<f32>) {
  %r = "stablehlo.dynamic_slice"(%a0, %a1, %a2) <{slice_sizes = array<i64: 2, 2>}> : (tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> tensor<2x2xf32> // expected-error {{[dynamic_slice_i2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<i32>, %a2: tensor<i32>) {
  %r = "stablehlo.dynamic_slice"(%a0, %a1, %a2) <{slice_sizes = array<i64: 2, 2>}> : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xi32> // expected-error {{[dynamic_slice_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<i32>) {
  %r = "stablehlo.dynamic_slice"(%a0, %a1) <{slice_sizes = array<i64: 2, 2>}> : (tensor<4x6xf32>, tensor<i32>) -> tensor<2x2xf32> // expected-error {{[dynamic_slice_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<i32>, %a2: tensor<i64>) {
  %r = "stablehlo.dynamic_slice"(%a0, %a1, %a2) <{slice_sizes = array<i64: 2, 2>}> : (tensor<4x6xf32>, tensor<i32>, tensor<i64>) -> tensor<2x2xf32> // expected-error {{[dynamic_slice_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<i32>, %a2: tensor<i32>) {
  %r = "stablehlo.dynamic_slice"(%a0, %a1, %a2) <{slice_sizes = array<i64: 2, 7>}> : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x7xf32> // expected-error {{[dynamic_slice_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<i32>, %a2: tensor<i32>) {
  %r = "stablehlo.dynamic_slice"(%a0, %a1, %a2) <{slice_sizes = array<i64: 2, 2>}> : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32> // expected-error {{[dynamic_slice_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<2x2xf32>, %a2: tensor<i32>, %a3: tensor<i32>) {
  %r = "stablehlo.dynamic_update_slice"(%a0, %a1, %a2, %a3) : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32> // expected-error {{[dynamic_update_slice_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<2x2xi32>, %a2: tensor<i32>, %a3: tensor<i32>) {
  %r = "stablehlo.dynamic_update_slice"(%a0, %a1, %a2, %a3) : (tensor<4x6xf32>, tensor<2x2xi32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32> // expected-error {{[dynamic_update_slice_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<2xf32>, %a2: tensor<i32>, %a3: tensor<i32>) {
  %r = "stablehlo.dynamic_update_slice"(%a0, %a1, %a2, %a3) : (tensor<4x6xf32>, tensor<2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32> // expected-error {{[dynamic_update_slice_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<2x2xf32>, %a2: tensor<i32>) {
  %r = "stablehlo.dynamic_update_slice"(%a0, %a1, %a2) : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<i32>) -> tensor<4x6xf32> // expected-error {{[dynamic_update_slice_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<2x2xf32>, %a2: tensor<i32>, %a3: tensor<i64>) {
  %r = "stablehlo.dynamic_update_slice"(%a0, %a1, %a2, %a3) : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i64>) -> tensor<4x6xf32> // expected-error {{[dynamic_update_slice_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<2x7xf32>, %a2: tensor<i32>, %a3: tensor<i32>) {
  %r = "stablehlo.dynamic_update_slice"(%a0, %a1, %a2, %a3) : (tensor<4x6xf32>, tensor<2x7xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32> // expected-error {{[dynamic_update_slice_c6]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<2x2xf32>, %a2: tensor<f32>, %a3: tensor<f32>) {
  %r = "stablehlo.dynamic_update_slice"(%a0, %a1, %a2, %a3) : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<f32>, tensor<f32>) -> tensor<4x6xf32> // expected-error {{[dynamic_update_slice_i3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<2xi32>, %a2: tensor<2xi32>, %a3: tensor<2xi32>) {
  %r = "stablehlo.real_dynamic_slice"(%a0, %a1, %a2, %a3) : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xi32> // expected-error {{[real_dynamic_slice_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<2xi32>, %a2: tensor<2xi32>, %a3: tensor<2xi32>) {
  %r = "stablehlo.real_dynamic_slice"(%a0, %a1, %a2, %a3) : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?xf32> // expected-error {{[real_dynamic_slice_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<2xi32>, %a2: tensor<2xi64>, %a3: tensor<2xi32>) {
  %r = "stablehlo.real_dynamic_slice"(%a0, %a1, %a2, %a3) : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi64>, tensor<2xi32>) -> tensor<?x?xf32> // expected-error {{[real_dynamic_slice_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3xi32>, %a2: tensor<3xi32>, %a3: tensor<3xi32>) {
  %r = "stablehlo.real_dynamic_slice"(%a0, %a1, %a2, %a3) : (tensor<4x6xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<?x?xf32> // expected-error {{[real_dynamic_slice_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4xf32>) {
  %r = "stablehlo.pad"(%a0, %a1) <{edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x6xf32>, tensor<4xf32>) -> tensor<4x6xf32> // expected-error {{[pad_i2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<i32>) {
  %r = "stablehlo.pad"(%a0, %a1) <{edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x6xf32> // expected-error {{[pad_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  %r = "stablehlo.pad"(%a0, %a1) <{edge_padding_low = array<i64: 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32> // expected-error {{[pad_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  %r = "stablehlo.pad"(%a0, %a1) <{edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: -1, 0>}> : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32> // expected-error {{[pad_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  %r = "stablehlo.pad"(%a0, %a1) <{edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x7xf32> // expected-error {{[pad_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  %r = "stablehlo.pad"(%a0, %a1) <{edge_padding_low = array<i64: -9, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32> // expected-error {{[pad_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  %r = "stablehlo.pad"(%a0, %a1) <{edge_padding_low = array<i64: 9223372036854775807, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32> // expected-error {{[pad_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4xf32>, %a2: tensor<2xi32>, %a3: tensor<2xi32>, %a4: tensor<2xi32>) {
  %r = "stablehlo.dynamic_pad"(%a0, %a1, %a2, %a3, %a4) : (tensor<4x6xf32>, tensor<4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32> // expected-error {{[dynamic_pad_i2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<i32>, %a2: tensor<2xi32>, %a3: tensor<2xi32>, %a4: tensor<2xi32>) {
  %r = "stablehlo.dynamic_pad"(%a0, %a1, %a2, %a3, %a4) : (tensor<4x6xf32>, tensor<i32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32> // expected-error {{[dynamic_pad_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>, %a2: tensor<2xi32>, %a3: tensor<2xi32>, %a4: tensor<3xi32>) {
  %r = "stablehlo.dynamic_pad"(%a0, %a1, %a2, %a3, %a4) : (tensor<4x6xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<3xi32>) -> tensor<?x?xf32> // expected-error {{[dynamic_pad_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>, %a2: tensor<2xi32>, %a3: tensor<2xi32>, %a4: tensor<2xi32>) {
  %r = "stablehlo.dynamic_pad"(%a0, %a1, %a2, %a3, %a4) : (tensor<4x6xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?xf32> // expected-error {{[dynamic_pad_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "stablehlo.concatenate"(%a0, %a1) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<4xi32>) -> tensor<8xf32> // expected-error {{[concatenate_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4x5xf32>) {
  %r = "stablehlo.concatenate"(%a0, %a1) <{dimension = 0 : i64}> : (tensor<4x6xf32>, tensor<4x5xf32>) -> tensor<8x6xf32> // expected-error {{[concatenate_c2]}}
  return }
// -----
func.func @f() {
  %r = "stablehlo.concatenate"() <{dimension = 0 : i64}> : () -> tensor<4xf32> // expected-error {{[concatenate_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "stablehlo.concatenate"(%a0) <{dimension = 1 : i64}> : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[concatenate_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "stablehlo.concatenate"(%a0) <{dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xi32> // expected-error {{[concatenate_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>) {
  %r = "stablehlo.concatenate"(%a0, %a1) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<7xf32> // expected-error {{[concatenate_c6]}}
  return }
