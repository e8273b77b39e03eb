// Constraints of the specification, each broken once: gather.
// RUN: hlo-opt --verify-diagnostics --split-input-file %s

func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xf32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x1xf32>) -> tensor<3x6xf32> // expected-error {{[gather_i2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32> // expected-error {{[gather_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 3>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32> // expected-error {{[gather_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32> // expected-error {{[gather_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<3x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6, 2>}> : (tensor<4x6x2xf32>, tensor<3x1xi32>) -> tensor<3x6x2xf32> // expected-error {{[gather_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32> // expected-error {{[gather_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<3x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6, 2>}> : (tensor<4x6x2xf32>, tensor<3x1xi32>) -> tensor<3x6xf32> // expected-error {{[gather_c6]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<3x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1, 0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<4x6x2xf32>, tensor<3x1xi32>) -> tensor<3x6xf32> // expected-error {{[gather_c7]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32> // expected-error {{[gather_c8]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 6>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32> // expected-error {{[gather_c9]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<4x6x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [], operand_batching_dims = [1, 0], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<4x6x2xf32>, tensor<4x6x1xi32>) -> tensor<4x6x2xf32> // expected-error {{[gather_c10]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [], operand_batching_dims = [2], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32> // expected-error {{[gather_c11]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<4x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1, 2>}> : (tensor<4x6x2xf32>, tensor<4x1xi32>) -> tensor<4x2xf32> // expected-error {{[gather_c12]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<4x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 0], start_index_map = [2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<4x6x2xf32>, tensor<4x1xi32>) -> tensor<4x2xf32> // expected-error {{[gather_c13]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<4x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<4x6x2xf32>, tensor<4x1xi32>) -> tensor<4x2xf32> // expected-error {{[gather_c14]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<4x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<4x6x2xf32>, tensor<4x1xi32>) -> tensor<4x2xf32> // expected-error {{[gather_c15]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<4x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<4x6x2xf32>, tensor<4x1xi32>) -> tensor<4x2xf32> // expected-error {{[gather_c16]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<5x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<4x6x2xf32>, tensor<5x1xi32>) -> tensor<5x2xf32> // expected-error {{[gather_c17]}}
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<4x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<4x6x2xf32>, tensor<4x1xi32>) -> tensor<4x2xf32> // expected-error {{[gather_c18]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32> // expected-error {{[gather_c19]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32> // expected-error {{[gather_c20]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 7>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x7xf32> // expected-error {{[gather_c21]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x5xf32> // expected-error {{[gather_c22]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xi32> // expected-error {{[gather_c23]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<?xi32>) {
  %r = "stablehlo.dynamic_gather"(%a0, %a1, %a2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<?xi32>) -> tensor<3x6xf32> // expected-error {{[dynamic_gather_i3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<2xi32>) {
  %r = "stablehlo.dynamic_gather"(%a0, %a1, %a2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x6xf32> // expected-error {{[dynamic_gather_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<2xi32>) {
  %r = "stablehlo.dynamic_gather"(%a0, %a1, %a2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 3>}> : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x6xf32> // expected-error {{[dynamic_gather_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<2xi32>) {
  %r = "stablehlo.dynamic_gather"(%a0, %a1, %a2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 1>}> : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x6xf32> // expected-error {{[dynamic_gather_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<2xi32>) {
  %r = "stablehlo.dynamic_gather"(%a0, %a1, %a2) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x6xf32> // expected-error {{[dynamic_gather_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<2xi32>) {
  %r = "stablehlo.dynamic_gather"(%a0, %a1, %a2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [2], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x6xf32> // expected-error {{[dynamic_gather_c7]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<2xi32>) {
  %r = "stablehlo.dynamic_gather"(%a0, %a1, %a2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [2], index_vector_dim = 1>}> : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x6xf32> // expected-error {{[dynamic_gather_c10]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3xi32>) {
  %r = "stablehlo.dynamic_gather"(%a0, %a1, %a2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<3x6xf32> // expected-error {{[dynamic_gather_c11]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<2xi32>) {
  %r = "stablehlo.dynamic_gather"(%a0, %a1, %a2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<4x?xf32> // expected-error {{[dynamic_gather_c13]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<2xi32>) {
  %r = "stablehlo.dynamic_gather"(%a0, %a1, %a2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x?xi32> // expected-error {{[dynamic_gather_c14]}}
  return }
