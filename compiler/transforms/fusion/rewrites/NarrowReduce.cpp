//===- NarrowReduce.cpp - Sums of narrow integers in few bits -------------===//
//
// A sum of integers that were widened before it, such as a count of booleans, is computed in the
// narrowest type that holds the sum of any elements, and widened afterwards:
//
//   reduce(convert(x : pred[N,6]) : s64)      becomes      convert(reduce(convert(x) : u8)) : s64
//
// This is exact since nothing wraps. u8 has eight times the lanes of s64.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/fusion/Groups.h"
#include "compiler/transforms/fusion/TopLevelPass.h"
#include "compiler/transforms/fusion/rewrites/Rewrites.h"
#include "dialect/hlo/Builder.h"

using namespace mlir;

namespace hlo::fusion {

/// The narrowest integer type that holds every sum of `count` elements; null unless it is narrower
/// than `bits`.
static IntegerType typeOfSum(IntegerType element, int64_t count, unsigned bits) {
  bool isSigned = element.isSigned();
  if (count >= int64_t(1) << 30 || element.getWidth() > 16) {
    return {};
  }
  // The largest magnitude of an element.
  uint64_t most =
      isSigned ? uint64_t(1) << (element.getWidth() - 1) : (uint64_t(1) << element.getWidth()) - 1;
  for (unsigned width = 8; width < bits; width *= 2) {
    uint64_t room = (uint64_t(1) << (isSigned ? width - 1 : width)) - 1;
    if (most <= room / static_cast<uint64_t>(count)) {
      return IntegerType::get(element.getContext(), width,
                              isSigned ? IntegerType::Signed : IntegerType::Unsigned);
    }
  }
  return {};
}

/// A computation that adds two scalars of the type.
static FlatSymbolRefAttr adder(IntegerType element, SymbolTable &symbols, ComputationOp like) {
  auto scalar = RankedTensorType::get({}, element);
  OpBuilder builder(like);
  auto sum = ComputationOp::create(builder, like.getLoc(), "narrow_sum",
                                   builder.getFunctionType({scalar, scalar}, {scalar}));
  Block &block = sum.getBody().emplaceBlock();
  block.addArguments({scalar, scalar}, {like.getLoc(), like.getLoc()});
  builder.setInsertionPointToStart(&block);
  HloBuilder b(builder, like.getLoc());
  ReturnOp::create(builder, like.getLoc(), b.add(block.getArgument(0), block.getArgument(1)));
  symbols.insert(sum);
  return FlatSymbolRefAttr::get(sum.getNameAttr());
}

static void narrowReduces(Block &block, SymbolTable &symbols) {
  DenseMap<Type, FlatSymbolRefAttr> adders;
  for (ReduceOp op : llvm::make_early_inc_range(block.getOps<ReduceOp>())) {
    if (op->getNumResults() != 1) {
      continue;
    }
    Value init = op.getInputs()[1];
    auto wide = op.getInputs()[0].getDefiningOp<ConvertOp>();
    auto to = dyn_cast<IntegerType>(HloBuilder::type(op->getResult(0)).getElementType());
    auto from = wide ? dyn_cast<IntegerType>(HloBuilder::type(wide.getOperand()).getElementType())
                     : IntegerType();
    auto constant = init.getDefiningOp<ConstantOp>();
    auto zero =
        constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : DenseIntElementsAttr();
    auto computation = symbols.lookup<ComputationOp>(op.getToApply());
    Operation *applied = computation ? associativeOp(computation) : nullptr;
    int64_t results = resultElements(op);
    if (!to || !from || to.getWidth() == 1 || !wide->hasOneUse() || !zero || !zero.isSplat() ||
        !zero.getSplatValue<APInt>().isZero() || !applied || !isa<AddOp>(applied) || results == 0 ||
        elementsOf(wide) == 0) {
      continue;
    }
    IntegerType least = typeOfSum(from, elementsOf(wide) / results, to.getWidth());
    if (!least || least.getWidth() < 8) {
      continue;
    }
    FlatSymbolRefAttr &symbol = adders[least];
    if (!symbol) {
      symbol = adder(least, symbols, computation);
    }
    OpBuilder builder(op);
    HloBuilder b(builder, op.getLoc());
    Value input = b.convert(wide.getOperand(), least);
    auto scalar = RankedTensorType::get({}, least);
    Value none =
        b.constant(DenseElementsAttr::get(scalar, ArrayRef<Attribute>(IntegerAttr::get(least, 0))));
    auto sum = cast<ReduceOp>(builder.clone(*op));
    sum->setOperands({input, none});
    sum.setToApplyAttr(symbol);
    sum->getResult(0).setType(HloBuilder::array(shapeOf(op->getResult(0)), least));
    op->getResult(0).replaceAllUsesWith(b.convert(sum->getResult(0), to));
    op.erase();
    wide.erase();
  }
}

namespace {
class NarrowReducePass : public TopLevelPass<NarrowReducePass, ReduceOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NarrowReducePass)

  StringRef getArgument() const override { return "hlo-narrow-reduce"; }
  StringRef getDescription() const override {
    return "Sum integers that were widened for it in as few bits as hold the sum";
  }
  void runOnBlock(Block &block, SymbolTable &symbols) { narrowReduces(block, symbols); }
};
} // namespace

} // namespace hlo::fusion

std::unique_ptr<mlir::Pass> hlo::createNarrowReducePass() {
  return std::make_unique<fusion::NarrowReducePass>();
}
