//===- Build.cpp - Pieces of StableHLO that the refinement emits ----------===//
//
// Sizes are computed once, at the entry's start; regions capture them. An array is `sized` by
// set_dimension_size, and `forgotten` by the same op with the bound, after which it is a static
// array with arbitrary elements beyond its sizes.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/refine/Refiner.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::refine;

Value Refiner::make(StringRef name, ValueRange operands, Type type,
                    ArrayRef<NamedAttribute> attributes) {
  Location loc = builder.getInsertionBlock() &&
                         builder.getInsertionPoint() != builder.getInsertionBlock()->end()
                     ? builder.getInsertionPoint()->getLoc()
                     : main.getLoc();
  OperationState state(loc, name, operands, type, attributes);
  return builder.create(state)->getResult(0);
}

RankedTensorType Refiner::withShape(Value x, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, cast<RankedTensorType>(x.getType()).getElementType());
}

Value Refiner::constantInt(Type element, int64_t value) {
  auto type = RankedTensorType::get({}, element);
  return make("stablehlo.constant", {}, type,
              builder.getNamedAttr(
                  "value", DenseElementsAttr::get(type, builder.getIntegerAttr(element, value))));
}

Value Refiner::zeroLike(Value x) {
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  auto type = RankedTensorType::get({}, element);
  auto complex = dyn_cast<ComplexType>(element);
  DenseElementsAttr zero;
  if (complex) {
    APFloat part = APFloat::getZero(cast<FloatType>(complex.getElementType()).getFloatSemantics());
    zero = DenseElementsAttr::get(type, std::complex<APFloat>(part, part));
  } else {
    zero = DenseElementsAttr::get(type, builder.getZeroAttr(element));
  }
  return make("stablehlo.constant", {}, type, builder.getNamedAttr("value", zero));
}

Value Refiner::s32(int64_t value) { return constantInt(builder.getI32Type(), value); }

Value Refiner::toS32(Value scalar) {
  Type s32 = builder.getI32Type();
  return cast<RankedTensorType>(scalar.getType()).getElementType() == s32
             ? scalar
             : make("stablehlo.convert", scalar, RankedTensorType::get({}, s32));
}

Value Refiner::broadcastScalar(Value scalar, ArrayRef<int64_t> shape) {
  return make("stablehlo.broadcast_in_dim", scalar, withShape(scalar, shape),
              builder.getNamedAttr("broadcast_dimensions", builder.getDenseI64ArrayAttr({})));
}

/// Element `index` of a vector, a scalar s32.
Value Refiner::element(Value vector, int64_t index) {
  Value one =
      make("stablehlo.slice", vector, withShape(vector, {1}),
           {builder.getNamedAttr("start_indices", builder.getDenseI64ArrayAttr({index})),
            builder.getNamedAttr("limit_indices", builder.getDenseI64ArrayAttr({index + 1})),
            builder.getNamedAttr("strides", builder.getDenseI64ArrayAttr({1}))});
  return toS32(make("stablehlo.reshape", one, withShape(one, {})));
}

Value Refiner::binary(StringRef name, Value a, Value b) { return make(name, {a, b}, a.getType()); }

Value Refiner::compareLess(Value a, Value b) {
  auto type = cast<RankedTensorType>(a.getType());
  auto direction = stablehlo::ComparisonDirectionAttr::get(main.getContext(),
                                                           stablehlo::ComparisonDirection::LT);
  auto kind =
      stablehlo::ComparisonTypeAttr::get(main.getContext(), stablehlo::ComparisonType::SIGNED);
  return make("stablehlo.compare", {a, b},
              RankedTensorType::get(type.getShape(), builder.getI1Type()),
              {builder.getNamedAttr("comparison_direction", direction),
               builder.getNamedAttr("compare_type", kind)});
}

Value Refiner::pad(Value x, Value fill, Type type, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                   ArrayRef<int64_t> interior) {
  return make("stablehlo.pad", {x, fill}, type,
              {builder.getNamedAttr("edge_padding_low", builder.getDenseI64ArrayAttr(low)),
               builder.getNamedAttr("edge_padding_high", builder.getDenseI64ArrayAttr(high)),
               builder.getNamedAttr("interior_padding", builder.getDenseI64ArrayAttr(interior))});
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Value Refiner::atomValue(const SizeExpr::Atom &atom) {
  using Kind = SizeExpr::Kind;
  if (atom.kind == Kind::Symbol) {
    return toS32(findSymbol(atom.name)->value);
  }
  Value a = sizeValue(atom.a), b = sizeValue(atom.b);
  if (atom.kind == Kind::Max || atom.kind == Kind::Min) {
    return binary(atom.kind == Kind::Max ? "stablehlo.maximum" : "stablehlo.minimum", a, b);
  }
  // Divisors are positive. Division rounds towards zero: for a < 0 one less than the quotient if
  // something remains.
  bool isNegative = rangeOf(atom.a).low < 0;
  Value rest = binary("stablehlo.remainder", a, b);
  Value below = isNegative ? compareLess(rest, s32(0)) : Value();
  if (atom.kind == Kind::Mod) {
    return isNegative ? make("stablehlo.select", {below, binary("stablehlo.add", rest, b), rest},
                             rest.getType())
                      : rest;
  }
  Value quotient = binary("stablehlo.divide", a, b);
  return isNegative ? make("stablehlo.select",
                           {below, binary("stablehlo.subtract", quotient, s32(1)), quotient},
                           quotient.getType())
                    : quotient;
}

Value Refiner::emitSum(const SizeExpr &expr) {
  Value sum;
  for (const SizeExpr::Term &term : expr.terms()) {
    Value product;
    for (const SizeExpr::AtomRef &atom : term.factors) {
      std::string key = "atom " + atom->key;
      Value &known = sizeValues[key];
      Value factor = known;
      if (!factor) {
        factor = atomValue(*atom);
        sizeValues[key] = factor;
      }
      product = product ? binary("stablehlo.multiply", product, factor) : factor;
    }
    if (!product) {
      product = s32(term.coefficient);
    } else if (term.coefficient != 1) {
      product = binary("stablehlo.multiply", product, s32(term.coefficient));
    }
    sum = sum ? binary("stablehlo.add", sum, product) : product;
  }
  return sum ? sum : s32(0);
}

Value Refiner::sizeValue(const SizeExpr &expr) {
  std::string text = expr.text();
  if (Value known = sizeValues.lookup(text)) {
    return known;
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(sizesEnd);
  Value value = emitSum(expr);
  return sizeValues[text] = value;
}

int64_t Refiner::boundOf(const SizeExpr &expr) const {
  return std::max<int64_t>(rangeOf(expr).high, 0);
}

SmallVector<int64_t> Refiner::boundsOf(const Sizes &sizes) const {
  return llvm::map_to_vector(sizes, [&](const SizeExpr &size) { return boundOf(size); });
}

//===----------------------------------------------------------------------===//
// Arrays with sizes and without
//===----------------------------------------------------------------------===//

Value Refiner::forgotten(Value x) {
  Sizes own = sizesOf(x);
  SmallVector<int64_t> shape = boundsOf(own);
  for (size_t dim = 0; dim < own.size(); ++dim) {
    auto type = cast<RankedTensorType>(x.getType());
    if (!type.isDynamicDim(dim)) {
      continue;
    }
    Sizes rest = own;
    for (size_t done = 0; done <= dim; ++done) {
      rest[done] = shape[done];
    }
    RankedTensorType next = *boundedType(main.getLoc(), type, rest);
    x = make("stablehlo.set_dimension_size", {x, s32(shape[dim])}, next,
             builder.getNamedAttr("dimension", builder.getI64IntegerAttr(dim)));
  }
  return x;
}

Value Refiner::sized(Value x, const Sizes &own) {
  Sizes now = sizesOf(x);
  for (size_t dim = 0; dim < own.size(); ++dim) {
    if (own[dim].constant() || now[dim] == own[dim]) {
      continue;
    }
    now[dim] = own[dim];
    Type element = cast<RankedTensorType>(x.getType()).getElementType();
    x = make("stablehlo.set_dimension_size", {x, sizeValue(own[dim])},
             *boundedType(main.getLoc(), element, now),
             builder.getNamedAttr("dimension", builder.getI64IntegerAttr(dim)));
    sizes[x] = now;
  }
  return x;
}

Value Refiner::resized(Value x, const Sizes &own) {
  SmallVector<int64_t> from = boundsOf(sizesOf(x)), to = boundsOf(own), zero(to.size(), 0), more;
  if (from == to) {
    return x;
  }
  for (auto [before, after] : llvm::zip(from, to)) {
    more.push_back(after - before); // negative padding cuts
  }
  Value all = forgotten(x);
  all = pad(all, zeroLike(all), withShape(all, to), zero, more, zero);
  return sized(all, own);
}

Value Refiner::masked(Value x, const Sizes &own, Value fill) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(x.getType()).getShape());
  for (size_t dim = 0; dim < own.size(); ++dim) {
    if (own[dim].constant()) {
      continue;
    }
    auto type = RankedTensorType::get(shape, builder.getI32Type());
    Value index = make("stablehlo.iota", {}, type,
                       builder.getNamedAttr("iota_dimension", builder.getI64IntegerAttr(dim)));
    Value inside = compareLess(index, broadcastScalar(sizeValue(own[dim]), shape));
    x = make("stablehlo.select", {inside, x, broadcastScalar(fill, shape)}, x.getType());
  }
  return x;
}
