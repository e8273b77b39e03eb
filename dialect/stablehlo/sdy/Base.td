//===- Base.td - The sdy dialect: shardings -------------------------------===//
#ifndef DIALECT_STABLEHLO_SDY_BASE_TD
#define DIALECT_STABLEHLO_SDY_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::sdy";
  let summary = "Shardy's meshes, shardings of arrays, and ops that ask for shardings";
  let dependentDialects = ["::stablehlo::StablehloDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

class Sdy_Attr<string name, string attrMnemonic> : AttrDef<Sdy_Dialect, name> { let mnemonic = attrMnemonic; }

def Sdy_PropagationDirection : I32EnumAttr<"PropagationDirection", "direction of propagation", [
    I32EnumAttrCase<"NONE", 0>, I32EnumAttrCase<"FORWARD", 1>, I32EnumAttrCase<"BACKWARD", 2>,
    I32EnumAttrCase<"BOTH", 3>]> {
  let cppNamespace = "::sdy";
}
def Sdy_ReductionOp : I32EnumAttr<"ReductionOp", "how unreduced parts are combined", [
    I32EnumAttrCase<"SUM", 0, "sum">, I32EnumAttrCase<"MAX", 1, "max">, I32EnumAttrCase<"MIN", 2, "min">]> {
  let cppNamespace = "::sdy";
}

//===----------------------------------------------------------------------===//
// Meshes and axes
//===----------------------------------------------------------------------===//

def Sdy_MeshAxis : Sdy_Attr<"MeshAxis", "mesh_axis"> {
  let parameters = (ins StringRefParameter<"">:$name, "int64_t":$size);
  let assemblyFormat = "`` $name `` `=` `` $size";
}
def Sdy_Mesh : Sdy_Attr<"Mesh", "mesh"> {
  let summary = "Named axes, `<[\"x\"=2, \"y\"=4]>`, and its devices where they are not in the order 0, 1, ...";
  let description = "Without axes and with one device: all arrays are on that device.";
  let parameters = (ins OptionalArrayRefParameter<"MeshAxisAttr">:$axes,
                        OptionalArrayRefParameter<"int64_t">:$device_ids);
  let assemblyFormat = [{
    `<` `[` (`]`) : ($axes^ `]`)? (`,` `device_ids` `` `=` `` `[` $device_ids^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
  let skipDefaultBuilders = 1;
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<MeshAxisAttr>":$axes,
                                   CArg<"::llvm::ArrayRef<int64_t>", "{}">:$device_ids), [{
    int64_t count = 1;
    for (MeshAxisAttr axis : axes) {
      (void)::llvm::MulOverflow(count, axis.getSize(), count);
    }
    bool isDefault = !axes.empty() && count > 0 && static_cast<int64_t>(device_ids.size()) == count &&
                     ::llvm::equal(device_ids, ::llvm::seq<int64_t>(0, count));
    return $_get($_ctxt, axes, isDefault ? ::llvm::ArrayRef<int64_t>() : device_ids);
  }]>];
}
def Sdy_SubAxisInfo : Sdy_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "`(pre_size)size`: the part of an axis after `pre_size` shards, of `size` shards";
  let parameters = (ins "int64_t":$pre_size, "int64_t":$size);
  let assemblyFormat = "`(` $pre_size `)` `` $size";
}
def Sdy_AxisRef : Sdy_Attr<"AxisRef", "axis_ref"> {
  let parameters = (ins StringRefParameter<"">:$name, OptionalParameter<"SubAxisInfoAttr">:$sub_axis_info);
  let assemblyFormat = "`` $name (`` `:` `` $sub_axis_info^)?";
}
def Sdy_AxisRefs : OptionalArrayRefParameter<"AxisRefAttr">;
def Sdy_ManualAxes : ArrayOfAttr<Sdy_Dialect, "ManualAxes", "manual_axes", "::mlir::StringAttr"> {
  let assemblyFormat = "`{` (`}`) : ($value^ `` `}`)?";
}
def Sdy_AxisRefList : ArrayOfAttr<Sdy_Dialect, "AxisRefList", "axis_ref_list", "AxisRefAttr"> {
  let assemblyFormat = "`{` (`}`) : ($value^ `` `}`)?";
}
def Sdy_ListOfAxisRefLists
    : ArrayOfAttr<Sdy_Dialect, "ListOfAxisRefLists", "list_of_axis_ref_lists", "AxisRefListAttr">;
def Sdy_AllToAllParam : Sdy_Attr<"AllToAllParam", "all_to_all_param"> {
  let parameters = (ins ArrayRefParameter<"AxisRefAttr">:$axes, "int64_t":$src_dim, "int64_t":$tgt_dim);
  let assemblyFormat = "`` `{` $axes `}` `` `:` $src_dim `` `->` `` $tgt_dim";
}
def Sdy_AllToAllParamList
    : ArrayOfAttr<Sdy_Dialect, "AllToAllParamList", "all_to_all_param_list", "AllToAllParamAttr">;

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

def Sdy_DimensionSharding : Sdy_Attr<"DimensionSharding", "dimension_sharding"> {
  let summary = "`{\"x\", \"y\", ?}p1`: axes of a dimension, whether more may follow, a priority";
  let parameters = (ins Sdy_AxisRefs:$axes, "bool":$is_closed,
                        OptionalParameter<"::std::optional<int64_t>">:$priority);
  let hasCustomAssemblyFormat = 1;
}
def Sdy_TensorSharding : Sdy_Attr<"TensorSharding", "sharding"> {
  let summary = "`<@mesh, [{\"x\"}, {?}], replicated={\"y\"}>`: a mesh or its symbol, and its dimensions";
  let parameters = (ins "::mlir::Attribute":$mesh_or_ref,
                        OptionalArrayRefParameter<"DimensionShardingAttr">:$dim_shardings,
                        Sdy_AxisRefs:$replicated_axes, Sdy_AxisRefs:$unreduced_axes,
                        EnumParameter<Sdy_ReductionOp>:$reduction_op);
  let assemblyFormat = [{
    `<` custom<MeshOrRef>($mesh_or_ref) `,` `[` (`]`) : ($dim_shardings^ `]`)? ``
        custom<ReplicatedAndUnreducedAxes>($replicated_axes, $unreduced_axes, $reduction_op) `>`
  }];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getDimShardings().size(); }
    /// The mesh, also where it is a symbol of a module around `op`; null if there is none.
    MeshAttr getMesh(::mlir::Operation *op) const;
  }];
}
def Sdy_TensorShardingPerValue : Sdy_Attr<"TensorShardingPerValue", "sharding_per_value"> {
  let parameters = (ins OptionalArrayRefParameter<"TensorShardingAttr">:$shardings);
  let assemblyFormat = "`<` `[` (`]`) : ($shardings^ `]`)? `>`";
  let extraClassDeclaration = [{
    bool empty() const { return getShardings().empty(); }
    int64_t size() const { return getShardings().size(); }
  }];
}

//===----------------------------------------------------------------------===//
// Sharding rules of ops
//===----------------------------------------------------------------------===//

def Sdy_DimMapping : Sdy_Attr<"DimMapping", "dim_mapping"> {
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$factor_indices);
  let hasCustomAssemblyFormat = 1;
}
def Sdy_TensorMapping : Sdy_Attr<"TensorMapping", "tensor_mapping"> {
  let parameters = (ins OptionalArrayRefParameter<"DimMappingAttr">:$dim_mappings);
  let assemblyFormat = "`` `[` (`]`) : ($dim_mappings^ `]`)? ``";
}
def Sdy_OpShardingRule : Sdy_Attr<"OpShardingRule", "op_sharding_rule"> {
  let summary = "`<([i, k], [k, j])->([i, j]) {i=8, j=16, k=8} reduction={k}>`: which dimensions go together";
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$factor_sizes,
                        OptionalArrayRefParameter<"TensorMappingAttr">:$operand_mappings,
                        OptionalArrayRefParameter<"TensorMappingAttr">:$result_mappings,
                        OptionalArrayRefParameter<"int64_t">:$reduction_factors,
                        OptionalArrayRefParameter<"int64_t">:$need_replication_factors,
                        OptionalArrayRefParameter<"int64_t">:$permutation_factors,
                        OptionalArrayRefParameter<"int64_t">:$blocked_propagation_factors,
                        DefaultValuedParameter<"bool", "false">:$is_custom_rule);
  let assemblyFormat = [{
    `<` `(` $operand_mappings `)` `` `->` `` `(` $result_mappings `)` `` custom<FactorSizes>($factor_sizes) ``
        custom<FactorsWithType>($reduction_factors, "\"reduction\"") ``
        custom<FactorsWithType>($need_replication_factors, "\"need_replication\"") ``
        custom<FactorsWithType>($permutation_factors, "\"permutation\"") ``
        custom<FactorsWithType>($blocked_propagation_factors, "\"blocked_propagation\"") ``
        custom<IsCustomRule>($is_custom_rule) `>`
  }];
}

#endif
