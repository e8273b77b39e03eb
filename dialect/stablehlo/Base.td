//===- Base.td - The stablehlo dialect: base classes ----------------------===//
//
// One op per op of the StableHLO specification, with its names of operands and
// attributes. What ODS checks here is structure: kinds of attributes, arrays
// where arrays are expected, regions of one block. The specification's
// numbered constraints are rules (rules/README.md).
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_STABLEHLO_BASE_TD
#define DIALECT_STABLEHLO_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Stablehlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::stablehlo";
  let summary = "The operations of the StableHLO specification";
  let dependentDialects = ["::mlir::quant::QuantDialect"];
  let useDefaultAttributePrinterParser = 0;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute, ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

/// Every op is checked by `stablehlo::verifyOp`, and by `stablehlo::verifyRegionsOf`
/// once the ops in its regions are.
def Stable_Checked : NativeOpTrait<"Checked"> { let cppNamespace = "::stablehlo::OpTrait"; }

class Stable_Op<string mnemonic, list<Trait> traits = []>
    : Op<Stablehlo_Dialect, mnemonic, !listconcat(traits, [Stable_Checked])>;

/// An array of known rank. Rules check its element type and sizes.
def Stable_Array : Type<CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">, "ranked tensor",
                        "::mlir::RankedTensorType">;
def Stable_Token : Type<CPred<"::llvm::isa<::stablehlo::TokenType>($_self)">, "token">;
def Stable_Future : Type<CPred<"::llvm::isa<::stablehlo::FutureType>($_self)">, "future">;
def Stable_ArrayOrToken : AnyTypeOf<[Stable_Array, Stable_Token]>;
def Stable_Tuple : Type<CPred<"::llvm::isa<::mlir::TupleType>($_self)">, "tuple", "::mlir::TupleType">;
def Stable_Buffer : Type<CPred<"::llvm::isa<::mlir::MemRefType>($_self)">, "memref", "::mlir::MemRefType">;
def Stable_ArrayTokenOrBuffer : AnyTypeOf<[Stable_Array, Stable_Token, Stable_Buffer]>;
def Stable_Value : AnyTypeOf<[Stable_Array, Stable_Token, Stable_Tuple, Stable_Buffer]>;
def Stable_CallValue : AnyTypeOf<[AnyTensor, Stable_Token, Stable_Tuple, Stable_Buffer, Stable_Future]>;

#endif
