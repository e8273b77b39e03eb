//===- Live.h - Which elements of a program's arrays are read -------------===//
//
// What the files of this folder share: leading positions of dimensions ("extents"), what is known
// of sizes and masks, and for each op which part of its operands a part of its results needs.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_EXPANDERS_SIZES_LIVE_H
#define COMPILER_TRANSFORMS_EXPANDERS_SIZES_LIVE_H

#include "compiler/analysis/Shapes.h"
#include "mlir/IR/SymbolTable.h"
#include <algorithm>

namespace hlo::sizes {

/// For each dimension of an array, how many of its leading positions; none for scalars and tokens.
using Extents = llvm::SmallVector<int64_t, 4>;

/// Attribute of a sort: the number of an operand that has elements that sort last beyond the size.
inline constexpr llvm::StringLiteral kSizedSort = "hlo.sized_sort";

/// The extents of the whole array.
Extents wholeOf(mlir::Value value);

/// `size` leading positions of a dimension of `whole`, within it: none of an empty dimension, else
/// at least one.
inline int64_t limitedTo(int64_t size, int64_t whole) {
  return std::clamp<int64_t>(size, std::min<int64_t>(1, whole), whole);
}

/// True if the leading part of an array of the shape is one run of bytes at its start.
bool isContiguous(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> extents);

/// An integer lies between lo and hi.
struct Interval {
  int64_t lo, hi;
};

/// Beyond the first `from` positions of a dimension all elements equal `scalar`.
struct Fill {
  int64_t from;
  mlir::Value scalar;
};

/// What is known of the values of computations of which each has one caller.
class Facts {
public:
  explicit Facts(mlir::SymbolTable &symbols) : symbols(symbols) {}
  /// Finds the ranges of the integer scalars in a computation and in those that it calls at top
  /// level. The ranges of its parameters are set before.
  void collect(ComputationOp computation);
  std::optional<Interval> intervalOf(mlir::Value scalar) const;
  /// Null if nothing is known. A mask `select(iota < n, x, f)` is filled with f beyond the largest
  /// n, and `iota < n` with false.
  std::optional<Fill> fillOf(mlir::Value value, int64_t dim) const;
  /// The value of all elements of a pred within the extents, if they are known to be equal: of
  /// `iota < n` with n large enough, and of a scalar comparison of sizes.
  std::optional<bool> valueWithin(mlir::Value pred, llvm::ArrayRef<int64_t> extents) const;
  ComputationOp lookup(mlir::FlatSymbolRefAttr name) const {
    return symbols.lookup<ComputationOp>(name.getValue());
  }

private:
  std::optional<Fill> fillOf(mlir::Value value, int64_t dim, unsigned steps) const;
  std::optional<Interval> compute(mlir::Operation &op) const;
  void collectLoop(WhileOp loop);

  mlir::SymbolTable &symbols;
  llvm::DenseMap<mlir::Value, Interval> ranges;
  unsigned walks = 0; ///< of the bodies of loops
};

/// The scalar all of whose copies an array is: of a broadcast its operand. Null for others.
mlir::Value repeatedScalar(mlir::Value array);
/// True if the two are one value, or constants with equal bits.
bool isSameScalar(mlir::Value a, mlir::Value b);
/// True for a constant zero; a negative zero is none.
bool isZero(mlir::Value scalar);

/// The part of its results that an op computes, at least what is needed, and of its operands that
/// it reads for that.
struct Part {
  llvm::SmallVector<Extents, 1> results;
  /// An operand that is not read has none.
  llvm::SmallVector<std::optional<Extents>, 4> operands;
  /// If set, the op equals this operand in the part.
  std::optional<unsigned> replacedBy;
};

/// The smallest part that holds `needed` of each result. For ops without callees at top level.
Part partOf(mlir::Operation *op, llvm::ArrayRef<Extents> needed, const Facts &facts);
/// Changes the attributes and result types of an op whose operands are those of the part already;
/// operands that are not read are removed.
void applyPart(mlir::Operation *op, const Part &part, const Facts &facts);

// The rules of partOf; each fills `part`, in which everything is whole, or leaves it.
struct Rule {
  mlir::Operation *op;
  llvm::ArrayRef<Extents> needed;
  const Facts &facts;
  Part &part;

  void move();    ///< MoveRules.cpp: what rearranges elements
  void index();   ///< IndexRules.cpp: slices, gather, scatter
  void compute(); ///< ComputeRules.cpp: reduce, dot, sort, linear algebra
  void window();  ///< WindowRules.cpp: reduce-window, convolution
};
void applyIndexPart(mlir::Operation *op, const Part &part);
void applyCallPart(mlir::Operation *op, const Part &part);
void applyWindowPart(mlir::Operation *op, const Part &part, const Facts &facts);

/// Rewrites a computation, and those that it calls at top level, none of which has another caller,
/// to compute only the given parts of its results. Its parameters keep their types; its results
/// become the parts. `facts` are those of the computation.
void shrink(ComputationOp computation, llvm::ArrayRef<Extents> results, const Facts &facts);

} // namespace hlo::sizes

#endif
