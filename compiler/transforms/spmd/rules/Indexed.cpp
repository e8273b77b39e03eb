//===- Indexed.cpp - The dimensions of gather and scatter -----------------===//
#include "compiler/transforms/spmd/rules/Indexed.h"

#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/Annotation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

//===----------------------------------------------------------------------===//
// Dimension numbers
//===----------------------------------------------------------------------===//

namespace {
struct Numbers {
  ArrayRef<int64_t> window, collapsed, map;
  std::optional<ArrayRef<int64_t>> operandBatching, indexBatching;
  int64_t indexVectorDim;
};
} // namespace

/// `result` is the shape of the gather's result or of the scatter's updates.
static IndexedDims dimsOf(const Numbers &numbers, ArrayRef<int64_t> operand,
                          ArrayRef<int64_t> indices, ArrayRef<int64_t> result) {
  IndexedDims dims;
  dims.sizes.assign(operand.begin(), operand.end());
  dims.indexSizes.assign(indices.begin(), indices.end());
  dims.indexVectorDim = numbers.indexVectorDim;
  dims.components = numbers.map.size();
  for (auto *list : {&dims.windowDim, &dims.component, &dims.batching}) {
    list->assign(operand.size(), -1);
  }
  dims.window.assign(operand.size(), 1);
  dims.positionDim.assign(indices.size(), -1);
  for (auto [k, dim] : llvm::enumerate(numbers.map)) {
    dims.component[dim] = k;
  }
  if (numbers.operandBatching && numbers.indexBatching) {
    for (auto [dim, counted] : llvm::zip(*numbers.operandBatching, *numbers.indexBatching)) {
      dims.batching[dim] = counted;
    }
  }
  size_t next = 0;
  for (size_t dim = 0; dim < operand.size(); ++dim) {
    if (!llvm::is_contained(numbers.collapsed, static_cast<int64_t>(dim)) &&
        dims.batching[dim] < 0) {
      dims.windowDim[dim] = numbers.window[next++];
      dims.window[dim] = result[dims.windowDim[dim]];
    }
  }
  int64_t position = 0;
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    if (static_cast<int64_t>(dim) == dims.indexVectorDim) {
      continue;
    }
    while (llvm::is_contained(numbers.window, position)) {
      ++position;
    }
    dims.positionDim[dim] = position++;
  }
  return dims;
}

std::pair<int64_t, FactorKind> IndexedDims::countedAlong(int64_t dim, Value indices) const {
  if (batching[dim] < 0 && component[dim] >= 0 && window[dim] == 1) {
    return {countedDim(indices, indexVectorDim, component[dim]), FactorKind::Special};
  }
  return {batching[dim], FactorKind::Pass};
}

IndexedDims IndexedDims::of(GatherOp op) {
  return dimsOf({op.getOffsetDims(), op.getCollapsedSliceDims(), op.getStartIndexMap(),
                 op.getOperandBatchingDims(), op.getStartIndicesBatchingDims(),
                 static_cast<int64_t>(op.getIndexVectorDim())},
                shapeOf(op.getOperand()), shapeOf(op.getStartIndices()), shapeOf(op.getResult()));
}

IndexedDims IndexedDims::of(ScatterOp op) {
  unsigned count = op->getNumOperands() / 2;
  return dimsOf({op.getUpdateWindowDims(), op.getInsertedWindowDims(),
                 op.getScatterDimsToOperandDims(), op.getInputBatchingDims(),
                 op.getScatterIndicesBatchingDims(), static_cast<int64_t>(op.getIndexVectorDim())},
                shapeOf(op->getOperand(0)), shapeOf(op->getOperand(count)),
                shapeOf(op->getOperand(count + 1)));
}

bool hlo::spmd::isSummable(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element)) {
    return isSummable(complex.getElementType());
  }
  if (isa<IntegerType>(element)) {
    unsigned width = element.getIntOrFloatBitWidth();
    return width == 1 || width >= 8;
  }
  return element.isF16() || element.isBF16() || element.isF32() || element.isF64();
}

//===----------------------------------------------------------------------===//
// Indices that count a dimension
//===----------------------------------------------------------------------===//

namespace {

/// Follows ops that move elements from the indices to an iota.
class Counting {
public:
  /// Returns the dimension of `value`, or -1.
  int64_t find(Value value, int64_t vectorDim, int64_t component);

private:
  /// Chains of more ops are not followed.
  static constexpr int kMostOps = 24;

  int64_t throughReshape(ReshapeOp op, int64_t vectorDim, int64_t component);
  int64_t throughBroadcast(BroadcastOp op, int64_t vectorDim, int64_t component);
  int64_t throughConcatenate(ConcatenateOp op, int64_t vectorDim, int64_t component);
  int64_t throughSelect(SelectOp op, int64_t vectorDim, int64_t component);

  int visited = 0;
};

} // namespace

/// Whether the op is a marker whose result is its operand.
static bool keepsArray(Operation *op) {
  StringRef marker = markerOf(op);
  return marker == kMarkSharding || marker == kMarkBarrier;
}

/// Whether the element type holds the numbers 0 ... size - 1.
static bool holds(Type element, int64_t size) {
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || integer.getWidth() < 2) {
    return false;
  }
  unsigned bits = integer.getWidth() - (integer.isUnsigned() ? 0 : 1);
  return bits >= 63 || size <= int64_t(1) << bits;
}

/// Reshapes that only add and remove dimensions of size 1.
int64_t Counting::throughReshape(ReshapeOp op, int64_t vectorDim, int64_t component) {
  ArrayRef<int64_t> from = shapeOf(op.getOperand()), to = shapeOf(op.getResult());
  SmallVector<int64_t> target; // of each dimension of the operand; -1: of size 1
  size_t next = 0;
  int64_t operandVectorDim = from.size();
  for (auto [dim, size] : llvm::enumerate(from)) {
    if (size == 1) {
      target.push_back(-1);
      continue;
    }
    while (next < to.size() && to[next] == 1) {
      ++next;
    }
    if (next == to.size() || to[next] != size) {
      return -1;
    }
    if (static_cast<int64_t>(next) == vectorDim) {
      operandVectorDim = dim;
    }
    target.push_back(next++);
  }
  int64_t found = find(op.getOperand(), operandVectorDim, component);
  return found < 0 ? -1 : target[found];
}

int64_t Counting::throughBroadcast(BroadcastOp op, int64_t vectorDim, int64_t component) {
  ArrayRef<int64_t> target = op.getDimensions();
  int64_t operandVectorDim = target.size();
  for (auto [from, to] : llvm::enumerate(target)) {
    if (to == vectorDim) {
      operandVectorDim = from;
    }
  }
  int64_t found = find(op.getOperand(), operandVectorDim, component);
  return found < 0 || shapeOf(op.getOperand())[found] != shapeOf(op.getResult())[target[found]]
             ? -1
             : target[found];
}

int64_t Counting::throughConcatenate(ConcatenateOp op, int64_t vectorDim, int64_t component) {
  if (static_cast<int64_t>(op.getDimension()) != vectorDim) {
    return -1;
  }
  for (Value input : op.getInputs()) {
    int64_t size = shapeOf(input)[vectorDim];
    if (component < size) {
      return find(input, vectorDim, component);
    }
    component -= size;
  }
  return -1;
}

/// `x < 0 ? x + n : y`, as negative indices are interpreted, where both x and y count from 0 on.
int64_t Counting::throughSelect(SelectOp op, int64_t vectorDim, int64_t component) {
  auto compare = op->getOperand(0).getDefiningOp<CompareOp>();
  if (!compare || compare.getDirection() != "LT") {
    return -1;
  }
  Value bound = compare->getOperand(1);
  if (auto broadcast = bound.getDefiningOp<BroadcastOp>()) {
    bound = broadcast.getOperand();
  }
  auto constant = bound.getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : nullptr;
  if (!dense || !dense.isSplat() || !dense.getSplatValue<APInt>().isZero()) {
    return -1;
  }
  int64_t found = find(op->getOperand(2), vectorDim, component);
  return found >= 0 && find(compare->getOperand(0), vectorDim, component) == found ? found : -1;
}

int64_t Counting::find(Value value, int64_t vectorDim, int64_t component) {
  Operation *op = value.getDefiningOp();
  if (!op || ++visited > kMostOps || !isa<RankedTensorType>(value.getType())) {
    return -1;
  }
  int64_t found =
      llvm::TypeSwitch<Operation *, int64_t>(op)
          .Case([&](IotaOp iota) {
            int64_t dim = iota.getIotaDimension();
            return dim == vectorDim ? -1 : dim;
          })
          .Case([&](ReshapeOp op) { return throughReshape(op, vectorDim, component); })
          .Case([&](BroadcastOp op) { return throughBroadcast(op, vectorDim, component); })
          .Case([&](ConcatenateOp op) { return throughConcatenate(op, vectorDim, component); })
          .Case([&](SelectOp op) { return throughSelect(op, vectorDim, component); })
          .Case([&](ConvertOp op) { return find(op.getOperand(), vectorDim, component); })
          .Case([&](CopyOp op) { return find(op.getOperand(), vectorDim, component); })
          .Case([&](CustomCallOp op) {
            return keepsArray(op) ? find(op->getOperand(0), vectorDim, component) : -1;
          })
          .Default(int64_t(-1));
  return found >= 0 && holds(elementTypeOf(value), shapeOf(value)[found]) ? found : -1;
}

int64_t hlo::spmd::countedDim(Value value, int64_t vectorDim, int64_t component) {
  return Counting().find(value, vectorDim, component);
}

//===----------------------------------------------------------------------===//
// Arithmetic on indices
//===----------------------------------------------------------------------===//

Value hlo::spmd::asSigned(HloBuilder b, Value indices) {
  auto element = cast<IntegerType>(elementTypeOf(indices));
  unsigned width = element.getWidth();
  if (element.isUnsigned() && width >= 64) {
    // Larger than any dimension.
    indices = b.binary<MinimumOp>(indices, b.splat(HloBuilder::type(indices), 0x1p62));
  }
  bool isShort = element.isUnsigned() ? width < 32 : width <= 32;
  return b.convert(indices, b.b.getIntegerType(isShort ? 32 : 64, /*isSigned=*/true));
}

Value hlo::spmd::componentOf(HloBuilder b, Value indices, const IndexedDims &dims, int64_t k) {
  if (!dims.hasVectorDim()) {
    return indices;
  }
  SmallVector<int64_t> shape(shapeOf(indices));
  shape.erase(shape.begin() + dims.indexVectorDim);
  return b.reshape(
      dims.components == 1 ? indices : b.sliceDim(indices, dims.indexVectorDim, k, k + 1), shape);
}

Value hlo::spmd::indexVectors(HloBuilder b, ArrayRef<Value> components, const IndexedDims &dims) {
  if (!dims.hasVectorDim()) {
    return components.front();
  }
  SmallVector<Value> parts;
  for (Value component : components) {
    SmallVector<int64_t> shape(shapeOf(component));
    shape.insert(shape.begin() + dims.indexVectorDim, 1);
    parts.push_back(b.reshape(component, shape));
  }
  return parts.size() == 1 ? parts.front() : b.concatenate(parts, dims.indexVectorDim);
}

Value hlo::spmd::both(HloBuilder b, Value x, Value y) {
  return !x ? y : !y ? x : b.binary<AndOp>(x, y);
}

Value hlo::spmd::isBelow(HloBuilder b, Value value, int64_t end) {
  RankedTensorType type = HloBuilder::type(value);
  Value inside = b.compare(value, b.splat(type, 0), "GE");
  if (type.getElementType().isInteger(32) && end > std::numeric_limits<int32_t>::max()) {
    return inside;
  }
  return b.binary<AndOp>(inside, b.compare(value, b.splat(type, end), "LT"));
}

Value hlo::spmd::clampTo(HloBuilder b, Value value, int64_t last) {
  RankedTensorType type = HloBuilder::type(value);
  if (!type.getElementType().isInteger(32) || last <= std::numeric_limits<int32_t>::max()) {
    value = b.binary<MinimumOp>(value, b.splat(type, last));
  }
  return b.binary<MaximumOp>(value, b.splat(type, 0));
}

Value hlo::spmd::relativeTo(HloBuilder b, Value value, Value offset, int64_t bias) {
  Type element = elementTypeOf(value);
  offset = b.convert(offset, element);
  if (bias) {
    offset = b.sub(offset, b.scalar(element, bias));
  }
  return b.sub(value, b.broadcastScalar(offset, shapeOf(value)));
}

Value hlo::spmd::padBothEnds(HloBuilder b, Value array, int64_t dim, int64_t amount, Value fill) {
  SmallVector<int64_t> none(rankOf(array), 0), ends(none);
  ends[dim] = amount;
  return b.pad(array, fill, ends, ends, none);
}

Operation *hlo::spmd::rebuild(Site &site, TypeRange results, ArrayRef<NamedAttribute> changed) {
  OperationState state(site.e.loc, site.op->getName().getStringRef(), site.operands, results,
                       site.op->getAttrs());
  state.attributes.erase(kAnnotation);
  for (const NamedAttribute &attribute : changed) {
    state.attributes.set(attribute.getName(), attribute.getValue());
  }
  return site.e.builder.create(state);
}

//===----------------------------------------------------------------------===//
// Sums of parts
//===----------------------------------------------------------------------===//

FlatSymbolRefAttr hlo::spmd::sumOfParts(Site &site) {
  Type element = site.resultType(0).getElementType();
  return site.e.sumComputation(element.isInteger(1) ? SumKind::Or : SumKind::Add, element);
}

Value hlo::spmd::identityOfParts(HloBuilder b, Type element) {
  auto zero = [](FloatType type) {
    return APFloat::getZero(type.getFloatSemantics(), /*Negative=*/true);
  };
  auto scalar = RankedTensorType::get({}, element);
  if (auto complex = dyn_cast<ComplexType>(element)) {
    APFloat part = zero(cast<FloatType>(complex.getElementType()));
    return b.constant(DenseElementsAttr::get(scalar, std::complex<APFloat>(part, part)));
  }
  if (auto floating = dyn_cast<FloatType>(element)) {
    return b.constant(DenseElementsAttr::get(scalar, zero(floating)));
  }
  return b.scalar(element, 0);
}
