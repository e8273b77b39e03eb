//===- Reduce.cpp - reduce ---------------------------------------------------===//
//
// Dimensions that are kept pass through. How partitions put together what they reduced of the
// others depends on the computation f:
//
//   sum       one operand: an all-reduce with f itself
//   wide sum  sums and products of floats of 8 or fewer bits: reduced and added up in f32, since
//             partial results would lose what their mantissa of 2 or 3 bits cannot hold
//   separate  several operands that f combines each for itself: an all-reduce for each
//   gather    several operands, such as an argmax: the partial results of all partitions are
//             gathered along a new dimension 0, which is reduced with f again
//   lifted    f has no identity that is known, or is only associative: the same with f on pairs of
//             an element and whether there is one
//   whole     f is not associative
//
// Each partition starts from the init value. If f(init, init) is init, that changes nothing, and
// init hides the padding of uneven parts too. Else the identity of f does both, and only the first
// partition starts from init. Without an identity, f is lifted:
//
//   g((x, p), (y, q)) = (p && q ? f(x, y) : p ? x : y, p || q)
//
// (anything, false) is the identity of g. Padding has false, and so has the start of the partial
// results; the last reduction starts from (init, true). If f does not commute, elements keep their
// order: only the first of the reduced dimensions is split. Without padding, an f for which
// f(init, init) is init needs no g.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/Partitioner.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

enum class Way : uint8_t { Whole, Sum, WideSum, Separate, Gather, Lifted };

ComputationOp computationOf(ReduceOp reduce) {
  return SymbolTable::lookupNearestSymbolFrom<ComputationOp>(reduce, reduce.getToApplyAttr());
}

unsigned inputsOf(Operation *op) { return op->getNumOperands() / 2; }

/// The op that combines accumulator and element n, if it uses no other; else null.
Operation *componentOf(ComputationOp computation, unsigned n) {
  unsigned count = computation.getNumArguments() / 2;
  Operation *op = computation.getReturn()->getOperand(n).getDefiningOp();
  if (!isa_and_nonnull<AddOp, MultiplyOp, MaximumOp, MinimumOp, AndOp, OrOp>(op)) {
    return nullptr;
  }
  Value p = computation.getArgument(n), q = computation.getArgument(count + n);
  Value x = op->getOperand(0), y = op->getOperand(1);
  return (x == p && y == q) || (x == q && y == p) ? op : nullptr;
}

SumKind kindOf(Operation *op) {
  return isa<AddOp>(op)        ? SumKind::Add
         : isa<MultiplyOp>(op) ? SumKind::Multiply
         : isa<MinimumOp>(op)  ? SumKind::Minimum
         : isa<MaximumOp>(op)  ? SumKind::Maximum
         : isa<AndOp>(op)      ? SumKind::And
                               : SumKind::Or;
}

/// How the partial results of a reduction are put together.
struct Reduction {
  Way way = Way::Whole;
  /// f does not commute.
  bool isOrdered = false;
  ComputationOp computation;
  /// Each partition may start from the init values.
  bool absorbs = false;
  /// The identities of f, one per input, in f32 for a wide sum; null where there is none.
  SmallVector<DenseElementsAttr> identities;

  explicit Reduction(ReduceOp op) : computation(computationOf(op)) {
    unsigned count = inputsOf(op);
    if (!computation || count == 0 || computation.getNumArguments() != 2 * count ||
        computation.getReturn()->getNumOperands() != count) {
      return;
    }
    absorbs = absorbsItself(computation, op->getOperands().drop_front(count));
    SmallVector<Operation *> parts;
    for (unsigned n = 0; n < count; ++n) {
      parts.push_back(count == 1 ? associativeOp(computation) : componentOf(computation, n));
    }
    auto floating = dyn_cast<FloatType>(elementTypeOf(op->getOperand(0)));
    bool isWide = count == 1 && floating && floating.getWidth() < 16 &&
                  isa_and_nonnull<AddOp, MultiplyOp>(parts[0]);
    for (auto [n, part] : llvm::enumerate(parts)) {
      Type element = isWide ? Float32Type::get(op->getContext()) : elementTypeOf(op->getOperand(n));
      identities.push_back(part ? identityOf(part, element) : DenseElementsAttr());
    }
    auto isThere = [](auto x) { return static_cast<bool>(x); };
    bool areParts = llvm::all_of(parts, isThere);
    bool anyOrder = areParts || isAnyOrder(computation);
    if (!anyOrder && !isAssociative(computation)) {
      return;
    }
    bool hasStart = absorbs || llvm::all_of(identities, isThere);
    isOrdered = !anyOrder;
    way = isOrdered || !hasStart ? Way::Lifted
          : isWide               ? Way::WideSum
          : count == 1           ? Way::Sum
          : areParts             ? Way::Separate
                                 : Way::Gather;
  }
};

Rule reduceRule(Operation *op) {
  Rule rule = Rule::of(op);
  auto reduce = cast<ReduceOp>(op);
  Reduction reduction(reduce);
  unsigned count = inputsOf(op);
  FactorKind reduced = reduction.way == Way::Whole ? FactorKind::Whole
                       : reduction.way == Way::Sum ? FactorKind::Sum
                                                   : FactorKind::Special;
  int64_t to = 0;
  for (auto [dim, size] : llvm::enumerate(shapeOf(op->getOperand(0)))) {
    bool isReduced = llvm::is_contained(reduce.getDimensions(), dim);
    int64_t place = isReduced ? -1 : to++;
    if (size <= 1) {
      continue;
    }
    unsigned factor = rule.addFactor(size, isReduced ? reduced : FactorKind::Pass);
    if (isReduced && reduction.isOrdered) {
      reduced = FactorKind::Whole; // all but the first
    }
    for (unsigned n = 0; n < count; ++n) {
      rule.operands[n][dim] = {factor};
      if (!isReduced) {
        rule.results[n][place] = {factor};
      }
    }
  }
  return rule;
}

/// The axes of all reduced dimensions.
AxisList reducedAxes(ReduceOp reduce, const Rule &rule, const FactorAxes &axes) {
  AxisList list;
  Sharding sharding = shardingOf(rule.operands[0], axes);
  for (int64_t dim : reduce.getDimensions()) {
    llvm::append_range(list, sharding.dims[dim]);
  }
  return list;
}

/// Gives the local op its init values and hides the padding of reduced dimensions.
void startReduction(Site &site, const Reduction &reduction, ArrayRef<Axis> axes) {
  Emitter &e = site.e;
  HloBuilder b = e.b();
  auto reduce = cast<ReduceOp>(site.op);
  unsigned count = inputsOf(reduce);
  Sharding sharding = site.operandSharding(0);
  for (unsigned n = 0; n < count; ++n) {
    Value &input = site.operands[n], &init = site.operands[count + n];
    if (reduction.way == Way::WideSum) {
      input = b.convert(input, b.b.getF32Type());
      init = b.convert(init, b.b.getF32Type());
    }
    Value filler = init;
    if (!reduction.absorbs) {
      filler = b.constant(reduction.identities[n]);
      Value isFirst = b.compare(e.shardIndex(axes), b.index(0), "EQ");
      init = b.select(isFirst, init, filler);
    }
    for (int64_t dim : reduce.getDimensions()) {
      input = e.maskPadding(input, dim, sharding.dims[dim], site.operandType(n).getDimSize(dim),
                            filler);
    }
  }
}

/// Reduces and adds up in f32.
Value emitWideSum(Site &site, const Reduction &reduction, ArrayRef<Axis> axes) {
  Emitter &e = site.e;
  HloBuilder b = e.b();
  Type element = site.resultType(0).getElementType(), wide = b.b.getF32Type();
  FlatSymbolRefAttr sum = e.sumComputation(kindOf(associativeOp(reduction.computation)), wide);
  auto reduce = ReduceOp::create(
      b.b, b.loc, TypeRange(HloBuilder::array(site.localResultType(0).getShape(), wide)),
      site.operands, cast<ReduceOp>(site.op).getDimensionsAttr(), sum);
  return b.convert(e.allReduce(reduce.getResult(0), axes, sum), element);
}

/// Gathers partial results along a new dimension 0.
Value gatherParts(Emitter &e, Value part, ArrayRef<Axis> axes) {
  SmallVector<int64_t> shape(shapeOf(part));
  shape.insert(shape.begin(), 1);
  return e.allGather(e.b().reshape(part, shape), 0, axes);
}

SmallVector<Value> emitGather(Site &site, ArrayRef<Axis> axes) {
  HloBuilder b = site.e.b();
  auto reduce = cast<ReduceOp>(site.op);
  Operation *local = site.clone();
  SmallVector<Value> operands;
  for (Value part : local->getResults()) {
    operands.push_back(gatherParts(site.e, part, axes));
  }
  llvm::append_range(operands, ArrayRef<Value>(site.operands).drop_front(inputsOf(reduce)));
  auto all = ReduceOp::create(b.b, b.loc, local->getResultTypes(), operands,
                              b.b.getDenseI64ArrayAttr({0}), reduce.getToApplyAttr());
  return SmallVector<Value>(all->getResults());
}

//===----------------------------------------------------------------------===//
// Lifted computations
//===----------------------------------------------------------------------===//

/// g: the computation f with a pred as the last of its accumulators and of its elements.
FlatSymbolRefAttr lift(Emitter &e, ComputationOp f) {
  std::string name = (f.getSymName() + ".lifted").str();
  for (int suffix = 1; SymbolTable::lookupSymbolIn(e.module, name); ++suffix) {
    name = (f.getSymName() + ".lifted." + Twine(suffix)).str();
  }
  OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointToStart(e.module.getBody());
  Location place = NameLoc::get(e.builder.getStringAttr(name));
  unsigned count = f.getNumArguments() / 2;
  Type pred = RankedTensorType::get({}, e.builder.getI1Type());
  SmallVector<Type> results(f.getArgumentTypes().take_front(count));
  results.push_back(pred);
  SmallVector<Type> parameters(results);
  parameters.append(results);
  auto g =
      ComputationOp::create(e.builder, place, name, e.builder.getFunctionType(parameters, results));
  Block &block = g.getBody().emplaceBlock();
  block.addArguments(parameters, SmallVector<Location>(parameters.size(), place));
  e.builder.setInsertionPointToStart(&block);
  HloBuilder b(e.builder, place);
  IRMapping mapping;
  for (unsigned n = 0; n < count; ++n) {
    mapping.map(f.getArgument(n), block.getArgument(n));
    mapping.map(f.getArgument(count + n), block.getArgument(count + 1 + n));
  }
  for (Operation &op : f.getBody().front().without_terminator()) {
    e.builder.clone(op, mapping);
  }
  Value p = block.getArgument(count), q = block.getArgument(2 * count + 1);
  SmallVector<Value> values;
  for (unsigned n = 0; n < count; ++n) {
    Value x = block.getArgument(n), y = block.getArgument(count + 1 + n);
    Value both = b.select(q, mapping.lookupOrDefault(f.getReturn()->getOperand(n)), x);
    values.push_back(b.select(p, both, y));
  }
  values.push_back(b.binary<OrOp>(p, q));
  ReturnOp::create(e.builder, place, values);
  return FlatSymbolRefAttr::get(e.builder.getContext(), name);
}

/// For each partition along the axes of the reduced dimensions, whether its part has an element.
Value partsWithElements(Site &site, ArrayRef<int64_t> shape) {
  HloBuilder b = site.e.b();
  Sharding sharding = site.operandSharding(0);
  SmallVector<bool> has{true};
  for (int64_t dim : cast<ReduceOp>(site.op).getDimensions()) {
    int64_t parts = site.e.mesh.count(sharding.dims[dim]);
    int64_t size = site.operandType(0).getDimSize(dim), local = shardSize(size, parts);
    SmallVector<bool> next;
    for (bool before : has) {
      for (int64_t part = 0; part < parts; ++part) {
        next.push_back(before && part * local < size);
      }
    }
    has = next;
  }
  Type pred = b.b.getI1Type();
  auto type = RankedTensorType::get({static_cast<int64_t>(has.size())}, pred);
  return b.broadcast(b.constant(DenseElementsAttr::get(type, ArrayRef<bool>(has))), shape, {0});
}

SmallVector<Value> emitLifted(Site &site, const Reduction &reduction, ArrayRef<Axis> axes) {
  Emitter &e = site.e;
  HloBuilder b = e.b();
  auto reduce = cast<ReduceOp>(site.op);
  unsigned count = inputsOf(reduce);
  FlatSymbolRefAttr g = lift(e, reduction.computation);
  Type pred = b.b.getI1Type();
  Value no = b.scalar(pred, 0), yes = b.scalar(pred, 1);
  Value isElement = b.broadcastScalar(yes, shapeOf(site.operands[0]));
  Sharding sharding = site.operandSharding(0);
  for (int64_t dim : reduce.getDimensions()) {
    isElement =
        e.maskPadding(isElement, dim, sharding.dims[dim], site.operandType(0).getDimSize(dim), no);
  }
  ArrayRef<Value> inputs = ArrayRef<Value>(site.operands).take_front(count),
                  inits = ArrayRef<Value>(site.operands).drop_front(count);
  SmallVector<Type> types;
  for (unsigned n = 0; n < count; ++n) {
    types.push_back(site.localResultType(n));
  }
  types.push_back(HloBuilder::array(site.localResultType(0).getShape(), pred));
  auto apply = [&](SmallVector<Value> operands, Value flags, Value start,
                   ArrayRef<int64_t> dimensions) {
    operands.push_back(flags);
    llvm::append_range(operands, inits);
    operands.push_back(start);
    return ReduceOp::create(b.b, b.loc, types, operands, b.b.getDenseI64ArrayAttr(dimensions), g);
  };
  ReduceOp local = apply(SmallVector<Value>(inputs), isElement, no, reduce.getDimensions());
  SmallVector<Value> parts;
  for (unsigned n = 0; n < count; ++n) {
    parts.push_back(gatherParts(e, local->getResult(n), axes));
  }
  Value flags = partsWithElements(site, shapeOf(parts[0]));
  ReduceOp all = apply(parts, flags, yes, {0});
  return SmallVector<Value>(all->getResults().take_front(count));
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

/// True if a part of a reduced dimension has padding.
bool hasPadding(Site &site) {
  Sharding sharding = site.operandSharding(0);
  return llvm::any_of(cast<ReduceOp>(site.op).getDimensions(), [&](int64_t dim) {
    return site.operandType(0).getDimSize(dim) % site.e.mesh.count(sharding.dims[dim]) != 0;
  });
}

FailureOr<SmallVector<Value>> emitReduce(Site &site) {
  auto op = cast<ReduceOp>(site.op);
  AxisList axes = reducedAxes(op, site.rule, site.axes);
  if (axes.empty()) {
    return SmallVector<Value>(site.clone()->getResults());
  }
  Reduction reduction(op);
  if (reduction.way == Way::Lifted && (!reduction.absorbs || hasPadding(site))) {
    return emitLifted(site, reduction, axes);
  }
  startReduction(site, reduction, axes);
  switch (reduction.way) {
  case Way::WideSum: return SmallVector<Value>{emitWideSum(site, reduction, axes)};
  case Way::Gather:
  case Way::Lifted: return emitGather(site, axes);
  case Way::Separate: {
    SmallVector<Value> results(site.clone()->getResults());
    for (auto [n, result] : llvm::enumerate(results)) {
      result = site.e.allReduce(result, axes, kindOf(componentOf(reduction.computation, n)));
    }
    return results;
  }
  case Way::Whole:
  case Way::Sum: break;
  }
  return SmallVector<Value>(site.clone()->getResults());
}

FlatSymbolRefAttr sumOf(Site &site) { return cast<ReduceOp>(site.op).getToApplyAttr(); }

int64_t reduceBytes(Operation *op, const Rule &rule, const FactorAxes &axes, const Mesh &mesh) {
  auto reduce = cast<ReduceOp>(op);
  int64_t parts = mesh.count(reducedAxes(reduce, rule, axes)), bytes = 0;
  bool isSum = llvm::all_of(
      rule.factors, [](const Factor &factor) { return factor.kind != FactorKind::Special; });
  if (parts == 1 || isSum) {
    return 0;
  }
  for (auto [result, dims] : llvm::zip(op->getResultTypes(), rule.results)) {
    bytes += shardBytes(result, shardingOf(dims, axes), mesh);
  }
  switch (Reduction(reduce).way) {
  case Way::WideSum: return 4 * bytes * 2 * (parts - 1) / parts;
  case Way::Separate: return bytes * 2 * (parts - 1) / parts;
  case Way::Gather:
  case Way::Lifted: return bytes * (parts - 1);
  case Way::Whole:
  case Way::Sum: break;
  }
  return 0;
}

} // namespace

void hlo::spmd::registerReduce(PartitionerTable &table) {
  table["hlo.reduce"] = {
      .rule = reduceRule, .emit = emitReduce, .sum = sumOf, .bytes = reduceBytes};
}
