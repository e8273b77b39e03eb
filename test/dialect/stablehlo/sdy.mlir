// Ops and attributes of sdy, in the form that is printed.
// RUN: grep -v '^//' %s > %t.expected
// RUN: hlo-opt %s | diff %t.expected -
// RUN: hlo-opt --mlir-print-op-generic %s | hlo-opt | diff %t.expected -
module {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  sdy.mesh @reordered = <["x"=2], device_ids=[1, 0]>
  sdy.mesh @one = <[], device_ids=[3]>
  func.func @shardings(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y":(1)2}, {?}p1]>}, %arg1: tensor<8x16xf32>) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], replicated={"x"}, unreduced=max{"y"}>}) {
    %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<mesh<["a"=2]>, [{"a", ?}, {}]>]>} : tensor<8x16xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {"y"}]> : tensor<8x16xf32>
    %2 = sdy.reshard %1 <@mesh, [{"y"}, {"x"}]> : tensor<8x16xf32>
    %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{"y"}, {"x"}]>] out_shardings=[<@mesh, [{"y"}, {"x"}]>] manual_axes={"x", "y"} (%arg2: tensor<2x8xf32>) {
      sdy.return %arg2 : tensor<2x8xf32>
    } : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %4 = sdy.named_computation<"block">(%3) in_shardings=[<@mesh, [{"y"}, {"x"}]>] (%arg2: tensor<8x16xf32>) {
      sdy.return %arg2 : tensor<8x16xf32>
    } : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %5 = sdy.propagation_barrier %4 allowed_direction=FORWARD : tensor<8x16xf32>
    sdy.sharding_group %5 group_id=7 : tensor<8x16xf32>
    %6 = sdy.data_flow_edge %5 sharding=<@mesh, [{"x"}, {}]> : tensor<8x16xf32>
    %7 = sdy.all_gather [{"x"}, {}] %6 out_sharding=<@mesh, [{}, {}]> : tensor<8x16xf32>
    %8 = sdy.all_reduce {"y"} %7 out_sharding=<@mesh, [{}, {}]> : tensor<8x16xf32>
    %9 = sdy.all_to_all [{"x"}: 0->1] %8 out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x16xf32>
    %10 = stablehlo.custom_call @target(%9) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, jk])->([i, jk]) {i=8, j=4, k=4} need_replication={k}, custom>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %11 = sdy.constant dense<1.000000e+00> : tensor<8x16xf32>
    return %10 : tensor<8x16xf32>
  }
}

