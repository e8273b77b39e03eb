// Constraints of the specification, each broken once: scatter.
// RUN: hlo-opt --verify-diagnostics --split-input-file %s

func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xf32>, %a2: tensor<3x6xf32>) {
  // expected-error@below {{[scatter_i2]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x1xf32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4x7xf32>, %a2: tensor<3x1xi32>, %a3: tensor<3x6xf32>, %a4: tensor<3x6xf32>) {
  // expected-error@below {{[scatter_c1]}}
  %r:2 = "stablehlo.scatter"(%a0, %a1, %a2, %a3, %a4) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>, %b2: tensor<f32>, %b3: tensor<f32>):
    stablehlo.return %b0, %b1 : tensor<f32>, tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x7xf32>, tensor<3x1xi32>, tensor<3x6xf32>, tensor<3x6xf32>) -> (tensor<4x6xf32>, tensor<4x7xf32>)
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3x6xf32>) {
  // expected-error@below {{[scatter_c2]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4x6xf32>, %a2: tensor<3x1xi32>, %a3: tensor<3x6xf32>, %a4: tensor<4x6xf32>) {
  // expected-error@below {{[scatter_c3]}}
  %r:2 = "stablehlo.scatter"(%a0, %a1, %a2, %a3, %a4) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>, %b2: tensor<f32>, %b3: tensor<f32>):
    stablehlo.return %b0, %b1 : tensor<f32>, tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3x7xf32>) {
  // expected-error@below {{[scatter_c4]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x7xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3x6xf32>) {
  // expected-error@below {{[scatter_c5]}}
  %r:2 = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3x6xi32>) {
  // expected-error@below {{[scatter_c6]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xi32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3x6x2xf32>) {
  // expected-error@below {{[scatter_c7]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6x2xf32>, tensor<3x1xi32>, tensor<3x6x2xf32>) -> tensor<4x6x2xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3x6xf32>) {
  // expected-error@below {{[scatter_c8]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3x6xf32>) {
  // expected-error@below {{[scatter_c9]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6x2xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6x2xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3x2xf32>) {
  // expected-error@below {{[scatter_c10]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1, 0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6x2xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<4x6x2xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3x6xf32>) {
  // expected-error@below {{[scatter_c11]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [2], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<4x6x1xi32>, %a2: tensor<4x6x2xf32>) {
  // expected-error@below {{[scatter_c12]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [], input_batching_dims = [1, 0], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6x2xf32>, tensor<4x6x1xi32>, tensor<4x6x2xf32>) -> tensor<4x6x2xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3x6xf32>) {
  // expected-error@below {{[scatter_c13]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [], input_batching_dims = [2], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<4x1xi32>, %a2: tensor<4x2xf32>) {
  // expected-error@below {{[scatter_c14]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 0], scatter_dims_to_operand_dims = [2], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6x2xf32>, tensor<4x1xi32>, tensor<4x2xf32>) -> tensor<4x6x2xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<4x1xi32>, %a2: tensor<4x2xf32>) {
  // expected-error@below {{[scatter_c15]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [2], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6x2xf32>, tensor<4x1xi32>, tensor<4x2xf32>) -> tensor<4x6x2xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<4x1xi32>, %a2: tensor<4x2xf32>) {
  // expected-error@below {{[scatter_c16]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6x2xf32>, tensor<4x1xi32>, tensor<4x2xf32>) -> tensor<4x6x2xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<4x1xi32>, %a2: tensor<4x2xf32>) {
  // expected-error@below {{[scatter_c17]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6x2xf32>, tensor<4x1xi32>, tensor<4x2xf32>) -> tensor<4x6x2xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<5x1xi32>, %a2: tensor<5x2xf32>) {
  // expected-error@below {{[scatter_c18]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6x2xf32>, tensor<5x1xi32>, tensor<5x2xf32>) -> tensor<4x6x2xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3x6xf32>) {
  // expected-error@below {{[scatter_c19]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6x2xf32>, %a1: tensor<4x1xi32>, %a2: tensor<4x2xf32>) {
  // expected-error@below {{[scatter_c20]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6x2xf32>, tensor<4x1xi32>, tensor<4x2xf32>) -> tensor<4x6x2xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3x6xf32>) {
  // expected-error@below {{[scatter_c21]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [2], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3x6xf32>) {
  // expected-error@below {{[scatter_c22]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 3>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3x6xf32>) {
  // expected-error@below {{[scatter_c23]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3x6xf32>) {
  // expected-error@below {{[scatter_c24]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x7xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<3x1xi32>, %a2: tensor<3x6xf32>) {
  // expected-error@below {{[scatter_c25]}}
  %r = "stablehlo.scatter"(%a0, %a1, %a2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf64>
  return }
// -----
func.func @f() {
  // expected-error@below {{[sort_c1]}}
  "stablehlo.sort"() <{dimension = 1 : i64}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.compare LT, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : () -> ()
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[sort_c2]}}
  %r = "stablehlo.sort"(%a0) <{dimension = 1 : i64}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.compare LT, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x6xf32>) -> tensor<4x6xi32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4xf32>) {
  // expected-error@below {{[sort_c3]}}
  %r:2 = "stablehlo.sort"(%a0, %a1) <{dimension = 0 : i64}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>, %b2: tensor<f32>, %b3: tensor<f32>):
    %c = stablehlo.compare LT, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x6xf32>, tensor<4xf32>) -> (tensor<4x6xf32>, tensor<4xf32>)
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[sort_c4]}}
  %r = "stablehlo.sort"(%a0) <{dimension = 2 : i64}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.compare LT, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[sort_c4]}}
  %r = "stablehlo.sort"(%a0) <{dimension = -3 : i64}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.compare LT, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[sort_c5]}}
  %r = "stablehlo.sort"(%a0) <{dimension = 1 : i64}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[map_c1]}}
  %r = "stablehlo.map"(%a0) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%b0: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x5xf32>
  return }
// -----
func.func @f() {
  // expected-error@below {{[map_c2]}}
  %r = "stablehlo.map"() <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%b0: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : () -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[map_c3]}}
  %r = "stablehlo.map"(%a0) <{dimensions = array<i64: 1, 0>}> ({
  ^bb0(%b0: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[map_c4]}}
  %r = "stablehlo.map"(%a0) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%b0: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xi32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[map_c4]}}
  %r = "stablehlo.map"(%a0) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return }
