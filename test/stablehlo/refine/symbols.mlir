// The symbols of a program, in terms of which its parameters' dimensions are described.
// RUN: hlo-opt %s --split-input-file --stablehlo-refine-sizes='bound=all<=8' | FileCheck %s

// Two parameters of size b, one of 2*b + 1; the functions are inlined. Assertions that the description of
// the parameters implies are dropped; that b is at least 1 is checked at each call.
// CHECK-LABEL: module @equal
// CHECK-SAME: hlo.entry_sizes = {{\[\[}}"b", "3"], ["b"], ["2*b + 1"]]
// CHECK: func.func public @main(
// CHECK-SAME: tensor<?x3xf32, #stablehlo.bounds<8, ?>>
// CHECK-SAME: tensor<?xf32, #stablehlo.bounds<8>>
// CHECK-SAME: tensor<?xf32, #stablehlo.bounds<17>>
// CHECK: custom_call @shape_assertion({{.*}}backend_config = "{0} is not positive"
// CHECK-NOT: custom_call
// CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [0] {{.*}} -> tensor<?x3xf32, #stablehlo.bounds<8, ?>>
// CHECK: stablehlo.add
// CHECK-NOT: func.func
module @equal {
  func.func public @main(%x: tensor<?x3xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?x3xf32> {
    %b = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %by = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %bz = stablehlo.get_dimension_size %z, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %double = stablehlo.multiply %b, %two : tensor<i32>
    %odd = stablehlo.add %double, %one : tensor<i32>
    %positive = stablehlo.compare GE, %b, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%positive, %b) {api_version = 2 : i32, error_message = "{0} is not positive", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %same = stablehlo.compare EQ, %by, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%same, %by, %b) {api_version = 2 : i32, error_message = "{0} is not {1}", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %third = stablehlo.compare EQ, %bz, %odd, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%third, %bz) {api_version = 2 : i32, error_message = "{0} is odd", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %r = call @inner(%b, %x, %y) : (tensor<i32>, tensor<?x3xf32>, tensor<?xf32>) -> tensor<?x3xf32>
    return %r : tensor<?x3xf32>
  }
  func.func private @inner(%b: tensor<i32> {jax.global_constant = "b"}, %x: tensor<?x3xf32>, %y: tensor<?xf32>) -> tensor<?x3xf32> {
    %three = stablehlo.constant dense<3> : tensor<1xi32>
    %row = stablehlo.reshape %b : (tensor<i32>) -> tensor<1xi32>
    %shape = stablehlo.concatenate %row, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %wide = stablehlo.dynamic_broadcast_in_dim %y, %shape, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %r = stablehlo.add %x, %wide : tensor<?x3xf32>
    return %r : tensor<?x3xf32>
  }
}

// -----

// Without names each dimension is a symbol by itself.
// CHECK-LABEL: module @plain
// CHECK-SAME: hlo.entry_sizes = {{\[\[}}"arg0:0"]]
module @plain {
  func.func @main(%arg0: tensor<?xf32>) -> tensor<?xf32> {
    %0 = stablehlo.negate %arg0 : tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}
