// What cannot be planned is named, at its place.
// RUN: hlo-opt %s --split-input-file --verify-diagnostics --hlo-plan-memory

hlo.computation @main(%p: tensor<8xf32>) -> tensor<8xf32> attributes {entry} {
  // expected-error@+1 {{tanh is not supported yet}}
  %0 = hlo.tanh %p : (tensor<8xf32>) -> tensor<8xf32>
  hlo.return %0 : tensor<8xf32>
}

// -----

hlo.computation @main(%p: tensor<8xf32>) -> tensor<8xf32> attributes {entry} {
  // expected-error@+1 {{in_place pairs result 1 with operand 0; there are 1 and 1}}
  %0 = hlo.fusion %p {
  ^bb0(%a: tensor<8xf32>):
    hlo.return %a : tensor<8xf32>
  } {strategy = "loop", in_place = array<i64: 1, 0>} : (tensor<8xf32>) -> tensor<8xf32>
  hlo.return %0 : tensor<8xf32>
}
