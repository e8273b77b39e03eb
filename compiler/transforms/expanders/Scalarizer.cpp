//===- Scalarizer.cpp - Arrays in scalar computations as their elements ---===//
//
// In: computations that are applied to scalars (by map, reduce, sort, ...) and hold
// small arrays inside: tables to look up, sums of a few terms. Out: the same on scalars
// alone, one op for each element:
//
//   element-wise op, constant, iota   an op, or a constant, for each element
//   broadcast, slice, concatenate...  the elements in another order
//   dynamic-slice, gather             selects by where the slice may start
//   dynamic-update-slice              selects by where the update may go
//   reduce, map                       their computation once for each element
//   dot                               sums of products, in order
//   sort                              neighbours swapped by selects
//
// Computations with other ops on arrays, or with arrays of more than maxElements, stay.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/expanders/OpExpander.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace hlo;

/// Of one array, and choices of one dynamic slice.
static constexpr int64_t maxElements = 1024;

namespace {
using Elements = SmallVector<Value>;
using Position = SmallVector<int64_t>;

/// The positions of an array of this shape, row-major.
SmallVector<Position> positionsOf(ArrayRef<int64_t> shape) {
  SmallVector<Position> all;
  if (llvm::is_contained(shape, 0)) {
    return all;
  }
  Position at(shape.size(), 0);
  while (true) {
    all.push_back(at);
    int64_t dim = static_cast<int64_t>(shape.size()) - 1;
    while (dim >= 0 && ++at[dim] == shape[dim]) {
      at[dim--] = 0;
    }
    if (dim < 0) {
      return all;
    }
  }
}

int64_t numberOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> position) {
  int64_t number = 0;
  for (auto [size, at] : llvm::zip(shape, position)) {
    number = number * size + at;
  }
  return number;
}

/// Rewrites one computation.
class Rewriter {
public:
  Rewriter(ComputationOp computation, const ComputationGraph &graph)
      : block(computation.getBody().front()), graph(graph), builder(computation.getContext()) {}

  void run();

private:
  bool emit(Operation *op);
  bool emitMove(Operation *op);
  bool emitReduce(ReduceOp op);
  bool emitMap(MapOp op);
  bool emitDot(DotOp op);
  bool emitSort(SortOp op);
  bool emitGather(GatherOp op);
  Elements applied(FlatSymbolRefAttr callee, ValueRange arguments);
  /// The block of `sizes` that begins at `starts` (clamped; null: at 0) of an array.
  std::optional<Elements> sliceAt(Elements elements, ArrayRef<int64_t> shape, ArrayRef<Value> starts,
                                  ArrayRef<int64_t> sizes);
  bool updateAt(DynamicUpdateSliceOp op);
  const Elements &of(Value value) { return elements.find(value)->second; }
  Value scalarIndex(Value like, int64_t value) {
    return HloBuilder{builder, like.getLoc()}.scalar(elementTypeOf(like), value);
  }

  Block &block;
  const ComputationGraph &graph;
  OpBuilder builder;
  DenseMap<Value, Elements> elements;
};
} // namespace

Elements Rewriter::applied(FlatSymbolRefAttr callee, ValueRange arguments) {
  Block &body = graph.lookup(callee).getBody().front();
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  for (Operation &op : body.without_terminator()) {
    builder.clone(op, mapping);
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

std::optional<Elements> Rewriter::sliceAt(Elements all, ArrayRef<int64_t> shape,
                                          ArrayRef<Value> starts, ArrayRef<int64_t> sizes) {
  Position current(shape);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    int64_t last = shape[dim] - sizes[dim];
    Position next(current);
    next[dim] = sizes[dim];
    SmallVector<Value> reaches; // whether the slice starts at 1, 2, ... or later
    if (starts[dim]) {
      HloBuilder b{builder, starts[dim].getLoc()};
      for (int64_t at = 1; at <= last; ++at) {
        reaches.push_back(b.compare(starts[dim], scalarIndex(starts[dim], at), "GE"));
      }
    }
    SmallVector<Position> positions = positionsOf(next);
    if (static_cast<int64_t>(positions.size() * (reaches.size() + 1)) > maxElements) {
      return std::nullopt;
    }
    Elements taken;
    for (Position &position : positions) {
      Value value = all[numberOf(current, position)];
      for (Value reached : reaches) {
        ++position[dim];
        HloBuilder b{builder, reached.getLoc()};
        value = b.select(reached, all[numberOf(current, position)], value);
      }
      taken.push_back(value);
    }
    all = std::move(taken);
    current = next;
  }
  return all;
}

bool Rewriter::updateAt(DynamicUpdateSliceOp op) {
  HloBuilder b{builder, op.getLoc()};
  ArrayRef<int64_t> shape = shapeOf(op.getOperand()), window = shapeOf(op.getUpdate());
  Position choices;
  int64_t work = elementsOf(op.getUpdate());
  for (auto [size, part] : llvm::zip(shape, window)) {
    choices.push_back(size - part + 1);
    work *= choices.back();
  }
  if (work > maxElements) {
    return false;
  }
  Elements result = of(op.getOperand());
  for (const Position &start : positionsOf(choices)) {
    Value here = b.scalar(builder.getI1Type(), 1);
    for (auto [dim, index] : llvm::enumerate(op.getStartIndices())) {
      Value low = scalarIndex(index, 0), high = scalarIndex(index, choices[dim] - 1);
      Value clamped = b.clamp(low, of(index).front(), high);
      here = b.binary<AndOp>(here, b.compare(clamped, scalarIndex(index, start[dim]), "EQ"));
    }
    for (auto [i, position] : llvm::enumerate(positionsOf(window))) {
      Position at;
      for (auto [from, offset] : llvm::zip(start, position)) {
        at.push_back(from + offset);
      }
      Value &element = result[numberOf(shape, at)];
      element = b.select(here, of(op.getUpdate())[i], element);
    }
  }
  elements[op.getResult()] = std::move(result);
  return true;
}

bool Rewriter::emitGather(GatherOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand()), sizes = op.getSliceSizes();
  ArrayRef<int64_t> indexShape = shapeOf(op.getStartIndices()), map = op.getStartIndexMap();
  auto listOf = [](std::optional<ArrayRef<int64_t>> list) {
    return list.value_or(ArrayRef<int64_t>());
  };
  ArrayRef<int64_t> batching = listOf(op.getOperandBatchingDims());
  ArrayRef<int64_t> indexBatching = listOf(op.getStartIndicesBatchingDims());
  int64_t vectorDim = op.getIndexVectorDim(), rank = rankOf(op.getResult());
  Elements result;
  for (const Position &position : positionsOf(shapeOf(op.getResult()))) {
    Position batch, offset;
    for (int64_t dim = 0; dim < rank; ++dim) {
      (llvm::is_contained(op.getOffsetDims(), dim) ? offset : batch).push_back(position[dim]);
    }
    auto indexAt = [&](int64_t component) {
      Position at(batch);
      if (vectorDim < static_cast<int64_t>(indexShape.size())) {
        at.insert(at.begin() + vectorDim, component);
      }
      return of(op.getStartIndices())[numberOf(indexShape, at)];
    };
    SmallVector<Value> starts(shape.size());
    for (auto [component, dim] : llvm::enumerate(map)) {
      starts[dim] = indexAt(component);
    }
    Elements source = of(op.getOperand());
    Position from(shape), within;
    size_t next = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      const int64_t *batched = llvm::find(batching, static_cast<int64_t>(dim));
      bool dropped = batched != batching.end() ||
                     llvm::is_contained(op.getCollapsedSliceDims(), static_cast<int64_t>(dim));
      within.push_back(dropped ? 0 : offset[next++]);
      if (batched == batching.end()) {
        continue;
      }
      // The batch's own part of the operand.
      int64_t indexDim = indexBatching[batched - batching.begin()];
      int64_t row = batch[indexDim - (indexDim > vectorDim)];
      Position one(from);
      one[dim] = 1;
      Elements part;
      for (Position at : positionsOf(one)) {
        at[dim] = row;
        part.push_back(source[numberOf(from, at)]);
      }
      source = std::move(part);
      from = one;
    }
    std::optional<Elements> slice = sliceAt(source, from, starts, sizes);
    if (!slice) {
      return false;
    }
    result.push_back((*slice)[numberOf(sizes, within)]);
  }
  elements[op.getResult()] = std::move(result);
  return true;
}

bool Rewriter::emitReduce(ReduceOp op) {
  size_t count = op->getNumResults();
  ArrayRef<int64_t> dims = op.getDimensions();
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0)), kept = shapeOf(op->getResult(0));
  SmallVector<Elements> results(count);
  for (size_t i = 0; i < count; ++i) {
    results[i].assign(elementsOf(op->getResult(0)), of(op->getOperand(count + i)).front());
  }
  for (const auto &[number, position] : llvm::enumerate(positionsOf(shape))) {
    Position rest;
    for (auto [dim, at] : llvm::enumerate(position)) {
      if (!llvm::is_contained(dims, static_cast<int64_t>(dim))) {
        rest.push_back(at);
      }
    }
    int64_t target = numberOf(kept, rest);
    SmallVector<Value> arguments;
    for (Elements &result : results) {
      arguments.push_back(result[target]);
    }
    for (size_t i = 0; i < count; ++i) {
      arguments.push_back(of(op->getOperand(i))[number]);
    }
    for (auto [i, value] : llvm::enumerate(applied(op.getToApplyAttr(), arguments))) {
      results[i][target] = value;
    }
  }
  for (auto [result, values] : llvm::zip(op->getResults(), results)) {
    elements[result] = values;
  }
  return true;
}

bool Rewriter::emitMap(MapOp op) {
  SmallVector<Elements> results(op->getNumResults());
  for (int64_t i = 0, end = elementsOf(op->getResult(0)); i < end; ++i) {
    SmallVector<Value> arguments;
    for (Value operand : op->getOperands()) {
      arguments.push_back(of(operand)[i]);
    }
    for (auto [number, value] : llvm::enumerate(applied(op.getToApplyAttr(), arguments))) {
      results[number].push_back(value);
    }
  }
  for (auto [result, values] : llvm::zip(op->getResults(), results)) {
    elements[result] = values;
  }
  return true;
}

bool Rewriter::emitDot(DotOp op) {
  HloBuilder b{builder, op.getLoc()};
  Type element = elementTypeOf(op.getResult());
  struct Side {
    ArrayRef<int64_t> shape, batch, contracting;
    SmallVector<int64_t> free;
  };
  auto sideOf = [](Value value, std::optional<ArrayRef<int64_t>> batch,
                   std::optional<ArrayRef<int64_t>> contracting) {
    Side side{shapeOf(value), batch.value_or(ArrayRef<int64_t>()),
              contracting.value_or(ArrayRef<int64_t>()), {}};
    for (int64_t dim = 0, rank = side.shape.size(); dim < rank; ++dim) {
      if (!llvm::is_contained(side.batch, dim) && !llvm::is_contained(side.contracting, dim)) {
        side.free.push_back(dim);
      }
    }
    return side;
  };
  Side sides[] = {sideOf(op.getLhs(), op.getLhsBatchDims(), op.getLhsContractingDims()),
                  sideOf(op.getRhs(), op.getRhsBatchDims(), op.getRhsContractingDims())};
  Position contracted = llvm::map_to_vector(sides[0].contracting,
                                            [&](int64_t dim) { return sides[0].shape[dim]; });
  Elements result;
  for (const Position &position : positionsOf(shapeOf(op.getResult()))) {
    Value sum = b.scalar(element, 0);
    for (const Position &term : positionsOf(contracted)) {
      Value product;
      size_t freeFrom = sides[0].batch.size();
      for (auto [side, operand] : llvm::zip(sides, op->getOperands())) {
        Position at(side.shape.size());
        for (auto [i, dim] : llvm::enumerate(side.batch)) {
          at[dim] = position[i];
        }
        for (auto [i, dim] : llvm::enumerate(side.contracting)) {
          at[dim] = term[i];
        }
        for (int64_t dim : side.free) {
          at[dim] = position[freeFrom++];
        }
        Value factor = b.convert(of(operand)[numberOf(side.shape, at)], element);
        product = product ? b.mul(product, factor) : factor;
      }
      sum = b.add(sum, product);
    }
    result.push_back(sum);
  }
  elements[op.getResult()] = std::move(result);
  return true;
}

bool Rewriter::emitSort(SortOp op) {
  HloBuilder b{builder, op.getLoc()};
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  int64_t dim = op.getDimension(), size = shape[dim];
  if (size * elementsOf(op->getOperand(0)) > maxElements) {
    return false;
  }
  SmallVector<Elements> arrays;
  for (Value operand : op->getOperands()) {
    arrays.push_back(of(operand));
  }
  Position others(shape);
  others[dim] = 1;
  for (Position position : positionsOf(others)) {
    for (int64_t end = size - 1; end > 0; --end) {
      for (int64_t i = 0; i < end; ++i) {
        position[dim] = i;
        int64_t first = numberOf(shape, position);
        position[dim] = i + 1;
        int64_t second = numberOf(shape, position);
        SmallVector<Value> arguments;
        for (Elements &array : arrays) {
          arguments.append({array[second], array[first]});
        }
        Value swap = applied(op.getToApplyAttr(), arguments).front();
        for (Elements &array : arrays) {
          Value low = array[first], high = array[second];
          array[first] = b.select(swap, high, low);
          array[second] = b.select(swap, low, high);
        }
      }
    }
  }
  for (auto [result, values] : llvm::zip(op->getResults(), arrays)) {
    elements[result] = values;
  }
  return true;
}

/// Ops whose elements are elements of their operands.
bool Rewriter::emitMove(Operation *op) {
  if (isa<ReshapeOp, CopyOp, BitcastOp>(op) &&
      elementTypeOf(op->getOperand(0)) == elementTypeOf(op->getResult(0))) {
    elements[op->getResult(0)] = Elements(of(op->getOperand(0)));
    return true;
  }
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  SmallVector<Position> positions = positionsOf(shape);
  Elements result;
  if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
    int64_t dim = concatenate.getDimension();
    for (Position &position : positions) {
      unsigned operand = 0;
      while (position[dim] >= shapeOf(op->getOperand(operand))[dim]) {
        position[dim] -= shapeOf(op->getOperand(operand++))[dim];
      }
      Value source = op->getOperand(operand);
      result.push_back(of(source)[numberOf(shapeOf(source), position)]);
    }
    elements[op->getResult(0)] = std::move(result);
    return true;
  }
  if (!isa<BroadcastOp, TransposeOp, SliceOp, ReverseOp, PadOp>(op)) {
    return false;
  }
  Value source = op->getOperand(0);
  ArrayRef<int64_t> from = shapeOf(source);
  for (const Position &position : positions) {
    Position at(from.size());
    bool inside = true;
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      for (auto [i, dim] : llvm::enumerate(broadcast.getDimensions())) {
        at[i] = position[dim];
      }
    } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
      for (auto [i, dim] : llvm::enumerate(transpose.getDimensions())) {
        at[dim] = position[i];
      }
    } else if (auto slice = dyn_cast<SliceOp>(op)) {
      for (size_t i = 0; i < at.size(); ++i) {
        at[i] = slice.getStartIndices()[i] + position[i] * slice.getStrides()[i];
      }
    } else if (auto reverse = dyn_cast<ReverseOp>(op)) {
      at = position;
      for (int64_t dim : reverse.getDimensions()) {
        at[dim] = from[dim] - 1 - at[dim];
      }
    } else {
      auto pad = cast<PadOp>(op);
      for (size_t i = 0; i < at.size(); ++i) {
        int64_t step = pad.getPaddingInterior()[i] + 1, along = position[i] - pad.getPaddingLow()[i];
        inside &= along >= 0 && along % step == 0 && along / step < from[i];
        at[i] = along / step;
      }
    }
    result.push_back(inside ? of(source)[numberOf(from, at)] : of(op->getOperand(1)).front());
  }
  elements[op->getResult(0)] = std::move(result);
  return true;
}

/// Notes the elements of the op's results; false if it is not one of those above.
bool Rewriter::emit(Operation *op) {
  builder.setInsertionPoint(op);
  for (Value result : op->getResults()) {
    RankedTensorType type = arrayType(result);
    if (!type || !type.hasStaticShape() || type.getNumElements() > maxElements) {
      return false;
    }
  }
  auto isScalarType = [](Type type) { return isScalar(type); };
  if (llvm::all_of(op->getOperandTypes(), isScalarType) &&
      llvm::all_of(op->getResultTypes(), isScalarType)) {
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      op->setOperand(i, of(operand).front());
    }
    for (Value result : op->getResults()) {
      elements[result] = {result};
    }
    return true;
  }
  HloBuilder b{builder, op->getLoc()};
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto literal = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!literal) {
      return false;
    }
    auto type = RankedTensorType::get({}, literal.getElementType());
    for (Attribute value : literal.getValues<Attribute>()) {
      elements[op->getResult(0)].push_back(b.constant(DenseElementsAttr::get(type, value)));
    }
    return true;
  }
  if (auto iota = dyn_cast<IotaOp>(op)) {
    for (const Position &position : positionsOf(shapeOf(iota.getResult()))) {
      elements[iota.getResult()].push_back(
          b.scalar(elementTypeOf(iota.getResult()), position[iota.getIotaDimension()]));
    }
    return true;
  }
  if (isElementwiseOp(op)) {
    auto type = RankedTensorType::get({}, elementTypeOf(op->getResult(0)));
    for (int64_t i = 0, end = elementsOf(op->getResult(0)); i < end; ++i) {
      Operation *copy = builder.clone(*op);
      for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
        const Elements &values = of(operand);
        copy->setOperand(number, values[isScalar(operand) ? 0 : i]);
      }
      copy->getResult(0).setType(type);
      elements[op->getResult(0)].push_back(copy->getResult(0));
    }
    return true;
  }
  if (auto slice = dyn_cast<DynamicSliceOp>(op)) {
    SmallVector<Value> starts;
    for (Value index : slice.getStartIndices()) {
      starts.push_back(of(index).front());
    }
    if (starts.size() != shapeOf(slice.getOperand()).size()) {
      return false;
    }
    std::optional<Elements> taken = sliceAt(of(slice.getOperand()), shapeOf(slice.getOperand()),
                                            starts, slice.getDynamicSliceSizes());
    if (taken) {
      elements[slice.getResult()] = std::move(*taken);
    }
    return taken.has_value();
  }
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](DynamicUpdateSliceOp update) {
        return update.getStartIndices().size() == shapeOf(update.getOperand()).size() &&
               updateAt(update);
      })
      .Case([&](GatherOp gather) { return emitGather(gather); })
      .Case([&](ReduceOp reduce) { return emitReduce(reduce); })
      .Case([&](MapOp map) { return emitMap(map); })
      .Case([&](DotOp dot) { return emitDot(dot); })
      .Case([&](SortOp sort) { return emitSort(sort); })
      .Default([&](Operation *other) { return emitMove(other); });
}

void Rewriter::run() {
  SmallVector<Operation *> ops;
  bool hasArrays = false;
  for (Operation &op : block.without_terminator()) {
    ops.push_back(&op);
    hasArrays |= !llvm::all_of(op.getResultTypes(), [](Type type) { return isScalar(type); });
  }
  auto isScalarValue = [](Value value) { return isScalar(value); };
  if (!hasArrays || !llvm::all_of(block.getArguments(), isScalarValue) ||
      !llvm::all_of(block.getTerminator()->getOperands(), isScalarValue)) {
    return;
  }
  for (BlockArgument argument : block.getArguments()) {
    elements[argument] = {argument};
  }
  for (Operation *op : ops) {
    // What stays is refused where it is emitted, with its place; dead code is not our concern.
    if (!emit(op)) {
      return;
    }
  }
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
    block.getTerminator()->setOperand(i, of(value).front());
  }
  for (Operation *op : llvm::reverse(ops)) {
    if (op->use_empty()) {
      op->erase();
    }
  }
}

namespace {
class ScalarizerPass : public PassWrapper<ScalarizerPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScalarizerPass)
  StringRef getArgument() const final { return "hlo-scalarizer"; }
  StringRef getDescription() const final {
    return "Replace arrays in scalar computations by their elements";
  }

  void runOnOperation() final {
    FailureOr<ComputationGraph> graph = ComputationGraph::build(getOperation());
    if (failed(graph)) {
      return signalPassFailure();
    }
    llvm::SmallSetVector<Operation *, 16> applied;
    for (ComputationOp computation : graph->postOrder()) {
      for (Operation &op : computation.getBody().front()) {
        if (!callsAtTopLevel(&op)) {
          forEachCallee(&op, [&](FlatSymbolRefAttr name) { applied.insert(graph->lookup(name)); });
        }
      }
    }
    // Callees before callers: what a computation of a reduce in a reducer holds is scalar by then.
    for (ComputationOp computation : graph->postOrder()) {
      if (applied.contains(computation)) {
        Rewriter(computation, *graph).run();
      }
    }
  }
};
} // namespace

std::unique_ptr<Pass> hlo::createScalarizerPass() { return std::make_unique<ScalarizerPass>(); }
