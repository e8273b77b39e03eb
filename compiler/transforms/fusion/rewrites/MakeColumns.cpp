//===- MakeColumns.cpp - Arrays of few columns: the columns ---------------===//
//
// Makes the columns of the arrays that SplitColumns.cpp has chosen: each column of such an array
// becomes one array [rows]. Reduces and products of short rows are written out over the columns,
// and a stack joins the columns of an array that is needed as a whole. If an element-wise
// computation precedes a reshape [rows * C] -> [rows, C], it is computed column by column too.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Reduction.h"
#include "compiler/transforms/fusion/rewrites/SplitColumns.h"
#include "dialect/hlo/ops/KernelOps.h"

using namespace mlir;

namespace hlo::fusion {

/// The users of a joined array keep using its columns, which recomputes them in their kernels, if
/// the columns together take at most 64 ops. With more work the users read the joined array; one
/// kernel could hardly compute both (kMaxOps in MultiOutputFusion.cpp is 160).
static constexpr int64_t kMostWorkTwice = 64;

/// Column c of v, an array [rows, C]; made once.
Value ColumnSplitter::column(HloBuilder &b, Value v, int64_t c) {
  Value &known = columns[{v, c}];
  if (known) {
    return known;
  }
  Operation *def = v.getDefiningOp();
  Value made;
  auto reshape = dyn_cast_or_null<ReshapeOp>(def);
  if (def && split.contains(def)) {
    made = makeColumn(b, v, c);
  } else if (reshape && isComputed(reshape.getOperand()) &&
             llvm::all_of(v.getUsers(), [&](Operation *user) { return isSplitUser(user); })) {
    made = columnBefore(b, reshape.getOperand(), shapeOf(v).back(), c);
  } else {
    made = b.reshape(shapeOf(v).back() == 1 ? v : b.sliceDim(v, rows.size(), c, c + 1), rows);
  }
  columns[{v, c}] = made;
  return made;
}

/// Whether v is computed element-wise from arrays of its shape, and has one user.
bool ColumnSplitter::isComputed(Value v) const {
  Operation *op = v.getDefiningOp();
  return op && isElementwiseOp(op) && op->getNumResults() == 1 && v.hasOneUse() &&
         !split.contains(op) && hasOneShape(op);
}

/// Column c of v reshaped to [rows, count]: the ops that compute v are cloned for the column, and
/// their operands reshaped, which costs nothing in memory.
Value ColumnSplitter::columnBefore(HloBuilder &b, Value v, int64_t count, int64_t c) {
  Operation *op = v.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
    if (isScalar(broadcast.getOperand())) {
      return b.broadcastScalar(broadcast.getOperand(), rows);
    }
  }
  if (!isComputed(v)) {
    Value &whole = reshaped[{v, count}];
    if (!whole) {
      SmallVector<int64_t> shape(rows);
      shape.push_back(count);
      whole = b.reshape(v, shape);
    }
    return column(b, whole, c);
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(isScalar(operand) ? operand : columnBefore(b, operand, count, c));
  }
  return copyFor(b, op, operands, rows);
}

Value ColumnSplitter::makeColumn(HloBuilder &b, Value v, int64_t c) {
  Operation *op = v.getDefiningOp();
  int64_t minor = rows.size();
  Type element = elementTypeOf(v);
  auto toRows = [&](Value operand) {
    while (auto reshape = operand.getDefiningOp<ReshapeOp>()) {
      if (elementTypeOf(reshape.getOperand()) != element) {
        break;
      }
      operand = reshape.getOperand();
      if (shapeOf(operand) == ArrayRef<int64_t>(rows)) {
        return operand;
      }
    }
    return b.reshape(operand, rows);
  };
  if (isElementwiseOp(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(isScalar(operand) ? operand : column(b, operand, c));
    }
    return copyFor(b, op, operands, rows);
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    return column(b, slice.getOperand(),
                  slice.getStartIndices()[minor] + c * slice.getStrides()[minor]);
  }
  if (isa<DotOp>(op)) {
    return product(b, op, c);
  }
  if (auto pad = dyn_cast<PadOp>(op)) {
    int64_t at = c - pad.getPaddingLow()[minor], step = pad.getPaddingInterior()[minor] + 1;
    bool inside = at >= 0 && at % step == 0 && at / step < shapeOf(pad.getOperand())[minor];
    return inside ? column(b, pad.getOperand(), at / step)
                  : b.broadcastScalar(pad.getPaddingValue(), rows);
  }
  if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
    for (Value part : concatenate.getInputs()) {
      int64_t size = shapeOf(part)[minor];
      if (c < size) {
        return column(b, part, c);
      }
      c -= size;
    }
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    Value operand = broadcast.getOperand();
    SmallVector<int64_t> dims(broadcast.getDimensions());
    if (!dims.empty() && dims.back() == minor) {
      dims.pop_back();
      int64_t last = dims.size();
      auto constant = operand.getDefiningOp<ConstantOp>();
      if (constant && last == 0) {
        // A scalar constant becomes an immediate operand: shifts by constants are single
        // instructions.
        auto literal = cast<DenseElementsAttr>(constant.getValue());
        auto scalar = RankedTensorType::get({}, element);
        Attribute value = *(literal.value_begin<Attribute>() + (literal.isSplat() ? 0 : c));
        return b.broadcastScalar(b.constant(DenseElementsAttr::get(scalar, value)), rows);
      }
      operand = b.reshape(b.sliceDim(operand, last, c, c + 1), shapeOf(operand).drop_back());
    }
    bool same = shapeOf(operand) == ArrayRef<int64_t>(rows);
    return same ? operand : b.broadcast(operand, rows, dims);
  }
  if (auto iota = dyn_cast<IotaOp>(op)) {
    int64_t along = iota.getIotaDimension();
    auto type = HloBuilder::array(rows, element);
    return along == minor ? b.splat(type, static_cast<double>(c)) : b.iota(type, along);
  }
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto literal = cast<DenseElementsAttr>(constant.getValue());
    auto scalar = RankedTensorType::get({}, element);
    return b.broadcastScalar(b.constant(literal.resizeSplat(scalar)), rows);
  }
  return toRows(op->getOperand(0));
}

/// The type in which sums of elements of the type are computed.
static Type sumType(Type element) {
  auto real = dyn_cast<FloatType>(element);
  return real && real.getWidth() < 32 ? Float32Type::get(element.getContext()) : element;
}

/// Column n of a product; the only one if the weights are a vector.
Value ColumnSplitter::product(HloBuilder &b, Operation *op, int64_t n) {
  RowProduct dot = *rowProduct(op);
  Type element = elementTypeOf(op->getResult(0)), wide = sumType(element);
  Value sum;
  for (int64_t c = 0, count = shapeOf(dot.array).back(); c < count; ++c) {
    Value weight = b.sliceDim(dot.weights, dot.along, c, c + 1);
    if (rankOf(weight) == 2) {
      weight = b.sliceDim(weight, 1 - dot.along, n, n + 1);
    }
    weight = b.broadcastScalar(b.convert(b.reshape(weight, {}), wide), rows);
    Value term = b.mul(b.convert(column(b, dot.array, c), wide), weight);
    sum = sum ? b.add(sum, term) : term;
  }
  return b.convert(sum, element);
}

/// A reduce over the columns, from the first to the last; narrow floats in f32.
Value ColumnSplitter::fold(HloBuilder &b, ReduceOp op) {
  Operation *combine = associativeOp(symbols.lookup<ComputationOp>(op.getToApply()));
  Type element = elementTypeOf(op->getResult(0)), wide = sumType(element);
  Value result = b.broadcastScalar(b.convert(op.getInputs()[1], wide), rows);
  for (int64_t c = 0, count = shapeOf(op.getInputs()[0]).back(); c < count; ++c) {
    Value next = b.convert(column(b, op.getInputs()[0], c), wide);
    OperationState state(op.getLoc(), combine->getName());
    state.addOperands({result, next});
    state.addTypes(result.getType());
    result = b.b.create(state)->getResult(0);
  }
  return b.convert(result, element);
}

/// The stack of the columns of v.
Value ColumnSplitter::joined(HloBuilder &b, Value v) {
  SmallVector<Value> parts;
  for (int64_t c = 0, count = shapeOf(v).back(); c < count; ++c) {
    parts.push_back(column(b, v, c));
  }
  return parts.size() == 1 ? b.reshape(parts[0], shapeOf(v))
                           : StackOp::create(b.b, b.loc, parts, rows.size()).getResult();
}

/// One reduce per column, concatenated.
Value ColumnSplitter::sumOfRows(HloBuilder &b, ReduceOp op) {
  SmallVector<int64_t> shape(shapeOf(op->getResult(0)));
  int64_t count = std::exchange(shape.back(), 1);
  SmallVector<Value> parts;
  for (int64_t c = 0; c < count; ++c) {
    Value sum = copyFor(b, op, {column(b, op.getInputs()[0], c), op.getInputs()[1]},
                        ArrayRef(shape).drop_back());
    parts.push_back(b.reshape(sum, shape));
  }
  return b.concatenate(parts, shape.size() - 1);
}

void ColumnSplitter::rewrite(SmallVectorImpl<Operation *> &seeds) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    Operation *source = op.getNumOperands() > 0 ? op.getOperand(0).getDefiningOp() : nullptr;
    if (!isSplitUser(&op) ||
        (isa<ReshapeOp, BitcastOp>(op) && exits.contains(&op) && !split.contains(source))) {
      continue;
    }
    OpBuilder builder(&op);
    HloBuilder b(builder, op.getLoc());
    Value v = op.getResult(0);
    if (sums.contains(&op)) {
      Value together = sumOfRows(b, cast<ReduceOp>(op));
      v.replaceAllUsesWith(together);
      seeds.push_back(together.getDefiningOp());
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      v.replaceAllUsesWith(fold(b, reduce));
    } else if (auto slice = dyn_cast<SliceOp>(op); slice && exits.contains(&op)) {
      Value array = slice.getOperand().getDefiningOp<TransposeOp>().getOperand();
      v.replaceAllUsesWith(b.reshape(column(b, array, slice.getStartIndices()[0]), shapeOf(v)));
    } else if (isa<DotOp>(op) && exits.contains(&op)) {
      v.replaceAllUsesWith(product(b, &op, 0));
    } else if (exits.contains(&op)) {
      v.replaceAllUsesWith(column(b, op.getOperand(0), 0));
    } else if (kept.contains(&op) && !isMove(&op)) {
      Value whole = joined(b, v);
      v.replaceUsesWithIf(whole, [&](OpOperand &use) {
        Operation *user = use.getOwner();
        return work > kMostWorkTwice || !isSplitUser(user) || (isMove(user) && kept.contains(user));
      });
    }
  }
}

} // namespace hlo::fusion
