//===- Reduce.cpp - Rules of ops with a computation of scalars ------------===//
#include "dialect/stablehlo/rules/Index.h"
#include "dialect/stablehlo/rules/Region.h"
#include "dialect/stablehlo/rules/Window.h"

using namespace mlir;
using namespace stablehlo;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Inputs of one shape, an initial scalar of the same element type for each, as many results.
static bool checkInputs(Check &check, OperandRange inputs, OperandRange initial, StringRef count,
                        StringRef shape, StringRef element) {
  bool valid = check.require(!inputs.empty() && inputs.size() == initial.size() &&
                                 check->getNumResults() == inputs.size(),
                             count, "there are ", inputs.size(), " inputs, ", initial.size(),
                             " initial values and ", check->getNumResults(), " results");
  if (!valid) {
    return false;
  }
  for (auto [input, value] : llvm::zip_equal(inputs, initial)) {
    valid &= check.require(shapesAgree(typeOf(input), typeOf(inputs[0])), shape, "the inputs are ",
                           inputs[0].getType(), " and ", input.getType());
    valid &= check.require(typeOf(value).getRank() == 0, "i2", "an initial value is ",
                           value.getType(), ", expected a scalar");
    valid &= check.require(
        accumulates(typeOf(input).getElementType(), typeOf(value).getElementType()), element,
        "an input is ", input.getType(), ", its initial value ", value.getType());
  }
  return valid;
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

static void reduce(Check &check) {
  auto op = cast<ReduceOp>(check.getOp());
  if (!checkInputs(check, op.getInputs(), op.getInitValues(), "c3", "c1", "c2")) {
    return;
  }
  RankedTensorType input = typeOf(op.getInputs()[0]);
  if (!check.inRange("c4", "dimensions", op.getDimensions(), input.getRank()) ||
      !check.unique("c5", "dimensions", op.getDimensions())) {
    return;
  }
  SmallVector<int64_t> expected;
  for (auto [dim, size] : llvm::enumerate(input.getShape())) {
    if (!llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim))) {
      expected.push_back(size);
    }
  }
  for (unsigned i = 0; i < check->getNumResults(); ++i) {
    check.resultShape("c7", expected, i);
  }
}
static void reduceBody(Check &check) {
  auto op = cast<ReduceOp>(check.getOp());
  checkReducer(check, "c6", "c8", op.getBody(), "the body", op.getInputs().getTypes(),
               op.getInitValues().getTypes());
}

//===----------------------------------------------------------------------===//
// reduce_window, select_and_scatter
//===----------------------------------------------------------------------===//

static std::optional<SmallVector<int64_t>>
windowCounts(Check &check, StringRef label, const Window &window, RankedTensorType input) {
  SmallVector<int64_t> counts;
  for (auto [dim, size] : llvm::enumerate(input.getShape())) {
    std::optional<int64_t> count = window.count(dim, size);
    if (!check.require(count.has_value(), label, "the window along dimension ", dim,
                       " is too large")) {
      return std::nullopt;
    }
    counts.push_back(*count);
  }
  return counts;
}

static void reduceWindow(Check &check) {
  auto op = cast<ReduceWindowOp>(check.getOp());
  if (!checkInputs(check, op.getInputs(), op.getInitValues(), "c1", "c2", "c3")) {
    return;
  }
  RankedTensorType input = typeOf(op.getInputs()[0]);
  WindowLabels labels = {"c6", "c7", "c12", "c8", "c9", "c10", "c11"};
  if (!check.hasSize("c4", "window_dimensions", op.getWindowDimensions().size(), input.getRank()) ||
      !check.positive("c5", "window_dimensions", op.getWindowDimensions())) {
    return;
  }
  std::optional<Window> window =
      readWindow(check, labels, input.getRank(), op.getWindowDimensions(), op.getWindowStrides(),
                 op.getPaddingAttr(), op.getBaseDilations(), op.getWindowDilations());
  std::optional<SmallVector<int64_t>> expected;
  if (window) {
    expected = windowCounts(check, "c15", *window, input);
  }
  for (unsigned i = 0; expected && i < check->getNumResults(); ++i) {
    check.resultShape(i == 0 ? "c15" : "c14", *expected, i);
  }
}
static void reduceWindowBody(Check &check) {
  auto op = cast<ReduceWindowOp>(check.getOp());
  checkReducer(check, "c13", "c16", op.getBody(), "the body", op.getInputs().getTypes(),
               op.getInitValues().getTypes());
}

static void selectAndScatter(Check &check) {
  auto op = cast<SelectAndScatterOp>(check.getOp());
  RankedTensorType operand = op.getOperand().getType(), source = op.getSource().getType(),
                   initial = op.getInitValue().getType();
  check.require(elementsAgree(operand.getElementType(), source.getElementType()), "c1",
                "the operand is ", operand, ", the source ", source);
  check.require(initial.getRank() == 0, "i3", "the initial value is ", initial,
                ", expected a scalar");
  check.require(shapesAgree(operand, check.result()), "c11", "the operand is ", operand,
                ", the result ", check.resultType(0));
  ArrayRef<int64_t> sizes = op.getWindowDimensions().value_or(ArrayRef<int64_t>());
  WindowLabels labels = {"c6", "c7", "c8", "", "", "", ""};
  if (!check.hasSize("c4", "window_dimensions", sizes.size(), operand.getRank()) ||
      !check.positive("c5", "window_dimensions", sizes)) {
    return;
  }
  std::optional<Window> window = readWindow(check, labels, operand.getRank(), sizes,
                                            op.getWindowStrides(), op.getPaddingAttr(), {}, {});
  std::optional<SmallVector<int64_t>> expected;
  if (window) {
    expected = windowCounts(check, "c2", *window, operand);
  }
  check.require(!expected || shapesAgree(*expected, source.getShape()), "c2",
                "the source's shape is ", source.getShape(), ", the window has ",
                shapeText(expected.value_or(SmallVector<int64_t>())), " places");
}
static void selectAndScatterRegions(Check &check) {
  auto op = cast<SelectAndScatterOp>(check.getOp());
  RankedTensorType operand = op.getOperand().getType();
  Type scalar = RankedTensorType::get({}, operand.getElementType());
  checkArguments(check, "c9", op.getSelect(), "select", {scalar, scalar});
  checkReturned(check, "c9", op.getSelect(), "select", predicateType(op.getContext()));
  checkReducer(check, "c10", "c12", op.getScatter(), "scatter", op.getSource().getType(),
               op.getInitValue().getType());
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

static void scatter(Check &check) {
  auto op = cast<ScatterOp>(check.getOp());
  size_t count = op.getInputs().size();
  if (!check.require(count > 0 && check->getNumResults() == count, "c5", "there are ", count,
                     " inputs, ", op.getUpdates().size(), " updates and ", check->getNumResults(),
                     " results")) {
    return;
  }
  checkScatterShapes(check);
  for (auto [input, result] : llvm::zip(op.getInputs(), check->getResultTypes())) {
    check.require(shapesAgree(typeOf(input), cast<RankedTensorType>(result)), "c24", "an input is ",
                  input.getType(), ", its result ", result);
  }
}
static void scatterBody(Check &check) {
  auto op = cast<ScatterOp>(check.getOp());
  checkReducer(check, "c23", "c25", op.getUpdateComputation(), "update_computation",
               op.getInputs().getTypes(), {});
}

//===----------------------------------------------------------------------===//
// sort, map
//===----------------------------------------------------------------------===//

static void sort(Check &check) {
  auto op = cast<SortOp>(check.getOp());
  if (!check.require(!op.getInputs().empty() && op.getInputs().size() == check->getNumResults(),
                     "c1", "there are ", op.getInputs().size(), " inputs and ",
                     check->getNumResults(), " results")) {
    return;
  }
  RankedTensorType first = check.operand(0);
  for (unsigned i = 0; i < check->getNumOperands(); ++i) {
    check.require(typesAgree(check.operandType(i), check.resultType(i)), "c2", "an input is ",
                  check.operandType(i), ", its result ", check.resultType(i));
    check.require(shapesAgree(check.operand(i), first), "c3", "the inputs are ", first, " and ",
                  check.operandType(i));
  }
  int64_t dimension = op.getDimension(), rank = first.getRank();
  check.require(dimension >= -rank && dimension < rank, "c4", "dimension is ", dimension,
                ", expected at least ", -rank, " and less than ", rank);
}
static void sortComparator(Check &check) {
  auto op = cast<SortOp>(check.getOp());
  SmallVector<Type> expected;
  for (Value input : op.getInputs()) {
    expected.append(2, RankedTensorType::get({}, typeOf(input).getElementType()));
  }
  checkArguments(check, "c5", op.getComparator(), "the comparator", expected);
  checkReturned(check, "c5", op.getComparator(), "the comparator", predicateType(op.getContext()));
}

static void map(Check &check) {
  auto op = cast<MapOp>(check.getOp());
  if (!check.require(!op.getInputs().empty(), "c2", "there are no inputs")) {
    return;
  }
  for (Value input : op.getInputs()) {
    check.require(shapesAgree(typeOf(input), check.result()), "c1", "an input is ", input.getType(),
                  ", the result ", check.resultType(0));
  }
  check.require(llvm::equal(op.getDimensions(), llvm::seq<int64_t>(0, check.operand(0).getRank())),
                "c3", "dimensions is ", op.getDimensions(), ", expected all in order");
}
static void mapBody(Check &check) {
  auto op = cast<MapOp>(check.getOp());
  SmallVector<Type> expected;
  for (Value input : op.getInputs()) {
    expected.push_back(RankedTensorType::get({}, typeOf(input).getElementType()));
  }
  checkArguments(check, "c4", op.getComputation(), "the computation", expected);
  Type result = RankedTensorType::get({}, check.result().getElementType());
  checkReturned(check, "c4", op.getComputation(), "the computation", result);
}

ArrayRef<Row> stablehlo::reduceRows() {
  static constexpr unsigned any[] = {Any};
  static const Row rows[] = {
      {"map", any, Any, map, mapBody},
      {"reduce", any, Any, reduce, reduceBody},
      {"reduce_window", any, Any, reduceWindow, reduceWindowBody},
      {"scatter", {}, Any, scatter, scatterBody},
      {"select_and_scatter", any, Any, selectAndScatter, selectAndScatterRegions},
      {"sort", any, Any, sort, sortComparator},
  };
  return rows;
}
