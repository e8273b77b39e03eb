// What the verifiers refuse.
// RUN: hlo-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{body must be one hlo.fusion and a cpurt.yield}}
cpurt.kernel @k {
^bb0(%a: tensor<4xf32>):
  cpurt.yield %a : tensor<4xf32>
}

// -----

// expected-error@+1 {{arena_bytes is negative: -1}}
cpurt.entry @main attributes {arena_align = 64 : i64, arena_bytes = -1 : i64} {
  cpurt.return
}

// -----

cpurt.entry @main attributes {arena_align = 64 : i64, arena_bytes = 0 : i64} {
  // expected-error@+1 {{no cpurt.global is named @c}}
  %0 = cpurt.constant @c
  cpurt.return
}

// -----

cpurt.kernel @k {
^bb0(%a: tensor<4xf32>):
  %r = hlo.fusion %a {
  ^bb0(%x: tensor<4xf32>):
    hlo.return %x : tensor<4xf32>
  } {strategy = "loop"} : (tensor<4xf32>) -> tensor<4xf32>
  cpurt.yield %r : tensor<4xf32>
}
cpurt.entry @main attributes {arena_align = 64 : i64, arena_bytes = 0 : i64} {
  %0 = cpurt.input 0
  // expected-error@+1 {{kernel @k takes 2 buffers, got 1}}
  cpurt.launch @k(%0)
  cpurt.return
}

// -----

cpurt.entry @main attributes {arena_align = 64 : i64, arena_bytes = 0 : i64} {
  %0 = cpurt.input 0
  // expected-error@+1 {{no cpurt.kernel is named @nobody}}
  cpurt.launch @nobody(%0)
  cpurt.return
}

// -----

cpurt.entry @main attributes {arena_align = 64 : i64, arena_bytes = 0 : i64} {
  %0 = cpurt.input 0
  // expected-error@+1 {{a predicated case has 2 branches, got 1}}
  cpurt.case %0 attributes {predicated} {
    cpurt.yield
  }
  cpurt.return
}

// -----

cpurt.entry @main attributes {arena_align = 64 : i64, arena_bytes = 0 : i64} {
  %0 = cpurt.input 0
  // expected-error@+1 {{has a trip_count and a condition}}
  cpurt.while attributes {trip_count = 3 : i64} {
    cpurt.condition %0
  } do {
    cpurt.yield
  }
  cpurt.return
}

// -----

cpurt.entry @main attributes {arena_align = 64 : i64, arena_bytes = 0 : i64} {
  // expected-error@+1 {{condition must end in cpurt.condition}}
  cpurt.while {
  } do {
    cpurt.yield
  }
  cpurt.return
}

// -----

cpurt.entry @main attributes {arena_align = 64 : i64, arena_bytes = 0 : i64} {
  %0 = cpurt.input 0
  // expected-error@+1 {{takes 3 buffers, got 2}}
  cpurt.call "all-gather"(%0, %0) {config = {}, operand_types = [tensor<4xf32>], result_types = [tensor<4xf32>],
      scratch_bytes = 8 : i64}
  cpurt.return
}

// -----

cpurt.entry @main attributes {arena_align = 64 : i64, arena_bytes = 0 : i64} {
  %0 = cpurt.input 0
  // expected-error@+1 {{no cpurt.kernel is named @absent}}
  cpurt.call "all-reduce"(%0, %0) {config = {}, kernels = [@absent], operand_types = [tensor<4xf32>],
      result_types = [tensor<4xf32>], scratch_bytes = 0 : i64}
  cpurt.return
}

// -----

cpurt.kernel @pairs {
^bb0(%a: tensor<4xf32>):
  // expected-error@+1 {{in_place must pair results with operands; there are 1 and 1}}
  %r = hlo.fusion %a {
  ^bb0(%x: tensor<4xf32>):
    %n = hlo.negate %x : (tensor<4xf32>) -> tensor<4xf32>
    hlo.return %n : tensor<4xf32>
  } {in_place = array<i64: 0, 1>} : (tensor<4xf32>) -> tensor<4xf32>
  cpurt.yield %r : tensor<4xf32>
}

// -----

cpurt.kernel @half {
^bb0(%a: tensor<4xf32>):
  // expected-error@+1 {{may_alias must pair results with operands; there are 1 and 1}}
  %r = hlo.fusion %a {
  ^bb0(%x: tensor<4xf32>):
    %n = hlo.negate %x : (tensor<4xf32>) -> tensor<4xf32>
    hlo.return %n : tensor<4xf32>
  } {may_alias = array<i64: 0, 0, 0>} : (tensor<4xf32>) -> tensor<4xf32>
  cpurt.yield %r : tensor<4xf32>
}
