// Ops with regions, in the form that is printed.
// RUN: grep -v '^//' %s > %t.expected
// RUN: hlo-opt %s | diff %t.expected -
// RUN: hlo-opt --mlir-print-op-generic %s | hlo-opt | diff %t.expected -
module {
  func.func @reduce(%arg0: tensor<4x6xf32>, %arg1: tensor<4x6xi32>, %arg2: tensor<f32>, %arg3: tensor<i32>) {
    %0 = stablehlo.reduce(%arg0 init: %arg2) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %arg2) across dimensions = [1] {some.name = 1 : i64} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
     reducer(%arg4: tensor<f32>, %arg5: tensor<f32>)  {
      %6 = stablehlo.subtract %arg4, %arg5 : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }
    %2:2 = stablehlo.reduce(%arg0 init: %arg2), (%arg1 init: %arg3) across dimensions = [1] : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
     reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>)  {
      %6 = stablehlo.maximum %arg4, %arg6 : tensor<f32>
      stablehlo.return %6, %arg5 : tensor<f32>, tensor<i32>
    }
    %3 = "stablehlo.reduce_window"(%arg0, %arg2) <{padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %6 = stablehlo.maximum %arg4, %arg5 : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x3xf32>
    %4:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<i32>, %arg7: tensor<i32>):
      %6 = stablehlo.compare LT, %arg4, %arg5, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    }) : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
    %5 = "stablehlo.map"(%arg0) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return
  }
  func.func @scatter(%arg0: tensor<4x6xf32>, %arg1: tensor<3x6xf32>, %arg2: tensor<3x1xi32>, %arg3: tensor<f32>, %arg4: tensor<4x3xf32>) {
    %0 = "stablehlo.scatter"(%arg0, %arg2, %arg1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      stablehlo.return %arg6 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
    %1 = "stablehlo.select_and_scatter"(%arg0, %arg4, %arg3) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %2 = stablehlo.compare GE, %arg5, %arg6 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }, {
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %2 = stablehlo.add %arg5, %arg6 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
    return
  }
  func.func @control(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<4xf32>, %arg3: !stablehlo.token) {
    %0 = "stablehlo.if"(%arg0) ({
      stablehlo.return %arg2 : tensor<4xf32>
    }, {
      %9 = stablehlo.negate %arg2 : tensor<4xf32>
      stablehlo.return %9 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    "stablehlo.case"(%arg1) ({
      stablehlo.return 
    }) : (tensor<i32>) -> ()
    %1:2 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %arg2) : tensor<i32>, tensor<4xf32> attributes {some.name = 1 : i64}
    cond {
      %9 = stablehlo.compare LT, %iterArg, %arg1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      stablehlo.return %iterArg, %iterArg_0 : tensor<i32>, tensor<4xf32>
    }
    stablehlo.while()
    cond {
      stablehlo.return %arg0 : tensor<i1>
    } do {
      stablehlo.return 
    }
    %2 = stablehlo.custom_call @target(%arg2, %arg3) {api_version = 4 : i32, backend_config = {mode = 1 : i32}, operand_layouts = [dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>, !stablehlo.token) -> tensor<4xf32>
    %3:2 = stablehlo.optimization_barrier %arg2, %arg3 : tensor<4xf32>, !stablehlo.token
    %4 = stablehlo.composite "my.relu" %arg2 {composite_attributes = {scale = 2 : i64}, decomposition = @relu, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %5 = stablehlo.tuple %arg2, %arg1 : tuple<tensor<4xf32>, tensor<i32>>
    %6 = stablehlo.get_tuple_element %5[1] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>
    %7 = stablehlo.create_token : !stablehlo.token
    %8 = stablehlo.after_all %7, %arg3 : !stablehlo.token
    return
  }
  func.func private @relu(tensor<4xf32>) -> tensor<4xf32>
}

