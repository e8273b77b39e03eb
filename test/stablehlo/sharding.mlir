// Shardy's ops become the custom calls and frontend attributes that XLA's export writes.
// RUN: hlo-opt --hlo --print-hlo --split-input-file %s | FileCheck %s

// CHECK-LABEL: HloModule constraint
module @constraint attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {?}]> : tensor<4x8xf32>
    %1 = stablehlo.sine %0 : tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}
// CHECK: num_partitions=4, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=2]>}}
// CHECK: %a.1 = f32[4,8]{1,0} parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"x\"}, {}]>"}
// CHECK: %sharding_constraint.1 = f32[4,8]{1,0} custom-call(%a.1), custom_call_target="Sharding", frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"x\"}, {?}]>]>"}
// CHECK: %sine.1 = f32[4,8]{1,0} sine(%sharding_constraint.1)

// -----

// CHECK-LABEL: HloModule body
module @body attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%b: tensor<2x4xf32>) {
      %1 = stablehlo.sine %b : tensor<2x4xf32>
      sdy.return %1 : tensor<2x4xf32>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
// CHECK: num_partitions=4, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=2]>}}
// CHECK: %xla.sdy.manual_computation_body.1 (
// CHECK: ROOT %sine.1 = f32[2,4]{1,0} sine(%p.1)
// CHECK: %manual_computation.1 = f32[2,4]{1,0} custom-call(%a.1), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}, {\"y\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"x\", \"y\"}>"}
// CHECK: %manual_computation.1.1 = f32[2,4]{1,0} call(%manual_computation.1), to_apply=%xla.sdy.manual_computation_body.1, frontend_attributes={inlineable="false"}
// CHECK: ROOT %manual_computation.1.2 = f32[4,8]{1,0} custom-call(%manual_computation.1.1), custom_call_target="xla.sdy.LocalToGlobalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\"x\", \"y\"}>",xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}, {\"y\"}]>]>"}
