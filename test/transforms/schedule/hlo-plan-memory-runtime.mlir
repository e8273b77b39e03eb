// Ops that the runtime executes: who shares a buffer, scratch memory, kernels for it to call.
// RUN: hlo-opt %s --split-input-file --hlo-plan-memory | FileCheck %s

// CHECK-LABEL: module @reduce
module @reduce {
  hlo.computation @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %0 = hlo.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    hlo.return %0 : tensor<f32>
  }
  // One kernel for both operands; it may write where it reads.
  // CHECK: cpurt.kernel @range_sum {
  // CHECK: hlo.map %{{.*}}, %{{.*}} {dimensions = array<i64: 0>, to_apply = @sum} : (tensor<1024xf32>, tensor<1024xf32>)
  // CHECK: {may_alias = array<i64: 0, 0, 0, 1>, strategy = "range"}
  // CHECK-NOT: cpurt.kernel
  // The second all-reduce works in place of the first one's result.
  // CHECK: cpurt.entry @main
  // CHECK: %[[IN:.*]] = cpurt.input 0
  // CHECK: %[[OUT:.*]] = cpurt.output 0
  // CHECK: cpurt.call "all-reduce"(%[[IN]], %[[OUT]], %{{.*}}) {config = {channel_id = 1 : i64}, kernels = [@range_sum], operand_types = [tensor<8xf32>], result_types = [tensor<8xf32>], scratch_bytes = 288 : i64}
  // CHECK-NEXT: cpurt.call "all-reduce"(%[[OUT]], %[[OUT]], %{{.*}}) {config = {}, kernels = [@range_sum]
  hlo.computation @main(%p: tensor<8xf32>) -> tensor<8xf32> attributes {entry} {
    %0 = hlo.all_reduce %p {channel_id = 1 : i64, to_apply = @sum} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = hlo.all_reduce %0 {to_apply = @sum} : (tensor<8xf32>) -> tensor<8xf32>
    hlo.return %1 : tensor<8xf32>
  }
}

// -----

// A permutation never works in place: a peer reads the operand while another writes the result.
// CHECK-LABEL: module @permute
module @permute {
  // CHECK: %[[MID:.*]] = cpurt.arena 0, 32
  // CHECK: cpurt.call "collective-permute"(%{{.*}}, %[[MID]])
  // CHECK: cpurt.call "collective-permute"(%[[MID]], %{{.*}})
  hlo.computation @main(%p: tensor<8xf32>) -> tensor<8xf32> attributes {entry} {
    %0 = hlo.collective_permute %p {source_target_pairs = "{{0,1}}"} : (tensor<8xf32>) -> tensor<8xf32>
    %1 = hlo.collective_permute %0 {source_target_pairs = "{{1,0}}"} : (tensor<8xf32>) -> tensor<8xf32>
    hlo.return %1 : tensor<8xf32>
  }
}

// -----

// What output_to_operand_aliasing says holds for the leaves of tuples; an input is copied first.
// CHECK-LABEL: module @aliased
module @aliased {
  // CHECK-DAG: %[[A:.*]] = cpurt.input 0
  // CHECK-DAG: %[[B:.*]] = cpurt.input 1
  // CHECK-DAG: %[[X:.*]] = cpurt.output 0
  // CHECK-DAG: %[[Y:.*]] = cpurt.output 1
  // CHECK: cpurt.copy %[[Y]], %[[B]] {bytes = 16 : i64}
  // CHECK: cpurt.call "custom-call"(%[[A]], %[[Y]], %[[X]], %[[Y]]) {alias = array<i64: 1, 1>
  hlo.computation @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {entry} {
    %0:2 = hlo.custom_call %a, %b {custom_call_target = "f", output_to_operand_aliasing = "{{1}: (0, {1})}",
        operand_types = [tuple<tensor<4xf32>, tensor<4xf32>>], result_types = [tuple<tensor<4xf32>, tensor<4xf32>>]}
        : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    hlo.return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Two collectives in two parts are under way at once. The operand that others read, and the results, have buffers of
// their own until the ends; the all-reduce of a value that nothing else reads works in place, and so does its end. The
// scratch memory of both lives until their ends. What the text has in between stays there, though the peak of memory
// would be lower with the ends first.
// CHECK-LABEL: module @pairs
module @pairs attributes {hlo.replica_count = 2 : i64} {
  hlo.computation @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %0 = hlo.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    hlo.return %0 : tensor<f32>
  }
  // CHECK: cpurt.entry @main
  // CHECK: %[[P:.*]] = cpurt.input 0
  // CHECK: %[[X:.*]] = cpurt.arena 0, 4096
  // CHECK: %[[S:.*]] = cpurt.arena {{[0-9]+}}, [[SB:[0-9]+]]
  // CHECK: %[[G:.*]] = cpurt.output 1
  // CHECK: %[[T:.*]] = cpurt.arena {{[0-9]+}}, [[TB:[0-9]+]]
  // CHECK: cpurt.launch @k0_loop_negate(%[[P]], %[[X]])
  // CHECK-NEXT: cpurt.call "all-reduce-start"(%[[X]], %[[X]], %[[S]]) {alias = array<i64: 0, 0>, config = {}, kernels = [@range_sum], {{.*}}, scratch_bytes = [[SB]] : i64}
  // CHECK-NEXT: cpurt.call "all-gather-start"(%[[P]], %[[G]], %[[T]]) {config = {dimension = 0 : i64}, {{.*}}, scratch_bytes = [[TB]] : i64}
  // CHECK-NEXT: cpurt.launch @k0_loop_negate(%[[P]], %[[Y:.*]])
  // CHECK-NEXT: cpurt.call "all-reduce-done"(%[[X]], %[[S]]) {config = {}, operand_types = [tensor<1024xf32>], result_types = [], scratch_bytes = [[SB]] : i64}
  // CHECK-NEXT: cpurt.call "all-gather-done"(%[[G]], %[[P]], %[[T]]) {config = {}, operand_types = [tensor<2048xf32>, tensor<1024xf32>], result_types = [], scratch_bytes = [[TB]] : i64}
  // CHECK-NEXT: cpurt.launch @{{.*}}(%[[X]], %[[Y]], %{{.*}})
  hlo.computation @main(%p: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<2048xf32>) attributes {entry} {
    %0 = hlo.fusion %p {
    ^bb0(%a: tensor<1024xf32>):
      %f = hlo.negate %a : (tensor<1024xf32>) -> tensor<1024xf32>
      hlo.return %f : tensor<1024xf32>
    } {strategy = "loop"} : (tensor<1024xf32>) -> tensor<1024xf32>
    %1 = hlo.all_reduce %0 {hlo.async, to_apply = @sum} : (tensor<1024xf32>) -> tensor<1024xf32>
    %2 = hlo.all_gather %p {hlo.async, dimension = 0 : i64} : (tensor<1024xf32>) -> tensor<2048xf32>
    %3 = hlo.fusion %p {
    ^bb0(%a: tensor<1024xf32>):
      %f = hlo.negate %a : (tensor<1024xf32>) -> tensor<1024xf32>
      hlo.return %f : tensor<1024xf32>
    } {strategy = "loop"} : (tensor<1024xf32>) -> tensor<1024xf32>
    %4 = hlo.collective_done %1, %0 : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
    %5 = hlo.collective_done %2, %p : (tensor<2048xf32>, tensor<1024xf32>) -> tensor<2048xf32>
    %6 = hlo.fusion %4, %3 {
    ^bb0(%a: tensor<1024xf32>, %b: tensor<1024xf32>):
      %f = hlo.add %a, %b : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
      hlo.return %f : tensor<1024xf32>
    } {strategy = "loop"} : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
    hlo.return %6, %5 : tensor<1024xf32>, tensor<2048xf32>
  }
}

// -----

// In a loop an all-reduce works in place of a carry that has another value in the next iteration, not of one that stays.
// CHECK-LABEL: module @carried
module @carried attributes {hlo.replica_count = 2 : i64} {
  hlo.computation @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
    %0 = hlo.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    hlo.return %0 : tensor<f32>
  }
  hlo.computation @body(%g: tensor<64xf32>, %h: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
    %0 = hlo.all_reduce %g {hlo.async, to_apply = @sum} : (tensor<64xf32>) -> tensor<64xf32>
    %1 = hlo.all_reduce %h {hlo.async, to_apply = @sum} : (tensor<64xf32>) -> tensor<64xf32>
    %2 = hlo.collective_done %0, %g : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %3 = hlo.collective_done %1, %h : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %4 = hlo.fusion %2, %3 {
    ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
      %f = hlo.add %a, %b : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      hlo.return %f : tensor<64xf32>
    } {may_alias = array<i64: 0, 0>, strategy = "loop"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    hlo.return %4, %h : tensor<64xf32>, tensor<64xf32>
  }
  hlo.computation @condition(%g: tensor<64xf32>, %h: tensor<64xf32>) -> tensor<i1> {
    %0 = hlo.constant {value = dense<true> : tensor<i1>} : tensor<i1>
    hlo.return %0 : tensor<i1>
  }
  // CHECK: %[[G:.*]] = cpurt.output 0
  // CHECK: cpurt.while
  // CHECK: cpurt.call "all-reduce-start"(%[[G]], %[[G]], %{{.*}}) {alias = array<i64: 0, 0>
  // CHECK-NEXT: cpurt.call "all-reduce-start"(%[[H:.*]], %[[R:.*]], %{{.*}}) {config
  // CHECK-NEXT: cpurt.call "all-reduce-done"(%[[G]], %{{.*}})
  // CHECK-NEXT: cpurt.call "all-reduce-done"(%[[R]], %[[H]], %{{.*}})
  // CHECK-NEXT: cpurt.launch @{{.*}}(%[[G]], %[[R]], %[[G]])
  // CHECK-NEXT: cpurt.yield
  hlo.computation @main(%p: tensor<64xf32>, %q: tensor<64xf32>) -> tensor<64xf32> attributes {entry} {
    %0:2 = hlo.while %p, %q {condition = @condition, body = @body, known_trip_count = 4 : i64} : (tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
    hlo.return %0#0 : tensor<64xf32>
  }
}
