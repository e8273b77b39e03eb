//===- Random.cpp - rng-bit-generator, rng, rng-get-and-update-state ---------===//
//
// Random bits depend on the seed and the position alone. All partitions have the same state, so
// each can compute its part, and nothing is sent:
//
//   rng-bit-generator   units of the generator (see codegen/random/Rng.cpp) are numbered along
//                       dimension 0 first. If a shard of dimension 0 is a run of units, a partition
//                       adds the run's start to the counter of the state and generates its shard
//                       alone. Otherwise it generates the whole array and keeps its shard.
//   rng                 draws the whole array and keeps its shard
//
// The next state counts the units of the whole array. rng-get-and-update-state is the same on every
// partition, because all call the program with the same seed.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/Shapes.h"
#include "compiler/transforms/spmd/Annotation.h"
#include "compiler/transforms/spmd/rules/Other.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

/// The part of a whole array that a sharding gives to this partition.
Value shardOf(Emitter &e, Value whole, const Sharding &sharding) {
  for (auto [dim, axes] : llvm::enumerate(sharding.dims)) {
    if (!axes.empty()) {
      int64_t parts = e.mesh.count(axes), local = shardSize(shapeOf(whole)[dim], parts);
      whole = e.resizeDim(whole, dim, parts * local);
      whole = e.dynamicSliceDim(whole, dim, e.shardOffset(axes, local), local);
    }
  }
  return whole;
}

/// A factor for each dimension of result `i`; operands are whole.
Rule slicedRule(Operation *op, unsigned i) {
  Rule rule = Rule::of(op);
  for (auto [dim, size] : llvm::enumerate(shapeOf(op->getResult(i)))) {
    if (size > 1) {
      rule.results[i][dim] = {rule.addFactor(size, FactorKind::Special)};
    }
  }
  return rule;
}

/// The op with its whole results.
Operation *cloneWhole(Site &site) {
  IRMapping mapping;
  mapping.map(site.op->getOperands(), site.operands);
  Operation *whole = site.e.builder.clone(*site.op, mapping);
  whole->removeAttr(kAnnotation);
  return whole;
}

Rule rngRule(Operation *op) { return slicedRule(op, 0); }

FailureOr<SmallVector<Value>> emitRng(Site &site) {
  return SmallVector<Value>{
      shardOf(site.e, cloneWhole(site)->getResult(0), site.resultSharding(0))};
}

//===----------------------------------------------------------------------===//
// rng-bit-generator
//===----------------------------------------------------------------------===//

Rule generatorRule(Operation *op) {
  if (op->getNumResults() == 2 && arrayType(op->getResult(1))) {
    return slicedRule(op, 1);
  }
  Rule rule = Rule::of(op);
  rule.replicated = "it has not two results";
  return rule;
}

/// The units of a generator, as the counter numbers them.
struct Units {
  bool threeFry;
  int64_t perUnit; ///< elements
  /// The dimension along which a unit has two elements; -1: units are runs of elements.
  int64_t split = -1;

  Units(RngBitGeneratorOp op, RankedTensorType type)
      : threeFry(op.getAlgorithm() == "rng_three_fry") {
    bool isWide = type.getElementTypeBitWidth() == 64;
    perUnit = threeFry ? (isWide ? 1 : 2) : (isWide ? 2 : 4);
    if (threeFry && !isWide && type.getRank() > 0) {
      ArrayRef<int64_t> shape = type.getShape();
      const int64_t *dim = llvm::find_if(shape, [](int64_t d) { return d % 2 == 0; });
      split =
          (dim == shape.end() ? std::max_element(shape.begin(), shape.end()) : dim) - shape.begin();
    }
  }

  /// By how much the counter grows.
  int64_t count(RankedTensorType type) const {
    if (split < 0) {
      return llvm::divideCeil(type.getNumElements(), perUnit);
    }
    int64_t units = llvm::divideCeil(type.getDimSize(split), 2);
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      units *= static_cast<int64_t>(dim) == split ? 1 : size;
    }
    return units;
  }

  /// True if each shard of dimension 0, of `shard`'s size, is a run of units in the order in which
  /// a generator of the shard alone makes them.
  bool cuts(RngBitGeneratorOp op, RankedTensorType shard) const {
    return split < 0    ? shard.getNumElements() % perUnit == 0
           : split == 0 ? shard.getDimSize(0) % 2 == 0
                        : Units(op, shard).split == split;
  }
};

/// The states of a generator that starts `offset` (u64[1]) units later, and of one that starts
/// `total` units later; both as u64[1] words.
struct State {
  HloBuilder b;
  bool threeFry;
  Value key, low, high;
  int64_t words;

  State(Emitter &e, RngBitGeneratorOp op, Value state)
      : b(e.b()), threeFry(op.getAlgorithm() == "rng_three_fry"), words(shapeOf(state)[0]) {
    key = b.sliceDim(state, 0, 0, 1);
    low = b.sliceDim(state, 0, 1, 2);
    // A Philox counter of two words has the key as its high word.
    high = words == 3 ? b.sliceDim(state, 0, 2, 3) : threeFry ? Value() : key;
  }
  void advance(Value by) {
    Value sum = b.add(low, by);
    if (!threeFry) {
      Value carry = b.convert(b.compare(sum, low, "LT"), elementTypeOf(low));
      high = b.add(high, carry);
    }
    low = sum;
  }
  /// The state that a generator takes.
  Value operand() {
    SmallVector<Value> parts{key, low};
    if (high) {
      parts.push_back(high);
    }
    return b.concatenate(parts, 0);
  }
  /// The state in the form of the op's result.
  Value result() {
    SmallVector<Value> parts{key, low};
    if (words == 3) {
      parts.push_back(high);
    }
    return b.concatenate(parts, 0);
  }
};

bool hasCounter(Operation *op) {
  RankedTensorType state = arrayType(op->getOperand(0));
  return state && state.getElementType().isUnsignedInteger(64) && state.getRank() == 1 &&
         (state.getDimSize(0) == 2 || state.getDimSize(0) == 3) &&
         !isa<ComplexType>(elementTypeOf(op->getResult(1))) && arrayType(op->getResult(0)) == state;
}

Value word(HloBuilder &b, int64_t value) {
  Type u64 = b.b.getIntegerType(64, false);
  return b.constant(DenseElementsAttr::get(RankedTensorType::get({1}, u64),
                                           APInt(64, static_cast<uint64_t>(value))));
}

FailureOr<SmallVector<Value>> emitGenerator(Site &site) {
  auto op = cast<RngBitGeneratorOp>(site.op);
  Emitter &e = site.e;
  HloBuilder b = e.b();
  Sharding sharding = site.resultSharding(1);
  RankedTensorType whole = site.resultType(1);
  if (sharding.isReplicated()) {
    return SmallVector<Value>(site.clone()->getResults());
  }
  if (whole.getRank() == 0 || sharding.dims[0].empty() || !hasCounter(op)) {
    Operation *all = cloneWhole(site);
    return SmallVector<Value>{all->getResult(0), shardOf(e, all->getResult(1), sharding)};
  }
  SmallVector<int64_t> shape(whole.getShape());
  shape[0] = shardSize(shape[0], e.mesh.count(sharding.dims[0]));
  auto shard = RankedTensorType::get(shape, whole.getElementType());
  Units units(op, whole);
  if (!units.cuts(op, shard)) {
    Operation *all = cloneWhole(site);
    return SmallVector<Value>{all->getResult(0), shardOf(e, all->getResult(1), sharding)};
  }
  State next(e, op, site.operands[0]), own = next;
  next.advance(word(b, units.count(whole)));
  int64_t step = units.split == 0  ? units.count(shard)
                 : units.split > 0 ? units.count(whole) / whole.getDimSize(0) * shape[0]
                                   : shard.getNumElements() / units.perUnit;
  Value index = b.convert(e.shardIndex(sharding.dims[0]), b.b.getIntegerType(64, false));
  own.advance(b.mul(b.reshape(index, {1}), word(b, step)));
  Value state = own.operand();
  auto generator = RngBitGeneratorOp::create(b.b, b.loc, TypeRange{state.getType(), shard}, state,
                                             op.getAlgorithmAttr());
  Sharding others = sharding;
  others.dims[0].clear();
  return SmallVector<Value>{next.result(), shardOf(e, generator->getResult(1), others)};
}

} // namespace

void hlo::spmd::registerRandom(PartitionerTable &table) {
  table["hlo.rng"] = {.rule = rngRule, .emit = emitRng};
  table["hlo.rng_bit_generator"] = {.rule = generatorRule, .emit = emitGenerator};
  table["hlo.rng_get_and_update_state"].rule = [](Operation *op) {
    Rule rule = Rule::of(op);
    rule.replicated = "every partition has the same state";
    return rule;
  };
}
