//===- Converter.h - StableHLO ops to hlo ops -----------------------------===//
//
// One Converter converts one module. A rule of an op finds the converted operands, makes hlo ops at
// the end of the computation in work, and says which values are the results. Rules.h is the table.
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
/// Values that regions use from outside.
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
  /// Makes ops at the end of the computation in work.
  mlir::OpBuilder builder;
  /// The location of the ops made for the source op in work.
  mlir::Location location;

  HloBuilder hlo() { return HloBuilder(builder, location); }
  mlir::Value get(mlir::Value source);
  Values get(mlir::ValueRange sources);
  /// The converted type; types of all values are known to convert.
  mlir::Type type(mlir::Type source);
  mlir::RankedTensorType array(mlir::Value source) {
    return llvm::cast<mlir::RankedTensorType>(type(source.getType()));
  }
  /// The types as one: the type itself, or a tuple if there is not exactly one.
  mlir::Type joined(mlir::TypeRange sources);

  /// Makes the op of an opcode, "hlo.dynamic_slice", with one result.
  mlir::Value create(llvm::StringRef name, mlir::Type result, mlir::ValueRange operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  mlir::Value tuple(mlir::ValueRange values);
  mlir::Value element(mlir::Value tuple, int64_t index);

  /// `value` is the result of `source`, or the tuple of its results unless there is exactly one.
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
  /// op, if the region uses values from outside that are no constants.
  /// `stem`: of its name, if not that of the op.
  Computation computation(mlir::Region &region, llvm::StringRef stem = "");
  /// A computation whose parameter is a tuple: first the region's arguments, then `captures`. With
  /// `passesOn` it returns the region's results and the captures, else the results alone.
  mlir::FailureOr<mlir::FlatSymbolRefAttr>
  tupleComputation(mlir::Region &region, const Captures &captures, bool passesOn);
  /// The computation of a function of the source.
  Computation function(mlir::Operation *user, llvm::StringRef name);
  /// Adds what the region uses from outside; constants are copied instead.
  void capture(mlir::Region &region, Captures &captures);
  /// Converts the ops of a block, whose arguments are the values, into the computation in work;
  /// the operands of its terminator.
  mlir::FailureOr<Values> inlineBlock(mlir::Block &block, mlir::ValueRange arguments);
  /// Names the next ops after `stem` rather than after the source op.
  mlir::Location makeLocation(llvm::StringRef stem, mlir::Location source);

private:
  /// A computation while its ops are made; the one in work is the innermost.
  class Scope;

  mlir::LogicalResult checkOps(mlir::func::FuncOp function);
  mlir::LogicalResult checkTypes(mlir::Operation *op);
  mlir::LogicalResult convertOp(mlir::Operation *op);
  mlir::LogicalResult annotate(mlir::Operation *source, mlir::Operation *first);
  mlir::LogicalResult convertFunction(mlir::func::FuncOp function, bool isEntry);
  mlir::func::FuncOp findEntry();
  ComputationOp finish(Scope &scope, llvm::StringRef stem, mlir::Location at, mlir::Value root);
  std::string uniqueName(llvm::StringRef stem);

  mlir::ModuleOp source;
  mlir::OwningOpRef<mlir::ModuleOp> result;
  TypeConversion types;
  /// Values of the computation in work.
  llvm::DenseMap<mlir::Value, mlir::Value> *values = nullptr;
  llvm::StringMap<unsigned> stems;
  /// Computations of functions; a null one is in work.
  llvm::StringMap<mlir::FlatSymbolRefAttr> functions;
};

} // namespace hlo::stable

#endif
