//===- Refiner.h - Sizes of `?` dimensions as expressions -----------------===//
//
// What the files of the refinement share: the symbols of a module, the expression of each integer
// that sizes are computed from, the expressions of the sizes of each array, and the small pieces of
// StableHLO that rules emit. Refine.cpp says what goes in and comes out.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_STABLEHLO_REFINE_REFINER_H
#define COMPILER_STABLEHLO_REFINE_REFINER_H

#include "compiler/support/Budget.h"
#include "compiler/support/SizeBound.h"
#include "compiler/support/SizeExpr.h"
#include "dialect/stablehlo/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace hlo::refine {

/// The sizes of an array's dimensions.
using Sizes = llvm::SmallVector<SizeExpr, 4>;

/// The type of a value that may be an array; null if it is none.
inline mlir::RankedTensorType arrayType(mlir::Value value) {
  return llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
}
/// The type of a value that is an array.
inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// One symbol: a name in the program's text, or a dimension of a parameter that no name explains.
struct Symbol {
  std::string name;
  int64_t low = 0;              ///< least value that the program's assertions allow
  std::optional<int64_t> high;  ///< greatest value that they allow
  std::optional<int64_t> bound; ///< as given by a flag, not more than `high`
  mlir::Value value;            ///< the size, a scalar integer of the entry
  bool isDimension = false;     ///< of a parameter; `value` is at the entry's start
  std::string lowMessage;       ///< of the assertion that says `low`
};

/// Replaces the calls in `main` by the bodies of the functions; an error if a function calls
/// itself, or if more ops than the budget allows are made.
mlir::LogicalResult inlineCalls(mlir::ModuleOp module, mlir::func::FuncOp main,
                                const Budget &budget);

/// `%argument:dimension`, by which a dimension of a parameter is a symbol until it is solved.
std::string dimensionKey(mlir::BlockArgument argument, int64_t dim);

/// The size of a dimension of n elements with `interior` gaps between them, and padding; less than
/// 0 if the padding cuts more than there is.
SizeExpr paddedSize(const SizeExpr &n, const SizeExpr &low, const SizeExpr &high, int64_t interior);

/// The sizes of a gather's result of this rank: those of the windows, in order, and of the
/// dimensions of the indices.
Sizes gatherSizes(stablehlo::GatherDimensionNumbersAttr numbers, int64_t rank,
                  llvm::ArrayRef<SizeExpr> slices, const Sizes &indices);

/// A list of integers, as an array or as elements; empty if `op` has no such attribute.
llvm::SmallVector<int64_t> listAttr(mlir::Operation *op, llvm::StringRef name);

class Refiner {
public:
  Refiner(mlir::func::FuncOp main, llvm::ArrayRef<SizeBound> bounds)
      : main(main), bounds(bounds), builder(main.getContext()) {}
  /// Refines the function, whose calls are inlined. `names`: the values of the entry that the
  /// program has names for.
  mlir::LogicalResult run(llvm::ArrayRef<std::pair<std::string, mlir::Value>> names);

private:
  // Symbols.cpp
  mlir::LogicalResult findSymbols(llvm::ArrayRef<std::pair<std::string, mlir::Value>> names);
  void readAssertions();
  mlir::LogicalResult applyBounds();
  mlir::LogicalResult applyBound(const SizeBound &bound);
  Symbol *findSymbol(llvm::StringRef name);
  std::string listSymbols() const;
  void describeEntry();
  void describeResults();
  SizeRange rangeOf(llvm::StringRef symbol) const;
  SizeRange rangeOf(const SizeExpr &expr) const;

  // Integers.cpp
  /// The elements of an array of integers, row-major: known expressions, or symbols of their own.
  /// Only for arrays that canTrack.
  llvm::ArrayRef<SizeExpr> elementsOf(mlir::Value value);
  /// True for arrays of integers or booleans that are small enough to be sizes.
  static bool canTrack(mlir::Value value);
  /// canTrack, and of one element.
  static bool canTrackScalar(mlir::Value value);
  void evaluate(mlir::Operation *op);
  bool evaluateElementwise(mlir::Operation *op, llvm::SmallVector<SizeExpr> &result);
  bool evaluateShape(mlir::Operation *op, llvm::SmallVector<SizeExpr> &result);
  SizeExpr compare(stablehlo::ComparisonDirection direction, const SizeExpr &a, const SizeExpr &b);
  SizeExpr selected(mlir::Operation *op, const SizeExpr &predicate, const SizeExpr &onTrue,
                    const SizeExpr &onFalse);
  SizeExpr fresh();
  bool isData(const SizeExpr &expr) const;

  // Walk.cpp
  mlir::LogicalResult refineBlock(mlir::Block &block);
  mlir::LogicalResult refineOp(mlir::Operation *op);
  mlir::LogicalResult refineRegions(mlir::Operation *op);
  mlir::LogicalResult concatenate(mlir::Operation *op);

  // Indices.cpp
  void clampIndices(mlir::Operation *op);
  void clampGather(mlir::Operation *op);

  // Shapes.cpp
  mlir::FailureOr<Sizes> inferSizes(mlir::Operation *op, unsigned result);
  /// The sizes of a value; of a static array its dimensions.
  Sizes sizesOf(mlir::Value value);
  /// Gives a value bounds and remembers its sizes; dimensions that are static in its type stay so.
  mlir::LogicalResult setSizes(mlir::Value value, Sizes sizes);
  mlir::FailureOr<mlir::RankedTensorType>
  boundedType(mlir::Location loc, mlir::RankedTensorType type, const Sizes &sizes);
  /// The same for an array of which no dimension is static but those of constant size.
  mlir::FailureOr<mlir::RankedTensorType> boundedType(mlir::Location loc, mlir::Type element,
                                                      const Sizes &sizes);
  mlir::InFlightDiagnostic refuse(mlir::Operation *op, const llvm::Twine &why);

  // Dynamic.cpp
  mlir::LogicalResult refineDynamic(mlir::Operation *op);
  mlir::LogicalResult dynamicBroadcast(mlir::Operation *op);
  mlir::LogicalResult dynamicIota(mlir::Operation *op);
  mlir::LogicalResult dynamicReshape(mlir::Operation *op);
  void resizeOperand(mlir::Operation *op, const Sizes &to);
  /// The sizes that an operand, a vector of integers, gives to the result's `?` dimensions.
  mlir::FailureOr<Sizes> sizesFrom(mlir::Operation *op, mlir::Value vector, mlir::Value result);
  void replace(mlir::Operation *op, llvm::ArrayRef<mlir::Value> values);
  void erase(mlir::Operation *op);

  // DynamicSlices.cpp
  mlir::LogicalResult dynamicPad(mlir::Operation *op);
  mlir::LogicalResult realDynamicSlice(mlir::Operation *op);
  mlir::LogicalResult dynamicGather(mlir::Operation *op);
  mlir::LogicalResult dynamicConv(mlir::Operation *op);
  mlir::Value padded(mlir::Value x, mlir::Value fill, llvm::ArrayRef<SizeExpr> low,
                     llvm::ArrayRef<int64_t> interior, const Sizes &result,
                     llvm::ArrayRef<mlir::Value> lowValues);
  mlir::Value sliced(mlir::Value x, const Sizes &result, llvm::ArrayRef<SizeExpr> starts,
                     llvm::ArrayRef<mlir::Value> startValues, llvm::ArrayRef<int64_t> strides);

  // CustomCalls.cpp
  mlir::LogicalResult customCall(mlir::Operation *op);
  mlir::LogicalResult shapeAssertion(mlir::Operation *op);
  bool alwaysHolds(mlir::Operation *assertion);
  mlir::LogicalResult dynamicReduceWindow(mlir::Operation *op);
  mlir::LogicalResult dynamicTopk(mlir::Operation *op);

  // Build.cpp: ops at the builder's place, of the op in work
  mlir::Value make(llvm::StringRef name, mlir::ValueRange operands, mlir::Type type,
                   llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  mlir::Value constantInt(mlir::Type element, int64_t value);
  mlir::Value s32(int64_t value);
  /// The scalar zero of x's element type.
  mlir::Value zeroLike(mlir::Value x);
  mlir::Value toS32(mlir::Value scalar);
  mlir::Value broadcastScalar(mlir::Value scalar, llvm::ArrayRef<int64_t> shape);
  mlir::Value element(mlir::Value vector, int64_t index);
  mlir::Value binary(llvm::StringRef name, mlir::Value a, mlir::Value b);
  mlir::Value compareLess(mlir::Value a, mlir::Value b);
  mlir::Value pad(mlir::Value x, mlir::Value fill, mlir::Type type, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high, llvm::ArrayRef<int64_t> interior);
  /// A scalar s32 of the size, made once, at the entry's start.
  mlir::Value sizeValue(const SizeExpr &expr);
  mlir::Value atomValue(const SizeExpr::Atom &atom);
  mlir::Value emitSum(const SizeExpr &expr);
  /// The array with its bounds as its sizes.
  mlir::Value forgotten(mlir::Value x);
  /// A static array with `fill` beyond the sizes.
  mlir::Value masked(mlir::Value x, const Sizes &sizes, mlir::Value fill);
  /// The array with these sizes, which are its own although the expressions or bounds differ.
  mlir::Value resized(mlir::Value x, const Sizes &sizes);
  /// A static array as one of these sizes; the type's shape are their bounds.
  mlir::Value sized(mlir::Value x, const Sizes &sizes);
  int64_t boundOf(const SizeExpr &expr) const;
  llvm::SmallVector<int64_t> boundsOf(const Sizes &sizes) const;
  mlir::RankedTensorType withShape(mlir::Value x, llvm::ArrayRef<int64_t> shape);

  mlir::func::FuncOp main;
  llvm::ArrayRef<SizeBound> bounds;
  mlir::OpBuilder builder;
  std::vector<Symbol> symbols;
  llvm::StringMap<size_t> symbolNumbers;
  /// Sizes of the parameters' dimensions in terms of symbols, by the names `%argument:dimension`.
  llvm::StringMap<SizeExpr> solved;
  bool namesAreSolved = false;
  /// Dimensions of parameters, `%argument:dimension`, that are passed by themselves although their
  /// sizes are expressions: what is asserted of them is checked at each call.
  llvm::StringSet<> inexact;
  /// Vectors whose elements do not move when the table grows.
  llvm::DenseMap<mlir::Value, std::vector<SizeExpr>> elements;
  llvm::DenseMap<mlir::Value, Sizes> sizes;
  llvm::StringMap<mlir::Value> sizeValues;
  mlir::Operation *sizesEnd = nullptr; ///< sizes are computed before it
  unsigned freshCount = 0;
};

} // namespace hlo::refine

#endif
