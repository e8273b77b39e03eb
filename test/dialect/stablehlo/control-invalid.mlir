// Constraints of the specification, each broken once: control.
// RUN: hlo-opt --verify-diagnostics --split-input-file %s

func.func @f(%p: tensor<4xi1>, %x: tensor<4xf32>) {
  // expected-error@below {{[if_i1]}}
  %r = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<4xi1>) -> tensor<4xf32>
  return }
// -----
func.func @f(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@below {{[if_c1]}}
  %r = "stablehlo.if"(%p) ({
  ^bb0(%y: tensor<i1>):
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return }
// -----
func.func @f(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@below {{[if_c2]}}
  %r = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> tensor<4xf32>
  return }
// -----
func.func @f(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@below {{[if_c3]}}
  %r = "stablehlo.if"(%p) ({
    stablehlo.return
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return }
// -----
func.func @f(%i: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error@below {{[case_i1]}}
  %r = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i64>) -> tensor<4xf32>
  return }
// -----
func.func @f(%i: tensor<i32>, %x: tensor<4xf32>) {
  %r = "stablehlo.case"(%i) : (tensor<i32>) -> tensor<4xf32> // expected-error {{[case_c1]}}
  return }
// -----
func.func @f(%i: tensor<i32>, %x: tensor<4xf32>) {
  // expected-error@below {{[case_c2]}}
  %r = "stablehlo.case"(%i) ({
  ^bb0(%y: tensor<i1>):
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return }
// -----
func.func @f(%i: tensor<i32>, %x: tensor<4xf32>) {
  // expected-error@below {{[case_c3]}}
  %r = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return
  }) : (tensor<i32>) -> tensor<4xf32>
  return }
// -----
func.func @f(%i: tensor<i32>, %x: tensor<4xf32>) {
  // expected-error@below {{[case_c4]}}
  %r = "stablehlo.case"(%i) ({
    stablehlo.return
  }) : (tensor<i32>) -> tensor<4xf32>
  return }
// -----
func.func @f(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error@below {{[while_c1]}}
  %r = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    stablehlo.return %a : tensor<4xf32>
  }, {
  ^bb0(%a: tensor<4xf32>):
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return }
// -----
func.func @f(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error@below {{[while_c1]}}
  %r = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<5xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<4xf32>):
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return }
// -----
func.func @f(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error@below {{[while_c2]}}
  %r = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<4xf32>):
    stablehlo.return
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return }
// -----
func.func @f(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error@below {{[while_c2]}}
  %r = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<5xf32>):
    stablehlo.return %a : tensor<5xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return }
// -----
func.func @f(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error@below {{[while_c3]}}
  %r = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<4xf32>):
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "stablehlo.optimization_barrier"(%a0) : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[optimization_barrier_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  // expected-error@below {{[async_start_c1]}}
  %r = "stablehlo.async_start"(%a0) ({
  ^bb0(%b0: tensor<4xf32>):
    stablehlo.return %b0 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  // expected-error@below {{[async_start_c2]}}
  %r = "stablehlo.async_start"(%a0) ({
  ^bb0(%b0: tensor<4xf32>):
    %s = stablehlo.negate %b0 : tensor<4xf32>
    stablehlo.return %s : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return }
// -----
func.func @f(%a0: tensor<5xf32>) {
  // expected-error@below {{[async_start_c3]}}
  %r = "stablehlo.async_start"(%a0) ({
  ^bb0(%b0: tensor<4xf32>):
    %s = stablehlo.slice %b0 [0:4] : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %s : tensor<4xf32>
  }) : (tensor<5xf32>) -> !stablehlo.future<tensor<4xf32>>
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  // expected-error@below {{[async_start_c4]}}
  %r = "stablehlo.async_start"(%a0) ({
  ^bb0(%b0: tensor<4xf32>):
    %s = stablehlo.slice %b0 [0:4] : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %s : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<5xf32>>
  return }
// -----
func.func @f(%a0: !stablehlo.future<tensor<4xf32>>) {
  %r = "stablehlo.async_done"(%a0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<5xf32> // expected-error {{[async_done_c1]}}
  return }
// -----
func.func private @d(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) {
  %r = stablehlo.composite "op" %x {decomposition = @d} : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[composite_c1]}}
  return }
// -----
func.func private @d(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) {
  %r = stablehlo.composite "my.op" %x {decomposition = @none} : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[composite_c2]}}
  return }
// -----
func.func private @d(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<5xf32>) {
  %r = stablehlo.composite "my.op" %x {decomposition = @d} : (tensor<5xf32>) -> tensor<4xf32> // expected-error {{[composite_c3]}}
  return }
// -----
func.func private @d(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) {
  %r = stablehlo.composite "my.op" %x {decomposition = @d} : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[composite_c4]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %r = stablehlo.custom_call @t(%x) {operand_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[custom_call_layouts]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %r = stablehlo.custom_call @t(%x) {operand_layouts = [dense<1> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[custom_call_layouts]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %r = stablehlo.custom_call @t(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[custom_call_i7]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %r = stablehlo.custom_call @t(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[custom_call_i7]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %r = stablehlo.custom_call @t(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<5xf32> // expected-error {{[custom_call_i7]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %r = stablehlo.custom_call @t(%x) {api_version = 4 : i32, backend_config = "x"} : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[custom_call_i4]}}
  return }
// -----
func.func @f(%x: tensor<4xf32>) {
  %r = stablehlo.custom_call @t(%x) {backend_config = {a = 1 : i32}} : (tensor<4xf32>) -> tensor<4xf32> // expected-error {{[custom_call_i4]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>) {
  %r = "stablehlo.tuple"(%a0) : (tensor<4xf32>) -> tuple<tensor<5xf32>> // expected-error {{[tuple_c1]}}
  return }
// -----
func.func @f(%a0: tuple<tensor<5xf32>>) {
  %r = "stablehlo.get_tuple_element"(%a0) <{index = 1 : i32}> : (tuple<tensor<5xf32>>) -> tensor<5xf32> // expected-error {{[get_tuple_element_c1]}}
  return }
// -----
func.func @f(%a0: tuple<tensor<5xf32>>) {
  %r = "stablehlo.get_tuple_element"(%a0) <{index = 0 : i32}> : (tuple<tensor<5xf32>>) -> tensor<4xf32> // expected-error {{[get_tuple_element_c2]}}
  return }
