//===- TriangularSolve.cpp - Strategy "triangular-solve" ------------------===//
//
// In: a region whose root solves op(A) X = B (left_side) or X op(A) = B, with A triangular and op
// the identity, the transpose or the adjoint. Out: forward or backward substitution. With T(i, k)
// the entries of op(A):
//
//   left:   x_i = (b_i - sum over solved k of T(i, k) x_k) / T(i, i)
//   right:  the same of the transposes: op(A)^T X^T = B^T
//
// The columns of B (left) or its rows (right) are independent: they are vector lanes, and blocks of
// a few vectors of them are tasks. A block of rows of unknowns stays in registers while the solved
// ones are subtracted, as in a matrix product, and then solves its own triangle. On the right, rows
// of B are transposed into scratch and back. On the left, solved unknowns are read from the result,
// or from a scratch copy if rows of the result are far apart. Only the triangle named by `lower` is
// read, without its diagonal if that is unit.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/contraction/Loops.h"
#include "compiler/codegen/contraction/Pack.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

/// Most bytes of the unknowns of a block on the right, unless a single row needs more: with 1024
/// unknowns, one vector of 64 bytes each. Every step reads those found so far, from L2, where they
/// leave room for A. Larger blocks would read A less often. No timings were kept.
static constexpr int64_t kScratchBytes = 64 << 10;
/// The same on the left, a quarter of an L2 of 1 MiB, where scratch holds only a copy, made because
/// rows of the result are in different pages and, at power-of-two distances, in few cache sets.
static constexpr int64_t kCopyBytes = 256 << 10;

namespace {
struct SolveEmission {
  KernelBuilder &kernel;
  Emission &e;
  TriangularSolveOp op;
  Type element;
  int64_t m, rows, columns; ///< order of A; shape of B
  bool left, unit, swapped, adjoint, ascending;
  int64_t lanes = 1, vectors = 1; ///< of a block
  ElementEmitter scalars;
  std::unique_ptr<ElementEmitter> wide; ///< of `lanes` lanes
  SmallVector<Value> position{};        ///< index in the batch

  SolveEmission(KernelBuilder &kernel, TriangularSolveOp op);
  LogicalResult emit();

private:
  using ReadRow = function_ref<Elem(Value k, int64_t vector)>;
  using WriteRow = function_ref<void(Value k, int64_t vector, const Elem &value)>;

  template <typename Op> Value contracted(Value a, Value b) {
    auto flags = arith::FastMathFlagsAttr::get(e.b.getContext(), arith::FastMathFlags::contract);
    return Op::create(e.b, e.loc, a, b, flags);
  }
  Elem named(StringRef opcode, ArrayRef<Elem> operands) {
    return emitNamed(e, opcode, element, element, operands);
  }
  Elem subtractProduct(const Elem &a, const Elem &x, const Elem &y);
  Elem divided(const Elem &x, const Elem &by);
  Elem entry(Value i, Value k);
  Value order(Value step) { return ascending ? step : subI(e, constI64(e, m - 1), step); }
  void solveRows(Value firstStep, int64_t count, int64_t width, ReadRow start, ReadRow solved,
                 WriteRow write);
  void solveBlock(int64_t width, ReadRow start, ReadRow solved, WriteRow write);
  void leftBlock(Value base, Value first, int64_t count);
  void rightBlock(Value base, Value first);
  /// Address in scratch of vector `v` of unknown `k`.
  Value placeOf(Value k, int64_t v);
  Elem loadUnknown(Value k, int64_t v) { return buffers.load(placeOf(k, v), lanes, lanes); }
  void storeUnknown(Value k, int64_t v, const Elem &x) { buffers.store(placeOf(k, v), x, lanes); }

  Buffers buffers;
  int64_t parts;
  Value scratch{};
};
} // namespace

SolveEmission::SolveEmission(KernelBuilder &kernel, TriangularSolveOp op)
    : kernel(kernel), e(kernel.e), op(op), element(arrayType(op.getB()).getElementType()),
      m(arrayType(op.getA()).getShape().back()), scalars(kernel, 1),
      buffers(e, isa<ComplexType>(element) ? element : computeType(element)), parts(buffers.parts) {
  ArrayRef<int64_t> shape = arrayType(op.getB()).getShape();
  rows = shape[shape.size() - 2];
  columns = shape.back();
  left = op.getLeftSide().value_or(false);
  unit = op.getUnitDiagonal().value_or(false);
  StringRef transpose = op.getTransposeA().value_or("NO_TRANSPOSE");
  // On the right, the equations of the transposed matrix are solved.
  swapped = (transpose != "NO_TRANSPOSE") == left;
  adjoint = transpose == "ADJOINT";
  // True if unknowns are found in ascending order.
  ascending = op.getLower().value_or(false) != swapped;
}

/// a - x y; rounded once if the type allows it.
Elem SolveEmission::subtractProduct(const Elem &a, const Elem &x, const Elem &y) {
  auto minus = [&](Value v, Value p, Value q) {
    return contracted<arith::SubFOp>(v, contracted<arith::MulFOp>(p, q));
  };
  if (isNarrowFloat(element)) {
    return named("subtract", {a, named("multiply", {x, y})});
  }
  if (!x.im) {
    return Elem(minus(a.re, x.re, y.re));
  }
  Value re =
      contracted<arith::AddFOp>(minus(a.re, x.re, y.re), contracted<arith::MulFOp>(x.im, y.im));
  return Elem(re, minus(minus(a.im, x.re, y.im), x.im, y.re));
}

/// x / by for a scalar `by`: multiplies by the reciprocal if both numbers are far from the ends of
/// the range.
Elem SolveEmission::divided(const Elem &x, const Elem &by) {
  int64_t count = lanesOf(x.re);
  if (x.im || isNarrowFloat(element) || count == 1) {
    return named("divide", {x, splat(e, by, count)});
  }
  auto constant = [&](double v) -> Value {
    return arith::ConstantOp::create(e.b, e.loc, e.b.getFloatAttr(by.re.getType(), v));
  };
  double limit = by.re.getType().isF32() ? 0x1p100 : 0x1p1000;
  Value size = math::AbsFOp::create(e.b, e.loc, by.re);
  Value below = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OLT, size, constant(limit));
  Value above =
      arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OGT, size, constant(1 / limit));
  Value usual = arith::AndIOp::create(e.b, e.loc, below, above);
  auto branch =
      scf::IfOp::create(e.b, e.loc, TypeRange{x.re.getType()}, usual, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  Value reciprocal = arith::DivFOp::create(e.b, e.loc, constant(1), by.re);
  Value product = arith::MulFOp::create(e.b, e.loc, x.re, splat(e, Elem(reciprocal), count).re);
  scf::YieldOp::create(e.b, e.loc, product);
  e.b.setInsertionPointToStart(branch.elseBlock());
  Value quotient = arith::DivFOp::create(e.b, e.loc, x.re, splat(e, by, count).re);
  scf::YieldOp::create(e.b, e.loc, quotient);
  return Elem(branch.getResult(0));
}

/// T(i, k), a scalar.
Elem SolveEmission::entry(Value i, Value k) {
  ElementEmitter::Scope scope(scalars);
  SmallVector<Index> index(position.begin(), position.end());
  index.push_back(Index(swapped ? k : i));
  index.push_back(Index(swapped ? i : k));
  Elem v = scalars.emit(op.getA(), index);
  if (adjoint && v.im) {
    v.im = arith::NegFOp::create(e.b, e.loc, v.im);
  }
  return v;
}

/// Solves `count` unknowns; all before them are solved.
void SolveEmission::solveRows(Value firstStep, int64_t count, int64_t width, ReadRow start,
                              ReadRow solved, WriteRow write) {
  SmallVector<Value> row;
  Sums sums;
  for (int64_t r = 0; r < count; ++r) {
    row.push_back(order(addI(e, firstStep, r)));
    for (int64_t v = 0; v < width; ++v) {
      sums.push_back(start(row[r], v));
    }
  }
  carrySums(e, constI64(e, 0), firstStep, 1, sums, [&](Value step, Sums &inner) {
    Value k = order(step);
    multiplyStep(
        e,
        [&](const Elem &sum, const Elem &t, const Elem &x) { return subtractProduct(sum, t, x); },
        count, width, [&](int64_t r) { return entry(row[r], k); },
        [&](int64_t v) { return solved(k, v); }, inner);
  });
  for (int64_t r = 0; r < count; ++r) {
    Elem diagonal = unit ? Elem() : entry(row[r], row[r]);
    for (int64_t v = 0; v < width; ++v) {
      Elem &x = sums[r * width + v];
      x = unit ? x : divided(x, diagonal);
      write(row[r], v, x);
    }
    for (int64_t s = r + 1; s < count; ++s) {
      Elem t = splat(e, entry(row[s], row[r]), lanes);
      for (int64_t v = 0; v < width; ++v) {
        sums[s * width + v] = subtractProduct(sums[s * width + v], t, sums[r * width + v]);
      }
    }
  }
}

void SolveEmission::solveBlock(int64_t width, ReadRow start, ReadRow solved, WriteRow write) {
  // Sums fill the registers but for the solved row, an entry of A and temporaries.
  int64_t budget = e.machine.vectors.registers >= 32 ? 24 : 10;
  int64_t count = std::min(m, std::clamp<int64_t>(budget / (width * parts), 1, 8));
  forEachPiece(e, m, count, [&](Value step, int64_t rows) {
    solveRows(step, rows, width, start, solved, write);
  });
}

Value SolveEmission::placeOf(Value k, int64_t v) {
  Value index = mulI(e, addI(e, mulI(e, k, vectors), v), parts * lanes);
  return elementPointer(e, computeType(buffers.part), scratch, index);
}

/// Solves columns first, ..., first + count - 1 of op(A) X = B.
void SolveEmission::leftBlock(Value base, Value first, int64_t count) {
  int64_t width = llvm::divideCeil(count, lanes);
  auto maskOf = [&](int64_t v) -> Value {
    int64_t rest = count - v * lanes;
    return rest < lanes ? lanesBelow(e, constI64(e, rest), lanes) : Value();
  };
  auto column = [&](int64_t v) { return addI(e, first, v * lanes); };
  auto address = [&](Value k, int64_t v) {
    return addI(e, base, addI(e, mulI(e, k, columns), column(v)));
  };
  solveBlock(
      width,
      [&](Value k, int64_t v) {
        ElementEmitter::Scope scope(*wide);
        SmallVector<Index> index(position.begin(), position.end());
        index.push_back(Index(k));
        index.push_back(Index(column(v), lanes > 1 ? 1 : 0));
        return wide->emit(op.getB(), index, maskOf(v));
      },
      [&](Value k, int64_t v) {
        return scratch ? loadUnknown(k, v)
                       : loadElements(e, element, kernel.resultPtrs[0], address(k, v), lanes,
                                      maskOf(v));
      },
      [&](Value k, int64_t v, const Elem &x) {
        storeElements(e, element, x, kernel.resultPtrs[0], address(k, v), maskOf(v));
        if (scratch) {
          storeUnknown(k, v, x);
        }
      });
}

/// Solves a block of rows of X op(A) = B from `first` on; rows beyond the last repeat it.
void SolveEmission::rightBlock(Value base, Value first) {
  // Squares of vectors along the unknowns; the last one may be partial.
  auto tiles = [&](function_ref<void(Value k, int64_t count, Value mask)> body) {
    forEachPiece(e, m, lanes, [&](Value k, int64_t count) {
      body(k, count, count < lanes ? lanesBelow(e, constI64(e, count), lanes) : Value());
    });
  };
  auto rowOf = [&](int64_t v, int64_t l) {
    return minI(e, addI(e, first, v * lanes + l), rows - 1);
  };
  tiles([&](Value k, int64_t count, Value mask) {
    for (int64_t v = 0; v < vectors; ++v) {
      SmallVector<Elem> square = transposed(e, lanes, [&](int64_t l) {
        ElementEmitter::Scope scope(*wide);
        SmallVector<Index> index(position.begin(), position.end());
        index.push_back(Index(rowOf(v, l)));
        index.push_back(Index(k, lanes > 1 ? 1 : 0));
        return wide->emit(op.getB(), index, mask);
      });
      for (int64_t i = 0; i < count; ++i) {
        storeUnknown(addI(e, k, i), v, square[i]);
      }
    }
  });
  auto load = [&](Value k, int64_t v) { return loadUnknown(k, v); };
  solveBlock(vectors, load, load,
             [&](Value k, int64_t v, const Elem &x) { storeUnknown(k, v, x); });
  tiles([&](Value k, int64_t count, Value mask) {
    for (int64_t v = 0; v < vectors; ++v) {
      SmallVector<Elem> square = transposed(
          e, lanes, [&](int64_t i) { return loadUnknown(addI(e, k, std::min(i, count - 1)), v); });
      for (int64_t l = 0; l < lanes; ++l) {
        Value to = addI(e, base, addI(e, mulI(e, rowOf(v, l), columns), k));
        storeElements(e, element, square[l], kernel.resultPtrs[0], to, mask);
      }
    }
  });
}

LogicalResult SolveEmission::emit() {
  ArrayRef<int64_t> batch = arrayType(op.getB()).getShape().drop_back(2);
  int64_t matrices = 1, independent = left ? columns : rows;
  for (int64_t size : batch) {
    matrices *= size;
  }
  // As many lanes as columns (or rows), rounded up to a power of two.
  lanes = kernelLanes(kernel);
  int64_t rowBytes = buffers.partBytes * parts * m;
  while (lanes > 1 && (lanes >= 2 * independent || (!left && lanes * rowBytes > kScratchBytes))) {
    lanes /= 2;
  }
  vectors = std::clamp<int64_t>(independent / lanes, 1, 4);
  while (!left && vectors > 1 && vectors * lanes * rowBytes > kScratchBytes) {
    --vectors;
  }
  wide = std::make_unique<ElementEmitter>(kernel, lanes);
  int64_t block = vectors * lanes, blocks = llvm::divideCeil(independent, block);
  // Tasks of at least some ten thousand operations.
  int64_t perTask = std::max<int64_t>(1, (32 << 10) / std::max<int64_t>(1, m * m * block));
  int64_t total = matrices * blocks;
  auto [lo, hi] = splitTasks(kernel, total, perTask);
  bool copies = left && columns > block && block * rowBytes <= kCopyBytes &&
                columns * rowBytes > e.machine.memory.l2;
  if (!left || copies) {
    scratch = stackBuffer(e, block * rowBytes);
  }
  emitFor(e, lo, hi, 1, [&](Value number) {
    Value matrix = divI(e, number, blocks), first = mulI(e, remI(e, number, blocks), block);
    position = delinearize(e, matrix, batch);
    Value base = mulI(e, matrix, rows * columns);
    if (!left) {
      rightBlock(base, first);
      return;
    }
    if (independent % block == 0) {
      leftBlock(base, first, block);
      return;
    }
    Value isLast = compareI(e, arith::CmpIPredicate::sgt, first, independent - block);
    emitIfElse(
        e, isLast,
        [&] { leftBlock(base, constI64(e, independent / block * block), independent % block); },
        [&] { leftBlock(base, first, block); });
  });
  return success();
}

LogicalResult emitTriangularSolveKernel(KernelBuilder &kernel) {
  auto op = dyn_cast_or_null<TriangularSolveOp>(kernel.root());
  if (!op) {
    return kernel.fusion.emitOpError(
        "of strategy 'triangular-solve' must return a triangular-solve");
  }
  if (arrayType(op.getB()).getNumElements() == 0) {
    kernel.tasks = 0;
    return success();
  }
  return SolveEmission(kernel, op).emit();
}

} // namespace hlo::codegen
