// Buffers, copies and kernels of straight-line programs.
// RUN: hlo-opt %s --split-input-file --hlo-plan-memory | FileCheck %s

// A chain of kernels that may share buffers lives in the output; equal kernels exist once.
// CHECK-LABEL: module @chain attributes {cpurt.kernels_after = 1 : i64, cpurt.kernels_before = 2 : i64}
module @chain {
  // CHECK: cpurt.kernel @k0_loop_negate {
  // CHECK-NOT: cpurt.kernel
  // CHECK: cpurt.entry @main attributes {arena_align = 64 : i64, arena_bytes = 0 : i64} {
  // CHECK-NEXT: %[[IN:.*]] = cpurt.input 0
  // CHECK-NEXT: %[[OUT:.*]] = cpurt.output 0
  // CHECK-NEXT: cpurt.launch @k0_loop_negate(%[[IN]], %[[OUT]])
  // CHECK-NEXT: cpurt.launch @k0_loop_negate(%[[OUT]], %[[OUT]])
  // CHECK-NEXT: cpurt.return
  hlo.computation @main(%p: tensor<8xf32>) -> tensor<8xf32> attributes {entry} {
    %0 = hlo.fusion %p {
    ^bb0(%a: tensor<8xf32>):
      %n = hlo.negate %a : (tensor<8xf32>) -> tensor<8xf32>
      hlo.return %n : tensor<8xf32>
    } {strategy = "loop", may_alias = array<i64: 0, 0>} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = hlo.fusion %0 {
    ^bb0(%b: tensor<8xf32>):
      %m = hlo.negate %b : (tensor<8xf32>) -> tensor<8xf32>
      hlo.return %m : tensor<8xf32>
    } {strategy = "loop", may_alias = array<i64: 0, 0>} : (tensor<8xf32>) -> tensor<8xf32>
    hlo.return %1 : tensor<8xf32>
  }
}

// -----

// Results that no kernel makes are copied: a parameter, a constant, a value returned twice.
// CHECK-LABEL: module @returned
module @returned {
  // CHECK: cpurt.global @c0 = dense<2.000000e+00> : tensor<8xf32>
  // CHECK: cpurt.entry @main
  // CHECK-DAG: %[[IN:.*]] = cpurt.input 0
  // CHECK-DAG: %[[TWO:.*]] = cpurt.constant @c0
  // CHECK-DAG: %[[OUT0:.*]] = cpurt.output 0
  // CHECK-DAG: %[[OUT1:.*]] = cpurt.output 1
  // CHECK-DAG: %[[OUT2:.*]] = cpurt.output 2
  // CHECK-DAG: %[[OUT3:.*]] = cpurt.output 3
  // CHECK: cpurt.launch @k0_loop_negate(%[[IN]], %[[OUT2]])
  // CHECK: cpurt.copy %[[OUT0]], %[[IN]] {bytes = 32 : i64}
  // CHECK: cpurt.copy %[[OUT1]], %[[TWO]] {bytes = 32 : i64}
  // CHECK: cpurt.copy %[[OUT3]], %[[OUT2]] {bytes = 32 : i64}
  hlo.computation @main(%p: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
      attributes {entry} {
    %c = hlo.constant {value = dense<2.0> : tensor<8xf32>} : tensor<8xf32>
    %0 = hlo.fusion %p {
    ^bb0(%a: tensor<8xf32>):
      %n = hlo.negate %a : (tensor<8xf32>) -> tensor<8xf32>
      hlo.return %n : tensor<8xf32>
    } {strategy = "loop"} : (tensor<8xf32>) -> tensor<8xf32>
    hlo.return %p, %c, %0, %0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// Reductions that differ in the name of their computation are one kernel.
// CHECK-LABEL: module @reducers attributes {cpurt.kernels_after = 1 : i64, cpurt.kernels_before = 2 : i64}
module @reducers {
  // CHECK: hlo.computation @add.1
  hlo.computation @add.1(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %0 = hlo.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    hlo.return %0 : tensor<f32>
  }
  // CHECK-NOT: hlo.computation @add.2
  hlo.computation @add.2(%c: tensor<f32>, %d: tensor<f32>) -> tensor<f32> {
    %0 = hlo.add %c, %d : (tensor<f32>, tensor<f32>) -> tensor<f32>
    hlo.return %0 : tensor<f32>
  }
  hlo.computation @main(%p: tensor<8xf32>) -> (tensor<f32>, tensor<f32>) attributes {entry} {
    %0 = hlo.fusion %p {
    ^bb0(%a: tensor<8xf32>):
      %z = hlo.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
      %r = hlo.reduce %a, %z {dimensions = array<i64: 0>, to_apply = @add.1} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      hlo.return %r : tensor<f32>
    } {strategy = "reduce"} : (tensor<8xf32>) -> tensor<f32>
    %1 = hlo.fusion %p {
    ^bb0(%a: tensor<8xf32>):
      %z = hlo.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
      %r = hlo.reduce %a, %z {dimensions = array<i64: 0>, to_apply = @add.2} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      hlo.return %r : tensor<f32>
    } {strategy = "reduce"} : (tensor<8xf32>) -> tensor<f32>
    hlo.return %0, %1 : tensor<f32>, tensor<f32>
  }
}

// -----

// A donated input may be the output: the copy before the update checks for that at run time.
// CHECK-LABEL: module @donated
module @donated attributes {hlo.leaf_alias = array<i64: 0, 0>} {
  // CHECK: cpurt.entry
  // CHECK-DAG: %[[IN:.*]] = cpurt.input 0
  // CHECK-DAG: %[[AT:.*]] = cpurt.input 1
  // CHECK-DAG: %[[OUT:.*]] = cpurt.output 0
  // CHECK: cpurt.copy %[[OUT]], %[[IN]] {bytes = 32 : i64, may_be_same}
  // CHECK: cpurt.launch @k0_update_slice_dynamic_update_slice(%[[OUT]], %[[AT]], %[[OUT]])
  hlo.computation @main(%p: tensor<8xf32>, %i: tensor<si32>) -> tensor<8xf32> attributes {entry} {
    %0 = hlo.fusion %p, %i {
    ^bb0(%a: tensor<8xf32>, %at: tensor<si32>):
      %u = hlo.constant {value = dense<1.0> : tensor<1xf32>} : tensor<1xf32>
      %d = hlo.dynamic_update_slice %a, %u, %at : (tensor<8xf32>, tensor<1xf32>, tensor<si32>) -> tensor<8xf32>
      hlo.return %d : tensor<8xf32>
    } {strategy = "update-slice", in_place = array<i64: 0, 0>} : (tensor<8xf32>, tensor<si32>) -> tensor<8xf32>
    hlo.return %0 : tensor<8xf32>
  }
}
