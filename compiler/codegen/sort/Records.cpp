//===- Records.cpp - Elements of a sort <-> records -----------------------===//
//
// In: positions in the operands. Out: records, unsigned integers with the order of the comparator
// (SortPlan.h); and back, from sorted records to the results.
//
//   unsigned    x                       signed        x ^ sign bit
//   floats      x < 0 ? ~x : x ^ sign bit             descending   ~key
//
// An element that is its own key is reconstructed from the key; others are fetched by the position
// in the record.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/EmitterImpl.h"
#include "compiler/codegen/sort/SortEmission.h"

using namespace mlir;

namespace hlo::codegen {

static Type unsignedOf(Emission &e, int64_t bits) {
  return IntegerType::get(e.b.getContext(), bits, IntegerType::Unsigned);
}

static Type memoryBitsOf(Emission &e, Type element) {
  return unsignedOf(e, 8 * storageBytes(element));
}

SortEmission::SortEmission(KernelBuilder &kernel, const SortPlan &plan, ValueRange inputs,
                           ComputationOp comparator)
    : kernel(kernel), e(kernel.e), plan(plan), inputs(inputs), comparator(comparator) {
  for (Value result : kernel.root()->getResults()) {
    auto roots = kernel.body().getTerminator()->getOperands();
    auto found = llvm::find(roots, result);
    results.push_back(found == roots.end() ? Value() : kernel.resultPtrs[found - roots.begin()]);
  }
  // Lanes of a vector of the widest type that is computed with along a row.
  int64_t widest = 1;
  for (const SortPlan::Word &word : plan.words) {
    widest = std::max<int64_t>(widest, word.bits / 8);
  }
  for (const SortKey &key : plan.keys) {
    bool raw = key.operand >= 0 && key.constants.empty();
    Type part = computeType(key.element);
    widest =
        std::max<int64_t>(widest, raw ? key.bits() / 8 : (part.getIntOrFloatBitWidth() + 7) / 8);
  }
  vectorLanes = std::max<int64_t>(1, e.machine.lanes(widest));
}

ElementEmitter &SortEmission::emitterOf(int64_t lanes) {
  auto &emitter = emitters[lanes];
  if (!emitter) {
    emitter = std::make_unique<ElementEmitter>(kernel, lanes);
  }
  return *emitter;
}

Type SortEmission::wordType(size_t w, int64_t lanes) {
  return laneType(e.b.getIntegerType(plan.words[w].bits), lanes);
}

Num loadWords(Emission &e, Type word, Value base, const Index &index, int64_t lanes, Value mask) {
  Type element = unsignedOf(e, word.getIntOrFloatBitWidth());
  bool contiguous = !index.lanes && (lanes == 1 || index.stride == 1);
  if (!index.lanes && lanes > 1 && index.stride == 0) {
    return Num(e, splat(e, loadElements(e, element, base, index.base, 1), lanes).re);
  }
  return Num(e, contiguous
                    ? loadElements(e, element, base, index.base, lanes, mask).re
                    : gatherElements(e, element, base, laneIndices(e, index, lanes), mask).re);
}

void storeWords(Emission &e, Num value, Value base, const Index &index, Value mask) {
  Type word = value.scalar();
  int64_t lanes = value.lanes();
  if (!index.lanes && (lanes == 1 || index.stride == 1)) {
    storeElements(e, unsignedOf(e, value.width()), Elem(value), base, index.base, mask);
    return;
  }
  Value indices = laneIndices(e, index, lanes);
  Value pointers = LLVM::GEPOp::create(e.b, e.loc, laneType(base.getType(), lanes), word, base,
                                       ArrayRef<LLVM::GEPArg>{indices});
  if (!mask) {
    mask = arith::ConstantOp::create(
        e.b, e.loc, DenseElementsAttr::get(VectorType::get({lanes}, e.b.getI1Type()), true));
  }
  LLVM::masked_scatter::create(e.b, e.loc, value, pointers, mask,
                               e.b.getI32IntegerAttr(value.width() / 8));
}

Index SortEmission::linearOf(const RowPosition &at, int64_t length) {
  Index linear = addIndex(e, mulIndex(e, at.i, plan.inner), at.c, at.lanes);
  return addIndex(e, linear, Index(mulI(e, at.outer, length * plan.inner)), at.lanes);
}

SmallVector<Index> SortEmission::indexOf(const RowPosition &at) {
  // The operand's dimensions: `outer`'s, the sorted one, `inner`'s.
  ArrayRef<int64_t> shape = arrayType(inputs[0]).getShape();
  size_t dimension = 0;
  if (auto sort = dyn_cast<SortOp>(kernel.root())) {
    dimension = sort.getDimension();
  } else {
    dimension = shape.size() - 1;
  }
  SmallVector<Index> index;
  for (Value i : delinearize(e, at.outer, shape.take_front(dimension))) {
    index.push_back(Index(i));
  }
  index.push_back(at.i);
  SmallVector<Index> inner(shape.size() - dimension - 1);
  Index rest = at.c;
  for (size_t d = inner.size(); d-- > 0;) {
    if (d == 0) {
      inner[d] = rest;
      break;
    }
    auto [quotient, remainder] = divRemIndex(e, rest, shape[dimension + 1 + d], at.lanes);
    inner[d] = remainder;
    rest = quotient;
  }
  llvm::append_range(index, inner);
  return index;
}

Elem SortEmission::elementAt(unsigned operand, const RowPosition &at) {
  Value input = inputs[operand];
  if (auto argument = dyn_cast<BlockArgument>(input)) {
    Index linear = linearOf(at, plan.n);
    return emitterOf(at.lanes).impl().load(arrayType(input).getElementType(),
                                           kernel.operandPtrs[argument.getArgNumber()], linear,
                                           at.mask, arrayType(input).getNumElements());
  }
  ElementEmitter &emitter = emitterOf(at.lanes);
  ElementEmitter::Scope scope(emitter);
  return emitter.emit(input, indexOf(at), at.mask);
}

/// The bits in memory of an integer or float.
static Num rawOf(Emission &e, Type element, const Elem &value) {
  Type bits = memoryBitsOf(e, element);
  if (isa<FloatType>(element)) {
    return Num(e, emitNamed(e, "bitcast_convert", element, bits, value).re);
  }
  Num integer(e, value.re);
  return isUnsignedElement(element) ? zextTo(integer, computeType(bits))
                                    : sextTo(integer, computeType(bits));
}

Num SortEmission::rawAt(unsigned operand, const RowPosition &at) {
  Value input = inputs[operand];
  Type element = arrayType(input).getElementType();
  if (auto argument = dyn_cast<BlockArgument>(input)) {
    Type bits = computeType(memoryBitsOf(e, element));
    return loadWords(e, bits, kernel.operandPtrs[argument.getArgNumber()], linearOf(at, plan.n),
                     at.lanes, at.mask);
  }
  return rawOf(e, element, elementAt(operand, at));
}

/// Bits in memory -> unsigned integer with the same order.
static Num ordered(const SortKey &key, Num raw) {
  int64_t top = raw.width() - 1;
  Num sign = shl(raw.of(int64_t(1)), top);
  if (isa<FloatType>(key.element)) {
    if (!key.total) {
      raw = select(equal(shl(raw, 1), 0), 0, raw); // -0 equals 0
    }
    raw = raw ^ (shrS(raw, top) | sign);
  } else if (!isUnsignedElement(key.element)) {
    raw = raw ^ sign;
  }
  return key.descending ? raw ^ int64_t(-1) : raw;
}

Num SortEmission::orderedKey(const SortKey &key, const Elem &value) {
  return ordered(key, rawOf(e, key.element, value));
}

void SortEmission::storeRaw(const RowPosition &at, Num raw) {
  storeWords(e, raw, results[0], linearOf(at, plan.keep), at.mask);
}

Num SortEmission::rawOfKey(const SortKey &key, Num bits) {
  if (key.bits() < 8) {
    Num bit = key.descending ? logicalNot(bits) : bits;
    return zextTo(bit, e.b.getI8Type());
  }
  int64_t top = bits.width() - 1;
  Num sign = shl(bits.of(int64_t(1)), top);
  bits = key.descending ? bits ^ int64_t(-1) : bits;
  if (isa<FloatType>(key.element)) {
    return bits ^ ((shrS(bits, top) ^ int64_t(-1)) | sign);
  }
  return isUnsignedElement(key.element) ? bits : bits ^ sign;
}

namespace {
/// Evaluates values of a comparator's left side.
class KeyExpression {
public:
  KeyExpression(Emission &e, int64_t lanes, std::function<Elem(unsigned)> argument)
      : e(e), lanes(lanes), argument(std::move(argument)) {}

  Elem get(Value v) {
    if (auto found = known.find(v); found != known.end()) {
      return found->second;
    }
    Elem result;
    if (auto parameter = dyn_cast<BlockArgument>(v)) {
      result = argument(parameter.getArgNumber() / 2);
    } else if (auto constant = v.getDefiningOp<ConstantOp>()) {
      auto literal = cast<DenseElementsAttr>(constant.getValue());
      result = splat(e, literalElement(e, literal, 0), lanes);
    } else {
      SmallVector<Elem> operands;
      for (Value operand : v.getDefiningOp()->getOperands()) {
        operands.push_back(get(operand));
      }
      result = emitElementwise(e, v.getDefiningOp(), operands);
    }
    return known[v] = result;
  }

private:
  Emission &e;
  int64_t lanes;
  std::function<Elem(unsigned)> argument;
  DenseMap<Value, Elem> known;
};
} // namespace

Num SortEmission::keyAt(size_t k, const RowPosition &at) {
  const SortKey &key = plan.keys[k];
  Num raw;
  if (key.operand >= 0 && key.constants.empty()) {
    raw = rawAt(key.operand, at);
  } else {
    KeyExpression expression(e, at.lanes, [&](unsigned operand) { return elementAt(operand, at); });
    Elem value = expression.get(key.value);
    if (!value) {
      value = zeroElem(e, key.element, at.lanes); // the error has been reported
    }
    raw = rawOf(e, key.element, value);
  }
  if (key.bits() < 8) {
    Num bit = notEqual(raw, 0);
    return key.descending ? logicalNot(bit) : bit;
  }
  return ordered(key, raw);
}

SmallVector<Num> SortEmission::recordAt(const RowPosition &at) {
  SmallVector<Num> record(plan.words.size());
  auto put = [&](const SortPlan::Place &place, Num part) {
    Num shifted = shl(zextTo(part, wordType(place.word)), place.shift);
    Num &word = record[place.word];
    word = word.v ? word | shifted : shifted;
  };
  if (!plan.keysOnly) {
    Type type = wordType(plan.position.word);
    Num base = zextTo(Num(e, at.i.base), type);
    Num position(e, splat(e, Elem(base), at.lanes).re);
    if (at.lanes > 1 && at.i.stride != 0) {
      SmallVector<APInt> offsets;
      for (int64_t l = 0; l < at.lanes; ++l) {
        offsets.push_back(APInt(type.getIntOrFloatBitWidth(), l * at.i.stride));
      }
      auto vector = cast<ShapedType>(laneType(type, at.lanes));
      Value constant =
          arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(vector, offsets));
      position = position + Num(e, constant);
    }
    record[plan.position.word] = position;
  }
  for (size_t k = 0; k < plan.keys.size(); ++k) {
    put(plan.places[k], keyAt(k, at));
  }
  return record;
}

Num SortEmission::keyOfRecord(size_t k, ArrayRef<Num> record) {
  const SortPlan::Place &place = plan.places[k];
  Num word = shrU(record[place.word], place.shift);
  Type type = laneType(e.b.getIntegerType(plan.keys[k].bits()), word.lanes());
  return word.type() == type ? word : Num(e, e.b.createOrFold<arith::TruncIOp>(e.loc, type, word));
}

void SortEmission::storeResults(const RowPosition &at, ArrayRef<Num> record) {
  Index target = linearOf(at, plan.keep);
  RowPosition source = at;
  if (!plan.keysOnly) {
    Num word = record[plan.position.word];
    Num position = word & ((int64_t(1) << plan.positionBits) - 1);
    Value wide = zextTo(position, e.b.getI64Type());
    source.i = Index();
    (at.lanes == 1 ? source.i.base : source.i.lanes) = wide;
    if (positionElement) {
      storePosition(at, position);
    }
  }
  for (size_t n = 0; n < inputs.size(); ++n) {
    if (!results[n]) {
      continue;
    }
    Type element = arrayType(inputs[n]).getElementType();
    const SortKey *own = nullptr;
    size_t k = 0;
    for (; k < plan.keys.size() && !own; ++k) {
      bool same = plan.keys[k].operand == static_cast<int64_t>(n) &&
                  (plan.keysOnly || plan.keys[k].isInjective());
      own = same ? &plan.keys[k] : nullptr;
    }
    if (own) {
      storeWords(e, rawOfKey(*own, keyOfRecord(k - 1, record)), results[n], target, at.mask);
    } else if (isa<BlockArgument>(inputs[n]) && !isa<ComplexType>(element)) {
      storeWords(e, rawAt(n, source), results[n], target, at.mask);
    } else {
      // Lanes of a result are consecutive here, because complex elements have no scatter.
      storeElements(e, element, elementAt(n, source), results[n], target.base, at.mask);
    }
  }
}

void SortEmission::storePosition(const RowPosition &at, Value position) {
  Type type = computeType(positionElement);
  storeElements(e, positionElement, Elem(zextTo(Num(e, position), type)), results[inputs.size()],
                linearOf(at, plan.keep).base, at.mask);
}

static Index inBuffer(Emission &e, const RecordBuffer &buffer, const Index &i, const Index &row,
                      int64_t lanes) {
  return addIndex(e, mulIndex(e, i, buffer.iStride), mulIndex(e, row, buffer.rowStride), lanes);
}

SmallVector<Num> SortEmission::loadRecord(const RecordBuffer &buffer, const Index &i,
                                          const Index &row, int64_t lanes, Value mask) {
  SmallVector<Num> record;
  Index index = inBuffer(e, buffer, i, row, lanes);
  for (size_t w = 0; w < plan.words.size(); ++w) {
    record.push_back(loadWords(e, wordType(w), buffer.words[w], index, lanes, mask));
  }
  return record;
}

void SortEmission::storeRecord(const RecordBuffer &buffer, const Index &i, const Index &row,
                               ArrayRef<Num> record, Value mask) {
  if (record.empty()) {
    return;
  }
  Index index = inBuffer(e, buffer, i, row, record[0].lanes());
  for (size_t w = 0; w < plan.words.size(); ++w) {
    storeWords(e, record[w], buffer.words[w], index, mask);
  }
}

} // namespace hlo::codegen
