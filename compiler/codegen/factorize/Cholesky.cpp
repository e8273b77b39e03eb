//===- Cholesky.cpp - Strategy "cholesky": A = L L^H by rows --------------===//
//
// In: a region whose root is a cholesky of [batch..., n, n]. Out, for each matrix (one task), by
// Cholesky-Banachiewicz:
//
//   for i: for j < i:  L[i][j] = (A[i][j] - sum_k<j L[i][k] conj(L[j][k])) / L[j][j]
//          L[i][i] = sqrt(A[i][i] - sum_k<i |L[i][k]|^2)
//
// For real lower factors the sums run over contiguous rows, in vectors. An upper factor is the same
// with rows and columns exchanged. Only the triangle named by `lower` is read; the other triangle
// of the result is zero. A matrix that is not positive definite gives NaN throughout.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

namespace {
struct CholeskyEmission {
  KernelBuilder &kernel;
  Emission &e;
  Type element;
  int64_t n, rowStride, columnStride, lanes;
  bool lower;
  Value result, base; ///< result pointer, first element of the matrix

  Value at(Value i, Value j) {
    return addI(e, base, addI(e, mulI(e, i, rowStride), mulI(e, j, columnStride)));
  }
  Elem conj(const Elem &v) {
    return v.im ? Elem(v.re, arith::NegFOp::create(e.b, e.loc, v.im)) : v;
  }
  /// L[i][j]; an upper factor stores its conjugate.
  Elem loadResult(Value i, Value j) {
    Elem v = loadElements(e, element, result, at(i, j), 1);
    return lower ? v : conj(v);
  }
  Elem named(StringRef opcode, ArrayRef<Elem> operands) {
    return emitNamed(e, opcode, element, element, operands);
  }
  /// start - sum over k < count of L[i][k] conj(L[j][k]).
  Elem subtractProducts(Elem start, Value i, Value j, Value count);
};
} // namespace

Elem CholeskyEmission::subtractProducts(Elem start, Value i, Value j, Value count) {
  Value whole = constI64(e, 0);
  if (lanes > 1) {
    whole = mulI(e, divI(e, count, lanes), lanes);
    Sums sums = zeroSums(e, element, 1, lanes);
    carrySums(e, constI64(e, 0), whole, lanes, sums, [&](Value k, Sums &inner) {
      Elem a = loadElements(e, element, result, at(i, k), lanes);
      Elem b = loadElements(e, element, result, at(j, k), lanes);
      inner[0] = named("add", {inner[0], named("multiply", {a, b})});
    });
    Value total = vector::ReductionOp::create(e.b, e.loc, vector::CombiningKind::ADD, sums[0].re);
    start = named("subtract", {start, Elem(total)});
  }
  Sums rest{start};
  carrySums(e, whole, count, 1, rest, [&](Value k, Sums &inner) {
    Elem product = named("multiply", {loadResult(i, k), conj(loadResult(j, k))});
    inner[0] = named("subtract", {inner[0], product});
  });
  return rest[0];
}

LogicalResult emitCholeskyKernel(KernelBuilder &kernel) {
  Emission &e = kernel.e;
  auto op = dyn_cast_or_null<CholeskyOp>(kernel.root());
  if (!op) {
    return kernel.fusion.emitOpError("of strategy 'cholesky' must return a cholesky");
  }
  RankedTensorType type = arrayType(op.getOperand());
  if (type.getNumElements() == 0) {
    kernel.tasks = 0;
    return success();
  }
  int64_t n = type.getShape().back();
  bool lower = op.getLower().value_or(false);
  Type element = type.getElementType();
  bool isComplex = isa<ComplexType>(element);
  int64_t lanes =
      lower && !isComplex && (element.isF32() || element.isF64()) ? kernelLanes(kernel) : 1;
  CholeskyEmission c{
      kernel, e, element, n, lower ? n : 1, lower ? 1 : n, lanes, lower, kernel.resultPtrs[0],
      Value()};
  ElementEmitter scalars(kernel, 1);
  ArrayRef<int64_t> batch = type.getShape().drop_back(2);
  kernel.tasks = type.getNumElements() / (n * n);
  Value zero = constI64(e, 0), size = constI64(e, n);
  Type real = computeType(element);
  auto realConstant = [&](double v) -> Value {
    return arith::ConstantOp::create(e.b, e.loc, e.b.getFloatAttr(real, v));
  };
  emitFor(e, kernel.first, kernel.last, 1, [&](Value matrix) {
    c.base = mulI(e, matrix, n * n);
    SmallVector<Value> position = delinearize(e, matrix, batch);
    auto input = [&](Value i, Value j) {
      ElementEmitter::Scope scope(scalars);
      SmallVector<Index> index(position.begin(), position.end());
      index.push_back(Index(lower ? i : j));
      index.push_back(Index(lower ? j : i));
      Elem v = scalars.emit(op.getOperand(), index);
      return lower ? v : c.conj(v);
    };
    // Conjunction of (diagonal > 0) so far, as a flag.
    Value good = arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true));
    SmallVector<Value> state =
        emitForCarrying(e, zero, size, 1, {good}, [&](Value i, ValueRange carried) {
          emitFor(e, zero, i, 1, [&](Value j) {
            Elem sum = c.subtractProducts(input(i, j), i, j, j);
            Elem entry = c.named("divide", {sum, c.loadResult(j, j)});
            storeElements(e, element, lower ? entry : c.conj(entry), c.result, c.at(i, j));
            storeElements(e, element, zeroElem(e, element), c.result, c.at(j, i));
          });
          Elem sum = c.subtractProducts(input(i, i), i, i, i);
          Value positive = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OGT, sum.re,
                                                 realConstant(0.0));
          Elem root(math::SqrtOp::create(e.b, e.loc, sum.re).getResult());
          if (isComplex) {
            root.im = realConstant(0.0);
          }
          storeElements(e, element, root, c.result, c.at(i, i));
          return SmallVector<Value>{arith::AndIOp::create(e.b, e.loc, carried[0], positive)};
        });
    Value yes = arith::ConstantOp::create(e.b, e.loc, e.b.getBoolAttr(true));
    Value bad = arith::XOrIOp::create(e.b, e.loc, state[0], yes);
    auto branch = scf::IfOp::create(e.b, e.loc, bad, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    Value nan = realConstant(std::numeric_limits<double>::quiet_NaN());
    Elem fill(nan, isComplex ? realConstant(0.0) : Value());
    emitFor(e, zero, constI64(e, n * n), 1,
            [&](Value i) { storeElements(e, element, fill, c.result, addI(e, c.base, i)); });
  });
  return success();
}

} // namespace hlo::codegen
