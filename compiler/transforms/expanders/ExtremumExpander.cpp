//===- ExtremumExpander.cpp - Maxima of half precision by their bits ------===//
//
//   reduce(x), to_apply = max  ->  with p, n, m = the largest signed, the smallest and the largest
//                                  unsigned of the 16 bits of all x:
//                                  NaN if p or m is one, p if p >= 0, else n
//   reduce(x), to_apply = min  ->  NaN likewise, m if its sign is set, else n
//
// Bits of numbers of one sign order like unsigned integers, descending for negative numbers; NaNs
// are at the end of either sign. This takes three instructions per register of 16-bit lanes. In f32
// there would be twice the registers, each with a conversion and three instructions.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/expanders/OpExpander.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace hlo;

/// Fewest elements per reduced row. Shorter rows are reduced in lanes, one row per lane, by one
/// pass over the array.
static constexpr int64_t fewestElements = 16;

static bool isOfHalves(ReduceOp op) {
  return op->getNumResults() == 1 &&
         isa<Float16Type, BFloat16Type>(elementTypeOf(op->getResult(0)));
}

/// The maximum or minimum that a reduce of one array of f16 or bf16 applies; null for others.
static Operation *extremumOf(Operation *op, SymbolTable &symbols) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce || !isOfHalves(reduce)) {
    return nullptr;
  }
  auto computation = symbols.lookup<ComputationOp>(reduce.getToApply());
  Operation *extremum = computation ? associativeOp(computation) : nullptr;
  return isa_and_nonnull<MaximumOp, MinimumOp>(extremum) ? extremum : nullptr;
}

/// True if only such reduces read x. If another op needs x in f32, one read should serve both.
static bool isReadAlone(Value x, SymbolTable &symbols) {
  return llvm::all_of(x.getUsers(), [&](Operation *user) {
    return isa<BitcastConvertOp>(user) || extremumOf(user, symbols);
  });
}

namespace {

class ExtremumExpanderPass : public OpExpanderPass<ExtremumExpanderPass, ReduceOp> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExtremumExpanderPass)
  StringRef getArgument() const final { return "hlo-extremum-expander"; }
  StringRef getDescription() const final {
    return "Reduce maxima and minima of half precision as integers";
  }

  FailureOr<Values> expand(ReduceOp op, HloBuilder &b, ScalarComputations &scalars) {
    Value x = op.getInputs().front();
    int64_t count = 1;
    for (int64_t d : op.getDimensions()) {
      count *= shapeOf(x)[d];
    }
    // A computed value is already in registers as f32.
    if (!isOfHalves(op) || !isa<BlockArgument>(x) || count < fewestElements) {
      return Values{};
    }
    SymbolTable symbols(getOperation());
    Operation *extremum = extremumOf(op, symbols);
    if (!extremum || !isReadAlone(x, symbols)) {
      return Values{};
    }
    Type element = elementTypeOf(x);
    Type isSigned = b.b.getIntegerType(16, true), isUnsigned = b.b.getIntegerType(16, false);
    auto reduced = [&](Type type, double init, FlatSymbolRefAttr computation) {
      Value bits = b.bitcastConvert(x, HloBuilder::array(x, type));
      return ReduceOp::create(b.b, b.loc, TypeRange(HloBuilder::array(op->getResult(0), type)),
                              ValueRange{bits, b.scalar(type, init)}, op.getDimensionsAttr(),
                              computation)
          .getResult(0);
    };
    Value largest = reduced(isSigned, -0x8000, scalars.binary<MaximumOp>(isSigned));
    Value smallest = reduced(isUnsigned, 0xffff, scalars.binary<MinimumOp>(isUnsigned));
    Value last = reduced(isUnsigned, 0, scalars.binary<MaximumOp>(isUnsigned));
    RankedTensorType words = HloBuilder::type(last);
    int64_t infinity = isa<BFloat16Type>(element) ? 0x7f80 : 0x7c00, sign = 0x8000;
    Value isNaN =
        b.binary<OrOp>(b.compare(largest, b.splat(HloBuilder::type(largest), infinity), "GT"),
                       b.compare(last, b.splat(words, infinity | sign), "GT"));
    Value found = isa<MaximumOp>(extremum)
                      ? b.select(b.compare(largest, b.splat(HloBuilder::type(largest), 0), "GE"),
                                 b.bitcastConvert(largest, words), smallest)
                      : b.select(b.compare(last, b.splat(words, sign), "GE"), last, smallest);
    // The quiet NaN: an infinity with the first fraction bit set.
    int64_t quiet = isa<BFloat16Type>(element) ? 0x7fc0 : 0x7e00;
    found = b.select(isNaN, b.splat(words, quiet), found);
    Value result = b.bitcastConvert(found, HloBuilder::type(op->getResult(0)));
    return Values{withInit(op, extremum, result, b)};
  }

private:
  /// Combines the result with the initial value, unless that is the identity.
  static Value withInit(ReduceOp op, Operation *extremum, Value result, HloBuilder &b) {
    Value init = op.getInputs().back();
    bool isMaximum = isa<MaximumOp>(extremum);
    APFloat value(0.0);
    auto constant = init.getDefiningOp<ConstantOp>();
    auto attr = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
    if (attr && attr.isSplat()) {
      value = attr.getSplatValue<APFloat>();
    }
    if (value.isInfinity() && value.isNegative() == isMaximum) {
      return result;
    }
    Value everywhere = b.broadcastScalar(init, shapeOf(result));
    return isMaximum ? b.binary<MaximumOp>(result, everywhere)
                     : b.binary<MinimumOp>(result, everywhere);
  }
};

} // namespace

std::unique_ptr<Pass> hlo::createExtremumExpanderPass() {
  return std::make_unique<ExtremumExpanderPass>();
}
