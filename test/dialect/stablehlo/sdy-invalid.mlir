// Each check of shardings once.
// RUN: hlo-opt --verify-diagnostics --split-input-file %s

sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  %0 = sdy.sharding_constraint %x <@none, [{}, {}]> : tensor<8x16xf32> // expected-error {{[sdy_mesh]}}
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  %0 = sdy.sharding_constraint %x <@m, [{"z"}, {}]> : tensor<8x16xf32> // expected-error {{[sdy_axis]}}
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  %0 = sdy.sharding_constraint %x <@m, [{"x"}, {"x"}]> : tensor<8x16xf32> // expected-error {{[sdy_axis]}}
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  %0 = sdy.sharding_constraint %x <@m, [{"y":(1)2}, {"y":(1)2}]> : tensor<8x16xf32> // expected-error {{[sdy_axis]}}
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  %0 = sdy.sharding_constraint %x <@m, [{"y":(3)2}, {}]> : tensor<8x16xf32> // expected-error {{[sdy_axis]}}
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  %0 = sdy.sharding_constraint %x <@m, [{}, {}p1]> : tensor<8x16xf32> // expected-error {{[sdy_axis]}}
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  %0 = sdy.sharding_constraint %x <@m, [{}, {}], replicated={"y", "x"}> : tensor<8x16xf32> // expected-error {{[sdy_axis]}}
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  %0 = sdy.sharding_constraint %x <@m, [{}]> : tensor<8x16xf32> // expected-error {{[sdy_rank]}}
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  sdy.sharding_group %x group_id=-1 : tensor<8x16xf32> // expected-error {{[sdy_values]}}
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  %0 = sdy.propagation_barrier %x allowed_direction=BOTH : tensor<8x16xf32> // expected-error {{[sdy_values]}}
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding<@m, [{}, {}]>} : tensor<8x16xf32> // expected-error {{[sdy_values]}}
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>, <@m, [{}, {}]>]>} : tensor<8x16xf32> // expected-error {{[sdy_values]}}
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}]>]>} : tensor<8x16xf32> // expected-error {{[sdy_rank]}}
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  // expected-error@below {{[sdy_values]}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"x"}, {}]>] out_shardings=[<@m, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<8x16xf32>) {
    sdy.return %a : tensor<8x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  // expected-error@below {{[sdy_values]}}
  %0 = sdy.manual_computation(%x) in_shardings=[] out_shardings=[<@m, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<4x16xf32>) {
    sdy.return %a : tensor<4x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  // expected-error@below {{[sdy_axis]}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"x"}, {}]>] out_shardings=[<@m, [{"x"}, {}]>] manual_axes={"z"} (%a: tensor<4x16xf32>) {
    sdy.return %a : tensor<4x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  // expected-error@below {{[sdy_axis]}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"y", "x"}, {}]>] out_shardings=[<@m, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<4x16xf32>) {
    sdy.return %a : tensor<4x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return }
// -----
sdy.mesh @m = <["x"=2, "y"=4]>
func.func @f(%x: tensor<8x16xf32>) {
  // expected-error@below {{[sdy_mesh]}}
  %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{"x"}, {}]>] out_shardings=[<mesh<["x"=2]>, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<4x16xf32>) {
    sdy.return %a : tensor<4x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return }
