//===- Program.cpp - The module to partition, and its shardings -----------===//
#include "compiler/transforms/spmd/Program.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/analysis/entry/EntryLayout.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

unsigned Program::addNode(Value value) {
  auto [place, isNew] = nodeOf.try_emplace(value, nodes.size());
  if (isNew) {
    NodeState state;
    if (auto array = dyn_cast<RankedTensorType>(value.getType())) {
      state.sharding = Sharding(array.getRank());
      state.open.assign(array.getRank(), true);
      state.bytes = byteSize(array).value_or(0);
    }
    nodes.push_back(std::move(state));
  }
  return place->second;
}

/// `b` becomes the node of `a`; `b` has no state yet.
void Program::tie(Value a, Value b) { nodeOf[b] = addNode(a); }

AxisSet Program::manualAround(Operation *op) const {
  if (op->getNumResults()) {
    return markerOf(op) == kMarkEnter ? manualOf(op->getOperand(0)) : manualOf(op->getResult(0));
  }
  return op->getNumOperands() ? manualOf(op->getOperand(0)) : 0;
}

/// An array that costs nothing to make again has a copy for each use, so that each may be split as
/// its user is.
void Program::copyFreeOps() {
  auto isFree = [](Operation *op) {
    if (isa<IotaOp>(op)) {
      return true;
    }
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
      return value && (value.isSplat() || value.getNumElements() <= 64);
    }
    if (isa<BroadcastOp>(op)) {
      return isScalar(op->getOperand(0)) &&
             isa_and_nonnull<ConstantOp>(op->getOperand(0).getDefiningOp());
    }
    return false;
  };
  for (ComputationOp computation : computations) {
    for (Operation &op : llvm::make_early_inc_range(computation.getBody().front())) {
      if (!isFree(&op) || isScalar(op.getResult(0)) || op.hasAttr(kAnnotation)) {
        continue;
      }
      OpBuilder builder(&op);
      bool isFirst = true;
      for (OpOperand &use : llvm::make_early_inc_range(op.getUses())) {
        if (!isFirst) {
          use.set(builder.clone(op)->getResult(0));
        }
        isFirst = false;
      }
    }
  }
}

LogicalResult Program::build() {
  for (auto computation : module.getOps<ComputationOp>()) {
    byName[computation.getSymNameAttr()] = computation;
    if (computation.getEntry()) {
      entry = computation;
    }
  }
  computations.push_back(entry);
  for (size_t i = 0; i < computations.size(); ++i) {
    for (Operation &op : computations[i].getBody().front()) {
      if (isa<WhileOp, ConditionalOp>(op)) {
        forEachCallee(&op,
                      [&](FlatSymbolRefAttr name) { computations.push_back(computation(name)); });
      }
    }
  }
  copyFreeOps();
  for (ComputationOp computation : computations) {
    for (BlockArgument argument : computation.getBody().getArguments()) {
      addNode(argument);
    }
    for (Operation &op : computation.getBody().front()) {
      auto loop = dyn_cast<WhileOp>(op);
      for (Value result : op.getResults()) {
        addNode(result);
      }
      if (!loop) {
        continue;
      }
      Block &body = this->computation(loop.getBodyAttr()).getBody().front();
      Block &condition = this->computation(loop.getConditionAttr()).getBody().front();
      for (auto [result, inBody, inCondition] :
           llvm::zip(op.getResults(), body.getArguments(), condition.getArguments())) {
        tie(result, inBody);
        tie(result, inCondition);
      }
    }
  }
  return failed(findManualRegions()) ? failure() : annotate();
}

/// A manual region is what data connects without passing a border.
LogicalResult Program::findManualRegions() {
  llvm::EquivalenceClasses<unsigned> regions;
  for (unsigned node = 0; node < nodes.size(); ++node) {
    regions.insert(node);
  }
  auto unite = [&](Value a, Value b) { regions.unionSets(nodeOf.lookup(a), nodeOf.lookup(b)); };
  for (ComputationOp computation : computations) {
    // What a computation takes, returns and makes in between belongs together only by its data: but
    // its arguments and results are those of one op.
    for (Operation &op : computation.getBody().front()) {
      StringRef marker = markerOf(&op);
      if (marker == kMarkEnter || marker == kMarkExit) {
        continue;
      }
      SmallVector<Value> values(op.getOperands());
      llvm::append_range(values, op.getResults());
      if (isa<WhileOp, ConditionalOp>(op)) {
        forEachCallee(&op, [&](FlatSymbolRefAttr name) {
          Block &body = this->computation(name).getBody().front();
          llvm::append_range(values, body.getArguments());
          llvm::append_range(values, body.getTerminator()->getOperands());
        });
      }
      for (size_t i = 1; i < values.size(); ++i) {
        unite(values[0], values[i]);
      }
    }
  }
  // The region of the entry's parameters and results, and of everything that no border leads to,
  // has no manual axes.
  DenseMap<unsigned, AxisSet> manual;
  auto leaderOf = [&](Value value) { return regions.getLeaderValue(nodeOf.lookup(value)); };
  for (bool changed = true; changed;) {
    changed = false;
    for (ComputationOp computation : computations) {
      for (Operation &op : computation.getBody().front()) {
        StringRef marker = markerOf(&op);
        if (marker != kMarkEnter && marker != kMarkExit) {
          continue;
        }
        AxisSet axes = annotationOf(&op)->manual;
        unsigned outer = leaderOf(marker == kMarkEnter ? op.getOperand(0) : op.getResult(0));
        unsigned inner = leaderOf(marker == kMarkEnter ? op.getResult(0) : op.getOperand(0));
        if (outer == inner) {
          return mlir::emitError(op.getLoc())
                 << "sharding: the manual region is connected with the program around it";
        }
        AxisSet inside = axes | manual.lookup(outer);
        changed |= (manual[inner] | inside) != manual[inner];
        manual[inner] |= inside;
      }
    }
  }
  for (unsigned node = 0; node < nodes.size(); ++node) {
    nodes[node].manual = manual.lookup(regions.getLeaderValue(node));
  }
  return success();
}

/// A loop's carry has the sharding that the text gives to what the body makes of it first, or to
/// what it returns: else each iteration would change it.
void Program::annotateCarries() {
  DenseSet<unsigned> known;
  for (const auto &[node, annotation] : given) {
    known.insert(node);
  }
  for (ComputationOp computation : computations) {
    for (auto loop : computation.getBody().getOps<WhileOp>()) {
      Block &body = this->computation(loop.getBodyAttr()).getBody().front();
      for (auto [argument, yielded] :
           llvm::zip(body.getArguments(), body.getTerminator()->getOperands())) {
        Operation *marker = argument.hasOneUse() ? *argument.getUsers().begin() : nullptr;
        if (!marker || markerOf(marker) != kMarkSharding) {
          marker = yielded.getDefiningOp();
        }
        if (!marker || markerOf(marker) != kMarkSharding) {
          continue;
        }
        unsigned node = nodeOf.lookup(argument);
        std::optional<Annotation> annotation = annotationOf(marker);
        if (annotation && !annotation->group &&
            annotation->open.size() == nodes[node].open.size() && known.insert(node).second) {
          given.emplace_back(node, *annotation);
        }
      }
    }
  }
}

LogicalResult Program::annotate() {
  // A group's nodes become one.
  DenseMap<int64_t, Value> groups;
  auto parametersAttr = module->getAttrOfType<ArrayAttr>(kParameters);
  parameters.resize(entry.getBody().getNumArguments());
  for (auto [i, argument] : llvm::enumerate(entry.getBody().getArguments())) {
    auto text = parametersAttr && i < parametersAttr.size()
                    ? cast<StringAttr>(parametersAttr[i]).getValue()
                    : StringRef();
    if (text.empty()) {
      continue;
    }
    parameters[i] = decode(text);
    given.emplace_back(nodeOf.lookup(argument), *parameters[i]);
  }
  // What the caller sees of a bounded dimension is whole.
  FailureOr<EntryLayout> layout = EntryLayout::get(module);
  if (failed(layout)) {
    return failure();
  }
  auto close = [&](ArrayRef<EntryLeaf> leaves, ValueRange values) {
    for (auto [leaf, value] : llvm::zip(leaves, values)) {
      for (int64_t dim : boundedDimensions(leaf.type)) {
        nodes[nodeOf.lookup(value)].open[dim] = false;
      }
    }
  };
  close(layout->inputs, entry.getBody().getArguments());
  close(layout->outputs, entry.getReturn()->getOperands());
  for (ComputationOp computation : computations) {
    for (Operation &op : computation.getBody().front()) {
      std::optional<Annotation> annotation = annotationOf(&op);
      StringRef marker = markerOf(&op);
      if (!annotation || op.getNumResults() != 1 || marker == kMarkExit || marker == kMarkBarrier) {
        if (marker != kMarkExit) {
          continue;
        }
      }
      Value result = op.getResult(0);
      unsigned node = nodeOf.lookup(result);
      if (annotation->group) {
        auto [place, isNew] = groups.try_emplace(*annotation->group, result);
        bool same = place->second.getType() == result.getType();
        if (!isNew && same) {
          nodeOf[result] = node = nodeOf.lookup(place->second);
        }
      }
      if (static_cast<int64_t>(annotation->sharding.rank()) !=
          static_cast<int64_t>(nodes[node].open.size())) {
        continue;
      }
      if (marker == kMarkEnter) {
        // Inside, the manual axes have gone.
        AxisSet manual = nodes[node].manual;
        for (AxisList &axes : annotation->sharding.dims) {
          llvm::erase_if(axes, [&](Axis axis) { return manual >> axis & 1; });
        }
      }
      given.emplace_back(node, *annotation);
    }
  }
  annotateCarries();
  llvm::stable_sort(given, [](const auto &a, const auto &b) {
    auto least = [](const Annotation &annotation) {
      int64_t priority = 0;
      for (int64_t each : annotation.priority) {
        priority = std::max(priority, each);
      }
      return priority;
    };
    return least(a.second) < least(b.second);
  });
  return success();
}
