// Loops and conditionals.
// RUN: hlo-opt %s --split-input-file --hlo-plan-memory | FileCheck %s

// A small carry stays in the arena, from where it may go to a register; the constant that
// starts it is copied, for the loop writes there. An unchanged carry is read where it is.
// CHECK-LABEL: module @counter
module @counter {
  // CHECK: cpurt.entry @main
  // CHECK-DAG: %[[ZERO:.*]] = cpurt.constant @c0
  // CHECK-DAG: %[[LIMIT:.*]] = cpurt.input 0
  // CHECK-DAG: %[[OUT:.*]] = cpurt.output 0
  // CHECK-DAG: %[[PRED:.*]] = cpurt.arena {{.*}}, 1
  // CHECK-DAG: %[[I:.*]] = cpurt.arena {{.*}}, 4
  // CHECK: cpurt.copy %[[I]], %[[ZERO]] {bytes = 4 : i64}
  // CHECK-NEXT: cpurt.while {
  // CHECK-NEXT:   cpurt.launch @k0_loop_compare(%[[I]], %[[LIMIT]], %[[PRED]])
  // CHECK-NEXT:   cpurt.condition %[[PRED]]
  // CHECK-NEXT: } do {
  // CHECK-NEXT:   cpurt.launch @k1_loop_add(%[[I]], %[[I]])
  // CHECK-NEXT:   cpurt.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: cpurt.copy %[[OUT]], %[[I]] {bytes = 4 : i64}
  // CHECK-NEXT: cpurt.return
  hlo.computation @condition(%i: tensor<si32>, %n: tensor<si32>) -> tensor<i1> {
    %0 = hlo.fusion %i, %n {
    ^bb0(%a: tensor<si32>, %b: tensor<si32>):
      %c = hlo.compare %a, %b {direction = "LT"} : (tensor<si32>, tensor<si32>) -> tensor<i1>
      hlo.return %c : tensor<i1>
    } {strategy = "loop"} : (tensor<si32>, tensor<si32>) -> tensor<i1>
    hlo.return %0 : tensor<i1>
  }
  hlo.computation @body(%i: tensor<si32>, %n: tensor<si32>) -> (tensor<si32>, tensor<si32>) {
    %0 = hlo.fusion %i {
    ^bb0(%a: tensor<si32>):
      %one = hlo.constant {value = dense<1> : tensor<si32>} : tensor<si32>
      %s = hlo.add %a, %one : (tensor<si32>, tensor<si32>) -> tensor<si32>
      hlo.return %s : tensor<si32>
    } {strategy = "loop", may_alias = array<i64: 0, 0>} : (tensor<si32>) -> tensor<si32>
    hlo.return %0, %n : tensor<si32>, tensor<si32>
  }
  hlo.computation @main(%n: tensor<si32>) -> tensor<si32> attributes {entry} {
    %zero = hlo.constant {value = dense<0> : tensor<si32>} : tensor<si32>
    %w:2 = hlo.while %zero, %n {condition = @condition, body = @body} : (tensor<si32>, tensor<si32>) -> (tensor<si32>, tensor<si32>)
    hlo.return %w#0 : tensor<si32>
  }
}

// -----

// Two carries that change places need a third one.
// CHECK-LABEL: module @swap
module @swap {
  // CHECK: cpurt.while
  // CHECK: } do {
  // CHECK-NEXT: cpurt.copy %[[SAVED:.*]], %[[B:.*]] {bytes = 1 : i64}
  // CHECK-NEXT: cpurt.copy %[[B]], %[[A:.*]] {bytes = 1 : i64}
  // CHECK-NEXT: cpurt.copy %[[A]], %[[SAVED]] {bytes = 1 : i64}
  // CHECK-NEXT: cpurt.yield
  hlo.computation @condition(%a: tensor<i1>, %b: tensor<i1>) -> tensor<i1> {
    hlo.return %a : tensor<i1>
  }
  hlo.computation @body(%a: tensor<i1>, %b: tensor<i1>) -> (tensor<i1>, tensor<i1>) {
    hlo.return %b, %a : tensor<i1>, tensor<i1>
  }
  hlo.computation @main(%a: tensor<i1>, %b: tensor<i1>) -> (tensor<i1>, tensor<i1>) attributes {entry} {
    %w:2 = hlo.while %a, %b {condition = @condition, body = @body} : (tensor<i1>, tensor<i1>) -> (tensor<i1>, tensor<i1>)
    hlo.return %w#0, %w#1 : tensor<i1>, tensor<i1>
  }
}

// -----

// Each branch writes the result; one that hands on its operand copies it.
// CHECK-LABEL: module @branches
module @branches {
  // CHECK: cpurt.entry @main
  // CHECK-DAG: %[[SELECTOR:.*]] = cpurt.input 0
  // CHECK-DAG: %[[IN:.*]] = cpurt.input 1
  // CHECK-DAG: %[[OUT:.*]] = cpurt.output 0
  // CHECK: cpurt.case %[[SELECTOR]] {
  // CHECK-NEXT:   cpurt.launch @k0_loop_negate(%[[IN]], %[[OUT]])
  // CHECK-NEXT:   cpurt.yield
  // CHECK-NEXT: }, {
  // CHECK-NEXT:   cpurt.copy %[[OUT]], %[[IN]] {bytes = 32 : i64}
  // CHECK-NEXT:   cpurt.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: cpurt.return
  hlo.computation @negate(%p: tensor<8xf32>) -> tensor<8xf32> {
    %0 = hlo.fusion %p {
    ^bb0(%a: tensor<8xf32>):
      %n = hlo.negate %a : (tensor<8xf32>) -> tensor<8xf32>
      hlo.return %n : tensor<8xf32>
    } {strategy = "loop"} : (tensor<8xf32>) -> tensor<8xf32>
    hlo.return %0 : tensor<8xf32>
  }
  hlo.computation @same(%p: tensor<8xf32>) -> tensor<8xf32> {
    hlo.return %p : tensor<8xf32>
  }
  hlo.computation @main(%s: tensor<si32>, %p: tensor<8xf32>) -> tensor<8xf32> attributes {entry} {
    %0 = hlo.conditional %s, %p, %p {branch_computations = [@negate, @same], branch_operand_counts = array<i64: 1, 1>} : (tensor<si32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    hlo.return %0 : tensor<8xf32>
  }
}

// -----

// Each iteration reads the whole carry to make the next one. Five iterations: one in front of
// the loop, which starts from the input, then two times two that write back and forth.
// CHECK-LABEL: module @doubled
module @doubled {
  // CHECK: cpurt.entry @main
  // CHECK-DAG: %[[IN:.*]] = cpurt.input 0
  // CHECK-DAG: %[[OUT:.*]] = cpurt.output 0
  // CHECK-DAG: %[[OTHER:.*]] = cpurt.arena 0, 256
  // CHECK: cpurt.launch @k0_loop_reverse(%[[IN]], %[[OUT]])
  // CHECK-NEXT: cpurt.while attributes {trip_count = 2 : i64} {
  // CHECK-NEXT: } do {
  // CHECK-NEXT:   cpurt.launch @k0_loop_reverse(%[[OUT]], %[[OTHER]])
  // CHECK-NEXT:   cpurt.launch @k0_loop_reverse(%[[OTHER]], %[[OUT]])
  // CHECK-NEXT:   cpurt.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: cpurt.return
  hlo.computation @condition(%a: tensor<64xf32>) -> tensor<i1> {
    %t = hlo.constant {value = dense<true> : tensor<i1>} : tensor<i1>
    hlo.return %t : tensor<i1>
  }
  hlo.computation @body(%a: tensor<64xf32>) -> tensor<64xf32> {
    %0 = hlo.fusion %a {
    ^bb0(%x: tensor<64xf32>):
      %r = hlo.reverse %x {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<64xf32>
      hlo.return %r : tensor<64xf32>
    } {strategy = "loop"} : (tensor<64xf32>) -> tensor<64xf32>
    hlo.return %0 : tensor<64xf32>
  }
  hlo.computation @main(%a: tensor<64xf32>) -> tensor<64xf32> attributes {entry} {
    %w = hlo.while %a {condition = @condition, body = @body, known_trip_count = 5 : i64} : (tensor<64xf32>) -> tensor<64xf32>
    hlo.return %w : tensor<64xf32>
  }
}
