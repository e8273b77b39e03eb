//===- ElementEmitter.cpp - A value at an index, by recursion -------------===//
//
// In: a value of a fusion's region and one index per dimension. Out: its element (or one per lane),
// computed recursively from the value to the kernel's operands. Each op maps the index of its
// result to those of its operands; element-wise ops keep it. Vectors arise by construction: an
// index is affine in the lane. By the lane stride, an access to an operand is
//
//   1         a vector load
//   0         a scalar load and a splat
//   other     vector loads and shuffles if all lanes are known to be close together, else a gather
//
// Two rules keep the code small: a value needed again at the same index is not computed again, and
// values that are equal in all lanes are computed once, as scalars.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Columns.h"
#include "compiler/codegen/elementwise/ErrorFunction.h"
#include "compiler/codegen/elementwise/Quantize.h"
#include "compiler/codegen/loops/Columns.h"
#include "compiler/codegen/loops/EmitterImpl.h"

using namespace mlir;

namespace hlo::codegen {

ElementEmitter::ElementEmitter(KernelBuilder &kernel, int64_t lanes)
    : state(std::make_unique<Impl>(Impl{kernel, lanes, std::make_shared<EmitterShared>()})) {
  state->self = this;
  if (lanes > 1) {
    state->scalar = std::make_unique<ElementEmitter>(kernel, 1);
    state->scalar->state->shared = state->shared;
  }
}

ElementEmitter::~ElementEmitter() = default;

int64_t ElementEmitter::lanes() const { return state->lanes; }

void ElementEmitter::useLinearIndex() { state->shared->linear = true; }

static bool sameScalar(Value a, Value b) {
  if (a == b) {
    return true;
  }
  if (!a || !b) {
    return false;
  }
  std::optional<int64_t> ca = constantOf(a), cb = constantOf(b);
  return ca && cb && *ca == *cb;
}

static bool sameIndex(ArrayRef<Index> a, ArrayRef<Index> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           const auto &[x, y] = pair;
           if (!x.offsets.empty()) {
             return x.offsets == y.offsets && sameScalar(x.base, y.base);
           }
           return x.lanes == y.lanes && x.stride == y.stride && sameScalar(x.base, y.base);
         });
}

void ElementEmitter::Impl::memoize(Value v, ArrayRef<Index> index, Value mask, const Elem &elem) {
  shared->byValue[v].push_back(shared->log.size());
  shared->log.push_back({v, lanes, SmallVector<Index>(index), mask, elem});
}

static void dropMemo(EmitterShared &shared, size_t mark) {
  while (shared.log.size() > mark) {
    shared.byValue[shared.log.back().value].pop_back();
    shared.log.pop_back();
  }
}

void ElementEmitter::clearMemo() { dropMemo(*state->shared, 0); }

ElementEmitter::Scope::Scope(ElementEmitter &emitter)
    : emitter(emitter), mark(emitter.state->shared->log.size()) {}

ElementEmitter::Scope::~Scope() { dropMemo(*emitter.state->shared, mark); }

void ElementEmitter::bind(Value v, const Elem &elem) {
  state->shared->bound[v] = elem;
  if (!isa<VectorType>(elem.re.getType())) {
    return;
  }
  SmallVector<Value> work{v};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!state->shared->vectorOnly.insert(next).second) {
      continue;
    }
    for (Operation *user : next.getUsers()) {
      work.append(user->result_begin(), user->result_end());
    }
  }
}

void ElementEmitter::materialize(Value v, Value base, ArrayRef<int64_t> strides, bool asStored) {
  state->shared->memory[v] = {base, SmallVector<int64_t>(strides), asStored};
}

Elem ElementEmitter::emit(Value v, ArrayRef<Index> index, Value mask) {
  Impl &impl = *state;
  auto bound = impl.shared->bound.find(v);
  if (bound != impl.shared->bound.end()) {
    const Elem &elem = bound->second;
    return lanesOf(elem.re) == impl.lanes ? elem : splat(impl.e(), elem, impl.lanes);
  }
  for (unsigned position : llvm::reverse(impl.shared->byValue[v])) {
    const MemoEntry &entry = impl.shared->log[position];
    if (entry.lanes == impl.lanes && entry.mask == mask && sameIndex(entry.index, index)) {
      return entry.elem;
    }
  }
  Elem result;
  bool uniform = impl.lanes > 1 && !impl.shared->vectorOnly.contains(v) &&
                 llvm::all_of(index, [](const Index &i) { return i.isUniform(); });
  if (uniform) {
    Elem scalar = impl.scalar->emit(v, index, mask ? anyLane(impl.e(), mask) : Value());
    result = scalar ? splat(impl.e(), scalar, impl.lanes) : Elem();
  } else {
    result = impl.compute(v, index, mask);
  }
  if (!result) {
    // The error has been reported; continue with zeros.
    result = zeroElem(impl.e(), elementType(v.getType()), impl.lanes);
  }
  impl.memoize(v, index, mask, result);
  return result;
}

Elem ElementEmitter::Impl::load(Type element, Value base, const Index &linear, Value mask,
                                int64_t elements) {
  if (elements == 0) {
    return zeroElem(e(), element, lanes);
  }
  if (!linear.lanes && (lanes == 1 || linear.stride == 0)) {
    Value at = linear.base;
    if (mask) {
      // If the element is not wanted, read another valid one.
      at = e().b.createOrFold<arith::SelectOp>(e().loc, anyLane(e(), mask), at, constI64(e(), 0));
    }
    Elem scalar = loadElements(e(), element, base, at, 1);
    return lanes == 1 ? scalar : splat(e(), scalar, lanes);
  }
  if (!linear.lanes && linear.stride == 1) {
    return loadElements(e(), element, base, linear.base, lanes, mask);
  }
  if (!linear.lanes && linear.stride == -1 && !mask) {
    Elem forward = loadElements(e(), element, base, addI(e(), linear.base, 1 - lanes), lanes);
    SmallVector<int64_t> order(lanes);
    for (int64_t l = 0; l < lanes; ++l) {
      order[l] = lanes - 1 - l;
    }
    auto flip = [&](Value v) -> Value {
      return v ? vector::ShuffleOp::create(e().b, e().loc, v, v, order).getResult() : v;
    };
    forward.re = flip(forward.re);
    forward.im = flip(forward.im);
    return forward;
  }
  SmallVector<int64_t> offsets = knownOffsets(linear, lanes);
  if (!offsets.empty()) {
    if (Elem elem = loadNear(e(), element, base, linear.base, offsets, mask)) {
      return elem;
    }
  }
  auto gathered = [&] {
    return gatherElements(e(), element, base, laneIndices(e(), linear, lanes), mask);
  };
  int64_t least = offsets.empty() ? 0 : *llvm::min_element(offsets);
  int64_t span = offsets.empty() ? 0 : *llvm::max_element(offsets) - least + 1;
  if (!mask || offsets.empty() || span > elements || !isNear(element, offsets)) {
    return gathered();
  }
  // Masked-off lanes mostly have valid addresses, beyond the end of a row: near lanes are loaded
  // there too.
  Value first = addI(e(), linear.base, least);
  Value exist = compareI(e(), arith::CmpIPredicate::ult, first, elements - span + 1);
  Elem zero = zeroElem(e(), element, lanes);
  auto branch =
      scf::IfOp::create(e().b, e().loc, ValueRange(flattenElems(zero)).getTypes(), exist, true);
  OpBuilder::InsertionGuard guard(e().b);
  e().b.setInsertionPointToStart(branch.thenBlock());
  Elem near = loadNear(e(), element, base, linear.base, offsets);
  scf::YieldOp::create(e().b, e().loc, flattenElems(selectElem(e(), mask, near, zero)));
  e().b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(e().b, e().loc, flattenElems(gathered()));
  return unflattenElems(branch.getResults(), zero)[0];
}

/// The column that the index selects in an array of short rows, with one row per lane; nothing if
/// it is another access.
std::optional<int64_t> ElementEmitter::Impl::columnOfRows(ArrayRef<int64_t> shape,
                                                          ArrayRef<Index> index) {
  size_t rank = shape.size();
  if (lanes == 1 || rank < 2 || shared->linear || shape.back() < 2 ||
      shape.back() > kMostSplitColumns || !index.back().isUniform() || index[rank - 2].lanes ||
      index[rank - 2].stride != 1 ||
      !llvm::all_of(index.drop_back(2), [](const Index &i) { return i.isUniform(); })) {
    return std::nullopt;
  }
  return constantOf(index.back().base);
}

Elem ElementEmitter::Impl::operandElement(BlockArgument argument, ArrayRef<Index> index,
                                          Value mask) {
  auto type = cast<RankedTensorType>(argument.getType());
  if (std::optional<int64_t> c = columnOfRows(type.getShape(), index)) {
    SmallVector<int64_t> strides = rowMajorStrides(type.getShape().drop_back());
    Index row = linearIndex(e(), index.drop_back(), strides, lanes);
    return loadColumn(e(), type.getElementType(), kernel.operandPtrs[argument.getArgNumber()],
                      row.base, type.getShape().back(), *c, lanes, mask);
  }
  Index linear = shared->linear && type.getRank() > 0
                     ? index[0]
                     : linearIndex(e(), index, rowMajorStrides(type.getShape()), lanes);
  return load(type.getElementType(), kernel.operandPtrs[argument.getArgNumber()], linear, mask,
              type.getNumElements());
}

Elem ElementEmitter::Impl::compute(Value v, ArrayRef<Index> index, Value mask) {
  auto memory = shared->memory.find(v);
  if (memory != shared->memory.end()) {
    Type element = elementType(v.getType());
    Type stored = memory->second.asStored ? element : computeType(element);
    Index linear = linearIndex(e(), index, memory->second.strides, lanes);
    return load(stored, memory->second.base, linear, mask, 1);
  }
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    return operandElement(argument, index, mask);
  }
  Operation *op = v.getDefiningOp();
  if (auto bitcast = dyn_cast<BitcastConvertOp>(op); bitcast && !isElementwise(op)) {
    return bitcastConvert(bitcast, index, mask);
  }
  if (isElementwise(op)) {
    if (index.empty() && !mask) {
      if (Elem elem = functionInGroup(op)) {
        return elem;
      }
    }
    if (std::optional<Quantization> quantization = quantizationOf(op)) {
      return emitQuantize(e(), *quantization, self->emit(quantization->input, index, mask));
    }
    if (Value x = complementOfErfAt(op)) {
      return emitComplementOfErf(e(), self->emit(x, index, mask));
    }
    SmallVector<Elem> operands;
    auto resultRank = cast<RankedTensorType>(v.getType()).getRank();
    for (Value operand : op->getOperands()) {
      // True for scalar predicates and bounds of select and clamp.
      bool scalarOperand = cast<RankedTensorType>(operand.getType()).getRank() == 0 && resultRank;
      operands.push_back(self->emit(operand, scalarOperand ? ArrayRef<Index>() : index, mask));
    }
    return emitElementwise(e(), op, operands);
  }
  return llvm::TypeSwitch<Operation *, Elem>(op)
      .Case([&](ConstantOp constant) -> Elem {
        auto literal = dyn_cast<DenseElementsAttr>(constant.getValue());
        if (!literal || (!literal.isSplat() && literal.getNumElements() != 1)) {
          op->emitOpError("inside a kernel must be a splat");
          return {};
        }
        return splat(e(), literalElement(e(), literal, 0), lanes);
      })
      .Case([&](BroadcastOp broadcast) {
        SmallVector<Index> source;
        for (int64_t d : broadcast.getDimensions()) {
          source.push_back(index[d]);
        }
        return self->emit(broadcast.getOperand(), source, mask);
      })
      .Case([&](CopyOp copy) { return self->emit(copy.getOperand(), index, mask); })
      .Case<ReshapeOp, BitcastOp>([&](auto reshapeOp) {
        if (shared->linear) {
          return self->emit(reshapeOp.getOperand(), index, mask);
        }
        return reshape(reshapeOp.getOperand(), cast<RankedTensorType>(v.getType()).getShape(),
                       index, mask);
      })
      .Case([&](TransposeOp transpose) {
        SmallVector<Index> source(index.size());
        for (auto [i, d] : llvm::enumerate(transpose.getDimensions())) {
          source[d] = index[i];
        }
        return self->emit(transpose.getOperand(), source, mask);
      })
      .Case([&](SliceOp slice) {
        SmallVector<Index> source;
        for (auto [i, start, stride] :
             llvm::zip(index, slice.getStartIndices(), slice.getStrides())) {
          source.push_back(addIndex(e(), mulIndex(e(), i, stride), start));
        }
        return self->emit(slice.getOperand(), source, mask);
      })
      .Case([&](ReverseOp reverse) {
        SmallVector<Index> source(index);
        auto shape = cast<RankedTensorType>(v.getType()).getShape();
        for (int64_t d : reverse.getDimensions()) {
          source[d] = addIndex(e(), mulIndex(e(), index[d], -1), shape[d] - 1);
        }
        return self->emit(reverse.getOperand(), source, mask);
      })
      .Case([&](IotaOp op) { return iota(op, index); })
      .Case([&](PadOp op) { return pad(op, index, mask); })
      .Case([&](ConcatenateOp op) { return concatenate(op, index, mask); })
      .Case([&](DynamicSliceOp op) { return dynamicSlice(op, index, mask); })
      .Case([&](DynamicUpdateSliceOp op) { return dynamicUpdateSlice(op, index, mask); })
      .Case([&](GatherOp op) { return gather(op, index, mask); })
      .Case([&](ReduceOp) { return reduce(cast<OpResult>(v), index, mask); })
      .Case([&](ReduceWindowOp) { return reduceWindow(cast<OpResult>(v), index, mask); })
      .Case([&](MapOp op) { return map(op, cast<OpResult>(v).getResultNumber(), index, mask); })
      .Case([&](DotOp op) { return smallDot(op, index, mask); })
      .Default([&](Operation *op) {
        op->emitOpError("cannot be computed inside a fused loop");
        return Elem();
      });
}

SmallVector<Value> flattenElems(ArrayRef<Elem> elems) {
  SmallVector<Value> values;
  for (const Elem &elem : elems) {
    values.push_back(elem.re);
    if (elem.im) {
      values.push_back(elem.im);
    }
  }
  return values;
}

SmallVector<Elem> unflattenElems(ValueRange values, ArrayRef<Elem> like) {
  SmallVector<Elem> elems;
  unsigned next = 0;
  for (const Elem &elem : like) {
    Elem part(values[next++]);
    if (elem.im) {
      part.im = values[next++];
    }
    elems.push_back(part);
  }
  return elems;
}

} // namespace hlo::codegen
