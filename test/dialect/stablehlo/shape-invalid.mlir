// Constraints of the specification, each broken once: shape.
// RUN: hlo-opt --verify-diagnostics --split-input-file %s

func.func @f() {
  %r = "stablehlo.constant"() <{value = dense<1> : tensor<2xi32>}> : () -> tensor<3xi32> // expected-error {{[constant_c1]}}
  return }
// -----
func.func @f() {
  %r = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4xi32> // expected-error {{[iota_c1]}}
  return }
// -----
func.func @f() {
  %r = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<?xi32> // expected-error {{[iota_o1]}}
  return }
// -----
func.func @f(%a0: tensor<2xi32>) {
  %r = "stablehlo.dynamic_iota"(%a0) <{iota_dimension = 2 : i64}> : (tensor<2xi32>) -> tensor<?x?xi32> // expected-error {{[dynamic_iota_c1]}}
  return }
// -----
func.func @f(%a0: tensor<2xi32>) {
  %r = "stablehlo.dynamic_iota"(%a0) <{iota_dimension = 0 : i64}> : (tensor<2xi32>) -> tensor<?xi32> // expected-error {{[dynamic_iota_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "stablehlo.bitcast_convert"(%a0) : (tensor<4xf32>) -> tensor<4x3xi8> // expected-error {{[bitcast_convert_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xcomplex<f32>>) {
  %r = "stablehlo.bitcast_convert"(%a0) : (tensor<4xcomplex<f32>>) -> tensor<4xf64> // expected-error {{[bitcast_convert_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.reshape"(%a0) : (tensor<4x6xf32>) -> tensor<?xf32> // expected-error {{[reshape_o1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.reshape"(%a0) : (tensor<4x6xf32>) -> tensor<24xi32> // expected-error {{[reshape_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.reshape"(%a0) : (tensor<4x6xf32>) -> tensor<23xf32> // expected-error {{[reshape_c2]}}
  return }
// -----
func.func @f(%a0: tensor<2x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  %r = "stablehlo.reshape"(%a0) : (tensor<2x4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<4x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>> // expected-error {{[reshape_c3]}}
  return }
// -----
func.func @f(%a0: tensor<?xf32>, %a1: tensor<2xi32>) {
  %r = "stablehlo.dynamic_reshape"(%a0, %a1) : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xi32> // expected-error {{[dynamic_reshape_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<2xi32>) {
  %r = "stablehlo.dynamic_reshape"(%a0, %a1) : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<4x5xf32> // expected-error {{[dynamic_reshape_c2]}}
  return }
// -----
func.func @f(%a0: tensor<?xf32>, %a1: tensor<2xi32>) {
  %r = "stablehlo.dynamic_reshape"(%a0, %a1) : (tensor<?xf32>, tensor<2xi32>) -> tensor<?xf32> // expected-error {{[dynamic_reshape_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "stablehlo.broadcast"(%a0) <{broadcast_sizes = array<i64: -1>}> : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[broadcast_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "stablehlo.broadcast"(%a0) <{broadcast_sizes = array<i64: 2>}> : (tensor<4xf32>) -> tensor<2x4xi32> // expected-error {{[broadcast_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "stablehlo.broadcast"(%a0) <{broadcast_sizes = array<i64: 2>}> : (tensor<4xf32>) -> tensor<3x4xf32> // expected-error {{[broadcast_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "stablehlo.broadcast_in_dim"(%a0) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>) -> tensor<?x4xf32> // expected-error {{[broadcast_in_dim_o1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "stablehlo.broadcast_in_dim"(%a0) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>) -> tensor<2x4xi32> // expected-error {{[broadcast_in_dim_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "stablehlo.broadcast_in_dim"(%a0) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4xf32>) -> tensor<2x4xf32> // expected-error {{[broadcast_in_dim_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "stablehlo.broadcast_in_dim"(%a0) <{broadcast_dimensions = array<i64: 2>}> : (tensor<4xf32>) -> tensor<2x4xf32> // expected-error {{[broadcast_in_dim_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x4xf32>) {
  %r = "stablehlo.broadcast_in_dim"(%a0) <{broadcast_dimensions = array<i64: 0, 0>}> : (tensor<4x4xf32>) -> tensor<4x4xf32> // expected-error {{[broadcast_in_dim_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "stablehlo.broadcast_in_dim"(%a0) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>) -> tensor<2x5xf32> // expected-error {{[broadcast_in_dim_c5]}}
  return }
// -----
func.func @f(%a0: tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  %r = "stablehlo.broadcast_in_dim"(%a0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>> // expected-error {{[broadcast_in_dim_c6]}}
  return }
// -----
func.func @f(%a0: tensor<?xf32>, %a1: tensor<2xi32>) {
  %r = "stablehlo.dynamic_broadcast_in_dim"(%a0, %a1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xi32> // expected-error {{[dynamic_broadcast_in_dim_c1]}}
  return }
// -----
func.func @f(%a0: tensor<?xf32>, %a1: tensor<2xi32>) {
  %r = "stablehlo.dynamic_broadcast_in_dim"(%a0, %a1) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32> // expected-error {{[dynamic_broadcast_in_dim_c2]}}
  return }
// -----
func.func @f(%a0: tensor<?xf32>, %a1: tensor<2xi32>) {
  %r = "stablehlo.dynamic_broadcast_in_dim"(%a0, %a1) <{broadcast_dimensions = array<i64: 2>}> : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32> // expected-error {{[dynamic_broadcast_in_dim_c3]}}
  return }
// -----
func.func @f(%a0: tensor<?x?xf32>, %a1: tensor<2xi32>) {
  %r = "stablehlo.dynamic_broadcast_in_dim"(%a0, %a1) <{broadcast_dimensions = array<i64: 1, 1>}> : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32> // expected-error {{[dynamic_broadcast_in_dim_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<2xi32>) {
  %r = "stablehlo.dynamic_broadcast_in_dim"(%a0, %a1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x5xf32> // expected-error {{[dynamic_broadcast_in_dim_c5]}}
  return }
// -----
func.func @f(%a0: tensor<?xf32>, %a1: tensor<2xi32>) {
  %r = "stablehlo.dynamic_broadcast_in_dim"(%a0, %a1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?x?xf32> // expected-error {{[dynamic_broadcast_in_dim_c7]}}
  return }
// -----
func.func @f(%a0: tensor<?xf32>, %a1: tensor<2xi32>) {
  %r = "stablehlo.dynamic_broadcast_in_dim"(%a0, %a1) <{broadcast_dimensions = array<i64: 1>, known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>}> : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32> // expected-error {{[dynamic_broadcast_in_dim_c8]}}
  return }
// -----
func.func @f(%a0: tensor<?xf32>, %a1: tensor<2xi32>) {
  %r = "stablehlo.dynamic_broadcast_in_dim"(%a0, %a1) <{broadcast_dimensions = array<i64: 1>, known_expanding_dimensions = array<i64: 1>}> : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32> // expected-error {{[dynamic_broadcast_in_dim_c9]}}
  return }
// -----
func.func @f(%a0: tensor<?xf32>, %a1: tensor<2xi32>) {
  %r = "stablehlo.dynamic_broadcast_in_dim"(%a0, %a1) <{broadcast_dimensions = array<i64: 1>, known_nonexpanding_dimensions = array<i64: 1>}> : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32> // expected-error {{[dynamic_broadcast_in_dim_c10]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "stablehlo.reverse"(%a0) <{dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[reverse_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.reverse"(%a0) <{dimensions = array<i64: 0, 0>}> : (tensor<4x6xf32>) -> tensor<4x6xf32> // expected-error {{[reverse_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.reverse"(%a0) <{dimensions = array<i64: 2>}> : (tensor<4x6xf32>) -> tensor<4x6xf32> // expected-error {{[reverse_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.transpose"(%a0) <{permutation = array<i64: 1, 0>}> : (tensor<4x6xf32>) -> tensor<6x4xi32> // expected-error {{[transpose_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.transpose"(%a0) <{permutation = array<i64: 1, 1>}> : (tensor<4x6xf32>) -> tensor<6x4xf32> // expected-error {{[transpose_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.transpose"(%a0) <{permutation = array<i64: 1, 0>}> : (tensor<4x6xf32>) -> tensor<4x6xf32> // expected-error {{[transpose_c3]}}
  return }
// -----
func.func @f(%a0: tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {
  %r = "stablehlo.transpose"(%a0) <{permutation = array<i64: 1, 0>}> : (tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {1.0, 2.0}>> // expected-error {{[transpose_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.get_dimension_size"(%a0) <{dimension = 2 : i64}> : (tensor<4x6xf32>) -> tensor<i32> // expected-error {{[get_dimension_size_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.get_dimension_size"(%a0) <{dimension = 0 : i64}> : (tensor<4x6xf32>) -> tensor<i64> // expected-error {{[get_dimension_size_o1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<i64>) {
  %r = "stablehlo.set_dimension_size"(%a0, %a1) <{dimension = 0 : i64}> : (tensor<4x6xf32>, tensor<i64>) -> tensor<4x6xf32> // expected-error {{[set_dimension_size_i2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<i32>) {
  %r = "stablehlo.set_dimension_size"(%a0, %a1) <{dimension = -1 : i64}> : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x6xf32> // expected-error {{[set_dimension_size_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<i32>) {
  %r = "stablehlo.set_dimension_size"(%a0, %a1) <{dimension = 0 : i64}> : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x6xi32> // expected-error {{[set_dimension_size_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<i32>) {
  %r = "stablehlo.set_dimension_size"(%a0, %a1) <{dimension = 0 : i64}> : (tensor<4x6xf32>, tensor<i32>) -> tensor<?x7xf32> // expected-error {{[set_dimension_size_c3]}}
  return }
