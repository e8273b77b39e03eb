//===- SortPlan.cpp - The plan of a sort ----------------------------------===//
//
// In: a sort or topk, the machine. Out: method, form of the records, rows handled together, tasks
// and scratch memory. Times are cycles, measured on one core with vectors of 64 bytes; only their
// ratio decides.
//
//===----------------------------------------------------------------------===//
#include "compiler/plans/SortPlan.h"
#include "compiler/analysis/Shapes.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace hlo {

/// The largest scratch of a task that is variables of the kernel's function, one slot per thread
/// (codegen/Scratch.h). More is an extra result, one part per task. The bound dates from when such
/// variables were on the thread's stack.
static constexpr int64_t kStackBytes = 64 << 10;
/// Limit on that extra result. Beyond it there are fewer tasks, but at least four. A bound on the
/// memory that a sort adds to a program, not on a cache.
static constexpr int64_t kScratchBytes = 16 << 20;
/// Least elements per task, as kElementsPerTask (codegen/loops/Lanes.h): at the 1 to 10 ns that an
/// element takes (NOTES.md, "Sort and topk"), far more than the 0.5 us in which a task is handed
/// out.
static constexpr int64_t kTaskElements = 16 << 10;
/// The elements of a task of a single row that is split: their records and counters fit L2.
static constexpr int64_t kChunkElements = 32 << 10;
/// topk of at most this many elements keeps them sorted and inserts into them: half of them move
/// for each one, which is cheap as long as they are a line or two. A larger one collects candidates
/// and sorts them together. No timings around the bound were kept.
static constexpr int64_t kInsertedElements = 16;
/// topk sorts shorter rows whole: they have less than two chunks (SortPlan::kChunk) that a
/// threshold could let it skip.
static constexpr int64_t kSelectedRow = 128;
/// Longest row for a sorting network, whose work grows with n log^2 n.
static constexpr int64_t kNetworkRow = 1024;
/// Most bytes of the vectors that hold one word of `lanes` records of a network. An exchange of two
/// registers of 32 bytes takes 1.2 times as long as one of one register (f32 1024x64).
static constexpr int64_t kNetworkBytes = 64;
/// Cycles of an exchange of records of one word: of itself (loads, stores, the loop), for each
/// register, and the factor if the records are in L2.
static constexpr double kExchange = 2.8, kPerVector = 0.7, kFromL2 = 3.5;
/// Cycles of a pass over records by one digit, or to make them: of its buckets and loops, and of
/// each record.
static constexpr double kPerDigit = 150, kPerRecord = 3;

int64_t SortPlan::recordBytes() const {
  int64_t bytes = 0;
  for (const Word &word : words) {
    bytes += word.bits / 8;
  }
  return bytes;
}

int64_t SortPlan::bufferBytes(const Word &word) const {
  return llvm::alignTo((std::max(candidates, keep) + 2 * kChunk) * word.bits / 8, 64);
}

/// Packs position and keys into words of at most 64 bits.
static void layOutRecords(SortPlan &plan, unsigned leastBits) {
  plan.words.clear();
  plan.places.assign(plan.keys.size(), {});
  plan.positionBits = plan.keysOnly ? 0 : std::max(1u, llvm::Log2_64_Ceil(plan.n));
  unsigned used = plan.positionBits, keyFrom = used;
  auto close = [&] {
    plan.words.push_back(
        {std::max<unsigned>(leastBits, llvm::PowerOf2Ceil(std::max(8u, used))), keyFrom, used});
    used = keyFrom = 0;
  };
  for (size_t k = plan.keys.size(); k-- > 0;) {
    unsigned bits = plan.keys[k].bits();
    if (used + bits > 64) {
      close();
    }
    plan.places[k] = {static_cast<unsigned>(plan.words.size()), used};
    used += bits;
  }
  close();
}

/// Comparators of Batcher's network (Knuth, volume 3, 5.2.2, exercise 10: for powers of two).
static double networkComparators(int64_t n) {
  double p = llvm::Log2_64_Ceil(n);
  return std::max(1.0, (p * p - p + 4) / 4 * static_cast<double>(n));
}

static int64_t digitsOf(const SortPlan &plan) {
  int64_t digits = 0;
  for (const SortPlan::Word &word : plan.words) {
    digits += llvm::divideCeil(word.keyTo - word.keyFrom, 8);
  }
  return digits;
}

static void splitIntoTasks(SortPlan &plan) {
  int64_t blockElements = std::max<int64_t>(1, plan.n * plan.lanes);
  plan.blocksPerTask = std::clamp<int64_t>(kTaskElements / blockElements, 1, plan.blocks);
  plan.onStack = plan.taskBytes <= kStackBytes;
  if (!plan.onStack) {
    int64_t most = std::clamp<int64_t>(kScratchBytes / plan.taskBytes, 4, 64);
    plan.blocksPerTask = std::max(plan.blocksPerTask, (int64_t)llvm::divideCeil(plan.blocks, most));
  }
}

static int64_t aligned(int64_t bytes) { return llvm::alignTo(bytes, 64); }

static void planRadix(const Machine &machine, SortPlan &plan) {
  plan.method = SortPlan::Method::Radix;
  layOutRecords(plan, 8);
  // Several columns are sorted together, so that whole cache lines are read; they stay in L2.
  plan.lanes = 1;
  while (plan.inner > 1 && plan.lanes < 16 && plan.lanes < plan.inner &&
         2 * plan.lanes * plan.n * plan.recordBytes() <= machine.memory.l2) {
    plan.lanes *= 2;
  }
  // Rows whose distance is a multiple of 4 KiB would map to the same cache sets.
  plan.rowStride = plan.lanes == 1 ? plan.n : llvm::alignTo(plan.n, 64) + 64;
  plan.inResult = plan.keysOnly && plan.inner == 1 && plan.keep == plan.n &&
                  plan.words[0].bits == 8 * elementBytes(plan.keys[0].element);
  plan.taskBytes = 0;
  for (const SortPlan::Word &word : plan.words) {
    plan.taskBytes += aligned(plan.rowStride * plan.lanes * word.bits / 8) +
                      (plan.inResult ? 0 : aligned(plan.n * word.bits / 8));
  }
}

/// Splits one long row into chunks; at most 16, because each task has one counter per bucket.
static void planChunks(SortPlan &plan) {
  plan.chunks = std::clamp<int64_t>(plan.n / kChunkElements, 2, 16);
  plan.chunk = llvm::alignTo(llvm::divideCeil(plan.n, plan.chunks), 64);
  plan.chunks = llvm::divideCeil(plan.n, plan.chunk);
  plan.taskBytes += aligned(plan.chunks * SortPlan::kBuckets * 4) + aligned(plan.chunks * 16) +
                    aligned(plan.chunks * 8);
  plan.onStack = false;
  // Within a bucket the upper bits are equal: of 32 bits, two digits of 11 bits remain instead of
  // three of 8.
  plan.digitBits = 11;
}

/// A network over vectors of so many bytes for a word that is not narrower than others.
static void planNetwork(SortPlan &plan, int64_t vectorBytes) {
  plan.method = SortPlan::Method::Network;
  layOutRecords(plan, 32);
  plan.lanes = vectorBytes / (plan.words.size() == 1 ? plan.words[0].bits / 8 : 8);
  plan.rowStride = 1;
  plan.taskBytes = 0;
  for (const SortPlan::Word &word : plan.words) {
    plan.taskBytes += aligned(plan.n * plan.lanes * word.bits / 8);
  }
}

static void countBlocks(SortPlan &plan) {
  plan.blocks = plan.inner == 1 ? llvm::divideCeil(plan.outer, plan.lanes)
                                : plan.outer * llvm::divideCeil(plan.inner, plan.lanes);
}

/// Cycles of all rows by a network.
static double networkCost(const Machine &machine, const SortPlan &plan) {
  double vectors = 0;
  for (const SortPlan::Word &word : plan.words) {
    vectors += static_cast<double>(plan.lanes * word.bits) / (8.0 * machine.vectors.bytes);
  }
  double exchange = plan.words.size() == 1 ? kExchange + kPerVector * vectors
                                           : 2 * (kExchange + kPerVector) * vectors;
  bool inL1 = plan.taskBytes <= machine.memory.l1 * 5 / 4;
  return static_cast<double>(plan.blocks) * networkComparators(plan.n) * exchange *
         (inL1 ? 1 : kFromL2);
}

/// Cycles of all rows by digits.
static double radixCost(const SortPlan &plan) {
  double onePass = kPerDigit + kPerRecord * static_cast<double>(plan.n);
  return static_cast<double>(plan.outer * plan.inner) * onePass *
         static_cast<double>(1 + digitsOf(plan));
}

/// The candidates by keys: networks of vectors of several sizes, and a radix sort.
static std::vector<SortCandidate> candidatesByKeys(const Machine &machine, const SortPlan &given) {
  std::vector<SortCandidate> result;
  for (int64_t bytes = machine.vectors.bytes;
       given.n <= kNetworkRow && bytes <= std::max<int64_t>(machine.vectors.bytes, kNetworkBytes);
       bytes *= 2) {
    SortPlan network = given;
    planNetwork(network, bytes);
    countBlocks(network);
    double cycles = networkCost(machine, network);
    splitIntoTasks(network);
    result.push_back({network, cycles});
  }
  SortPlan radix = given;
  planRadix(machine, radix);
  countBlocks(radix);
  // A split row is the same work, by several tasks. On one core it is slower as long as both of its
  // buffers fit L2, as those of half an L2 do.
  bool split = radix.blocks == 1 && radix.inner == 1 && radix.keep == radix.n &&
               radix.n * radix.recordBytes() >= machine.memory.l2 && digitsOf(radix) >= 4;
  if (split) {
    planChunks(radix);
  } else {
    splitIntoTasks(radix);
  }
  result.push_back({radix, radixCost(radix)});
  auto best = llvm::min_element(
      result, [](const SortCandidate &a, const SortCandidate &b) { return a.cycles < b.cycles; });
  std::rotate(result.begin(), best, best + 1);
  return result;
}

static void setShape(SortPlan &plan, RankedTensorType type, int64_t dimension) {
  for (int64_t d = 0; d < type.getRank(); ++d) {
    (d < dimension ? plan.outer : d > dimension ? plan.inner : plan.n) *= type.getShape()[d];
  }
  plan.keep = plan.n;
}

/// What needs no choice.
static std::vector<SortCandidate> onlyCandidate(const SortPlan &plan) { return {{plan, 0}}; }

std::vector<SortCandidate> topkCandidates(const Machine &machine, TopkOp op) {
  SortPlan plan;
  RankedTensorType type = arrayType(op.getOperand());
  setShape(plan, type, type.getRank() - 1);
  plan.keep = static_cast<int64_t>(op.getK());
  if (type.getNumElements() == 0 || plan.keep == 0) {
    plan.blocks = 0;
    return onlyCandidate(plan);
  }
  SortKey key;
  key.element = type.getElementType();
  key.descending = op.getLargest().value_or(true);
  key.total = true;
  key.operand = 0;
  plan.keys.push_back(key);
  plan.candidates = plan.keep <= kInsertedElements
                        ? 0
                        : std::max<int64_t>(512, llvm::PowerOf2Ceil(8 * plan.keep));
  if (plan.n < std::max(kSelectedRow, std::max(plan.keep, plan.candidates) * 2)) {
    return candidatesByKeys(machine, plan);
  }
  plan.method = SortPlan::Method::Select;
  layOutRecords(plan, 32);
  plan.blocks = plan.outer;
  plan.taskBytes = 0;
  for (const SortPlan::Word &word : plan.words) {
    plan.taskBytes += 2 * plan.bufferBytes(word);
  }
  splitIntoTasks(plan);
  return onlyCandidate(plan);
}

std::vector<SortCandidate> sortCandidates(const Machine &machine, SortOp op,
                                          ComputationOp comparator) {
  SortPlan plan;
  RankedTensorType type = arrayType(op.getInputs()[0]);
  setShape(plan, type, op.getDimension());
  if (type.getNumElements() == 0) {
    plan.blocks = 0;
    return onlyCandidate(plan);
  }
  if (!comparator) {
    comparator = SymbolTable::lookupNearestSymbolFrom<ComputationOp>(op, op.getToApplyAttr());
  }
  if (comparator) {
    plan.keys = findSortKeys(comparator);
  }
  if (!plan.keys.empty() && plan.n < (int64_t(1) << 31)) {
    plan.keysOnly =
        op.getInputs().size() == 1 && plan.keys.size() == 1 && plan.keys[0].operand == 0;
    return candidatesByKeys(machine, plan);
  }
  plan.keys.clear();
  plan.blocks = plan.outer * plan.inner;
  for (Value input : op.getInputs()) {
    plan.taskBytes += 2 * aligned(plan.n * elementBytes(elementTypeOf(input)));
  }
  splitIntoTasks(plan);
  return onlyCandidate(plan);
}

SortPlan planSort(const Machine &machine, SortOp op, ComputationOp comparator) {
  return sortCandidates(machine, op, comparator).front().plan;
}

SortPlan planTopk(const Machine &machine, TopkOp op) {
  return topkCandidates(machine, op).front().plan;
}

} // namespace hlo
