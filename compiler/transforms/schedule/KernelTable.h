//===- KernelTable.h - Equal kernels exist once ---------------------------===//
#ifndef COMPILER_TRANSFORMS_SCHEDULE_KERNELTABLE_H
#define COMPILER_TRANSFORMS_SCHEDULE_KERNELTABLE_H

#include "compiler/analysis/Computations.h"
#include <string>
#include <unordered_map>
#include <vector>

namespace hlo::schedule {

/// Numbers fusions so that two have the same number iff they compute the same in the same way: same
/// types, ops, attributes and scalar computations, whatever their locations, names and the names of
/// the computations. Numbers count up from 0 by first appearance.
class KernelTable {
public:
  explicit KernelTable(const ComputationGraph &graph) : graph(graph) {}

  unsigned add(FusionOp fusion);
  /// The first fusion of each number.
  llvm::ArrayRef<FusionOp> kernels() const { return firsts; }
  /// For example `k3_reduce_maximum`: the number, the strategy and the root's opcode.
  std::string name(unsigned number) const;

private:
  /// Encoding of a piece of IR. Attributes, types and opcodes are unique in their context, so their
  /// addresses represent them.
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
  llvm::DenseMap<mlir::Operation *, unsigned>
      numberOf; ///< fusions and computations numbered so far
};

} // namespace hlo::schedule

#endif
