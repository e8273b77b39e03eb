// Regions become computations. Loops carry what they use from outside, branches get it, constants are copied.
// RUN: hlo-opt --hlo --print-hlo --split-input-file %s | FileCheck %s

// CHECK-LABEL: HloModule loop
module @loop {
  func.func public @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %limit = stablehlo.constant dense<5> : tensor<i32>
    %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<3xf32>
    cond {
      %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %n = stablehlo.add %i, %one : tensor<i32>
      %b = stablehlo.multiply %a, %y : tensor<3xf32>
      stablehlo.return %n, %b : tensor<i32>, tensor<3xf32>
    }
    return %0#1 : tensor<3xf32>
  }
}
// CHECK: %while_region_0.1 (
// CHECK: %p.1.1 = s32[] get-tuple-element(%p.1), index=0
// CHECK: %p.1.2 = f32[3]{0} get-tuple-element(%p.1), index=1
// CHECK: %p.1.3 = f32[3]{0} get-tuple-element(%p.1), index=2
// CHECK: %constant.3 = s32[] constant(5)
// CHECK: ROOT %compare.1 = pred[] compare(%p.1.1, %constant.3), direction=LT
// CHECK: %while_region_1.1 (
// CHECK: %p.2.1 = s32[] get-tuple-element(%p.2), index=0
// CHECK: %p.2.2 = f32[3]{0} get-tuple-element(%p.2), index=1
// CHECK: %p.2.3 = f32[3]{0} get-tuple-element(%p.2), index=2
// CHECK: %constant.4 = s32[] constant(1)
// CHECK: %add.1 = s32[] add(%p.2.1, %constant.4)
// CHECK: %multiply.1 = f32[3]{0} multiply(%p.2.2, %p.2.3)
// CHECK: %constant.1 = s32[] constant(0)
// CHECK: %constant.2 = s32[] constant(5)
// CHECK: %while.1 = (s32[], f32[3]{0}, f32[3]{0}) tuple(%constant.1, %x.1, %y.1)
// CHECK: %while.1.1 = (s32[], f32[3]{0}, f32[3]{0}) while(%while.1), condition=%while_region_0.1, body=%while_region_1.1
// CHECK: %while.1.2 = s32[] get-tuple-element(%while.1.1), index=0
// CHECK: ROOT %while.1.3 = f32[3]{0} get-tuple-element(%while.1.1), index=1

// -----

// CHECK-LABEL: HloModule branches
module @branches {
  func.func public @main(%p: tensor<i1>, %k: tensor<i32>, %x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
    %0:2 = "stablehlo.if"(%p) ({
      %s = stablehlo.sine %x : tensor<f32>
      stablehlo.return %s, %y : tensor<f32>, tensor<f32>
    }, {
      stablehlo.return %y, %y : tensor<f32>, tensor<f32>
    }) : (tensor<i1>) -> (tensor<f32>, tensor<f32>)
    %1 = "stablehlo.case"(%k) ({
      stablehlo.return %x : tensor<f32>
    }, {
      %m = stablehlo.multiply %x, %y : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) : (tensor<i32>) -> tensor<f32>
    return %0#0, %0#1, %1 : tensor<f32>, tensor<f32>, tensor<f32>
  }
}
// CHECK: %if_region_0.1 (
// CHECK: %p.2.1 = f32[] get-tuple-element(%p.2), index=0
// CHECK: %p.2.2 = f32[] get-tuple-element(%p.2), index=1
// CHECK: %sine.1 = f32[] sine(%p.2.1)
// CHECK: %if_region_1.1 (
// CHECK: %p.3.1 = f32[] get-tuple-element(%p.3), index=0
// CHECK: %case_region_0.1 (
// CHECK: ROOT %p.4.1 = f32[] get-tuple-element(%p.4), index=0
// CHECK: %case_region_1.1 (
// CHECK: %p.5.1 = f32[] get-tuple-element(%p.5), index=0
// CHECK: %p.5.2 = f32[] get-tuple-element(%p.5), index=1
// CHECK: ROOT %multiply.1 = f32[] multiply(%p.5.1, %p.5.2)
// CHECK: %if.1 = (f32[], f32[]) tuple(%x.1, %y.1)
// CHECK: %if.1.1 = (f32[]) tuple(%y.1)
// CHECK: %if.1.2 = (f32[], f32[]) conditional(%p.1, %if.1, %if.1.1), true_computation=%if_region_0.1, false_computation=%if_region_1.1
// CHECK: %if.1.3 = f32[] get-tuple-element(%if.1.2), index=0
// CHECK: %if.1.4 = f32[] get-tuple-element(%if.1.2), index=1
// CHECK: %case.1 = (f32[]) tuple(%x.1)
// CHECK: %case.1.1 = (f32[], f32[]) tuple(%x.1, %y.1)
// CHECK: %case.1.2 = f32[] conditional(%k.1, %case.1, %case.1.1), branch_computations={%case_region_0.1, %case_region_1.1}

// -----

// CHECK-LABEL: HloModule reductions
module @reductions {
  func.func public @main(%x: tensor<4x6xf32>, %n: tensor<4x6xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<2x3xf32>, tensor<4x6xf32>, tensor<4x6xi32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %none = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %1:2 = stablehlo.reduce(%x init: %zero), (%n init: %none) across dimensions = [1] : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
      %s = stablehlo.maximum %a, %b : tensor<f32>
      %t = stablehlo.add %c, %d : tensor<i32>
      stablehlo.return %s, %t : tensor<f32>, tensor<i32>
    }
    %2 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, padding = dense<0> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x3xf32>
    %3:2 = "stablehlo.sort"(%x, %n) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
      %s = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %s : tensor<i1>
    }) : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
    return %0, %1#0, %1#1, %2, %3#0, %3#1 : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<2x3xf32>, tensor<4x6xf32>, tensor<4x6xi32>
  }
}
// CHECK: %reduce_body.1 (
// CHECK: ROOT %add.1 = f32[] add(%p.1, %p.2)
// CHECK: %reduce_body.2 (
// CHECK: %maximum.1 = f32[] maximum(%p.3, %p.5)
// CHECK: %add.2 = s32[] add(%p.4, %p.6)
// CHECK: ROOT %add.2.1 = (f32[], s32[]) tuple(%maximum.1, %add.2)
// CHECK: %reduce_window_body.1 (
// CHECK: ROOT %add.3 = f32[] add(%p.7, %p.8)
// CHECK: %sort_body.1 (
// CHECK: ROOT %compare.1 = pred[] compare(%p.9, %p.10), direction=LT
// CHECK: %constant.1 = f32[] constant(0)
// CHECK: %constant.2 = s32[] constant(0)
// CHECK: %reduce.1 = f32[4]{0} reduce(%x.1, %constant.1), dimensions={1}, to_apply=%reduce_body.1
// CHECK: %reduce.2 = (f32[4]{0}, s32[4]{0}) reduce(%x.1, %n.1, %constant.1, %constant.2), dimensions={1}, to_apply=%reduce_body.2
// CHECK: %reduce.2.1 = f32[4]{0} get-tuple-element(%reduce.2), index=0
// CHECK: %reduce.2.2 = s32[4]{0} get-tuple-element(%reduce.2), index=1
// CHECK: %reduce_window.1 = f32[2,3]{1,0} reduce-window(%x.1, %constant.1), window={size=2x2 stride=2x2}, to_apply=%reduce_window_body.1
// CHECK: %sort.1 = (f32[4,6]{1,0}, s32[4,6]{1,0}) sort(%x.1, %n.1), dimensions={1}, is_stable=true, to_apply=%sort_body.1
// CHECK: %sort.1.1 = f32[4,6]{1,0} get-tuple-element(%sort.1), index=0
// CHECK: %sort.1.2 = s32[4,6]{1,0} get-tuple-element(%sort.1), index=1

// -----

// Functions: one computation for each, callees first, however often they are called.
// CHECK-LABEL: HloModule calls
module @calls {
  func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0:2 = call @twice(%x) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %1 = stablehlo.composite "own.op" %0#1 {decomposition = @negated, composite_attributes = {k = 1 : i32}} : (tensor<3xf32>) -> tensor<3xf32>
    %2 = call @negated(%1) : (tensor<3xf32>) -> tensor<3xf32>
    return %2 : tensor<3xf32>
  }
  func.func private @unused(%x: tensor<3xf32>) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
  func.func private @twice(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %0 = call @negated(%x) : (tensor<3xf32>) -> tensor<3xf32>
    return %x, %0 : tensor<3xf32>, tensor<3xf32>
  }
  func.func private @negated(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.negate %x : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
// CHECK: %negated.1 (
// CHECK: ROOT %negate.1 = f32[3]{0} negate(%x.1)
// CHECK: %twice.1 (
// CHECK: %call.1 = f32[3]{0} call(%x.2), to_apply=%negated.1
// CHECK: %call.2 = (f32[3]{0}, f32[3]{0}) call(%x.3), to_apply=%twice.1
// CHECK: %call.2.1 = f32[3]{0} get-tuple-element(%call.2), index=0
// CHECK: %call.2.2 = f32[3]{0} get-tuple-element(%call.2), index=1
// CHECK: %composite.1 = f32[3]{0} call(%call.2.2), to_apply=%negated.1
// CHECK: ROOT %call.3 = f32[3]{0} call(%composite.1), to_apply=%negated.1
