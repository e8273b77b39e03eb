//===- OrderRules.cpp - Ops that work on arrays in any order --------------===//
//
// One case for each kind of op, in each of the functions: which orders belong together, and how
// the attributes change. An op without a case is a border: it sees row-major arrays.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/layout/OrderRules.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Shapes.h"

using namespace mlir;
using namespace hlo;

/// True for ops whose operands of the result's rank, and their results, are all in one order.
static bool isInOneOrder(Operation *op) {
  return isElementwiseOp(op) || isa<PadOp, SliceOp, ReverseOp, ConcatenateOp, DynamicSliceOp,
                                    DynamicUpdateSliceOp, ReduceWindowOp, SelectAndScatterOp>(op);
}

/// The kept dimensions of a reduce in the order of its input, numbered as in the result.
static Order orderOfReduced(ReduceOp reduce, ArrayRef<int64_t> main) {
  Order numbers(main.size(), -1), result;
  int64_t kept = 0;
  for (int64_t dim = 0; dim < static_cast<int64_t>(main.size()); ++dim) {
    if (!llvm::is_contained(reduce.getDimensions(), dim)) {
      numbers[dim] = kept++;
    }
  }
  for (int64_t dim : main) {
    if (numbers[dim] >= 0) {
      result.push_back(numbers[dim]);
    }
  }
  return result;
}

/// The order of a broadcast's operand: as the result has its dimensions.
static Order orderOfBroadcasted(BroadcastOp broadcast, ArrayRef<int64_t> main) {
  Order places = placesOf(main), result = rowMajor(broadcast.getDimensions().size());
  llvm::sort(result, [&](int64_t a, int64_t b) {
    return places[broadcast.getDimensions()[a]] < places[broadcast.getDimensions()[b]];
  });
  return result;
}

std::optional<OpOrders> hlo::ordersOf(Operation *op, ArrayRef<int64_t> main) {
  OpOrders orders;
  Order all(main);
  orders.operands.resize(op->getNumOperands());
  orders.results.resize(op->getNumResults());
  if (op->getNumResults() == 0 || !arrayType(op->getResult(0))) {
    return std::nullopt;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    unsigned count = op->getNumOperands() / 2;
    if (op->getNumResults() != count) {
      return std::nullopt;
    }
    std::fill_n(orders.operands.begin(), count, all);
    orders.results.assign(count, orderOfReduced(reduce, main));
    return orders;
  }
  orders.results.assign(op->getNumResults(), all);
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    orders.operands[0] = applied(main, transpose.getDimensions());
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    orders.operands[0] = orderOfBroadcasted(broadcast, main);
  } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    std::optional<Order> order =
        orderAfterReshape(shapeOf(reshape.getResult()), shapeOf(reshape.getOperand()), main);
    if (!order) {
      return std::nullopt;
    }
    orders.operands[0] = *order;
  } else if (isInOneOrder(op)) {
    for (auto [order, operand] : llvm::zip(orders.operands, op->getOperands())) {
      int64_t rank = arrayType(operand) ? rankOf(operand) : -1;
      if (rank == static_cast<int64_t>(main.size())) {
        order = all;
      } else if (rank != 0) {
        return std::nullopt;
      }
    }
  } else if (!isa<IotaOp>(op)) {
    return std::nullopt;
  }
  return orders;
}

std::optional<Order> hlo::mainFromOperand(Operation *op, unsigned number, ArrayRef<int64_t> order) {
  if (order.size() < 2) {
    return std::nullopt;
  }
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    return applied(order, placesOf(transpose.getDimensions()));
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    return orderAfterReshape(shapeOf(reshape.getOperand()), shapeOf(reshape.getResult()), order);
  }
  return isInOneOrder(op) || isa<ReduceOp>(op) ? std::optional(Order(order)) : std::nullopt;
}

std::optional<Order> hlo::mainFromResult(Operation *op, ArrayRef<int64_t> order) {
  bool isKnown = isInOneOrder(op) || isa<TransposeOp, ReshapeOp, BroadcastOp, IotaOp>(op);
  return isKnown && order.size() >= 2 ? std::optional(Order(order)) : std::nullopt;
}

static WindowAttr reorderedWindow(WindowAttr window, ArrayRef<int64_t> order) {
  auto turn = [&](ArrayRef<int64_t> values) {
    return values.empty() ? Order() : applied(order, values);
  };
  return WindowAttr::get(window.getContext(), turn(window.getSize()), turn(window.getStrides()),
                         turn(window.getPadLow()), turn(window.getPadHigh()),
                         turn(window.getBaseDilations()), turn(window.getWindowDilations()),
                         turn(window.getReversal()));
}

/// The operands from `first` on, one for each dimension, in order.
static void reorderOperands(Operation *op, unsigned first, ArrayRef<int64_t> order) {
  SmallVector<Value> operands(op->getOperands().drop_front(first));
  for (auto [i, dim] : llvm::enumerate(order)) {
    op->setOperand(first + i, operands[dim]);
  }
}

/// The attributes of an op whose dimensions are in the order `main`.
static void reorderAttributes(Operation *op, ArrayRef<int64_t> main) {
  Order places = placesOf(main);
  auto sortedPlaces = [&](ArrayRef<int64_t> dims) {
    Order result = applied(dims, places);
    llvm::sort(result);
    return result;
  };
  if (auto pad = dyn_cast<PadOp>(op)) {
    pad.setPaddingLow(applied(main, pad.getPaddingLow()));
    pad.setPaddingHigh(applied(main, pad.getPaddingHigh()));
    pad.setPaddingInterior(applied(main, pad.getPaddingInterior()));
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    slice.setStartIndices(applied(main, slice.getStartIndices()));
    slice.setLimitIndices(applied(main, slice.getLimitIndices()));
    slice.setStrides(applied(main, slice.getStrides()));
  } else if (auto reverse = dyn_cast<ReverseOp>(op)) {
    reverse.setDimensions(sortedPlaces(reverse.getDimensions()));
  } else if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
    concatenate.setDimension(places[concatenate.getDimension()]);
  } else if (auto iota = dyn_cast<IotaOp>(op)) {
    iota.setIotaDimension(places[iota.getIotaDimension()]);
  } else if (auto slice = dyn_cast<DynamicSliceOp>(op)) {
    slice.setDynamicSliceSizes(applied(main, slice.getDynamicSliceSizes()));
    reorderOperands(op, 1, main);
  } else if (isa<DynamicUpdateSliceOp>(op)) {
    reorderOperands(op, 2, main);
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    reduce.setDimensions(sortedPlaces(reduce.getDimensions()));
  } else if (auto window = dyn_cast<ReduceWindowOp>(op); window && window.getWindow()) {
    window.setWindowAttr(reorderedWindow(*window.getWindow(), main));
  } else if (auto scatter = dyn_cast<SelectAndScatterOp>(op); scatter && scatter.getWindow()) {
    scatter.setWindowAttr(reorderedWindow(*scatter.getWindow(), main));
  } else if (isa<TransposeOp>(op)) {
    // The operand has the result's order already.
    cast<TransposeOp>(op).setDimensions(rowMajor(main.size()));
  } else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    reshape.removeInferredDimensionAttr();
  }
}

void hlo::reorderOp(Operation *op, ArrayRef<int64_t> main, const OpOrders &orders) {
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    broadcast.setDimensions(
        applied(applied(orders.operands[0], broadcast.getDimensions()), placesOf(main)));
  }
  reorderAttributes(op, main);
  for (auto [result, order] : llvm::zip(op->getResults(), orders.results)) {
    result.setType(HloBuilder::array(applied(order, shapeOf(result)), elementTypeOf(result)));
  }
}

/// The dimensions other than the features as they are, then the features.
static Order withLast(int64_t rank, int64_t feature) {
  Order order = rowMajor(rank);
  order.erase(order.begin() + feature);
  order.push_back(feature);
  return order;
}

ConvOrders hlo::featuresLast(ConvolutionOp conv) {
  ConvDimsAttr dims = conv.getDimLabels();
  return {withLast(rankOf(conv.getLhs()), dims.getInputFeature()), rowMajor(rankOf(conv.getRhs())),
          withLast(rankOf(conv.getResult()), dims.getOutputFeature())};
}

/// The dimensions by meaning: batch, features, positions.
static Order rolesOf(int64_t batch, int64_t feature, ArrayRef<int64_t> spatial) {
  Order roles{batch, feature};
  llvm::append_range(roles, spatial);
  return roles;
}
static Order inputRoles(ConvolutionOp conv) {
  ConvDimsAttr dims = conv.getDimLabels();
  return rolesOf(dims.getInputBatch(), dims.getInputFeature(), dims.getInputSpatial());
}
static Order resultRoles(ConvolutionOp conv) {
  ConvDimsAttr dims = conv.getDimLabels();
  return rolesOf(dims.getOutputBatch(), dims.getOutputFeature(), dims.getOutputSpatial());
}

Order hlo::resultLikeInput(ConvolutionOp conv, ArrayRef<int64_t> input) {
  return applied(applied(input, placesOf(inputRoles(conv))), resultRoles(conv));
}
Order hlo::inputLikeResult(ConvolutionOp conv, ArrayRef<int64_t> result) {
  return applied(applied(result, placesOf(resultRoles(conv))), inputRoles(conv));
}

void hlo::reorderConvolution(ConvolutionOp conv, const ConvOrders &orders) {
  ConvDimsAttr dims = conv.getDimLabels();
  Order input = placesOf(orders.input), kernel = placesOf(orders.kernel),
        result = placesOf(orders.result);
  conv.setDimLabelsAttr(
      ConvDimsAttr::get(conv.getContext(), input[dims.getInputBatch()],
                        input[dims.getInputFeature()], applied(dims.getInputSpatial(), input),
                        kernel[dims.getKernelInputFeature()], kernel[dims.getKernelOutputFeature()],
                        applied(dims.getKernelSpatial(), kernel), result[dims.getOutputBatch()],
                        result[dims.getOutputFeature()], applied(dims.getOutputSpatial(), result)));
  Value value = conv.getResult();
  value.setType(HloBuilder::array(applied(orders.result, shapeOf(value)), elementTypeOf(value)));
}
