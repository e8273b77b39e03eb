//===- MinorWindows.cpp - Windows along the minor dimension in vectors ----===//
//
// In: a select-and-scatter whose window extends along the minor dimension, along which its vectors
// run. Out, for each line of the source and about 1024 elements of it:
//
//   for each window: the selected place and the source element -> buffers on the stack
//   for each element of the result: combine the source elements of the windows that selected
//   it, in their order
//
// So no two lanes write to one place, even if windows overlap. With a stride of s, s adjacent
// elements of the result form a group and are computed in s vectors, each with the taps of the
// window that can reach it; the vectors are interleaved when they are stored:
//
//   size 3, stride 2    element 2q    tap 2 of window q - 1, tap 0 of window q
//                       element 2q+1  tap 1 of window q
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/Num.h"
#include "compiler/codegen/loops/Columns.h"
#include "compiler/codegen/scatter/SelectAndScatterEmission.h"

using namespace mlir;

namespace hlo::codegen {
namespace {

/// Most windows (or groups of result elements) at a time, so that their buffers stay in L1.
constexpr int64_t kChunk = 1024;
/// Each tap, and each element of a group, has code of its own.
constexpr int64_t kMostTaps = 16, kMostStride = 8;

struct MinorWindows {
  SelectAndScatter &whole;
  KernelBuilder &kernel;
  Emission &e;
  SelectAndScatterOp op;
  ElementEmitter &vectors, &scalars;
  Elem init;
  Type element, i32;
  int64_t taps, step, low;     ///< the window along the minor dimension
  int64_t windows, elements;   ///< per line of the source; per line of the result
  int64_t groups;              ///< number of whole groups of `step` elements of the result
  int64_t least = 0, most = 0; ///< windows group + least to group + most reach a group
  Value keptPlaces, sources;   ///< buffers of a chunk
  bool isLine;                 ///< the window extends only along the minor dimension

  MinorWindows(SelectAndScatter &whole, ElementEmitter &vectors, const Elem &init);
  /// The window, relative to the group, whose tap t is at the group's element r; nothing if there
  /// is none.
  std::optional<int64_t> windowAt(int64_t r, int64_t t) const {
    int64_t distance = r + low - t;
    return distance % step == 0 ? std::optional<int64_t>(distance / step) : std::nullopt;
  }
  /// The ordinals in the window that the windows from w on select, one per lane of `emitter`; -1:
  /// none. Taps are inside the line unless `checked`.
  Value search(ArrayRef<Value> at, Value w, ElementEmitter &emitter, Value mask, bool checked);
  void storeKept(ArrayRef<Value> at, Value w, Value slot, ElementEmitter &emitter, Value mask,
                 bool checked);
  void findKept(ArrayRef<Value> at, Value first, Value count);
  Elem gathered(int64_t r, Value group, Value firstWindow, Value ordinal, Elem old,
                ElementEmitter &emitter, Value mask);
  void emitChunk(ArrayRef<Value> at, Value from, Value to);
};

} // namespace

MinorWindows::MinorWindows(SelectAndScatter &whole, ElementEmitter &vectors, const Elem &init)
    : whole(whole), kernel(whole.kernel), e(whole.e), op(whole.op), vectors(vectors),
      scalars(whole.scalars), init(init), element(whole.element), i32(e.b.getI32Type()),
      taps(whole.size.back()), step(whole.stride.back()), low(whole.padLow.back()),
      windows(whole.sourceShape.back()), elements(whole.shape.back()), groups(elements / step),
      isLine(
          llvm::all_of(ArrayRef(whole.trivial).drop_back(), [](bool trivial) { return trivial; })) {
  for (int64_t r = 0; r < step; ++r) {
    for (int64_t t = 0; t < taps; ++t) {
      if (std::optional<int64_t> window = windowAt(r, t)) {
        least = std::min(least, *window);
        most = std::max(most, *window);
      }
    }
  }
  // One group more, for the remaining elements.
  int64_t count = kChunk + 1 + most - least;
  keptPlaces = stackBuffer(e, count * storageBytes(i32));
  sources = stackBuffer(e, count * storageBytes(element));
}

Value MinorWindows::search(ArrayRef<Value> at, Value w, ElementEmitter &emitter, Value mask,
                           bool checked) {
  int64_t lanes = emitter.lanes();
  return whole
      .overWindow(
          at, whole.nothingKept(lanes),
          [&](ArrayRef<Value> position, Value outer, ValueRange carried) {
            return emitForCarrying(
                e, constI64(e, 0), constI64(e, taps), 1, carried, [&](Value t, ValueRange before) {
                  Value place = addI(e, addI(e, mulI(e, w, step), t), -low);
                  auto take = [&]() -> SmallVector<Value> {
                    ElementEmitter::Scope scope(emitter);
                    SmallVector<Index> index(position.begin(), position.end());
                    index.push_back(Index(place, lanes > 1 ? step : 0));
                    Elem candidate = emitter.emit(op.getOperand(), index, mask);
                    Value tap = e.b.createOrFold<arith::TruncIOp>(e.loc, i32, t);
                    return whole.keepOne(before, candidate, (Num(e, outer) * taps + Num(e, tap)).v);
                  };
                  if (!checked) {
                    return take();
                  }
                  Value inside = compareI(e, arith::CmpIPredicate::ult, place, elements);
                  auto branch = scf::IfOp::create(e.b, e.loc, TypeRange(before), inside, true);
                  OpBuilder::InsertionGuard guard(e.b);
                  e.b.setInsertionPointToStart(branch.thenBlock());
                  scf::YieldOp::create(e.b, e.loc, take());
                  e.b.setInsertionPointToStart(branch.elseBlock());
                  scf::YieldOp::create(e.b, e.loc, before);
                  return SmallVector<Value>(branch.getResults());
                });
          })
      .back();
}

void MinorWindows::storeKept(ArrayRef<Value> at, Value w, Value slot, ElementEmitter &emitter,
                             Value mask, bool checked) {
  ElementEmitter::Scope scope(emitter);
  Value kept = search(at, w, emitter, mask, checked);
  SmallVector<Index> index(at.begin(), at.end());
  index.push_back(Index(w, emitter.lanes() > 1 ? 1 : 0));
  Elem source = emitter.emit(op.getSource(), index, mask);
  storeElements(e, i32, Elem(kept), keptPlaces, slot, mask);
  storeElements(e, element, source, sources, slot, mask);
}

void MinorWindows::findKept(ArrayRef<Value> at, Value first, Value count) {
  // Windows before `begin` and from `end` on reach into padding, or do not exist.
  int64_t begin =
      std::min(windows, std::max<int64_t>(0, llvm::divideCeil(std::max<int64_t>(low, 0), step)));
  int64_t room = elements + low - taps;
  int64_t end = std::clamp<int64_t>(room < 0 ? 0 : room / step + 1, begin, windows);
  Value last = addI(e, first, count);
  auto within = [&](Value place) { return maxI(e, minI(e, place, last), first); };
  auto oneByOne = [&](Value from, Value to) {
    emitFor(e, from, to, 1, [&](Value w) {
      Value slot = subI(e, w, first);
      Value exists = compareI(e, arith::CmpIPredicate::ult, w, windows);
      auto branch = scf::IfOp::create(e.b, e.loc, exists, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(branch.thenBlock());
      storeKept(at, w, slot, scalars, {}, /*checked=*/true);
      e.b.setInsertionPointToStart(branch.elseBlock());
      Value none = arith::ConstantOp::create(e.b, e.loc, e.b.getI32IntegerAttr(-1));
      storeElements(e, i32, Elem(none), keptPlaces, slot);
      storeElements(e, element, init, sources, slot);
    });
  };
  Value inside = within(constI64(e, begin)), outside = maxI(e, within(constI64(e, end)), inside);
  oneByOne(first, inside);
  emitVectorLoop(e, inside, outside, vectors, scalars,
                 [&](Index w, ElementEmitter &emitter, Value mask) {
                   storeKept(at, w.base, subI(e, w.base, first), emitter, mask, /*checked=*/false);
                 });
  oneByOne(outside, last);
}

/// Element r of the groups from `group` on: `old` combined with the sources of all windows that
/// selected it. Later taps belong to earlier windows, so they come first.
Elem MinorWindows::gathered(int64_t r, Value group, Value firstWindow, Value ordinal, Elem old,
                            ElementEmitter &emitter, Value mask) {
  int64_t lanes = emitter.lanes();
  ComputationOp scatter = kernel.lookup(op.getScatterAttr());
  for (int64_t t = taps; t-- > 0;) {
    std::optional<int64_t> window = windowAt(r, t);
    if (!window) {
      continue;
    }
    Value slot = subI(e, addI(e, group, *window), firstWindow);
    Num kept(e, loadElements(e, i32, keptPlaces, slot, lanes, mask).re);
    Elem source = loadElements(e, element, sources, slot, lanes, mask);
    SmallVector<Elem> sum = inlineComputation(e, scatter, {old, source});
    if (!sum.empty()) {
      Value wanted = (Num(e, ordinal) * taps + t).v;
      Num hit = equal(kept, Num(e, splat(e, Elem(wanted), lanes).re));
      old = selectElem(e, hit, sum[0], old);
    }
  }
  return old;
}

/// Computes the groups from `from` to `to` of the result lines that the windows of source line `at`
/// reach; with the last groups also the remaining elements.
void MinorWindows::emitChunk(ArrayRef<Value> at, Value from, Value to) {
  Value firstWindow = addI(e, from, least);
  findKept(at, firstWindow, addI(e, subI(e, to, from), 1 + most - least));
  whole.overWindow(at, {}, [&](ArrayRef<Value> position, Value ordinal, ValueRange) {
    Value line = constI64(e, 0);
    for (auto [p, stride] : llvm::zip(position, whole.strides)) {
      line = addI(e, line, mulI(e, p, stride));
    }
    Value base = addBytes(e, kernel.resultPtrs[0], mulI(e, line, storageBytes(element)));
    emitVectorLoop(
        e, from, to, vectors, scalars, [&](Index group, ElementEmitter &emitter, Value mask) {
          int64_t lanes = emitter.lanes();
          SmallVector<Elem> parts;
          for (int64_t r = 0; r < step; ++r) {
            Elem old = splat(e, init, lanes);
            if (!isLine) {
              old = lanes > 1
                        ? loadColumn(e, element, base, group.base, step, r, lanes, mask)
                        : loadElements(e, element, base, addI(e, mulI(e, group.base, step), r), 1);
            }
            parts.push_back(gathered(r, group.base, firstWindow, ordinal, old, emitter, mask));
          }
          storeColumns(e, element, parts, base, group.base, mask);
        });
    if (elements % step == 0) {
      return SmallVector<Value>();
    }
    Value atEnd = compareI(e, arith::CmpIPredicate::eq, to, groups);
    auto branch = scf::IfOp::create(e.b, e.loc, atEnd, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    for (int64_t r = 0; r < elements % step; ++r) {
      Value place = constI64(e, groups * step + r);
      Elem old = isLine ? init : loadElements(e, element, base, place, 1);
      Elem value = gathered(r, to, firstWindow, ordinal, old, scalars, {});
      storeElements(e, element, value, base, place);
    }
    return SmallVector<Value>();
  });
}

bool SelectAndScatter::fitsMinorWindows(int64_t lanes) {
  return lanes > 1 && !shape.empty() && !trivial.back() && size.back() <= kMostTaps &&
         stride.back() <= kMostStride && sourceShape.back() >= 2 * lanes &&
         !isa<ComplexType>(element);
}

void SelectAndScatter::emitMinorWindows(ElementEmitter &vectors, const Elem &init) {
  MinorWindows windows(*this, vectors, init);
  int64_t chunks = std::max<int64_t>(1, llvm::divideCeil(windows.groups, kChunk));
  auto overChunk = [&](ArrayRef<Value> at, Value chunk) {
    Value from = mulI(e, chunk, kChunk);
    windows.emitChunk(at, from, minI(e, addI(e, from, kChunk), windows.groups));
  };
  size_t rows = shape.size() - 1;
  if (windows.isLine) {
    ArrayRef<int64_t> lines = ArrayRef(shape).take_front(rows);
    int64_t perTask =
        std::max<int64_t>(1, kElementsPerTask / (windows.elements * windows.taps) * chunks);
    auto [lo, hi] = splitTasks(kernel, llvm::product_of(lines) * chunks, perTask);
    emitFor(e, lo, hi, 1, [&](Value unit) {
      overChunk(delinearize(e, divI(e, unit, chunks), lines), remI(e, unit, chunks));
    });
    return;
  }
  // Windows overlap between lines: a whole slab is filled with the init value first.
  overSlabs(rows, vectors, init, [&](SmallVector<Value> &at) {
    emitFor(e, constI64(e, 0), constI64(e, chunks), 1, [&](Value chunk) { overChunk(at, chunk); });
  });
}

} // namespace hlo::codegen
