//===- LayoutGraph.h - Which arrays of a block are reordered --------------===//
#ifndef COMPILER_TRANSFORMS_LAYOUT_LAYOUTGRAPH_H
#define COMPILER_TRANSFORMS_LAYOUT_LAYOUTGRAPH_H

#include "compiler/transforms/layout/Layout.h"
#include "compiler/transforms/layout/MinCut.h"
#include "compiler/transforms/layout/OrderRules.h"
#include "llvm/ADT/MapVector.h"

#include <map>

namespace hlo {

/// The orders that ops of a block could have, and the choice among them. Each op has at most one
/// order beside the row-major one.
class LayoutGraph {
public:
  LayoutGraph(mlir::Block &block, const LayoutCosts &costs) : block(block), costs(costs) {}

  /// Finds orders, from convolutions on; whether there is anything to choose.
  bool propose();
  /// Chooses; whether something is reordered.
  bool choose();
  /// The order in which `op` reads an operand by the choice; empty: row-major.
  llvm::ArrayRef<int64_t> chosenOperand(mlir::Operation *op, unsigned number) const;
  /// The order of a result by the choice; empty: row-major.
  llvm::ArrayRef<int64_t> chosenResult(mlir::Operation *op, unsigned number) const;
  /// Changes an op whose operands have the chosen orders.
  void apply(mlir::Operation *op) const;

private:
  static constexpr MinCut::Node kNone = -1;
  struct Proposal {
    Order main;
    OpOrders orders;
    /// What decides whether an operand and the results have these orders.
    llvm::SmallVector<MinCut::Node, 3> operandNodes;
    MinCut::Node resultNode = kNone;
  };

  void spread(mlir::Value value, llvm::ArrayRef<int64_t> order);
  void proposeFor(mlir::Operation *op, std::optional<Order> main);
  void proposeConvolution(ConvolutionOp conv, llvm::ArrayRef<int64_t> input);
  int64_t cyclesOf(ConvolutionOp conv, const ConvOrders &orders);
  void addConvolution(ConvolutionOp conv, Proposal &proposal);
  void addUses(mlir::Value value);
  void rejectUncertain();
  bool isYes(MinCut::Node node) const { return node != kNone && cut.isYes(node); }

  mlir::Block &block;
  const LayoutCosts &costs;
  llvm::MapVector<mlir::Operation *, Proposal> proposals;
  llvm::DenseMap<mlir::Value, Order> orderOf;         ///< proposed for each array
  llvm::SmallVector<mlir::Value> work;                ///< arrays whose order has not spread yet
  std::map<std::vector<const void *>, int64_t> known; ///< cycles of convolutions
  /// The convolution that a node decides about, and its cycles as written.
  llvm::DenseMap<MinCut::Node, std::pair<mlir::Operation *, int64_t>> written;
  MinCut cut;
};

} // namespace hlo

#endif
