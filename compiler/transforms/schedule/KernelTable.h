//===- KernelTable.h - Equal kernels exist once ---------------------------===//
#ifndef COMPILER_TRANSFORMS_SCHEDULE_KERNELTABLE_H
#define COMPILER_TRANSFORMS_SCHEDULE_KERNELTABLE_H

#include "compiler/analysis/Computations.h"
#include <string>
#include <unordered_map>
#include <vector>

namespace hlo::schedule {

/// Numbers fusions such that two have one number iff they compute the same in the same
/// way: same types, ops, attributes and scalar computations, whatever their places, names
/// and the names of the computations. Numbers count up from 0 by first appearance.
class KernelTable {
public:
  explicit KernelTable(const ComputationGraph &graph) : graph(graph) {}

  unsigned add(FusionOp fusion);
  /// The first fusion of each number.
  llvm::ArrayRef<FusionOp> kernels() const { return firsts; }
  /// E.g. `k3_reduce_maximum`: the number, the strategy and the root's opcode.
  std::string name(unsigned number) const;

private:
  /// Everything that matters of a piece of IR, in a fixed order. Attributes, types and
  /// opcodes are unique in their context, so that their addresses stand for them.
  using Words = std::vector<uintptr_t>;
  struct Hash {
    size_t operator()(const Words &words) const {
      return llvm::hash_combine_range(words.begin(), words.end());
    }
  };
  using Table = std::unordered_map<Words, unsigned, Hash>;

  void appendOp(mlir::Operation &op, llvm::DenseMap<mlir::Value, unsigned> &numbers, Words &words);
  void appendRegion(mlir::Region &region, llvm::DenseMap<mlir::Value, unsigned> &numbers,
                    Words &words);
  void appendAttribute(mlir::Attribute attribute, Words &words);
  unsigned classOf(ComputationOp computation);

  const ComputationGraph &graph;
  std::vector<FusionOp> firsts;
  Table kernelNumbers, computationNumbers;
  llvm::DenseMap<mlir::Operation *, unsigned> numberOf; ///< fusions and computations seen before
};

} // namespace hlo::schedule

#endif
