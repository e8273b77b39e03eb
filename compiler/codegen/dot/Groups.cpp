//===- Groups.cpp - Narrow products, two or four at a time ----------------===//
//
// In: sides whose elements are bf16, or integers of at most 8 or 16 bits. Out: the pieces that
// differ where one instruction multiplies groups of neighbours along k and adds them to a 32-bit
// lane (Product, KGroup). The neighbours stand in one 32-bit lane, the first in the lowest bits.
// That is how they lie in memory along k, so that a lhs stored by rows is broadcast from where it
// is. A pair of bf16 is held as an f32 of the same bits, so that buffers and shuffles treat it like
// one.
//
// Some products take unsigned bytes times signed ones (Product::Signs::OneUnsigned). For two sides
// of the same sign the lhs is packed with its upper bit flipped, that is 128 more (or less), and
// the sums start from -128 (or 128) times the sums of the columns of the rhs, which stand in a row
// of their own behind each panel. Everything wraps, so the result is exact.
//
// Where the last group of k is not full, the rhs is padded by zeros.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockedEmitter.h"

using namespace mlir;

namespace hlo::codegen {

static Value constantLike(Emission &e, Value like, int64_t value) {
  Type scalar = getElementTypeOrSelf(like.getType());
  TypedAttr attribute = e.b.getIntegerAttr(scalar, value);
  if (auto vector = dyn_cast<VectorType>(like.getType())) {
    attribute = DenseElementsAttr::get(vector, cast<Attribute>(attribute));
  }
  return arith::ConstantOp::create(e.b, e.loc, attribute);
}

static Value bitsOf(Emission &e, Value value) {
  Type type = laneType(e.b.getIntegerType(32), lanesOf(value));
  return value.getType() == type ? value
                                 : arith::BitcastOp::create(e.b, e.loc, type, value).getResult();
}

static Value shiftLeft(Emission &e, Value value, int64_t bits) {
  return bits == 0
             ? value
             : arith::ShLIOp::create(e.b, e.loc, value, constantLike(e, value, bits)).getResult();
}

static Value andWith(Emission &e, Value value, int64_t bits) {
  return arith::AndIOp::create(e.b, e.loc, value, constantLike(e, value, bits));
}

Value BlockedEmitter::flipped(Value value) {
  if (!plan.flipLhs) {
    return value;
  }
  return arith::XOrIOp::create(e.b, e.loc, value, constantLike(e, value, 0x80));
}

KGroup groupOf(const Product *product) {
  if (!product) {
    return KGroup::None;
  }
  return !product->operand.isInteger() ? KGroup::Bf16Pair
         : product->group == 2         ? KGroup::WordPair
                                       : KGroup::ByteQuad;
}

int64_t sizeOf(KGroup group) {
  return group == KGroup::None ? 1 : group == KGroup::ByteQuad ? 4 : 2;
}

Value groupLanes(Emission &e, KGroup group, ArrayRef<Value> values) {
  if (group == KGroup::Bf16Pair) {
    Value low = bitsOf(e, values[0]), high = bitsOf(e, values[1]);
    low = arith::ShRUIOp::create(e.b, e.loc, low, constantLike(e, low, 16));
    high = andWith(e, high, int32_t(0xffff0000));
    Value pair = arith::OrIOp::create(e.b, e.loc, low, high);
    return arith::BitcastOp::create(e.b, e.loc, values[0].getType(), pair);
  }
  int64_t size = sizeOf(group), bits = 32 / size;
  Value result;
  for (int64_t j = 0; j < size; ++j) {
    Value piece = values[j];
    if (j + 1 < size) {
      piece = andWith(e, piece, (int64_t(1) << bits) - 1);
    }
    piece = shiftLeft(e, piece, j * bits);
    result = result ? arith::OrIOp::create(e.b, e.loc, result, piece).getResult() : piece;
  }
  return result;
}

Value flipBytes(Emission &e, Value groups) {
  Value flip = constantLike(e, groups, int32_t(0x80808080));
  return arith::XOrIOp::create(e.b, e.loc, groups, flip);
}

Value flippedZeros(Emission &e, int64_t lanes) {
  return flipBytes(e, zeroOf(e, laneType(e.b.getI32Type(), lanes)));
}

Value BlockedEmitter::groupLanes(ArrayRef<Value> values) {
  return codegen::groupLanes(e, plan.group, values);
}

Value BlockedEmitter::narrowLanes(Value value) {
  Value bits = bitsOf(e, value);
  if (plan.group == KGroup::Bf16Pair) {
    bits = arith::ShRUIOp::create(e.b, e.loc, bits, constantLike(e, bits, 16));
  }
  Type narrow = laneType(e.b.getIntegerType(32 / plan.kStep()), lanesOf(value));
  return arith::TruncIOp::create(e.b, e.loc, narrow, bits);
}

Elem BlockedEmitter::readGroup(const ContractionSide &side, const Block &block,
                               ArrayRef<Index> free, ArrayRef<Index> k, int64_t lanes, Value mask,
                               bool flip) {
  SmallVector<Value> values;
  int64_t size = c.k.back();
  for (int64_t j = 0; j < plan.kStep(); ++j) {
    SmallVector<Index> at(k);
    Value place = addI(e, k.back().base, j), exists;
    if (j > 0 && size % plan.kStep() != 0) {
      exists = compareI(e, arith::CmpIPredicate::slt, place, size);
      place = minI(e, place, size - 1);
    }
    at.back() = Index(place);
    Value value = side.read(block.batch, free, at, lanes, mask).re;
    if (exists) {
      value = arith::SelectOp::create(e.b, e.loc, exists, value, zeroElem(e, c.element, lanes).re);
    }
    values.push_back(flip ? flipped(value) : value);
  }
  return Elem(groupLanes(values));
}

Value BlockedEmitter::loadColumnGroups(const Block &block, ArrayRef<Index> column,
                                       ArrayRef<Index> k) {
  Value address = c.rhs.address(e, block.batch, column, k), zero = constI64(e, 0);
  int64_t elements = plan.lanes * plan.kStep();
  if (c.k.back() % elements == 0) {
    return loadElements(e, part, address, zero, plan.lanes).re;
  }
  Value rest = subI(e, constI64(e, c.k.back()), k.back().base);
  auto below = [&](int64_t lanes, int64_t stride) -> Value {
    return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt,
                                 laneOffsets(e, lanes, stride), splat(e, rest, lanes).re);
  };
  if (c.k.back() % plan.kStep() == 0) {
    return loadElements(e, part, address, zero, plan.lanes, below(plan.lanes, plan.kStep())).re;
  }
  Type narrow = IntegerType::get(e.b.getContext(), 32 / plan.kStep(), IntegerType::Signed);
  Value bytes = loadElements(e, narrow, address, zero, elements, below(elements, 1)).re;
  return vector::BitCastOp::create(e.b, e.loc, laneType(computeType(part), plan.lanes), bytes);
}

Value multiplyGroups(Emission &e, const Product &product, bool rhsUnsigned, Value sum, Value lhs,
                     Value rhs) {
  if (product.signs == Product::Signs::OneUnsigned && rhsUnsigned) {
    std::swap(lhs, rhs);
  }
  return product.multiply(e, sum, lhs, rhs);
}

Value BlockedEmitter::multiplyGroups(Value sum, Value lhs, Value rhs) {
  return codegen::multiplyGroups(e, *plan.product, plan.rhsUnsigned, sum, lhs, rhs);
}

void BlockedEmitter::sumColumns(const Block &block, const KBlock &k) {
  if (!plan.flipLhs) {
    return;
  }
  Value zero = constI64(e, 0), groups = groupsOf(k.length);
  forEachPanel(block, [&](const Panel &panel) {
    Value start = panelStart(block, panel);
    Value none = zeroElem(e, c.element, plan.lanes).re;
    Value flip = flippedZeros(e, plan.lanes);
    SmallVector<Value> init(panel.vectors, none);
    SmallVector<Value> sums =
        emitForCarrying(e, zero, groups, 1, init, [&](Value i, ValueRange carried) {
          Value row = addI(e, start, mulI(e, i, plan.columns()));
          SmallVector<Value> next;
          for (int64_t v = 0; v < panel.vectors; ++v) {
            Value address = bufferAddress(rhsBuffer, row, v * plan.lanes);
            next.push_back(multiplyGroups(carried[v], flip, loadBuffer(address, plan.lanes, 0).re));
          }
          return next;
        });
    for (int64_t v = 0; v < panel.vectors; ++v) {
      Value negative = arith::SubIOp::create(e.b, e.loc, none, sums[v]);
      storeBuffer(correctionAddress(block, panel, v), Elem(negative), 0);
    }
  });
}

Value BlockedEmitter::correctionAddress(const Block &block, const Panel &panel, int64_t v) {
  return bufferAddress(rhsBuffer, panelStart(block, panel),
                       (plan.rhsRows - 1) * plan.columns() + v * plan.lanes);
}

Value BlockedEmitter::groupsOf(Value length) {
  return divI(e, addI(e, length, plan.kStep() - 1), plan.kStep());
}

} // namespace hlo::codegen
