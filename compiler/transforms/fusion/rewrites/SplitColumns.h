//===- SplitColumns.h - Arrays of few columns as one array per column -----===//
#ifndef COMPILER_TRANSFORMS_FUSION_REWRITES_SPLITCOLUMNS_H
#define COMPILER_TRANSFORMS_FUSION_REWRITES_SPLITCOLUMNS_H

#include "compiler/transforms/fusion/Groups.h"
#include "compiler/transforms/fusion/rewrites/LaneDimension.h"

namespace hlo::fusion {

/// Whether `op` only moves or generates data. Such an op is split for the users that want columns,
/// even if others read it as a whole.
bool isMove(mlir::Operation *op);

/// Splits arrays [rows, C] into columns [rows], starting from one op (the seed). SplitColumns.cpp
/// decides which ops are split; MakeColumns.cpp makes the columns.
class ColumnSplitter {
public:
  ColumnSplitter(mlir::Block &block, mlir::SymbolTable &symbols, mlir::Operation *seed,
                 llvm::ArrayRef<int64_t> rows)
      : block(block), symbols(symbols), seed(seed), rows(rows) {}
  /// Splits what can be split around the seed. Ops that need no further visit are added to `done`;
  /// new concatenates, around which more may be split, to `seeds`.
  void run(llvm::DenseSet<mlir::Operation *> &done,
           llvm::SmallVectorImpl<mlir::Operation *> &seeds);

private:
  bool isRowArray(mlir::Value v) const {
    llvm::ArrayRef<int64_t> shape = shapeOf(v);
    return shape.size() == rows.size() + 1 && shape.drop_back() == llvm::ArrayRef<int64_t>(rows);
  }
  bool canSplit(mlir::Operation *op) const;
  /// Whether the op reduces an array [rows, C] along one dimension by a single associative op.
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

  mlir::Block &block;
  mlir::SymbolTable &symbols;
  mlir::Operation *seed;
  llvm::SmallVector<int64_t> rows;
  llvm::DenseSet<mlir::Operation *> split; ///< their results are computed column by column
  llvm::DenseSet<mlir::Operation *> exits; ///< ops from split arrays to [rows]
  llvm::DenseSet<mlir::Operation *> sums;  ///< reduces of split arrays along a dimension of rows
  llvm::DenseSet<mlir::Operation *>
      kept; ///< members of `split` whose result others need as a whole
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> columns;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value>
      reshaped; ///< values reshaped to [rows, count]
  int64_t work = 0;
};

} // namespace hlo::fusion

#endif
