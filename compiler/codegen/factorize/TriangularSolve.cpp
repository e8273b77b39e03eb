//===- TriangularSolve.cpp - Strategy "triangular-solve" ------------------===//
//
// In: a region whose root solves op(A) X = B (left_side) or X op(A) = B, A
// triangular, op the identity, the transpose or the adjoint. Out: substitution,
// forward or backward as the triangle asks. With T(i, k) the entry of op(A):
//
//   left:   x_i = (b_i - sum over solved k of T(i, k) x_k) / T(i, i)
//   right:  x_j = (b_j - sum over solved k of x_k T(k, j)) / T(j, j)
//
// On the left the columns of B are independent: they run in vector lanes, and blocks
// of them are tasks. On the right the rows of B are. Only the triangle named by
// `lower` is read, and not its diagonal if that is unit.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/IndexMath.h"
#include "compiler/codegen/loops/EmitterImpl.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

LogicalResult emitTriangularSolveKernel(KernelBuilder &kernel) {
  Emission &e = kernel.e;
  auto op = dyn_cast_or_null<TriangularSolveOp>(kernel.root());
  if (!op) {
    return kernel.fusion.emitOpError("of strategy 'triangular-solve' must return a triangular-solve");
  }
  RankedTensorType type = arrayType(op.getB());
  if (type.getNumElements() == 0) {
    kernel.tasks = 0;
    return success();
  }
  ArrayRef<int64_t> shape = type.getShape(), batch = shape.drop_back(2);
  int64_t m = arrayType(op.getA()).getShape().back(); // order of A
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  bool left = op.getLeftSide().value_or(false), lower = op.getLower().value_or(false);
  bool unit = op.getUnitDiagonal().value_or(false);
  StringRef transpose = op.getTransposeA().value_or("NO_TRANSPOSE");
  bool swapped = transpose != "NO_TRANSPOSE", adjoint = transpose == "ADJOINT";
  // Whether unknowns are found in ascending order.
  bool ascending = (lower != swapped) == left;
  Type element = type.getElementType();
  int64_t lanes = left ? kernelLanes(kernel) : 1;
  ElementEmitter vectors(kernel, lanes), scalars(kernel, 1);
  Value result = kernel.resultPtrs[0];

  int64_t matrices = 1;
  for (int64_t size : batch) {
    matrices *= size;
  }
  // One task solves a block of columns (left) or rows (right) of one matrix.
  int64_t free = left ? columns : rows, block = std::min<int64_t>(free, std::max<int64_t>(4 * lanes, 16));
  int64_t blocks = llvm::divideCeil(free, block);
  kernel.tasks = matrices * blocks;

  auto named = [&](StringRef opcode, ArrayRef<Elem> operands) {
    return emitNamed(e, opcode, element, element, operands);
  };
  emitFor(e, kernel.first, kernel.last, 1, [&](Value task) {
    Value matrix = divI(e, task, blocks), blockNumber = remI(e, task, blocks);
    SmallVector<Value> position = delinearize(e, matrix, batch);
    Value base = mulI(e, matrix, rows * columns);
    Value lo = mulI(e, blockNumber, block);
    Value hi = e.b.createOrFold<arith::MinSIOp>(e.loc, addI(e, lo, block), constI64(e, free));
    auto entry = [&](Value i, Value k) {
      SmallVector<Index> index(position.begin(), position.end());
      index.push_back(Index(swapped ? k : i));
      index.push_back(Index(swapped ? i : k));
      Elem v = scalars.emit(op.getA(), index);
      if (adjoint && v.im) {
        v.im = arith::NegFOp::create(e.b, e.loc, v.im);
      }
      return v;
    };
    emitVectorLoop(e, lo, hi, vectors, scalars, [&](Index c, ElementEmitter &emitter, Value mask) {
      auto address = [&](Value unknown) {
        return left ? addI(e, base, addI(e, mulI(e, unknown, columns), c.base))
                    : addI(e, base, addI(e, mulI(e, c.base, columns), unknown));
      };
      auto order = [&](Value step) {
        return ascending ? step : subI(e, constI64(e, m - 1), step);
      };
      emitFor(e, constI64(e, 0), constI64(e, m), 1, [&](Value step) {
        ElementEmitter::Scope outer(emitter);
        ElementEmitter::Scope outerScalars(scalars);
        Value i = order(step);
        SmallVector<Index> index(position.begin(), position.end());
        index.push_back(left ? Index(i) : c);
        index.push_back(left ? c : Index(i));
        Elem start = emitter.emit(op.getB(), index, mask);
        SmallVector<Value> sum = emitForCarrying(
            e, constI64(e, 0), step, 1, flattenElems(start), [&](Value earlier, ValueRange carried) {
              ElementEmitter::Scope inner(scalars);
              Value k = order(earlier);
              Elem t = splat(e, left ? entry(i, k) : entry(k, i), emitter.lanes());
              Elem x = loadElements(e, element, result, address(k), emitter.lanes(), mask);
              return flattenElems(
                  named("subtract", {unflattenElems(carried, {start})[0], named("multiply", {t, x})}));
            });
        Elem x = unflattenElems(sum, {start})[0];
        if (!unit) {
          x = named("divide", {x, splat(e, entry(i, i), emitter.lanes())});
        }
        storeElements(e, element, x, result, address(i), mask);
      });
    });
  });
  return success();
}

} // namespace hlo::codegen
