//===- PackOperands.cpp - hlo-pack-operands: weights as they are read -----===//
//
// In: a canonical module with immutable leaves, and a function that chooses the layout of a dot's
// right side. Out: immutable convolution kernels are in the order spatial..., input, output
// features, so that the output features, which become vector lanes, are contiguous; 1x1
// convolutions with few positions are dots; and dots read panels of w columns,
//
//   rhs[k, n]   =>   p[n/w, k, w] = transpose(reshape(rhs)),
//                    reshape(dot(lhs[m, k], p) [m, n/w, w])  to  [m, n]
//
// This is plain HLO; hlo-split-prepare then moves the computation of the panels out of the calls.
// The element-wise ops after the dot, which fusion makes its epilogue, are applied before the
// reshape. Only if w divides n; otherwise a slice would be needed.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Prepared.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/prepare/Immutable.h"
#include "compiler/transforms/prepare/Prepare.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;
using namespace hlo;

static SmallVector<int64_t> listOf(std::optional<ArrayRef<int64_t>> dims) {
  return SmallVector<int64_t>(dims.value_or(ArrayRef<int64_t>()));
}

static bool countsUp(ArrayRef<int64_t> dims) {
  return llvm::equal(dims, llvm::seq<int64_t>(0, dims.size()));
}

/// True if the dot's right side is [batch..., k, n] or [batch..., n, k]; sets `free` to n's
/// dimension.
static bool hasPlainRhs(DotOp dot, int64_t &free) {
  SmallVector<int64_t> batch = listOf(dot.getRhsBatchDims());
  SmallVector<int64_t> contracting = listOf(dot.getRhsContractingDims());
  int64_t first = batch.size();
  if (!countsUp(batch) || contracting.size() != 1 || rankOf(dot.getRhs()) != first + 2) {
    return false;
  }
  free = contracting[0] == first ? first + 1 : first;
  return true;
}

/// rhs as panels [batch..., n/w, k, w] of `form.element`.
static Value makePanels(Value rhs, int64_t free, const PanelForm &form, HloBuilder &b) {
  int64_t batch = rankOf(rhs) - 2;
  SmallVector<int64_t> split(shapeOf(rhs)), order;
  split[free] /= form.width;
  split.insert(split.begin() + free + 1, form.width);
  llvm::append_range(order, llvm::seq<int64_t>(0, batch));
  order.append({free, free == batch ? batch + 2 : batch, free + 1});
  return b.transpose(b.reshape(b.convert(rhs, form.element), split), order);
}

/// `value` with its last dimension split in two; broadcasts stay broadcasts.
static Value splitLast(Value value, ArrayRef<int64_t> shape, HloBuilder &b) {
  if (rankOf(value) == 0) {
    return value;
  }
  if (auto constant = value.getDefiningOp<ConstantOp>()) {
    auto literal = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (literal && literal.isSplat()) {
      return b.constant(literal.resizeSplat(HloBuilder::array(shape, elementTypeOf(value))));
    }
  }
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast) {
    return b.reshape(value, shape);
  }
  int64_t last = shape.size() - 2;
  SmallVector<int64_t> dimensions(broadcast.getDimensions()),
      source(shapeOf(broadcast.getOperand()));
  auto place = llvm::find(dimensions, last);
  if (place != dimensions.end()) {
    size_t i = place - dimensions.begin();
    source[i] = shape[last];
    source.insert(source.begin() + i + 1, shape[last + 1]);
    dimensions.insert(dimensions.begin() + i + 1, last + 1);
  }
  return b.broadcast(b.reshape(broadcast.getOperand(), source), shape, dimensions);
}

/// Applies the element-wise ops after `joined` = reshape(`split`) to the split form. Returns the
/// value that still needs the reshape; `joined` becomes the value that the reshape replaces.
static Value sinkReshape(Value split, Value &joined, OpBuilder &builder) {
  while (joined.hasOneUse()) {
    Operation *user = *joined.user_begin();
    bool sameShape = user->getNumResults() == 1 && isElementwiseOp(user) &&
                     shapeOf(user->getResult(0)) == shapeOf(joined) &&
                     llvm::all_of(user->getOperands(), [&](Value operand) {
                       return rankOf(operand) == 0 || shapeOf(operand) == shapeOf(joined);
                     });
    if (!sameShape) {
      break;
    }
    builder.setInsertionPoint(user);
    HloBuilder b(builder, user->getLoc());
    ArrayRef<int64_t> shape = shapeOf(split);
    Operation *copy = builder.clone(*user);
    builder.setInsertionPoint(copy);
    for (OpOperand &operand : copy->getOpOperands()) {
      operand.set(operand.get() == joined ? split : splitLast(operand.get(), shape, b));
    }
    copy->getResult(0).setType(HloBuilder::array(shape, elementTypeOf(user->getResult(0))));
    joined = user->getResult(0);
    split = copy->getResult(0);
  }
  return split;
}

static void pack(DotOp dot, int64_t free, const PanelForm &form) {
  OpBuilder builder(dot);
  HloBuilder b(builder, dot.getLoc());
  int64_t batch = rankOf(dot.getRhs()) - 2;
  Value panels = makePanels(dot.getRhs(), free, form, b);
  SmallVector<int64_t> shape(shapeOf(dot.getResult()));
  shape.back() /= form.width;
  shape.push_back(form.width);
  auto type = HloBuilder::array(shape, elementTypeOf(dot.getResult()));
  Value split =
      DotOp::create(builder, dot.getLoc(), type, dot.getLhs(), panels, dot.getLhsBatchDimsAttr(),
                    dot.getRhsBatchDimsAttr(), dot.getLhsContractingDimsAttr(),
                    builder.getDenseI64ArrayAttr({batch + 1}), dot.getOperandPrecisionAttr(),
                    dot.getAlgorithmAttr());
  Value joined = dot.getResult();
  split = sinkReshape(split, joined, builder);
  builder.setInsertionPointAfterValue(split);
  HloBuilder last(builder, joined.getLoc());
  joined.replaceAllUsesWith(last.reshape(split, shapeOf(joined)));
}

/// Reorders a convolution's kernel to spatial..., i, o.
static void orderKernel(ConvolutionOp conv) {
  ConvDimsAttr dims = conv.getDimLabels();
  SmallVector<int64_t> order(dims.getKernelSpatial());
  order.append({dims.getKernelInputFeature(), dims.getKernelOutputFeature()});
  if (countsUp(order)) {
    return;
  }
  OpBuilder builder(conv);
  HloBuilder b(builder, conv.getLoc());
  conv.setOperand(1, b.transpose(conv.getRhs(), order));
  int64_t spatial = order.size() - 2;
  SmallVector<int64_t> inOrder = llvm::to_vector(llvm::seq<int64_t>(0, spatial));
  conv.setDimLabelsAttr(ConvDimsAttr::get(conv.getContext(), dims.getInputBatch(),
                                          dims.getInputFeature(), dims.getInputSpatial(), spatial,
                                          spatial + 1, inOrder, dims.getOutputBatch(),
                                          dims.getOutputFeature(), dims.getOutputSpatial()));
}

/// A 1x1 convolution with few positions as a dot; null for other convolutions. Dots can read
/// prepared panels, and packing takes a good part of a kernel with few positions. With many
/// positions it does not, and the convolution strategies are faster.
static DotOp asDot(ConvolutionOp conv) {
  constexpr int64_t mostPositions = 128;
  ConvDimsAttr dims = conv.getDimLabels();
  ArrayRef<int64_t> input = shapeOf(conv.getLhs()), kernel = shapeOf(conv.getRhs());
  int64_t spatial = input.size() - 2, last = input.size() - 1;
  SmallVector<int64_t> order{dims.getInputBatch()}, outOrder{dims.getOutputBatch()};
  llvm::append_range(order, dims.getInputSpatial());
  llvm::append_range(outOrder, dims.getOutputSpatial());
  order.push_back(dims.getInputFeature());
  outOrder.push_back(dims.getOutputFeature());
  bool isPlain = countsUp(order) && countsUp(outOrder) && dims.getKernelInputFeature() == spatial &&
                 dims.getKernelOutputFeature() == spatial + 1 &&
                 conv.getFeatureGroupCount().value_or(1) == 1 &&
                 conv.getBatchGroupCount().value_or(1) == 1 &&
                 llvm::product_of(kernel.take_front(spatial)) == 1 &&
                 shapeOf(conv.getResult()).drop_back() == input.drop_back() &&
                 llvm::product_of(input.drop_back()) <= mostPositions;
  if (std::optional<WindowAttr> window = conv.getWindow(); isPlain && window) {
    auto all = [](ArrayRef<int64_t> values, int64_t value) {
      return llvm::all_of(values, [&](int64_t v) { return v == value; });
    };
    // The result has as many positions as the input, so stride and padding must be trivial.
    isPlain = all(window->getStrides(), 1) && all(window->getPadLow(), 0) &&
              all(window->getPadHigh(), 0) && all(window->getBaseDilations(), 1);
  }
  if (!isPlain) {
    return {};
  }
  OpBuilder builder(conv);
  HloBuilder b(builder, conv.getLoc());
  Value weights = b.reshape(conv.getRhs(), kernel.drop_front(spatial));
  return DotOp::create(builder, conv.getLoc(), conv.getResult().getType(), conv.getLhs(), weights,
                       DenseI64ArrayAttr(), DenseI64ArrayAttr(),
                       builder.getDenseI64ArrayAttr({last}), builder.getDenseI64ArrayAttr({0}),
                       conv.getOperandPrecisionAttr(), StringAttr());
}

namespace {
class PackOperandsPass : public PassWrapper<PackOperandsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PackOperandsPass)
  explicit PackOperandsPass(ChoosePanels choose) : choose(std::move(choose)) {}
  PackOperandsPass(const PackOperandsPass &other) : PassWrapper(other), choose(other.choose) {}
  StringRef getArgument() const final { return "hlo-pack-operands"; }
  StringRef getDescription() const final {
    return "Lay immutable operands of convolutions and dots out as they are read";
  }

  void runOnOperation() final {
    if (failed(changeImmutable(getOperation(),
                               [&](const ComputationGraph &graph) { packAll(graph); }))) {
      signalPassFailure();
    }
  }

private:
  void packAll(const ComputationGraph &graph) {
    ComputationOp entry = graph.entry();
    ImmutableValues immutable(graph, getOperation());
    for (auto conv : llvm::to_vector(entry.getBody().front().getOps<ConvolutionOp>())) {
      if (immutable.contains(conv.getRhs()) && !immutable.contains(conv.getLhs())) {
        orderKernel(conv);
        if (Operation *op = conv.getRhs().getDefiningOp()) {
          immutable.add(op);
        }
        if (DotOp dot = asDot(conv)) {
          if (formOf(dot)) {
            immutable.add(dot.getRhs().getDefiningOp());
            conv.getResult().replaceAllUsesWith(dot.getResult());
            conv.erase();
          } else {
            dot.erase();
          }
        }
      }
    }
    for (auto dot : llvm::to_vector(entry.getBody().front().getOps<DotOp>())) {
      int64_t free;
      if (!immutable.contains(dot.getRhs()) || immutable.contains(dot.getLhs()) ||
          !hasPlainRhs(dot, free)) {
        continue;
      }
      if (std::optional<PanelForm> form = formOf(dot);
          form && shapeOf(dot.getRhs())[free] % form->width == 0) {
        pack(dot, free, *form);
      }
    }
    immutable.removeDead(entry);
  }

  std::optional<PanelForm> formOf(DotOp dot) {
    if (width) {
      return PanelForm{width, elementTypeOf(dot.getRhs())};
    }
    return choose ? choose(dot) : std::nullopt;
  }

  ChoosePanels choose;
  Option<int64_t> width{*this, "width", llvm::cl::init(0),
                        llvm::cl::desc("Columns of a panel of every dot (for tests)")};
};
} // namespace

std::unique_ptr<Pass> hlo::createPackOperandsPass(ChoosePanels choose) {
  return std::make_unique<PackOperandsPass>(std::move(choose));
}
