// Ops of chlo, in the form that is printed.
// RUN: grep -v '^//' %s > %t.expected
// RUN: hlo-opt %s | diff %t.expected -
// RUN: hlo-opt --mlir-print-op-generic %s | hlo-opt | diff %t.expected -
module {
  func.func @functions(%arg0: tensor<4xf32>, %arg1: tensor<4xcomplex<f64>>, %arg2: tensor<4xi32>, %arg3: tensor<*xf32>) {
    %0 = chlo.acos %arg0 : tensor<4xf32> -> tensor<4xf32>
    %1 = chlo.acosh %arg1 : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %2 = chlo.asin %arg0 : tensor<4xf32> -> tensor<4xf32>
    %3 = chlo.asinh %arg0 : tensor<4xf32> -> tensor<4xf32>
    %4 = chlo.atan %arg0 : tensor<4xf32> -> tensor<4xf32>
    %5 = chlo.atanh %arg3 : tensor<*xf32> -> tensor<*xf32>
    %6 = chlo.bessel_i1e %arg0 : tensor<4xf32> -> tensor<4xf32>
    %7 = chlo.conj %arg1 : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %8 = chlo.cosh %arg0 : tensor<4xf32> -> tensor<4xf32>
    %9 = chlo.digamma %arg0 : tensor<4xf32> -> tensor<4xf32>
    %10 = chlo.erf %arg0 : tensor<4xf32> -> tensor<4xf32>
    %11 = chlo.erf_inv %arg0 : tensor<4xf32> -> tensor<4xf32>
    %12 = chlo.erfc %arg0 : tensor<4xf32> -> tensor<4xf32>
    %13 = chlo.is_inf %arg0 : tensor<4xf32> -> tensor<4xi1>
    %14 = chlo.is_neg_inf %arg0 : tensor<4xf32> -> tensor<4xi1>
    %15 = chlo.is_pos_inf %arg0 : tensor<4xf32> -> tensor<4xi1>
    %16 = chlo.lgamma %arg0 : tensor<4xf32> -> tensor<4xf32>
    %17 = chlo.mulhi %arg2, %arg2 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
    %18 = chlo.next_after %arg0, %arg0 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %19 = chlo.polygamma %arg0, %arg0 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %20 = chlo.sinh %arg0 : tensor<4xf32> -> tensor<4xf32>
    %21 = chlo.square %arg0 : tensor<4xf32> -> tensor<4xf32>
    %22 = chlo.tan %arg0 : tensor<4xf32> -> tensor<4xf32>
    %23 = chlo.zeta %arg0, %arg0 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %24 = chlo.constant dense<1> : tensor<4xi32>
    %25 = "chlo.constant_like"(%arg0) <{value = 2.000000e+00 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
    %26 = chlo._asin_acos_kernel %arg1 : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    return
  }
  func.func @broadcasts(%arg0: tensor<4xf32>, %arg1: tensor<3x4xf32>, %arg2: tensor<4x3xf32>, %arg3: tensor<4xi1>) {
    %0 = chlo.broadcast_add %arg0, %arg1 : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %1 = chlo.broadcast_multiply %arg0, %arg2 {broadcast_dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %2 = chlo.broadcast_compare %arg0, %arg1 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
    %3 = chlo.broadcast_select %arg3, %arg0, %arg1 : (tensor<4xi1>, tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %4 = chlo.broadcast_complex %arg0, %arg1 : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xcomplex<f32>>
    return
  }
  func.func @others(%arg0: tensor<3x8xf32>, %arg1: tensor<11x5xf32>, %arg2: tensor<3x5x7xf32>, %arg3: tensor<3xi64>, %arg4: tensor<8xf32>) {
    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<3x8xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
    %0 = "chlo.ragged_dot"(%arg1, %arg2, %arg3) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGH>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
    %1:2 = chlo.scan(%arg0) inits (%arg4) dimension=0  attributes {is_reverse = true} {
    ^bb0(%input: tensor<8xf32>, %carry: tensor<8xf32>):
      %2 = stablehlo.add %input, %carry : tensor<8xf32>
      stablehlo.return %2, %2 : tensor<8xf32>, tensor<8xf32>
    } : (tensor<3x8xf32>, tensor<8xf32>) -> (tensor<3x8xf32>, tensor<8xf32>)
    return
  }
}

