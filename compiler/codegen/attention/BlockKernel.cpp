//===- BlockKernel.cpp - A part of a kernel, for a block of its arrays ----===//
//
// In: values of a region whose dimensions have axes. Out: a region that computes a block of them,
// emitted by the emitter of a strategy where the builder stands.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/attention/BlockKernel.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;

namespace hlo::codegen {

BlockKernel::BlockKernel(KernelBuilder &outer, Attention &attention, const AttentionBlock &block)
    : outer(outer), attention(attention), block(block), inside(outer.e.b.getContext()) {
  OperationState state(outer.fusion.getLoc(), FusionOp::getOperationName());
  state.addRegion()->push_back(new Block);
  fusion = cast<FusionOp>(Operation::create(state));
  inside.setInsertionPointToEnd(&fusion.getBody().front());
}

BlockKernel::~BlockKernel() { fusion->erase(); }

Type BlockKernel::typeLike(Value v, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, elementType(v.getType()));
}

AxisNumbers BlockKernel::kept(ArrayRef<int64_t> axes) const {
  AxisNumbers result;
  for (int64_t axis : axes) {
    if (axis != kNoAxis && block.sizes[axis] != 1) {
      result.push_back(axis);
    }
  }
  llvm::sort(result, [&](int64_t a, int64_t b) {
    return std::pair(attention.axes[a].kind, a) < std::pair(attention.axes[b].kind, b);
  });
  return result;
}

SmallVector<int64_t> BlockKernel::shapeOfBlock(ArrayRef<int64_t> axes) const {
  return llvm::map_to_vector(axes, [&](int64_t axis) { return block.sizes[axis]; });
}

Value BlockKernel::argument(Type type, Value pointer) {
  pointers.push_back(pointer);
  return fusion.getBody().front().addArgument(type, fusion.getLoc());
}

Value BlockKernel::startOf(int64_t axis) {
  Value &start = startArguments[axis];
  if (!start) {
    Type s64 = IntegerType::get(inside.getContext(), 64, IntegerType::Signed);
    start = argument(RankedTensorType::get({}, s64), block.starts[axis]);
  }
  return start;
}

Value BlockKernel::read(Value v, ArrayRef<int64_t> axes, Value buffer) {
  Value array = argument(typeLike(v, shapeOfBlock(axes)), buffer);
  return buffers[v] = inOrder(array, axes, kept(axes));
}

Value BlockKernel::inOrder(Value v, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<int64_t> order;
  for (int64_t axis : to) {
    order.push_back(llvm::find(from, axis) - from.begin());
  }
  return HloBuilder(inside, fusion.getLoc()).transpose(v, order);
}

Value BlockKernel::constant(DenseElementsAttr splat, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, splat.getElementType());
  return HloBuilder(inside, fusion.getLoc())
      .constant(DenseElementsAttr::get(type, *splat.value_begin<Attribute>()));
}

Value BlockKernel::slice(Value array, ArrayRef<int64_t> axes) {
  HloBuilder b(inside, fusion.getLoc());
  SmallVector<int64_t> sizes, large;
  SmallVector<Value> starts;
  AxisNumbers inArray;
  bool whole = true;
  for (auto [d, axis] : llvm::enumerate(axes)) {
    int64_t size = shapeOf(array)[d];
    sizes.push_back(axis == kNoAxis ? size : block.sizes[axis]);
    bool isCut = sizes.back() != size;
    whole &= !isCut;
    Type s64 = IntegerType::get(inside.getContext(), 64, IntegerType::Signed);
    starts.push_back(isCut ? startOf(axis) : b.scalar(s64, 0));
    if (sizes.back() != 1) {
      large.push_back(sizes.back());
      inArray.push_back(axis);
    }
  }
  Value result = array;
  if (!whole) {
    result = DynamicSliceOp::create(inside, fusion.getLoc(), typeLike(array, sizes), array, starts,
                                    inside.getDenseI64ArrayAttr(sizes));
  }
  return inOrder(b.reshape(result, large), inArray, kept(axes));
}

Value BlockKernel::iota(IotaOp op, ArrayRef<int64_t> axes) {
  HloBuilder b(inside, fusion.getLoc());
  auto dimension = static_cast<int64_t>(op.getIotaDimension());
  int64_t axis = axes[dimension], size = shapeOf(op.getResult())[dimension];
  AxisNumbers own = axis == kNoAxis ? AxisNumbers() : AxisNumbers{axis}, all = kept(axes);
  auto line = cast<RankedTensorType>(typeLike(op.getResult(), {size}));
  Value numbers = slice(b.iota(line, 0), AxisNumbers{axis});
  SmallVector<int64_t> dimensions;
  for (int64_t a : kept(own)) {
    dimensions.push_back(llvm::find(all, a) - all.begin());
  }
  return all.size() == dimensions.size() ? numbers
                                         : b.broadcast(numbers, shapeOfBlock(all), dimensions);
}

Value BlockKernel::broadcast(BroadcastOp op, ArrayRef<int64_t> axes) {
  AxisNumbers inner;
  for (auto [i, d] : llvm::enumerate(op.getDimensions())) {
    inner.push_back(shapeOf(op.getOperand())[i] == 1 ? kNoAxis : axes[d]);
  }
  Value operand = rebuild(op.getOperand(), inner);
  AxisNumbers from = kept(inner), to = kept(axes);
  SmallVector<int64_t> dimensions;
  for (int64_t axis : from) {
    dimensions.push_back(llvm::find(to, axis) - to.begin());
  }
  return from == to
             ? operand
             : HloBuilder(inside, fusion.getLoc()).broadcast(operand, shapeOfBlock(to), dimensions);
}

Value BlockKernel::compute(Operation *op, ArrayRef<int64_t> axes) {
  Value result = op->getResult(0);
  if (auto constantOp = dyn_cast<ConstantOp>(op)) {
    return constant(cast<DenseElementsAttr>(constantOp.getValue()), shapeOfBlock(kept(axes)));
  }
  if (auto iotaOp = dyn_cast<IotaOp>(op)) {
    return iota(iotaOp, axes);
  }
  if (auto broadcastOp = dyn_cast<BroadcastOp>(op)) {
    return broadcast(broadcastOp, axes);
  }
  if (op == attention.scores) {
    return scores();
  }
  Value first = op->getOperand(0);
  AxisNumbers inner(shapeOf(first).size(), kNoAxis);
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [i, d] : llvm::enumerate(transpose.getDimensions())) {
      inner[d] = axes[i];
    }
    return rebuild(first, inner);
  }
  if (isa<ReshapeOp, BitcastOp>(op)) {
    size_t from = 0;
    for (auto [d, size] : llvm::enumerate(shapeOf(first))) {
      if (size != 1) {
        while (shapeOf(result)[from] == 1) {
          ++from;
        }
        inner[d] = axes[from++];
      }
    }
    return rebuild(first, inner);
  }
  if (isa<CopyOp>(op)) {
    return rebuild(first, axes);
  }
  IRMapping mapping;
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    mapping.map(first, rebuild(first));
    mapping.map(op->getOperand(1), rebuild(op->getOperand(1), {}));
  } else {
    for (Value v : op->getOperands()) {
      bool isNumber = shapeOf(v).empty();
      mapping.map(v, rebuild(v, isNumber ? ArrayRef<int64_t>() : axes));
    }
  }
  Operation *copy = inside.clone(*op, mapping);
  copy->getResult(0).setType(typeLike(result, shapeOfBlock(kept(axes))));
  if (auto reduce = dyn_cast<ReduceOp>(copy)) {
    // Keys are the last axis of what is reduced.
    int64_t last = static_cast<int64_t>(shapeOf(reduce.getInputs()[0]).size()) - 1;
    reduce.setDimensions({last});
  }
  return copy->getResult(0);
}

Value BlockKernel::rebuild(Value v, ArrayRef<int64_t> axes) {
  if (auto buffer = buffers.find(v); buffer != buffers.end()) {
    return buffer->second;
  }
  std::pair key{v.getAsOpaquePointer(), std::vector<int64_t>(axes.begin(), axes.end())};
  if (auto found = known.find(key); found != known.end()) {
    return found->second;
  }
  Value result;
  if (auto outside = dyn_cast<BlockArgument>(v)) {
    Value &array = arrays[v];
    if (!array) {
      array = argument(v.getType(), outer.operandPtrs[outside.getArgNumber()]);
    }
    result = slice(array, axes);
  } else {
    result = compute(v.getDefiningOp(), axes);
  }
  known[key] = result;
  return result;
}

/// A dot of two sides that contracts `count` dimensions of each, from `first` on.
Value BlockKernel::dot(DotOp like, std::array<Value, 2> sides, std::array<int64_t, 2> first,
                       int64_t count) {
  std::array<SmallVector<int64_t>, 2> contracted;
  SmallVector<int64_t> shape;
  for (unsigned side : {0u, 1u}) {
    for (auto [d, size] : llvm::enumerate(shapeOf(sides[side]))) {
      auto place = static_cast<int64_t>(d) - first[side];
      if (place >= 0 && place < count) {
        contracted[side].push_back(d);
      } else {
        shape.push_back(size);
      }
    }
  }
  auto copy = cast<DotOp>(inside.clone(*like.getOperation()));
  copy->setOperands({sides[0], sides[1]});
  copy.removeLhsBatchDimsAttr();
  copy.removeRhsBatchDimsAttr();
  copy.setLhsContractingDims(contracted[0]);
  copy.setRhsContractingDims(contracted[1]);
  copy.getResult().setType(typeLike(like.getResult(), shape));
  return copy.getResult();
}

Value BlockKernel::scores() {
  unsigned side = attention.keySide;
  Value queries = rebuild(attention.scores->getOperand(!side), attention.ofScoresOperand[!side]);
  Value keys = rebuild(attention.scores->getOperand(side), attention.ofScoresOperand[side]);
  auto rows = static_cast<int64_t>(kept(attention.axesOf[attention.scores.getResult()]).size()) - 1;
  auto columns = static_cast<int64_t>(shapeOf(queries).size()) - rows;
  return dot(attention.scores, {queries, keys}, {rows, 1}, columns);
}

Value BlockKernel::weighted(bool turned) {
  Value weights = rebuild(attention.weights());
  Value values = rebuild(attention.values(), attention.ofValues);
  auto rows = static_cast<int64_t>(shapeOf(weights).size()) - 1;
  Value result = turned ? dot(attention.weighted, {values, weights}, {0, rows}, 1)
                        : dot(attention.weighted, {weights, values}, {rows, 0}, 1);
  for (Operation *op : attention.epilogue) {
    result = HloBuilder(inside, fusion.getLoc())
                 .convert(result, elementType(op->getResult(0).getType()));
  }
  return result;
}

Value BlockKernel::valuesTimesZero(FlatSymbolRefAttr addition) {
  HloBuilder b(inside, fusion.getLoc());
  Type f32 = inside.getF32Type();
  Value values = b.convert(rebuild(attention.values(), attention.ofValues), f32);
  auto type = cast<RankedTensorType>(typeLike(values, shapeOf(values)));
  Value products = b.mul(values, constant(HloBuilder::splatAttr(type, 0), type.getShape()));
  auto dimensions = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return ReduceOp::create(inside, fusion.getLoc(), TypeRange{RankedTensorType::get({}, f32)},
                          ValueRange{products, b.scalar(f32, 0)},
                          inside.getDenseI64ArrayAttr(dimensions), addition)
      .getResult(0);
}

Value BlockKernel::update(Value array, ArrayRef<int64_t> arrayAxes, Value update,
                          ArrayRef<int64_t> axes) {
  HloBuilder b(inside, fusion.getLoc());
  AxisNumbers inArray;
  SmallVector<int64_t> shape;
  SmallVector<Value> starts;
  Type s64 = IntegerType::get(inside.getContext(), 64, IntegerType::Signed);
  for (auto [d, axis] : llvm::enumerate(arrayAxes)) {
    shape.push_back(axis == kNoAxis ? 1 : block.sizes[axis]);
    starts.push_back(shape.back() == shapeOf(array)[d] ? b.scalar(s64, 0) : startOf(axis));
    if (shape.back() != 1) {
      inArray.push_back(axis);
    }
  }
  Value part = b.reshape(inOrder(update, axes, inArray), shape);
  return DynamicUpdateSliceOp::create(inside, fusion.getLoc(), array.getType(), array, part,
                                      starts);
}

LogicalResult BlockKernel::emit(ArrayRef<Value> roots, ArrayRef<Value> results,
                                LogicalResult (*emitter)(KernelBuilder &)) {
  ReturnOp::create(inside, fusion.getLoc(), roots);
  Emission &e = outer.e;
  // The number of tasks is known at the end.
  auto last = LLVM::UndefOp::create(e.b, e.loc, e.b.getI64Type());
  KernelBuilder kernel{
      Emission{{e.b, e.loc}, e.machine}, fusion,         outer.computations, pointers,
      SmallVector<Value>(results),       constI64(e, 0), last.getResult()};
  if (failed(emitter(kernel))) {
    return failure();
  }
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPoint(last);
  last.getResult().replaceAllUsesWith(
      arith::ConstantOp::create(e.b, e.loc, e.b.getI64IntegerAttr(kernel.tasks)));
  last.erase();
  return success();
}

} // namespace hlo::codegen
