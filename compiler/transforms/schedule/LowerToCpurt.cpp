//===- LowerToCpurt.cpp - A finished plan as cpurt ops --------------------===//
//
// In: a module of fused computations and its plan. Out: the same program as one cpurt.entry. Each
// buffer is defined once, at the entry's start; each set of equal fusions becomes one cpurt.kernel
// with the region of the first of them; constants of equal bytes become one cpurt.global. The
// module attributes `cpurt.kernels_before` and `cpurt.kernels_after` hold the number of launches
// and of kernels.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/schedule/LowerToCpurt.h"
#include "compiler/analysis/AsyncPairs.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/transforms/schedule/KernelTable.h"
#include "compiler/transforms/schedule/Pack.h"
#include "compiler/transforms/schedule/RuntimeOps.h"
#include "dialect/cpurt/Dialect.h"
#include "dialect/hlo/Strategy.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::schedule;

/// Bytes of one random state.
static constexpr int64_t stateBytes = 16;

namespace {
class Lowering {
public:
  Lowering(ModuleOp module, const ComputationGraph &graph, ArrayRef<PlannedRoot> roots,
           const PreparedBlock &block)
      : module(module), graph(graph), roots(roots), block(block), table(graph),
        header(module.getContext()), pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  void run();

private:
  std::string uniqueName(std::string name);
  Value buffer(ValueId value);
  FlatSymbolRefAttr globalFor(DenseElementsAttr literal, Location location);
  void emitSequence(SequenceId id, OpBuilder &b);
  void emitStep(const Step &step, OpBuilder &b);
  void emitMove(const Step &step, const Move &move, OpBuilder &b);
  void emitCall(const Step &step, ArrayRef<Value> pointers, OpBuilder &b);
  FlatSymbolRefAttr rangeKernel(FlatSymbolRefAttr computation, Type element, Location location);
  /// Makes a block for a sequence, terminated by `Terminator`.
  template <typename Terminator, typename... Operands>
  void emitRegion(Region &region, SequenceId id, Location location, Operands... operands);
  int64_t leafCount() const;
  Value preparedSlice(size_t number, const PlanValue &info);
  void emitRoot(const PlannedRoot &root, OpBuilder &b);
  void numberKernels();
  void emitKernels(OpBuilder &b);
  void removeComputations();

  ModuleOp module;
  const ComputationGraph &graph;
  ArrayRef<PlannedRoot> roots;
  const PreparedBlock &block;
  const PlannedRoot *root = nullptr; ///< the root being emitted
  KernelTable table;
  OpBuilder header; ///< inserts into the list of buffers at the start of the entry's block
  Operation *lastBuffer = nullptr; ///< last op of that list
  Type pointer;
  OpBuilder *globals = nullptr;
  DenseMap<ValueId, Value> buffers;
  llvm::StringSet<> names;
  std::vector<FlatSymbolRefAttr> kernelNames;
  DenseMap<llvm::hash_code, SmallVector<cpurt::GlobalOp, 1>> globalsByHash;
  /// Kernels made from computations that the runtime applies to ranges, and where to insert them.
  DenseMap<std::pair<Attribute, Type>, FlatSymbolRefAttr> rangeKernels;
  Operation *kernelsEnd = nullptr;
  int64_t launches = 0;
  DenseMap<Operation *, size_t> states; ///< numbers of the random states
};
} // namespace

std::string Lowering::uniqueName(std::string name) {
  std::string unique = name;
  for (unsigned i = 0; !names.insert(unique).second; ++i) {
    unique = name + "_" + std::to_string(i);
  }
  return unique;
}

FlatSymbolRefAttr Lowering::globalFor(DenseElementsAttr literal, Location location) {
  ArrayRef<char> data = literal.getRawData();
  llvm::hash_code hash =
      llvm::hash_combine(literal.getElementType(), literal.getNumElements(), literal.isSplat(),
                         llvm::hash_value(StringRef(data.data(), data.size())));
  SmallVector<cpurt::GlobalOp, 1> &candidates = globalsByHash[hash];
  for (cpurt::GlobalOp candidate : candidates) {
    auto other = cast<DenseElementsAttr>(candidate.getValue());
    if (other.getElementType() == literal.getElementType() &&
        other.getNumElements() == literal.getNumElements() &&
        other.isSplat() == literal.isSplat() && other.getRawData() == data) {
      return FlatSymbolRefAttr::get(candidate.getSymNameAttr());
    }
  }
  std::string name = uniqueName("c" + std::to_string(globalsByHash.size() - 1));
  auto global = cpurt::GlobalOp::create(*globals, location, name, literal, arenaAlignment);
  candidates.push_back(global);
  return FlatSymbolRefAttr::get(global.getSymNameAttr());
}

/// Number of the root's arguments that are the caller's leaves; the others are prepared arrays.
int64_t Lowering::leafCount() const {
  ComputationOp computation = root->computation;
  int64_t arguments = computation.getBody().getNumArguments();
  return computation.getEntry() ? arguments - static_cast<int64_t>(block.offsets.size())
                                : arguments;
}

Value Lowering::preparedSlice(size_t number, const PlanValue &info) {
  return cpurt::PreparedOp::create(header, info.location, pointer, block.offsets[number],
                                   info.bytes);
}

Value Lowering::buffer(ValueId value) {
  const Plan &plan = root->plan;
  ValueId id = plan.bufferOf(value);
  Value &result = buffers[id];
  if (result) {
    return result;
  }
  const PlanValue &info = plan.values[id];
  if (lastBuffer) {
    header.setInsertionPointAfter(lastBuffer);
  } else {
    header.setInsertionPointToStart(header.getBlock());
  }
  switch (info.home) {
  case Home::Input:
    if (int64_t prepared = info.number - leafCount(); prepared >= 0) {
      result = preparedSlice(prepared, info);
      break;
    }
    result = cpurt::InputOp::create(header, info.location, pointer, info.number);
    break;
  case Home::Output:
    if (ComputationOp computation = root->computation; !computation.getEntry()) {
      result = preparedSlice(info.number, info);
      break;
    }
    result = cpurt::OutputOp::create(header, info.location, pointer, info.number,
                                     info.isGuest ? header.getI64IntegerAttr(info.offset)
                                                  : IntegerAttr());
    break;
  case Home::Constant:
    result = cpurt::ConstantOp::create(header, info.location, pointer,
                                       globalFor(info.constant, info.location));
    break;
  case Home::Arena:
    result = cpurt::ArenaOp::create(header, info.location, pointer, info.offset, info.bytes);
    break;
  }
  lastBuffer = result.getDefiningOp();
  return result;
}

void Lowering::emitMove(const Step &step, const Move &move, OpBuilder &b) {
  const Plan &plan = root->plan;
  const PlanValue &target = plan.values[plan.bufferOf(move.target)];
  const PlanValue &source = plan.values[plan.bufferOf(move.source)];
  const Donation *donation = source.home == Home::Input && target.home == Home::Output
                                 ? plan.donationOf(target.number)
                                 : nullptr;
  bool maybeSame = donation && donation->input == source.number;
  // Of the values, not of their buffers: an array may be at the start of a longer one (hlo.resize),
  // and a caller's dense buffer ends with it.
  const PlanValue &from = plan.values[move.source], &to = plan.values[move.target];
  int64_t bytes = std::min({from.bytes, to.bytes, from.filled, move.most});
  if (bytes == 0) {
    return;
  }
  cpurt::CopyOp::create(b, step.op->getLoc(), buffer(move.target), buffer(move.source), bytes,
                        maybeSame);
}

template <typename Terminator, typename... Operands>
void Lowering::emitRegion(Region &region, SequenceId id, Location location, Operands... operands) {
  OpBuilder b(module.getContext());
  b.createBlock(&region);
  emitSequence(id, b);
  Terminator::create(b, location, operands...);
}

/// A kernel of strategy "range": r[i] = f(a[i], b[i]) for any number of elements.
FlatSymbolRefAttr Lowering::rangeKernel(FlatSymbolRefAttr computation, Type element,
                                        Location location) {
  FlatSymbolRefAttr &name = rangeKernels[{computation, element}];
  if (name) {
    return name;
  }
  Attribute symbol =
      StringAttr::get(module.getContext(), uniqueName(("range_" + computation.getValue()).str()));
  name = FlatSymbolRefAttr::get(cast<StringAttr>(symbol));
  OpBuilder b(kernelsEnd);
  auto kernel = cpurt::KernelOp::create(b, location, name.getAttr());
  // The length is arbitrary, but a type needs one.
  constexpr int64_t length = 1024;
  Type array = RankedTensorType::get({length}, element);
  Block *block = b.createBlock(&kernel.getBody(), {}, {array, array}, {location, location});
  OperationState state(location, FusionOp::getOperationName(), block->getArguments(), {array});
  state.addAttribute("strategy", b.getStringAttr(stringifyStrategy(Strategy::Range)));
  state.addAttribute("may_alias", b.getDenseI64ArrayAttr({0, 0, 0, 1}));
  state.addRegion();
  Operation *fusion = b.create(state);
  cpurt::YieldOp::create(b, location, fusion->getResults());
  Block *body = b.createBlock(&fusion->getRegion(0), {}, {array, array}, {location, location});
  auto map = MapOp::create(b, location, TypeRange(array), body->getArguments(),
                           b.getDenseI64ArrayAttr({0}), computation);
  ReturnOp::create(b, location, map->getResults());
  return name;
}

void Lowering::emitCall(const Step &step, ArrayRef<Value> pointers, OpBuilder &b) {
  Operation *op = step.op;
  SmallVector<NamedAttribute> config;
  auto alias = op->getAttrOfType<DenseI64ArrayAttr>("in_place");
  for (NamedAttribute attribute : op->getAttrs()) {
    StringRef name = attribute.getName().getValue();
    if (name != kAsyncAttr &&
        !llvm::is_contained(
            {"in_place", "may_alias", "operand_leaves", "result_leaves", "to_apply"}, name)) {
      config.push_back(attribute);
    }
  }
  SmallVector<Attribute> kernels;
  if (auto computation = op->getAttrOfType<FlatSymbolRefAttr>("to_apply")) {
    for (Type type : op->getOperandTypes()) {
      kernels.push_back(
          rangeKernel(computation, cast<RankedTensorType>(type).getElementType(), op->getLoc()));
    }
  }
  auto done = dyn_cast<CollectiveDoneOp>(op);
  std::string kind = (done ? startOf(done) : op)->getName().stripDialect().str();
  llvm::replace(kind, '_', '-');
  kind += done ? "-done" : op->hasAttr(kAsyncAttr) ? "-start" : "";
  // The end of a collective has its results as operands.
  cpurt::CallOp::create(b, op->getLoc(), b.getStringAttr(kind), pointers,
                        b.getTypeArrayAttr(runtimeOperandTypes(op)),
                        b.getTypeArrayAttr(done ? SmallVector<Type>() : runtimeResultTypes(op)),
                        b.getI64IntegerAttr(runtimeScratchBytes(op)), b.getDictionaryAttr(config),
                        alias, kernels.empty() ? ArrayAttr() : b.getArrayAttr(kernels));
}

void Lowering::emitStep(const Step &step, OpBuilder &b) {
  Location location = step.op->getLoc();
  switch (step.kind) {
  case StepKind::Launch: {
    SmallVector<Value> pointers;
    for (ValueId value : llvm::concat<const ValueId>(step.operands, step.results)) {
      pointers.push_back(buffer(value));
    }
    if (isRuntimeOp(step.op)) {
      emitCall(step, pointers, b);
      return;
    }
    ++launches;
    unsigned number = table.add(cast<FusionOp>(step.op));
    cpurt::LaunchOp::create(b, location, kernelNames[number], pointers, IntegerAttr());
    return;
  }
  case StepKind::Moves:
    for (const Move &move : step.moves) {
      emitMove(step, move, b);
    }
    return;
  case StepKind::State: {
    auto state = cast<RngGetAndUpdateStateOp>(step.op);
    auto op = cpurt::RandomStateOp::create(b, location, buffer(step.results.front()), IntegerAttr(),
                                           IntegerAttr());
    if (!state->hasAttr("hlo.of_call")) {
      // A body that is written out twice still has one state.
      size_t number = states.try_emplace(state, states.size()).first->second;
      op.setOffset(stateBytes * number);
      op.setDelta(state.getDelta());
    }
    return;
  }
  case StepKind::Loop: {
    ValueId pred = root->plan.sequences[step.sequences[0]].pred;
    auto loop = cpurt::WhileOp::create(
        b, location, step.tripCount ? b.getI64IntegerAttr(*step.tripCount) : IntegerAttr());
    if (pred != none) {
      emitRegion<cpurt::ConditionOp>(loop.getCondition(), step.sequences[0], location,
                                     buffer(pred));
    }
    emitRegion<cpurt::YieldOp>(loop.getBody(), step.sequences[1], location, ValueRange());
    return;
  }
  case StepKind::Branch: {
    auto branching = cpurt::CaseOp::create(b, location, buffer(step.operands.front()),
                                           step.predicated, step.sequences.size());
    for (auto [region, id] : llvm::zip(branching.getBranches(), step.sequences)) {
      emitRegion<cpurt::YieldOp>(region, id, location, ValueRange());
    }
    return;
  }
  }
}

void Lowering::emitSequence(SequenceId id, OpBuilder &b) {
  for (const Step &step : root->plan.sequences[id].steps) {
    emitStep(step, b);
  }
}

/// Numbers the fusions in program order, before any of them is changed.
void Lowering::numberKernels() {
  for (const PlannedRoot &each : roots) {
    std::vector<std::pair<uint32_t, FusionOp>> fusions;
    for (const Sequence &sequence : each.plan.sequences) {
      for (const Step &step : sequence.steps) {
        if (step.kind == StepKind::Launch && isa<FusionOp>(step.op)) {
          fusions.push_back({step.position, cast<FusionOp>(step.op)});
        }
      }
    }
    llvm::sort(fusions, llvm::less_first());
    for (auto [position, fusion] : fusions) {
      table.add(fusion);
    }
  }
  for (unsigned number : llvm::seq<unsigned>(table.kernels().size())) {
    kernelNames.push_back(
        FlatSymbolRefAttr::get(module.getContext(), uniqueName(table.name(number))));
  }
}

void Lowering::emitKernels(OpBuilder &b) {
  for (auto [number, first] : llvm::enumerate(table.kernels())) {
    FusionOp fusion = first;
    FlatSymbolRefAttr name = kernelNames[number];
    Location location = fusion.getLoc();
    auto kernel = cpurt::KernelOp::create(b, location, name.getAttr());
    OpBuilder inside(module.getContext());
    SmallVector<Location> locations(fusion->getNumOperands(), location);
    Block *block = inside.createBlock(&kernel.getBody(), {}, fusion->getOperandTypes(), locations);
    OperationState state(location, FusionOp::getOperationName(), block->getArguments(),
                         fusion->getResultTypes(), fusion->getAttrs());
    state.addRegion()->takeBody(fusion.getBody());
    Operation *copy = inside.create(state);
    cpurt::YieldOp::create(inside, location, copy->getResults());
  }
}

/// Removes all computations except scalar ones that kernels apply, directly or indirectly.
void Lowering::removeComputations() {
  llvm::SetVector<Operation *> needed;
  auto addCallees = [&](Operation *root) {
    root->walk([&](Operation *op) {
      forEachCallee(op, [&](FlatSymbolRefAttr name) {
        if (ComputationOp callee = graph.lookup(name)) {
          needed.insert(callee);
        }
      });
    });
  };
  for (auto kernel : module.getOps<cpurt::KernelOp>()) {
    addCallees(kernel);
  }
  for (size_t i = 0; i < needed.size(); ++i) {
    addCallees(needed[i]);
  }
  for (auto computation : llvm::make_early_inc_range(module.getOps<ComputationOp>())) {
    if (!needed.contains(computation)) {
      computation.erase();
    }
  }
}

/// Emits the entry of one root; its kernels and constants are inserted before it.
void Lowering::emitRoot(const PlannedRoot &planned, OpBuilder &b) {
  root = &planned;
  buffers.clear();
  lastBuffer = nullptr;
  ComputationOp main = planned.computation;
  b.setInsertionPointToEnd(module.getBody());
  auto entry = cpurt::EntryOp::create(b, main.getLoc(), main.getName(), planned.plan.arenaBytes,
                                      arenaAlignment, /*prepare=*/!main.getEntry());
  if (!kernelsEnd) {
    kernelsEnd = entry;
  }
  b.setInsertionPoint(kernelsEnd);
  globals = &b;
  OpBuilder body(module.getContext());
  Block *into = body.createBlock(&entry.getBody());
  auto end = cpurt::ReturnOp::create(body, main.getReturn()->getLoc());
  body.setInsertionPoint(end);
  header.setInsertionPointToStart(into);
  emitSequence(0, body);
}

void Lowering::run() {
  for (auto computation : module.getOps<ComputationOp>()) {
    names.insert(computation.getName());
  }
  numberKernels();
  OpBuilder b(module.getContext());
  for (const PlannedRoot &planned : roots) {
    emitRoot(planned, b);
  }
  b.setInsertionPoint(kernelsEnd);
  emitKernels(b);
  removeComputations();

  Builder attributes(module.getContext());
  module->setAttr("cpurt.kernels_before", attributes.getI64IntegerAttr(launches));
  module->setAttr("cpurt.kernels_after", attributes.getI64IntegerAttr(kernelNames.size()));
}

void schedule::lowerToCpurt(ModuleOp module, const ComputationGraph &graph,
                            ArrayRef<PlannedRoot> roots, const PreparedBlock &block) {
  Lowering(module, graph, roots, block).run();
}
