//===- TransposedCopy.cpp - A matrix and its transpose, in registers ------===//
//
// In: two matrices in memory. Out: loops that read a square of vectors, L rows
// of L elements, transpose it and write it. A square goes through log2 L stages
// of two-operand shuffles: interleaves within 128 bits, then moves of whole
// 128 bits; each is one instruction without a table.
//
// The last squares of a row or column are shifted back to end with it, so that no element needs a
// mask: some are copied twice. A matrix of very few columns is read as a run of consecutive
// elements and deinterleaved by shuffles; a result with very few rows is interleaved likewise.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/Regions.h"
#include <numeric>

using namespace mlir;

namespace hlo::codegen {
namespace {

struct TransposedCopy {
  Emission &e;
  int64_t bytes;
  Value from;
  int64_t fromStride;
  Value to;
  int64_t toStride;
  Type element;

  Value pointer(Value base, Value index) { return addBytes(e, base, mulI(e, index, bytes)); }
  Value load(Value at, int64_t lanes) {
    return LLVM::LoadOp::create(e.b, e.loc, laneType(element, lanes), pointer(from, at),
                                std::min<int64_t>(bytes, 8));
  }
  void store(Value v, Value at) {
    LLVM::StoreOp::create(e.b, e.loc, v, pointer(to, at), std::min<int64_t>(bytes, 8));
  }
  Value shuffle(Value a, Value b, ArrayRef<int64_t> order) {
    return vector::ShuffleOp::create(e.b, e.loc, a, b, order);
  }
  SmallVector<Value> transpose(SmallVector<Value> rows);
  void square(int64_t size, Value row, Value column);
  void single(Value row, Value column);
  void splitColumns(int64_t count, int64_t lanes, int64_t rows);
  void joinRows(int64_t count, int64_t lanes, int64_t columns);
};
} // namespace

/// Transposes a square of L vectors of L lanes.
SmallVector<Value> TransposedCopy::transpose(SmallVector<Value> rows) {
  int64_t size = rows.size();
  int64_t part = std::clamp<int64_t>(16 / bytes, 1, size); // lanes of 128 bits
  // Within 128 bits: each step interleaves vectors half a group apart.
  for (int64_t stage = 1; stage < part; stage *= 2) {
    SmallVector<Value> next(size);
    for (int64_t group = 0; group < size; group += part) {
      for (int64_t i = 0; i < part / 2; ++i) {
        Value a = rows[group + i], b = rows[group + i + part / 2];
        SmallVector<int64_t> low, high;
        for (int64_t block = 0; block < size; block += part) {
          for (int64_t l = 0; l < part / 2; ++l) {
            low.append({block + l, size + block + l});
            high.append({block + part / 2 + l, size + block + part / 2 + l});
          }
        }
        next[group + 2 * i] = shuffle(a, b, low);
        next[group + 2 * i + 1] = shuffle(a, b, high);
      }
    }
    rows = next;
  }
  // Vector j of each group holds columns j, part + j, ...: one in each 128 bits.
  int64_t groups = size / part;
  SmallVector<int64_t> even, odd;
  for (int64_t half = 0; half < 2; ++half) {
    for (int64_t block = 0; block < groups; block += 2) {
      for (int64_t l = 0; l < part; ++l) {
        even.push_back(half * size + block * part + l);
        odd.push_back(half * size + (block + 1) * part + l);
      }
    }
  }
  SmallVector<Value> result(size);
  for (int64_t j = 0; j < part; ++j) {
    SmallVector<Value> blocks;
    for (int64_t g = 0; g < groups; ++g) {
      blocks.push_back(rows[g * part + j]);
    }
    for (int64_t stage = 1; stage < groups; stage *= 2) {
      SmallVector<Value> next(groups);
      for (int64_t i = 0; i < groups / 2; ++i) {
        next[i] = shuffle(blocks[2 * i], blocks[2 * i + 1], even);
        next[i + groups / 2] = shuffle(blocks[2 * i], blocks[2 * i + 1], odd);
      }
      blocks = next;
    }
    for (int64_t g = 0; g < groups; ++g) {
      result[g * part + j] = blocks[g];
    }
  }
  return result;
}

void TransposedCopy::square(int64_t size, Value row, Value column) {
  Value source = addI(e, mulI(e, row, fromStride), column);
  Value target = addI(e, mulI(e, column, toStride), row);
  SmallVector<Value> rows;
  for (int64_t r = 0; r < size; ++r) {
    rows.push_back(load(addI(e, source, r * fromStride), size));
  }
  rows = transpose(rows);
  for (int64_t c = 0; c < size; ++c) {
    store(rows[c], addI(e, target, c * toStride));
  }
}

void TransposedCopy::single(Value row, Value column) {
  store(load(addI(e, mulI(e, row, fromStride), column), 1),
        addI(e, mulI(e, column, toStride), row));
}

/// Deinterleaves `count` contiguous columns, `lanes` rows at a time.
void TransposedCopy::splitColumns(int64_t count, int64_t lanes, int64_t rows) {
  Value whole = constI64(e, rows / lanes * lanes);
  emitFor(e, constI64(e, 0), whole, lanes, [&](Value r) {
    Value all = load(mulI(e, r, count), count * lanes);
    for (int64_t c = 0; c < count; ++c) {
      SmallVector<int64_t> order;
      for (int64_t l = 0; l < lanes; ++l) {
        order.push_back(l * count + c);
      }
      store(shuffle(all, all, order), addI(e, r, c * toStride));
    }
  });
  emitFor(e, whole, constI64(e, rows), 1, [&](Value r) {
    for (int64_t c = 0; c < count; ++c) {
      single(r, constI64(e, c));
    }
  });
}

/// Interleaves `count` rows into contiguous columns, `lanes` columns at a time.
void TransposedCopy::joinRows(int64_t count, int64_t lanes, int64_t columns) {
  Value whole = constI64(e, columns / lanes * lanes);
  emitFor(e, constI64(e, 0), whole, lanes, [&](Value c) {
    // Concatenates all rows into one vector, by pairs, then shuffles once.
    SmallVector<Value> rows;
    for (int64_t r = 0; r < count; ++r) {
      rows.push_back(load(addI(e, c, r * fromStride), lanes));
    }
    rows.resize(llvm::bit_ceil<uint64_t>(count), rows[0]);
    for (int64_t width = 2 * lanes; rows.size() > 1; width *= 2) {
      SmallVector<int64_t> both(width);
      std::iota(both.begin(), both.end(), 0);
      for (size_t i = 0; i < rows.size() / 2; ++i) {
        rows[i] = shuffle(rows[2 * i], rows[2 * i + 1], both);
      }
      rows.resize(rows.size() / 2);
    }
    Value all = rows[0];
    SmallVector<int64_t> order;
    for (int64_t l = 0; l < lanes; ++l) {
      for (int64_t r = 0; r < count; ++r) {
        order.push_back(r * lanes + l);
      }
    }
    store(shuffle(all, all, order), mulI(e, c, count));
  });
  emitFor(e, whole, constI64(e, columns), 1, [&](Value c) {
    for (int64_t r = 0; r < count; ++r) {
      single(constI64(e, r), c);
    }
  });
}

void emitTransposedCopy(Emission &e, int64_t bytes, Value from, int64_t fromStride, Value to,
                        int64_t toStride, int64_t rows, int64_t columns) {
  Type element = bytes == 16 ? Type(VectorType::get({2}, e.b.getI64Type()))
                             : Type(e.b.getIntegerType(static_cast<unsigned>(8 * bytes)));
  TransposedCopy copy{e, bytes, from, fromStride, to, toStride, element};
  // A square of full vectors of bytes would need 64 registers.
  int64_t lanes = std::max<int64_t>(1, std::min(e.machine.vectors.bytes / bytes,
                                                static_cast<int64_t>(e.machine.vectors.registers)));
  auto runOf = [&](int64_t n) { return std::min<int64_t>(lanes, llvm::bit_floor<uint64_t>(n)); };
  // Shuffles of many bytes take many instructions.
  bool byShuffle = bytes == 4 || bytes == 8 || !llvm::isPowerOf2_64(std::min(rows, columns));
  if (byShuffle && bytes < 16 && columns == fromStride && columns <= 8 && columns < runOf(rows)) {
    copy.splitColumns(columns, runOf(rows), rows);
    return;
  }
  if (byShuffle && bytes < 16 && rows == toStride && rows <= 8 && rows < runOf(columns)) {
    copy.joinRows(rows, runOf(columns), columns);
    return;
  }
  int64_t size = llvm::bit_floor<uint64_t>(std::min({bytes == 16 ? 4 : lanes, rows, columns}));
  auto start = [&](Value i, int64_t count) -> Value {
    return count % size == 0 ? i : minI(e, i, count - size);
  };
  emitFor(e, constI64(e, 0), constI64(e, columns), size, [&](Value c) {
    Value column = start(c, columns);
    emitFor(e, constI64(e, 0), constI64(e, rows), size, [&](Value r) {
      Value row = start(r, rows);
      if (bytes < 16 && size > 1) {
        copy.square(size, row, column);
        return;
      }
      for (int64_t i = 0; i < size; ++i) {
        for (int64_t j = 0; j < size; ++j) {
          copy.single(addI(e, row, j), addI(e, column, i));
        }
      }
    });
  });
}

} // namespace hlo::codegen
