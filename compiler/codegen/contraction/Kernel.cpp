//===- Kernel.cpp - The register kernel -----------------------------------===//
#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/loops/EmitterImpl.h"

#include <functional>

using namespace mlir;

namespace hlo::codegen {

Sums zeroSums(Emission &e, Type element, int64_t count, int64_t lanes) {
  return Sums(count, zeroElem(e, element, lanes));
}

Elem Multiplier::operator()(const Elem &sum, const Elem &row, const Elem &column) const {
  if (!product) {
    return multiplyAdd(e, element, sum, row, column);
  }
  bool exchanged = product->signs == Product::Signs::OneUnsigned && rhsUnsigned;
  return Elem(
      product->multiply(e, sum.re, exchanged ? column.re : row.re, exchanged ? row.re : column.re));
}

void multiplyStep(Emission &e, Multiply multiply, int64_t rows, int64_t vectors,
                  function_ref<Elem(int64_t)> row, function_ref<Elem(int64_t)> column, Sums &sums) {
  SmallVector<Elem> columns;
  for (int64_t v = 0; v < vectors; ++v) {
    columns.push_back(column(v));
  }
  for (int64_t r = 0; r < rows; ++r) {
    Elem scalar = row(r), wide;
    for (int64_t v = 0; v < vectors; ++v) {
      int64_t lanes = lanesOf(columns[v].re);
      if (!wide || lanesOf(wide.re) != lanes) {
        wide = splat(e, scalar, lanes);
      }
      Elem &sum = sums[r * vectors + v];
      sum = multiply(sum, wide, columns[v]);
    }
  }
}

static Elem extractLane(Emission &e, const Elem &value, int64_t lane) {
  auto extract = [&](Value part) -> Value {
    return part ? vector::ExtractOp::create(e.b, e.loc, part, lane).getResult() : Value();
  };
  return Elem(extract(value.re), extract(value.im));
}

void multiplySteps(Emission &e, Multiply multiply, int64_t count, int64_t rows, int64_t vectors,
                   function_ref<Elem(int64_t)> row, function_ref<Elem(int64_t, int64_t)> column,
                   Sums &sums) {
  Sums steps;
  for (int64_t r = 0; r < rows; ++r) {
    steps.push_back(row(r));
  }
  for (int64_t j = 0; j < count; ++j) {
    multiplyStep(
        e, multiply, rows, vectors, [&](int64_t r) { return extractLane(e, steps[r], j); },
        [&](int64_t v) { return column(j, v); }, sums);
  }
}

void carrySums(Emission &e, Value lo, Value hi, int64_t step, Sums &sums,
               function_ref<void(Value, Sums &)> body) {
  const Sums like = sums;
  SmallVector<Value> values =
      emitForCarrying(e, lo, hi, step, flattenElems(sums), [&](Value i, ValueRange carried) {
        Sums inner = unflattenElems(carried, like);
        body(i, inner);
        return flattenElems(inner);
      });
  sums = unflattenElems(values, like);
}

void carryVectors(Emission &e, int64_t size, int64_t lanes, Sums &sums,
                  function_ref<void(Value, Value, Sums &)> body) {
  int64_t full = size / lanes * lanes;
  carrySums(e, constI64(e, 0), constI64(e, full), lanes, sums,
            [&](Value at, Sums &inner) { body(at, {}, inner); });
  if (full < size) {
    body(constI64(e, full), firstLanes(e, size - full, lanes), sums);
  }
}

void carryNest(Emission &e, ArrayRef<int64_t> sizes, Sums &sums,
               function_ref<void(ArrayRef<Index>, Value, Sums &)> body) {
  std::function<void(SmallVector<Index>, Value, Sums &)> nest = [&](SmallVector<Index> index,
                                                                    Value linear, Sums &outer) {
    if (index.size() == sizes.size()) {
      body(index, linear, outer);
      return;
    }
    int64_t size = sizes[index.size()];
    index.emplace_back();
    carrySums(e, constI64(e, 0), constI64(e, size), 1, outer, [&](Value i, Sums &inner) {
      index.back() = Index(i);
      nest(index, addI(e, mulI(e, linear, size), i), inner);
    });
  };
  nest({}, constI64(e, 0), sums);
}

Sums chooseSums(Emission &e, Value condition, const Sums &sums, function_ref<void(Sums &)> then,
                function_ref<void(Sums &)> otherwise) {
  SmallVector<Value> flat = flattenElems(sums);
  auto branch = scf::IfOp::create(e.b, e.loc, ValueRange(flat).getTypes(), condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  for (auto [block, body] :
       {std::pair(branch.thenBlock(), then), {branch.elseBlock(), otherwise}}) {
    e.b.setInsertionPointToStart(block);
    Sums inner = sums;
    body(inner);
    scf::YieldOp::create(e.b, e.loc, flattenElems(inner));
  }
  return unflattenElems(branch.getResults(), sums);
}

void addEarlier(Emission &e, Type element, Value isLater, Sums &sums,
                function_ref<Elem(int64_t)> load) {
  auto add = [&](Sums &inner) {
    for (auto [i, sum] : llvm::enumerate(inner)) {
      sum = addElems(e, element, load(i), sum);
    }
  };
  sums = chooseSums(e, isLater, sums, add, [](Sums &) {});
}

} // namespace hlo::codegen
