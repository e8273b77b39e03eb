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
  // CHECK: cpurt.call "all-reduce"(%[[IN]], %[[OUT]], %{{.*}}) {config = {channel_id = 1 : i64}, kernels = [@range_sum], operand_types = [tensor<8xf32>], result_types = [tensor<8xf32>], scratch_bytes = 16384 : i64}
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
