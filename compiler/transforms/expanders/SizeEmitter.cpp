//===- SizeEmitter.cpp - Sizes as expressions, computed by ops ------------===//
//
//   2*b*s + floordiv(b + 1, 2)  ->  add(multiply(multiply(2, b), s), select(r < 0, q - 1, q))
//                                   with q, r the quotient and the remainder of b + 1 and 2
//
// Quotients and remainders are rounded down; divisors are above 0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/SizeEmitter.h"
#include "compiler/analysis/evaluator/Evaluator.h"

using namespace mlir;
using namespace hlo;

Value SizeEmitter::emit(const SizeExpr &expr) {
  Value sum;
  for (const SizeExpr::Term &term : expr.terms()) {
    Value product = b.index(term.coefficient);
    for (const SizeExpr::AtomRef &atom : term.factors) {
      Value factor = emitAtom(*atom);
      if (!factor) {
        return Value();
      }
      product = constantInteger(product) == 1 ? factor : b.mul(product, factor);
    }
    sum = sum ? b.add(sum, product) : product;
  }
  return sum ? sum : b.index(0);
}

Value SizeEmitter::emitAtom(const SizeExpr::Atom &atom) {
  using Kind = SizeExpr::Kind;
  if (atom.kind == Kind::Symbol) {
    return symbols.lookup(atom.name);
  }
  Value x = emit(atom.a), y = emit(atom.b);
  if (!x || !y) {
    return Value();
  }
  if (atom.kind == Kind::Max || atom.kind == Kind::Min) {
    return atom.kind == Kind::Max ? b.binary<MaximumOp>(x, y) : b.binary<MinimumOp>(x, y);
  }
  Value quotient = b.div(x, y), rest = b.binary<RemainderOp>(x, y);
  Value below = b.compare(rest, b.index(0), "LT");
  return atom.kind == Kind::Mod ? b.select(below, b.add(rest, y), rest)
                                : b.select(below, b.sub(quotient, b.index(1)), quotient);
}
