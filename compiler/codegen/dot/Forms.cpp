//===- Forms.cpp - Which form a contraction takes -------------------------===//
//
// In: a contraction. Out: the forms that are right for it, and the one that is used:
//
//   trace      no rows and no columns, and each side steps by one along another dimension
//   batch      both sides (or all but a single row) step by one along the batch: lanes along it
//   matrix     blocked, by matrix registers
//   groups     blocked, groups of neighbours along k multiplied by one instruction
//   scaled     few rows or columns, the other side narrow integers with scales: along k or columns
//   inner      few rows or columns, both sides step by one along k: lanes along k
//   stream     few rows or columns, the other side is large and steps by one along them
//   blocked    everything else; few rows (or columns) that fill a vector and are neighbours in the
//              result
//   nest       pred, and empty sums
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/Forms.h"
#include "compiler/codegen/dot/BlockPlan.h"

using namespace mlir;

namespace hlo::codegen {

bool stepsAlongK(const ContractionSide &side) {
  return !side.kStrides.empty() && side.kStrides.back() == 1;
}

static bool isEmpty(const Contraction &c) {
  return c.batchSize() * c.mSize() * c.nSize() == 0 || c.k.empty() || c.kSize() == 0;
}

/// Whether the form is the blocked one with the sides exchanged: few rows that are neighbours in
/// the result are its columns, and each element of the large side, which steps by one along k, is
/// broadcast to a vector or two of them. No lanes have to be added up then, and the small side
/// comes from L2 once per tile.
static bool prefersColumns(const Contraction &c) {
  // Several tiles of 10 to 28 elements of the large side, so that packing the small one pays; and
  // steps that outlast the start of a tile (kLoopStart, and its stores). No timings around them.
  constexpr int64_t kLeastColumns = 64, kLeastK = 16;
  if (!canBlock(c) || !isStoredAsSummed(c, c.rhs) || isa<ComplexType>(c.element) ||
      c.m.size() != 1 || c.outM.back() != 1 || c.mSize() > kMostRows || c.kSize() < kLeastK ||
      c.nSize() < kLeastColumns || !stepsAlongK(c.rhs) || !linearStride(c.k, c.rhs.kStrides) ||
      !linearStride(c.n, c.rhs.freeStrides)) {
    return false;
  }
  // Half a vector pays if it takes half the time.
  const Vectors &vectors = c.kernel.e.machine.vectors;
  int64_t filled = c.mSize() * storageBytes(c.element) * 2;
  return filled > vectors.bytes || (filled == vectors.bytes && vectors.halves);
}

/// Whether vectors along k are too few, or too empty, to pay for the addition of their lanes.
static bool hasShortRows(const Contraction &c) {
  // More rows than this need two vectors along k to pay for the addition of lanes; for one or two,
  // more than half a vector is faster than blocked (NOTES.md: 256 times 20 x 20 by a vector).
  constexpr int64_t kShortRowsMost = 2;
  int64_t lanes = lanesFor(c, std::numeric_limits<int32_t>::max());
  return c.mSize() <= kShortRowsMost ? 2 * c.k.back() <= lanes
                                     : c.k.back() < 2 * lanesFor(c, c.k.back());
}

bool canUseInner(const Contraction &c) {
  if (isEmpty(c) || !stepsAlongK(c.rhs) || c.mSize() > kMostRows || c.element.isInteger(1)) {
    return false;
  }
  int64_t bytes = c.mSize() * c.kSize() * storageBytes(c.element);
  return stepsAlongK(c.lhs) || bytes <= kMostCopied;
}

InnerTile innerTile(const Contraction &c) {
  // A tile's sums, its columns and one row fit the registers: 6 x 4 or 8 x 2 of 32, 2 x 4 or 4 x 2
  // of 16.
  int64_t parts = isa<ComplexType>(c.element) ? 2 : 1, m = c.mSize();
  int64_t free = c.kernel.e.machine.vectors.registers / parts - 5;
  int64_t most = std::max<int64_t>(1, free / 3);
  int64_t rows = llvm::divideCeil(m, llvm::divideCeil(m, most));
  int64_t columns = rows > free / 4 ? 2 : rows * parts > 2 ? 4 : 8 / parts;
  return {rows, std::min<int64_t>({static_cast<int64_t>(llvm::PowerOf2Ceil(c.nSize())), columns,
                                   lanesFor(c, c.k.back())})};
}

bool prefersInner(const Contraction &c) { return canUseInner(c) && !hasShortRows(c); }

bool canStream(const Contraction &c) {
  if (c.mSize() > kMostRows || isEmpty(c) || c.element.isInteger(1) || !c.rhs.storage) {
    return false;
  }
  std::optional<int64_t> column = linearStride(c.n, c.rhs.freeStrides);
  return column && *column == 1 &&
         (isStoredAsSummed(c, c.lhs) ||
          c.mSize() * c.kSize() * storageBytes(c.element) <= kMostCopied);
}

StreamTile streamTile(const Contraction &c) {
  // A task has at least 512 columns, so that its pieces of rows are long enough for prefetchers,
  // and there are up to 8 tasks, which a few threads share evenly.
  constexpr int64_t kLeastColumns = 512, kEnoughTasks = 8;
  // Accumulators get a third of L1; the current and the prefetched rhs rows get a third each. With
  // many lhs rows accumulators get half, so that a task keeps at least kLeastColumns columns.
  constexpr int64_t kSumPart = 3, kMostSumPart = 2;
  // Up to 8 rows of the lhs share a load of the rhs, and 4 to 8 rows of the rhs are read at a time:
  // an accumulator is loaded and stored once for all of them, but each is a stream of its own for
  // the prefetchers. The lhs elements of both, 8 to 32, are in registers or broadcast by the
  // multiply-adds (NOTES.md, "Rows of a streamed side").
  constexpr int64_t kMostTogether = 8, kMostAtOnce = 8, kMostElements = 32;
  int64_t rows = c.mSize(), l1 = c.kernel.e.machine.memory.l1;
  int64_t parts = isa<ComplexType>(c.element) ? 2 : 1;
  int64_t column = rows * parts * (computeType(c.element).getIntOrFloatBitWidth() / 8);
  int64_t columns =
      std::max(kLeastColumns, c.nSize() / std::max<int64_t>(1, kEnoughTasks / c.batchSize()));
  columns = std::min(columns, std::max(l1 / kSumPart / column,
                                       std::min(kLeastColumns, l1 / kMostSumPart / column)));
  StreamTile tile;
  // A vector of pairs has every other column of twice as many.
  int64_t unit = lanesFor(c, c.nSize()) * (pairsOfStream(c) ? 2 : 1);
  tile.block = llvm::alignTo(std::min(columns, c.nSize()), unit);
  tile.together = llvm::divideCeil(rows, llvm::divideCeil(rows, kMostTogether));
  bool broadcasts = c.kernel.e.machine.vectors.broadcastOperands;
  // A pair is one element for two rows of the rhs.
  int64_t elements = broadcasts ? kMostElements : kMostElements / 2;
  int64_t most = pairsOfStream(c) ? 2 * elements : elements;
  tile.atOnce = std::clamp<int64_t>(most / tile.together, 4, kMostAtOnce);
  return tile;
}

const Product *pairsOfStream(const Contraction &c) {
  const Machine &machine = c.kernel.e.machine;
  // One row is bound by memory; more than these take a second pass over the sums.
  constexpr int64_t kMostPaired = 8;
  if (c.mSize() < 2 || c.mSize() > kMostPaired || !c.element.isF32() || !c.lhs.holdsBf16 ||
      !c.rhs.strided || !c.rhs.storage.isBF16() || c.k.back() % 2 != 0 ||
      lanesFor(c, c.nSize()) != machine.lanes(4) || machine.lanes(4) < 4) {
    return nullptr;
  }
  auto products = machine.vectorProducts(kBf16, kBf16, kF32);
  return products.empty() ? nullptr : products.front();
}

bool prefersStream(const Contraction &c) {
  return canStream(c) && c.nSize() >= 4 * lanesFor(c, c.nSize()) &&
         c.kSize() * c.nSize() * storageBytes(c.rhs.storage) >= kStreamedBytes && c.k.back() >= 8;
}

/// The batch form: rows of a register tile.
static int64_t batchTileRows(const Contraction &c) {
  // Accumulators, a column of vectors and one more vector must fit.
  return c.kernel.e.machine.vectors.registers >= 32 ? 4 : 2;
}

BatchTile batchTile(const Contraction &c) {
  // 4 x 4 accumulators, 4 columns and a row's vector fill 21 of 32 registers, 2 x 4 13 of 16. One
  // row has 8 accumulators: as many chains hide a latency of 4 cycles at two multiply-adds a cycle.
  constexpr int64_t kTileColumns = 4, kOneRowColumns = 8;
  bool oneRow = hasOneRow(c);
  int64_t m = oneRow ? 1 : c.mSize(), n = oneRow ? c.mSize() * c.nSize() : c.nSize();
  return {oneRow, std::min(m, batchTileRows(c)),
          std::min(n, oneRow ? kOneRowColumns : kTileColumns)};
}

static bool stepsAlongBatch(const ContractionSide &side) {
  return side.strided && side.batchStrides.back() == 1;
}

bool hasOneRow(const Contraction &c) {
  // A row that does not step by one along the batch is gathered to a copy, a lane at a time. With 6
  // columns, the vectors that are loaded whole are most of what is read. No timings were kept.
  constexpr int64_t kLeastColumns = 6;
  const ContractionSide &large = c.mSize() == 1 ? c.rhs : c.lhs,
                        &row = c.mSize() == 1 ? c.lhs : c.rhs;
  int64_t columns = c.mSize() * c.nSize();
  return std::min(c.mSize(), c.nSize()) == 1 && columns >= 2 && stepsAlongBatch(large) &&
         row.strided && (stepsAlongBatch(row) || columns >= kLeastColumns);
}

bool canUseBatchLanes(const Contraction &c) {
  if (isa<ComplexType>(c.element) || c.element.isInteger(1) || c.batch.empty() || c.k.empty() ||
      c.kSize() < 2 || c.batchSize() == 0) {
    return false;
  }
  bool oneRow = hasOneRow(c);
  bool both = c.mSize() > 1 && c.nSize() > 1 && stepsAlongBatch(c.lhs) && stepsAlongBatch(c.rhs);
  if (!oneRow && !both) {
    return false;
  }
  // A batch that fills no vector is faster blocked (NOTES.md: 64 x 48 x 64, batch 4).
  int64_t lanes = lanesFor(c, c.batch.back()), vector = lanes * storageBytes(c.element);
  if (vector < c.kernel.e.machine.vectors.bytes) {
    return false;
  }
  if (oneRow) {
    return c.kSize() * vector <= kMostCopied;
  }
  return (c.mSize() + c.nSize()) * c.kSize() * vector <= kMostCopied &&
         batchTileRows(c) * c.nSize() * vector <= kMostSums;
}

bool prefersBatchLanes(const Contraction &c) {
  if (!canUseBatchLanes(c)) {
    return false;
  }
  if (!hasOneRow(c) && c.kSize() < kLeastBatchSum && c.mSize() * c.nSize() > kSmallBatchResult) {
    return false;
  }
  int64_t used = llvm::alignTo(c.batch.back(), lanesFor(c, c.batch.back()));
  return 2 * used <= 3 * c.batch.back();
}

std::optional<TraceAxis> unitAxis(const Contraction &c, const ContractionSide &side) {
  for (auto [dim, stride] : llvm::enumerate(side.kStrides)) {
    if (stride == 1) {
      return TraceAxis{true, dim, c.k[dim]};
    }
  }
  for (auto [dim, stride] : llvm::enumerate(side.batchStrides)) {
    if (stride == 1) {
      return TraceAxis{false, dim, c.batch[dim]};
    }
  }
  return std::nullopt;
}

bool canTrace(const Contraction &c) {
  if (!c.m.empty() || !c.n.empty() || c.kSize() < 2 || c.batchSize() == 0 ||
      c.element.isInteger(1)) {
    return false;
  }
  std::optional<TraceAxis> left = unitAxis(c, c.lhs), right = unitAxis(c, c.rhs);
  return left && right && (!(*left == *right) || !left->inK);
}

bool prefersTrace(const Contraction &c) {
  // Squares of 3 x 3 were slower than scalars: most lanes of a transposed square are empty.
  constexpr int64_t kLeastSide = 5;
  return canTrace(c) && std::min(unitAxis(c, c.lhs)->size, unitAxis(c, c.rhs)->size) >= kLeastSide;
}

static StringRef nameOf(FormKind kind) {
  switch (kind) {
  case FormKind::Trace: return "trace";
  case FormKind::BatchLanes: return "batch";
  case FormKind::Matrix: return "matrix";
  case FormKind::Groups: return "groups";
  case FormKind::Inner: return "inner";
  case FormKind::Stream: return "stream";
  case FormKind::ScaledStream: return "scaled-stream";
  case FormKind::ScaledInner: return "scaled-inner";
  case FormKind::ByteStream: return "byte-stream";
  case FormKind::ByteInner: return "byte-inner";
  case FormKind::Blocked: return "blocked";
  case FormKind::Nest: return "nest";
  }
  llvm_unreachable("a form without a name");
}

std::string nameOf(const ContractionForm &form) {
  return (nameOf(form.kind) + (form.swapped ? "-swapped" : "")).str();
}

/// Whether lanes along m would make whole vectors of the result, and lanes along n do not.
static bool isBetterSwapped(const Contraction &c) {
  return !c.m.empty() && !c.n.empty() && c.outN.back() != 1 && c.outM.back() == 1 &&
         c.lhs.unit == UnitStride::Free &&
         (c.m.size() == 1 || c.m.back() % lanesFor(c, c.mSize()) == 0);
}

/// The form for few rows that takes the contraction, if one does.
static std::optional<ContractionForm> formForFewRows(const Contraction &c, bool swapped) {
  using Form = ContractionForm;
  return prefersColumns(c)  ? std::optional(Form{FormKind::Blocked, !swapped})
         : prefersInner(c)  ? std::optional(Form{FormKind::Inner, swapped})
         : prefersStream(c) ? std::optional(Form{FormKind::Stream, swapped})
                            : std::nullopt;
}

/// A form whose operands are packed for few uses is taken if it has at most this part of another
/// form's modelled cycles: the model is within 10 to 20 % of the times of forms of one kind
/// (NOTES.md, "The model of time").
static constexpr double kCertain = 0.85;

namespace {
struct CheapestForm {
  std::optional<ContractionForm> form;
  double cycles = std::numeric_limits<double>::infinity();
};
} // namespace

/// The possible form of the fewest modelled cycles, times the weight of its kind. Kinds of weight 0
/// are left out.
static CheapestForm cheapest(const Contraction &c, function_ref<double(FormKind)> weightOf) {
  CheapestForm best;
  for (const ContractionForm &form : possibleForms(c)) {
    double weight = weightOf(form.kind);
    if (weight == 0) {
      continue;
    }
    double cycles = weight * describeForm(c, form, /*plainResult=*/true).cycles;
    if (cycles < best.cycles) {
      best = {form, cycles};
    }
  }
  return best;
}

/// For few rows or columns of operands that a product takes in groups: the form of the fewest
/// modelled cycles. Groups only where the model is certain, since they are packed for few uses.
static std::optional<ContractionForm> cheapestForFew(const Contraction &c, bool swapped) {
  if (std::min(c.mSize(), c.nSize()) > kMostRows || !canUseGroups(c)) {
    return std::nullopt;
  }
  CheapestForm best = cheapest(c, [](FormKind kind) {
    bool isPlain = kind == FormKind::Inner || kind == FormKind::Stream || kind == FormKind::Blocked;
    return kind == FormKind::Groups ? 1 / kCertain : isPlain ? 1 : 0;
  });
  if (best.form) {
    best.form->swapped ^= swapped;
  }
  return best.form;
}

/// For few rows or columns: the form by matrix registers, if it is certainly faster than `other`.
static std::optional<ContractionForm> matrixForFew(const Contraction &c,
                                                   const ContractionForm &other) {
  if (std::min(c.mSize(), c.nSize()) > kMostRows || !matrixProduct(c)) {
    return std::nullopt;
  }
  CheapestForm best =
      cheapest(c, [](FormKind kind) { return kind == FormKind::Matrix ? 1 / kCertain : 0; });
  bool isFaster = best.cycles < describeForm(c, other, /*plainResult=*/true).cycles;
  return isFaster ? best.form : std::nullopt;
}

/// The form without the one that matrixForFew may choose in its place.
static ContractionForm usualForm(const Contraction &described) {
  if (prefersTrace(described)) {
    return {FormKind::Trace};
  }
  if (prefersBatchLanes(described)) {
    return {FormKind::BatchLanes};
  }
  Contraction c = described;
  bool swapped = false;
  auto swap = [&] {
    swapSides(c);
    swapped = !swapped;
  };
  if (isBetterSwapped(c)) {
    swap();
  }
  // A column vector of results is a row vector of the swapped product.
  if (c.nSize() == 1 && c.mSize() > 1) {
    swap();
  }
  if (prefersMatrix(c)) {
    return {FormKind::Matrix, swapped};
  }
  if (auto few = cheapestForFew(c, swapped)) {
    return *few;
  }
  if (canUseGroups(c)) {
    return {FormKind::Groups, swapped};
  }
  if (auto few = formForFewRows(c, swapped)) {
    return *few;
  }
  // Few columns: the same with the sides exchanged.
  if (c.nSize() < c.mSize()) {
    swap();
    if (canUseGroups(c) && prefersMatrix(c)) {
      return {FormKind::Matrix, swapped};
    }
    if (auto few = cheapestForFew(c, swapped)) {
      return *few;
    }
    if (canUseGroups(c)) {
      return {FormKind::Groups, swapped};
    }
    if (auto few = formForFewRows(c, swapped)) {
      return *few;
    }
    swap();
  }
  if (!canBlock(c)) {
    return {FormKind::Nest, swapped};
  }
  return {FormKind::Blocked, swapped};
}

/// The form that reads a side's panels, which was preferred when they were chosen.
static std::optional<ContractionForm> formOfPanels(const Contraction &described) {
  if (!described.rhs.panels && !described.lhs.panels) {
    return std::nullopt;
  }
  Contraction c = described;
  bool swapped = !c.rhs.panels;
  if (swapped) {
    swapSides(c);
  }
  for (FormKind kind : {FormKind::Matrix, FormKind::Groups, FormKind::Blocked}) {
    bool can = kind == FormKind::Matrix   ? canUseMatrix(c)
               : kind == FormKind::Groups ? canUseGroups(c)
                                          : canBlock(c);
    ContractionForm form{kind, swapped};
    if (!can) {
      continue;
    }
    Contraction taken = described;
    takeForm(taken, form);
    if (planBlocks(taken, /*plainResult=*/true).rhs == RhsForm::Panels) {
      return form;
    }
  }
  return std::nullopt;
}

ContractionForm preferredForm(const Contraction &c) {
  if (std::optional<ContractionForm> form = formOfPanels(c)) {
    return *form;
  }
  if (std::optional<ContractionForm> form = formForScaled(c)) {
    return *form;
  }
  ContractionForm form = usualForm(c);
  if (form.kind == FormKind::Trace || form.kind == FormKind::BatchLanes) {
    return form;
  }
  form = matrixForFew(c, form).value_or(form);
  // Few rows of bytes: nothing is packed, and integers of less than a byte are unpacked in
  // registers.
  if (std::optional<ContractionForm> bytes = formForBytes(c)) {
    auto cycles = [&](const ContractionForm &of) {
      return describeForm(c, of, /*plainResult=*/true).cycles;
    };
    return cycles(*bytes) < cycles(form) ? *bytes : form;
  }
  return form;
}

SmallVector<ContractionForm> possibleForms(const Contraction &described) {
  SmallVector<ContractionForm> forms;
  auto add = [&](FormKind kind, bool swapped, bool can) {
    if (can) {
      forms.push_back({kind, swapped});
    }
  };
  // These two exchange the sides themselves.
  add(FormKind::Trace, false, canTrace(described));
  add(FormKind::BatchLanes, false, canUseBatchLanes(described));
  Contraction c = described;
  bool oneElement = c.mSize() == 1 && c.nSize() == 1;
  for (bool swapped : {false, true}) {
    // One column of many rows has no vectors.
    bool isColumn = c.nSize() == 1 && c.mSize() > 1;
    if (!isColumn && !(swapped && oneElement)) {
      add(FormKind::Matrix, swapped, canUseMatrix(c));
      add(FormKind::Groups, swapped, canUseGroups(c));
      add(FormKind::Inner, swapped, canUseInner(c));
      add(FormKind::Stream, swapped, canStream(c));
      add(FormKind::ScaledStream, swapped, canUseScaledStream(c));
      add(FormKind::ScaledInner, swapped, canUseScaledInner(c));
      add(FormKind::ByteStream, swapped, canUseByteStream(c));
      add(FormKind::ByteInner, swapped, canUseByteInner(c));
      add(FormKind::Blocked, swapped, canBlock(c));
      add(FormKind::Nest, swapped, true);
    }
    swapSides(c);
  }
  return forms;
}

void takeForm(Contraction &c, const ContractionForm &form) {
  if (form.swapped) {
    swapSides(c);
  }
  c.blockedBy = form.kind == FormKind::Matrix   ? BlockedBy::Matrix
                : form.kind == FormKind::Groups ? BlockedBy::Groups
                                                : BlockedBy::Elements;
}

void emitForm(Contraction &c, Epilogue &epilogue, const ContractionForm &form) {
  takeForm(c, form);
  switch (form.kind) {
  case FormKind::Trace: return emitTrace(c, epilogue);
  case FormKind::BatchLanes: return emitBatchLanes(c, epilogue);
  case FormKind::Matrix:
  case FormKind::Groups:
  case FormKind::Blocked: return emitBlocked(c, epilogue);
  case FormKind::Inner: return emitInner(c, epilogue);
  case FormKind::Stream: return emitStream(c, epilogue);
  case FormKind::ScaledStream: return emitScaledStream(c, epilogue);
  case FormKind::ScaledInner: return emitScaledInner(c, epilogue);
  case FormKind::ByteStream: return emitByteStream(c, epilogue);
  case FormKind::ByteInner: return emitByteInner(c, epilogue);
  case FormKind::Nest: return emitNest(c, epilogue);
  }
}

void addCandidates(const Contraction &c, const Epilogue &epilogue, std::vector<PlanCandidate> &to) {
  bool plain = epilogue.isIdentity() && epilogue.heroElement() == c.element;
  for (const ContractionForm &form : possibleForms(c)) {
    to.push_back(describeForm(c, form, plain));
  }
}

void emitContraction(Contraction &c, Epilogue &epilogue) {
  ContractionForm form = preferredForm(c);
  if (c.kernel.choice) {
    SmallVector<ContractionForm> forms = possibleForms(c);
    std::vector<PlanCandidate> candidates;
    addCandidates(c, epilogue, candidates);
    form = forms[chooseCandidate(c.kernel, std::move(candidates),
                                 llvm::find(forms, form) - forms.begin())];
  }
  emitForm(c, epilogue, form);
}

} // namespace hlo::codegen
