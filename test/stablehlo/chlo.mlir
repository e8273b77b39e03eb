// CHLO's ops: opcodes of their own, or expansions step by step as in XLA's export.
// RUN: hlo-opt --hlo --print-hlo --split-input-file %s | FileCheck %s

// CHECK-LABEL: HloModule opcodes
module @opcodes {
  func.func public @main(%x: tensor<4xf32>, %n: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xf32>) {
    %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
    %1 = chlo.mulhi %n, %n : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
    %2 = stablehlo.composite "chlo.erf" %x {decomposition = @erf} : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %1, %2 : tensor<4xf32>, tensor<4xi32>, tensor<4xf32>
  }
  func.func private @erf(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
// CHECK: %erf.1 (
// CHECK: %erf.2 = f32[4]{0} erf(%x.2)
// CHECK: %mulhi.1 = s32[4]{0} mulhi(%n.1, %n.1)
// CHECK: %composite.1 = f32[4]{0} erf(%x.2)

// -----

// Narrow types: in f32 where the export does that.
// CHECK-LABEL: HloModule functions
module @functions {
  func.func public @main(%x: tensor<f32>, %h: tensor<f16>) -> (tensor<f32>, tensor<f16>) {
    %0 = chlo.acos %x : tensor<f32> -> tensor<f32>
    %1 = chlo.cosh %h : tensor<f16> -> tensor<f16>
    return %0, %1 : tensor<f32>, tensor<f16>
  }
}
// CHECK: %acos.1 = f32[] constant(1)
// CHECK: %acos.1.1 = f32[] subtract(%acos.1, %x.1)
// CHECK: %acos.1.2 = f32[] constant(1)
// CHECK: %acos.1.3 = f32[] add(%x.1, %acos.1.2)
// CHECK: %acos.1.4 = f32[] multiply(%acos.1.1, %acos.1.3)
// CHECK: %acos.1.5 = f32[] sqrt(%acos.1.4)
// CHECK: %acos.1.6 = f32[] atan2(%acos.1.5, %x.1)
// CHECK: %cosh.1 = f32[] convert(%h.1)
// CHECK: %cosh.1.1 = f32[] constant(-0.6931472)
// CHECK: %cosh.1.2 = f32[] add(%cosh.1, %cosh.1.1)
// CHECK: %cosh.1.3 = f32[] exponential(%cosh.1.2)
// CHECK: %cosh.1.4 = f32[] constant(-0.6931472)
// CHECK: %cosh.1.5 = f32[] subtract(%cosh.1.4, %cosh.1)
// CHECK: %cosh.1.6 = f32[] exponential(%cosh.1.5)
// CHECK: %cosh.1.7 = f32[] add(%cosh.1.3, %cosh.1.6)
// CHECK: %cosh.1.8 = f16[] convert(%cosh.1.7)

// -----

// CHECK-LABEL: HloModule broadcasting
module @broadcasting {
  func.func public @main(%x: tensor<2x1xf32>, %y: tensor<3xf32>, %v: tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2x3xi1>, tensor<2x3xf32>) {
    %0 = chlo.broadcast_add %x, %y : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %1 = chlo.broadcast_compare %0, %y {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
    %2 = chlo.broadcast_multiply %0, %v {broadcast_dimensions = array<i64: 0>} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
    return %0, %1, %2 : tensor<2x3xf32>, tensor<2x3xi1>, tensor<2x3xf32>
  }
}
// CHECK: %broadcast_add.1 = f32[2]{0} reshape(%x.1)
// CHECK: %broadcast_add.1.1 = f32[2,3]{1,0} broadcast(%broadcast_add.1), dimensions={0}
// CHECK: %broadcast_add.1.2 = f32[2,3]{1,0} broadcast(%y.1), dimensions={1}
// CHECK: %broadcast_add.1.3 = f32[2,3]{1,0} add(%broadcast_add.1.1, %broadcast_add.1.2)
// CHECK: %broadcast_compare.1 = f32[2,3]{1,0} broadcast(%y.1), dimensions={1}
// CHECK: %broadcast_compare.1.1 = pred[2,3]{1,0} compare(%broadcast_add.1.3, %broadcast_compare.1), direction=LT
// CHECK: %broadcast_multiply.1 = f32[2,3]{1,0} broadcast(%v.1), dimensions={0}
// CHECK: %broadcast_multiply.1.1 = f32[2,3]{1,0} multiply(%broadcast_add.1.3, %broadcast_multiply.1)
