// Collectives, feeds, transfers, custom calls.
// RUN: hlo-opt --hlo --print-hlo --split-input-file %s | FileCheck %s

// CHECK-LABEL: HloModule collectives
module @collectives attributes {mhlo.num_replicas = 4 : i32} {
  func.func public @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<16x8xf32>, tensor<4x2xf32>, tensor<16x2xf32>, tensor<4x8xf32>, tensor<ui32>) {
    %0 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> : (tensor<4x8xf32>) -> tensor<16x8xf32>
    %2 = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x2xf32>
    %3 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 1 : i64}> : (tensor<4x8xf32>) -> tensor<16x2xf32>
    %4 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %5 = stablehlo.replica_id : tensor<ui32>
    return %0, %1, %2, %3, %4, %5 : tensor<4x8xf32>, tensor<16x8xf32>, tensor<4x2xf32>, tensor<16x2xf32>, tensor<4x8xf32>, tensor<ui32>
  }
}
// CHECK: replica_count=4
// CHECK: %all_reduce_body.1 (
// CHECK: ROOT %add.1 = f32[] add(%p.1, %p.2)
// CHECK: %reduce_scatter_body.1 (
// CHECK: ROOT %add.2 = f32[] add(%p.3, %p.4)
// CHECK{LITERAL}: %all_reduce.1 = f32[4,8]{1,0} all-reduce(%x.1), channel_id=1, replica_groups={{0,1,2},{3}}, use_global_device_ids=true, to_apply=%all_reduce_body.1
// CHECK{LITERAL}: %all_gather.1 = f32[16,8]{1,0} all-gather(%x.1), replica_groups={{0,1,2,3}}, dimensions={0}
// CHECK{LITERAL}: %reduce_scatter.1 = f32[4,2]{1,0} reduce-scatter(%x.1), replica_groups={{0,1,2,3}}, dimensions={1}, to_apply=%reduce_scatter_body.1
// CHECK{LITERAL}: %all_to_all.1 = f32[4,8]{1,0} all-to-all(%x.1), replica_groups={{0,1,2,3}}, dimensions={1}
// CHECK: %all_to_all.1.1 = f32[4,4,2]{2,1,0} reshape(%all_to_all.1)
// CHECK: %all_to_all.1.2 = f32[4,4,2]{2,1,0} transpose(%all_to_all.1.1), dimensions={1,0,2}
// CHECK: %all_to_all.1.3 = f32[16,2]{1,0} reshape(%all_to_all.1.2)
// CHECK{LITERAL}: %collective_permute.1 = f32[4,8]{1,0} collective-permute(%x.1), source_target_pairs={{0,1},{1,2}}
// CHECK: %replica_id.1 = u32[] replica-id()

// -----

// CHECK-LABEL: HloModule feeds
module @feeds {
  func.func public @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<i32>) {
    %t = stablehlo.create_token : !stablehlo.token
    %0:3 = "stablehlo.infeed"(%t) <{infeed_config = "q"}> : (!stablehlo.token) -> (tensor<2xf32>, tensor<i32>, !stablehlo.token)
    %1 = "stablehlo.outfeed"(%x, %0#2) : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    %2 = "stablehlo.send"(%x, %1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    return %0#0, %0#1 : tensor<2xf32>, tensor<i32>
  }
}
// CHECK: %create_token.1 = token[] after-all()
// CHECK: %infeed.1 = ((f32[2]{0}, s32[]), token[]) infeed(%create_token.1), infeed_config="q"
// CHECK: %infeed.1.1 = (f32[2]{0}, s32[]) get-tuple-element(%infeed.1), index=0
// CHECK: %infeed.1.2 = f32[2]{0} get-tuple-element(%infeed.1.1), index=0
// CHECK: %infeed.1.3 = s32[] get-tuple-element(%infeed.1.1), index=1
// CHECK: %infeed.1.4 = token[] get-tuple-element(%infeed.1), index=1
// CHECK: %outfeed.1 = token[] outfeed(%x.1, %infeed.1.4), outfeed_shape=f32[2]{0}
// CHECK: %send.1 = (f32[2]{0}, u32[], token[]) send(%x.1, %outfeed.1), channel_id=5, is_host_transfer=true
// CHECK: %send.1.1 = token[] send-done(%send.1), channel_id=5, is_host_transfer=true

// -----

// CHECK-LABEL: HloModule transfers
module @transfers attributes {mhlo.num_replicas = 2 : i32} {
  func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %t = stablehlo.create_token : !stablehlo.token
    %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    %1 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> {mhlo.frontend_attributes = {k = "v"}} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
    return %0#0 : tensor<2xf32>
  }
}
// CHECK{LITERAL}: %recv.1 = (f32[2]{0}, u32[], token[]) recv(%create_token.1), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,0}}}
// CHECK{LITERAL}: recv-done(%recv.1), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,0}}}
// CHECK{LITERAL}: %send.1 = (f32[2]{0}, u32[], token[]) send(%x.1, %create_token.1), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,0}},k="v"}
// CHECK{LITERAL}: send-done(%send.1), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,0}},k="v"}

// -----

// CHECK-LABEL: HloModule call
module @call {
  func.func public @main(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>)
    stablehlo.custom_call @note(%0#1) {has_side_effect = true, api_version = 2 : i32, backend_config = "a\"b"} : (tensor<i32>) -> ()
    return %0#0 : tensor<3x3xf32>
  }
}
// CHECK{LITERAL}: %custom_call.1 = (f32[3,3]{0,1}, s32[]) custom-call(%x.1), custom_call_target="lapack_spotrf_ffi", operand_layout_constraints={f32[3,3]{0,1}}, output_to_operand_aliasing={{0}: (0, {})}, api_version=API_VERSION_TYPED_FFI, frontend_attributes={num_batch_dims="0"}, backend_config={uplo = 76 : ui8}
// CHECK: ROOT %custom_call.1.1 = f32[3,3]{0,1} get-tuple-element(%custom_call.1), index=0
// CHECK: %custom_call.1.2 = s32[] get-tuple-element(%custom_call.1), index=1
// CHECK: %custom_call.2 = () custom-call(%custom_call.1.2), custom_call_target="note", custom_call_has_side_effect=true, api_version=API_VERSION_STATUS_RETURNING, backend_config="a\"b"

// -----

// A root of each array's own.
// CHECK-LABEL: HloModule roots
module @roots attributes {mhlo.num_replicas = 2 : i32} {
  func.func public @main(%x: tensor<4xf32>, %y: tensor<2xf32>, %root: tensor<2xi32>) -> (tensor<4xf32>, tensor<2xf32>) {
    %0:2 = "stablehlo.collective_broadcast"(%x, %y, %root) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> : (tensor<4xf32>, tensor<2xf32>, tensor<2xi32>) -> (tensor<4xf32>, tensor<2xf32>)
    return %0#0, %0#1 : tensor<4xf32>, tensor<2xf32>
  }
}
// CHECK: [[FIRST:%.*]] = s32[1]{0} slice({{.*}}), slice={[0:1]}
// CHECK: f32[4]{0} collective-broadcast({{%.*}}, [[FIRST]])
// CHECK: [[SECOND:%.*]] = s32[1]{0} slice({{.*}}), slice={[1:2]}
// CHECK: f32[2]{0} collective-broadcast({{%.*}}, [[SECOND]])
