//===- Kernel.h - From a fusion op to a function --------------------------===//
#ifndef COMPILER_CODEGEN_KERNEL_H
#define COMPILER_CODEGEN_KERNEL_H

#include "compiler/analysis/Prepared.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/codegen/Element.h"
#include "compiler/codegen/Elementwise.h"
#include "compiler/support/KernelPlan.h"

#include <memory>

namespace hlo::codegen {

/// A known congruence: value = rest (mod modulus), 0 <= rest < modulus. modulus 1: nothing is
/// known; modulus 0: value == rest.
struct Congruence {
  int64_t modulus = 1, rest = 0;
  Congruence(int64_t modulus = 1, int64_t rest = 0);
  bool isKnownModulo(int64_t divisor) const { return modulus % divisor == 0; }
  bool isMultipleOf(int64_t divisor) const { return isKnownModulo(divisor) && rest % divisor == 0; }
};

/// Index along one dimension for all lanes of a vector: lane l has
/// base + l * stride, or lanes[l] where `lanes` is set (vector of i64).
struct Index {
  mlir::Value base;
  int64_t stride = 0;
  mlir::Value lanes;
  /// If `lanes` is set and this is not empty, lanes[l] is base + offsets[l].
  llvm::SmallVector<int64_t, 0> offsets;
  Congruence known; ///< of `base`
  /// Set if `lanes` is the quotient or, if isRest, the remainder of another index by `divisor`.
  std::shared_ptr<const Index> whole;
  int64_t divisor = 0;
  bool isRest = false;
  Index() = default;
  Index(mlir::Value base, int64_t stride = 0, Congruence known = {})
      : base(base), stride(stride), known(known) {}
  bool isUniform() const { return !lanes && stride == 0; }
};

/// The tasks of a kernel, 0 <= t < count. Tasks from a barrier on start when all before it have
/// ended.
struct KernelTasks {
  int64_t count = 1;
  llvm::SmallVector<int64_t, 1> barriers; ///< ascending, between 0 and count
};

/// A question to an emitter: the panels in which it would read an operand of its hero.
struct PanelRequest {
  unsigned operand;
  std::optional<PanelLayout> layout; ///< the answer; none: the operand is read as it is
};

/// A kernel under construction: the function's arguments and the fusion they belong to.
struct KernelBuilder {
  Emission e; ///< insertion point: inside the function's body
  hlo::FusionOp fusion;
  mlir::ModuleOp computations; ///< where `to_apply` symbols are looked up
  llvm::SmallVector<mlir::Value> operandPtrs, resultPtrs; ///< !llvm.ptr
  mlir::Value first, last;                                ///< i64, the range of tasks to run
  /// Set by the emitter: the number of tasks (>= 1; 0 only for a kernel without elements).
  int64_t tasks = 1;
  llvm::SmallVector<int64_t, 1> barriers; ///< set by emitStages
  /// Null: nobody asks for the candidates, and none is forced.
  KernelChoice *choice = nullptr;
  /// Not null: the emitter emits nothing, and only says in which panels it would read an operand of
  /// its hero (see wantedPanels).
  PanelRequest *panels = nullptr;

  mlir::Block &body() { return fusion.getBody().front(); }
  mlir::Operation *root(unsigned i = 0) {
    return body().getTerminator()->getOperand(i).getDefiningOp();
  }
  hlo::ComputationOp lookup(mlir::FlatSymbolRefAttr symbol) {
    return computations.lookupSymbol<hlo::ComputationOp>(symbol.getAttr());
  }
};

/// Evaluates values of a fusion's region at indices, recursively from the value to the kernel's
/// operands, memoized by (value, index).
class ElementEmitter {
public:
  /// `lanes`: lanes of every value (1 = scalars). Several emitters with different lanes may be used
  /// in one kernel.
  ElementEmitter(KernelBuilder &kernel, int64_t lanes);
  ~ElementEmitter();

  /// The value of `v` at `index`, which has one entry per dimension of v. The index must be in
  /// bounds for every lane that `mask` (i1 or vector of i1; null = all) has on; other lanes are
  /// unspecified and not read.
  Elem emit(mlir::Value v, llvm::ArrayRef<Index> index, mlir::Value mask = {});

  /// Binds `v` to `elem` at every index: passes a hero's result to its epilogue.
  void bind(mlir::Value v, const Elem &elem);

  /// Discards memoized values; call it at the start of each loop body that emits.
  void clearMemo();
  /// RAII scope: values memoized inside an scf region are discarded at its end.
  struct Scope {
    explicit Scope(ElementEmitter &emitter);
    ~Scope();
    ElementEmitter &emitter;
    size_t mark;
  };

  /// Reads `v` from memory at `base` instead of computing it, row-major with the given stride per
  /// dimension (in elements; 0 ignores the dimension): a row's intermediate is reused that way. The
  /// buffer holds values in kernel form, or in memory form if `asStored`.
  void materialize(mlir::Value v, mlir::Value base, llvm::ArrayRef<int64_t> strides,
                   bool asStored = false);
  /// Addresses all arrays by one linear index instead of one per dimension. Only for regions of
  /// element-wise ops, reshapes and broadcast scalars in which every array has the same number of
  /// elements.
  void useLinearIndex();
  int64_t lanes() const;

  struct Impl;
  Impl &impl() { return *state; }

private:
  std::unique_ptr<Impl> state;
};

/// Row-major strides of a shape, in elements.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);
/// Splits a linear index (i64) into one index per dimension of `shape`.
llvm::SmallVector<mlir::Value> delinearize(Emission &e, mlir::Value linear,
                                           llvm::ArrayRef<int64_t> shape);
/// Memory of the kernel's function, aligned to a cache line: a variable, which is moved to scratch
/// memory if there is much (Scratch.h).
mlir::Value stackBuffer(Emission &e, int64_t bytes);
/// Runs `body` if `condition` (i1) holds; no branch if it is constant.
void emitIf(Emission &e, mlir::Value condition, llvm::function_ref<void()> body);
/// for (i = lo; i < hi; i += step) body(i), as scf.for over i64.
void emitFor(Emission &e, mlir::Value lo, mlir::Value hi, int64_t step,
             llvm::function_ref<void(mlir::Value)> body);
/// Same with values carried from iteration to iteration; returns the final ones.
llvm::SmallVector<mlir::Value> emitForCarrying(
    Emission &e, mlir::Value lo, mlir::Value hi, int64_t step, mlir::ValueRange init,
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body);

/// Emits a kernel in stages of counts[s] tasks each, with barriers in between: body(s, lo, hi)
/// emits the code for tasks lo <= t < hi of stage s. Sets the kernel's tasks and barriers. Stages
/// may have different code, and read what earlier ones wrote.
void emitStages(KernelBuilder &kernel, llvm::ArrayRef<int64_t> counts,
                llvm::function_ref<void(size_t stage, mlir::Value lo, mlir::Value hi)> body);

/// The candidate to emit: number `best`, or the one that kernel.choice forces. Notes all of them
/// there, with their names, which differ from each other.
size_t chooseCandidate(KernelBuilder &kernel, std::vector<PlanCandidate> candidates, size_t best);

/// Emits `func` @name for the fusion into `into`; returns its tasks. Errors are
/// reported at the fusion or at the offending op in it. `choice`: see KernelBuilder.
mlir::FailureOr<KernelTasks> emitKernel(hlo::FusionOp fusion, llvm::StringRef name,
                                        const Machine &machine, mlir::ModuleOp computations,
                                        mlir::ModuleOp into, KernelChoice *choice = nullptr);

/// The panels in which a kernel of a dot or convolution alone would read its operand `operand`, if
/// it need not pack them. None if it reads the operand in place.
std::optional<PanelLayout> wantedPanels(mlir::Operation *hero, unsigned operand,
                                        const Machine &machine);

// One emitter per strategy, each in its own folder: fills the function's body and sets
// kernel.tasks. The string is the value of `strategy`.
mlir::LogicalResult emitLoopKernel(KernelBuilder &kernel);             // "loop"
mlir::LogicalResult emitRangeKernel(KernelBuilder &kernel);            // "range"
mlir::LogicalResult emitReduceKernel(KernelBuilder &kernel);           // "reduce"
mlir::LogicalResult emitRowKernel(KernelBuilder &kernel);              // "row"
mlir::LogicalResult emitColumnsKernel(KernelBuilder &kernel);          // "columns"
mlir::LogicalResult emitScanKernel(KernelBuilder &kernel);             // "scan"
mlir::LogicalResult emitDotKernel(KernelBuilder &kernel);              // "dot"
mlir::LogicalResult emitConvKernel(KernelBuilder &kernel);             // "conv"
mlir::LogicalResult emitSortKernel(KernelBuilder &kernel);             // "sort"
mlir::LogicalResult emitTopkKernel(KernelBuilder &kernel);             // "topk"
mlir::LogicalResult emitScatterKernel(KernelBuilder &kernel);          // "scatter"
mlir::LogicalResult emitSelectAndScatterKernel(KernelBuilder &kernel); // "select-and-scatter"
mlir::LogicalResult emitUpdateSliceKernel(KernelBuilder &kernel);      // "update-slice"
mlir::LogicalResult emitRngKernel(KernelBuilder &kernel);              // "rng"
mlir::LogicalResult emitFftKernel(KernelBuilder &kernel);              // "fft"
mlir::LogicalResult emitCholeskyKernel(KernelBuilder &kernel);         // "cholesky"
mlir::LogicalResult emitTriangularSolveKernel(KernelBuilder &kernel);  // "triangular-solve"
mlir::LogicalResult emitAttentionKernel(KernelBuilder &kernel);        // "attention"

} // namespace hlo::codegen

#endif
