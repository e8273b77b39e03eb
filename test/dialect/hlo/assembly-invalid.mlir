// RUN: hlo-opt %s --split-input-file --verify-diagnostics

// What HLO text cannot say (its parser refuses it first), but MLIR assembly can.

hlo.computation @e(%a: tensor<4xf32>) -> tensor<4xi1> {
  // expected-error @below {{compare: direction is 'XX', must be EQ, NE, GE, GT, LE or LT [compare_c4]}}
  %0 = hlo.compare %a, %a {direction = "XX"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  hlo.return %0 : tensor<4xi1>
}

// -----

// expected-note @below {{operand 0 is f32[4]}}
hlo.computation @e(%a: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error @below {{reshape: element counts differ: operand f32[4] has 4, result f32[5] has 5 [reshape_c1]}}
  %0 = hlo.reshape %a : (tensor<4xf32>) -> tensor<5xf32>
  hlo.return %0 : tensor<5xf32>
}

// -----

hlo.computation @e(%a: tensor<4xf32>, %i: tensor<si32>) -> tensor<2x2xf32> {
  // expected-error @below {{dynamic-reshape: has 1 size operands, the result's rank is 2 [dynamic_reshape_c2]}}
  %0 = hlo.dynamic_reshape %a, %i : (tensor<4xf32>, tensor<si32>) -> tensor<2x2xf32>
  hlo.return %0 : tensor<2x2xf32>
}

// -----

// expected-note @below {{operand 0 is f32[4]}}
hlo.computation @e(%a: tensor<4xf32>, %i: tensor<si32>) -> tensor<4xf32> {
  // expected-error @below {{dynamic-update-slice: has 2 index operands, the operand's rank is 1 [dynamic_update_slice_c1]}}
  %0 = hlo.dynamic_update_slice %a, %a, %i, %i : (tensor<4xf32>, tensor<4xf32>, tensor<si32>, tensor<si32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}

// -----

hlo.computation @e(%a: tensor<4xf32>, %v: tensor<f32>) -> tensor<4xf32> {
  // expected-error @below {{pad: interior padding of dim 0 is -1, must not be negative [pad_c4]}}
  %0 = hlo.pad %a, %v {padding_low = array<i64: 0>, padding_high = array<i64: 0>, padding_interior = array<i64: -1>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}

// -----

hlo.computation @e(%a: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @below {{fft: fft_type is 'DCT', must be FFT, IFFT, RFFT or IRFFT [fft_c3]}}
  %0 = hlo.fft %a {fft_type = "DCT", fft_length = array<i64: 4>} : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  hlo.return %0 : tensor<4xcomplex<f32>>
}

// -----

hlo.computation @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = hlo.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return %0 : tensor<f32>
}
hlo.computation @e(%a: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{reduce: expects as many inputs as initial values, has 3 operands [reduce_c1]}}
  %0 = hlo.reduce %a, %z, %z {dimensions = array<i64: 0>, to_apply = @add} : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return %0 : tensor<f32>
}

// -----

hlo.computation @e(%a: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{reduce: to_apply: there is no computation 'add' [reduce_c0]}}
  %0 = hlo.reduce %a, %z {dimensions = array<i64: 0>, to_apply = @add} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  hlo.return %0 : tensor<f32>
}

// -----

hlo.computation @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = hlo.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  hlo.return %0 : tensor<f32>
}
hlo.computation @e(%a: tensor<4xf32>, %z: tensor<f32>) -> tensor<4xf32> {
  // expected-error @below {{reduce-window: expects as many inputs as initial values, has 3 operands [reduce_window_c1]}}
  %0 = hlo.reduce_window %a, %z, %z {to_apply = @add} : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}

// -----

hlo.computation @e(%s: tensor<2xui64>) -> tuple<tensor<2xui64>, tensor<4xui32>> {
  // expected-error @below {{rng-bit-generator: algorithm is 'rng_best', must be rng_default, rng_three_fry or rng_philox [rng_bit_generator_c1]}}
  %0 = hlo.rng_bit_generator %s {algorithm = "rng_best"} : (tensor<2xui64>) -> tuple<tensor<2xui64>, tensor<4xui32>>
  hlo.return %0 : tuple<tensor<2xui64>, tensor<4xui32>>
}

// -----

hlo.computation @e(%a: tensor<f32>) -> tensor<8xf32> {
  // expected-error @below {{rng: distribution is 'rng_best', must be rng_uniform or rng_normal [rng_c3]}}
  %0 = hlo.rng %a, %a {distribution = "rng_best"} : (tensor<f32>, tensor<f32>) -> tensor<8xf32>
  hlo.return %0 : tensor<8xf32>
}

// -----

hlo.computation @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hlo.negate %a : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}
// expected-note @below {{operand 0 is f32[]}}
hlo.computation @e(%i: tensor<f32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{conditional: the selector must be pred[] or s32[], is f32[] [conditional_c1]}}
  %0 = hlo.conditional %i, %a {branch_computations = [@neg]} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}

// -----

hlo.computation @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hlo.negate %a : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}
// expected-note @below {{operand 0 is pred[]}}
hlo.computation @e(%i: tensor<i1>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{conditional: the selector is pred[], has 1 branches, expected 2 [conditional_c2]}}
  %0 = hlo.conditional %i, %a {branch_computations = [@neg]} : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}

// -----

hlo.computation @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hlo.negate %a : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}
hlo.computation @e(%i: tensor<si32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{conditional: branch_operand_counts add up to 2, has 1 branch operands [conditional_c3]}}
  %0 = hlo.conditional %i, %a {branch_computations = [@neg, @neg], branch_operand_counts = array<i64: 1, 1>} : (tensor<si32>, tensor<4xf32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}

// -----

hlo.computation @e(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{custom-call: operand_layout_constraints has 2 shapes, has 1 operands [custom_call_c2]}}
  %0 = hlo.custom_call %a {custom_call_target = "f", operand_layout_constraints = [tensor<4xf32>, tensor<4xf32>]} : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}

// -----

hlo.computation @e(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{fusion: the region takes (f32[5]), the operands are (f32[4]) [fusion_c1]}}
  // expected-error @below {{fusion: the region gives (f32[5]), the results are (f32[4]) [fusion_c5]}}
  %0 = hlo.fusion %a {
  ^bb0(%b: tensor<5xf32>):
    hlo.return %b : tensor<5xf32>
  } {strategy = "loop"} : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}

// -----

hlo.computation @e(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{fusion: has neither a region nor 'calls' [fusion_c2]}}
  %0 = "hlo.fusion"(%a) ({}) : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}

// -----

hlo.computation @neg(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hlo.negate %a : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}
hlo.computation @e(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{async-start: the state must be ((operands...), result, ...), is f32[4] [async_start_c1]}}
  %0 = hlo.async_start %a {calls = @neg} : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{computation 'e': returns f32[4], its signature has f32[5]}}
// expected-note @below {{the value is defined here}}
hlo.computation @e(%a: tensor<4xf32>) -> tensor<5xf32> {
  hlo.return %a : tensor<4xf32>
}

// -----

// expected-error @below {{computation 'e': returns 0 values, its signature has 1}}
hlo.computation @e(%a: tensor<4xf32>) -> tensor<5xf32> {
  hlo.return
}

// -----

hlo.computation @e(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{constant: the literal is f32[2], the shape is f32[4] [constant_c1]}}
  %0 = hlo.constant {value = dense<1.0> : tensor<2xf32>} : tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}

// -----

hlo.computation @e(%a: tensor<4xf32>) -> tuple<tensor<f32>, tensor<f32>> {
  // expected-error @below {{constant: the literal has 1 elements, the shape (f32[], f32[]) has 2 [constant_c2]}}
  %0 = hlo.constant {value = [dense<1.0> : tensor<f32>]} : tuple<tensor<f32>, tensor<f32>>
  hlo.return %0 : tuple<tensor<f32>, tensor<f32>>
}

// -----

hlo.computation @e(%a: tensor<4xf32>) -> tensor<f32> {
  // expected-error @below {{constant: the literal does not fit the shape f32[] [constant_c3]}}
  %0 = hlo.constant {value = "x"} : tensor<f32>
  hlo.return %0 : tensor<f32>
}

// -----

hlo.computation @e(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{async-done: the state must be ((operands...), result, ...), is f32[4] [async_done_c1]}}
  %0 = hlo.async_done %a : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}

// -----

hlo.computation @e(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{async-update: the state must be ((operands...), result, ...), is f32[4] [async_update_c1]}}
  %0 = hlo.async_update %a : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return %0 : tensor<4xf32>
}

// -----

hlo.computation @e(%t: !hlo.token) -> tuple<tensor<4xf32>, tensor<f32>> {
  // expected-error @below {{infeed: the result must be (data, token[]), is (f32[4], f32[]) [infeed_c2]}}
  %0 = hlo.infeed %t : (!hlo.token) -> tuple<tensor<4xf32>, tensor<f32>>
  hlo.return %0 : tuple<tensor<4xf32>, tensor<f32>>
}

// -----

hlo.computation @e(%t: !hlo.token) -> tuple<tensor<4xf32>, tensor<f32>, !hlo.token> {
  // expected-error @below {{recv: the result must be (data, u32[], token[]), is (f32[4], f32[], token[]) [recv_c2]}}
  %0 = hlo.recv %t {channel_id = 1 : i64} : (!hlo.token) -> tuple<tensor<4xf32>, tensor<f32>, !hlo.token>
  hlo.return %0 : tuple<tensor<4xf32>, tensor<f32>, !hlo.token>
}

// -----

// expected-note @below {{operand 5 is f32[]}}
hlo.computation @e(%a: tensor<4xf32>, %i: tensor<si32>, %f: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @below {{collective-permute: start index 1 must be an integer scalar, is f32[] [collective_permute_c3]}}
  %0:2 = hlo.collective_permute %a, %a, %a, %a, %i, %f, %i, %i {slice_sizes = "{{2}, {2}}", source_target_pairs = "{{0,1}}"} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<si32>, tensor<f32>, tensor<si32>, tensor<si32>) -> (tensor<4xf32>, tensor<4xf32>)
  hlo.return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
