// Sizes that cannot be bounded are errors that say why.
// RUN: hlo-opt %s --split-input-file --verify-diagnostics --stablehlo-refine-sizes='bound=arg0:0<=8'

module {
  // expected-error@+1 {{the program has sizes that are given at run time: arg0:0, arg0:1; bounds are missing: --bound=arg0:1<=N, or --bound=all<=N}}
  func.func @main(%arg0: tensor<?x?xf32>) -> tensor<?x?xf32> {
    return %arg0 : tensor<?x?xf32>
  }
}

// -----

module {
  // expected-error@+1 {{--bound=arg0:0<=8: the program has no size 'arg0:0'; it has: arg1:0}}
  func.func @main(%arg0: tensor<f32>, %arg1: tensor<?xf32>) -> tensor<?xf32> {
    return %arg1 : tensor<?xf32>
  }
}

// -----

// expected-error@+1 {{--bound=arg0:0<=8: the program has no sizes that are given at run time}}
module {
  func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    return %arg0 : tensor<2xf32>
  }
}

// -----

// A size that elements of an array decide.
module {
  func.func @main(%arg0: tensor<?xf32>, %arg1: tensor<i32>) -> tensor<?xi32> {
    %shape = stablehlo.reshape %arg1 : (tensor<i32>) -> tensor<1xi32>
    // expected-error@+1 {{dynamic_iota: the size of dimension 0 depends on elements of arrays, not on sizes of parameters alone}}
    %0 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    return %0 : tensor<?xi32>
  }
}

// -----

// The bound is below what the program asserts.
module {
  // expected-error@+2 {{size 'arg0:0' is bounded by 8, but the program wants at least 9}}
  // expected-note@+1 {{at least nine}}
  func.func @main(%arg0: tensor<?xf32>) -> tensor<?xf32> {
    %n = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %nine = stablehlo.constant dense<9> : tensor<i32>
    %holds = stablehlo.compare GE, %n, %nine, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%holds) {api_version = 2 : i32, error_message = "at least nine", has_side_effect = true} : (tensor<i1>) -> ()
    return %arg0 : tensor<?xf32>
  }
}

// -----

module {
  func.func @main(%arg0: tensor<?xf32>) -> tensor<?xf32> {
    %0 = call @again(%arg0) : (tensor<?xf32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
  // expected-error@+1 {{function 'again' calls itself}}
  func.func private @again(%arg0: tensor<?xf32>) -> tensor<?xf32> {
    %0 = call @again(%arg0) : (tensor<?xf32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}

// -----

// Calls whose operands do not fit them.
module {
  func.func @main(%arg0: tensor<?xf32>, %zero: tensor<f32>) -> tensor<?xf32> {
    %one = stablehlo.constant dense<1> : tensor<1xi32>
    %none = stablehlo.constant dense<> : tensor<0xi32>
    // expected-error@+1 {{dynamic_reduce_window: its lists have other lengths than the array's rank}}
    %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%arg0, %zero, %one, %none, %one, %one, %one) {called_computations = [@sum]} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<0xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
  func.func private @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %a, %b : tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

module {
  func.func @main(%arg0: tensor<?xf32>, %x: tensor<f32>) -> tensor<?xf32> {
    %k = stablehlo.constant dense<1> : tensor<i32>
    // expected-error@+1 {{dynamic_top_k: expected an array and a number}}
    %0:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) : (tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
    return %arg0 : tensor<?xf32>
  }
}

// -----

module {
  func.func @main(%arg0: tensor<?xf32>) -> tensor<?xf32> {
    %none = stablehlo.constant dense<> : tensor<0xi1>
    // expected-error@+1 {{shape_assertion: expected a predicate}}
    stablehlo.custom_call @shape_assertion(%none) {api_version = 2 : i32, error_message = "never", has_side_effect = true} : (tensor<0xi1>) -> ()
    return %arg0 : tensor<?xf32>
  }
}
