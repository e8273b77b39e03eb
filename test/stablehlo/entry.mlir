// Attributes of the entry and of the module; names and Python lines from locations.
// RUN: hlo-opt --hlo --print-hlo --split-input-file %s | FileCheck %s

// CHECK-LABEL: HloModule step
module @step attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 3 : i32} {
  func.func public @main(%arg0: tensor<3xf32> {tf.aliasing_output = 1 : i32}, %arg1: tensor<3xf32> {jax.buffer_donor = true, mhlo.sharding = "{replicated}"}) -> (tensor<3xf32> {jax.result_info = "result[0]"}, tensor<3xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<3xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "", mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<3xf32>) -> tensor<3xf32>
    return %0, %1 : tensor<3xf32>, tensor<3xf32>
  }
}
// CHECK: input_output_alias={ {1}: (0, {}, may-alias) }, buffer_donor={ (1, {}) }, replica_count=3, num_partitions=2
// CHECK: %arg1.1 = f32[3]{0} parameter(1), sharding={replicated}
// CHECK: %add.1 = f32[3]{0} add(%arg0.1, %arg1.1)
// CHECK: %custom_call.1 = f32[3]{0} custom-call(%add.1), custom_call_target="Sharding", sharding={devices=[2]<=[2]}

// -----

#loc1 = loc("params['w']")
// CHECK-LABEL: HloModule named
module @named {
  func.func public @main(%arg0: tensor<3x2xf32> {mhlo.layout_mode = "{0,1}"} loc("params['w']")) -> tensor<3x2xf32> {
    %0 = stablehlo.sine %arg0 : tensor<3x2xf32> loc(#loc5)
    return %0 : tensor<3x2xf32>
  }
}
#loc2 = loc("/usr/lib/python3/site-packages/jax/numpy.py":10:4)
#loc3 = loc("/home/me/train.py":12:7 to :25)
#loc4 = loc(callsite("sin"(#loc2) at "step"(#loc3)))
#loc5 = loc("jit(step)/sin"(#loc4))
// CHECK: entry_computation_layout={(f32[3,2]{0,1})->f32[3,2]{1,0}}
// CHECK: ROOT %sin.1 = f32[3,2]{1,0} sine(%params__w__.1), metadata={op_name="jit(step)/sin" source_file="/home/me/train.py" source_line=12}

// -----

// The only function that is not private is the entry, whatever its name.
// CHECK-LABEL: HloModule only
module @only {
  func.func private @callee(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.negate %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func public @step(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = func.call @callee(%x) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
// CHECK: ENTRY %step.1
