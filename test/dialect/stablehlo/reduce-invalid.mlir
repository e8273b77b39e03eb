// Constraints of the specification, each broken once: reduce.
// RUN: hlo-opt --verify-diagnostics --split-input-file %s

func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4xf32>) {
  // expected-error@below {{[reduce_i2]}}
  %r = "stablehlo.reduce"(%a0, %a1) <{dimensions = array<i64: 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4xf32>) -> tensor<4xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4xf32>, %a2: tensor<f32>, %a3: tensor<f32>) {
  // expected-error@below {{[reduce_c1]}}
  %r:2 = "stablehlo.reduce"(%a0, %a1, %a2, %a3) <{dimensions = array<i64: 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>, %b2: tensor<f32>, %b3: tensor<f32>):
    stablehlo.return %b0, %b1 : tensor<f32>, tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<i32>) {
  // expected-error@below {{[reduce_c2]}}
  %r = "stablehlo.reduce"(%a0, %a1) <{dimensions = array<i64: 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<i32>) -> tensor<4xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_c3]}}
  %r:2 = "stablehlo.reduce"(%a0, %a1) <{dimensions = array<i64: 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
  return }
// -----
func.func @f() {
  // expected-error@below {{[reduce_c3]}}
  "stablehlo.reduce"() <{dimensions = array<i64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : () -> ()
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_c4]}}
  %r = "stablehlo.reduce"(%a0, %a1) <{dimensions = array<i64: 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_c5]}}
  %r = "stablehlo.reduce"(%a0, %a1) <{dimensions = array<i64: 1, 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_c6]}}
  %r = "stablehlo.reduce"(%a0, %a1) <{dimensions = array<i64: 1>}> ({
  ^bb0(%b0: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_c6]}}
  %r = "stablehlo.reduce"(%a0, %a1) <{dimensions = array<i64: 1>}> ({
  ^bb0(%b0: tensor<i32>, %b1: tensor<i32>):
    stablehlo.return %b0 : tensor<i32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xi32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_c6]}}
  %r = "stablehlo.reduce"(%a0, %a1) <{dimensions = array<i64: 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return 
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_c7]}}
  %r = "stablehlo.reduce"(%a0, %a1) <{dimensions = array<i64: 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<5xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_c8]}}
  %r = "stablehlo.reduce"(%a0, %a1) <{dimensions = array<i64: 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf64>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4xf32>) {
  // expected-error@below {{[reduce_window_i2]}}
  %r = "stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4xf32>) -> tensor<4x5xf32>
  return }
// -----
func.func @f() {
  // expected-error@below {{[reduce_window_c1]}}
  "stablehlo.reduce_window"() <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : () -> ()
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4xf32>, %a2: tensor<f32>, %a3: tensor<f32>) {
  // expected-error@below {{[reduce_window_c2]}}
  %r:2 = "stablehlo.reduce_window"(%a0, %a1, %a2, %a3) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>, %b2: tensor<f32>, %b3: tensor<f32>):
    stablehlo.return %b0, %b1 : tensor<f32>, tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4x5xf32>, tensor<4x5xf32>)
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<i32>) {
  // expected-error@below {{[reduce_window_c3]}}
  %r = "stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x5xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_window_c4]}}
  %r = "stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_window_c5]}}
  %r = "stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 1, 0>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_window_c6]}}
  %r = "stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_window_c7]}}
  %r = "stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 0>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_window_c8]}}
  %r = "stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 1, 2>, base_dilations = array<i64: 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_window_c9]}}
  %r = "stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 1, 2>, base_dilations = array<i64: 1, 0>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_window_c10]}}
  %r = "stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 1, 2>, window_dilations = array<i64: 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_window_c11]}}
  %r = "stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 1, 2>, window_dilations = array<i64: 1, 0>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_window_c12]}}
  %r = "stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 1, 2>, padding = dense<0> : tensor<3x2xi64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_window_c13]}}
  %r = "stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4x6xf32>, %a2: tensor<f32>, %a3: tensor<f32>) {
  // expected-error@below {{[reduce_window_c14]}}
  %r:2 = "stablehlo.reduce_window"(%a0, %a1, %a2, %a3) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>, %b2: tensor<f32>, %b3: tensor<f32>):
    stablehlo.return %b0, %b1 : tensor<f32>, tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> (tensor<4x5xf32>, tensor<4x6xf32>)
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_window_c15]}}
  %r = "stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<f32>) {
  // expected-error@below {{[reduce_window_c16]}}
  %r = "stablehlo.reduce_window"(%a0, %a1) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x5xf64>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4x3xf32>, %a2: tensor<4xf32>) {
  // expected-error@below {{[select_and_scatter_i3]}}
  %r = "stablehlo.select_and_scatter"(%a0, %a1, %a2) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.compare GE, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4x3xi32>, %a2: tensor<f32>) {
  // expected-error@below {{[select_and_scatter_c1]}}
  %r = "stablehlo.select_and_scatter"(%a0, %a1, %a2) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.compare GE, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x3xi32>, tensor<f32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4x5xf32>, %a2: tensor<f32>) {
  // expected-error@below {{[select_and_scatter_c2]}}
  %r = "stablehlo.select_and_scatter"(%a0, %a1, %a2) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.compare GE, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x5xf32>, tensor<f32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4x3xf32>, %a2: tensor<f32>) {
  // expected-error@below {{[select_and_scatter_c4]}}
  %r = "stablehlo.select_and_scatter"(%a0, %a1, %a2) <{window_dimensions = array<i64: 1>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.compare GE, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4x3xf32>, %a2: tensor<f32>) {
  // expected-error@below {{[select_and_scatter_c5]}}
  %r = "stablehlo.select_and_scatter"(%a0, %a1, %a2) <{window_dimensions = array<i64: 1, 0>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.compare GE, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4x3xf32>, %a2: tensor<f32>) {
  // expected-error@below {{[select_and_scatter_c6]}}
  %r = "stablehlo.select_and_scatter"(%a0, %a1, %a2) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.compare GE, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4x3xf32>, %a2: tensor<f32>) {
  // expected-error@below {{[select_and_scatter_c7]}}
  %r = "stablehlo.select_and_scatter"(%a0, %a1, %a2) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 0>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.compare GE, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4x3xf32>, %a2: tensor<f32>) {
  // expected-error@below {{[select_and_scatter_c8]}}
  %r = "stablehlo.select_and_scatter"(%a0, %a1, %a2) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, padding = dense<0> : tensor<3x2xi64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.compare GE, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4x3xf32>, %a2: tensor<f32>) {
  // expected-error@below {{[select_and_scatter_c9]}}
  %r = "stablehlo.select_and_scatter"(%a0, %a1, %a2) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.compare GE, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %b0 : tensor<f32>
  }, {
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4x3xf32>, %a2: tensor<f32>) {
  // expected-error@below {{[select_and_scatter_c10]}}
  %r = "stablehlo.select_and_scatter"(%a0, %a1, %a2) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.compare GE, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return
  }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4x3xf32>, %a2: tensor<f32>) {
  // expected-error@below {{[select_and_scatter_c11]}}
  %r = "stablehlo.select_and_scatter"(%a0, %a1, %a2) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.compare GE, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x7xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<4x3xf32>, %a2: tensor<f32>) {
  // expected-error@below {{[select_and_scatter_c12]}}
  %r = "stablehlo.select_and_scatter"(%a0, %a1, %a2) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    %c = stablehlo.compare GE, %b0, %b1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf64>
  return }
