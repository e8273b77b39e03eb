//===- Forms.h - The forms of a contraction, and which one pays -----------===//
//
// A form is one way to emit a contraction. canX says whether the form is right for it: its types,
// its strides, and that its copies fit the stack. prefersX says that it is also the fastest of
// those that follow in the order of preferredForm.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_DOT_FORMS_H
#define COMPILER_CODEGEN_DOT_FORMS_H

#include "compiler/codegen/dot/Contraction.h"
#include "compiler/plans/DotOrder.h"

namespace hlo::codegen {

/// Forms for few rows unroll their code over up to 16 rows; more are better packed and multiplied
/// in two-dimensional tiles.
inline constexpr int64_t kMostRows = 16;

/// Whether a side steps by one in memory along the last dimension of k.
bool stepsAlongK(const ContractionSide &side);

bool canUseInner(const Contraction &c);
bool prefersInner(const Contraction &c);
bool canStream(const Contraction &c);
bool prefersStream(const Contraction &c);
/// The forms for narrow integers with scales (Scaled.h): whether the rhs is contiguous along n, and
/// along k.
bool canUseScaledStream(const Contraction &c);
bool canUseScaledInner(const Contraction &c);
/// The same, with rows that may be quantized.
bool canUseByteStream(const Contraction &c);
bool canUseByteInner(const Contraction &c);
bool canUseBatchLanes(const Contraction &c);
bool prefersBatchLanes(const Contraction &c);
bool canTrace(const Contraction &c);
bool prefersTrace(const Contraction &c);

/// The batch form: whether one side has no free dimension, and the other is read in place.
bool hasOneRow(const Contraction &c);

/// The trace form: a dimension of the batch or of k.
struct TraceAxis {
  bool inK;
  size_t dim;
  int64_t size;
  bool operator==(const TraceAxis &other) const { return inK == other.inK && dim == other.dim; }
};
/// The dimension along which memory holds neighbours.
std::optional<TraceAxis> unitAxis(const Contraction &c, const ContractionSide &side);

/// Register tiles of the forms for few rows.
struct InnerTile {
  int64_t rows, columns; ///< columns: a power of two
};
InnerTile innerTile(const Contraction &c);
struct StreamTile {
  int64_t block;    ///< columns of a task
  int64_t together; ///< rows of the lhs whose elements are in registers
  int64_t atOnce;   ///< rows of the rhs
};
StreamTile streamTile(const Contraction &c);
/// The product by which the stream form multiplies pairs of rows of a rhs of bf16; null if it
/// widens the rhs instead.
const Product *pairsOfStream(const Contraction &c);
/// The batch form: most bytes of the sums of a few rows, before they are transposed. The transposed
/// sums take as much again, and both stay in L2. A single row is cut into ranges of columns;
/// contractions of more rows that exceed it take another form.
inline constexpr int64_t kMostSums = 64 << 10;
/// One row is the lhs here, wherever the contraction has it.
struct BatchTile {
  bool oneRow;
  int64_t rows, columns;
};
BatchTile batchTile(const Contraction &c);

enum class FormKind {
  Trace,
  BatchLanes,
  Matrix, ///< blocked, with matrix registers
  Groups, ///< blocked, with groups of neighbours along k
  Inner,
  Stream,
  ScaledStream,
  ScaledInner,
  ByteStream,
  ByteInner,
  Blocked,
  Nest
};

/// A form, of the contraction as it is described or with its sides exchanged.
struct ContractionForm {
  FormKind kind;
  bool swapped = false;
  bool operator==(const ContractionForm &other) const = default;
};

/// The form for narrow integers with scales that takes the contraction, if one does. It unpacks
/// each integer once, and multiplies before it scales.
std::optional<ContractionForm> formForScaled(const Contraction &c);
/// The form by bytes that takes the contraction, if one does.
std::optional<ContractionForm> formForBytes(const Contraction &c);
/// "inner", "inner-swapped".
std::string nameOf(const ContractionForm &form);
/// The fastest form, by the rules in Forms.cpp.
ContractionForm preferredForm(const Contraction &c);
/// Every form that is right for the contraction, the preferred one among them.
llvm::SmallVector<ContractionForm> possibleForms(const Contraction &c);
/// The sizes and the cycles of a form (FormCosts.cpp). `plainResult`: see planBlocks.
PlanCandidate describeForm(const Contraction &c, const ContractionForm &form, bool plainResult);
/// Makes the contraction the one that the form takes: exchanges its sides, says what multiplies.
void takeForm(Contraction &c, const ContractionForm &form);
/// A tile of sums with `lanes` lanes along k: rows from `row` on, and `columns` (a power of two)
/// columns from `first` on. Columns past the end are not stored.
struct LaneSums {
  llvm::ArrayRef<Index> batch;
  int64_t row, rows;
  mlir::Value first;
  int64_t columns, lanes;
};
/// Adds up the lanes of sums[r * columns + v], and stores the results.
void storeLaneSums(Contraction &c, Epilogue &epilogue, const LaneSums &tile,
                   llvm::ArrayRef<Elem> sums);
/// body(batch, from, to) for the parts of `tasks` tasks per batch index that this call runs.
void forEachBatch(
    Contraction &c, int64_t tasks,
    llvm::function_ref<void(llvm::ArrayRef<Index> batch, mlir::Value from, mlir::Value to)> body);

/// Bytes of the large side in a task that is worth its dispatch, where the contraction reads
/// `bytes` of it.
int64_t bytesPerTask(int64_t bytes);
/// How many of the `units` units of so many bytes that a batch index has are a task; all tasks have
/// about as many.
int64_t unitsPerTask(int64_t units, int64_t bytes, int64_t batches);

/// Adds the description of every possible form, in their order.
void addCandidates(const Contraction &c, const Epilogue &epilogue, std::vector<PlanCandidate> &to);
/// Fills the kernel's body.
void emitForm(Contraction &c, Epilogue &epilogue, const ContractionForm &form);

} // namespace hlo::codegen

#endif
