//===- InferReduce.cpp - Rules of reductions, sorts, scans, maps ----------===//
//
// Ops that apply a scalar computation along dimensions. A variadic form has N inputs and one tuple
// result (N results after flattening).
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/rules/Rule.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace hlo {

static SmallVector<Type> elementsOf(ArrayRef<RankedTensorType> arrays) {
  SmallVector<Type> elements;
  for (RankedTensorType array : arrays) {
    elements.push_back(array.getElementType());
  }
  return elements;
}

/// Checks that all arrays have the sizes of the first.
static LogicalResult checkEqualDims(RuleContext &context, StringRef label,
                                    ArrayRef<RankedTensorType> arrays) {
  bool good = true;
  for (auto [i, array] : llvm::enumerate(arrays)) {
    if (!sameDims(array, arrays.front())) {
      (void)context.failAt({0, static_cast<int64_t>(i)}, label, "sizes differ: operand 0 is ",
                           arrays.front(), ", operand ", i, " is ", array);
      good = false;
    }
  }
  return success(good);
}

static FailureOr<Type> reduce(RuleContext &context) {
  if (failed(context.expectAtLeast(2))) {
    return failure();
  }
  auto operands = context.arrays();
  auto dimensions = context.requiredList("dimensions");
  auto reducer = context.computation("to_apply");
  if (failed(operands) || failed(dimensions) || failed(reducer)) {
    return failure();
  }
  if (context.size() % 2) {
    return context.fail("c1", "expects as many inputs as initial values, has ", context.size(),
                        " operands");
  }
  ArrayRef<RankedTensorType> all(*operands);
  int64_t count = context.size() / 2;
  ArrayRef<RankedTensorType> inputs = all.take_front(count), inits = all.drop_front(count);
  RankedTensorType first = inputs.front();
  (void)checkEqualDims(context, "c2", inputs);
  (void)checkDimensions(context, "c3", "dimensions", *dimensions, first.getRank());
  for (auto [i, init] : llvm::enumerate(inits)) {
    int64_t number = count + i;
    if (init.getRank() != 0) {
      (void)context.failAt({number}, "c4", "initial value ", i, " must be a scalar, is ", init);
    }
    if (!sameUpToPrecision(init.getElementType(), inputs[i].getElementType())) {
      (void)context.failAt({static_cast<int64_t>(i), number}, "c5", "element types differ: input ",
                           i, " is ", inputs[i], ", its initial value is ", init);
    }
  }
  SmallVector<Type> accumulators = elementsOf(inits), parameters(accumulators);
  parameters.append(elementsOf(inputs));
  if (failed(
          checkScalarComputation(context, "c6", "to_apply", *reducer, parameters, accumulators)) ||
      context.hasFailed()) {
    return failure();
  }
  ShapeBuilder shape;
  for (int64_t dim = 0; dim < first.getRank(); ++dim) {
    if (!llvm::is_contained(*dimensions, dim)) {
      shape.add(first, dim);
    }
  }
  SmallVector<Type> results;
  for (Type scalar : leafTypes(reducer->results)) {
    results.push_back(shape.build(asArray(scalar).getElementType()));
  }
  return tupleUnlessSingle(results);
}

static FailureOr<Type> map(RuleContext &context) {
  if (failed(context.expectAtLeast(1))) {
    return failure();
  }
  auto operands = context.arrays();
  auto mapper = context.computation("to_apply");
  if (failed(operands) || failed(mapper)) {
    return failure();
  }
  RankedTensorType first = operands->front();
  (void)checkEqualDims(context, "c1", *operands);
  auto dimensions = context.get<DenseI64ArrayAttr>("dimensions");
  if (!context.isWritten() && !dimensions) {
    context.fail("c2", "attribute 'dimensions' is missing");
  }
  if (dimensions) {
    for (auto [i, dim] : llvm::enumerate(dimensions.asArrayRef())) {
      if (dim != static_cast<int64_t>(i) || dimensions.size() != first.getRank()) {
        context.fail("c2", "dimensions must be all of the operand's in order, is ",
                     dimensions.asArrayRef(), ", the rank is ", first.getRank());
        break;
      }
    }
  }
  SmallVector<Type> results = leafTypes(mapper->results);
  RankedTensorType scalar = results.size() == 1 ? asArray(results.front()) : RankedTensorType();
  if (!scalar) {
    return context.fail("c3", "to_apply '", mapper->name, "' gives ", mapper->result(),
                        ", expected one scalar");
  }
  SmallVector<Type> elements = elementsOf(*operands);
  (void)checkScalarComputation(context, "c3", "to_apply", *mapper, elements,
                               {scalar.getElementType()});
  return context.result(withElement(first, scalar.getElementType()));
}

static FailureOr<Type> sort(RuleContext &context) {
  if (failed(context.expectAtLeast(1))) {
    return failure();
  }
  auto operands = context.arrays();
  auto dimension = context.requiredInteger("dimension");
  auto comparator = context.computation("to_apply");
  if (failed(operands) || failed(dimension) || failed(comparator)) {
    return failure();
  }
  (void)checkEqualDims(context, "c1", *operands);
  int64_t rank = operands->front().getRank();
  if (*dimension < 0 || (*dimension >= rank && !(rank == 0 && *dimension == 0))) {
    context.fail("c2", "dimension is ", *dimension, ", the rank is ", rank);
  }
  SmallVector<Type> parameters, results;
  for (RankedTensorType operand : *operands) {
    parameters.append(2, operand.getElementType());
    results.push_back(operand);
  }
  (void)checkScalarComputation(context, "c3", "to_apply", *comparator, parameters,
                               {IntegerType::get(operands->front().getContext(), 1)});
  return context.result(tupleUnlessSingle(results));
}

static FailureOr<Type> topk(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  RankedTensorType operand = context.array(0);
  auto k = context.requiredInteger("k");
  if (!operand || failed(k)) {
    return failure();
  }
  int64_t rank = operand.getRank();
  if (rank == 0) {
    return context.failAt({0}, "c1", "the operand must have a dimension, is ", operand);
  }
  int64_t last = operand.getDimSize(rank - 1);
  if (*k < 0 || (!ShapedType::isDynamic(last) && *k > last)) {
    return context.failAt({0}, "c2", "k is ", *k, ", the last dimension has ", last);
  }
  if (isComplex(operand.getElementType())) {
    return context.failAt({0}, "c3", "complex numbers have no order, the operand is ", operand);
  }
  ShapeBuilder shape;
  for (int64_t dim = 0; dim + 1 < rank; ++dim) {
    shape.add(operand, dim);
  }
  shape.add(*k);
  MLIRContext *mlirContext = operand.getContext();
  return Type(TupleType::get(
      mlirContext, {shape.build(operand.getElementType()),
                    shape.build(IntegerType::get(mlirContext, 32, IntegerType::Signed))}));
}

/// The computation gets the inputs without the scanned dimension; its first results get the
/// dimension back, the last `num_carries` are the carries.
static FailureOr<Type> scan(RuleContext &context) {
  if (failed(context.expectAtLeast(1))) {
    return failure();
  }
  auto operands = context.arrays();
  auto dimension = context.requiredInteger("dimension");
  auto carries = context.requiredInteger("num_carries");
  auto step = context.computation("to_apply");
  if (failed(operands) || failed(dimension) || failed(carries) || failed(step)) {
    return failure();
  }
  int64_t inputs = context.size() - *carries;
  if (*carries < 0 || inputs < 1) {
    return context.fail("c1", "num_carries is ", *carries, ", has ", context.size(),
                        " operands, at least one must be an input");
  }
  RankedTensorType first = operands->front();
  SmallVector<Type> expected;
  for (int64_t i = 0; i < context.size(); ++i) {
    RankedTensorType operand = (*operands)[i];
    if (i >= inputs) {
      expected.push_back(operand);
      continue;
    }
    if (failed(checkDimensions(context, "c2", "dimensions", {*dimension}, operand.getRank()))) {
      return failure();
    }
    if (!sizesAgree(operand.getDimSize(*dimension), first.getDimSize(*dimension))) {
      (void)context.failAt({0, i}, "c3", "sizes of dim ", *dimension, " differ: operand 0 has ",
                           first.getDimSize(*dimension), ", operand ", i, " has ",
                           operand.getDimSize(*dimension));
    }
    ShapeBuilder shape;
    for (int64_t dim = 0; dim < operand.getRank(); ++dim) {
      if (dim != *dimension) {
        shape.add(operand, dim);
      }
    }
    expected.push_back(shape.build(operand.getElementType()));
  }
  if (step->parameters.size() != expected.size()) {
    return context.fail("c4", "to_apply '", step->name, "' takes ", step->parameters.size(),
                        " parameters, ", expected.size(), " are given");
  }
  for (auto [i, parameter, type] : llvm::enumerate(step->parameters, expected)) {
    if (!sameShape(parameter, type)) {
      context.fail("c4", "to_apply '", step->name, "' takes ", parameter, " as parameter ", i, ", ",
                   type, " is given");
    }
  }
  SmallVector<Type> results = leafTypes(step->results);
  if (static_cast<int64_t>(results.size()) < *carries) {
    return context.fail("c5", "to_apply '", step->name, "' gives ", results.size(),
                        " results, num_carries is ", *carries);
  }
  int64_t outputs = results.size() - *carries;
  for (auto [i, result] : llvm::enumerate(results)) {
    RankedTensorType array = asArray(result);
    int64_t number = i;
    if (number >= outputs) {
      int64_t carry = number - outputs + inputs;
      if (!sameShape(result, context.type(carry))) {
        (void)context.failAt({carry}, "c6", "carry ", number - outputs, " starts as ",
                             context.type(carry), ", to_apply gives ", result);
      }
      continue;
    }
    if (!array || *dimension > array.getRank()) {
      context.fail("c5", "to_apply '", step->name, "' gives ", result, " as result ", i, ", dim ",
                   *dimension, " cannot be inserted");
      continue;
    }
    ShapeBuilder shape;
    for (int64_t dim = 0; dim <= array.getRank(); ++dim) {
      if (dim == *dimension) {
        shape.add(first, dim);
      }
      if (dim < array.getRank()) {
        shape.add(array, dim);
      }
    }
    result = shape.build(array.getElementType());
  }
  // Unlike other variadic ops, a scan with one result is written as a tuple, too.
  if (results.size() == 1 && !isa_and_present<TupleType>(context.writtenType())) {
    return context.result(results.front());
  }
  return context.result(TupleType::get(first.getContext(), results));
}

Rule reduceRule(StringRef opName) {
  return llvm::StringSwitch<Rule>(opName)
      .Case("hlo.reduce", reduce)
      .Case("hlo.map", map)
      .Case("hlo.sort", sort)
      .Case("hlo.topk", topk)
      .Case("hlo.scan", scan)
      .Default(nullptr);
}

} // namespace hlo
