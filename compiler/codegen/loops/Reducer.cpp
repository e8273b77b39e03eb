//===- Reducer.cpp - The computation of a reduction, ready to be emitted --===//
//
// In: a `to_apply` computation. Recognizes a single associative op on the two parameters, which may
// be applied in any order: one accumulator per lane. The same holds for computations that are
// marked.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/Reducer.h"

#include "compiler/analysis/Reduction.h"
#include <numeric>

using namespace mlir;

namespace hlo::codegen {

Reducer::Reducer(ComputationOp computation, ArrayRef<Type> accumulatorElements)
    : computation(computation), elements(accumulatorElements),
      associative(elements.size() == 1 ? associativeOp(computation) : nullptr) {
  if (associative) {
    combineElement =
        isNarrowFloat(elements[0]) ? Float32Type::get(computation.getContext()) : elements[0];
    if (isa<ComplexType>(elements[0]) && !isa<AddOp>(associative)) {
      associative = nullptr;
    }
  }
}

bool Reducer::isAnyOrder() const {
  return isAssociative() || (computation && computation->hasAttr(kAnyOrder));
}

Elem Reducer::identity(Emission &e, int64_t lanes) const {
  DenseElementsAttr number = identityOf(associative, combineElement);
  Type type = computeType(combineElement);
  auto part = dyn_cast<FloatType>(type);
  TypedAttr value =
      isa<ComplexType>(combineElement)
          ? e.b.getFloatAttr(part, number.getSplatValue<std::complex<APFloat>>().real())
      : part ? e.b.getFloatAttr(part, number.getSplatValue<APFloat>())
             : TypedAttr(e.b.getIntegerAttr(type, number.getSplatValue<APInt>()));
  Value scalar = arith::ConstantOp::create(e.b, e.loc, value);
  Elem elem(scalar);
  if (isa<ComplexType>(combineElement)) {
    elem.im = scalar;
  }
  return splat(e, elem, lanes);
}

SmallVector<Elem> Reducer::combine(Emission &e, ArrayRef<Elem> accumulators,
                                   ArrayRef<Elem> inputs) const {
  if (isAssociative()) {
    return {emitNamed(e, associative->getName().stripDialect(), combineElement, combineElement,
                      {accumulators[0], inputs[0]})};
  }
  SmallVector<Elem> arguments(accumulators);
  arguments.append(inputs.begin(), inputs.end());
  SmallVector<Elem> results = inlineComputation(e, computation, arguments);
  if (results.size() != accumulators.size()) {
    return SmallVector<Elem>(accumulators); // reported already
  }
  return results;
}

Elem Reducer::convertInput(Emission &e, Type from, unsigned n, const Elem &elem) const {
  Type to = isAssociative() ? combineElement : elements[n];
  return from == to ? elem : emitConvert(e, from, to, elem);
}

SmallVector<Elem> Reducer::rounded(Emission &e, SmallVector<Elem> accumulators) const {
  bool isExact = isa_and_nonnull<MaximumOp, MinimumOp>(associative);
  if (isAssociative() && combineElement != elements[0] && !isExact) {
    Elem narrow = emitConvert(e, combineElement, elements[0], accumulators[0]);
    accumulators[0] = emitConvert(e, elements[0], combineElement, narrow);
  }
  return accumulators;
}

SmallVector<Elem> Reducer::start(Emission &e, ValueRange inits, ElementEmitter &emitter) const {
  SmallVector<Elem> start;
  for (auto [n, init] : llvm::enumerate(inits)) {
    start.push_back(convertInput(e, elementType(init.getType()), n, emitter.emit(init, {})));
  }
  return start;
}

Elem Reducer::finish(Emission &e, unsigned n, Type to, const Elem &elem) const {
  Type from = isAssociative() ? combineElement : elements[n];
  return from == to ? elem : emitConvert(e, from, to, elem);
}

/// Lanes `from` to `from + count` of a vector.
static Value lanesFrom(Emission &e, Value v, int64_t from, int64_t count) {
  if (!v) {
    return v;
  }
  if (count == 1) {
    return vector::ExtractOp::create(e.b, e.loc, v, ArrayRef<int64_t>{from});
  }
  SmallVector<int64_t> order(count);
  std::iota(order.begin(), order.end(), from);
  return vector::ShuffleOp::create(e.b, e.loc, v, v, order);
}

SmallVector<Elem> Reducer::combineLanes(Emission &e, SmallVector<Elem> elems, int64_t to) const {
  for (int64_t lanes = lanesOf(elems[0].re); lanes > to; lanes /= 2) {
    auto half = [&](int64_t from) {
      return llvm::map_to_vector(elems, [&](const Elem &elem) {
        return Elem(lanesFrom(e, elem.re, from, lanes / 2), lanesFrom(e, elem.im, from, lanes / 2));
      });
    };
    SmallVector<Elem> low = half(0), high = half(lanes / 2);
    elems = combine(e, low, high);
  }
  return elems;
}

Elem Reducer::combineLanes(Emission &e, Elem elem, int64_t to) const {
  return combineLanes(e, SmallVector<Elem>{elem}, to)[0];
}

} // namespace hlo::codegen
