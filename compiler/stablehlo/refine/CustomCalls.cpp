//===- CustomCalls.cpp - JAX's custom calls on sizes ----------------------===//
//
// Assertions that always hold are dropped, those that never do are errors, and the others are
// checked at each call. dynamic_reduce_window and dynamic_top_k become the ops at their bounds.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/refine/Refiner.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::refine;

/// True if the comparison that is asserted follows from the bounds, without what assertions say.
bool Refiner::alwaysHolds(Operation *assertion) {
  auto compare = assertion->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
  if (!compare || !canTrack(compare.getLhs()) || compare.getType().getRank() != 0) {
    return false;
  }
  SizeExpr difference = elementsOf(compare.getLhs()).front() - elementsOf(compare.getRhs()).front();
  SizeRange range = difference.range([&](StringRef name) {
    SizeRange known = rangeOf(name);
    return findSymbol(name) ? SizeRange{0, known.high} : known;
  });
  using Direction = stablehlo::ComparisonDirection;
  switch (compare.getComparisonDirection()) {
  case Direction::EQ: return range == SizeRange{0, 0};
  case Direction::NE: return range.low > 0 || range.high < 0;
  case Direction::GE: return range.low >= 0;
  case Direction::GT: return range.low > 0;
  case Direction::LE: return range.high <= 0;
  case Direction::LT: return range.high < 0;
  }
  return false;
}

LogicalResult Refiner::shapeAssertion(Operation *op) {
  if (op->getNumOperands() == 0 || !canTrackScalar(op->getOperand(0))) {
    return refuse(op, "shape_assertion: expected a predicate");
  }
  SizeExpr holds = elementsOf(op->getOperand(0)).front();
  auto message = op->getAttrOfType<StringAttr>("error_message");
  op->setAttr("backend_config", message ? message : builder.getStringAttr("an assertion failed"));
  if (inexact.empty() && alwaysHolds(op)) {
    erase(op);
    return success();
  }
  if (holds == SizeExpr(0)) {
    return op->emitError() << "the bounds contradict an assertion of the program: "
                           << (message ? message.getValue() : StringRef());
  }
  return success();
}

LogicalResult Refiner::dynamicTopk(Operation *op) {
  Value x = op->getOperand(0);
  if (op->getNumOperands() != 2 || op->getNumResults() != 2 ||
      !isa<RankedTensorType>(x.getType()) || typeOf(x).getRank() == 0 ||
      !canTrackScalar(op->getOperand(1))) {
    return refuse(op, "dynamic_top_k: expected an array and a number");
  }
  SizeExpr k = elementsOf(op->getOperand(1)).front();
  if (isData(k)) {
    return refuse(op, "dynamic_top_k: the number of results depends on elements of arrays");
  }
  Sizes own = sizesOf(x);
  own.back() = k;
  // As many as the bound, of which the first are those wanted.
  int64_t most = std::min(boundOf(k), boundOf(sizesOf(x).back()));
  builder.setInsertionPoint(op);
  Sizes wide = sizesOf(x);
  wide.back() = most;
  auto all = [&](Type element) { return boundedType(op->getLoc(), element, wide); };
  FailureOr<RankedTensorType> values = all(typeOf(x).getElementType());
  FailureOr<RankedTensorType> numbers = all(builder.getI32Type());
  if (failed(values) || failed(numbers)) {
    return failure();
  }
  OperationState state(op->getLoc(), "chlo.top_k", x, {*values, *numbers},
                       builder.getNamedAttr("k", builder.getI64IntegerAttr(most)));
  Operation *made = builder.create(state);
  SmallVector<Value> results;
  for (Value result : made->getResults()) {
    sizes[result] = wide;
    Value cut = k.constant() ? result : sized(result, own);
    results.push_back(cut);
  }
  replace(op, results);
  return success();
}

LogicalResult Refiner::dynamicReduceWindow(Operation *op) {
  auto called = op->getAttrOfType<ArrayAttr>("called_computations");
  auto name =
      called && called.size() == 1 ? dyn_cast<FlatSymbolRefAttr>(called[0]) : FlatSymbolRefAttr();
  auto function =
      name ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name) : func::FuncOp();
  if (op->getNumOperands() != 7 || op->getNumResults() != 1 || !function || function.isExternal() ||
      !llvm::all_of(op->getOperands().drop_front(2), canTrack)) {
    return refuse(op, "dynamic_reduce_window: expected an array, a scalar, five lists of integers "
                      "and a computation");
  }
  Value x = op->getOperand(0), init = op->getOperand(1);
  bool fits = isa<RankedTensorType>(x.getType()) &&
              isa<RankedTensorType>(op->getResult(0).getType()) &&
              typeOf(op->getResult(0)).getRank() == typeOf(x).getRank();
  for (unsigned i = 2; i < 7; ++i) {
    fits = fits &&
           typeOf(op->getOperand(i)).getNumElements() == (i == 6 ? 2 : 1) * typeOf(x).getRank();
  }
  if (!fits) {
    return refuse(op, "dynamic_reduce_window: its lists have other lengths than the array's rank");
  }
  Sizes from = sizesOf(x);
  int64_t rank = from.size();
  auto list = [&](unsigned number) { return elementsOf(op->getOperand(number)); };
  ArrayRef<SizeExpr> window = list(2), stride = list(3), base = list(4), dilation = list(5);
  ArrayRef<SizeExpr> padding = list(6);
  SmallVector<int64_t> windows, strides, bases, dilations, pads(2 * rank, 0);
  builder.setInsertionPoint(op);
  Sizes padded = from;
  SmallVector<SizeExpr> low(rank, 0);
  SmallVector<Value> lows(rank);
  Sizes whole(rank, SizeExpr::unknown()); // dimensions that one window covers
  bool padsFirst = false, covers = false;
  for (int64_t dim = 0; dim < rank; ++dim) {
    for (const SizeExpr &each : {stride[dim], base[dim], dilation[dim]}) {
      if (!each.constant()) {
        return refuse(op,
                      "dynamic_reduce_window: strides and dilations that vary are not supported");
      }
    }
    strides.push_back(*stride[dim].constant());
    bases.push_back(*base[dim].constant());
    dilations.push_back(*dilation[dim].constant());
    SizeExpr before = padding[2 * dim], after = padding[2 * dim + 1];
    if (isData(before) || isData(after) || isData(window[dim])) {
      return refuse(op, "dynamic_reduce_window: windows depend on elements of arrays");
    }
    if (std::optional<int64_t> size = window[dim].constant()) {
      windows.push_back(*size);
      if (before.constant() && after.constant()) {
        pads[2 * dim] = *before.constant();
        pads[2 * dim + 1] = *after.constant();
      } else if (bases.back() == 1) {
        padsFirst = true;
        low[dim] = before;
        lows[dim] = before.constant() ? Value() : sizeValue(before);
        padded[dim] = from[dim] + before + after;
      } else {
        return refuse(op, "dynamic_reduce_window: padding that varies of a dilated array");
      }
      continue;
    }
    int64_t most = boundOf(window[dim]);
    windows.push_back(most);
    bool isPlain = strides.back() == 1 && bases.back() == 1 && dilations.back() == 1;
    if (isPlain && before == window[dim] - 1 && after == SizeExpr(0)) {
      pads[2 * dim] = most - 1; // a sum up to each element
    } else if (isPlain && before == SizeExpr(0) && after == window[dim] - 1) {
      pads[2 * dim + 1] = most - 1; // a sum from each element on
    } else if (before == SizeExpr(0) && after == SizeExpr(0) && window[dim] == from[dim]) {
      covers = true;
      whole[dim] = from[dim];
    } else {
      return refuse(op, "dynamic_reduce_window: windows of a size that varies, but not with the "
                        "array, are not supported");
    }
  }
  if (padsFirst) {
    // A window that sees padding sees initial values, as these are.
    x = this->padded(x, init, low, SmallVector<int64_t>(rank, 0), padded, lows);
    from = padded;
  }
  if (covers) {
    Sizes masks = from, rest = from;
    for (int64_t dim = 0; dim < rank; ++dim) {
      (whole[dim].isKnown() ? rest[dim] : masks[dim]) = boundOf(from[dim]);
    }
    x = sized(masked(forgotten(x), masks, init), rest);
  }
  OperationState state(
      op->getLoc(), "stablehlo.reduce_window", {x, init}, op->getResultTypes(),
      {builder.getNamedAttr("window_dimensions", builder.getDenseI64ArrayAttr(windows)),
       builder.getNamedAttr("window_strides", builder.getDenseI64ArrayAttr(strides)),
       builder.getNamedAttr("base_dilations", builder.getDenseI64ArrayAttr(bases)),
       builder.getNamedAttr("window_dilations", builder.getDenseI64ArrayAttr(dilations)),
       builder.getNamedAttr("padding",
                            DenseIntElementsAttr::get(
                                RankedTensorType::get({rank, 2}, builder.getI64Type()), pads))});
  Region *region = state.addRegion();
  IRMapping map;
  function.getBody().cloneInto(region, map);
  Operation *made = builder.create(state);
  Operation *end = made->getRegion(0).front().getTerminator();
  OpBuilder inner(end);
  inner.create(OperationState(end->getLoc(), "stablehlo.return", end->getOperands(), {}, {}));
  end->erase();
  Value result = made->getResult(0);
  FailureOr<Sizes> own = inferSizes(made, 0);
  if (failed(own)) {
    return failure();
  }
  for (int64_t dim = 0; dim < rank; ++dim) {
    // As many windows as elements, whatever the window's bound.
    if (!window[dim].constant() && !whole[dim].isKnown()) {
      (*own)[dim] = from[dim];
    }
  }
  // The computation is the text's own.
  if (failed(setSizes(result, *own)) || failed(verify(made))) {
    return failure();
  }
  replace(op, result);
  return success();
}

/// Sizes of results are in their types: the target does not take the last operands, which are them.
static void dropShapeOperands(Operation *op, ArrayRef<int64_t> shapes) {
  int64_t kept = op->getNumOperands() - shapes.size();
  auto isLast = [&](int64_t i) { return llvm::is_contained(shapes, kept + i); };
  if (shapes.empty() || kept < 0 || !llvm::all_of(llvm::seq<int64_t>(shapes.size()), isLast)) {
    return;
  }
  op->eraseOperands(kept, shapes.size());
  op->removeAttr("indices_of_shape_operands");
  if (auto orders = op->getAttrOfType<ArrayAttr>("operand_layouts")) {
    op->setAttr("operand_layouts",
                ArrayAttr::get(op->getContext(), orders.getValue().take_front(kept)));
  }
}

LogicalResult Refiner::customCall(Operation *op) {
  StringRef target = cast<stablehlo::CustomCallOp>(op).getCallTargetName();
  if (target == "shape_assertion") {
    return shapeAssertion(op);
  }
  if (target == "stablehlo.dynamic_reduce_window") {
    return dynamicReduceWindow(op);
  }
  if (target == "stablehlo.dynamic_top_k") {
    return dynamicTopk(op);
  }
  // Sizes of results are operands, or those of the only operand.
  SmallVector<int64_t> shapes = listAttr(op, "indices_of_shape_operands");
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || type.hasStaticShape()) {
      continue;
    }
    FailureOr<Sizes> own = failure();
    unsigned number = result.getResultNumber();
    if (number < shapes.size() && shapes[number] >= 0 && shapes[number] < op->getNumOperands()) {
      own = sizesFrom(op, op->getOperand(shapes[number]), result);
    } else if (op->getNumOperands() == 1 && isa<RankedTensorType>(op->getOperand(0).getType()) &&
               typeOf(op->getOperand(0)).getRank() == type.getRank()) {
      own = sizesOf(op->getOperand(0));
    } else {
      return refuse(op, "target '" + target + "': sizes of its result are unknown");
    }
    if (failed(own) || failed(setSizes(result, *own))) {
      return failure();
    }
  }
  dropShapeOperands(op, shapes);
  return success();
}
