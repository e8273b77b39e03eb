//===- Epilogue.cpp - The ops after the hero, and the stores --------------===//
//
// Given the hero's value at an index, in the type of accumulation: evaluates all roots
// of the fusion at that index and stores them. A root may also be a reshape or bitcast
// of such a value: row-major order is the same, so the store's address is too.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Epilogue.h"
#include "compiler/codegen/Elementwise.h"
#include "compiler/codegen/elementwise/Quantize.h"

using namespace mlir;

namespace hlo::codegen {

FailureOr<Epilogue> Epilogue::create(KernelBuilder &kernel, Operation *hero) {
  Epilogue epilogue(kernel, hero);
  for (Value root : kernel.body().getTerminator()->getOperands()) {
    Value inner = root;
    while (Operation *op = inner.getDefiningOp()) {
      if (op == hero || !isa<ReshapeOp, BitcastOp, CopyOp>(op) ||
          elementType(op->getOperand(0).getType()) != elementType(inner.getType())) {
        break;
      }
      if (shapeOf(inner) == shapeOf(hero->getResult(0)) && !isa<CopyOp>(op)) {
        break;
      }
      inner = op->getOperand(0);
    }
    if (shapeOf(inner) != shapeOf(hero->getResult(0))) {
      kernel.fusion.emitOpError() << "root '" << inner.getType()
                                  << "' does not have the shape of its "
                                  << hero->getName().stripDialect() << " '"
                                  << hero->getResult(0).getType() << "'";
      return failure();
    }
    epilogue.roots.push_back(inner);
  }
  return epilogue;
}

/// Stores lanes that are two to kMostApart elements apart as vectors, whose mask leaves the
/// elements between them unchanged. Returns false, and emits nothing, if the machine has no masked
/// stores or the lanes have another stride. An input gradient with stride 2, whose phases are
/// stored one by one, needs it: stores lane by lane take as long as its arithmetic.
static bool storeApart(Emission &e, Type element, const Elem &elem, Value base, const Index &linear,
                       int64_t lanes, Value mask) {
  int64_t stride = linear.stride;
  if (!e.machine.vectors.hasPredicates() || linear.lanes || stride < 2 || stride > kMostApart ||
      elem.im) {
    return false;
  }
  SmallVector<int64_t> order;
  SmallVector<bool> on;
  for (int64_t l = 0; l < lanes * stride; ++l) {
    order.push_back(l / stride);
    on.push_back(l % stride == 0);
  }
  auto bits = VectorType::get({lanes * stride}, e.b.getI1Type());
  auto apart = [&](Value v) -> Value { return vector::ShuffleOp::create(e.b, e.loc, v, v, order); };
  Value places =
      arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(bits, ArrayRef<bool>(on)));
  storeElements(e, element, Elem(apart(elem.re)), base, linear.base,
                mask ? andMask(e, apart(mask), places) : places);
  return true;
}

Elem Epilogue::heroValue(Type from, const Elem &value) {
  if (from == heroElement()) {
    return value;
  }
  return sumsIntegersAsF32(from) ? exactInteger(kernel->e, heroElement(), value)
                                 : emitConvert(kernel->e, from, heroElement(), value);
}

void Epilogue::store(Type from, const Elem &value, ArrayRef<Index> index, int64_t lanes,
                     Value mask) {
  Emission &e = kernel->e;
  Value result = hero->getResult(0);
  Index linear = linearIndex(e, index, rowMajorStrides(shapeOf(result)), lanes);
  ElementEmitter emitter(*kernel, lanes);
  // Sums that the roots may take as they are, are rounded once, by the store.
  bool isWide = from.isF32() && readersTakeWide(hero);
  emitter.bind(result, isWide ? value : heroValue(from, value));
  if (sumsIntegersAsF32(from) && heroElement().isSignedInteger() &&
      heroElement().getIntOrFloatBitWidth() >= 32) {
    // No sum wraps around in the hero's type: back in f32 it is the same number.
    for (Operation *user : result.getUsers()) {
      if (isa<ConvertOp>(user) && elementType(user->getResult(0).getType()) == from) {
        emitter.bind(user->getResult(0), value);
      }
    }
  }
  SmallVector<Elem> elems;
  for (Value root : roots) {
    elems.push_back(emitter.emit(root, index, mask));
  }
  for (auto [number, elem] : llvm::enumerate(elems)) {
    Type element = elementType(roots[number].getType());
    elem = roundedForStore(e, element, elem);
    Value base = kernel->resultPtrs[number];
    if (lanes <= 1 || (!linear.lanes && linear.stride == 1)) {
      storeElements(e, element, elem, base, linear.base, mask);
      continue;
    }
    if (storeApart(e, element, elem, base, linear, lanes, mask)) {
      continue;
    }
    // Lanes that are not contiguous in memory: one store each.
    Value at = linear.lanes;
    for (int64_t l = 0; l < lanes; ++l) {
      auto lane = [&](Value v) -> Value {
        return v ? vector::ExtractOp::create(e.b, e.loc, v, l).getResult() : v;
      };
      storeElements(e, element, Elem(lane(elem.re), lane(elem.im)), base,
                    at ? lane(at) : addI(e, linear.base, l * linear.stride), lane(mask));
    }
  }
}

void Epilogue::storeAt(Type from, const Elem &value, Value linear, Value mask) {
  Emission &e = kernel->e;
  storeElements(e, heroElement(), heroValue(from, value), kernel->resultPtrs[0], linear, mask);
}

Value Epilogue::addressAt(Value linear) {
  return addBytes(kernel->e, kernel->resultPtrs[0],
                  mulI(kernel->e, linear, storageBytes(heroElement())));
}

Elem Epilogue::loadAt(Value linear, int64_t lanes, Value mask) {
  return loadElements(kernel->e, heroElement(), kernel->resultPtrs[0], linear, lanes, mask);
}

} // namespace hlo::codegen
