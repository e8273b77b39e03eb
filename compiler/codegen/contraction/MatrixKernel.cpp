//===- MatrixKernel.cpp - Sums of products in matrix registers ------------===//
//
// In: the addresses of two registers of each side, and the distances of their rows. Out: a loop
// along k that loads two registers of each side and multiplies each with each:
//
//   0 to 3   sums, 2i + j for rows i and columns j
//   4 and 5  rows: up to 16 of up to 64 bytes along k
//   6 and 7  columns: up to 16 groups along k, of up to 16 columns each
//
// for registers of 16 rows of 64 bytes (Tiles). They are named by number, so that no allocator is
// involved, and the sums stay in registers between loops: a convolution runs one loop per tap.
//
// Multiplying bf16 may take subnormals for zeros, in the operands and in the sums.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/MatrixKernel.h"
#include "compiler/codegen/contraction/Loops.h"

using namespace mlir;

namespace hlo::codegen {

const Product *squareProduct(const Machine &machine, Number lhs, Number rhs, Number sum) {
  const Product *product = machine.tileProduct(lhs, rhs, sum);
  if (!product) {
    return nullptr;
  }
  const Tiles &tiles = *product->tiles;
  bool fits = tiles.count >= 8 && tiles.rowBytes == 4 * tiles.rows &&
              machine.vectors.bytes == tiles.rowBytes && machine.vectors.hasPredicates();
  return fits ? product : nullptr;
}

Value describeShape(Emission &e, const Tiles &tiles, const MatrixShape &shape) {
  std::array<Tiles::Shape, 8> shapes;
  auto set = [&](int64_t tile, int64_t rows, int64_t lanes) {
    if (rows > 0 && lanes > 0) {
      shapes[tile] = {rows, 4 * lanes};
    }
  };
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      set(2 * i + j, shape.rows[i], shape.columns[j]);
    }
    set(4 + i, shape.rows[i], shape.groups);
    set(6 + i, shape.columns[i] == 0 ? 0 : shape.groups, shape.columns[i]);
  }
  Value buffer = stackBuffer(e, tiles.configBytes);
  tiles.describe(e, shapes, buffer);
  return buffer;
}

void MatrixKernel::forSums(function_ref<void(int64_t, int64_t)> body) {
  for (int64_t i = 0; i < down; ++i) {
    for (int64_t j = 0; j < across; ++j) {
      body(i, j);
    }
  }
}

void MatrixKernel::clear() {
  forSums([&](int64_t i, int64_t j) { product.tiles->zero(e, 2 * i + j); });
}

static Value squareAt(Emission &e, const MatrixSums &sums, int64_t i, int64_t j) {
  return addBytes(e, sums.first, constI64(e, i * sums.down + j * sums.across));
}

void MatrixKernel::start(Value isLater, const MatrixSums &sums) {
  if (!isLater) {
    clear();
    return;
  }
  auto branch = scf::IfOp::create(e.b, e.loc, isLater, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  forSums([&](int64_t i, int64_t j) {
    product.tiles->load(e, 2 * i + j, squareAt(e, sums, i, j), sums.row);
  });
  e.b.setInsertionPointToStart(branch.elseBlock());
  clear();
}

void MatrixKernel::store(const MatrixSums &sums) {
  forSums([&](int64_t i, int64_t j) {
    product.tiles->store(e, 2 * i + j, squareAt(e, sums, i, j), sums.row);
  });
}

void MatrixKernel::step(Value a, Value b, const MatrixSide &lhs, const MatrixSide &rhs,
                        function_ref<void(int64_t, int64_t)> before) {
  const Tiles &tiles = *product.tiles;
  for (int64_t i = 0; i < down; ++i) {
    tiles.load(e, 4 + i, addBytes(e, a, constI64(e, i * lhs.next)), lhs.row);
    for (int64_t j = 0; j < across; ++j) {
      if (i == 0) {
        tiles.load(e, 6 + j, addBytes(e, b, constI64(e, j * rhs.next)), rhs.row);
      }
      before(i, j);
      product.multiplyTiles(e, product, {2 * i + j, 4 + i, 6 + j}, lhsUnsigned, rhsUnsigned);
    }
  }
}

void MatrixKernel::startStep(const MatrixSide &lhs, const MatrixSide &rhs, Value isLater,
                             const MatrixSums &sums, const MatrixSums *previous) {
  const Tiles &tiles = *product.tiles;
  auto emit = [&](bool loads) {
    step(lhs.first, rhs.first, lhs, rhs, [&](int64_t i, int64_t j) {
      if (previous) {
        tiles.store(e, 2 * i + j, squareAt(e, *previous, i, j), previous->row);
      }
      if (loads) {
        tiles.load(e, 2 * i + j, squareAt(e, sums, i, j), sums.row);
      } else {
        tiles.zero(e, 2 * i + j);
      }
    });
  };
  if (!isLater) {
    emit(/*loads=*/false);
    return;
  }
  emitIfElse(e, isLater, [&] { emit(/*loads=*/true); }, [&] { emit(/*loads=*/false); });
}

void MatrixKernel::multiply(const MatrixSide &lhs, const MatrixSide &rhs, Value steps,
                            const std::function<void(Value)> &ask) {
  emitFor(e, constI64(e, 0), steps, 1, [&](Value number) {
    if (ask) {
      ask(number);
    }
    Value a = addBytes(e, lhs.first, mulI(e, number, lhs.step));
    Value b = addBytes(e, rhs.first, mulI(e, number, rhs.step));
    step(a, b, lhs, rhs, [](int64_t, int64_t) {});
  });
}

} // namespace hlo::codegen
