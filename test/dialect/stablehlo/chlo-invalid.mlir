// Each check of chlo once.
// RUN: hlo-opt --verify-diagnostics --split-input-file %s

func.func @f(%a0: tensor<4xi32>) {
  %r = "chlo.acos"(%a0) : (tensor<4xi32>) -> (tensor<4xi32>) // expected-error {{[acos_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.acos"(%a0) : (tensor<4xf32>) -> (tensor<5xf32>) // expected-error {{[acos_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi32>) {
  %r = "chlo.acosh"(%a0) : (tensor<4xi32>) -> (tensor<4xi32>) // expected-error {{[acosh_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.acosh"(%a0) : (tensor<4xf32>) -> (tensor<5xf32>) // expected-error {{[acosh_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi32>) {
  %r = "chlo.asin"(%a0) : (tensor<4xi32>) -> (tensor<4xi32>) // expected-error {{[asin_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.asin"(%a0) : (tensor<4xf32>) -> (tensor<5xf32>) // expected-error {{[asin_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi32>) {
  %r = "chlo.asinh"(%a0) : (tensor<4xi32>) -> (tensor<4xi32>) // expected-error {{[asinh_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.asinh"(%a0) : (tensor<4xf32>) -> (tensor<5xf32>) // expected-error {{[asinh_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi32>) {
  %r = "chlo.atan"(%a0) : (tensor<4xi32>) -> (tensor<4xi32>) // expected-error {{[atan_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.atan"(%a0) : (tensor<4xf32>) -> (tensor<5xf32>) // expected-error {{[atan_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi32>) {
  %r = "chlo.atanh"(%a0) : (tensor<4xi32>) -> (tensor<4xi32>) // expected-error {{[atanh_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.atanh"(%a0) : (tensor<4xf32>) -> (tensor<5xf32>) // expected-error {{[atanh_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi32>) {
  %r = "chlo.bessel_i1e"(%a0) : (tensor<4xi32>) -> (tensor<4xi32>) // expected-error {{[bessel_i1e_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.bessel_i1e"(%a0) : (tensor<4xf32>) -> (tensor<5xf32>) // expected-error {{[bessel_i1e_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi32>) {
  %r = "chlo.conj"(%a0) : (tensor<4xi32>) -> (tensor<4xi32>) // expected-error {{[conj_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.conj"(%a0) : (tensor<4xf32>) -> (tensor<5xf32>) // expected-error {{[conj_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi32>) {
  %r = "chlo.cosh"(%a0) : (tensor<4xi32>) -> (tensor<4xi32>) // expected-error {{[cosh_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.cosh"(%a0) : (tensor<4xf32>) -> (tensor<5xf32>) // expected-error {{[cosh_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi32>) {
  %r = "chlo.sinh"(%a0) : (tensor<4xi32>) -> (tensor<4xi32>) // expected-error {{[sinh_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.sinh"(%a0) : (tensor<4xf32>) -> (tensor<5xf32>) // expected-error {{[sinh_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi32>) {
  %r = "chlo.square"(%a0) : (tensor<4xi32>) -> (tensor<4xi32>) // expected-error {{[square_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.square"(%a0) : (tensor<4xf32>) -> (tensor<5xf32>) // expected-error {{[square_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi32>) {
  %r = "chlo.tan"(%a0) : (tensor<4xi32>) -> (tensor<4xi32>) // expected-error {{[tan_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.tan"(%a0) : (tensor<4xf32>) -> (tensor<5xf32>) // expected-error {{[tan_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xcomplex<f32>>) {
  %r = "chlo.digamma"(%a0) : (tensor<4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>) // expected-error {{[digamma_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.digamma"(%a0) : (tensor<4xf32>) -> (tensor<4xf64>) // expected-error {{[digamma_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xcomplex<f32>>) {
  %r = "chlo.erf"(%a0) : (tensor<4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>) // expected-error {{[erf_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.erf"(%a0) : (tensor<4xf32>) -> (tensor<4xf64>) // expected-error {{[erf_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xcomplex<f32>>) {
  %r = "chlo.erf_inv"(%a0) : (tensor<4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>) // expected-error {{[erf_inv_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.erf_inv"(%a0) : (tensor<4xf32>) -> (tensor<4xf64>) // expected-error {{[erf_inv_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xcomplex<f32>>) {
  %r = "chlo.erfc"(%a0) : (tensor<4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>) // expected-error {{[erfc_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.erfc"(%a0) : (tensor<4xf32>) -> (tensor<4xf64>) // expected-error {{[erfc_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xcomplex<f32>>) {
  %r = "chlo.lgamma"(%a0) : (tensor<4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>) // expected-error {{[lgamma_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.lgamma"(%a0) : (tensor<4xf32>) -> (tensor<4xf64>) // expected-error {{[lgamma_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.next_after"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[next_after_i2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.next_after"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[next_after_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.polygamma"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[polygamma_i2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.polygamma"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[polygamma_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.zeta"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[zeta_i2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.zeta"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[zeta_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi32>) {
  %r = "chlo.is_inf"(%a0) : (tensor<4xi32>) -> (tensor<4xi1>) // expected-error {{[is_inf_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.is_inf"(%a0) : (tensor<4xf32>) -> (tensor<4xf32>) // expected-error {{[is_inf_o1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.is_inf"(%a0) : (tensor<4xf32>) -> (tensor<5xi1>) // expected-error {{[is_inf_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi32>) {
  %r = "chlo.is_neg_inf"(%a0) : (tensor<4xi32>) -> (tensor<4xi1>) // expected-error {{[is_neg_inf_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.is_neg_inf"(%a0) : (tensor<4xf32>) -> (tensor<4xf32>) // expected-error {{[is_neg_inf_o1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.is_neg_inf"(%a0) : (tensor<4xf32>) -> (tensor<5xi1>) // expected-error {{[is_neg_inf_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi32>) {
  %r = "chlo.is_pos_inf"(%a0) : (tensor<4xi32>) -> (tensor<4xi1>) // expected-error {{[is_pos_inf_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.is_pos_inf"(%a0) : (tensor<4xf32>) -> (tensor<4xf32>) // expected-error {{[is_pos_inf_o1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.is_pos_inf"(%a0) : (tensor<4xf32>) -> (tensor<5xi1>) // expected-error {{[is_pos_inf_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi1>, %a1: tensor<4xi32>) {
  %r = "chlo.mulhi"(%a0, %a1) : (tensor<4xi1>, tensor<4xi32>) -> (tensor<4xi32>) // expected-error {{[mulhi_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo._asin_acos_kernel"(%a0) : (tensor<4xf32>) -> (tensor<4xf32>) // expected-error {{[_asin_acos_kernel_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.broadcast_add"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_add_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_add"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[broadcast_add_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.broadcast_atan2"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_atan2_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_atan2"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[broadcast_atan2_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.broadcast_divide"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_divide_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_divide"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[broadcast_divide_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.broadcast_maximum"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_maximum_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_maximum"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[broadcast_maximum_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.broadcast_minimum"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_minimum_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_minimum"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[broadcast_minimum_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.broadcast_multiply"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_multiply_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_multiply"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[broadcast_multiply_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.broadcast_next_after"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_next_after_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_next_after"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[broadcast_next_after_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.broadcast_polygamma"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_polygamma_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_polygamma"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[broadcast_polygamma_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.broadcast_power"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_power_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_power"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[broadcast_power_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.broadcast_remainder"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_remainder_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_remainder"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[broadcast_remainder_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.broadcast_shift_left"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_shift_left_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_shift_left"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[broadcast_shift_left_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.broadcast_shift_right_arithmetic"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_shift_right_arithmetic_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_shift_right_arithmetic"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[broadcast_shift_right_arithmetic_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.broadcast_shift_right_logical"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_shift_right_logical_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_shift_right_logical"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[broadcast_shift_right_logical_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  %r = "chlo.broadcast_subtract"(%a0, %a1) : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_subtract_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_subtract"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[broadcast_subtract_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4x3xf32>) {
  %r = "chlo.broadcast_add"(%a0, %a1) <{broadcast_dimensions = array<i64: 2>}> : (tensor<4xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>) // expected-error {{[broadcast_add_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_and"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xi32>) // expected-error {{[broadcast_and_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_or"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xi32>) // expected-error {{[broadcast_or_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_xor"(%a0, %a1) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xi32>) // expected-error {{[broadcast_xor_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi32>, %a1: tensor<4xf32>) {
  %r = "chlo.broadcast_zeta"(%a0, %a1) : (tensor<4xi32>, tensor<4xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_zeta_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf64>) {
  %r = "chlo.broadcast_complex"(%a0, %a1) : (tensor<4xf32>, tensor<4xf64>) -> (tensor<4xcomplex<f32>>) // expected-error {{[broadcast_complex_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xi32>) {
  %r = "chlo.broadcast_compare"(%a0, %a1) <{comparison_direction = #chlo<comparison_direction LT>}> : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xi1>) // expected-error {{[broadcast_compare_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>) {
  %r = "chlo.broadcast_compare"(%a0, %a1) <{comparison_direction = #chlo<comparison_direction LT>}> : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_compare_o1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>) {
  %r = "chlo.broadcast_select"(%a0, %a1, %a2) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>) // expected-error {{[broadcast_select_i1]}}
  return }
// -----
func.func @f(%a0: tensor<4xi1>, %a1: tensor<4xf32>, %a2: tensor<4xi32>) {
  %r = "chlo.broadcast_select"(%a0, %a1, %a2) : (tensor<4xi1>, tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>) // expected-error {{[broadcast_select_c2]}}
  return }
// -----
func.func @f() {
  %r = "chlo.constant"() <{value = dense<1.0> : tensor<4xf32>}> : () -> (tensor<5xf32>) // expected-error {{[constant_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.constant_like"(%a0) <{value = 1.0 : f32}> : (tensor<4xf32>) -> (tensor<5xf32>) // expected-error {{[constant_like_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "chlo.constant_like"(%a0) <{value = 1.0 : f64}> : (tensor<4xf32>) -> (tensor<4xf32>) // expected-error {{[constant_like_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r:2 = "chlo.top_k"(%a0) <{k = -1 : i64}> : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>) // expected-error {{[top_k_c1]}}
  return }
// -----
func.func @f(%a0: tensor<f32>) {
  %r:2 = "chlo.top_k"(%a0) <{k = 2 : i64}> : (tensor<f32>) -> (tensor<f32>, tensor<i32>) // expected-error {{[top_k_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r:2 = "chlo.top_k"(%a0) <{k = 5 : i64}> : (tensor<4xf32>) -> (tensor<5xf32>, tensor<5xi32>) // expected-error {{[top_k_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r:2 = "chlo.top_k"(%a0) <{k = 2 : i64}> : (tensor<4xf32>) -> (tensor<2xf64>, tensor<2xi32>) // expected-error {{[top_k_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r:2 = "chlo.top_k"(%a0) <{k = 2 : i64}> : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi64>) // expected-error {{[top_k_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r:2 = "chlo.top_k"(%a0) <{k = 2 : i64}> : (tensor<4xf32>) -> (tensor<3xf32>, tensor<2xi32>) // expected-error {{[top_k_c6]}}
  return }
// -----
func.func @f(%a0: tensor<11x5xf32>, %a1: tensor<3x5x7xf32>, %a2: tensor<3xi64>) {
  %r = "chlo.ragged_dot"(%a0, %a1, %a2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> (tensor<11x7xf32>) // expected-error {{[ragged_dot_c1]}}
  return }
// -----
func.func @f(%a0: tensor<11x5xf32>, %a1: tensor<3x5x7xf32>, %a2: tensor<3xi64>) {
  %r = "chlo.ragged_dot"(%a0, %a1, %a2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> (tensor<11x7xf32>) // expected-error {{[ragged_dot_c2]}}
  return }
// -----
func.func @f(%a0: tensor<11x5xf32>, %a1: tensor<3x5x7xf32>, %a2: tensor<3xi64>) {
  %r = "chlo.ragged_dot"(%a0, %a1, %a2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [1]>}> : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> (tensor<11x7xf32>) // expected-error {{[ragged_dot_c3]}}
  return }
// -----
func.func @f(%a0: tensor<11x5xf32>, %a1: tensor<3x5x7xf32>, %a2: tensor<3xi64>) {
  %r = "chlo.ragged_dot"(%a0, %a1, %a2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> (tensor<11x7xf32>) // expected-error {{[ragged_dot_c4]}}
  return }
// -----
func.func @f(%a0: tensor<11x6xf32>, %a1: tensor<3x5x7xf32>, %a2: tensor<3xi64>) {
  %r = "chlo.ragged_dot"(%a0, %a1, %a2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x6xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> (tensor<11x7xf32>) // expected-error {{[ragged_dot_c5]}}
  return }
// -----
func.func @f(%a0: tensor<11x5xf32>, %a1: tensor<3x5x7xf32>, %a2: tensor<3xi64>) {
  %r = "chlo.ragged_dot"(%a0, %a1, %a2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = []>}> : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> (tensor<11x7xf32>) // expected-error {{[ragged_dot_c6]}}
  return }
// -----
func.func @f(%a0: tensor<11x5xf32>, %a1: tensor<3x5x7xf32>, %a2: tensor<2x3xi64>) {
  %r = "chlo.ragged_dot"(%a0, %a1, %a2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<2x3xi64>) -> (tensor<11x7xf32>) // expected-error {{[ragged_dot_c7]}}
  return }
// -----
func.func @f(%a0: tensor<11x5xf32>, %a1: tensor<2x5x7xf32>, %a2: tensor<3xi64>) {
  %r = "chlo.ragged_dot"(%a0, %a1, %a2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, tensor<2x5x7xf32>, tensor<3xi64>) -> (tensor<11x7xf32>) // expected-error {{[ragged_dot_c8]}}
  return }
// -----
func.func @f(%a0: tensor<11x5xf32>, %a1: tensor<3x5x7xf32>, %a2: tensor<3xi64>) {
  %r = "chlo.ragged_dot"(%a0, %a1, %a2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> (tensor<11x8xf32>) // expected-error {{[ragged_dot_c9]}}
  return }
// -----
func.func @f(%x: tensor<4x6xf32>, %c: tensor<6xf32>) {
  // expected-error@below {{[scan_c3]}}
  %r:2 = chlo.scan(%x) inits (%c) dimension=2 {
  ^bb0(%b0: tensor<6xf32>, %b1: tensor<6xf32>):
    stablehlo.return %b0, %b1 : tensor<6xf32>, tensor<6xf32>
  } : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
  return }
// -----
func.func @f(%x: tensor<4x6xf32>, %c: tensor<6xf32>) {
  // expected-error@below {{[scan_c4]}}
  %r:2 = chlo.scan(%x) inits (%c) dimension=0 attributes {scan_dim_size = 3 : i64} {
  ^bb0(%b0: tensor<6xf32>, %b1: tensor<6xf32>):
    stablehlo.return %b0, %b1 : tensor<6xf32>, tensor<6xf32>
  } : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
  return }
// -----
func.func @f(%x: tensor<4x6xf32>, %c: tensor<6xf32>) {
  // expected-error@below {{[scan_c5]}}
  %r:2 = chlo.scan(%x) inits (%c) dimension=0 {
  ^bb0(%b0: tensor<4xf32>, %b1: tensor<6xf32>):
    stablehlo.return %b1, %b1 : tensor<6xf32>, tensor<6xf32>
  } : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
  return }
// -----
func.func @f(%x: tensor<4x6xf32>, %c: tensor<6xf32>) {
  // expected-error@below {{[scan_c6]}}
  %r:2 = chlo.scan(%x) inits (%c) dimension=0 {
  ^bb0(%b0: tensor<6xf32>, %b1: tensor<6xf32>):
    stablehlo.return %b1 : tensor<6xf32>
  } : (tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
  return }
