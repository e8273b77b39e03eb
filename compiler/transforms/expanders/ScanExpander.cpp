//===- ScanExpander.cpp - scan as a counted loop --------------------------===//
//
//   y, c = scan(x, c0), to_apply = f   ->   for i in 0..n: y[i], c = f(x[i], c)
//
// where x[i] is the i-th slice along the scanned dimension; is_reverse goes from the last to the
// first. The inputs are carries that the body returns unchanged; the outputs are updated in place,
// one slice per iteration.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/expanders/OpExpander.h"

using namespace mlir;
using namespace hlo;

namespace {

class ScanExpanderPass : public PassWrapper<ScanExpanderPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScanExpanderPass)
  StringRef getArgument() const final { return "hlo-scan-expander"; }
  StringRef getDescription() const final { return "Expand scan to a while loop"; }

  void runOnOperation() final {
    if (!getAnalysis<OpsPresent>().has<ScanOp>()) {
      return markAllAnalysesPreserved();
    }
    SmallVector<ScanOp> scans;
    getOperation().walk([&](ScanOp scan) { scans.push_back(scan); });
    if (scans.empty()) {
      return;
    }
    SymbolTable symbols(getOperation());
    for (ScanOp scan : scans) {
      if (failed(expand(scan, symbols))) {
        signalPassFailure();
      }
    }
  }

private:
  LogicalResult expand(ScanOp scan, SymbolTable &symbols);
  /// Makes a new computation before the one that contains `user`.
  static std::pair<ComputationOp, OpBuilder> makeComputation(Operation *user, SymbolTable &symbols,
                                                             StringRef name, TypeRange parameters) {
    OpBuilder builder(user->getContext());
    Location loc = user->getLoc();
    auto computation =
        ComputationOp::create(builder, loc, name, builder.getFunctionType(parameters, {}));
    Block &block = computation.getBody().emplaceBlock();
    block.addArguments(parameters, SmallVector<Location>(parameters.size(), loc));
    symbols.insert(computation, Block::iterator(user->getParentOp()));
    builder.setInsertionPointToStart(&block);
    return {computation, builder};
  }
  static void finish(ComputationOp computation, OpBuilder &builder, ValueRange results) {
    ReturnOp::create(builder, computation.getLoc(), results);
    computation.setFunctionType(
        builder.getFunctionType(computation.getBody().getArgumentTypes(), results.getTypes()));
  }
};

} // namespace

LogicalResult ScanExpanderPass::expand(ScanOp scan, SymbolTable &symbols) {
  int64_t carries = scan.getNumCarries();
  int64_t inputs = scan->getNumOperands() - carries;
  int64_t outputs = scan->getNumResults() - carries;
  auto callee = symbols.lookup<ComputationOp>(scan.getToApply());
  if (inputs < 0 || outputs < 0 || !callee || (inputs == 0 && outputs == 0)) {
    return scan.emitError("scan: ")
           << scan->getNumOperands() << " operands and " << scan->getNumResults()
           << " results with " << carries << " carries";
  }
  int64_t dim = scan.getDimension();
  Value whole = inputs > 0 ? scan->getOperand(0) : Value(scan->getResult(0));
  int64_t length = shapeOf(whole)[dim];

  OpBuilder outside(scan);
  HloBuilder b(outside, scan.getLoc());
  Type counter = outside.getIntegerType(32, true);
  // Carries: counter, inputs, carries of the scan, outputs.
  SmallVector<Value> starts{b.scalar(counter, 0)};
  llvm::append_range(starts, scan->getOperands());
  for (OpResult output : scan->getResults().take_front(outputs)) {
    starts.push_back(b.splat(arrayType(output), 0));
  }
  SmallVector<Type> types(ValueRange(starts).getTypes());

  auto [condition, atCondition] = makeComputation(scan, symbols, "scan_condition", types);
  HloBuilder c(atCondition, scan.getLoc());
  Value going = c.compare(condition.getBody().getArgument(0), c.scalar(counter, length), "LT");
  finish(condition, atCondition, going);

  auto [body, atBody] = makeComputation(scan, symbols, "scan_body", types);
  HloBuilder s(atBody, scan.getLoc());
  ValueRange arguments = body.getBody().getArguments();
  Value index = arguments[0];
  if (scan.getIsReverse().value_or(false)) {
    index = s.sub(s.scalar(counter, length - 1), index);
  }
  auto startsOf = [&](int64_t rank) {
    SmallVector<Value> at(rank, s.scalar(counter, 0));
    at[dim] = index;
    return at;
  };
  IRMapping mapping;
  for (int64_t i = 0; i < inputs; ++i) {
    Value input = arguments[1 + i];
    SmallVector<int64_t> sizes(shapeOf(input));
    sizes[dim] = 1;
    Value slice = DynamicSliceOp::create(
        atBody, scan.getLoc(), HloBuilder::array(sizes, elementTypeOf(input)), input,
        startsOf(sizes.size()), atBody.getDenseI64ArrayAttr(sizes));
    BlockArgument parameter = callee.getBody().getArgument(i);
    mapping.map(parameter, s.reshape(slice, shapeOf(parameter)));
  }
  for (int64_t i = 0; i < carries; ++i) {
    mapping.map(callee.getBody().getArgument(inputs + i), arguments[1 + inputs + i]);
  }
  for (Operation &op : callee.getBody().front().without_terminator()) {
    atBody.clone(op, mapping);
  }
  auto root = [&](int64_t i) { return mapping.lookupOrDefault(callee.getReturn()->getOperand(i)); };
  SmallVector<Value> next{s.add(arguments[0], s.scalar(counter, 1))};
  llvm::append_range(next, arguments.slice(1, inputs));
  for (int64_t i = 0; i < carries; ++i) {
    next.push_back(root(outputs + i));
  }
  for (int64_t i = 0; i < outputs; ++i) {
    Value output = arguments[1 + inputs + carries + i];
    SmallVector<int64_t> window(shapeOf(output));
    window[dim] = 1;
    next.push_back(DynamicUpdateSliceOp::create(atBody, scan.getLoc(), output.getType(), output,
                                                s.reshape(root(i), window),
                                                startsOf(window.size())));
  }
  finish(body, atBody, next);

  auto loop = WhileOp::create(outside, scan.getLoc(), types, starts,
                              FlatSymbolRefAttr::get(condition.getSymNameAttr()),
                              FlatSymbolRefAttr::get(body.getSymNameAttr()));
  SmallVector<Value> results(loop->getResults().drop_front(1 + inputs + carries));
  llvm::append_range(results, loop->getResults().slice(1 + inputs, carries));
  scan->replaceAllUsesWith(results);
  scan.erase();
  return success();
}

std::unique_ptr<Pass> hlo::createScanExpanderPass() { return std::make_unique<ScanExpanderPass>(); }
