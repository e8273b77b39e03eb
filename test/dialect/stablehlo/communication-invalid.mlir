// Constraints of the specification, each broken once: communication.
// RUN: hlo-opt --verify-diagnostics --split-input-file %s

func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.all_gather"(%a0) <{all_gather_dim = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x12xf32> // expected-error {{[all_gather_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.all_gather"(%a0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x12xf32> // expected-error {{[all_gather_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.all_gather"(%a0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x12xf32> // expected-error {{[all_gather_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.all_gather"(%a0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4x6xf32>) -> tensor<4x12xf32> // expected-error {{[all_gather_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.all_gather"(%a0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x13xf32> // expected-error {{[all_gather_c6]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.all_gather"(%a0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x12xi32> // expected-error {{[all_gather_c6]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[all_reduce_c1]}}
  %r = "stablehlo.all_reduce"(%a0) <{replica_groups = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[all_reduce_c1]}}
  %r = "stablehlo.all_reduce"(%a0) <{replica_groups = dense<[0, 1]> : tensor<2xi64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[all_reduce_c3]}}
  %r = "stablehlo.all_reduce"(%a0) <{replica_groups = dense<[[0, 3]]> : tensor<1x2xi64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[all_reduce_c4]}}
  %r = "stablehlo.all_reduce"(%a0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[all_reduce_c5]}}
  %r = "stablehlo.all_reduce"(%a0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%b0: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[all_reduce_c6]}}
  %r = "stablehlo.all_reduce"(%a0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x7xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[all_reduce_c7]}}
  %r = "stablehlo.all_reduce"(%a0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf64>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{result 1 is tensor<4x6xf64>, the computation returns tensor<f32> [all_reduce_c7]}}
  %r:2 = "stablehlo.all_reduce"(%a0, %a0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf64>)
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[all_reduce_c1]}}
  %r = "stablehlo.all_reduce"(%a0) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @none, axes = []>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[all_reduce_c1]}}
  %r = "stablehlo.all_reduce"(%a0) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "x", size = 4>]>, axes = [#stablehlo.axis_ref<name = "y">]>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[all_reduce_c1]}}
  %r = "stablehlo.all_reduce"(%a0) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "x", size = 4>]>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (3)2>]>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<5x6xf32>) {
  // expected-error@below {{[reduce_scatter_c1]}}
  %r = "stablehlo.reduce_scatter"(%a0) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<5x6xf32>) -> tensor<5x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[reduce_scatter_c2]}}
  %r = "stablehlo.reduce_scatter"(%a0) <{scatter_dimension = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<2x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[reduce_scatter_c3]}}
  %r = "stablehlo.reduce_scatter"(%a0) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<2x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[reduce_scatter_c5]}}
  %r = "stablehlo.reduce_scatter"(%a0) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<2x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[reduce_scatter_c6]}}
  %r = "stablehlo.reduce_scatter"(%a0) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<2x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[reduce_scatter_c7]}}
  %r = "stablehlo.reduce_scatter"(%a0) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%b0: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<2x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[reduce_scatter_c8]}}
  %r = "stablehlo.reduce_scatter"(%a0) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<3x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[reduce_scatter_c9]}}
  %r = "stablehlo.reduce_scatter"(%a0) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<2x6xf64>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.all_to_all"(%a0) <{split_dimension = 2 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<8x3xf32> // expected-error {{[all_to_all_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x5xf32>) {
  %r = "stablehlo.all_to_all"(%a0) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x5xf32>) -> tensor<8x3xf32> // expected-error {{[all_to_all_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.all_to_all"(%a0) <{split_dimension = 1 : i64, concat_dimension = 2 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<8x3xf32> // expected-error {{[all_to_all_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.all_to_all"(%a0) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<8x3xf32> // expected-error {{[all_to_all_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.all_to_all"(%a0) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<8x3xf32> // expected-error {{[all_to_all_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.all_to_all"(%a0) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<8x3xf32> // expected-error {{[all_to_all_c7]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.all_to_all"(%a0) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 3 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<12x2xf32> // expected-error {{[all_to_all_c8]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.all_to_all"(%a0) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<8x4xf32> // expected-error {{[all_to_all_c9]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.collective_broadcast"(%a0) <{replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32> // expected-error {{[collective_broadcast_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.collective_broadcast"(%a0) <{replica_groups = dense<[[0, -1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32> // expected-error {{[collective_broadcast_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.collective_broadcast"(%a0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x7xf32> // expected-error {{[collective_broadcast_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.collective_broadcast"(%a0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> : (tensor<4x6xf32>) -> tensor<4x6xf32> // expected-error {{[collective_broadcast_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>, %a1: tensor<i32>) {
  %r = "stablehlo.collective_broadcast"(%a0, %a1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root}> : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x6xf32> // expected-error {{[collective_broadcast_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r:2 = "stablehlo.collective_broadcast"(%a0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) // expected-error {{[collective_broadcast_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[collective_reduce_c1]}}
  %r = "stablehlo.collective_reduce"(%a0) <{replica_groups = dense<[[0, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[collective_reduce_c2]}}
  %r = "stablehlo.collective_reduce"(%a0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[collective_reduce_c3]}}
  %r = "stablehlo.collective_reduce"(%a0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%b0: tensor<f32>, %b1: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x7xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  // expected-error@below {{[collective_reduce_c4]}}
  %r = "stablehlo.collective_reduce"(%a0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%b0: tensor<f32>):
    stablehlo.return %b0 : tensor<f32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.collective_permute"(%a0) <{source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32> // expected-error {{[collective_permute_c1]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.collective_permute"(%a0) <{source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32> // expected-error {{[collective_permute_c2]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.collective_permute"(%a0) <{source_target_pairs = dense<[[0, 1], [1, 1]]> : tensor<2x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32> // expected-error {{[collective_permute_c3]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.collective_permute"(%a0) <{source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32> // expected-error {{[collective_permute_c4]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.collective_permute"(%a0) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x7xf32> // expected-error {{[collective_permute_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4x6xf32>) {
  %r = "stablehlo.cross-replica-sum"(%a0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x7xf32> // expected-error {{[cross-replica-sum_c1]}}
  return }
// -----
func.func @f(%a0: !stablehlo.token) {
  "stablehlo.infeed"(%a0) <{infeed_config = ""}> : (!stablehlo.token) -> () // expected-error {{[infeed_c1]}}
  return }
// -----
func.func @f(%a0: !stablehlo.token) {
  %r:2 = "stablehlo.infeed"(%a0) <{infeed_config = ""}> : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token) // expected-error {{[infeed_c2]}}
  return }
// -----
func.func @f(%a0: !stablehlo.token) {
  %r = "stablehlo.infeed"(%a0) <{infeed_config = ""}> : (!stablehlo.token) -> tensor<4xf32> // expected-error {{[infeed_c3]}}
  return }
// -----
func.func @f(%a0: !stablehlo.token) {
  %r:2 = "stablehlo.infeed"(%a0) <{infeed_config = "", layout = []}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token) // expected-error {{[infeed_layout]}}
  return }
// -----
func.func @f(%a0: !stablehlo.token) {
  %r:2 = "stablehlo.infeed"(%a0) <{infeed_config = "", layout = [0]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token) // expected-error {{[infeed_layout]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: !stablehlo.token) {
  %r = "stablehlo.send"(%a0, %a1) <{is_host_transfer = true, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token // expected-error {{[send_c5]}}
  return }
// -----
func.func @f(%a0: tensor<4xf32>, %a1: !stablehlo.token) {
  %r = "stablehlo.send"(%a0, %a1) <{source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token // expected-error {{[send_c2]}}
  return }
// -----
func.func @f(%a0: !stablehlo.token) {
  %r:2 = "stablehlo.recv"(%a0) <{is_host_transfer = false, channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token) // expected-error {{[recv_c5]}}
  return }
// -----
func.func @f(%a0: !stablehlo.token) {
  %r = "stablehlo.recv"(%a0) <{is_host_transfer = false, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (!stablehlo.token) -> tensor<4xf32> // expected-error {{[recv_o1]}}
  return }
// -----
func.func @f() {
  %r = "stablehlo.replica_id"() : () -> tensor<1xui32> // expected-error {{[replica_id_o1]}}
  return }
// -----
func.func @f() {
  %r = "stablehlo.partition_id"() : () -> tensor<1xui32> // expected-error {{[partition_id_o1]}}
  return }
