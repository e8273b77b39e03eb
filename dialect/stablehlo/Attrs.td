//===- Attrs.td - Types, enums and attributes of stablehlo ----------------===//
#ifndef DIALECT_STABLEHLO_ATTRS_TD
#define DIALECT_STABLEHLO_ATTRS_TD

include "dialect/stablehlo/Base.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/TensorEncoding.td"

class Stable_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Stablehlo_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Stable_TokenType : TypeDef<Stablehlo_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "A value that orders ops with side effects";
}
def Stable_FutureType : TypeDef<Stablehlo_Dialect, "Future"> {
  let mnemonic = "future";
  let summary = "What an async_start will have computed";
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` $types `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

class Stable_Enum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::stablehlo";
}

def Stable_Precision : Stable_Enum<"Precision", "precision of an operand", [
    I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]>;
def Stable_PrecisionAttr : EnumAttr<Stablehlo_Dialect, Stable_Precision, "precision">;
def Stable_PrecisionConfigAttr : TypedArrayAttrBase<Stable_PrecisionAttr, "array of precisions">;

def Stable_ResultAccuracyMode : Stable_Enum<"ResultAccuracyMode", "mode of a result accuracy", [
    I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGHEST", 1>, I32EnumAttrCase<"TOLERANCE", 2>]>;
def Stable_ResultAccuracyModeAttr
    : EnumAttr<Stablehlo_Dialect, Stable_ResultAccuracyMode, "result_accuracy_mode"> {
  let assemblyFormat = "`<` $value `>`";
}

def Stable_FftType : Stable_Enum<"FftType", "kind of a Fourier transform", [
    I32EnumAttrCase<"FFT", 0>, I32EnumAttrCase<"IFFT", 1>, I32EnumAttrCase<"RFFT", 2>,
    I32EnumAttrCase<"IRFFT", 3>]>;
def Stable_FftTypeAttr : EnumAttr<Stablehlo_Dialect, Stable_FftType, "fft_type">;

def Stable_ComparisonDirection : Stable_Enum<"ComparisonDirection", "comparison", [
    I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>, I32EnumAttrCase<"GT", 3>,
    I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def Stable_ComparisonDirectionAttr
    : EnumAttr<Stablehlo_Dialect, Stable_ComparisonDirection, "comparison_direction">;

def Stable_ComparisonType : Stable_Enum<"ComparisonType", "order that a comparison uses", [
    I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>,
    I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>]>;
def Stable_ComparisonTypeAttr : EnumAttr<Stablehlo_Dialect, Stable_ComparisonType, "comparison_type">;

def Stable_Transpose : Stable_Enum<"Transpose", "form in which a matrix is used", [
    I32EnumAttrCase<"TRANSPOSE_INVALID", 0>, I32EnumAttrCase<"NO_TRANSPOSE", 1>,
    I32EnumAttrCase<"TRANSPOSE", 2>, I32EnumAttrCase<"ADJOINT", 3>]>;
def Stable_TransposeAttr : EnumAttr<Stablehlo_Dialect, Stable_Transpose, "transpose">;

def Stable_RngDistribution : Stable_Enum<"RngDistribution", "distribution of random numbers", [
    I32EnumAttrCase<"UNIFORM", 1>, I32EnumAttrCase<"NORMAL", 2>]>;
def Stable_RngDistributionAttr : EnumAttr<Stablehlo_Dialect, Stable_RngDistribution, "rng_distribution">;

def Stable_RngAlgorithm : Stable_Enum<"RngAlgorithm", "algorithm of random bits", [
    I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"THREE_FRY", 1>, I32EnumAttrCase<"PHILOX", 2>]>;
def Stable_RngAlgorithmAttr : EnumAttr<Stablehlo_Dialect, Stable_RngAlgorithm, "rng_algorithm">;

/// A plain `i32` in the text, as the specification's older versions had it.
def Stable_CustomCallApiVersionAttr : I32EnumAttr<"CustomCallApiVersion", "version of a custom call's interface", [
    I32EnumAttrCase<"API_VERSION_UNSPECIFIED", 0>, I32EnumAttrCase<"API_VERSION_ORIGINAL", 1>,
    I32EnumAttrCase<"API_VERSION_STATUS_RETURNING", 2>,
    I32EnumAttrCase<"API_VERSION_STATUS_RETURNING_UNIFIED", 3>,
    I32EnumAttrCase<"API_VERSION_TYPED_FFI", 4>]> {
  let cppNamespace = "::stablehlo";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// `[1, ?, 3]`
def Stable_Dims : ArrayRefParameter<"int64_t"> {
  let parser = "::stablehlo::parseDimSizes($_parser)";
  let printer = "::stablehlo::printDimSizes($_printer, $_self)";
}

def Stable_DotDimensionNumbers : Stable_Attr<"DotDimensionNumbers", "dot"> {
  let parameters = (ins Stable_Dims:$lhsBatchingDimensions, Stable_Dims:$rhsBatchingDimensions,
                        Stable_Dims:$lhsContractingDimensions, Stable_Dims:$rhsContractingDimensions);
  let hasCustomAssemblyFormat = 1;
}

def Stable_GatherDimensionNumbers : Stable_Attr<"GatherDimensionNumbers", "gather"> {
  let parameters = (ins Stable_Dims:$offsetDims, Stable_Dims:$collapsedSliceDims,
                        Stable_Dims:$operandBatchingDims, Stable_Dims:$startIndicesBatchingDims,
                        Stable_Dims:$startIndexMap, "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

def Stable_ScatterDimensionNumbers : Stable_Attr<"ScatterDimensionNumbers", "scatter"> {
  let parameters = (ins Stable_Dims:$updateWindowDims, Stable_Dims:$insertedWindowDims,
                        Stable_Dims:$inputBatchingDims, Stable_Dims:$scatterIndicesBatchingDims,
                        Stable_Dims:$scatterDimsToOperandDims, "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

def Stable_ConvDimensionNumbers : Stable_Attr<"ConvDimensionNumbers", "conv"> {
  let summary = "Roles of a convolution's dimensions, `<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`";
  let description = "`raw` and named lists hold what no pattern can: a missing or repeated role.";
  let parameters = (ins "int64_t":$inputBatchDimension, "int64_t":$inputFeatureDimension,
                        Stable_Dims:$inputSpatialDimensions,
                        "int64_t":$kernelInputFeatureDimension, "int64_t":$kernelOutputFeatureDimension,
                        Stable_Dims:$kernelSpatialDimensions,
                        "int64_t":$outputBatchDimension, "int64_t":$outputFeatureDimension,
                        Stable_Dims:$outputSpatialDimensions);
  let hasCustomAssemblyFormat = 1;
}

def Stable_DotAlgorithm : Stable_Attr<"DotAlgorithm", "dot_algorithm"> {
  let parameters = (ins "::mlir::Type":$lhsPrecisionType, "::mlir::Type":$rhsPrecisionType,
                        "::mlir::Type":$accumulationType, "int64_t":$lhsComponentCount,
                        "int64_t":$rhsComponentCount, "int64_t":$numPrimitiveOperations,
                        "bool":$allowImpreciseAccumulation);
  let assemblyFormat = [{
    `<` `lhs_precision_type` `=` $lhsPrecisionType `,` `rhs_precision_type` `=` $rhsPrecisionType `,`
        `accumulation_type` `=` $accumulationType `,` `lhs_component_count` `=` $lhsComponentCount `,`
        `rhs_component_count` `=` $rhsComponentCount `,`
        `num_primitive_operations` `=` $numPrimitiveOperations `,`
        `allow_imprecise_accumulation` `=` $allowImpreciseAccumulation `>`
  }];
}

def Stable_OutputOperandAlias : Stable_Attr<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "A result of a custom call that is in the buffer of an operand";
  let parameters = (ins Stable_Dims:$outputTupleIndices, "int64_t":$operandIndex,
                        Stable_Dims:$operandTupleIndices);
  let assemblyFormat = [{
    `<` `output_tuple_indices` `=` $outputTupleIndices `,` `operand_index` `=` $operandIndex `,`
        `operand_tuple_indices` `=` $operandTupleIndices `>`
  }];
}

def Stable_ChannelHandle : Stable_Attr<"ChannelHandle", "channel_handle"> {
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Stable_TypeExtensions : Stable_Attr<"TypeExtensions", "bounds",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Encoding of an array: bounds of its dynamic dimensions, `<64, ?>`";
  let parameters = (ins ArrayRefParameter<"int64_t">:$bounds);
  let hasCustomAssemblyFormat = 1;
}

def Stable_ResultAccuracyAttr : Stable_Attr<"ResultAccuracy", "result_accuracy"> {
  let summary = "Which error of a function is tolerated";
  let parameters = (ins "::llvm::APFloat":$atol, "::llvm::APFloat":$rtol, "int64_t":$ulps,
                        Stable_ResultAccuracyModeAttr:$mode);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let constBuilderCall = "::stablehlo::defaultAccuracy($_builder.getContext())";
}

def Stable_SubAxisInfo : Stable_Attr<"SubAxisInfo", "sub_axis_info"> {
  let parameters = (ins "int64_t":$pre_size, "int64_t":$size);
  let assemblyFormat = "`(` $pre_size `)` `` $size";
}
def Stable_AxisRef : Stable_Attr<"AxisRef", "axis_ref"> {
  let parameters = (ins StringRefParameter<"">:$name, OptionalParameter<"SubAxisInfoAttr">:$sub_axis_info);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Stable_MeshAxis : Stable_Attr<"MeshAxis", "mesh_axis"> {
  let parameters = (ins StringRefParameter<"">:$name, "int64_t":$size);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Stable_Mesh : Stable_Attr<"Mesh", "mesh"> {
  let parameters = (ins ArrayRefParameter<"MeshAxisAttr">:$axes,
                        OptionalParameter<"::mlir::DenseIntElementsAttr">:$device_ids);
  let assemblyFormat = [{
    `<` `axes` `` `=` `` `[` $axes `]` (`,` `device_ids` `` `=` `` $device_ids^)? `>`
  }];
}
def Stable_ReplicaGroupMeshAxes : Stable_Attr<"ReplicaGroupMeshAxes", "replica_group_mesh_axes"> {
  let summary = "Replica groups as axes of a mesh: `mesh` is an attribute or a symbol of one";
  let parameters = (ins "::mlir::Attribute":$mesh, "::mlir::ArrayAttr":$axes);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Stable_ReplicaGroups : AnyAttrOf<[I64ElementsAttr, Stable_ReplicaGroupMeshAxes]>;

class Stable_IndexListBase
    : Attr<And<[IndexElementsAttr.predicate,
                CPred<"::llvm::cast<::mlir::DenseIntElementsAttr>($_self).getType().getRank() == 1">]>,
           "list of indices"> {
  let storageType = IndexElementsAttr.storageType;
  let returnType = IndexElementsAttr.returnType;
  let convertFromStorage = IndexElementsAttr.convertFromStorage;
}
def Stable_IndexList : Stable_IndexListBase;
def Stable_LayoutsAttr : TypedArrayAttrBase<Stable_IndexList, "array of layouts">;
def Stable_TilingAttr : TypedArrayAttrBase<Stable_IndexList, "array of tiles">;
def Stable_TilingsAttr : TypedArrayAttrBase<Stable_TilingAttr, "array of tilings">;
def Stable_SymbolsAttr : TypedArrayAttrBase<FlatSymbolRefAttr, "array of symbols"> {
  let constBuilderCall = "$_builder.getArrayAttr($0)";
}
def Stable_AliasesAttr : TypedArrayAttrBase<Stable_OutputOperandAlias, "array of aliases"> {
  let constBuilderCall = "$_builder.getArrayAttr($0)";
}

/// Attributes that most ops leave out.
def Stable_FlagOff : DefaultValuedOptionalAttr<BoolAttr, "false">;
def Stable_Accuracy : DefaultValuedOptionalAttr<Stable_ResultAccuracyAttr, "DEFAULT">;

#endif
