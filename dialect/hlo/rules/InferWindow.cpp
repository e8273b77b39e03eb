//===- InferWindow.cpp - Rules of reduce-window, select-and-scatter -------===//
//
// A window slides over each dimension; sizes follow the formula in Rule.cpp.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/rules/Rule.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace hlo {

/// The output sizes of a windowed array; on failure an error was reported. `operand` numbers the
/// array for notes.
static FailureOr<ShapeBuilder> slide(RuleContext &context, int64_t i, RankedTensorType array,
                                     WindowAttr window) {
  ShapeBuilder shape;
  for (int64_t dim = 0; dim < array.getRank(); ++dim) {
    std::optional<int64_t> size = windowOutput(array.getDimSize(dim), window, dim);
    if (!size) {
      return context.failAt({i}, "c4", "the window's output size of dim ", dim, " overflows");
    }
    shape.add(*size, isBounded(array, dim));
  }
  return shape;
}

static FailureOr<Type> reduceWindow(RuleContext &context) {
  if (failed(context.expectAtLeast(2))) {
    return failure();
  }
  auto operands = context.arrays();
  auto reducer = context.computation("to_apply");
  auto window = context.get<WindowAttr>("window");
  if (failed(operands) || failed(reducer)) {
    return failure();
  }
  if (context.size() % 2) {
    return context.fail("c1", "expects as many inputs as initial values, has ", context.size(),
                        " operands");
  }
  int64_t count = context.size() / 2;
  RankedTensorType first = operands->front();
  for (int64_t i = 0; i < count; ++i) {
    RankedTensorType input = (*operands)[i], init = (*operands)[count + i];
    if (!sameDims(input, first)) {
      (void)context.failAt({0, i}, "c2", "sizes differ: operand 0 is ", first, ", operand ", i,
                           " is ", input);
    }
    if (init.getRank() != 0 || !sameUpToPrecision(init.getElementType(), input.getElementType())) {
      (void)context.failAt({i, count + i}, "c3", "initial value ", i, " is ", init,
                           ", must be a scalar of the type of input ", i, ", ", input);
    }
  }
  if (context.hasFailed() || failed(checkWindow(context, "c5", window, first.getRank()))) {
    return failure();
  }
  FailureOr<ShapeBuilder> shape = slide(context, 0, first, window);
  if (failed(shape)) {
    return failure();
  }
  SmallVector<Type> accumulators, parameters, results;
  for (int64_t i = 0; i < count; ++i) {
    accumulators.push_back((*operands)[count + i].getElementType());
  }
  parameters = accumulators;
  for (int64_t i = 0; i < count; ++i) {
    parameters.push_back((*operands)[i].getElementType());
  }
  if (failed(
          checkScalarComputation(context, "c6", "to_apply", *reducer, parameters, accumulators))) {
    return failure();
  }
  for (Type scalar : leafTypes(reducer->results)) {
    results.push_back(shape->build(asArray(scalar).getElementType()));
  }
  return tupleUnlessSingle(results);
}

static FailureOr<Type> selectAndScatter(RuleContext &context) {
  if (failed(context.expectOperands(3))) {
    return failure();
  }
  RankedTensorType operand = context.array(0), source = context.array(1), init = context.array(2);
  auto select = context.computation("select");
  auto scatter = context.computation("scatter");
  auto window = context.get<WindowAttr>("window");
  if (!operand || !source || !init || failed(select) || failed(scatter)) {
    return failure();
  }
  if (failed(checkWindow(context, "c5", window, operand.getRank()))) {
    return failure();
  }
  FailureOr<ShapeBuilder> shape = slide(context, 0, operand, window);
  if (failed(shape)) {
    return failure();
  }
  Type element = operand.getElementType();
  RankedTensorType expected = shape->build(source.getElementType());
  if (!sameDims(expected, source)) {
    (void)context.failAt({0, 1}, "c1", "the source is ", source,
                         ", the window's output over the operand is ", expected);
  }
  if (!sameUpToPrecision(source.getElementType(), element)) {
    (void)context.failAt({0, 1}, "c2", "element types differ: operand is ", operand, ", source is ",
                         source);
  }
  if (init.getRank() != 0 || !sameUpToPrecision(init.getElementType(), element)) {
    (void)context.failAt({0, 2}, "c3", "the initial value is ", init,
                         ", must be a scalar of the operand's type, ", operand);
  }
  Type pred = IntegerType::get(element.getContext(), 1);
  (void)checkScalarComputation(context, "c6", "select", *select, {element, element}, {pred});
  (void)checkScalarComputation(context, "c7", "scatter", *scatter,
                               {source.getElementType(), init.getElementType()},
                               {init.getElementType()});
  return context.result(operand);
}

Rule windowRule(StringRef opName) {
  return llvm::StringSwitch<Rule>(opName)
      .Case("hlo.reduce_window", reduceWindow)
      .Case("hlo.select_and_scatter", selectAndScatter)
      .Default(nullptr);
}

} // namespace hlo
