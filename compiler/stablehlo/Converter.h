//===- Converter.h - StableHLO ops to hlo ops -----------------------------===//
//
// A Converter converts one module. The rule of an op (Rules.h) looks up the converted operands,
// creates hlo ops at the end of the current computation, and binds the op's results to values.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_STABLEHLO_CONVERTER_H
#define COMPILER_STABLEHLO_CONVERTER_H

#include "compiler/stablehlo/Types.h"
#include "dialect/hlo/Builder.h"
#include "dialect/hlo/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace hlo::stable {

using Values = llvm::SmallVector<mlir::Value>;
/// Values, except constants, that a region uses and that are defined outside of it.
using Captures = llvm::SetVector<mlir::Value>;
/// A reference to a computation; failure after an error.
using Computation = mlir::FailureOr<mlir::FlatSymbolRefAttr>;

class Converter {
public:
  Converter(mlir::ModuleOp source, const Budget &budget);
  Converter(const Converter &) = delete;
  Converter &operator=(const Converter &) = delete;

  /// The converted module; null after an error.
  mlir::OwningOpRef<mlir::ModuleOp> convert();

  //===--------------------------------------------------------------------===//
  // For rules
  //===--------------------------------------------------------------------===//

  mlir::MLIRContext *const context;
  /// Inserts at the end of the current computation.
  mlir::OpBuilder builder;
  /// The location of the ops that the current source op becomes.
  mlir::Location location;

  HloBuilder hlo() { return HloBuilder(builder, location); }
  /// The value that a source value was converted to; a constant of an outer region is copied.
  mlir::Value get(mlir::Value source);
  Values get(mlir::ValueRange sources);
  /// The converted type. Asserts that it exists: checkTypes has refused values of other types.
  mlir::Type type(mlir::Type source);
  mlir::RankedTensorType array(mlir::Value source) {
    return llvm::cast<mlir::RankedTensorType>(type(source.getType()));
  }
  /// The type of `packed` values of these source types.
  mlir::Type joined(mlir::TypeRange sources);

  /// Creates an op with one result, by its name: "hlo.dynamic_slice".
  mlir::Value create(llvm::StringRef name, mlir::Type result, mlir::ValueRange operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  mlir::Value tuple(mlir::ValueRange values);
  mlir::Value element(mlir::Value tuple, int64_t index);
  /// The first `count` elements of a tuple.
  Values elements(mlir::Value tuple, size_t count);
  /// HLO's form of N values as one: the value if N is 1, else a tuple.
  mlir::Value packed(mlir::ValueRange values);
  /// The N values of a `packed` one.
  Values unpacked(mlir::Value value, size_t count);

  /// Binds the results of `source`: to the N values of a `packed` one, or to N values.
  mlir::LogicalResult bind(mlir::Operation *source, mlir::Value value);
  mlir::LogicalResult bind(mlir::Operation *source, mlir::ValueRange values);

  mlir::NamedAttribute named(llvm::StringRef name, mlir::Attribute value) {
    return builder.getNamedAttr(name, value);
  }
  mlir::NamedAttribute integer(llvm::StringRef name, int64_t value) {
    return named(name, builder.getI64IntegerAttr(value));
  }
  mlir::NamedAttribute dims(llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
    return named(name, builder.getDenseI64ArrayAttr(values));
  }
  mlir::NamedAttribute text(llvm::StringRef name, llvm::StringRef value) {
    return named(name, builder.getStringAttr(value));
  }
  mlir::NamedAttribute flag(llvm::StringRef name, bool value) {
    return named(name, builder.getBoolAttr(value));
  }

  /// A computation with one parameter for each argument of the region. Fails, with an error at the
  /// op, if the region has captures. `stem`: of its name; by default that of the op.
  Computation computation(mlir::Region &region, llvm::StringRef stem = "");
  /// A computation whose parameter is a tuple of the region's arguments, then `captures`. It
  /// returns a tuple of the region's results and the captures with `passesOn`, else the packed
  /// results.
  Computation tupleComputation(mlir::Region &region, const Captures &captures, bool passesOn);
  /// The computation of a function of the source.
  Computation function(mlir::Operation *user, llvm::StringRef name);
  /// Adds the captures of the region.
  void capture(mlir::Region &region, Captures &captures);
  /// Converts the ops of a block into the current computation, with `arguments` for the block's
  /// arguments. Returns the values of the terminator's operands.
  mlir::FailureOr<Values> inlineBlock(mlir::Block &block, mlir::ValueRange arguments);
  /// A location that names ops after `stem` and is at the place of `source`.
  mlir::Location makeLocation(llvm::StringRef stem, mlir::Location source);

private:
  /// A computation under construction. The innermost one is the current one.
  class Scope;

  mlir::LogicalResult checkOps(mlir::func::FuncOp function);
  mlir::LogicalResult checkTypes(mlir::Operation *op);
  mlir::LogicalResult convertOp(mlir::Operation *op);
  mlir::LogicalResult annotate(mlir::Operation *source, mlir::Operation *first);
  mlir::LogicalResult convertFunction(mlir::func::FuncOp function, bool isEntry);
  ComputationOp finish(Scope &scope, llvm::StringRef stem, mlir::Location at, mlir::Value root);
  std::string uniqueName(llvm::StringRef stem);

  mlir::ModuleOp source;
  mlir::OwningOpRef<mlir::ModuleOp> result;
  TypeConversion types;
  /// Source values and their values in the current computation.
  llvm::DenseMap<mlir::Value, mlir::Value> *values = nullptr;
  llvm::StringMap<unsigned> stems;
  /// Computations of the functions that are converted.
  llvm::StringMap<mlir::FlatSymbolRefAttr> functions;
};

} // namespace hlo::stable

#endif
