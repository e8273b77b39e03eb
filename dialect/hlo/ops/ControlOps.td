//===- ControlOps.td - Computations, calls, control flow, tuples ----------===//
include "dialect/hlo/Base.td"
include "dialect/hlo/Strategy.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Hlo_ComputationOp : Op<Hlo_Dialect, "computation", [FunctionOpInterface, IsolatedFromAbove]> {
  let summary = "A named computation";
  let description = [{
    Parameters are block arguments (number = HLO parameter number; their own
    attributes are argument attributes, their name is in their location). The
    block ends in `hlo.return` of the root. `entry` marks the entry.
    `no_root` records a text without `ROOT`; `execution_thread` is absent for main.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility, UnitAttr:$entry,
                       OptionalAttr<StrAttr>:$execution_thread,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  let extraClassDeclaration = [{
    ::mlir::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::mlir::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The hlo.return that ends the body.
    ::mlir::Operation *getReturn() { return getBody().front().getTerminator(); }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}
def Hlo_ReturnOp : Op<Hlo_Dialect, "return", [Pure, Terminator, ReturnLike]> {
  let summary = "Root value(s) of a computation or of a fusion region";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

class Hlo_ControlOp<string mnemonic, dag ins, list<Trait> traits = []> : Hlo_Op<mnemonic, traits> {
  let summary = "HLO " # mnemonic;
  let arguments = ins;
  let results = (outs Variadic<AnyType>:$results);
}
def Hlo_CallOp : Hlo_ControlOp<"call",
    (ins Variadic<AnyType>:$inputs, FlatSymbolRefAttr:$to_apply, OptionalAttr<BoolAttr>:$is_composite)>;
def Hlo_WhileOp : Hlo_ControlOp<"while",
    (ins Variadic<AnyType>:$inputs, FlatSymbolRefAttr:$condition, FlatSymbolRefAttr:$body)>;
/// branch_computations also for a pred selector: {true, false}; `predicated`
/// tells the two text forms apart. Operands: selector, then one per branch as
/// parsed; once tuples are flattened, `branch_operand_counts` holds how many
/// operands belong to each branch.
def Hlo_ConditionalOp : Hlo_ControlOp<"conditional",
    (ins AnyType:$selector, Variadic<AnyType>:$inputs, ArrayAttr:$branch_computations,
         OptionalAttr<DenseI64ArrayAttr>:$branch_operand_counts)>;

/// As parsed: `calls` and no region. After the fusion pass: a region whose
/// block arguments are the operands, and a `strategy` (Strategy.td).
def Hlo_FusionOp : Hlo_Op<"fusion", []> {
  let summary = "A fused computation; after the fusion pass, one kernel";
  let arguments = (ins Variadic<AnyType>:$inputs, OptionalAttr<StrAttr>:$kind,
                       OptionalAttr<FlatSymbolRefAttr>:$calls,
                       OptionalAttr<StrAttr>:$output_to_operand_aliasing,
                       OptionalAttr<Hlo_StrategyAttr>:$strategy);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{
    operands (`calls` $calls^) : ($body)? attr-dict `:` functional-type(operands, results)
  }];
}
def Hlo_TupleOp : Hlo_ControlOp<"tuple", (ins Variadic<AnyType>:$inputs), [Pure]>;
def Hlo_GetTupleElementOp : Hlo_ControlOp<"get_tuple_element", (ins AnyType:$operand, I64Attr:$index), [Pure]>;
def Hlo_OptBarrierOp : Hlo_ControlOp<"opt_barrier", (ins Variadic<AnyType>:$inputs)>;
def Hlo_DomainOp : Hlo_ControlOp<"domain", (ins AnyType:$operand, StrAttr:$domain), [Pure]>;
def Hlo_AfterAllOp : Hlo_ControlOp<"after_all", (ins Variadic<AnyType>:$inputs), [Pure]>;
def Hlo_AddDependencyOp : Hlo_ControlOp<"add_dependency", (ins AnyType:$operand, AnyType:$token), [Pure]>;
def Hlo_AsyncStartOp : Hlo_ControlOp<"async_start",
    (ins Variadic<AnyType>:$inputs, FlatSymbolRefAttr:$calls, OptionalAttr<StrAttr>:$async_execution_thread,
         OptionalAttr<StrAttr>:$output_to_operand_aliasing, OptionalAttr<StrAttr>:$sugar)>;
def Hlo_AsyncUpdateOp : Hlo_ControlOp<"async_update",
    (ins Variadic<AnyType>:$inputs, OptionalAttr<FlatSymbolRefAttr>:$calls,
         OptionalAttr<StrAttr>:$async_execution_thread, OptionalAttr<StrAttr>:$output_to_operand_aliasing,
         OptionalAttr<StrAttr>:$sugar)>;
def Hlo_AsyncDoneOp : Hlo_ControlOp<"async_done",
    (ins AnyType:$operand, OptionalAttr<FlatSymbolRefAttr>:$calls,
         OptionalAttr<StrAttr>:$async_execution_thread, OptionalAttr<StrAttr>:$sugar)>;
def Hlo_CopyStartOp : Hlo_ControlOp<"copy_start",
    (ins AnyType:$operand, OptionalAttr<I64Attr>:$cross_program_prefetch_index), [Pure]>;
def Hlo_CopyDoneOp : Hlo_ControlOp<"copy_done", (ins AnyType:$operand), [Pure]>;
def Hlo_CustomCallOp : Hlo_ControlOp<"custom_call",
    (ins Variadic<AnyType>:$inputs, StrAttr:$custom_call_target,
         OptionalAttr<TypeArrayAttr>:$operand_layout_constraints,
         OptionalAttr<StrAttr>:$output_to_operand_aliasing,
         OptionalAttr<BoolAttr>:$custom_call_has_side_effect, OptionalAttr<StrAttr>:$api_version,
         OptionalAttr<StrAttr>:$schedule, OptionalAttr<ArrayAttr>:$called_computations,
         OptionalAttr<StrAttr>:$literal, OptionalAttr<StrAttr>:$window,
         OptionalAttr<StrAttr>:$dim_labels, OptionalAttr<I64Attr>:$feature_group_count,
         OptionalAttr<I64Attr>:$batch_group_count, OptionalAttr<StrArrayAttr>:$operand_precision,
         OptionalAttr<StrAttr>:$padding_type)>;
