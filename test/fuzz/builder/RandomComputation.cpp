//===- RandomComputation.cpp - Valid computations from a seed -------------===//
//
// A generator keeps the values that it has made so far and adds operations to them. A computation
// that is called (of map, reduce, while, ...) has a generator of its own with the same choices.
//
//===----------------------------------------------------------------------===//
#include "RandomComputation.h"
#include "absl/strings/str_cat.h"
#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

using namespace hlo;
using namespace fuzz;

namespace {

using Dims = std::vector<std::int64_t>;
/// Arrays of more elements are not made.
constexpr std::int64_t kMostElements = 400;

class Generator {
public:
  Generator(XlaBuilder *b, std::mt19937_64 *random, std::vector<Literal> *arguments)
      : b(b), random(random), arguments(arguments) {}

  /// Adds up to `count` operations.
  void grow(int count);
  /// Some of the values as the result.
  XlaOp result();
  /// A value of this shape that depends on those that there are, if possible.
  XlaOp valueOf(PrimitiveType type, const Dims &dims);
  void keep(XlaOp op);

private:
  //===- Choices ---------------------------------------------------------===//
  std::int64_t number(std::int64_t low, std::int64_t high) { // both included
    return std::uniform_int_distribution<std::int64_t>(low, high)(*random);
  }
  bool oneIn(int n) { return number(1, n) == 1; }
  template <typename T> const T &oneOf(const std::vector<T> &list) {
    return list[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(list.size()) - 1))];
  }
  PrimitiveType anyType() {
    static const std::vector<PrimitiveType> types = {F32, F32, F32, F64, BF16, F16,  S32, S32,
                                                     S64, S8,  U8,  U32, U16,  PRED, C64};
    return oneOf(types);
  }
  Dims anyDims(std::int64_t least = 0) {
    Dims dims(static_cast<std::size_t>(number(least, 4)));
    std::int64_t elements = 1;
    for (std::int64_t &size : dims) {
      size = oneIn(40) ? 0 : number(1, 6);
      if (elements * size > kMostElements) {
        size = 1;
      }
      elements *= size;
    }
    return dims;
  }
  std::vector<std::int64_t> permutation(std::size_t rank) {
    std::vector<std::int64_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), *random);
    return order;
  }
  /// Some of 0 .. rank - 1, ascending.
  Dims someDims(std::size_t rank, std::int64_t least) {
    Dims order = permutation(rank);
    order.resize(static_cast<std::size_t>(number(least, static_cast<std::int64_t>(rank))));
    std::sort(order.begin(), order.end());
    return order;
  }

  //===- Values ----------------------------------------------------------===//
  Shape shapeOf(XlaOp op) {
    absl::StatusOr<Shape> shape = b->GetShape(op);
    return shape.ok() ? *shape : ShapeUtil::MakeShape(F32, {});
  }
  Dims dimsOf(XlaOp op) { return shapeOf(op).dimensions(); }
  PrimitiveType typeOf(XlaOp op) { return shapeOf(op).element_type(); }
  Literal literal(PrimitiveType type, const Dims &dims);
  /// A new parameter, constant or iota.
  XlaOp leaf(PrimitiveType type, const Dims &dims);
  /// A value that satisfies the condition, or none.
  XlaOp find(const std::function<bool(const Shape &)> &condition);
  /// An array that satisfies the condition; else a new leaf with a type from `types`.
  XlaOp array(const std::function<bool(const Shape &)> &condition,
              const std::vector<PrimitiveType> &types, std::int64_t leastRank = 0);
  XlaOp any() {
    return array([](const Shape &) { return true; }, {anyType()});
  }
  XlaOp ofRank(std::int64_t least) {
    return array([=](const Shape &s) { return s.rank() >= least; }, {anyType()}, least);
  }
  XlaOp ofType(const std::vector<PrimitiveType> &types, std::int64_t leastRank = 0) {
    return array(
        [&](const Shape &s) {
          return s.rank() >= leastRank &&
                 std::find(types.begin(), types.end(), s.element_type()) != types.end();
        },
        types, leastRank);
  }
  XlaOp realNumber(std::int64_t leastRank = 0) { return ofType(real, leastRank); }
  XlaOp scalar(PrimitiveType type, double value) {
    return ConstantLiteral(b, LiteralUtil::Scalar(type, value));
  }
  XlaOp index(std::int64_t most) { return scalar(oneIn(2) ? S32 : S64, number(-1, most)); }

  //===- Computations ----------------------------------------------------===//
  /// `parameters` scalars of a type -> a scalar of `result`.
  XlaComputation scalarFunction(PrimitiveType type, int parameters, PrimitiveType result);
  /// An associative function.
  XlaComputation reducer(PrimitiveType type, double &identity);
  /// Arrays of this shape to arrays of this shape.
  XlaComputation function(const Shape &from, PrimitiveType type, const Dims &dims);

  //===- Operations ------------------------------------------------------===//
  void unary();
  void binary();
  void ternary();
  void convert();
  void shape();
  void slice();
  void pad();
  void concatenate();
  void product();
  void convolution();
  void reduce();
  void window();
  void gather();
  void scatter();
  void sort();
  void call();
  void branch();
  void loop();
  void tuple();
  void linear();

  static const std::vector<PrimitiveType> real, floats, integers;

  XlaBuilder *b;
  std::mt19937_64 *random;
  std::vector<Literal> *arguments; ///< null in a called computation, which makes no parameters
  std::vector<XlaOp> values;
  int depth = 0;

  friend XlaComputation nested(Generator &, const std::function<void(Generator &, XlaBuilder *)> &);
};

const std::vector<PrimitiveType> Generator::real = {F32, F64, BF16, F16, S32,
                                                    S64, S8,  U8,   U32, U16};
const std::vector<PrimitiveType> Generator::floats = {F32, F64, BF16, F16};
const std::vector<PrimitiveType> Generator::integers = {S32, S64, S8, U8, U32, U16};

/// A computation that `fill` builds.
XlaComputation nested(Generator &outer,
                      const std::function<void(Generator &, XlaBuilder *)> &fill) {
  XlaBuilder builder(absl::StrCat("computation", outer.number(0, 999)));
  Generator inner(&builder, outer.random, nullptr);
  inner.depth = outer.depth + 1;
  fill(inner, &builder);
  absl::StatusOr<XlaComputation> built = builder.Build();
  if (!built.ok()) {
    outer.b->ReportError(built.status());
    return XlaComputation();
  }
  return *built;
}

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Literal Generator::literal(PrimitiveType type, const Dims &dims) {
  Literal numbers(ShapeUtil::MakeShape(F64, dims));
  for (double &value : numbers.data<double>()) {
    value = primitive_util::IsFloatingPointType(type) || type == C64
                ? static_cast<double>(number(-64, 64)) / 16
                : static_cast<double>(number(type == PRED ? 0 : -9, type == PRED ? 1 : 20));
    if (primitive_util::IsUnsignedIntegralType(type)) {
      value = std::abs(value);
    }
  }
  absl::StatusOr<Literal> converted = numbers.Convert(type);
  return converted.ok() ? *converted : Literal(ShapeUtil::MakeShape(type, dims));
}

XlaOp Generator::leaf(PrimitiveType type, const Dims &dims) {
  if (!dims.empty() && type != PRED && oneIn(6)) {
    return Iota(b, ShapeUtil::MakeShape(type, dims),
                number(0, static_cast<std::int64_t>(dims.size()) - 1));
  }
  if (!arguments || oneIn(4)) {
    return ConstantLiteral(b, literal(type, dims));
  }
  Shape shape = ShapeUtil::MakeShape(type, dims);
  if (oneIn(5)) {
    shape = ShapeUtil::MakeShapeWithLayout(type, dims, permutation(dims.size()));
  }
  arguments->push_back(literal(type, dims));
  return Parameter(b, static_cast<std::int64_t>(arguments->size()) - 1, shape,
                   oneIn(8) ? "a name: \"%0\" = {" : "p");
}

void Generator::keep(XlaOp op) {
  if (!op.valid()) {
    return;
  }
  const Shape shape = shapeOf(op);
  if (shape.IsArray() && ShapeUtil::ElementsIn(shape) <= kMostElements) {
    values.push_back(op);
  }
}

XlaOp Generator::find(const std::function<bool(const Shape &)> &condition) {
  // Late values more often.
  for (int i = 0; i < 12 && !values.empty(); ++i) {
    const std::int64_t last = static_cast<std::int64_t>(values.size()) - 1;
    const XlaOp op = values[static_cast<std::size_t>(std::max(number(0, last), number(0, last)))];
    if (condition(shapeOf(op))) {
      return op;
    }
  }
  return XlaOp();
}

XlaOp Generator::array(const std::function<bool(const Shape &)> &condition,
                       const std::vector<PrimitiveType> &types, std::int64_t leastRank) {
  XlaOp op = find(condition);
  if (!op.valid()) {
    op = leaf(oneOf(types), anyDims(leastRank));
    keep(op);
  }
  return op;
}

XlaOp Generator::valueOf(PrimitiveType type, const Dims &dims) {
  XlaOp op = find([&](const Shape &s) { return s.dimensions() == dims; });
  const std::int64_t elements = ShapeUtil::ElementsIn(ShapeUtil::MakeShape(type, dims));
  if (!op.valid()) {
    op = find([&](const Shape &s) { return ShapeUtil::ElementsIn(s) == elements; });
    op = op.valid() ? Reshape(op, dims) : op;
  }
  if (!op.valid()) {
    op = find([](const Shape &s) { return s.rank() == 0; });
    op = op.valid() ? Broadcast(op, dims) : leaf(type, dims);
  }
  const PrimitiveType from = typeOf(op);
  if (from == type) {
    return op;
  }
  if (primitive_util::IsComplexType(from) && !primitive_util::IsComplexType(type)) {
    op = Real(op);
  }
  if (type == PRED) {
    return Lt(op, ConstantLiteral(b, LiteralUtil::Scalar(typeOf(op), 1)));
  }
  return ConvertElementType(op, type);
}

XlaOp Generator::result() {
  if (values.empty()) {
    keep(leaf(F32, {}));
  }
  if (oneIn(4)) {
    return values.back();
  }
  std::vector<XlaOp> elements = {values.back()};
  for (std::int64_t i = number(0, 4); i > 0; --i) {
    elements.push_back(oneOf(values));
  }
  if (oneIn(4)) {
    return Tuple(b, {Tuple(b, elements), values.back()});
  }
  return Tuple(b, elements);
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

XlaComputation Generator::scalarFunction(PrimitiveType type, int parameters, PrimitiveType result) {
  return nested(*this, [&](Generator &inner, XlaBuilder *builder) {
    for (int i = 0; i < parameters; ++i) {
      inner.keep(Parameter(builder, i, ShapeUtil::MakeShape(type, {}), "x"));
    }
    for (std::int64_t i = number(1, 4); i > 0; --i) {
      switch (inner.number(0, 2)) {
      case 0: inner.unary(); break;
      case 1: inner.binary(); break;
      default: inner.convert();
      }
    }
    // A root of its own, even where the value is a parameter.
    const XlaOp value = inner.valueOf(result, {});
    result == PRED ? Not(value) : Max(value, value);
  });
}

XlaComputation Generator::reducer(PrimitiveType type, double &identity) {
  return nested(*this, [&](Generator &inner, XlaBuilder *builder) {
    const Shape shape = ShapeUtil::MakeShape(type, {});
    const XlaOp x = Parameter(builder, 0, shape, "x"), y = Parameter(builder, 1, shape, "y");
    identity = 0;
    if (type == PRED) {
      inner.oneIn(2) ? Or(x, y) : Xor(x, y);
      return;
    }
    switch (inner.number(0, primitive_util::IsComplexType(type) ? 1 : 4)) {
    case 0:
      identity = 1;
      Mul(x, y);
      break;
    case 1:
    case 2: Add(x, y); break;
    case 3:
      identity = primitive_util::IsUnsignedIntegralType(type) ? 0 : -100;
      Max(x, y);
      break;
    default: identity = 100; Min(x, y);
    }
  });
}

XlaComputation Generator::function(const Shape &from, PrimitiveType type, const Dims &dims) {
  return nested(*this, [&](Generator &inner, XlaBuilder *builder) {
    inner.keep(Parameter(builder, 0, from, "x"));
    inner.grow(static_cast<int>(inner.number(1, 4)));
    const XlaOp value = inner.valueOf(type, dims);
    OptimizationBarrier(value);
  });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void Generator::unary() {
  const XlaOp x = any();
  const PrimitiveType type = typeOf(x);
  using Unary = XlaOp (*)(XlaOp, SourceLocation);
  static const std::vector<Unary> ofFloats = {Abs,
                                              Ceil,
                                              Floor,
                                              Neg,
                                              RoundNearestAfz,
                                              Sign,
                                              Exp,
                                              Tanh,
                                              Sqrt,
                                              RoundNearestEven,
                                              Cos,
                                              Sin,
                                              Logistic,
                                              Cbrt,
                                              Log1p,
                                              Real,
                                              Imag,
                                              IsFinite,
                                              Rsqrt,
                                              Expm1,
                                              Erf,
                                              Copy,
                                              OptimizationBarrier};
  static const std::vector<Unary> ofIntegers = {Neg, Not, Clz, PopulationCount, Sign, Copy};
  static const std::vector<Unary> ofComplex = {Neg, Abs, Real, Imag, Exp, Conj, Copy};
  Unary chosen = Not;
  if (primitive_util::IsFloatingPointType(type)) {
    chosen = oneOf(ofFloats);
  } else if (primitive_util::IsIntegralType(type)) {
    chosen = oneOf(ofIntegers);
  } else if (primitive_util::IsComplexType(type)) {
    chosen = oneOf(ofComplex);
  }
  keep(chosen(x, SourceLocation::current()));
}

void Generator::binary() {
  const XlaOp x = any();
  const PrimitiveType type = typeOf(x);
  const Dims dims = dimsOf(x);
  XlaOp y;
  Dims mapped;
  switch (number(0, 4)) {
  case 0: // a scalar
    y = valueOf(type, {});
    break;
  case 1: { // sizes of 1
    Dims ones = dims;
    for (std::int64_t &size : ones) {
      size = oneIn(2) ? 1 : size;
    }
    y = valueOf(type, ones);
    break;
  }
  case 2: { // a smaller rank
    mapped = someDims(dims.size(), dims.empty() ? 0 : 1);
    Dims sizes;
    for (std::int64_t dim : mapped) {
      sizes.push_back(oneIn(4) ? 1 : dims[static_cast<std::size_t>(dim)]);
    }
    y = valueOf(type, sizes);
    break;
  }
  default: y = valueOf(type, dims);
  }
  using Binary = XlaOp (*)(XlaOp, XlaOp, absl::Span<const std::int64_t>, SourceLocation);
  static const std::vector<Binary> ofAll = {Add, Sub, Mul, Eq, Ne};
  static const std::vector<Binary> ofFloats = {Div,   Max, Min, Rem,         Pow,
                                               Atan2, Ge,  Lt,  LtTotalOrder};
  static const std::vector<Binary> ofIntegers = {
      Max, Min, And, Or, Xor, ShiftLeft, ShiftRightArithmetic, ShiftRightLogical, Gt, Le};
  static const std::vector<Binary> ofPred = {And, Or, Xor, Eq, Ne};
  Binary chosen;
  if (type == PRED) {
    chosen = oneOf(ofPred);
  } else if (primitive_util::IsComplexType(type) || oneIn(2)) {
    chosen = oneOf(ofAll);
  } else {
    chosen = oneOf(primitive_util::IsFloatingPointType(type) ? ofFloats : ofIntegers);
  }
  if (type == F32 && oneIn(12)) {
    chosen = Complex;
  }
  keep(oneIn(3) ? chosen(y, x, mapped, SourceLocation::current())
                : chosen(x, y, mapped, SourceLocation::current()));
}

void Generator::ternary() {
  const XlaOp x = realNumber();
  const PrimitiveType type = typeOf(x);
  const Dims dims = dimsOf(x);
  if (oneIn(3)) {
    keep(Clamp(scalar(type, 1), x, oneIn(2) ? scalar(type, 5) : valueOf(type, dims)));
    return;
  }
  const XlaOp condition = valueOf(PRED, oneIn(4) ? Dims() : dims);
  keep(Select(condition, x, valueOf(type, dims)));
}

void Generator::convert() {
  const XlaOp x =
      array([](const Shape &s) { return !primitive_util::IsComplexType(s.element_type()); }, real);
  const PrimitiveType type = typeOf(x);
  if (primitive_util::IsFloatingPointType(type) && oneIn(3)) {
    keep(ReducePrecision(x, static_cast<int>(number(4, 8)), static_cast<int>(number(2, 10))));
  } else if (type == S32 && oneIn(3)) {
    keep(BitcastConvertType(x, U32));
  } else if (type == U32 && oneIn(3)) {
    keep(BitcastConvertType(x, oneIn(2) ? U16 : U8));
  } else {
    keep(valueOf(anyType(), dimsOf(x)));
  }
}

void Generator::shape() {
  const XlaOp x = any();
  const Dims dims = dimsOf(x);
  const std::size_t rank = dims.size();
  switch (number(0, 6)) {
  case 0: keep(Transpose(x, permutation(rank))); break;
  case 1: keep(Broadcast(x, {number(1, 3)})); break;
  case 2: { // dimensions of 1 and of any size anywhere
    Dims sizes(rank + 1), mapped = someDims(rank + 1, 0);
    if (mapped.size() != rank) {
      mapped = permutation(rank + 1);
      mapped.pop_back();
      std::sort(mapped.begin(), mapped.end());
    }
    for (std::int64_t &size : sizes) {
      size = number(1, 3);
    }
    for (std::size_t i = 0; i < rank; ++i) {
      std::int64_t &size = sizes[static_cast<std::size_t>(mapped[i])];
      size = dims[i] == 1 ? size : dims[i];
    }
    keep(BroadcastInDim(x, sizes, mapped));
    break;
  }
  case 3: { // a divisor of the elements
    const std::int64_t elements = ShapeUtil::ElementsIn(shapeOf(x));
    std::int64_t divisor = number(1, 6);
    divisor = elements % divisor ? 1 : divisor;
    keep(oneIn(2) ? Reshape(x, {divisor, elements / divisor})
                  : Reshape(x, permutation(rank), {elements / divisor, 1, divisor}));
    break;
  }
  case 4:
    if (rank >= 2) {
      const std::int64_t first = number(0, static_cast<std::int64_t>(rank) - 2);
      keep(Collapse(x, {first, first + 1}));
    }
    break;
  case 5: keep(Rev(x, someDims(rank, 0))); break;
  default:
    if (rank) {
      keep(GetDimensionSize(x, number(0, static_cast<std::int64_t>(rank) - 1)));
    }
  }
}

void Generator::slice() {
  const XlaOp x = ofRank(1);
  const Dims dims = dimsOf(x);
  Dims starts, limits, strides, sizes;
  std::vector<XlaOp> indices;
  for (std::int64_t size : dims) {
    starts.push_back(number(0, size));
    limits.push_back(number(starts.back(), size));
    strides.push_back(number(1, 3));
    sizes.push_back(number(size ? 1 : 0, size));
    indices.push_back(scalar(S32, static_cast<double>(number(-1, size))));
  }
  switch (number(0, 3)) {
  case 0: keep(Slice(x, starts, limits, strides)); break;
  case 1: {
    const std::size_t dim =
        static_cast<std::size_t>(number(0, static_cast<std::int64_t>(dims.size()) - 1));
    keep(SliceInDim(x, starts[dim], limits[dim], strides[dim], static_cast<std::int64_t>(dim)));
    break;
  }
  case 2: keep(DynamicSlice(x, indices, sizes)); break;
  default: keep(DynamicUpdateSlice(x, valueOf(typeOf(x), sizes), indices));
  }
}

void Generator::pad() {
  const XlaOp x = any();
  PaddingConfig config;
  for (std::int64_t size : dimsOf(x)) {
    const std::int64_t interior = number(0, 1), low = number(-1, 2), high = number(-1, 2);
    const std::int64_t padded = size + (size > 1 ? (size - 1) * interior : 0) + low + high;
    PaddingConfigDimension *dim = config.add_dimensions();
    if (padded >= 0) {
      dim->set_edge_padding_low(low).set_edge_padding_high(high).set_interior_padding(interior);
    }
  }
  keep(Pad(x, valueOf(typeOf(x), {}), config));
}

void Generator::concatenate() {
  const XlaOp x = ofRank(1);
  const Dims dims = dimsOf(x);
  const std::int64_t dim = number(0, static_cast<std::int64_t>(dims.size()) - 1);
  std::vector<XlaOp> parts = {x};
  for (std::int64_t i = number(0, 2); i > 0; --i) {
    Dims sizes = dims;
    sizes[static_cast<std::size_t>(dim)] = number(1, 3);
    parts.push_back(valueOf(typeOf(x), sizes));
  }
  keep(ConcatInDim(b, parts, dim));
}

void Generator::product() {
  const XlaOp x = realNumber(1);
  const Dims dims = dimsOf(x);
  const PrimitiveType type = typeOf(x);
  if (dims.size() <= 2 && oneIn(3)) {
    keep(Dot(x, valueOf(type, {dims.back(), number(1, 4)})));
    return;
  }
  // Batch, contracting and other dimensions in any order.
  DotDimensionNumbers numbers;
  const Dims order = permutation(dims.size());
  const std::int64_t batch = number(0, static_cast<std::int64_t>(dims.size()) - 1);
  const std::int64_t contracted = number(batch, static_cast<std::int64_t>(dims.size()));
  Dims sizes;
  for (std::int64_t i = 0; i < contracted; ++i) {
    const std::int64_t dim = order[static_cast<std::size_t>(i)];
    i < batch ? numbers.add_lhs_batch_dimensions(dim) : numbers.add_lhs_contracting_dimensions(dim);
    i < batch ? numbers.add_rhs_batch_dimensions(i) : numbers.add_rhs_contracting_dimensions(i);
    sizes.push_back(dims[static_cast<std::size_t>(dim)]);
  }
  sizes.push_back(number(1, 3));
  const PrecisionConfig highest(PrecisionConfig::HIGHEST);
  std::optional<PrimitiveType> wider;
  if (type == S8) {
    wider = S32;
  } else if (type == BF16 && oneIn(2)) {
    wider = F32;
  }
  keep(DotGeneral(x, valueOf(type, sizes), numbers, oneIn(3) ? &highest : nullptr, wider));
}

void Generator::convolution() {
  const PrimitiveType type = oneOf(std::vector<PrimitiveType>{F32, F64, S32, BF16});
  const std::int64_t groups = number(1, 2), inputs = groups * number(1, 2);
  const int spatial = static_cast<int>(number(1, 2));
  Dims input = {number(1, 2), inputs}, kernel = {groups * number(1, 2), inputs / groups};
  Dims strides, lhsDilation, rhsDilation;
  std::vector<std::pair<std::int64_t, std::int64_t>> padding;
  for (int i = 0; i < spatial; ++i) {
    input.push_back(number(3, 5));
    kernel.push_back(number(1, 2));
    strides.push_back(number(1, 2));
    lhsDilation.push_back(number(1, 2));
    rhsDilation.push_back(number(1, 2));
    padding.emplace_back(number(0, 1), number(-1, 1));
  }
  const XlaOp x = valueOf(type, input), k = valueOf(type, kernel);
  if (oneIn(2)) {
    keep(Conv(x, k, strides, oneIn(2) ? Padding::kSame : Padding::kValid, groups));
    return;
  }
  keep(ConvGeneralDilated(x, k, strides, padding, lhsDilation, rhsDilation,
                          XlaBuilder::CreateDefaultConvDimensionNumbers(spatial), groups));
}

void Generator::reduce() {
  const XlaOp x = ofRank(1);
  const PrimitiveType type = typeOf(x);
  const Dims dims = dimsOf(x), reduced = someDims(dims.size(), 1);
  if (!primitive_util::IsComplexType(type) && type != PRED && oneIn(4)) {
    // The largest element and an index of it.
    const XlaComputation largest = nested(*this, [&](Generator &, XlaBuilder *builder) {
      const Shape t = ShapeUtil::MakeShape(type, {}), i = ShapeUtil::MakeShape(S32, {});
      const XlaOp a = Parameter(builder, 0, t, "a"), ai = Parameter(builder, 1, i, "ai");
      const XlaOp c = Parameter(builder, 2, t, "c"), ci = Parameter(builder, 3, i, "ci");
      const XlaOp takes = Or(Gt(c, a), And(Eq(c, a), Lt(ci, ai)));
      Tuple(builder, {Select(takes, c, a), Select(takes, ci, ai)});
    });
    const XlaOp indices = Iota(b, ShapeUtil::MakeShape(S32, dims), reduced[0]);
    const XlaOp both = Reduce(
        b, {x, indices},
        {scalar(type, primitive_util::IsUnsignedIntegralType(type) ? 0 : -100), scalar(S32, 1000)},
        largest, reduced);
    keep(GetTupleElement(both, 0));
    keep(GetTupleElement(both, 1));
    return;
  }
  double identity;
  const XlaComputation f = reducer(type, identity);
  keep(Reduce(x, scalar(type, identity), f, reduced));
}

void Generator::window() {
  const XlaOp x = realNumber(1);
  const PrimitiveType type = typeOf(x);
  const Dims dims = dimsOf(x);
  Dims sizes, strides, baseDilations, dilations, positions;
  std::vector<std::pair<std::int64_t, std::int64_t>> padding;
  for (std::int64_t size : dims) {
    sizes.push_back(number(1, std::max<std::int64_t>(1, std::min<std::int64_t>(3, size))));
    strides.push_back(number(1, 2));
    baseDilations.push_back(number(1, 2));
    dilations.push_back(1);
    padding.emplace_back(number(0, 1), number(0, 1));
    positions.push_back(size ? (size - sizes.back()) / strides.back() + 1 : 0);
  }
  double identity;
  const XlaComputation f = reducer(type, identity);
  if (oneIn(3) && ShapeUtil::ElementsIn(shapeOf(x))) {
    const XlaComputation ge = nested(*this, [&](Generator &, XlaBuilder *builder) {
      const Shape t = ShapeUtil::MakeShape(type, {});
      Ge(Parameter(builder, 0, t, "x"), Parameter(builder, 1, t, "y"));
    });
    keep(SelectAndScatter(x, ge, sizes, strides, Padding::kValid, valueOf(type, positions),
                          scalar(type, identity), f));
  } else if (oneIn(2)) {
    keep(ReduceWindow(x, scalar(type, identity), f, sizes, strides,
                      oneIn(2) ? Padding::kSame : Padding::kValid));
  } else {
    keep(ReduceWindowWithGeneralPadding(x, scalar(type, identity), f, sizes, strides, baseDilations,
                                        dilations, padding));
  }
}

void Generator::gather() {
  const XlaOp x = ofRank(1);
  const Dims dims = dimsOf(x);
  GatherDimensionNumbers numbers;
  Dims sizes;
  Dims collapsed;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    sizes.push_back(number(std::min<std::int64_t>(1, dims[i]), std::min<std::int64_t>(2, dims[i])));
    if (sizes.back() == 1 && oneIn(2)) {
      collapsed.push_back(static_cast<std::int64_t>(i));
    }
  }
  const Dims map = someDims(dims.size(), 1);
  Dims offsets(dims.size() - collapsed.size());
  std::iota(offsets.begin(), offsets.end(), 1);
  numbers.set_collapsed_slice_dims(collapsed).set_offset_dims(offsets).set_start_index_map(map);
  numbers.set_index_vector_dim(1);
  const Dims indices = {number(1, 3), static_cast<std::int64_t>(map.size())};
  keep(Gather(x, Clamp(scalar(S32, -1), valueOf(S32, indices), scalar(S32, 5)), numbers, sizes));
}

void Generator::scatter() {
  const XlaOp x = ofType(real, 1);
  const PrimitiveType type = typeOf(x);
  const Dims dims = dimsOf(x);
  // Whole slices of all dimensions but the first.
  ScatterDimensionNumbers numbers;
  Dims windowDims(dims.size() - 1);
  std::iota(windowDims.begin(), windowDims.end(), 1);
  numbers.set_update_window_dims(windowDims).set_inserted_window_dims({0});
  numbers.set_scatter_dims_to_operand_dims({0}).set_index_vector_dim(1);
  Dims updates = dims;
  updates[0] = number(1, 3);
  // The order of updates is not defined: the sum of floats may depend on it, their maximum does
  // not.
  const XlaComputation f = nested(*this, [&](Generator &inner, XlaBuilder *builder) {
    const Shape t = ShapeUtil::MakeShape(type, {});
    const XlaOp p = Parameter(builder, 0, t, "x"), q = Parameter(builder, 1, t, "y");
    primitive_util::IsIntegralType(type) && inner.oneIn(2) ? Add(p, q) : Max(p, q);
  });
  keep(Scatter(x, valueOf(S32, {updates[0], 1}), valueOf(type, updates), f, numbers));
}

void Generator::sort() {
  const XlaOp x = realNumber(1);
  const Dims dims = dimsOf(x);
  const std::int64_t last = static_cast<std::int64_t>(dims.size()) - 1;
  switch (number(0, 2)) {
  case 0: keep(Sort(x, number(-1, last))); break;
  case 1: {
    const XlaOp both =
        TopK(x, number(std::min<std::int64_t>(1, dims.back()), dims.back()), oneIn(2));
    keep(GetTupleElement(both, 0));
    keep(GetTupleElement(both, 1));
    break;
  }
  default: {
    const PrimitiveType type = typeOf(x);
    const XlaComputation less = nested(*this, [&](Generator &, XlaBuilder *builder) {
      const Shape t = ShapeUtil::MakeShape(type, {}), i = ShapeUtil::MakeShape(S32, {});
      const XlaOp p = Parameter(builder, 0, t, "a"), q = Parameter(builder, 1, t, "b");
      Parameter(builder, 2, i, "c");
      Parameter(builder, 3, i, "d");
      LtTotalOrder(p, q);
    });
    const XlaOp both =
        Sort({x, Iota(b, ShapeUtil::MakeShape(S32, dims), last)}, less, last, /*is_stable=*/true);
    keep(GetTupleElement(both, 0));
    keep(GetTupleElement(both, 1));
  }
  }
}

void Generator::call() {
  const XlaOp x = any();
  const Dims dims = dimsOf(x);
  if (oneIn(2)) {
    const PrimitiveType to = oneOf(real);
    const int count = static_cast<int>(number(1, 2));
    const XlaOp y = realNumber();
    std::vector<XlaOp> operands = {y};
    if (count == 2) {
      operands.push_back(valueOf(typeOf(y), dimsOf(y)));
    }
    keep(Map(operands, scalarFunction(typeOf(y), count, to)));
    return;
  }
  const PrimitiveType to = oneOf(real);
  const Dims sizes = anyDims();
  const XlaComputation f = function(shapeOf(x), to, sizes);
  switch (number(0, 3)) {
  case 0: keep(CompositeCall(f, {x}, "test.composite", "{a = \"1\"}", 2)); break;
  case 1: keep(AsyncDone(AsyncStart(b, {x}, "main", f))); break;
  default:
    keep(Call(f, {x}));
    if (oneIn(3)) {
      keep(Call(f, {x}));
    }
  }
}

void Generator::branch() {
  const XlaOp x = any(), y = any();
  const PrimitiveType to = oneOf(real);
  const Dims sizes = anyDims();
  const XlaComputation f = function(shapeOf(x), to, sizes), g = function(shapeOf(y), to, sizes);
  if (oneIn(2)) {
    keep(Conditional(valueOf(PRED, {}), x, f, y, g));
    return;
  }
  keep(Conditional(valueOf(S32, {}), {f, g, f}, {x, y, x}));
}

void Generator::loop() {
  const XlaOp x = realNumber();
  const Shape array = ShapeUtil::MakeShape(typeOf(x), dimsOf(x));
  const Shape state = ShapeUtil::MakeTupleShape({ShapeUtil::MakeShape(S32, {}), array});
  const std::int32_t trips = static_cast<std::int32_t>(number(0, 3));
  const XlaComputation condition = nested(*this, [&](Generator &, XlaBuilder *builder) {
    Lt(GetTupleElement(Parameter(builder, 0, state, "state"), 0),
       ConstantR0<std::int32_t>(builder, trips));
  });
  const XlaComputation body = nested(*this, [&](Generator &inner, XlaBuilder *builder) {
    const XlaOp now = Parameter(builder, 0, state, "state");
    const XlaOp count = GetTupleElement(now, 0);
    inner.keep(count);
    inner.keep(GetTupleElement(now, 1));
    inner.grow(static_cast<int>(inner.number(1, 3)));
    const XlaOp next = inner.valueOf(array.element_type(), array.dimensions());
    Tuple(builder, {count + ConstantR0<std::int32_t>(builder, 1), next});
  });
  const XlaOp end = While(condition, body, Tuple(b, {ConstantR0<std::int32_t>(b, 0), x}));
  keep(GetTupleElement(end, 0));
  keep(GetTupleElement(end, 1));
}

void Generator::tuple() {
  const XlaOp x = any(), y = any();
  XlaOp both = Tuple(b, {Tuple(b, {x, y}), x});
  if (oneIn(2)) {
    both = OptimizationBarrier(both);
  }
  keep(GetTupleElement(GetTupleElement(both, 0), 1));
}

void Generator::linear() {
  switch (number(0, 3)) {
  case 0: {
    const XlaOp x = valueOf(F32, {2, 4});
    keep(Fft(x, FftType::RFFT, {4}));
    break;
  }
  case 1: { // symmetric, positive definite
    const XlaOp a = valueOf(F32, {3, 3});
    const XlaOp bounded = Tanh(a);
    const XlaOp diagonal = ConvertElementType(Eq(Iota(b, ShapeUtil::MakeShape(S32, {3, 3}), 0),
                                                 Iota(b, ShapeUtil::MakeShape(S32, {3, 3}), 1)),
                                              F32);
    const XlaOp positive = Dot(bounded, Transpose(bounded, {1, 0})) + diagonal;
    const XlaOp l = Cholesky(positive, true);
    keep(TriangularSolve(l, a, true, true, oneIn(2), TriangularSolveOptions::NO_TRANSPOSE));
    break;
  }
  case 2: {
    const XlaOp drawn =
        RngBitGenerator(RandomAlgorithm::RNG_PHILOX, ConstantR1<std::uint64_t>(b, {1, 2, 3}),
                        ShapeUtil::MakeShape(U32, {5}));
    keep(GetTupleElement(drawn, 1));
    break;
  }
  default: {
    const XlaOp x = valueOf(F32, {3, 2, 2});
    const XlaOp all = BatchNormTraining(x, valueOf(F32, {2}), valueOf(F32, {2}), 0.5f, 1);
    keep(GetTupleElement(all, 0));
    keep(GetTupleElement(all, 2));
  }
  }
}

void Generator::grow(int count) {
  using Step = void (Generator::*)();
  static const std::vector<Step> steps = {
      &Generator::unary,   &Generator::unary,       &Generator::binary,  &Generator::binary,
      &Generator::binary,  &Generator::ternary,     &Generator::convert, &Generator::shape,
      &Generator::shape,   &Generator::slice,       &Generator::pad,     &Generator::concatenate,
      &Generator::product, &Generator::convolution, &Generator::reduce,  &Generator::window,
      &Generator::gather,  &Generator::scatter,     &Generator::sort,    &Generator::tuple,
      &Generator::linear};
  static const std::vector<Step> calls = {&Generator::call, &Generator::branch, &Generator::loop};
  for (int i = 0; i < count && b->first_error().ok(); ++i) {
    if (depth == 0 && oneIn(10)) {
      b->SetNextName(oneIn(2) ? "named" : "a \"name\", {of} %any\n= kind");
    }
    if (depth == 0 && oneIn(12)) {
      OpMetadata metadata;
      metadata.op_name = "jit(f)/\"quoted\\\"";
      metadata.source_file = "a file.py";
      metadata.source_line = static_cast<std::int32_t>(number(1, 99));
      b->SetOpMetadata(metadata);
    } else if (oneIn(4)) {
      b->ClearOpMetadata();
    }
    const Step step = depth < 2 && oneIn(6) ? oneOf(calls) : oneOf(steps);
    (this->*step)();
  }
}

Program fuzz::randomComputation(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Program program;
  XlaBuilder b(absl::StrCat("random", seed));
  Generator generator(&b, &random, &program.arguments);
  generator.grow(static_cast<int>(3 + random() % 14));
  const XlaOp result = generator.result();
  program.computation = b.Build(result);
  return program;
}
