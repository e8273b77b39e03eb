//===- FlattenTuples.cpp - Tuples replaced by their leaves ----------------===//
//
// Before: tuple-typed values anywhere, variadic ops with one tuple result, tokens. After: every
// value is an array (or opaque, or a buffer); ops take and return the leaves of former tuples,
// depth first; tokens are gone, because ops with side effects keep the block's order.
//
//   %s = while(%t) : tuple<A, tuple<B, C>>   ->   %s:3 = while(%a, %b, %c)
//
// Each tuple value is a range of leaves in one arena, and an element of it is a subrange, so a
// chain of n-tuples costs its length, not n times its length. A conditional gets
// `branch_operand_counts`. A custom call or a feed whose operands or results were tuples, or have
// layouts, keeps the written types in `operand_types` and `result_types`, because its callee sees
// them. A custom call with a token operand or result is marked as having a side effect.
//
// Assumes hlo-flatten-calls. Writes the entry's layout (analysis/entry/EntryLayout.h).
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/analysis/entry/EntryAttributes.h"
#include "compiler/analysis/entry/EntryLayout.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "dialect/hlo/Builder.h"
#include "dialect/hlo/Shapes.h"
#include "llvm/Support/Allocator.h"
#include <map>

using namespace mlir;
using namespace hlo;

namespace {

bool isFlat(Type type) { return !isa<TupleType, TokenType>(type); }

void appendLeafTypes(Type type, SmallVectorImpl<Type> &leaves) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (Type element : tuple.getTypes()) {
      appendLeafTypes(element, leaves);
    }
  } else if (!isa<TokenType>(type)) {
    leaves.push_back(type);
  }
}

SmallVector<Type> leafTypes(TypeRange types) {
  SmallVector<Type> leaves;
  for (Type type : types) {
    appendLeafTypes(type, leaves);
  }
  return leaves;
}

bool hasToken(Type type) {
  auto tuple = dyn_cast<TupleType>(type);
  return tuple ? llvm::any_of(tuple.getTypes(), hasToken) : isa<TokenType>(type);
}

/// Calls `visit(leaf, path)` for each leaf of `type`.
void forEachLeaf(Type type, SmallVectorImpl<int64_t> &path,
                 function_ref<void(Type, ArrayRef<int64_t>)> visit) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (auto [i, element] : llvm::enumerate(tuple.getTypes())) {
      path.push_back(i);
      forEachLeaf(element, path, visit);
      path.pop_back();
    }
  } else if (!isa<TokenType>(type)) {
    visit(type, path);
  }
}

std::string joined(StringRef prefix, ArrayRef<int64_t> path) {
  std::string name = prefix.str();
  for (int64_t index : path) {
    name += (name.empty() ? "" : "_") + std::to_string(index);
  }
  return name;
}

class TupleFlattener {
public:
  explicit TupleFlattener(ModuleOp module) : module(module) {}

  LogicalResult run() {
    ComputationOp entry;
    for (auto computation : module.getOps<ComputationOp>()) {
      entry = computation.getEntry() ? computation : entry;
    }
    if (!entry) {
      return module.emitError("module has no entry computation");
    }
    if (failed(recordEntry(entry))) {
      return failure();
    }
    for (auto computation : module.getOps<ComputationOp>()) {
      if (failed(flatten(computation))) {
        return failure();
      }
    }
    return success();
  }

private:
  LogicalResult recordEntry(ComputationOp entry);
  LogicalResult flatten(ComputationOp computation);
  LogicalResult flattenOp(Operation *op);
  LogicalResult flattenElement(GetTupleElementOp op);
  LogicalResult flattenConstant(ConstantOp op);
  void rebuild(Operation *op);

  /// The leaves of `value`; the value itself if it is flat. Valid until the next call. Tuple ops
  /// are resolved when their leaves are needed, not at each op: nested tuples would take time
  /// quadratic in their depth.
  ArrayRef<Value> leaves(Value value) {
    if (isFlat(value.getType())) {
      single = value;
      return ArrayRef<Value>(single);
    }
    if (auto known = tuples.find(value); known != tuples.end()) {
      return known->second;
    }
    SmallVector<Value> parts, stack{value};
    while (!stack.empty()) {
      Value next = stack.pop_back_val();
      auto tuple = next.getDefiningOp<TupleOp>();
      if (isFlat(next.getType())) {
        parts.push_back(next);
      } else if (auto known = tuples.find(next); known != tuples.end()) {
        llvm::append_range(parts, known->second);
      } else if (tuple) {
        llvm::append_range(stack, llvm::reverse(tuple->getOperands()));
      }
    }
    return tuples[value] = ArrayRef<Value>(parts).copy(arena);
  }
  SmallVector<Value> leaves(ValueRange values) {
    SmallVector<Value> result;
    for (Value value : values) {
      llvm::append_range(result, leaves(value));
    }
    return result;
  }
  /// Index of the first leaf of each element, and one past the last.
  ArrayRef<size_t> offsetsOf(TupleType tuple) {
    if (auto known = elementOffsets.find(tuple); known != elementOffsets.end()) {
      return known->second;
    }
    SmallVector<size_t> offsets{0};
    for (Type element : tuple.getTypes()) {
      offsets.push_back(offsets.back() + leafCount(element));
    }
    return elementOffsets[tuple] = std::move(offsets);
  }
  size_t leafCount(Type type) {
    if (auto tuple = dyn_cast<TupleType>(type)) {
      return offsetsOf(tuple).back();
    }
    return isa<TokenType>(type) ? 0 : 1;
  }
  /// Records `parts` as the leaves of `value`.
  void bind(Value value, ArrayRef<Value> parts) {
    if (isFlat(value.getType())) {
      value.replaceAllUsesWith(parts.front());
      return;
    }
    tuples[value] = parts;
  }
  void bindCopy(Value value, ArrayRef<Value> parts) { bind(value, parts.copy(arena)); }

  ModuleOp module;
  DenseMap<Value, ArrayRef<Value>> tuples;
  DenseMap<Type, SmallVector<size_t>> elementOffsets;
  llvm::BumpPtrAllocator arena;
  Value single;
  SmallVector<Operation *> dead;
};

class FlattenTuplesPass : public PassWrapper<FlattenTuplesPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FlattenTuplesPass)
  StringRef getArgument() const final { return "hlo-flatten-tuples"; }
  StringRef getDescription() const final { return "Replace tuples by their leaves"; }

  void runOnOperation() final {
    if (failed(TupleFlattener(getOperation()).run())) {
      signalPassFailure();
    }
  }
};

} // namespace

LogicalResult TupleFlattener::recordEntry(ComputationOp entry) {
  // The entry of a partitioned module is flat, and phase `partition` has described it.
  if (module->hasAttr("hlo.entry_shards")) {
    return success();
  }
  FailureOr<EntryAttributes> declared = EntryAttributes::get(module);
  if (failed(declared)) {
    return failure();
  }
  Block &body = entry.getBody().front();
  EntryLayout layout;
  auto addLeaves = [&](Type type, Type written, StringRef name, int64_t parameter,
                       SmallVectorImpl<EntryLeaf> &list) -> LogicalResult {
    SmallVector<Type> declaredLeaves;
    appendLeafTypes(written ? written : type, declaredLeaves);
    if (declaredLeaves.size() != leafCount(type)) {
      return entry.emitError("entry_computation_layout has ")
             << declaredLeaves.size() << " arrays where the entry has " << leafCount(type);
    }
    size_t next = 0;
    SmallVector<int64_t> path;
    LogicalResult result = success();
    forEachLeaf(type, path, [&](Type leaf, ArrayRef<int64_t> index) {
      auto own = dyn_cast<RankedTensorType>(leaf);
      auto given = dyn_cast<RankedTensorType>(declaredLeaves[next++]);
      if (!own || !given) {
        entry.emitError("entry parameters and results must be arrays, got ") << hloText(leaf);
        result = failure();
        return;
      }
      if (own.getShape() != given.getShape() || own.getElementType() != given.getElementType()) {
        entry.emitError("entry_computation_layout has ")
            << hloText(given) << " where the entry has " << hloText(own);
        result = failure();
        return;
      }
      list.push_back({joined(name, index), given, parameter, SmallVector<int64_t>(index), false});
    });
    return result;
  };

  bool useDeclared = declared->parameters.size() == body.getNumArguments();
  for (BlockArgument argument : body.getArguments()) {
    int64_t number = argument.getArgNumber();
    std::string name = "arg" + std::to_string(number);
    if (auto loc = argument.getLoc()->findInstanceOf<NameLoc>()) {
      name = loc.getName().str();
    }
    if (failed(addLeaves(argument.getType(), useDeclared ? declared->parameters[number] : Type(),
                         name, number, layout.inputs))) {
      return failure();
    }
  }
  Operation *root = body.getTerminator();
  bool tupled = root->getNumOperands() != 1;
  for (auto [i, type] : llvm::enumerate(root->getOperandTypes())) {
    if (failed(addLeaves(type, tupled ? Type() : declared->result,
                         tupled ? std::to_string(i) : std::string(), -1, layout.outputs))) {
      return failure();
    }
  }

  // A map, because a training step has an alias and a donor for each of its weights.
  using Leaf = std::pair<int64_t, SmallVector<int64_t>>;
  std::map<Leaf, int64_t> inputs, outputs;
  if (!declared->aliases.empty() || !declared->donors.empty()) {
    for (auto [i, leaf] : llvm::enumerate(layout.inputs)) {
      inputs.try_emplace(Leaf(leaf.parameter, leaf.index), i);
    }
    for (auto [i, leaf] : llvm::enumerate(layout.outputs)) {
      outputs.try_emplace(Leaf(leaf.parameter, leaf.index), i);
    }
  }
  auto find = [](const std::map<Leaf, int64_t> &list, int64_t parameter,
                 ArrayRef<int64_t> index) -> int64_t {
    auto found = list.find(Leaf(parameter, SmallVector<int64_t>(index)));
    return found == list.end() ? -1 : found->second;
  };
  for (const EntryAttributes::Alias &alias : declared->aliases) {
    int64_t output = find(outputs, -1, alias.output);
    int64_t input = find(inputs, alias.parameter, alias.index);
    if (output < 0 || input < 0) {
      return entry.emitError("input_output_alias names no array: output {")
             << joined("", alias.output) << "}, parameter " << alias.parameter << " {"
             << joined("", alias.index) << "}";
    }
    layout.aliases.push_back({output, input});
  }
  for (const EntryAttributes::Donor &donor : declared->donors) {
    int64_t input = find(inputs, donor.parameter, donor.index);
    if (input < 0) {
      return entry.emitError("buffer_donor names no array: parameter ")
             << donor.parameter << " {" << joined("", donor.index) << "}";
    }
    layout.inputs[input].donor = true;
  }
  layout.set(module);
  // These attributes describe the old signature.
  for (StringRef name :
       {"hlo.entry_computation_layout", "hlo.input_output_alias", "hlo.buffer_donor"}) {
    module->removeAttr(name);
  }
  return success();
}

LogicalResult TupleFlattener::flatten(ComputationOp computation) {
  Block &body = computation.getBody().front();
  computation.removeArgAttrsAttr();
  computation.removeResAttrsAttr();

  unsigned originalArguments = body.getNumArguments();
  if (!llvm::all_of(body.getArgumentTypes(), isFlat)) {
    for (unsigned i = 0; i < originalArguments; ++i) {
      BlockArgument argument = body.getArgument(i);
      auto named = argument.getLoc()->findInstanceOf<NameLoc>();
      SmallVector<Value> parts;
      SmallVector<int64_t> path;
      forEachLeaf(argument.getType(), path, [&](Type type, ArrayRef<int64_t> index) {
        Location loc = argument.getLoc();
        if (named && !index.empty()) {
          loc = NameLoc::get(
              StringAttr::get(loc.getContext(), joined(named.getName().getValue(), index)),
              named.getChildLoc());
        }
        parts.push_back(body.addArgument(type, loc));
      });
      bindCopy(argument, parts);
    }
  } else {
    originalArguments = 0;
  }

  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (failed(flattenOp(&op))) {
      return failure();
    }
  }
  for (Operation *op : llvm::reverse(dead)) {
    op->erase();
  }
  dead.clear();
  tuples.clear();
  body.eraseArguments(0, originalArguments);
  updateFunctionType(computation);
  return success();
}

LogicalResult TupleFlattener::flattenOp(Operation *op) {
  auto finish = [&] {
    dead.push_back(op);
    return success();
  };
  if (auto element = dyn_cast<GetTupleElementOp>(op)) {
    return flattenElement(element);
  }
  if (isa<TupleOp>(op)) {
    return finish(); // see leaves()
  }
  if (isa<AfterAllOp>(op)) {
    bind(op->getResult(0), {});
    return finish();
  }
  if (isa<AddDependencyOp>(op)) {
    bindCopy(op->getResult(0), leaves(op->getOperand(0)));
    return finish();
  }
  if (llvm::all_of(op->getOperandTypes(), isFlat) && llvm::all_of(op->getResultTypes(), isFlat)) {
    if (auto conditional = dyn_cast<ConditionalOp>(op)) {
      if (!conditional.getBranchOperandCounts()) {
        rebuild(op);
      }
    }
    return success();
  }
  if (isa<CopyOp>(op)) {
    SmallVector<Value> parts = leaves(op->getOperands());
    SmallVector<Type> types = leafTypes(op->getResultTypes());
    OpBuilder builder(op);
    for (auto [part, type] : llvm::zip(parts, types)) {
      part = CopyOp::create(builder, op->getLoc(), type, part);
    }
    bindCopy(op->getResult(0), parts);
    return finish();
  }
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    return flattenConstant(constant);
  }
  if (auto infeed = dyn_cast<InfeedOp>(op)) {
    if (leafTypes(op->getResultTypes()).empty()) {
      for (Value result : op->getResults()) {
        bind(result, {});
      }
      return finish();
    }
  }
  rebuild(op);
  return success();
}

LogicalResult TupleFlattener::flattenElement(GetTupleElementOp op) {
  auto tuple = dyn_cast<TupleType>(op.getOperand().getType());
  int64_t index = op.getIndex();
  if (!tuple || index < 0 || index >= static_cast<int64_t>(tuple.size())) {
    return op.emitError("get-tuple-element: no element ")
           << index << " in " << op.getOperand().getType();
  }
  Value result = op->getResult(0);
  auto made = op.getOperand().getDefiningOp<TupleOp>();
  if (made && made->getOperand(index).getType() == result.getType()) {
    result.replaceAllUsesWith(made->getOperand(index));
    dead.push_back(op);
    return success();
  }
  ArrayRef<size_t> offsets = offsetsOf(tuple);
  size_t first = offsets[index], count = offsets[index + 1] - first;
  ArrayRef<Value> parts = leaves(op.getOperand()).slice(first, count);
  if (isFlat(result.getType())) {
    Value part = parts.front();
    if (part.getType() != result.getType()) {
      OpBuilder builder(op);
      part = CopyOp::create(builder, op.getLoc(), result.getType(), part);
    }
    result.replaceAllUsesWith(part);
  } else {
    bind(result, parts);
  }
  dead.push_back(op);
  return success();
}

LogicalResult TupleFlattener::flattenConstant(ConstantOp op) {
  SmallVector<Attribute> values;
  SmallVector<Attribute> stack{op.getValue()};
  SmallVector<Type> types = leafTypes(op->getResultTypes());
  while (!stack.empty()) {
    Attribute value = stack.pop_back_val();
    if (auto list = dyn_cast<ArrayAttr>(value)) {
      llvm::append_range(stack, llvm::reverse(list.getValue()));
    } else {
      values.push_back(value);
    }
  }
  if (values.size() != types.size()) {
    return op.emitError("constant has ") << values.size() << " arrays for " << types.size();
  }
  OpBuilder builder(op);
  SmallVector<Value> parts;
  for (auto [value, type] : llvm::zip(values, types)) {
    parts.push_back(ConstantOp::create(builder, op.getLoc(), type, value));
  }
  bindCopy(op.getResult(), parts);
  dead.push_back(op);
  return success();
}

/// Rebuilds the op on leaves.
void TupleFlattener::rebuild(Operation *op) {
  OperationState state(op->getLoc(), op->getName());
  state.attributes = op->getAttrs();
  Builder builder(op->getContext());
  if (isa<ConditionalOp>(op)) {
    SmallVector<int64_t> counts;
    for (Value operand : op->getOperands().drop_front()) {
      counts.push_back(leafCount(operand.getType()));
    }
    state.attributes.set("branch_operand_counts", builder.getDenseI64ArrayAttr(counts));
  }
  if (isa<CustomCallOp, InfeedOp, OutfeedOp>(op)) {
    auto types = [&](TypeRange range) {
      return builder.getArrayAttr(
          llvm::map_to_vector(range, [](Type type) -> Attribute { return TypeAttr::get(type); }));
    };
    state.attributes.set("operand_types", types(op->getOperandTypes()));
    state.attributes.set("result_types", types(op->getResultTypes()));
    // Ops that followed it through the token wait for its effects.
    if (isa<CustomCallOp>(op) && (llvm::any_of(op->getOperandTypes(), hasToken) ||
                                  llvm::any_of(op->getResultTypes(), hasToken))) {
      state.attributes.set("custom_call_has_side_effect", builder.getBoolAttr(true));
    }
  }
  state.addOperands(leaves(op->getOperands()));
  state.addTypes(leafTypes(op->getResultTypes()));
  OpBuilder opBuilder(op);
  Operation *flat = opBuilder.create(state);
  ArrayRef<Value> results = ArrayRef<Value>(SmallVector<Value>(flat->getResults())).copy(arena);
  for (Value result : op->getResults()) {
    size_t count = leafCount(result.getType());
    bind(result, results.take_front(count));
    results = results.drop_front(count);
  }
  dead.push_back(op);
}

std::unique_ptr<Pass> hlo::createFlattenTuplesPass() {
  return std::make_unique<FlattenTuplesPass>();
}
