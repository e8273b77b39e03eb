//===- ElementRewriter.cpp - Arrays of a computation as their elements ----===//
//
// The walk over a computation, and ops that work element by element: element-wise ops, constants,
// iota. The others are in ElementMoves.cpp and ElementComputes.cpp. Input and output as in
// Scalarizer.cpp.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/scalarizer/ElementRewriter.h"
#include "compiler/analysis/OpKinds.h"

using namespace mlir;
using namespace hlo;

SmallVector<ElementRewriter::Position> ElementRewriter::positionsOf(ArrayRef<int64_t> shape) {
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

int64_t ElementRewriter::numberOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> position) {
  int64_t number = 0;
  for (auto [size, at] : llvm::zip(shape, position)) {
    number = number * size + at;
  }
  return number;
}

ElementRewriter::Elements ElementRewriter::applied(FlatSymbolRefAttr callee, ValueRange arguments) {
  Block &body = graph.lookup(callee).getBody().front();
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  for (Operation &op : body.without_terminator()) {
    builder.clone(op, mapping);
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

bool ElementRewriter::emit(Operation *op) {
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
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](DynamicSliceOp slice) { return emitDynamicSlice(slice); })
      .Case([&](DynamicUpdateSliceOp update) { return emitUpdate(update); })
      .Case([&](GatherOp gather) { return emitGather(gather); })
      .Case([&](ReduceOp reduce) { return emitReduce(reduce); })
      .Case([&](MapOp map) { return emitMap(map); })
      .Case([&](DotOp dot) { return emitDot(dot); })
      .Case([&](SortOp sort) { return emitSort(sort); })
      .Default([&](Operation *other) { return emitMove(other); });
}

void ElementRewriter::run() {
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
    // An op that stays is refused by the emitter, with its place; a dead op does no harm.
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
