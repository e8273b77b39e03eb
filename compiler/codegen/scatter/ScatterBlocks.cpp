//===- ScatterBlocks.cpp - Scattered elements and short rows, in eights ---===//
//
// In: a scatter whose windows are single elements, or short rows of the minor dimension. Out: a
// loop over blocks of eight positions,
//
//   offsets = element offsets of the block's windows        a vector of i32
//   if some are out of bounds:  eight updates; those out of bounds go to the sink
//   else if all are equal:      array[offset] = the eight updates, combined with the old value
//   else                        eight times array[offset] = computation(array[offset], update)
//
// Updates are applied in text order, so positions may be equal. A block saves the bounds test, the
// index arithmetic and two taken branches per position; sorted indices have runs of equal ones,
// which then need not wait for the previous store. Computed offsets leave the vector register in
// pairs; plain indices are loaded again, one by one.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/scatter/ScatterEmission.h"

using namespace mlir;

namespace hlo::codegen {

/// Positions of a block: their offsets are 8 lanes of i32, one register of 32 bytes, so that a few
/// instructions test the bounds of all. Larger blocks would copy the update more often (kMostOps).
static constexpr int64_t kBlock = 8;
/// Most ops of a computation that may be copied sixteen times.
static constexpr size_t kMostOps = 8;

/// True for minimum and maximum of integers: LLVM turns several such updates in a row into
/// branches, which are unpredictable.
static bool comparesIntegers(Operation &op) {
  return isa<MinimumOp, MaximumOp>(op) && isa<IntegerType>(elementType(op.getResult(0).getType()));
}

bool scattersInBlocks(ScatterEmission &scatter) {
  int64_t elements = 1;
  for (int64_t size : scatter.shape) {
    elements *= size;
  }
  auto &body = scatter.computation.getBody().front().getOperations();
  return !scatter.positionShape.empty() && scatter.positionShape.back() >= 2 * kBlock &&
         elements < (int64_t(1) << 31) && !scatter.op.getScatterDimsToOperandDims().empty() &&
         kernelLanes(scatter.kernel) > 1 && body.size() <= kMostOps &&
         (scatter.windowElements > 1 || llvm::none_of(body, comparesIntegers));
}

/// A constant for every lane of a vector of integers.
static Value lanesOfConstant(Emission &e, Type type, int64_t value) {
  auto vector = cast<VectorType>(type);
  APInt bits(vector.getElementType().getIntOrFloatBitWidth(), value, /*isSigned=*/true);
  return arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(vector, bits));
}

/// offset + index * factor, in 32 bits.
static Value addScaled(Emission &e, Value offset, Value index, int64_t factor) {
  if (factor != 1) {
    index =
        e.b.createOrFold<arith::MulIOp>(e.loc, index, lanesOfConstant(e, index.getType(), factor));
  }
  return offset ? e.b.createOrFold<arith::AddIOp>(e.loc, offset, index) : index;
}

/// The lanes of a vector of i32 as i64, extracted two at a time.
static SmallVector<Value> lanesInPairs(Emission &e, Value offsets) {
  Type i64 = e.b.getI64Type();
  Value pairs = vector::BitCastOp::create(e.b, e.loc, VectorType::get({kBlock / 2}, i64), offsets);
  SmallVector<Value> lanes;
  for (int64_t n = 0; n < kBlock / 2; ++n) {
    Value pair = vector::ExtractOp::create(e.b, e.loc, pairs, n);
    lanes.push_back(arith::AndIOp::create(e.b, e.loc, pair, constI64(e, 0xffffffff)));
    lanes.push_back(arith::ShRUIOp::create(e.b, e.loc, pair, constI64(e, 32)));
  }
  return lanes;
}

/// True if the element offset is a single index in memory times a constant.
static bool readsPlainIndices(ScatterEmission &scatter) {
  Value indices = scatter.indices;
  while (Operation *def = indices.getDefiningOp()) {
    if (!isa<BitcastOp, ReshapeOp>(def)) {
      return false;
    }
    indices = def->getOperand(0);
  }
  auto batching = scatter.op.getInputBatchingDims();
  return scatter.op.getScatterDimsToOperandDims().size() == 1 && (!batching || batching->empty());
}

namespace {
struct BlockOffsets {
  Value offsets; ///< vector of i32
  Value inside;  ///< vector of i1
};
} // namespace

static BlockOffsets offsetsOf(ScatterEmission &scatter, ElementEmitter &block,
                              ArrayRef<Index> position) {
  Emission &e = scatter.e;
  Type element = arrayType(scatter.indices).getElementType();
  auto i32 = VectorType::get({kBlock}, e.b.getI32Type());
  BlockOffsets result;
  for (auto [k, d] : llvm::enumerate(scatter.op.getScatterDimsToOperandDims())) {
    Value start = block.emit(scatter.indices, scatter.componentAt(position, k)).re;
    int64_t bits = cast<VectorType>(start.getType()).getElementType().getIntOrFloatBitWidth();
    if (bits < 32) {
      start = isUnsignedElement(element) ? e.b.createOrFold<arith::ExtUIOp>(e.loc, i32, start)
                                         : e.b.createOrFold<arith::ExtSIOp>(e.loc, i32, start);
    }
    // As unsigned numbers, negative starts are large.
    Value limit = lanesOfConstant(e, start.getType(), scatter.startsAlong(d));
    Value fits = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, start, limit);
    result.inside = andMask(e, result.inside, fits);
    if (bits > 32) {
      start = e.b.createOrFold<arith::TruncIOp>(e.loc, i32, start);
    }
    result.offsets = addScaled(e, result.offsets, start, scatter.strides[d]);
  }
  scatter.forEachBatching([&](int64_t d, int64_t n) {
    Value lanes = laneIndices(e, position[n], kBlock);
    lanes = e.b.createOrFold<arith::TruncIOp>(e.loc, i32, lanes);
    result.offsets = addScaled(e, result.offsets, lanes, scatter.strides[d]);
  });
  return result;
}

/// Whether every lane has the same offset.
static Value allEqual(Emission &e, Value offsets) {
  Value one = vector::ExtractOp::create(e.b, e.loc, offsets, 0);
  Value first = vector::BroadcastOp::create(e.b, e.loc, offsets.getType(), one);
  Value differs = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne, offsets, first);
  return arith::XOrIOp::create(e.b, e.loc, anyLane(e, differs),
                               arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true)));
}

void emitScatterBlocks(ScatterEmission &scatter, ArrayRef<Value> prefix, Value lo, Value hi,
                       const ScatterBody &body) {
  Emission &e = scatter.e;
  ElementEmitter block(scatter.kernel, kBlock);
  bool plain = readsPlainIndices(scatter);
  auto positionAt = [&](Value last) {
    SmallVector<Value> position(prefix);
    position.push_back(last);
    return position;
  };
  auto emitBlock = [&](Value first) {
    ElementEmitter::Scope scope(block);
    SmallVector<Index> lanes(prefix.begin(), prefix.end());
    lanes.push_back(Index(first, 1));
    auto [offsets, inside] = offsetsOf(scatter, block, lanes);
    // A position's element offset, and whether it is in bounds.
    auto plainNumber = [&](int64_t n) -> std::pair<Value, Value> {
      ElementEmitter::Scope inner(scatter.scalars);
      lanes.back() = Index(addI(e, first, n));
      int64_t d = scatter.op.getScatterDimsToOperandDims()[0];
      Value start = scatter.startAt(lanes, 0);
      return {mulI(e, start, scatter.strides[d]),
              compareI(e, arith::CmpIPredicate::ult, start, scatter.startsAlong(d))};
    };
    auto forEachLane = [&](Value numbers, function_ref<void(Value, Value, Value)> update) {
      SmallVector<Value> apart = plain ? SmallVector<Value>() : lanesInPairs(e, numbers);
      for (int64_t n = 0; n < kBlock; ++n) {
        Value last = addI(e, first, n);
        if (plain) {
          auto [number, fits] = plainNumber(n);
          update(last, number, fits);
          continue;
        }
        update(last, apart[n], compareI(e, arith::CmpIPredicate::ne, apart[n], 0xffffffff));
      }
    };
    auto whenInside = [&] {
      forEachLane(offsets, [&](Value last, Value number, Value) {
        body.update(positionAt(last), scatter.inArrays(number));
      });
    };
    Value on = constantMask(e, SmallVector<bool>(kBlock, true));
    Value outside = anyLane(e, arith::XOrIOp::create(e.b, e.loc, inside, on));
    auto branch = scf::IfOp::create(e.b, e.loc, outside, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    if (scatter.windowElements > 1) {
      emitFor(e, first, addI(e, first, kBlock), 1,
              [&](Value last) { body.single(positionAt(last)); });
    } else {
      // All ones marks positions out of bounds; it is not a valid offset.
      Value none = lanesOfConstant(e, offsets.getType(), -1);
      Value marked = arith::SelectOp::create(e.b, e.loc, inside, offsets, none);
      forEachLane(marked, [&](Value last, Value number, Value fits) {
        body.update(positionAt(last), scatter.inArraysOrSink(number, fits));
      });
    }
    e.b.setInsertionPointToStart(branch.elseBlock());
    if (!body.run) {
      whenInside();
      return;
    }
    auto same = scf::IfOp::create(e.b, e.loc, allEqual(e, offsets), /*withElseRegion=*/true);
    e.b.setInsertionPointToStart(same.thenBlock());
    Value number = vector::ExtractOp::create(e.b, e.loc, offsets, 0);
    SmallVector<SmallVector<Value>> positions;
    for (int64_t n = 0; n < kBlock; ++n) {
      positions.push_back(positionAt(addI(e, first, n)));
    }
    body.run(positions, e.b.createOrFold<arith::ExtUIOp>(e.loc, e.b.getI64Type(), number));
    e.b.setInsertionPointToStart(same.elseBlock());
    whenInside();
  };
  Value rest = remI(e, subI(e, hi, lo), kBlock), whole = subI(e, hi, rest);
  emitFor(e, lo, whole, kBlock, emitBlock);
  emitFor(e, whole, hi, 1, [&](Value last) { body.single(positionAt(last)); });
}

} // namespace hlo::codegen
