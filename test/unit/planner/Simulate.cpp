//===- Simulate.cpp - Fused and planned modules, run on symbols -----------===//
#include "test/unit/planner/Simulate.h"
#include "compiler/analysis/Computations.h"
#include "compiler/transforms/schedule/Plan.h"
#include "dialect/cpurt/Dialect.h"
#include <map>

using namespace mlir;
using namespace hlo;
using namespace hlo::test;

/// A program that exceeds this number of ops and iterations counts as endless.
static constexpr unsigned mostSteps = 3000;

static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x7f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 27);
}
static uint64_t inputSymbol(uint64_t seed, unsigned number) { return mix(seed, number + 1); }
static uint64_t literalSymbol(DenseElementsAttr literal) {
  uint64_t symbol = literal.getNumElements();
  for (char byte : literal.getRawData()) {
    symbol = mix(symbol, static_cast<unsigned char>(byte));
  }
  return mix(symbol, literal.isSplat());
}
static uint64_t kernelSymbol(FusionOp fusion, unsigned result, ArrayRef<uint64_t> operands) {
  uint64_t symbol = mix(fusion->getAttrOfType<IntegerAttr>("tag").getInt(), result);
  for (uint64_t operand : operands) {
    symbol = mix(symbol, operand);
  }
  return symbol;
}
static bool isTrue(uint64_t pred) { return mix(pred, 1) % 2; }
static unsigned branchOf(uint64_t selector, unsigned branches, bool predicated) {
  return predicated ? !isTrue(selector) : mix(selector, 2) % branches;
}
/// All arrays without elements are equal.
static uint64_t symbolFor(int64_t bytes, uint64_t symbol) { return bytes ? symbol : 0; }

//===----------------------------------------------------------------------===//
// Fused modules
//===----------------------------------------------------------------------===//

namespace {
struct FusedRun {
  const ComputationGraph &graph;
  unsigned steps = 0;
  bool isEndless() const { return steps > mostSteps; }
  SmallVector<uint64_t> run(ComputationOp computation, ArrayRef<uint64_t> arguments);
};
} // namespace

SmallVector<uint64_t> FusedRun::run(ComputationOp computation, ArrayRef<uint64_t> arguments) {
  DenseMap<Value, uint64_t> symbols;
  for (auto [argument, symbol] : llvm::zip(computation.getBody().getArguments(), arguments)) {
    symbols[argument] = symbol;
  }
  auto lookUp = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return symbols.at(value); });
  };
  for (Operation &op : computation.getBody().front().without_terminator()) {
    SmallVector<uint64_t> operands = lookUp(op.getOperands()), results;
    ++steps;
    if (auto fusion = dyn_cast<FusionOp>(op)) {
      for (unsigned i = 0; i < op.getNumResults(); ++i) {
        results.push_back(kernelSymbol(fusion, i, operands));
      }
    } else if (auto constant = dyn_cast<hlo::ConstantOp>(op)) {
      results.push_back(literalSymbol(cast<DenseElementsAttr>(constant.getValue())));
    } else if (auto loop = dyn_cast<hlo::WhileOp>(op)) {
      results = operands;
      auto count = loop->getAttrOfType<IntegerAttr>("known_trip_count");
      auto goesOn = [&](unsigned i) {
        ++steps;
        return !isEndless() &&
               (count ? int64_t(i) < count.getInt()
                      : isTrue(run(graph.lookup(loop.getConditionAttr()), results).front()));
      };
      for (unsigned i = 0; goesOn(i); ++i) {
        results = run(graph.lookup(loop.getBodyAttr()), results);
      }
    } else if (auto conditional = dyn_cast<ConditionalOp>(op)) {
      ArrayAttr names = conditional.getBranchComputations();
      bool predicated =
          cast<RankedTensorType>(conditional.getSelector().getType()).getElementType().isInteger(1);
      unsigned taken = branchOf(operands.front(), names.size(), predicated), first = 1;
      for (unsigned i = 0; i <= taken; ++i) {
        ComputationOp branch = graph.lookup(cast<FlatSymbolRefAttr>(names[i]));
        unsigned count = branch.getBody().getNumArguments();
        if (i == taken) {
          results = run(branch, ArrayRef(operands).slice(first, count));
        }
        first += count;
      }
    } else {
      results = operands; // bitcast, copy
    }
    for (auto [value, symbol] : llvm::zip(op.getResults(), results)) {
      symbols[value] = symbolFor(*schedule::bytesOf(value.getType()), symbol);
    }
  }
  return lookUp(computation.getReturn()->getOperands());
}

std::optional<std::vector<uint64_t>> test::runFused(ModuleOp module, uint64_t seed) {
  FailureOr<ComputationGraph> graph = ComputationGraph::build(module);
  SmallVector<uint64_t> arguments;
  for (BlockArgument argument : graph->entry().getBody().getArguments()) {
    arguments.push_back(symbolFor(*schedule::bytesOf(argument.getType()),
                                  inputSymbol(seed, argument.getArgNumber())));
  }
  FusedRun fused{*graph};
  SmallVector<uint64_t> results = fused.run(graph->entry(), arguments);
  if (fused.isEndless()) {
    return std::nullopt;
  }
  return std::vector<uint64_t>(results.begin(), results.end());
}

//===----------------------------------------------------------------------===//
// Planned modules
//===----------------------------------------------------------------------===//

namespace {
/// A range of bytes in one of the memories: "arena", "input 3", ...
struct Place {
  std::string memory;
  int64_t begin = 0, end = 0;
  bool writable = true;
  bool overlaps(const Place &other) const {
    return memory == other.memory && begin < other.end && other.begin < end;
  }
  bool operator==(const Place &other) const {
    return memory == other.memory && begin == other.begin && end == other.end;
  }
};

class PlannedSimulator {
public:
  PlannedSimulator(ModuleOp module, uint64_t seed, bool shareDonated);
  PlannedRun run();

private:
  void fail(Twine message) {
    if (error.empty()) {
      error = message.str();
    }
  }
  Place placeOf(Value pointer, int64_t bytes);
  uint64_t read(const Place &place);
  void write(const Place &place, uint64_t symbol);
  void runBlock(Block &block);
  void runLaunch(cpurt::LaunchOp op);
  void runCopy(cpurt::CopyOp op);

  ModuleOp module;
  uint64_t seed;
  int64_t arenaBytes = 0;
  DenseMap<int64_t, int64_t> inputOfOutput;
  std::map<std::string, std::map<int64_t, std::pair<int64_t, uint64_t>>> memories;
  std::string error;
};
} // namespace

PlannedSimulator::PlannedSimulator(ModuleOp module, uint64_t seed, bool shareDonated)
    : module(module), seed(seed) {
  auto pairs = module->getAttrOfType<DenseI64ArrayAttr>("hlo.leaf_alias");
  for (size_t i = 0; shareDonated && pairs && i + 1 < size_t(pairs.size()); i += 2) {
    inputOfOutput[pairs[i]] = pairs[i + 1];
  }
}

Place PlannedSimulator::placeOf(Value pointer, int64_t bytes) {
  Operation *op = pointer.getDefiningOp();
  if (auto arena = dyn_cast<cpurt::ArenaOp>(op)) {
    if (int64_t(arena.getBytes()) != bytes || int64_t(arena.getOffset()) < 0 ||
        int64_t(arena.getOffset()) + bytes > arenaBytes || arena.getOffset() % 64) {
      fail("arena slice out of place");
    }
    return {"arena", int64_t(arena.getOffset()), int64_t(arena.getOffset()) + bytes};
  }
  if (auto input = dyn_cast<cpurt::InputOp>(op)) {
    return {"input " + std::to_string(input.getIndex()), 0, bytes, false};
  }
  if (auto output = dyn_cast<cpurt::OutputOp>(op); output && output.getOffset()) {
    int64_t offset = *output.getOffset();
    auto sizes = module->getAttrOfType<DenseI64ArrayAttr>("test.output_bytes");
    if (offset % 64 || offset + bytes > sizes[output.getIndex()] ||
        inputOfOutput.contains(output.getIndex())) {
      fail("scratch in an output out of place");
    }
    return {"output " + std::to_string(output.getIndex()), offset, offset + bytes};
  }
  if (auto output = dyn_cast<cpurt::OutputOp>(op)) {
    auto it = inputOfOutput.find(output.getIndex());
    if (it != inputOfOutput.end()) {
      return {"input " + std::to_string(it->second), 0, bytes, true};
    }
    return {"output " + std::to_string(output.getIndex()), 0, bytes};
  }
  return {"constant " + cast<cpurt::ConstantOp>(op).getGlobal().str(), 0, bytes, false};
}

uint64_t PlannedSimulator::read(const Place &place) {
  if (place.begin == place.end) {
    return 0;
  }
  auto &memory = memories[place.memory];
  auto it = memory.find(place.begin);
  if (it == memory.end() || it->second.first != place.end) {
    fail("read of " + place.memory + " [" + Twine(place.begin) + ", " + Twine(place.end) +
         "), which does not hold one value");
    return 0;
  }
  return it->second.second;
}

void PlannedSimulator::write(const Place &place, uint64_t symbol) {
  if (place.begin == place.end) {
    return;
  }
  if (!place.writable) {
    fail("write to " + place.memory);
  }
  auto &memory = memories[place.memory];
  for (auto it = memory.begin(); it != memory.end();) {
    bool overlaps = it->first < place.end && place.begin < it->second.first;
    it = overlaps ? memory.erase(it) : std::next(it);
  }
  memory[place.begin] = {place.end, symbol};
}

void PlannedSimulator::runLaunch(cpurt::LaunchOp op) {
  FusionOp fusion = module.lookupSymbol<cpurt::KernelOp>(op.getKernel()).getFusion();
  unsigned operandCount = fusion->getNumOperands();
  SmallVector<Place> operands, results;
  for (auto [i, type] : llvm::enumerate(fusion->getOperandTypes())) {
    operands.push_back(placeOf(op.getBuffers()[i], *schedule::bytesOf(type)));
  }
  for (auto [i, type] : llvm::enumerate(fusion->getResultTypes())) {
    results.push_back(placeOf(op.getBuffers()[operandCount + i], *schedule::bytesOf(type)));
  }
  SmallVector<uint64_t> symbols = llvm::map_to_vector(operands, [&](auto &p) { return read(p); });
  auto isListed = [&](StringRef name, unsigned result, unsigned operand) {
    auto pairs = fusion->getAttrOfType<DenseI64ArrayAttr>(name);
    for (size_t i = 0; pairs && i + 1 < size_t(pairs.size()); i += 2) {
      if (pairs[i] == result && pairs[i + 1] == operand) {
        return true;
      }
    }
    return false;
  };
  for (auto [r, result] : llvm::enumerate(results)) {
    for (auto [o, operand] : llvm::enumerate(operands)) {
      bool inPlace = isListed("in_place", r, o);
      if (inPlace && read(result) != symbols[o]) {
        fail("in-place result does not hold the operand");
      }
      if (result.overlaps(operand) &&
          !((inPlace || isListed("may_alias", r, o)) && result == operand)) {
        fail("a result overlaps an operand: " + op.getKernel());
      }
    }
    for (unsigned other = 0; other < r; ++other) {
      if (result.overlaps(results[other])) {
        fail("two results overlap: " + op.getKernel());
      }
    }
  }
  for (auto [r, result] : llvm::enumerate(results)) {
    write(result, kernelSymbol(fusion, r, symbols));
  }
}

void PlannedSimulator::runCopy(cpurt::CopyOp op) {
  Place target = placeOf(op.getDst(), op.getBytes());
  Place source = placeOf(op.getSrc(), op.getBytes());
  uint64_t symbol = read(source);
  if (target.overlaps(source)) {
    if (!op.getMayBeSame() || !(target == source)) {
      fail("copy between ranges that overlap");
    }
    return;
  }
  write(target, symbol);
}

void PlannedSimulator::runBlock(Block &block) {
  for (Operation &op : block) {
    if (!error.empty()) {
      return;
    }
    if (auto launch = dyn_cast<cpurt::LaunchOp>(op)) {
      runLaunch(launch);
    } else if (auto copy = dyn_cast<cpurt::CopyOp>(op)) {
      runCopy(copy);
    } else if (auto loop = dyn_cast<cpurt::WhileOp>(op)) {
      for (uint64_t i = 0; i < loop.getTripCount().value_or(mostSteps); ++i) {
        if (loop.getTripCount()) {
          runBlock(loop.getBody().front());
          continue;
        }
        Block &condition = loop.getCondition().front();
        runBlock(condition);
        Value pred = cast<cpurt::ConditionOp>(condition.getTerminator()).getPred();
        if (!error.empty() || !isTrue(read(placeOf(pred, 1)))) {
          break;
        }
        runBlock(loop.getBody().front());
      }
    } else if (auto branching = dyn_cast<cpurt::CaseOp>(op)) {
      uint64_t selector = read(placeOf(branching.getSelector(), branching.getPredicated() ? 1 : 4));
      unsigned taken =
          branchOf(selector, branching.getBranches().size(), branching.getPredicated());
      runBlock(branching.getBranches()[taken].front());
    }
  }
}

PlannedRun PlannedSimulator::run() {
  auto entry = *module.getOps<cpurt::EntryOp>().begin();
  arenaBytes = entry.getArenaBytes();
  auto layout = module->getAttrOfType<DenseI64ArrayAttr>("test.input_bytes");
  for (auto [i, bytes] : llvm::enumerate(layout.asArrayRef())) {
    if (bytes) {
      memories["input " + std::to_string(i)][0] = {bytes, inputSymbol(seed, i)};
    }
  }
  for (auto global : module.getOps<cpurt::GlobalOp>()) {
    auto literal = cast<DenseElementsAttr>(global.getValue());
    memories["constant " + global.getSymName().str()][0] = {*schedule::bytesOf(literal.getType()),
                                                            literalSymbol(literal)};
  }
  runBlock(entry.getBody().front());
  PlannedRun result;
  DenseMap<int64_t, cpurt::OutputOp> outputs;
  for (auto output : entry.getOps<cpurt::OutputOp>()) {
    if (!output.getOffset()) {
      outputs[output.getIndex()] = output;
    }
  }
  auto sizes = module->getAttrOfType<DenseI64ArrayAttr>("test.output_bytes");
  for (auto [i, bytes] : llvm::enumerate(sizes.asArrayRef())) {
    if (!bytes) {
      result.outputs.push_back(0);
    } else if (!outputs.contains(i)) {
      fail("output " + Twine(i) + " is never written");
    } else {
      result.outputs.push_back(read(placeOf(outputs[i], bytes)));
    }
  }
  for (auto [i, bytes] : llvm::enumerate(layout.asArrayRef())) {
    bool given =
        llvm::any_of(inputOfOutput, [&, i = i](auto &pair) { return pair.second == int64_t(i); });
    if (bytes && !given && read({"input " + std::to_string(i), 0, bytes}) != inputSymbol(seed, i)) {
      fail("input " + Twine(i) + " was changed");
    }
  }
  result.error = error;
  return result;
}

PlannedRun test::runPlanned(ModuleOp module, uint64_t seed, bool shareDonated) {
  return PlannedSimulator(module, seed, shareDonated).run();
}
