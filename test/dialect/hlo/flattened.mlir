// RUN: hlo-opt %s -o %t && hlo-opt %t | diff %t - && FileCheck %s < %t

// The form of ops once tuples and tokens are gone: N results instead of a tuple, computations of N values.

hlo.computation @stop(%i: tensor<si32>, %x: tensor<4xf32>) -> tensor<i1> {
  %0 = hlo.constant {value = dense<false> : tensor<i1>} : tensor<i1>
  hlo.return %0 : tensor<i1>
}

hlo.computation @swap(%i: tensor<si32>, %x: tensor<4xf32>) -> (tensor<si32>, tensor<4xf32>) {
  hlo.return %i, %x : tensor<si32>, tensor<4xf32>
}

hlo.computation @nothing() -> (tensor<si32>, tensor<4xf32>) {
  %0 = hlo.constant {value = dense<1> : tensor<si32>} : tensor<si32>
  %1 = hlo.constant {value = dense<0.0> : tensor<4xf32>} : tensor<4xf32>
  hlo.return %0, %1 : tensor<si32>, tensor<4xf32>
}

hlo.computation @argmax(%a: tensor<f32>, %i: tensor<si32>, %b: tensor<f32>, %j: tensor<si32>) -> (tensor<f32>, tensor<si32>) {
  hlo.return %a, %i : tensor<f32>, tensor<si32>
}

// CHECK-LABEL: hlo.computation @e
hlo.computation @e(%i: tensor<si32>, %x: tensor<4xf32>, %n: tensor<4xsi32>, %z: tensor<f32>) -> (tensor<4xf32>, tensor<si32>) attributes {entry} {
  // CHECK: %{{.*}}:2 = hlo.while %{{.*}} : (tensor<si32>, tensor<4xf32>) -> (tensor<si32>, tensor<4xf32>)
  %0:2 = hlo.while %i, %x {condition = @stop, body = @swap} : (tensor<si32>, tensor<4xf32>) -> (tensor<si32>, tensor<4xf32>)
  // CHECK: %{{.*}}:2 = hlo.conditional
  %1:2 = hlo.conditional %i, %i, %x {branch_computations = [@nothing, @swap], branch_operand_counts = array<i64: 0, 2>} : (tensor<si32>, tensor<si32>, tensor<4xf32>) -> (tensor<si32>, tensor<4xf32>)
  // In place: inputs, outputs, start indices.
  // CHECK: %{{.*}}:2 = hlo.collective_permute
  %p:2 = hlo.collective_permute %x, %x, %x, %x, %i, %i, %i, %i {slice_sizes = "{{2}, {2}}", source_target_pairs = "{{0,1}}"} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<si32>, tensor<si32>, tensor<si32>, tensor<si32>) -> (tensor<4xf32>, tensor<4xf32>)
  // CHECK: %{{.*}}:2 = hlo.reduce
  %2:2 = hlo.reduce %x, %n, %z, %i {dimensions = array<i64: 0>, to_apply = @argmax} : (tensor<4xf32>, tensor<4xsi32>, tensor<f32>, tensor<si32>) -> (tensor<f32>, tensor<si32>)
  // CHECK: %{{.*}}:2 = hlo.topk
  %3:2 = hlo.topk %x {k = 2 : i64} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xsi32>)
  // CHECK: %{{.*}} = hlo.infeed
  %4 = hlo.infeed : () -> tensor<4xf32>
  // CHECK: hlo.outfeed %{{.*}} {outfeed_shape = tuple<tensor<4xf32>, tensor<si32>>}
  hlo.outfeed %4, %i {outfeed_shape = tuple<tensor<4xf32>, tensor<si32>>} : (tensor<4xf32>, tensor<si32>) -> ()
  // CHECK: hlo.fusion %{{.*}} {
  // CHECK: ^bb0
  // CHECK: } {strategy = "loop"}
  %5 = hlo.fusion %0#1 {
  ^bb0(%a: tensor<4xf32>):
    %6 = hlo.negate %a : (tensor<4xf32>) -> tensor<4xf32>
    hlo.return %6 : tensor<4xf32>
  } {strategy = "loop"} : (tensor<4xf32>) -> tensor<4xf32>
  hlo.return %5, %2#1 : tensor<4xf32>, tensor<si32>
}
