//===- Expansion.cpp - Size of a module after inlining --------------------===//
//
// Sizes are computed callees first, each computation once:
//
//   size(c) = instructions of c without calls + sum of size(callee) over all references
//
// Callees of loops and reductions count too: each loop gets its own copy of its computations, and a
// kernel holds a copy of each computation that its ops apply.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Expansion.h"
#include "compiler/analysis/Computations.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hlo;

namespace {
struct Extent {
  uint64_t instructions = 0; ///< with everything that it calls; saturates
  uint64_t loops = 0;        ///< nesting depth of loops and branches
};

/// Inlining may always add this many instructions per instruction of the text, whatever the budget:
/// about what calls of small helper functions add.
constexpr uint64_t kCopiesPerInstruction = 10;

/// Bytes that the compiler needs for the tables of roots of unity of a transform, estimated: the
/// values of a table are 16 bytes each while it is computed. A length with a larger prime factor
/// than 13 becomes a convolution of about 2.5 times the length.
uint64_t fftTableBytes(FftOp op) {
  constexpr uint64_t valueBytes = 16;
  uint64_t values = 0;
  ArrayRef<int64_t> lengths = op.getFftLength();
  for (auto [i, length] : llvm::enumerate(lengths)) {
    int64_t rest = std::max<int64_t>(length, 1);
    for (int64_t factor : {2, 3, 5, 7, 11, 13}) {
      while (rest % factor == 0) {
        rest /= factor;
      }
    }
    // Long lines of the last dimension have a root for each vector only.
    uint64_t each = rest > 1 ? 7 : i + 1 < lengths.size() ? 2 : 1;
    values = llvm::SaturatingAdd(values, llvm::SaturatingMultiply<uint64_t>(each, length));
  }
  return llvm::SaturatingMultiply(values, valueBytes);
}

LogicalResult checkTables(ComputationOp computation, const Budget &budget) {
  for (FftOp fft : computation.getBody().front().getOps<FftOp>()) {
    if (uint64_t bytes = fftTableBytes(fft); bytes > budget.constantBytes) {
      return fft.emitError() << "computing the roots of unity of this fft takes " << bytes
                             << " bytes; " << budget.text(&Budget::constantBytes);
    }
  }
  return success();
}
} // namespace

LogicalResult hlo::checkExpansion(ModuleOp module, const Budget &budget) {
  FailureOr<ComputationGraph> graph = ComputationGraph::build(module);
  if (failed(graph)) {
    return failure();
  }
  for (ComputationOp computation : graph->postOrder()) {
    if (failed(checkTables(computation, budget))) {
      return failure();
    }
  }
  if (graph->postOrder().size() == 1) {
    return success(); // nothing to copy
  }
  DenseMap<Operation *, Extent> extents;
  // Of each computation that calls others: its size with them, and the op of the largest callees.
  SmallVector<std::pair<uint64_t, Operation *>> callers;
  uint64_t written = 0;
  for (ComputationOp computation : graph->postOrder()) {
    Extent total;
    Operation *largest = nullptr;
    uint64_t largestSize = 0;
    for (Operation &op : computation.getBody().front().without_terminator()) {
      uint64_t size = 0, loops = 0;
      forEachCallee(&op, [&](FlatSymbolRefAttr name) {
        Extent callee = extents.lookup(graph->lookup(name));
        size = llvm::SaturatingAdd(size, callee.instructions);
        loops = std::max(loops, callee.loops);
      });
      loops += isa<WhileOp, ConditionalOp>(op);
      uint64_t own = !isa<CallOp>(op);
      written += own;
      total.instructions = llvm::SaturatingAdd(total.instructions, size, own);
      total.loops = std::max(total.loops, loops);
      if (loops > budget.loopNesting) {
        return op.emitError() << "loops and branches are nested " << loops << " deep here; "
                              << budget.text(&Budget::loopNesting);
      }
      if (size > 0 && size >= largestSize) {
        largestSize = size;
        largest = &op;
      }
    }
    extents[computation] = total;
    if (largest) {
      callers.push_back({total.instructions, largest});
    }
  }
  uint64_t limit =
      std::max(budget.inlined, llvm::SaturatingMultiply(kCopiesPerInstruction, written));
  auto first = llvm::find_if(callers, [&](const auto &caller) {
    return caller.first > written && caller.first - written > limit;
  });
  if (first == callers.end()) {
    return success();
  }
  uint64_t all = extents.lookup(graph->entry()).instructions;
  return first->second->emitError()
         << "the computations called here, and what they call, are copied until "
         << (all == UINT64_MAX ? "more than 2^64" : std::to_string(all)) << " instructions come of "
         << written << "; of added ones " << budget.text(&Budget::inlined);
}

LogicalResult hlo::checkKernels(ModuleOp module, const Budget &budget) {
  FailureOr<ComputationGraph> graph = ComputationGraph::build(module);
  if (failed(graph)) {
    return failure();
  }
  DenseMap<Operation *, uint64_t> sizes;
  LogicalResult result = success();
  for (ComputationOp computation : graph->postOrder()) {
    uint64_t size = 0;
    for (Operation &op : computation.getBody().front().without_terminator()) {
      auto kernel = dyn_cast<FusionOp>(op);
      uint64_t own = 0;
      op.walk([&](Operation *inner) {
        own += inner != kernel && !inner->hasTrait<mlir::OpTrait::IsTerminator>();
        forEachCallee(inner, [&](FlatSymbolRefAttr name) {
          own = llvm::SaturatingAdd(own, sizes.lookup(graph->lookup(name)));
        });
      });
      size = llvm::SaturatingAdd(size, own);
      if (kernel && own > budget.kernelInstructions) {
        result = op.emitError() << "the kernel of this instruction is of " << own
                                << " instructions; " << budget.text(&Budget::kernelInstructions);
      }
    }
    sizes[computation] = size;
  }
  return result;
}
