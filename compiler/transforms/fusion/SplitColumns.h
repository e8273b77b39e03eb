//===- SplitColumns.h - One region of arrays that are split --------------===//
#ifndef COMPILER_TRANSFORMS_FUSION_SPLITCOLUMNS_H
#define COMPILER_TRANSFORMS_FUSION_SPLITCOLUMNS_H

#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/fusion/Groups.h"
#include "dialect/hlo/Builder.h"

namespace hlo::fusion {

/// A product of the rows of an array with a vector [C] or a small matrix.
struct RowProduct {
  mlir::Value array, weights;
  int64_t along = 0; ///< the dimension of the weights that is contracted
};

/// The product that `op` is, if it is one.
std::optional<RowProduct> rowProduct(mlir::Operation *op);

/// What moves data or makes it from nothing: split for those who want it so, whoever else uses it.
bool isMove(mlir::Operation *op);

/// One region of arrays that are split, around one op where that begins: what is split is found in
/// SplitColumns.cpp, the columns are made in MakeColumns.cpp.
class ColumnSplitter {
public:
  ColumnSplitter(mlir::Block &block, mlir::SymbolTable &symbols, mlir::Operation *seed,
                 llvm::ArrayRef<int64_t> rows)
      : block(block), symbols(symbols), seed(seed), rows(rows) {}
  /// Adds concatenates that it made of sums, around which splitting may begin again, to `seeds`.
  void run(llvm::DenseSet<mlir::Operation *> &done,
           llvm::SmallVectorImpl<mlir::Operation *> &seeds);

private:
  bool isRowArray(mlir::Value v) const {
    llvm::ArrayRef<int64_t> shape = shapeOf(v);
    return shape.size() == rows.size() + 1 && shape.drop_back() == llvm::ArrayRef<int64_t>(rows);
  }
  bool canSplit(mlir::Operation *op) const;
  /// Whether the op reduces such an array along one dimension by a single associative op.
  bool isReduceOfRows(mlir::Operation *op, int64_t along) const;
  bool canFold(mlir::Operation *op) const;
  bool isSumOfRows(mlir::Operation *op) const;
  bool canMultiply(mlir::Operation *op) const;
  bool isExit(mlir::Operation *op) const;
  bool isTurned(mlir::Operation *op) const;
  bool isSplitUser(mlir::Operation *user) const;
  bool isNeededWhole(mlir::Operation *op) const;
  bool fits(mlir::Operation *op);
  void findUsers();
  void findProducers();
  mlir::Value column(HloBuilder &b, mlir::Value v, int64_t c);
  bool isComputed(mlir::Value v) const;
  mlir::Value columnBefore(HloBuilder &b, mlir::Value v, int64_t count, int64_t c);
  mlir::Value makeColumn(HloBuilder &b, mlir::Value v, int64_t c);
  mlir::Value fold(HloBuilder &b, ReduceOp op);
  mlir::Value product(HloBuilder &b, mlir::Operation *op, int64_t n);
  mlir::Value sumOfRows(HloBuilder &b, ReduceOp op);
  mlir::Value joined(HloBuilder &b, mlir::Value v);
  void rewrite(llvm::SmallVectorImpl<mlir::Operation *> &seeds);
  void eraseUnused(llvm::DenseSet<mlir::Operation *> &done);

  mlir::Block &block;
  mlir::SymbolTable &symbols;
  mlir::Operation *seed;
  llvm::SmallVector<int64_t> rows;
  llvm::DenseSet<mlir::Operation *> split; ///< their results are made column by column
  llvm::DenseSet<mlir::Operation *> exits; ///< from such arrays to [rows]
  llvm::DenseSet<mlir::Operation *> sums;  ///< from such arrays to shorter ones of as many columns
  llvm::DenseSet<mlir::Operation *> kept;  ///< of `split`: others need the result as a whole
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> columns;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> reshaped; ///< as [rows, count]
  int64_t work = 0;
};

} // namespace hlo::fusion

#endif
