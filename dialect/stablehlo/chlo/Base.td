//===- Base.td - The chlo dialect: base classes, enums, attributes --------===//
#ifndef DIALECT_STABLEHLO_CHLO_BASE_TD
#define DIALECT_STABLEHLO_CHLO_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::chlo";
  let summary = "Ops above StableHLO: implicit broadcasts, special functions, top_k, ragged products";
  let dependentDialects = ["::stablehlo::StablehloDialect"];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

/// Every op is checked by `chlo::verifyOp` and `chlo::verifyRegionsOf`.
def Chlo_Checked : NativeOpTrait<"Checked"> { let cppNamespace = "::chlo::OpTrait"; }

class Chlo_Op<string mnemonic, list<Trait> traits = []>
    : Op<Chlo_Dialect, mnemonic, !listconcat(traits, [Chlo_Checked])>;

class Chlo_Enum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::chlo";
}
def Chlo_ComparisonDirection : Chlo_Enum<"ComparisonDirection", "comparison", [
    I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>, I32EnumAttrCase<"GT", 3>,
    I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def Chlo_ComparisonDirectionAttr : EnumAttr<Chlo_Dialect, Chlo_ComparisonDirection, "comparison_direction">;
def Chlo_ComparisonType : Chlo_Enum<"ComparisonType", "order that a comparison uses", [
    I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>,
    I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>]>;
def Chlo_ComparisonTypeAttr : EnumAttr<Chlo_Dialect, Chlo_ComparisonType, "comparison_type">;
def Chlo_Precision : Chlo_Enum<"Precision", "precision of an operand", [
    I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]>;
def Chlo_PrecisionAttr : EnumAttr<Chlo_Dialect, Chlo_Precision, "precision">;
def Chlo_PrecisionConfigAttr : TypedArrayAttrBase<Chlo_PrecisionAttr, "array of precisions">;

def Chlo_Dims : ArrayRefParameter<"int64_t"> {
  let parser = "::stablehlo::parseDimSizes($_parser)";
  let printer = "::stablehlo::printDimSizes($_printer, $_self)";
}
def Chlo_RaggedDotDimensionNumbers : AttrDef<Chlo_Dialect, "RaggedDotDimensionNumbers"> {
  let mnemonic = "ragged_dot";
  let parameters = (ins Chlo_Dims:$lhsBatchingDimensions, Chlo_Dims:$rhsBatchingDimensions,
                        Chlo_Dims:$lhsContractingDimensions, Chlo_Dims:$rhsContractingDimensions,
                        Chlo_Dims:$lhsRaggedDimensions, Chlo_Dims:$rhsGroupDimensions);
  let hasCustomAssemblyFormat = 1;
}

#endif
