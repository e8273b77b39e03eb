//===- ShapeEmitters.cpp - Elements of ops that move data -----------------===//
//
// In: the index of an element of the result. Out: the element, read through the operand that it
// comes from. If that depends on the index (pad, concatenate), a uniform index takes a branch and a
// lane index a mask.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/EmitterImpl.h"
#include "dialect/hlo/Shapes.h"

using namespace mlir;

namespace hlo::codegen {

/// Tests lanes at known distances from a base in integers of their own width: 64 byte lanes in one
/// vector instead of eight. Returns nothing if the numbers do not fit, or the answer is known
/// statically.
static Value nearInRange(Emission &e, const Index &index, int64_t lo, int64_t hi, int64_t lanes) {
  SmallVector<int64_t> offsets = knownOffsets(index, lanes);
  if (lanes * 2 < e.machine.lanes(1) || offsets.empty() || constantOf(index.base) || hi <= lo) {
    return {};
  }
  auto [least, most] = std::minmax_element(offsets.begin(), offsets.end());
  int64_t size = hi - lo, span = *most - *least;
  // All sums below are distinct modulo 2^bits.
  int64_t bits = std::max<int64_t>(8, e.machine.lanes(1) * 8 / lanes);
  while (bits < 64 && size + span >= (int64_t(1) << bits)) {
    bits *= 2;
  }
  if (bits >= 64) {
    return {};
  }
  // The least lane relative to `lo`, clamped: far outside is equivalent to just outside.
  Value first = minI(e, maxI(e, addI(e, index.base, *least - lo), -span - 1), size);
  IntegerType narrow = e.b.getIntegerType(static_cast<unsigned>(bits));
  auto type = VectorType::get(lanes, narrow);
  auto distances = llvm::map_to_vector(offsets, [&](int64_t offset) {
    return APInt(static_cast<unsigned>(bits), static_cast<uint64_t>(offset - *least));
  });
  Value at = vector::BroadcastOp::create(e.b, e.loc, type,
                                         arith::TruncIOp::create(e.b, e.loc, narrow, first));
  at = arith::AddIOp::create(
      e.b, e.loc, at,
      arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, distances)));
  APInt bound(static_cast<unsigned>(bits), static_cast<uint64_t>(size));
  Value limit = arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, bound));
  return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, at, limit);
}

Value indexInRange(Emission &e, const Index &index, int64_t lo, int64_t hi, int64_t lanes) {
  using P = arith::CmpIPredicate;
  if (Value near = index.isUniform() ? Value() : nearInRange(e, index, lo, hi, lanes)) {
    return near;
  }
  Value v = index.isUniform() ? index.base : laneIndices(e, index, lanes);
  if (lo == 0) {
    // One unsigned comparison covers both bounds.
    return compareI(e, P::ult, v, hi);
  }
  return compareI(e, P::ult, addI(e, v, -lo), hi - lo);
}

static std::optional<bool> constantBit(Value condition) {
  if (!condition) {
    return true;
  }
  Attribute value;
  if (!matchPattern(condition, m_Constant(&value))) {
    return std::nullopt;
  }
  if (auto bit = dyn_cast<IntegerAttr>(value)) {
    return !bit.getValue().isZero();
  }
  auto bits = dyn_cast<DenseElementsAttr>(value);
  if (bits && bits.isSplat()) {
    return !bits.getSplatValue<APInt>().isZero();
  }
  return std::nullopt;
}

Elem ElementEmitter::Impl::guarded(Value condition, Value mask, Type element,
                                   function_ref<Elem(Value)> then, const Elem &otherwise) {
  if (std::optional<bool> known = constantBit(condition)) {
    return *known ? then(mask) : otherwise;
  }
  bool perLane = isa<VectorType>(condition.getType());
  Value inner = perLane ? andMask(e(), condition, mask) : mask;
  if (perLane && matchPattern(condition, m_Constant())) {
    return selectElem(e(), condition, then(inner), otherwise); // some lanes are always on
  }
  Value any = perLane ? anyLane(e(), inner) : condition;
  SmallVector<Value> rest = flattenElems(otherwise);
  SmallVector<Type> types(ValueRange(rest).getTypes());
  auto branch = scf::IfOp::create(e().b, e().loc, types, any, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(e().b);
    ElementEmitter::Scope scope(*self);
    e().b.setInsertionPointToStart(branch.thenBlock());
    Elem value = then(inner);
    if (perLane) {
      value = selectElem(e(), condition, value, otherwise);
    }
    scf::YieldOp::create(e().b, e().loc, flattenElems(value));
    e().b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(e().b, e().loc, rest);
  }
  return unflattenElems(branch.getResults(), otherwise)[0];
}

/// Groups of dimensions of two shapes with equal products, e.g. [2,3,4] and [6,4]: {0,1 | 0}, {2 |
/// 1}.
struct ReshapeGroup {
  SmallVector<int64_t> from, to;
};

static SmallVector<ReshapeGroup> groupDims(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<ReshapeGroup> groups;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    ReshapeGroup group;
    int64_t a = 1, b = 1;
    while ((i < from.size() || j < to.size()) &&
           (a != b || (group.from.empty() && group.to.empty()) || a == 1)) {
      if (j >= to.size() || (i < from.size() && a <= b)) {
        a *= from[i];
        group.from.push_back(i++);
      } else {
        b *= to[j];
        group.to.push_back(j++);
      }
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

Elem ElementEmitter::Impl::reshape(Value operand, ArrayRef<int64_t> toShape, ArrayRef<Index> index,
                                   Value mask) {
  ArrayRef<int64_t> fromShape = shapeOf(operand);
  SmallVector<Index> source(fromShape.size(), Index(constI64(e(), 0)));
  for (const ReshapeGroup &group : groupDims(fromShape, toShape)) {
    SmallVector<int64_t> from, to;
    llvm::copy_if(group.from, std::back_inserter(from),
                  [&](int64_t d) { return fromShape[d] != 1; });
    llvm::copy_if(group.to, std::back_inserter(to), [&](int64_t d) { return toShape[d] != 1; });
    if (from.empty()) {
      continue;
    }
    Index linear(constI64(e(), 0));
    int64_t stride = 1;
    for (int64_t d : llvm::reverse(to)) {
      Index term = mulIndex(e(), index[d], stride);
      linear = stride == 1 ? term : addIndex(e(), term, linear, lanes);
      stride *= toShape[d];
    }
    if (auto packed = operand.getDefiningOp<BitcastConvertOp>();
        packed && !mask && from.size() == 2) {
      if (std::optional<Elem> run = unpackRun(packed, linear)) {
        return *run;
      }
    }
    for (size_t i = from.size(); i-- > 1;) {
      auto [quotient, remainder] = divRemIndex(e(), linear, fromShape[from[i]], lanes);
      source[from[i]] = remainder;
      linear = quotient;
    }
    source[from[0]] = linear;
  }
  return self->emit(operand, source, mask);
}

/// Consecutive elements of an array of bytes that hold several each: the bytes are loaded in lanes,
/// once each.
std::optional<Elem> ElementEmitter::Impl::unpackRun(BitcastConvertOp op, const Index &first) {
  auto argument = dyn_cast<BlockArgument>(op.getOperand());
  Type from = elementType(op.getOperand().getType()), to = elementType(op.getType());
  auto whole = dyn_cast<IntegerType>(from), part = dyn_cast<IntegerType>(to);
  if (!argument || !whole || !part || shapeOf(op.getOperand()).size() != 1 || shared->linear ||
      shared->memory.contains(argument) || part.getWidth() >= whole.getWidth()) {
    return std::nullopt;
  }
  int64_t ratio = whole.getWidth() / part.getWidth();
  if (first.lanes || first.stride != 1 || lanes % ratio != 0 || !first.known.isMultipleOf(ratio)) {
    return std::nullopt;
  }
  ElementEmitter fewer(kernel, lanes / ratio);
  Index at(divI(e(), first.base, ratio), lanes > ratio ? 1 : 0,
           Congruence(first.known.modulus / ratio, first.known.rest / ratio));
  Value bits = fewer.emit(argument, {at}).re;
  Type i32 = e().b.getI32Type();
  if (!isa<VectorType>(bits.getType())) {
    bits = vector::BroadcastOp::create(e().b, e().loc, VectorType::get({1}, bits.getType()), bits);
  }
  SmallVector<int64_t> places;
  SmallVector<int32_t> shifts;
  for (int64_t l = 0; l < lanes; ++l) {
    places.push_back(l / ratio);
    shifts.push_back(static_cast<int32_t>(l % ratio * part.getWidth()));
  }
  Value each = vector::ShuffleOp::create(e().b, e().loc, bits, bits, places);
  auto words = VectorType::get({lanes}, i32);
  Value wide = arith::ExtUIOp::create(e().b, e().loc, words, each);
  Value amount = arith::ConstantOp::create(
      e().b, e().loc, DenseElementsAttr::get(words, ArrayRef<int32_t>(shifts)));
  Value shifted = arith::ShRUIOp::create(e().b, e().loc, wide, amount);
  Value narrow = arith::TruncIOp::create(
      e().b, e().loc, VectorType::get({lanes}, e().b.getIntegerType(part.getWidth())), shifted);
  Type bitsType = IntegerType::get(op.getContext(), part.getWidth(), IntegerType::Unsigned);
  return emitNamed(e(), "bitcast_convert", bitsType, to, {Elem(narrow)});
}

Elem ElementEmitter::Impl::iota(IotaOp op, ArrayRef<Index> index) {
  uint64_t dimension = op.getIotaDimension();
  Type element = elementType(op.getType());
  Value value = laneIndices(e(), index[dimension], lanes);
  unsigned width = 64;
  // Machines that convert vectors of 32 bits to floats may not convert those of 64. Lanes that are
  // off may be past the end.
  constexpr int64_t mostIn32Bits = INT64_C(1) << 30;
  if (shapeOf(op.getResult())[dimension] <= mostIn32Bits) {
    width = 32;
    value = arith::TruncIOp::create(e().b, e().loc, laneType(e().b.getI32Type(), lanesOf(value)),
                                    value);
  }
  return emitConvert(e(), IntegerType::get(op.getContext(), width, IntegerType::Signed), element,
                     Elem(value));
}

Elem ElementEmitter::Impl::pad(PadOp op, ArrayRef<Index> index, Value mask) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  Elem padding = self->emit(op.getPaddingValue(), {});
  auto entered = shared->part.find(op);
  bool isInPart = entered != shared->part.end();
  if (isInPart && entered->second != 1) {
    return padding;
  }
  SmallVector<Index> source;
  Value scalarCondition, laneCondition;
  auto require = [&](Value condition) {
    if (constantBit(condition) == true) {
      return;
    }
    Value &slot = isa<VectorType>(condition.getType()) ? laneCondition : scalarCondition;
    slot = andMask(e(), slot, condition);
  };
  for (auto [d, i] : llvm::enumerate(index)) {
    int64_t low = op.getPaddingLow()[d], high = op.getPaddingHigh()[d];
    int64_t interior = op.getPaddingInterior()[d];
    if (low == 0 && high == 0 && interior == 0) {
      source.push_back(i);
      continue;
    }
    Index shifted = addIndex(e(), i, -low);
    int64_t step = interior + 1;
    bool isInside = (low <= 0 && high <= 0 && shape[d] > 0 && i.known.isKnownModulo(step)) ||
                    (isInPart && d == shared->partDimension);
    if (!isInside) {
      require(indexInRange(e(), shifted, 0, shape[d] == 0 ? 0 : (shape[d] - 1) * step + 1, lanes));
    }
    if (step == 1) {
      source.push_back(shifted);
      continue;
    }
    // Adds a multiple of the step so that no index is negative; lanes at multiples of the step stay
    // known.
    int64_t before = low > 0 ? llvm::divideCeil(low, step) : 0;
    auto [q, r] = divRemIndex(e(), addIndex(e(), i, before * step - low), step, lanes);
    q = addIndex(e(), q, -before);
    require(indexInRange(e(), r, 0, 1, lanes));
    source.push_back(q);
  }
  Type element = elementType(op.getType());
  return guarded(
      scalarCondition, mask, element,
      [&](Value outer) {
        return guarded(
            laneCondition, outer, element,
            [&](Value inner) { return self->emit(op.getOperand(), source, inner); }, padding);
      },
      padding);
}

Elem ElementEmitter::Impl::concatenate(ConcatenateOp op, ArrayRef<Index> index, Value mask) {
  int64_t dimension = op.getDimension();
  if (auto entered = shared->part.find(op); entered != shared->part.end()) {
    int64_t before = 0;
    for (Value operand : op.getInputs().take_front(entered->second)) {
      before += shapeOf(operand)[dimension];
    }
    SmallVector<Index> source(index);
    source[dimension] = addIndex(e(), index[dimension], -before);
    return self->emit(op.getInputs()[entered->second], source, mask);
  }
  Type element = elementType(op.getType());
  SmallVector<std::pair<Value, int64_t>> parts; // operand, offset
  int64_t offset = 0;
  for (Value operand : op.getInputs()) {
    int64_t size = shapeOf(operand)[dimension];
    if (size > 0) {
      parts.push_back({operand, offset});
    }
    offset += size;
  }
  if (parts.empty()) {
    return zeroElem(e(), element, lanes);
  }
  const Index &along = index[dimension];
  // If each lane is known, lanes outside of a part take its nearest element: they need no mask, and
  // a part of one column is equal in all lanes.
  ArrayRef<int64_t> known = along.offsets;
  bool clamps = !known.empty() && constantOf(along.base);
  auto part = [&](size_t n, Value m) {
    SmallVector<Index> source(index);
    source[dimension] = addIndex(e(), along, -parts[n].second);
    if (clamps) {
      SmallVector<int64_t> inside{known};
      for (int64_t &offset : inside) {
        int64_t last = shapeOf(parts[n].first)[dimension] - 1;
        offset = std::clamp<int64_t>(*constantOf(along.base) + offset - parts[n].second, 0, last);
      }
      source[dimension] = patternIndex(e(), constI64(e(), 0), inside);
      m = mask;
    }
    return self->emit(parts[n].first, source, m);
  };
  if (along.isUniform()) {
    // A chain of branches: the first part whose end is beyond the index.
    std::function<Elem(size_t)> chain = [&](size_t n) -> Elem {
      if (n + 1 == parts.size()) {
        return part(n, mask);
      }
      Value inside = compareI(e(), arith::CmpIPredicate::slt, along.base, parts[n + 1].second);
      if (std::optional<bool> known = constantBit(inside)) {
        return *known ? part(n, mask) : chain(n + 1);
      }
      Elem like = zeroElem(e(), element, lanes);
      SmallVector<Value> flat = flattenElems(like);
      auto branch = scf::IfOp::create(e().b, e().loc, ValueRange(flat).getTypes(), inside, true);
      OpBuilder::InsertionGuard guard(e().b);
      e().b.setInsertionPointToStart(branch.thenBlock());
      {
        ElementEmitter::Scope scope(*self);
        scf::YieldOp::create(e().b, e().loc, flattenElems(part(n, mask)));
      }
      e().b.setInsertionPointToStart(branch.elseBlock());
      {
        ElementEmitter::Scope scope(*self);
        scf::YieldOp::create(e().b, e().loc, flattenElems(chain(n + 1)));
      }
      return unflattenElems(branch.getResults(), like)[0];
    };
    return chain(0);
  }
  Elem result = zeroElem(e(), element, lanes);
  for (size_t n = 0; n < parts.size(); ++n) {
    int64_t lo = parts[n].second, hi = lo + shapeOf(parts[n].first)[dimension];
    Value inside = indexInRange(e(), along, lo, hi, lanes);
    result = guarded(inside, mask, element, [&](Value inner) { return part(n, inner); }, result);
  }
  return result;
}

/// c128 as two c64, or the reverse. As with integers of different widths, the low bits come first
/// in memory: one part of the wide number is the real and the imaginary part of one narrow number.
Elem ElementEmitter::Impl::bitcastComplex(BitcastConvertOp op, ArrayRef<Index> index, Value mask) {
  OpBuilder &b = e().b;
  Location loc = e().loc;
  Type word = laneType(b.getI64Type(), lanes), half = laneType(b.getI32Type(), lanes);
  auto constant = [&](int64_t value) -> Value {
    TypedAttr attr = b.getI64IntegerAttr(value);
    if (auto vector = dyn_cast<VectorType>(word)) {
      attr = DenseElementsAttr::get(vector, cast<Attribute>(attr));
    }
    return arith::ConstantOp::create(b, loc, attr);
  };
  auto cast = [&](Type element, Value value) {
    return b.createOrFold<arith::BitcastOp>(loc, laneType(element, lanes), value);
  };
  if (bitcastBits(elementType(op.getOperand().getType())) >
      bitcastBits(elementType(op.getType()))) {
    Elem whole = self->emit(op.getOperand(), index.drop_back(), mask);
    Value which = laneIndices(e(), index.back(), lanes);
    Value isReal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, which, constant(0));
    Value part = arith::SelectOp::create(b, loc, isReal, whole.re, whole.im);
    Value bits = cast(b.getI64Type(), part);
    Value high = b.createOrFold<arith::ShRUIOp>(loc, bits, constant(32));
    auto narrow = [&](Value value) {
      return cast(b.getF32Type(), b.createOrFold<arith::TruncIOp>(loc, half, value));
    };
    return Elem(narrow(bits), narrow(high));
  }
  Value parts[2];
  for (int64_t k = 0; k < 2; ++k) {
    SmallVector<Index> source(index);
    source.push_back(Index(constI64(e(), k)));
    Elem narrow = self->emit(op.getOperand(), source, mask);
    auto widen = [&](Value value) {
      return b.createOrFold<arith::ExtUIOp>(loc, word, cast(b.getI32Type(), value));
    };
    Value low = widen(narrow.re), high = widen(narrow.im);
    high = b.createOrFold<arith::ShLIOp>(loc, high, constant(32));
    parts[k] = cast(b.getF64Type(), b.createOrFold<arith::OrIOp>(loc, low, high));
  }
  return Elem(parts[0], parts[1]);
}

Elem ElementEmitter::Impl::bitcastConvert(BitcastConvertOp op, ArrayRef<Index> index, Value mask) {
  Type from = elementType(op.getOperand().getType()), to = elementType(op.getType());
  if (isa<ComplexType>(from)) {
    return bitcastComplex(op, index, mask);
  }
  auto bitsOf = [&](Type t) { return static_cast<unsigned>(bitcastBits(t)); };
  unsigned fromBits = bitsOf(from), toBits = bitsOf(to);
  MLIRContext *context = op.getContext();
  auto unsignedType = [&](unsigned bits) {
    return IntegerType::get(context, bits, IntegerType::Unsigned);
  };
  auto asBits = [&](Type t, Elem value) {
    return emitNamed(e(), "bitcast_convert", t, unsignedType(bitsOf(t)), {value}).re;
  };
  if (fromBits > toBits) {
    // One operand element holds several results; the last index selects one, lowest bits first.
    Elem whole = self->emit(op.getOperand(), index.drop_back(), mask);
    Value bits = asBits(from, whole);
    Value which = laneIndices(e(), index.back(), lanes);
    Value shift = mulI(e(), which, toBits);
    Type width = bits.getType();
    unsigned shiftBits = getElementTypeOrSelf(width).getIntOrFloatBitWidth();
    Value amount = shift;
    if (shiftBits < 64) {
      amount = e().b.createOrFold<arith::TruncIOp>(e().loc, width, shift);
    }
    Value part = e().b.createOrFold<arith::ShRUIOp>(e().loc, bits, amount);
    Type narrow = laneType(e().b.getIntegerType(toBits), lanes);
    part = e().b.createOrFold<arith::TruncIOp>(e().loc, narrow, part);
    return emitNamed(e(), "bitcast_convert", unsignedType(toBits), to, {Elem(part)});
  }
  int64_t ratio = toBits / fromBits;
  Type wide = laneType(e().b.getIntegerType(toBits), lanes);
  Value sum;
  for (int64_t k = 0; k < ratio; ++k) {
    SmallVector<Index> source(index);
    source.push_back(Index(constI64(e(), k)));
    Value bits = asBits(from, self->emit(op.getOperand(), source, mask));
    Value part = e().b.createOrFold<arith::ExtUIOp>(e().loc, wide, bits);
    if (k == 0) {
      sum = part;
      continue;
    }
    Value amount = arith::ConstantOp::create(
        e().b, e().loc,
        isa<VectorType>(wide) ? cast<TypedAttr>(DenseElementsAttr::get(
                                    cast<VectorType>(wide),
                                    e().b.getIntegerAttr(getElementTypeOrSelf(wide), k * fromBits)))
                              : cast<TypedAttr>(e().b.getIntegerAttr(wide, k * fromBits)));
    part = e().b.createOrFold<arith::ShLIOp>(e().loc, part, amount);
    sum = e().b.createOrFold<arith::OrIOp>(e().loc, sum, part);
  }
  return emitNamed(e(), "bitcast_convert", unsignedType(toBits), to, {Elem(sum)});
}

Elem ElementEmitter::Impl::map(MapOp op, unsigned resultNumber, ArrayRef<Index> index, Value mask) {
  SmallVector<Elem> arguments;
  for (Value operand : op.getInputs()) {
    arguments.push_back(self->emit(operand, index, mask));
  }
  SmallVector<Elem> results = inlineComputation(e(), kernel.lookup(op.getToApplyAttr()), arguments);
  for (auto [n, elem] : llvm::enumerate(results)) {
    if (n != resultNumber) {
      memoize(op->getResult(n), index, mask, elem);
    }
  }
  return resultNumber < results.size() ? results[resultNumber] : Elem();
}

} // namespace hlo::codegen
