//===- Operand.cpp - Reading an operand of a contraction ------------------===//
//
// Reads a value of a fusion's region, one element or one vector at a time, in the
// type in which products are accumulated. There are two kinds of operands:
//
// - Strided: an argument of the kernel, seen through transposes, reversals, slices,
//   broadcasts, reshapes and exact converts. It becomes a base address and strides,
//   so that contractions merge its dimensions, step a pointer and need no index
//   arithmetic. A dynamic-slice moves the base address.
// - Computed: everything else. An ElementEmitter evaluates it at each index. Its
//   strides are those of the largest array that it reads, so that lanes follow the
//   dimension that is contiguous in that array.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Operand.h"
#include "compiler/codegen/contraction/Arithmetic.h"
#include "compiler/codegen/contraction/Loops.h"
#include "compiler/codegen/contraction/View.h"

using namespace mlir;

namespace hlo::codegen {

/// The panels that `value` is computed from, if they are an argument of the kernel.
static std::optional<StoredPanels> panelsOf(KernelBuilder &kernel, Value value) {
  Operation *op = value.getDefiningOp();
  auto argument = dyn_cast_or_null<BlockArgument>(op ? panelsBehind(op) : Value());
  if (!argument || rankOf(argument) != 6) {
    return std::nullopt;
  }
  ArrayRef<int64_t> shape = shapeOf(argument);
  return StoredPanels{kernel.operandPtrs[argument.getArgNumber()],
                      elementType(argument.getType()),
                      shape[1],
                      shape[2],
                      shape[3],
                      shape[4],
                      shape[5]};
}

Operand::Operand(KernelBuilder &kernel, Value value, Type as)
    : kernel(&kernel), value(value), as(as) {
  if ((storedPanels = panelsOf(kernel, value))) {
    dimStrides = rowMajorStrides(shapeOf(value));
    storageType = storedPanels->storage;
    return;
  }
  std::optional<View> view = viewOf(value);
  if (!view) {
    std::optional<View> nearest = viewOf(value, /*nearest=*/true);
    dimStrides = nearest ? nearest->strides : rowMajorStrides(shapeOf(value));
    storageType = nearest ? nearest->storage : elementType(value.getType());
    return;
  }
  Emission &e = kernel.e;
  dimStrides = view->strides;
  storageType = view->storage;
  conversions = view->conversions;
  base = kernel.operandPtrs[view->argument];
  Value offset = constI64(e, view->offset);
  for (const DynamicStart &start : view->starts) {
    offset = addI(e, offset, mulI(e, clampedStart(kernel, start), start.stride));
  }
  if (view->offset != 0 || !view->starts.empty()) {
    base = addBytes(e, base, mulI(e, offset, storageBytes(storageType)));
  }
}

bool Operand::holdsBf16() const {
  return as.isF32() &&
         (elementType(value.getType()).isBF16() || (isStrided() && storageType.isBF16()));
}

Type Operand::narrowInteger() const {
  auto isNarrow = [](Type type) {
    return isa<IntegerType>(type) && type.getIntOrFloatBitWidth() <= 16;
  };
  if (isStrided() && isNarrow(storageType)) {
    return storageType;
  }
  Type type = elementType(value.getType());
  return isNarrow(type) ? type : Type();
}

void Operand::groupAlong(unsigned dim, KGroup group, Type word, bool flips) {
  int64_t size = shapeOf(value)[dim], step = sizeOf(group);
  bool inMemory = isStrided() && storageBytes(storageType) * step == 4 && dimStrides[dim] == 1 &&
                  size % step == 0;
  for (auto [d, stride] : llvm::enumerate(dimStrides)) {
    inMemory &= d == dim || shapeOf(value)[d] == 1 || stride % step == 0;
  }
  if (!inMemory && group != KGroup::Bf16Pair) {
    // Groups of four bytes may be unsigned; pairs of 16 bits are signed.
    bool isUnsigned = group == KGroup::ByteQuad && isUnsignedElement(narrowInteger());
    as = IntegerType::get(word.getContext(), 32 / step,
                          isUnsigned ? IntegerType::Unsigned : IntegerType::Signed);
  }
  groups = Groups{dim, size, group, word, flips, inMemory};
  if (!inMemory) {
    return;
  }
  for (auto [d, stride] : llvm::enumerate(dimStrides)) {
    stride = d == dim ? 1 : stride / step;
  }
  storageType = as = word;
  conversions.clear();
}

/// Whether the elements of a group are contiguous in memory and not wider than in the group.
bool Operand::isLoadOfGroups() const {
  return base && dimStrides[groups->dim] == 1 && storageType.getIntOrFloatBitWidth() % 8 == 0 &&
         storageType.getIntOrFloatBitWidth() * sizeOf(groups->group) <= 32;
}

/// An integer type of as many bits as `type`: groups are made of bits.
static Type bitsOf(Type type) {
  return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth(), IntegerType::Signed);
}

bool Operand::isRunOfGroups(ArrayRef<Index> index, int64_t lanes) const {
  if (lanes <= 1 || !isLoadOfGroups()) {
    return false;
  }
  for (auto [d, i] : llvm::enumerate(index)) {
    if (i.lanes || i.stride != (d == groups->dim ? 1 : 0)) {
      return false;
    }
  }
  return true;
}

/// One group per lane, from consecutive elements of memory; elements after the end of the
/// dimension are zeros.
Elem Operand::loadGroups(ArrayRef<Index> index, int64_t lanes) {
  Emission &e = kernel->e;
  int64_t step = sizeOf(groups->group), elements = lanes * step;
  Value offset = constI64(e, 0), rest = constI64(e, groups->size);
  for (auto [d, i] : llvm::enumerate(index)) {
    Value first = d == groups->dim ? mulI(e, i.base, step) : i.base;
    offset = addI(e, offset, mulI(e, first, dimStrides[d]));
    rest = d == groups->dim ? subI(e, rest, first) : rest;
  }
  Value below = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::slt,
                                      laneOffsets(e, elements, 1), splat(e, rest, elements).re);
  return groupsOf(loadElements(e, bitsOf(storageType), base, offset, elements, below).re, lanes);
}

/// Consecutive elements as they are in memory, as groups.
Elem Operand::groupsOf(Value run, int64_t lanes) {
  Emission &e = kernel->e;
  int64_t step = sizeOf(groups->group);
  if (storageType.getIntOrFloatBitWidth() * step < 32) {
    Type wide = laneType(e.b.getIntegerType(32 / step), lanes * step);
    run = isUnsignedElement(storageType) ? arith::ExtUIOp::create(e.b, e.loc, wide, run).getResult()
                                         : arith::ExtSIOp::create(e.b, e.loc, wide, run);
  }
  Type word = laneType(computeType(groups->word), lanes);
  Value result = vector::BitCastOp::create(e.b, e.loc, word, run);
  return Elem(groups->flips ? flipBytes(e, result) : result);
}

std::pair<int64_t, int64_t> Operand::positionsPerVector(unsigned dim, int64_t lanes) const {
  if (!groups || groups->inMemory || dim == groups->dim || !isLoadOfGroups()) {
    return {0, 0};
  }
  int64_t step = sizeOf(groups->group), each = llvm::divideCeil(groups->size, step);
  int64_t positions = lanes / each, stride = dimStrides[dim], elements = lanes * step;
  bool fits = positions > 1 && positions * each == lanes && stride >= groups->size &&
              (positions - 1) * stride + groups->size <= elements;
  return fits ? std::pair(positions, llvm::divideCeilSigned(elements, stride))
              : std::pair<int64_t, int64_t>(0, 0);
}

Elem Operand::positionsAt(ArrayRef<Index> index, unsigned dim, int64_t lanes) {
  Emission &e = kernel->e;
  int64_t step = sizeOf(groups->group), elements = lanes * step;
  int64_t each = llvm::divideCeil(groups->size, step) * step;
  Value run =
      loadElements(e, bitsOf(storageType), base, offsetOf(e, index, dimStrides), elements).re;
  SmallVector<int64_t> places;
  for (int64_t i = 0; i < elements; ++i) {
    int64_t element = i % each;
    places.push_back(element < groups->size ? i / each * dimStrides[dim] + element : elements);
  }
  Value zeros = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(run.getType()));
  return groupsOf(vector::ShuffleOp::create(e.b, e.loc, run, zeros, places), lanes);
}

/// The groups at an index. Contiguous groups are loaded as vectors: masked-off lanes may be read
/// too, since they exist; elements after the end of the dimension are not read. Other groups are
/// read element by element.
Elem Operand::groupAt(ArrayRef<Index> index, int64_t lanes, Value mask) {
  if (isRunOfGroups(index, lanes)) {
    return loadGroups(index, lanes);
  }
  Emission &e = kernel->e;
  int64_t step = sizeOf(groups->group);
  Index first = mulIndex(e, index[groups->dim], step);
  SmallVector<Value> values;
  for (int64_t j = 0; j < step; ++j) {
    SmallVector<Index> at(index);
    Index &here = at[groups->dim];
    here = addIndex(e, first, j);
    Value exists, on = mask;
    if (groups->size % step != 0 && (lanes <= 1 || (!here.lanes && here.stride == 0))) {
      exists = compareI(e, arith::CmpIPredicate::slt, here.base, groups->size);
      here = Index(minI(e, here.base, groups->size - 1));
    } else if (groups->size % step != 0) {
      exists = compareI(e, arith::CmpIPredicate::slt, laneIndices(e, here, lanes), groups->size);
      on = andMask(e, mask, exists);
    }
    Elem element = elementAt(at, lanes, on);
    if (exists && lanesOf(exists) < lanesOf(element.re)) {
      exists = splat(e, exists, lanes).re;
    }
    Value narrow = zeroUnless(e, as, exists, element).re;
    Type wide = laneType(e.b.getI32Type(), lanesOf(narrow));
    values.push_back(groups->group == KGroup::Bf16Pair
                         ? narrow
                         : arith::ExtUIOp::create(e.b, e.loc, wide, narrow).getResult());
  }
  Value result = groupLanes(e, groups->group, values);
  return Elem(groups->flips ? flipBytes(e, result) : result);
}

Elem Operand::converted(Type from, const Elem &elem) {
  Elem result = elem;
  auto convertTo = [&](Type to) {
    if (from != to) {
      result = emitConvert(kernel->e, from, to, result);
      from = to;
    }
  };
  for (Type type : conversions) {
    convertTo(type);
  }
  convertTo(as);
  if (groups && groups->inMemory && groups->flips) {
    result.re = flipBytes(kernel->e, result.re);
  }
  return result;
}

Elem Operand::at(ArrayRef<Index> index, int64_t lanes, Value mask) {
  return groups && !groups->inMemory ? groupAt(index, lanes, mask) : elementAt(index, lanes, mask);
}

Elem Operand::elementAt(ArrayRef<Index> index, int64_t lanes, Value mask) {
  Emission &e = kernel->e;
  if (base) {
    Index offset(constI64(e, 0));
    for (auto [i, stride] : llvm::zip(index, dimStrides)) {
      if (stride != 0) {
        offset = addIndex(e, offset, mulIndex(e, i, stride), lanes);
      }
    }
    return atOffset(offset, lanes, mask);
  }
  ElementEmitter emitter(*kernel, lanes);
  return converted(elementType(value.getType()), emitter.emit(value, index, mask));
}

Elem Operand::atOffset(const Index &offset, int64_t lanes, Value mask) {
  Emission &e = kernel->e;
  if (!offset.lanes && (lanes <= 1 || offset.stride == 0)) {
    Value at = offset.base;
    if (mask) {
      // If no lane is on, element 0 is read: it is in bounds.
      at = e.b.createOrFold<arith::SelectOp>(e.loc, anyLane(e, mask), at, constI64(e, 0));
    }
    Elem scalar = converted(storageType, loadElements(e, storageType, base, at, 1));
    return lanes <= 1 ? scalar : splat(e, scalar, lanes);
  }
  if (!offset.lanes && offset.stride == 1) {
    return converted(storageType, loadElements(e, storageType, base, offset.base, lanes, mask));
  }
  // Lanes at known small distances, such as one channel for each of several features: one or two
  // loads and a shuffle instead of a gather.
  if (SmallVector<int64_t> offsets = knownOffsets(offset, lanes); !offsets.empty()) {
    if (Elem near = loadNear(e, storageType, base, offset.base, offsets, mask)) {
      return converted(storageType, near);
    }
  }
  return converted(storageType,
                   gatherElements(e, storageType, base, laneIndices(e, offset, lanes), mask));
}

Elem Operand::atPointer(Value address, int64_t lanes, Value mask) {
  Emission &e = kernel->e;
  return converted(storageType, loadElements(e, storageType, address, constI64(e, 0), lanes, mask));
}

} // namespace hlo::codegen
