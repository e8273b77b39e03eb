//===- Trace.cpp - One sum per batch index, operands stored crosswise -----===//
//
// In: a contraction without rows and columns: the trace of a product of matrices, or
// of any two arrays whose common dimensions differ in their order. One side steps by
// one along one dimension, the other along another. Out: loops over squares of these
// two dimensions,
//
//   as many vectors of each side as a vector has lanes
//   those of one side transposed in registers
//   multiplied, lane by lane
//
// so that both sides are read in whole vectors. Either dimension may be summed over or
// belong to the batch: sums are of all lanes or of each, and of all vectors or of each.
// Where both sides step by one along the same dimension of the batch, nothing is
// transposed, and a few vectors go side by side.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/contraction/Pack.h"
#include "compiler/codegen/dot/Forms.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

/// Products of a task: their factors are 512 KiB of f32, which take some 10 us from memory, many
/// times the dispatch.
static constexpr int64_t kProductsPerTask = 1 << 16;
/// Sums that hide the latency of a multiply-add, where the vectors of a square share them.
static constexpr int64_t kSharedSums = 4;
/// Vectors of the batch side by side, if nothing is transposed. A product loads both its factors,
/// so one starts per cycle: four chains of sums hide a latency of four cycles.
static constexpr int64_t kVectors = 4;

namespace {
class Trace {
public:
  Trace(Contraction &c, Epilogue &epilogue);
  void emit();

private:
  using Axis = TraceAxis;
  /// An index of the batch and of k; the two axes are filled in where elements are read.
  struct Place {
    SmallVector<Index> batch, k;
    Index &operator[](const Axis &axis) { return axis.inK ? k[axis.dim] : batch[axis.dim]; }
  };
  /// Some indices of an axis: at most `lanes`, or `step` without transposition.
  struct Run {
    Value first;
    int64_t count;
  };
  bool aligned() const { return along == across; }
  Value maskOf(int64_t count) { return count < lanes ? firstLanes(e, count, lanes) : Value(); }
  /// Calls body for each run of an axis of k, carrying sums; once for `run` if the axis is one of
  /// the batch.
  void forEachRun(const Axis &axis, const Run &run, Sums &sums,
                  function_ref<void(const Run &, Sums &)> body);
  /// Calls body for each index of the dimensions of k that are neither axis.
  void forEachK(Place &place, Sums &sums, function_ref<void(Sums &)> body);
  SmallVector<Elem> readRows(const ContractionSide &side, Place place, const Axis &rowAxis,
                             const Run &rows, const Axis &laneAxis, const Run &columns);
  void multiplySquare(const Place &place, const Run &columns, const Run &rows, Sums &sums);
  void multiplyVectors(Place place, const Run &columns, Sums &sums);
  void storeSquare(Place place, const Run &columns, const Run &rows, const Sums &sums);
  void storeVectors(Place place, const Run &columns, const Sums &sums);
  void emitItem(Place place, const Run &columns, const Run &rows);
  /// Calls body for run `number` of an axis of the batch, which is known to be a whole one or the
  /// last.
  void withRun(const Axis &axis, int64_t step, Value number, function_ref<void(const Run &)> body);

  Contraction &c;
  Epilogue &epilogue;
  Emission &e;
  Axis along, across; ///< lanes go along the first; the rhs steps by one along the second
  int64_t lanes, step;
};
} // namespace

Trace::Trace(Contraction &c, Epilogue &epilogue)
    : c(c), epilogue(epilogue), e(c.kernel.e), along(*unitAxis(c, c.lhs)),
      across(*unitAxis(c, c.rhs)) {
  // Lanes along the batch are stored as they are.
  if (along.inK && !across.inK) {
    swapSides(c);
    std::swap(along, across);
  }
  int64_t side = std::min(along.size, across.size);
  lanes = lanesFor(c, side);
  if (!aligned() && 4 * side <= 3 * lanes && lanes > 4) {
    lanes /= 2;
  }
  step = aligned() ? std::min<int64_t>(kVectors, llvm::divideCeil(side, lanes)) * lanes : lanes;
}

void Trace::forEachRun(const Axis &axis, const Run &run, Sums &sums,
                       function_ref<void(const Run &, Sums &)> body) {
  if (!axis.inK) {
    body(run, sums);
    return;
  }
  carryVectors(e, axis.size, lanes, sums, [&](Value i, Value mask, Sums &inner) {
    body(Run{i, mask ? axis.size % lanes : lanes}, inner);
  });
}

void Trace::forEachK(Place &place, Sums &sums, function_ref<void(Sums &)> body) {
  SmallVector<Axis> axes;
  SmallVector<int64_t> sizes;
  for (auto [dim, size] : llvm::enumerate(c.k)) {
    Axis axis{true, dim, size};
    if (!(axis == along) && !(axis == across)) {
      axes.push_back(axis);
      sizes.push_back(size);
    }
  }
  carryNest(e, sizes, sums, [&](ArrayRef<Index> index, Value, Sums &inner) {
    for (auto [axis, i] : llvm::zip(axes, index)) {
      place[axis] = i;
    }
    body(inner);
  });
}

/// Vectors of `columns` for each of `rows`; lanes after the last column are zero.
SmallVector<Elem> Trace::readRows(const ContractionSide &side, Place place, const Axis &rowAxis,
                                  const Run &rows, const Axis &laneAxis, const Run &columns) {
  Value mask = maskOf(columns.count);
  place[laneAxis] = Index(columns.first, 1, lanes);
  auto read = [&](Value row) {
    place[rowAxis] = Index(row);
    return zeroUnless(e, c.element, mask, side.read(place.batch, {}, place.k, lanes, mask));
  };
  if (!side.strided) {
    return readByLoop(Buffers(e, c.element), lanes, rows.count,
                      [&](Value r) { return read(addI(e, rows.first, r)); });
  }
  SmallVector<Elem> result;
  for (int64_t r = 0; r < rows.count; ++r) {
    result.push_back(read(addI(e, rows.first, r)));
  }
  return result;
}

void Trace::multiplySquare(const Place &place, const Run &columns, const Run &rows, Sums &sums) {
  SmallVector<Elem> crossed = readRows(c.rhs, place, along, columns, across, rows);
  crossed.resize(lanes, zeroElem(e, c.element, lanes));
  crossed = transposed(e, crossed);
  SmallVector<Elem> left = readRows(c.lhs, place, across, rows, along, columns);
  for (int64_t r = 0; r < rows.count; ++r) {
    Elem &sum = sums[across.inK ? r % kSharedSums : r];
    sum = multiplyAdd(e, c.element, sum, left[r], crossed[r]);
  }
}

void Trace::multiplyVectors(Place place, const Run &columns, Sums &sums) {
  for (auto [i, sum] : llvm::enumerate(sums)) {
    int64_t first = i * lanes;
    Value mask = maskOf(columns.count - first);
    place[along] = Index(addI(e, columns.first, first), 1, lanes);
    Elem left = c.lhs.read(place.batch, {}, place.k, lanes, mask);
    Elem right = c.rhs.read(place.batch, {}, place.k, lanes, mask);
    sum = multiplyAdd(e, c.element, sum, left, right);
  }
}

void Trace::storeSquare(Place place, const Run &columns, const Run &rows, const Sums &sums) {
  Type part = partType(c.element);
  int64_t width = along.inK ? 1 : lanes;
  auto store = [&](Elem sum) {
    if (along.inK && lanes > 1) {
      auto total = [&](Value lanesOfSum) -> Value {
        Value one = lanesOfSum ? addLanes(e, part, {lanesOfSum}) : Value();
        return one ? vector::ExtractOp::create(e.b, e.loc, one, 0).getResult() : one;
      };
      sum = Elem(total(sum.re), total(sum.im));
    } else if (!along.inK) {
      place[along] = Index(columns.first, 1, lanes);
    }
    epilogue.store(c.element, sum, c.outIndex(place.batch, {}, {}, width), width,
                   along.inK ? Value() : maskOf(columns.count));
  };
  if (!across.inK) {
    for (int64_t r = 0; r < rows.count; ++r) {
      place[across] = Index(addI(e, rows.first, r));
      store(sums[r]);
    }
    return;
  }
  Elem low = addElems(e, c.element, sums[0], sums[1]);
  store(addElems(e, c.element, low, addElems(e, c.element, sums[2], sums[3])));
}

void Trace::storeVectors(Place place, const Run &columns, const Sums &sums) {
  for (auto [i, sum] : llvm::enumerate(sums)) {
    int64_t first = i * lanes;
    place[along] = Index(addI(e, columns.first, first), 1, lanes);
    epilogue.store(c.element, sum, c.outIndex(place.batch, {}, {}, lanes), lanes,
                   maskOf(columns.count - first));
  }
}

void Trace::emitItem(Place place, const Run &columns, const Run &rows) {
  int64_t count = aligned()    ? llvm::divideCeil(columns.count, lanes)
                  : across.inK ? kSharedSums
                               : rows.count;
  Sums sums = zeroSums(e, c.element, count, lanes);
  if (aligned()) {
    forEachK(place, sums, [&](Sums &inner) { multiplyVectors(place, columns, inner); });
    storeVectors(place, columns, sums);
    return;
  }
  forEachK(place, sums, [&](Sums &outer) {
    forEachRun(along, columns, outer, [&](const Run &some, Sums &middle) {
      forEachRun(across, rows, middle, [&](const Run &others, Sums &inner) {
        multiplySquare(place, some, others, inner);
      });
    });
  });
  storeSquare(place, columns, rows, sums);
}

void Trace::withRun(const Axis &axis, int64_t step, Value number,
                    function_ref<void(const Run &)> body) {
  if (axis.inK) {
    body(Run{constI64(e, 0), 0});
    return;
  }
  int64_t whole = axis.size / step, rest = axis.size % step;
  Value first = mulI(e, number, step);
  if (rest == 0) {
    body(Run{first, step});
    return;
  }
  if (whole > 0) {
    emitIf(e, compareI(e, arith::CmpIPredicate::slt, number, whole),
           [&] { body(Run{first, step}); });
  }
  emitIf(e, compareI(e, arith::CmpIPredicate::eq, number, whole), [&] { body(Run{first, rest}); });
}

void Trace::emit() {
  // Runs of the two axes count as one index each.
  SmallVector<int64_t> sizes(c.batch);
  auto cut = [&](const Axis &axis) {
    if (!axis.inK) {
      sizes[axis.dim] = llvm::divideCeil(axis.size, step);
    }
  };
  cut(along);
  if (!aligned()) {
    cut(across);
  }
  int64_t items = llvm::product_of(sizes);
  int64_t work = c.batchSize() * c.kSize() / items;
  emitItems(c.kernel, items, work, kProductsPerTask, [&](Value item) {
    SmallVector<Value> number = delinearize(e, item, sizes);
    Place place{{}, SmallVector<Index>(c.k.size(), Index(constI64(e, 0)))};
    for (Value value : number) {
      place.batch.push_back(Index(value));
    }
    auto numberOf = [&](const Axis &axis) { return axis.inK ? Value() : number[axis.dim]; };
    withRun(along, step, numberOf(along), [&](const Run &columns) {
      if (aligned()) {
        emitItem(place, columns, Run{});
        return;
      }
      withRun(across, step, numberOf(across),
              [&](const Run &rows) { emitItem(place, columns, rows); });
    });
  });
}

void emitTrace(Contraction &c, Epilogue &epilogue) { Trace(c, epilogue).emit(); }

} // namespace hlo::codegen
