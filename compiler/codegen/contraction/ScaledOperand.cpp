//===- ScaledOperand.cpp - Narrow integers, scaled in groups --------------===//
//
// In: an operand of a dot. Out: the integers in memory that it is computed from (the leaf), the ops
// between the two (the path), and how far scales and zero points beside the path stay the same
// along each dimension.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/ScaledOperand.h"
#include "compiler/analysis/Constants.h"
#include "compiler/analysis/Reshape.h"
#include "compiler/codegen/contraction/Arithmetic.h"
#include "compiler/codegen/contraction/Loops.h"
#include "compiler/codegen/contraction/StoredIntegers.h"

#include <numeric>

using namespace mlir;

namespace hlo::codegen {

/// Search limit: ops between the integers and the operand.
static constexpr int kMostSteps = 16;

//===----------------------------------------------------------------------===//
// The path
//===----------------------------------------------------------------------===//

/// The number of integers in memory that `v` is computed from: those of the largest leaf behind it.
int64_t ScaledOperand::storedBehind(Value v, int depth) {
  if (std::optional<StoredIntegers> found = storedIntegers(v)) {
    return found->view.elements;
  }
  Operation *op = v.getDefiningOp();
  if (!op || depth > kMostSteps) {
    return 0;
  }
  auto [known, isNew] = knownStored.try_emplace(v, 0);
  if (!isNew) {
    return known->second;
  }
  int64_t stored = 0;
  if (isa<MultiplyOp, DivideOp, AddOp, SubtractOp>(op)) {
    stored = std::max(storedBehind(op->getOperand(0), depth + 1),
                      storedBehind(op->getOperand(1), depth + 1));
  } else if (isa<ConvertOp, NegateOp, CopyOp, BitcastOp, ReshapeOp, TransposeOp, SliceOp,
                 DynamicSliceOp>(op)) {
    stored = storedBehind(op->getOperand(0), depth + 1);
  }
  return knownStored[v] = stored;
}

bool ScaledOperand::findPath() {
  Value at = value;
  for (int steps = 0; steps < kMostSteps; ++steps) {
    if (std::optional<StoredIntegers> found = storedIntegers(at)) {
      leaf = at;
      view = found->view;
      width = found->bits;
      signedness = found->isSigned;
      return true;
    }
    Operation *op = at.getDefiningOp();
    if (!op || storedBehind(at) == 0) {
      return false;
    }
    unsigned operand = 0;
    if (isa<MultiplyOp, DivideOp, AddOp, SubtractOp>(op)) {
      operand = storedBehind(op->getOperand(1)) > storedBehind(op->getOperand(0)) ? 1 : 0;
    }
    path.push_back({op, operand});
    at = op->getOperand(operand);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// What the path computes
//===----------------------------------------------------------------------===//

/// The largest integer up to which a float type has all of them; 0 for types that scales are not
/// computed in.
static int64_t mostExact(Type type) {
  return type.isBF16() ? 256 : type.isF32() ? INT64_C(1) << 24 : 0;
}

/// Whether an operation in this type may be done in f32 without the rounding to the type.
static bool isComputedWide(Type type) { return type.isBF16() || type.isF32(); }

static std::optional<std::pair<int64_t, int64_t>> rangeOfType(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() > 32 || isPred(type)) {
    return std::nullopt;
  }
  int64_t values = INT64_C(1) << integer.getWidth();
  return isUnsignedElement(type) ? std::pair<int64_t, int64_t>(0, values - 1)
                                 : std::pair<int64_t, int64_t>(-values / 2, values / 2 - 1);
}

/// The range of an integer beside the path: of the narrowest type that it is converted from, or of
/// a constant that no conversion changes.
static std::optional<std::pair<int64_t, int64_t>> rangeBehind(Value v) {
  auto range = rangeOfType(elementType(v.getType()));
  for (int steps = 0; range && steps < kMostSteps; ++steps) {
    std::optional<int64_t> constant = integerSplat(v);
    if (constant && *constant >= range->first && *constant <= range->second) {
      return std::pair(*constant, *constant);
    }
    auto own = rangeOfType(elementType(v.getType()));
    if (!own || own->first < range->first || own->second > range->second) {
      break;
    }
    range = own;
    Operation *op = v.getDefiningOp();
    if (!isa_and_nonnull<ConvertOp, BroadcastOp, ReshapeOp, TransposeOp, CopyOp, BitcastOp,
                         SliceOp>(op)) {
      break;
    }
    v = op->getOperand(0);
  }
  return range;
}

/// Whether `v` is computed from `leaf`.
static bool dependsOn(Value v, Value leaf, llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *op = v.getDefiningOp();
  return v == leaf ||
         (op && seen.insert(op).second && llvm::any_of(op->getOperands(), [&](Value operand) {
            return dependsOn(operand, leaf, seen);
          }));
}

/// Whether the value of `step` is the scaled integer that it is taken for. `range`: of the integer
/// before the step and, changed, after it; none once it is a float.
bool ScaledOperand::checkStep(const Step &step, std::optional<Range> &range) {
  Operation *op = step.op;
  Type from = elementType(op->getOperand(step.operand).getType()),
       to = elementType(op->getResult(0).getType());
  auto fits = [&](int64_t low, int64_t high) {
    auto all = rangeOfType(to);
    if (!all || low < all->first || high > all->second) {
      return false;
    }
    range = Range{low, high};
    return true;
  };
  if (isa<ConvertOp>(op)) {
    if (!range) {
      return isComputedWide(to);
    }
    if (isa<IntegerType>(to)) {
      return fits(range->low, range->high);
    }
    int64_t most = std::max(-range->low, range->high);
    range.reset();
    return most <= mostExact(to);
  }
  if (isa<CopyOp, BitcastOp, ReshapeOp, TransposeOp, SliceOp, DynamicSliceOp>(op)) {
    auto slice = dyn_cast<SliceOp>(op);
    bool strided = slice && llvm::any_of(slice.getStrides(), [](int64_t s) { return s != 1; });
    return !strided && relabel(op, view);
  }
  if (from != to || (!range && !isComputedWide(to))) {
    return false;
  }
  if (isa<NegateOp>(op)) {
    return !range || fits(-range->high, -range->low);
  }
  llvm::SmallPtrSet<Operation *, 16> seen;
  if (op->getNumOperands() != 2 || dependsOn(op->getOperand(1 - step.operand), leaf, seen)) {
    return false;
  }
  if (isa<MultiplyOp, DivideOp>(op)) {
    return !range && (isa<MultiplyOp>(op) || step.operand == 0);
  }
  if (!isa<AddOp, SubtractOp>(op)) {
    return false;
  }
  offsets = true;
  if (!range) {
    return true;
  }
  auto other = rangeBehind(op->getOperand(1 - step.operand));
  if (!other) {
    return false;
  }
  auto [low, high] = *other;
  return isa<AddOp>(op)      ? fits(range->low + low, range->high + high)
         : step.operand == 0 ? fits(range->low - high, range->high - low)
                             : fits(low - range->high, high - range->low);
}

//===----------------------------------------------------------------------===//
// How far scales reach
//===----------------------------------------------------------------------===//

/// The run along dimension `dim` of a reshape's result.
int64_t ScaledOperand::runOfReshape(Value source, ArrayRef<int64_t> to, int64_t dim) {
  ArrayRef<int64_t> from = shapeOf(source);
  size_t place = dim;
  auto ranges = reshapedRanges(from, to).value_or(SmallVector<ReshapedRange>());
  const auto *range =
      llvm::find_if(ranges, [&](const ReshapedRange &each) { return place < each.toEnd; });
  if (range == ranges.end()) {
    return 1;
  }
  // A run of the source's elements, in row-major order.
  int64_t run = 1;
  bool whole = true;
  for (size_t d = range->fromEnd; whole && d-- > range->from;) {
    int64_t along = runAlong(source, static_cast<int64_t>(d));
    whole = along == 0;
    run *= whole ? from[d] : along;
  }
  if (whole) {
    return 0;
  }
  int64_t inner = llvm::product_of(to.slice(place + 1, range->toEnd - place - 1));
  if (run % inner != 0) {
    return 1;
  }
  run = std::gcd(run / inner, to[place]);
  return run == to[place] ? 0 : run;
}

/// The length of the aligned runs along `dim` in which `v`, apart from the leaf, does not change;
/// 0: it never changes.
int64_t ScaledOperand::runAlong(Value v, int64_t dim) {
  ArrayRef<int64_t> shape = shapeOf(v);
  if (v == leaf || shape[dim] == 1 || splatConstant(v)) {
    return 0;
  }
  Operation *op = v.getDefiningOp();
  if (!op) {
    return 1;
  }
  auto [known, isNew] = knownRuns.try_emplace({v, dim}, 1);
  if (!isNew) {
    return known->second;
  }
  int64_t run = 1;
  Value source = op->getNumOperands() > 0 ? op->getOperand(0) : Value();
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    const auto *place = llvm::find(broadcast.getDimensions(), dim);
    run = place == broadcast.getDimensions().end()
              ? 0
              : runAlong(source, place - broadcast.getDimensions().begin());
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    run = runAlong(source, transpose.getDimensions()[dim]);
  } else if (isa<SliceOp, DynamicSliceOp>(op)) {
    run = shapeOf(source)[dim] == shape[dim] ? runAlong(source, dim) : 1;
  } else if (auto iota = dyn_cast<IotaOp>(op)) {
    run = static_cast<int64_t>(iota.getIotaDimension()) == dim ? 1 : 0;
  } else if (isa<ReshapeOp, BitcastOp>(op)) {
    run = elementType(source.getType()) == elementType(v.getType())
              ? runOfReshape(source, shape, dim)
              : 1;
  } else if (isElementwise(op) || isa<CopyOp>(op)) {
    run = 0;
    for (Value operand : op->getOperands()) {
      if (rankOf(operand) > 0) {
        run = std::gcd(run, shapeOf(operand) == shape ? runAlong(operand, dim) : 1);
      }
    }
  }
  knownRuns[{v, dim}] = run;
  return run;
}

bool ScaledOperand::analyze() {
  if (elementsOf(value) == 0 || !findPath()) {
    return false;
  }
  auto [low, high] = *rangeOfType(elementType(leaf.getType()));
  std::optional<Range> range = Range{low, high};
  for (const Step &step : llvm::reverse(path)) {
    if (!checkStep(step, range)) {
      return false;
    }
  }
  scales = llvm::any_of(path, [](const Step &step) {
    return isa<NegateOp, MultiplyOp, DivideOp, AddOp, SubtractOp>(step.op);
  });
  // Elements that begin inside of a byte have no address.
  auto isByte = [&](int64_t elements) { return elements * width % 8 == 0; };
  if (!isByte(view.offset) ||
      !llvm::all_of(view.starts, [&](const DynamicStart &start) { return isByte(start.stride); })) {
    return false;
  }
  for (int64_t d = 0; d < rankOf(value); ++d) {
    dimRuns.push_back(runAlong(value, d));
  }
  return true;
}

std::shared_ptr<ScaledOperand> ScaledOperand::create(KernelBuilder &kernel, Value value) {
  std::shared_ptr<ScaledOperand> operand(new ScaledOperand(kernel, value));
  if (!operand->analyze()) {
    return nullptr;
  }
  Emission &e = kernel.e;
  Value offset = constI64(e, operand->view.offset * operand->width / 8);
  for (const DynamicStart &start : operand->view.starts) {
    offset =
        addI(e, offset, mulI(e, clampedStart(kernel, start), start.stride * operand->width / 8));
  }
  operand->base = addBytes(e, kernel.operandPtrs[operand->view.argument], offset);
  return operand;
}

//===----------------------------------------------------------------------===//
// Scales and offsets at an index
//===----------------------------------------------------------------------===//

/// The index of the operand that is element `index` of the result of an op that relabels elements.
static SmallVector<Index> sourceIndex(KernelBuilder &kernel, Operation *op, ArrayRef<Index> index,
                                      int64_t lanes) {
  Emission &e = kernel.e;
  SmallVector<Index> source(index);
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [i, d] : llvm::enumerate(transpose.getDimensions())) {
      source[d] = index[i];
    }
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    for (auto [i, start] : llvm::zip(source, slice.getStartIndices())) {
      i = addIndex(e, i, start);
    }
  } else if (auto slice = dyn_cast<DynamicSliceOp>(op)) {
    for (auto [d, i] : llvm::enumerate(source)) {
      int64_t last = shapeOf(op->getOperand(0))[d] - slice.getDynamicSliceSizes()[d];
      if (last > 0) {
        i = addIndex(e, i, Index(clampedStart(kernel, {slice.getStartIndices()[d], last, 0})),
                     lanes);
      }
    }
  } else if (isa<ReshapeOp, BitcastOp>(op)) {
    ArrayRef<int64_t> from = shapeOf(op->getOperand(0)), to = shapeOf(op->getResult(0));
    source.assign(from.size(), Index(constI64(e, 0)));
    auto ranges = reshapedRanges(from, to).value_or(SmallVector<ReshapedRange>());
    for (const ReshapedRange &range : ranges) {
      Index linear = index[range.to];
      for (size_t d = range.to + 1; d < range.toEnd; ++d) {
        linear = addIndex(e, mulIndex(e, linear, to[d]), index[d], lanes);
      }
      ArrayRef<int64_t> sizes = from.slice(range.from, range.fromEnd - range.from);
      llvm::copy(splitIndex(e, linear, sizes, lanes), source.begin() + range.from);
    }
  }
  return source;
}

ScaledOperand::Coefficients ScaledOperand::at(ArrayRef<Index> index, int64_t lanes) {
  Emission &e = kernel->e;
  ElementEmitter emitter(*kernel, lanes);
  Type f32 = e.b.getF32Type();
  // From the value to the leaf: the index that each step has.
  SmallVector<SmallVector<Index>> indices{SmallVector<Index>(index)};
  for (const Step &step : path) {
    indices.push_back(sourceIndex(*kernel, step.op, indices.back(), lanes));
  }
  Coefficients result;
  auto binary = [&](StringRef name, Elem a, Elem b) {
    return emitNamed(e, name, f32, f32, {a, b});
  };
  for (size_t i = path.size(); i-- > 0;) {
    const auto &[op, operand] = path[i];
    auto negate = [&](Elem &elem) {
      elem = elem ? emitNamed(e, "negate", f32, f32, {elem}) : elem;
    };
    auto negateAll = [&] {
      result.scale = result.scale ? result.scale : constF32(e, 1, lanes);
      negate(result.scale);
      negate(result.offset);
    };
    if (isa<NegateOp>(op)) {
      negateAll();
      continue;
    }
    if (!isa<MultiplyOp, DivideOp, AddOp, SubtractOp>(op)) {
      continue;
    }
    Value other = op->getOperand(1 - operand);
    Elem by = emitConvert(e, elementType(other.getType()), f32, emitter.emit(other, indices[i]));
    by = splat(e, by, lanes);
    if (isa<MultiplyOp>(op)) {
      result.scale = result.scale ? binary("multiply", result.scale, by) : by;
      result.offset = result.offset ? binary("multiply", result.offset, by) : Elem();
    } else if (isa<DivideOp>(op)) {
      result.scale = binary("divide", result.scale ? result.scale : constF32(e, 1, lanes), by);
      result.offset = result.offset ? binary("divide", result.offset, by) : Elem();
    } else {
      bool subtracted = isa<SubtractOp>(op);
      if (subtracted && operand == 1) {
        negateAll();
      } else if (subtracted) {
        negate(by);
      }
      result.offset = result.offset ? binary("add", result.offset, by) : by;
    }
  }
  return result;
}

} // namespace hlo::codegen
