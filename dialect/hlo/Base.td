//===- Base.td - The hlo dialect: base classes, types, attributes ---------===//
//
// One op per opcode of the HLO text format. Op `hlo.foo_bar` is opcode
// `foo-bar`; an op's attributes have the names of the text format with `-`
// written `_`. Shapes are builtin types:
//   array   RankedTensorType; element types si8/ui8/..., i1 for pred, f*, complex.
//           A bounded dimension `<=N` has static size N and a bit in the layout
//           attribute; an unbounded one `?` is dynamic. Encoding: `#hlo.layout`
//           or none (row-major, all static, no further properties).
//   tuple   builtin TupleType; token[] !hlo.token; opaque[] !hlo.opaque;
//           b(array) !hlo.buffer<tensor>.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_HLO_BASE_TD
#define DIALECT_HLO_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Hlo_Dialect : Dialect {
  let name = "hlo";
  let cppNamespace = "::hlo";
  let summary = "The operations of XLA's HLO, one op per opcode";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let usePropertiesForAttributes = 0;
  let extraClassDeclaration = [{
    void registerTypes();
    void registerAttributes();
  }];
}

class Hlo_Type<string name, string typeMnemonic> : TypeDef<Hlo_Dialect, name> {
  let mnemonic = typeMnemonic;
}
class Hlo_Attr<string name, string attrMnemonic> : AttrDef<Hlo_Dialect, name> {
  let mnemonic = attrMnemonic;
}

/// Every op's verifier: `hlo::verifyOp(Operation *)` looks the op up by name.
def Hlo_OpTrait : NativeOpTrait<"HloOp"> { let cppNamespace = "::hlo::OpTrait"; }

class Hlo_Op<string mnemonic, list<Trait> traits = []>
    : Op<Hlo_Dialect, mnemonic, !listconcat(traits, [Hlo_OpTrait])> {
  let assemblyFormat =
      "operands attr-dict `:` functional-type(operands, results)";
}

#endif
