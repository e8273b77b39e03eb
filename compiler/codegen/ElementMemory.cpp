//===- ElementMemory.cpp - Loads and stores of elements -------------------===//
//
// Converts between memory and values by the table "How elements are held" in compiler/README.md.
// In: HLO element types and !llvm.ptr bases. Out: arith, vector and LLVM-dialect ops at the
// Emission's insertion point. Assumes row-major arrays aligned to their element (one part of it,
// for complex).
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/Element.h"
#include "compiler/codegen/Elementwise.h"
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/elementwise/Num.h"

using namespace mlir;

namespace hlo::codegen {

/// `op` as a GEP with one index only; null for other ops.
static LLVM::GEPOp asStep(Operation *op) {
  auto step = dyn_cast_or_null<LLVM::GEPOp>(op);
  return step && step.getRawConstantIndices().size() == 1 ? step : LLVM::GEPOp();
}

/// base + index * size of `unit`, reusing an equal existing op; `index` null: base + constant.
static Value stepFrom(Emission &e, Value base, Type unit, Value index, int32_t constant) {
  int left = 16; // search only the last few users
  for (Operation *user : base.getUsers()) {
    if (left-- == 0) {
      break;
    }
    LLVM::GEPOp step = asStep(user);
    if (!step || step.getBase() != base || step.getElemType() != unit) {
      continue;
    }
    bool isDynamic = !step.getDynamicIndices().empty();
    bool same = index ? isDynamic && step.getDynamicIndices()[0] == index
                      : !isDynamic && step.getRawConstantIndices()[0] == constant;
    if (same && isAvailable(e, user)) {
      return step;
    }
  }
  LLVM::GEPArg by = index ? LLVM::GEPArg(index) : LLVM::GEPArg(constant);
  return LLVM::GEPOp::create(e.b, e.loc, base.getType(), unit, base, ArrayRef<LLVM::GEPArg>{by});
}

/// base + index * size of `unit` + constant bytes. As in sums of indices, the constant comes last.
static Value pointerAt(Emission &e, Value base, Type unit, Value index, int64_t bytes) {
  Type byte = e.b.getI8Type();
  LLVM::GEPOp before = asStep(base.getDefiningOp());
  if (before && before.getElemType() == byte && before.getDynamicIndices().empty()) {
    base = before.getBase();
    bytes += before.getRawConstantIndices()[0];
  }
  if (index) {
    base = stepFrom(e, base, unit, index, 0);
  }
  // A GEP of the LLVM dialect has constants of 29 bits with a sign (kGEPConstantBitWidth).
  constexpr int64_t most = int64_t(1) << 27;
  if (bytes > most || bytes < -most) {
    return stepFrom(e, base, byte, constI64(e, bytes), 0);
  }
  return bytes == 0 ? base : stepFrom(e, base, byte, {}, static_cast<int32_t>(bytes));
}

Value addBytes(Emission &e, Value base, Value bytes) {
  SumWithConstant sum = splitConstant(bytes);
  return pointerAt(e, base, e.b.getI8Type(), sum.value, sum.constant);
}

/// The memory type of one element (or one part).
static Type memoryType(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element)) {
    return complex.getElementType();
  }
  if (isNarrowFloat(element) || isa<IntegerType>(element)) {
    return IntegerType::get(element.getContext(), 8 * storageBytes(element));
  }
  return element;
}

/// Memory bits -> value.
static Elem decode(Emission &e, Type element, Value raw) {
  if (isNarrowFloat(element)) {
    return Elem(decodeNarrow(e, element, raw), lowerHalfOf(element));
  }
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || integer.getWidth() >= 8) {
    return raw;
  }
  Num bits(e, raw);
  if (integer.isSignless()) {
    return Elem(notEqual(bits, 0));
  }
  return Elem(zextTo(bits, computeType(element)));
}

/// Value -> memory bits.
static Value encode(Emission &e, Type element, const Elem &elem) {
  Value value = elem.re;
  if (isNarrowFloat(element)) {
    return encodeNarrow(e, element, value, elem.lower);
  }
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || integer.getWidth() >= 8) {
    return value;
  }
  Num bits(e, value);
  return isUnsignedElement(element) ? zextTo(bits, e.b.getI8Type()) : sextTo(bits, e.b.getI8Type());
}

Value elementPointer(Emission &e, Type memory, Value base, Value index) {
  SumWithConstant sum = splitConstant(index);
  return pointerAt(e, base, memory, sum.value, sum.constant * (memory.getIntOrFloatBitWidth() / 8));
}

static unsigned alignmentOf(Type memory) { return memory.getIntOrFloatBitWidth() / 8; }

static Value shuffle(Emission &e, Value a, Value b, ArrayRef<int64_t> lanes) {
  return vector::ShuffleOp::create(e.b, e.loc, a, b, lanes);
}

/// Number of lanes that are on, if the mask is known and they are the first ones.
static std::optional<int64_t> leadingLanes(Value mask) {
  DenseElementsAttr bits;
  if (!matchPattern(mask, m_Constant(&bits))) {
    return std::nullopt;
  }
  auto on = llvm::to_vector(bits.getValues<bool>());
  int64_t count = llvm::find(on, false) - on.begin();
  if (llvm::is_contained(ArrayRef<bool>(on).drop_front(count), true)) {
    return std::nullopt;
  }
  return count;
}

/// Splits `count` lanes into decreasing powers of two, and calls body(first, lanes) for each.
static void forEachPart(int64_t count, function_ref<void(int64_t, int64_t)> body) {
  for (int64_t first = 0; first < count;) {
    int64_t part = llvm::bit_floor<uint64_t>(count - first);
    body(first, part);
    first += part;
  }
}

static Value partPointer(Emission &e, Type memory, Value pointer, int64_t first) {
  return first == 0 ? pointer : elementPointer(e, memory, pointer, constI64(e, first));
}

/// The first `count` memory elements at `pointer`, then zeros, without masks: for targets that have
/// none.
static Value loadLeading(Emission &e, Type memory, Value pointer, int64_t count, int64_t lanes) {
  Value result = zeroOf(e, laneType(memory, lanes));
  forEachPart(count, [&](int64_t first, int64_t part) {
    Value loaded =
        LLVM::LoadOp::create(e.b, e.loc, laneType(memory, part),
                             partPointer(e, memory, pointer, first), alignmentOf(memory));
    if (part == 1) {
      result = vector::InsertOp::create(e.b, e.loc, loaded, result, first);
      return;
    }
    SmallVector<int64_t> widened(lanes, vector::ShuffleOp::kPoisonIndex), order;
    for (int64_t l = 0; l < lanes; ++l) {
      bool here = l >= first && l < first + part;
      order.push_back(here ? lanes + l : l);
      if (here) {
        widened[l] = l - first;
      }
    }
    result = shuffle(e, result, shuffle(e, loaded, loaded, widened), order);
  });
  return result;
}

static void storeLeading(Emission &e, Type memory, Value value, Value pointer, int64_t count) {
  forEachPart(count, [&](int64_t first, int64_t part) {
    auto order = llvm::to_vector(llvm::seq(first, first + part));
    Value stored = part == 1 ? Value(vector::ExtractOp::create(e.b, e.loc, value, first))
                             : shuffle(e, value, value, order);
    LLVM::StoreOp::create(e.b, e.loc, stored, partPointer(e, memory, pointer, first),
                          alignmentOf(memory));
  });
}

/// The result of `load` if `condition` holds, else that of `otherwise`.
static Value loadIf(Emission &e, Type type, Value condition, function_ref<Value()> load,
                    function_ref<Value()> otherwise) {
  auto guard = scf::IfOp::create(e.b, e.loc, TypeRange{type}, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard restore(e.b);
  e.b.setInsertionPointToStart(&guard.getThenRegion().front());
  scf::YieldOp::create(e.b, e.loc, load());
  e.b.setInsertionPointToStart(&guard.getElseRegion().front());
  scf::YieldOp::create(e.b, e.loc, otherwise());
  return guard.getResult(0);
}

/// `lanes` consecutive memory elements at `pointer`.
static Value loadRaw(Emission &e, Type memory, Value pointer, int64_t lanes, Value mask) {
  Type type = laneType(memory, lanes);
  unsigned alignment = alignmentOf(memory);
  auto loadAll = [&]() -> Value {
    return LLVM::LoadOp::create(e.b, e.loc, type, pointer, alignment);
  };
  if (!mask) {
    return loadAll();
  }
  if (lanes == 1) {
    return loadIf(e, type, mask, loadAll, [&] { return zeroOf(e, type); });
  }
  auto loadSome = [&]() -> Value {
    Value zero = zeroOf(e, type);
    return LLVM::MaskedLoadOp::create(e.b, e.loc, type, pointer, mask, zero,
                                      e.b.getI32IntegerAttr(alignment));
  };
  if (e.machine.vectors.hasPredicates()) {
    return loadSome();
  }
  if (std::optional<int64_t> leading = leadingLanes(mask)) {
    return loadLeading(e, memory, pointer, *leading, lanes);
  }
  // Where loads take no mask each lane is a branch; mostly all lanes are on, or none is.
  if (static_cast<int>(memory.getIntOrFloatBitWidth()) >= 8 * e.machine.vectors.leastMasked) {
    return loadSome();
  }
  Value all = vector::ReductionOp::create(e.b, e.loc, vector::CombiningKind::AND, mask);
  return loadIf(e, type, all, loadAll, loadSome);
}

static void storeRaw(Emission &e, Type memory, Value value, Value pointer, Value mask) {
  unsigned alignment = alignmentOf(memory);
  if (!mask) {
    LLVM::StoreOp::create(e.b, e.loc, value, pointer, alignment);
    return;
  }
  if (lanesOf(value) > 1) {
    std::optional<int64_t> leading =
        e.machine.vectors.hasPredicates() ? std::nullopt : leadingLanes(mask);
    if (leading) {
      storeLeading(e, memory, value, pointer, *leading);
      return;
    }
    LLVM::MaskedStoreOp::create(e.b, e.loc, value, pointer, mask, e.b.getI32IntegerAttr(alignment));
    return;
  }
  auto guard = scf::IfOp::create(e.b, e.loc, mask, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard restore(e.b);
  e.b.setInsertionPointToStart(&guard.getThenRegion().front());
  LLVM::StoreOp::create(e.b, e.loc, value, pointer, alignment);
}

/// a0 b0 a1 b1 ...
static Value interleave(Emission &e, Value a, Value b) {
  SmallVector<int64_t> order;
  for (int64_t l = 0, lanes = lanesOf(a); l < lanes; ++l) {
    order.push_back(l);
    order.push_back(lanes + l);
  }
  return shuffle(e, a, b, order);
}

static Value twice(Emission &e, Value index) { return mulI(e, index, 2); }

Elem loadElements(Emission &e, Type element, Value base, Value index, int64_t lanes, Value mask) {
  Type memory = memoryType(element);
  if (!isa<ComplexType>(element)) {
    Value raw = loadRaw(e, memory, elementPointer(e, memory, base, index), lanes, mask);
    return decode(e, element, raw);
  }
  Value pointer = elementPointer(e, memory, base, twice(e, index));
  if (lanes <= 1) {
    Value second = elementPointer(e, memory, pointer, constI64(e, 1));
    Value re = loadRaw(e, memory, pointer, 1, mask);
    return Elem(re, loadRaw(e, memory, second, 1, mask));
  }
  Value pairMask = mask ? interleave(e, mask, mask) : Value();
  Value pairs = loadRaw(e, memory, pointer, 2 * lanes, pairMask);
  SmallVector<int64_t> even, odd;
  for (int64_t l = 0; l < lanes; ++l) {
    even.push_back(2 * l);
    odd.push_back(2 * l + 1);
  }
  Value re = shuffle(e, pairs, pairs, even);
  return Elem(re, shuffle(e, pairs, pairs, odd));
}

static Value gatherRaw(Emission &e, Type memory, Value base, Value indices, Value mask) {
  int64_t lanes = lanesOf(indices);
  auto type = cast<VectorType>(laneType(memory, lanes));
  Value pointers = LLVM::GEPOp::create(e.b, e.loc, laneType(base.getType(), lanes), memory, base,
                                       ArrayRef<LLVM::GEPArg>{indices});
  if (!mask) {
    mask = arith::ConstantOp::create(
        e.b, e.loc, DenseElementsAttr::get(VectorType::get({lanes}, e.b.getI1Type()), true));
  }
  Value zero = zeroOf(e, type);
  return LLVM::masked_gather::create(e.b, e.loc, type, pointers, mask, ValueRange{zero},
                                     e.b.getI32IntegerAttr(alignmentOf(memory)));
}

/// Gathers elements of one or two bytes, for which CPUs have no gather, out of the aligned 4-byte
/// words that contain them. An aligned word never crosses a page, so it can be read.
static Value gatherNarrow(Emission &e, Type memory, Value base, Value indices, Value mask) {
  int64_t bytes = memory.getIntOrFloatBitWidth() / 8;
  Type i64 = e.b.getI64Type(), word = e.b.getI32Type();
  Num within = Num(e, LLVM::PtrToIntOp::create(e.b, e.loc, i64, base)) & 3;
  Value aligned = addBytes(e, base, within.of(int64_t(0)) - within);
  Num at = shl(sextTo(Num(e, indices), i64), bytes - 1) +
           Num(e, splat(e, Elem(within), lanesOf(indices)).re);
  Num words(e, gatherRaw(e, word, aligned, shrU(at, 2), mask));
  Num shift = zextTo(shl(at & 3, 3), word);
  Type narrow = laneType(memory, lanesOf(indices));
  return arith::TruncIOp::create(e.b, e.loc, narrow, shrU(words, shift));
}

Elem gatherElements(Emission &e, Type element, Value base, Value indices, Value mask) {
  if (lanesOf(indices) == 1) {
    return loadElements(e, element, base, indices, 1, mask);
  }
  Type memory = memoryType(element);
  bool byLane = e.machine.gathers.blocks && (!mask || matchPattern(mask, m_Constant()));
  auto gather = [&](Value from, Value at) {
    if (byLane) {
      return gatherByLane(e, memory, from, at, mask);
    }
    const Gather &gathers = e.machine.gathers;
    bool narrow = gathers.fromWords &&
                  static_cast<int>(memory.getIntOrFloatBitWidth()) < 8 * gathers.leastBytes;
    return narrow ? gatherNarrow(e, memory, from, at, mask) : gatherRaw(e, memory, from, at, mask);
  };
  if (!isa<ComplexType>(element)) {
    return decode(e, element, gather(base, indices));
  }
  Value first = shl(Num(e, indices), 1);
  Value second = byLane ? first : Value(Num(e, first) + 1);
  Value after = byLane ? elementPointer(e, memory, base, constI64(e, 1)) : base;
  Value re = gather(base, first);
  return Elem(re, gather(after, second));
}

/// The memory elements at `pointer` + offsets[l], from vector loads that cover the least to the
/// greatest offset. Masked-off lanes have the least offset.
static Value loadWindows(Emission &e, Type memory, Value pointer, ArrayRef<int64_t> offsets) {
  int64_t lanes = offsets.size();
  int64_t least = *llvm::min_element(offsets), span = *llvm::max_element(offsets) - least + 1;
  auto at = [&](int64_t offset) {
    return offset == 0 ? pointer : elementPointer(e, memory, pointer, constI64(e, offset));
  };
  SmallVector<int64_t> from(lanes);
  if (span <= lanes) {
    for (int64_t l = 0; l < lanes; ++l) {
      from[l] = offsets[l] - least;
    }
    Value window;
    if (span == lanes || llvm::isPowerOf2_64(span) || !e.machine.vectors.hasPredicates()) {
      window = loadRaw(e, memory, at(least), span, {});
    } else {
      window = loadRaw(e, memory, at(least), lanes, firstLanes(e, span, lanes));
    }
    return isa<VectorType>(window.getType()) ? shuffle(e, window, window, from)
                                             : splat(e, window, lanes).re;
  }
  // The last window ends with the last element.
  Value result;
  for (int64_t first = 0; first < span; first += lanes) {
    int64_t begin = std::min(first, span - lanes);
    Value window = loadRaw(e, memory, at(least + begin), lanes, {});
    if (!result) {
      result = window;
    }
    for (int64_t l = 0; l < lanes; ++l) {
      int64_t place = offsets[l] - least;
      bool here = place >= first && place < first + lanes;
      from[l] = here ? lanes + place - begin : first > lanes ? l : std::min(place, lanes - 1);
    }
    result = first == 0 ? window : shuffle(e, result, window, from);
  }
  return result;
}

bool isNear(Type element, ArrayRef<int64_t> offsets) {
  // A gather takes more than a cycle per lane; a window takes a load and a shuffle.
  int64_t lanes = offsets.size(), parts = isa<ComplexType>(element) ? 2 : 1;
  int64_t span = parts * (*llvm::max_element(offsets) - *llvm::min_element(offsets) + 1);
  return lanes >= 4 && span <= lanes * (lanes / 2);
}

Elem loadNear(Emission &e, Type element, Value base, Value index, ArrayRef<int64_t> offsets,
              Value mask) {
  int64_t lanes = offsets.size();
  SmallVector<int64_t> wanted(offsets);
  if (mask) {
    // Masked-off lanes may get any element that is read anyway.
    DenseElementsAttr bits;
    if (!matchPattern(mask, m_Constant(&bits)) || bits.isSplat()) {
      return {};
    }
    auto on = llvm::to_vector(bits.getValues<bool>());
    int64_t one = offsets[llvm::find(on, true) - on.begin()];
    for (int64_t l = 0; l < lanes; ++l) {
      wanted[l] = on[l] ? offsets[l] : one;
    }
  }
  if (!isNear(element, wanted)) {
    return {};
  }
  Type memory = memoryType(element);
  if (!isa<ComplexType>(element)) {
    return decode(e, element,
                  loadWindows(e, memory, elementPointer(e, memory, base, index), wanted));
  }
  Value pointer = elementPointer(e, memory, base, twice(e, index));
  SmallVector<int64_t> real, imaginary;
  for (int64_t offset : wanted) {
    real.push_back(2 * offset);
    imaginary.push_back(2 * offset + 1);
  }
  Value re = loadWindows(e, memory, pointer, real);
  return Elem(re, loadWindows(e, memory, pointer, imaginary));
}

void storeElements(Emission &e, Type element, const Elem &value, Value base, Value index,
                   Value mask) {
  Type memory = memoryType(element);
  if (!isa<ComplexType>(element)) {
    Value raw = encode(e, element, value);
    storeRaw(e, memory, raw, elementPointer(e, memory, base, index), mask);
    return;
  }
  Value pointer = elementPointer(e, memory, base, twice(e, index));
  if (lanesOf(value.re) == 1) {
    storeRaw(e, memory, value.re, pointer, mask);
    storeRaw(e, memory, value.im, elementPointer(e, memory, pointer, constI64(e, 1)), mask);
    return;
  }
  Value pairMask = mask ? interleave(e, mask, mask) : Value();
  storeRaw(e, memory, interleave(e, value.re, value.im), pointer, pairMask);
}

} // namespace hlo::codegen
