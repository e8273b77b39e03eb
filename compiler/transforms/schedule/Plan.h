//===- Plan.h - A program in one line, before and after it has addresses --===//
//
// The module's top-level computations, written out at each use as one tree of steps:
//
//   launch   one kernel                      moves    copies that happen at once
//   loop     a condition, a test, a body     branch   one of several sequences
//   state    random state from the runtime
//
// Every step has a position; position k stands for two points, 2k (it reads) and 2k + 1 (it
// writes). A launch reads while it writes: its operands are live at both points and its results
// from the first one on. Moves read all sources, then write all targets.
//
// Values need places. A definition of HLO is one value. A loop's carry, the result of a conditional
// and an output are values too, but moves write them: at first each has a place of its own, and a
// move wherever a value enters it. Coalescing then gives both sides of a move one buffer, unless
// two different values would have to be in it at the same time, and drops the move. The moves that
// remain are the copies of the program; there is no other copy insertion.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SCHEDULE_PLAN_H
#define COMPILER_TRANSFORMS_SCHEDULE_PLAN_H

#include "compiler/analysis/Computations.h"
#include "compiler/analysis/LiveRange.h"
#include <vector>

namespace hlo::schedule {

using ValueId = uint32_t;
using SequenceId = uint32_t;
constexpr uint32_t none = ~0u;

/// Where a value's bytes are.
enum class Home {
  Arena,
  Input,   ///< entry leaf `number`: never written
  Output,  ///< result leaf `number`
  Constant ///< never written
};

/// Where a value becomes available in one sequence: its definition, or for a carry the start of the
/// body and the end of the loop.
struct Scope {
  SequenceId sequence;
  uint32_t begin; ///< point
};

constexpr int64_t maxElementAlign = 8;

struct PlanValue {
  int64_t bytes = 0;
  /// Bytes at its start that count, if fewer (hlo.resize to a longer array).
  int64_t filled = std::numeric_limits<int64_t>::max();
  int64_t align = maxElementAlign; ///< of its elements; scratch memory may hold any type
  Home home = Home::Arena;
  uint32_t number = 0; ///< number of the input or output
  mlir::DenseElementsAttr constant;
  mlir::Location location; ///< the defining op
  bool isCarry = false; ///< carry of a loop; for a representative: some value of the buffer is one
  llvm::SmallVector<Scope, 1> scopes;
  LiveRange range;    ///< after Liveness: the points at which its bytes are needed
  int64_t offset = 0; ///< in the arena or the output; valid for a buffer's representative
  /// With Home::Output: scratch in the output's buffer, at points where the result is not in it.
  bool isGuest = false;
};

struct Move {
  ValueId source, target;
  /// Bytes of the source that count, if fewer than both sides have (hlo.resize).
  int64_t most = std::numeric_limits<int64_t>::max();
};

enum class StepKind { Launch, Moves, Loop, Branch, State };

/// A result and an operand of a launch, as indices into its results and operands.
struct AliasPair {
  unsigned result, operand;
};

struct Step {
  StepKind kind;
  mlir::Operation *op; ///< the hlo op that the step comes from
  uint32_t position;
  llvm::SmallVector<ValueId, 4> operands; ///< Launch: operands of the kernel. Branch: the selector
  llvm::SmallVector<ValueId, 1> results;  ///< Launch, State
  llvm::SmallVector<AliasPair, 0> mayAlias; ///< Launch
  llvm::SmallVector<Move, 1> moves;
  /// Loop: condition, body. Branch: one per branch.
  llvm::SmallVector<SequenceId, 0> sequences;
  std::optional<int64_t> tripCount = std::nullopt; ///< Loop
  bool predicated = false;                         ///< Branch: the selector is a pred
};

/// Steps that run one after another: the entry, or a region of a loop or branch.
struct Sequence {
  enum Kind { Entry, Condition, Body, Branch } kind;
  SequenceId parent = none;
  uint32_t begin = 0;      ///< first point
  uint32_t end = 0;        ///< the point after the last
  uint32_t outerBegin = 0; ///< point at which the whole loop, or the branching step, begins
  uint32_t outerEnd = 0;   ///< Condition, Body: the point after the whole loop
  unsigned loopDepth = 0;
  ValueId pred = none; ///< Condition: the tested value; none if there is a trip count
  std::vector<Step> steps;
};

/// An output that the caller may place in an input's buffer.
struct Donation {
  uint32_t output, input;
};

struct Plan {
  std::vector<PlanValue> values;
  std::vector<Sequence> sequences; ///< 0 is the entry
  llvm::SmallVector<ValueId> inputs, outputs;
  llvm::SmallVector<Donation> donations; ///< sorted by output, of which each has one at most
  uint32_t positions = 0;                ///< number of positions
  int64_t arenaBytes = 0;

  /// The donation to an output; null: there is none.
  const Donation *donationOf(uint32_t output) const {
    const Donation *found =
        llvm::lower_bound(donations, output, [](const Donation &donation, uint32_t at) {
          return donation.output < at;
        });
    return found != donations.end() && found->output == output ? found : nullptr;
  }
  /// Representative of the buffer that holds the value.
  ValueId bufferOf(ValueId value) const {
    while (buffers[value] != value) {
      value = buffers[value];
    }
    return value;
  }
  std::vector<ValueId> buffers; ///< union-find; the root is the representative
};

/// Bytes of an array; nothing if they exceed 63 bits or the type is not a static array. Tokens have
/// 0.
std::optional<int64_t> bytesOf(mlir::Type type);

/// Which carries loops hand on unchanged, possibly through loops inside them. Each is followed
/// once, while the program does not change: of a nest of loops, every level asks.
class InvariantCarries {
public:
  explicit InvariantCarries(const ComputationGraph &graph) : graph(graph) {}
  /// Whether `loop` hands on its operand `index` unchanged.
  bool contains(WhileOp loop, unsigned index);

private:
  const ComputationGraph &graph;
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, bool> known;
};

/// The execution order of a top-level computation's ops (constants and bitcasts included, without
/// the terminator).
std::vector<mlir::Operation *> scheduleComputation(ComputationOp computation,
                                                   const ComputationGraph &graph,
                                                   InvariantCarries &invariant);

/// Loops whose bodies are written out twice.
using LoopSet = llvm::SmallDenseSet<mlir::Operation *, 4>;

/// Writes the program that starts at `root` (null: the entry) as steps and fills the live ranges of
/// all values.
mlir::LogicalResult buildPlan(const ComputationGraph &graph, const LoopSet &doubled, Plan &plan,
                              ComputationOp root = {});

/// Fills `buffers`: which values share one. Drops moves within a buffer; the others are ordered so
/// that they can be executed one by one.
void coalesce(Plan &plan);

/// The loops of a coalesced plan that copy carries in every iteration because the body cannot write
/// a carry that it still reads. With the body written twice no copy is needed: the first half
/// writes to another buffer, the second half writes back.
LoopSet loopsToDouble(const Plan &plan);

/// Assigns offsets to the arena's buffers. With `guests`, moves large ones to buffers of outputs
/// that are not live at the same time, if that makes the arena smaller. Fails if they exceed 63
/// bits.
mlir::LogicalResult assignOffsets(Plan &plan, bool guests = true);

/// Checks a finished plan independently: buffers that are live together are disjoint, in outputs
/// too; inputs and constants are never written. A failure is a fault of the planner.
mlir::LogicalResult checkPlan(const Plan &plan);

} // namespace hlo::schedule

#endif
