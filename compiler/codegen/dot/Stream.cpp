//===- Stream.cpp - Few rows: the rhs streams past once -------------------===//
//
// In: a contraction with at most a few rows whose rhs is large and steps by one
// along n, as the products of a decoder's activations with its weights. Out: for a
// range of columns, sums in a buffer that stays in L1, and a loop over k that takes
// several rows of the rhs at a time, from left to right:
//
//   sum[m, n] += lhs[m, k] * rhs[k, n] + lhs[m, k + 1] * rhs[k + 1, n] + ...
//
// for a few rows of the lhs at a time, whose elements stay in registers meanwhile. What
// the rhs is computed from (a scale, a zero point) is computed in registers too; the
// lhs is copied once for each batch index of a call if it is not in memory in the type of
// accumulation.
//
// Where pairs of bf16 are multiplied by one instruction, two rows of the rhs are taken as words of
// two neighbours, whose lower halves make pairs of the even columns, and the upper ones of the odd
// columns. Sums of both rest side by side, and are put in order at the end.
//
// A register tile over few rows would read short pieces of rows that are far apart,
// which no prefetcher follows (four times as long: NOTES.md, 8 x 4096 x 4096). Here the
// reads are a few sequential streams.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Buffers.h"
#include "compiler/codegen/contraction/Groups.h"
#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/dot/Forms.h"

using namespace mlir;

namespace hlo::codegen {

/// The tasks that one call reads as one run of columns: the longer the pieces of rows, the better
/// prefetchers follow (NOTES.md, "Rows of a streamed side"). If each element of the rhs is used
/// once there is nothing to keep but sums. They come from L2 once for several rows of the rhs,
/// which come from farther away, and get a quarter of it.
static int64_t joinedBlocks(const Contraction &c, const StreamTile &tile) {
  int64_t sums = c.mSize() * partsOf(c.element) * storageBytes(partType(c.element)) * tile.block;
  int64_t most = c.mSize() <= tile.together ? c.kernel.e.machine.memory.l2 / 4 / sums : 1;
  return std::clamp<int64_t>(most, 1, llvm::divideCeil(c.nSize(), tile.block));
}

/// From this many lhs rows on, the multiply-adds take longer than the rhs takes to arrive, and the
/// next rhs rows are prefetched. With fewer rows a prefetch is only an additional load (NOTES.md:
/// 1 x 256 x 1024 and 4 x 2048 x 4096).
static constexpr int64_t kPrefetchingRows = 3;

namespace {
class Stream {
public:
  Stream(Contraction &c, Epilogue &epilogue);
  void emit();

private:
  using Indices = ArrayRef<Index>;
  void copyRows(Indices batch);
  Elem readLhs(Indices batch, int64_t row, Indices k, Value at);
  Elem readPair(Value at, int64_t row);
  std::array<Value, 2> readPairs(Indices batch, Value n, Indices k, Value mask);
  void addPairs(Indices batch, Value n0, Value n1, Indices k, Value outer, int64_t count);
  void storePairs(Indices batch, Value n0, Value n1);
  void addRows(Indices batch, Value n0, Value n1, Indices k, Value outer, int64_t count);
  void forEachVector(Value n0, Value n1, function_ref<void(Value n, Value local, Value mask)> body);
  SmallVector<Index> columnAt(Value n) {
    return splitIndex(e, Index(n, lanes > 1 ? 1 : 0, lanes), c.n, lanes);
  }
  Value sumAddress(int64_t row, Value local) {
    return buffers.address(sums, local, row * parts * sumRow);
  }

  Contraction &c;
  Epilogue &epilogue;
  Emission &e;
  Buffers buffers;
  int64_t rows, lanes, parts, partBytes;
  const Product *pairs; ///< multiplies pairs of rows; null: elements are multiplied
  int64_t block;        ///< columns of a task
  int64_t joined;       ///< tasks whose columns are read as one run
  int64_t sumRow;       ///< from row to row of sums: a line more than the joined blocks
  int64_t together;     ///< rows of the lhs whose elements are in registers
  int64_t atOnce;       ///< rows of the rhs
  Value sums;
  Value copy; ///< the lhs, k by k or by pairs of k; null if it is read as it is
  SmallVector<SmallVector<Index>> m;
};
} // namespace

Stream::Stream(Contraction &c, Epilogue &epilogue)
    : c(c), epilogue(epilogue), e(c.kernel.e), buffers(e, c.element), rows(c.mSize()),
      lanes(lanesFor(c, c.nSize())), parts(buffers.parts), partBytes(buffers.partBytes),
      pairs(pairsOfStream(c)) {
  int64_t column = rows * parts * partBytes;
  StreamTile tile = streamTile(c);
  block = tile.block;
  together = tile.together;
  atOnce = tile.atOnce;
  joined = joinedBlocks(c, tile);
  // A load waits for a store before it whose address differs from its own by a multiple of 4 KiB.
  sumRow = joined * block + lanes;
  sums = stackBuffer(e, sumRow * column);
  if (pairs || !isStoredAsSummed(c, c.lhs)) {
    copy = stackBuffer(e, rows * c.kSize() * parts * partBytes);
  }
  for (int64_t r = 0; r < rows; ++r) {
    m.push_back(splitIndex(e, Index(constI64(e, r)), c.m, 1));
  }
}

void Stream::copyRows(Indices batch) {
  if (pairs) {
    emitFor(e, constI64(e, 0), constI64(e, c.kSize()), 2, [&](Value at) {
      SmallVector<Index> k = splitIndex(e, Index(at, 0, Congruence(2)), c.k, 1), next(k);
      next.back() = addIndex(e, k.back(), 1);
      for (int64_t r = 0; r < rows; ++r) {
        Value both[] = {c.lhs.read(batch, m[r], k, 1, {}).re,
                        c.lhs.read(batch, m[r], next, 1, {}).re};
        Value place = addI(e, mulI(e, divI(e, at, 2), rows), r);
        storeElements(e, c.element, Elem(groupLanes(e, KGroup::Bf16Pair, both)), copy, place);
      }
    });
    return;
  }
  emitFor(e, constI64(e, 0), constI64(e, c.kSize()), 1, [&](Value at) {
    SmallVector<Index> k = splitIndex(e, Index(at), c.k, 1);
    for (int64_t r = 0; r < rows; ++r) {
      Value place = addI(e, mulI(e, at, rows), r);
      storeElements(e, c.element, c.lhs.read(batch, m[r], k, 1, {}), copy, place);
    }
  });
}

Elem Stream::readLhs(Indices batch, int64_t row, Indices k, Value at) {
  Elem value = copy ? loadElements(e, c.element, copy, addI(e, mulI(e, at, rows), row), 1)
                    : c.lhs.read(batch, m[row], k, 1, {});
  return splat(e, value, lanes);
}

Elem Stream::readPair(Value at, int64_t row) {
  Value place = addI(e, mulI(e, divI(e, at, 2), rows), row);
  return splat(e, loadElements(e, c.element, copy, place, 1), lanes);
}

/// The pairs of two rows from k on: of the even and of the odd columns from n on.
std::array<Value, 2> Stream::readPairs(Indices batch, Value n, Indices k, Value mask) {
  auto words = VectorType::get({lanes}, e.b.getI32Type());
  auto floats = VectorType::get({lanes}, e.b.getF32Type());
  auto constant = [&](int64_t bits) -> Value {
    return arith::ConstantOp::create(
        e.b, e.loc, DenseElementsAttr::get(words, APInt(32, static_cast<uint64_t>(bits))));
  };
  Type half = IntegerType::get(e.b.getContext(), 16, IntegerType::Unsigned);
  SmallVector<Value, 2> row;
  for (int64_t u = 0; u < 2; ++u) {
    SmallVector<Index> at(k);
    at.back() = addIndex(e, k.back(), u);
    Value address = c.rhs.address(e, batch, splitIndex(e, Index(n), c.n, 1), at);
    Value halves = loadElements(e, half, address, constI64(e, 0), 2 * lanes, mask).re;
    row.push_back(vector::BitCastOp::create(e.b, e.loc, words, halves));
  }
  Value shift = constant(16), low = constant(0xffff), high = constant(0xffff0000);
  auto both = [&](Value a, Value b) -> Value {
    Value pair = arith::OrIOp::create(e.b, e.loc, a, b);
    return arith::BitcastOp::create(e.b, e.loc, floats, pair);
  };
  return {both(arith::AndIOp::create(e.b, e.loc, row[0], low),
               arith::ShLIOp::create(e.b, e.loc, row[1], shift)),
          both(arith::ShRUIOp::create(e.b, e.loc, row[0], shift),
               arith::AndIOp::create(e.b, e.loc, row[1], high))};
}

void Stream::addPairs(Indices batch, Value n0, Value n1, Indices k, Value outer, int64_t count) {
  Value first = addI(e, mulI(e, outer, c.k.back()), k.back().base);
  Multiplier multiply{e, c.element, pairs};
  for (int64_t r0 = 0; r0 < rows; r0 += together) {
    int64_t r1 = std::min(rows, r0 + together);
    SmallVector<Elem> scalars; // count / 2 per row
    for (int64_t r = r0; r < r1; ++r) {
      for (int64_t u = 0; u < count; u += 2) {
        scalars.push_back(readPair(addI(e, first, u), r));
      }
    }
    forEachPiece(e, n0, n1, c.nSize(), 2 * lanes, [&](Value n, int64_t columns) {
      Value mask = columns < 2 * lanes ? firstLanes(e, columns, 2 * lanes) : Value();
      SmallVector<std::array<Value, 2>> values;
      for (int64_t u = 0; u < count; u += 2) {
        SmallVector<Index> at(k);
        at.back() = addIndex(e, k.back(), u);
        values.push_back(readPairs(batch, n, at, mask));
      }
      for (int64_t r = r0; r < r1; ++r) {
        for (int64_t odd = 0; odd < 2; ++odd) {
          Value address = sumAddress(r, addI(e, subI(e, n, n0), odd * lanes));
          Elem sum = buffers.load(address, lanes, sumRow);
          for (auto [u, value] : llvm::enumerate(values)) {
            sum = multiply(sum, scalars[(r - r0) * (count / 2) + static_cast<int64_t>(u)],
                           Elem(value[odd]));
          }
          buffers.store(address, sum, sumRow);
        }
      }
    });
  }
}

void Stream::storePairs(Indices batch, Value n0, Value n1) {
  forEachPiece(e, n0, n1, c.nSize(), 2 * lanes, [&](Value n, int64_t columns) {
    for (int64_t r = 0; r < rows; ++r) {
      Value local = subI(e, n, n0);
      Value even = buffers.load(sumAddress(r, local), lanes, sumRow).re;
      Value odd = buffers.load(sumAddress(r, addI(e, local, lanes)), lanes, sumRow).re;
      for (int64_t from = 0; from < std::min(columns, 2 * lanes); from += lanes) {
        SmallVector<int64_t> order;
        for (int64_t l = from / 2; l < from / 2 + lanes / 2; ++l) {
          order.append({l, lanes + l});
        }
        Value mask = columns - from < lanes ? firstLanes(e, columns - from, lanes) : Value();
        Value value = vector::ShuffleOp::create(e.b, e.loc, even, odd, order);
        epilogue.store(c.element, Elem(value),
                       c.outIndex(batch, m[r], columnAt(addI(e, n, from)), lanes), lanes, mask);
      }
    }
  });
}

void Stream::forEachVector(Value n0, Value n1, function_ref<void(Value, Value, Value)> body) {
  forEachPiece(e, n0, n1, c.nSize(), lanes, [&](Value n, int64_t count) {
    body(n, subI(e, n, n0), count < lanes ? firstLanes(e, count, lanes) : Value());
  });
}

void Stream::addRows(Indices batch, Value n0, Value n1, Indices k, Value outer, int64_t count) {
  Value first = addI(e, mulI(e, outer, c.k.back()), k.back().base);
  SmallVector<SmallVector<Index>> at;
  for (int64_t u = 0; u < count; ++u) {
    at.emplace_back(k);
    at.back().back() = addIndex(e, k.back(), u);
  }
  for (int64_t r0 = 0; r0 < rows; r0 += together) {
    int64_t r1 = std::min(rows, r0 + together);
    SmallVector<Elem> scalars; // count per row
    for (int64_t r = r0; r < r1; ++r) {
      for (int64_t u = 0; u < count; ++u) {
        scalars.push_back(readLhs(batch, r, at[u], addI(e, first, u)));
      }
    }
    forEachVector(n0, n1, [&](Value n, Value local, Value mask) {
      SmallVector<Index> column = columnAt(n);
      SmallVector<Elem> values;
      for (int64_t u = 0; u < count; ++u) {
        values.push_back(c.rhs.read(batch, column, at[u], lanes, mask));
      }
      // The rows that come next: while the last rows of the lhs take theirs from L1, memory would
      // be idle.
      if (r1 == rows && rows >= kPrefetchingRows && c.rhs.strided && !mask) {
        for (int64_t u = 0; u < count; ++u) {
          SmallVector<Index> next(at[u]);
          next.back() = addIndex(e, next.back(), count);
          emitPrefetch(e, c.rhs.address(e, batch, column, next));
        }
      }
      for (int64_t r = r0; r < r1; ++r) {
        Elem sum = buffers.load(sumAddress(r, local), lanes, sumRow);
        for (int64_t u = 0; u < count; ++u) {
          sum = multiplyAdd(e, c.element, sum, scalars[(r - r0) * count + u], values[u]);
        }
        buffers.store(sumAddress(r, local), sum, sumRow);
      }
    });
  }
}

void Stream::emit() {
  int64_t blocks = llvm::divideCeil(c.nSize(), block);
  Value zero = constI64(e, 0);
  auto addBlocks = [&](Indices batch, Value n0, Value n1) {
    int64_t unit = lanes * (pairs ? 2 : 1);
    Value columns = mulI(e, divI(e, addI(e, subI(e, n1, n0), unit - 1), unit), unit);
    Buffers byPart(e, buffers.part);
    emitFor(e, zero, constI64(e, rows * parts), 1, [&](Value row) {
      byPart.fill(sums, mulI(e, row, sumRow), zero, columns, zeroElem(e, buffers.part, lanes));
    });
    Sums none;
    carryNest(e, ArrayRef(c.k).drop_back(), none, [&](Indices outer, Value linear, Sums &) {
      forEachPiece(e, c.k.back(), atOnce, [&](Value i, int64_t count) {
        SmallVector<Index> k(outer);
        k.push_back(Index(i));
        pairs ? addPairs(batch, n0, n1, k, linear, count)
              : addRows(batch, n0, n1, k, linear, count);
      });
    });
    if (pairs) {
      storePairs(batch, n0, n1);
      return;
    }
    forEachVector(n0, n1, [&](Value n, Value local, Value mask) {
      for (int64_t r = 0; r < rows; ++r) {
        epilogue.store(c.element, buffers.load(sumAddress(r, local), lanes, sumRow),
                       c.outIndex(batch, m[r], columnAt(n), lanes), lanes, mask);
      }
    });
  };
  forEachBatch(c, blocks, [&](Indices batch, Value from, Value to) {
    if (copy) {
      copyRows(batch);
    }
    emitFor(e, from, to, joined, [&](Value first) {
      Value last = minI(e, addI(e, first, joined), to);
      addBlocks(batch, mulI(e, first, block), minI(e, mulI(e, last, block), c.nSize()));
    });
  });
}

void emitStream(Contraction &c, Epilogue &epilogue) { Stream(c, epilogue).emit(); }

} // namespace hlo::codegen
