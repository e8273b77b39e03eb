//===- Canonical.cpp - Keys alone, where several elements have one key ----===//
//
// A sort of keys alone reconstructs each element from its key. If the comparator replaces elements
// by constants (-0 by 0, every NaN by one NaN), the reconstruction may differ from the original.
// So:
//
//   noteSpecial      while keys are made: does any element differ from its reconstruction?
//   restoreSpecial   if so, scan the row again and write the elements whose keys are such
//                    constants, in their order, from the place where that key begins in the
//                    result
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/sort/SortEmission.h"

using namespace mlir;

namespace hlo::codegen {

void SortEmission::prepareSpecial() {
  if (!plan.keysOnly || plan.keys[0].isInjective()) {
    return;
  }
  Type bits = e.b.getIntegerType(8 * storageBytes(plan.keys[0].element));
  auto pointer = LLVM::LLVMPointerType::get(e.b.getContext());
  for (int64_t lanes : {int64_t(1), vectorLanes, plan.lanes}) {
    Type type = laneType(bits, lanes);
    if (llvm::none_of(notes, [&](auto &note) { return note.first == type; })) {
      notes.push_back(
          {type, LLVM::AllocaOp::create(e.b, e.loc, pointer, type, constI64(e, 1), 64)});
    }
  }
}

void SortEmission::clearSpecial() {
  for (auto &[type, slot] : notes) {
    Value zero = arith::ConstantOp::create(e.b, e.loc, cast<TypedAttr>(e.b.getZeroAttr(type)));
    LLVM::StoreOp::create(e.b, e.loc, zero, slot);
  }
}

void SortEmission::noteSpecial(const RowPosition &at, ArrayRef<Num> record) {
  if (notes.empty()) {
    return;
  }
  Num raw = rawAt(0, at), back = rawOfKey(plan.keys[0], keyOfRecord(0, record));
  for (auto &[type, slot] : notes) {
    if (type == raw.type()) {
      Num seen(e, LLVM::LoadOp::create(e.b, e.loc, type, slot));
      LLVM::StoreOp::create(e.b, e.loc, seen | (raw ^ back), slot);
    }
  }
}

Value SortEmission::anySpecial() {
  Value any;
  for (auto &[type, slot] : notes) {
    Num seen(e, LLVM::LoadOp::create(e.b, e.loc, type, slot));
    Value here = anyLane(notEqual(seen, 0));
    any = any ? e.b.createOrFold<arith::OrIOp>(e.loc, any, here) : here;
  }
  return any;
}

void SortEmission::restoreSpecial(const RowPosition &row) {
  const SortKey &key = plan.keys[0];
  SmallVector<Num> classes;
  for (DenseElementsAttr literal : key.constants) {
    classes.push_back(orderedKey(key, literalElement(e, literal, 0)));
  }
  if (isa<FloatType>(key.element) && !key.total) {
    classes.push_back(orderedKey(key, zeroElem(e, key.element)));
  }
  auto at = [&](Value i) {
    RowPosition position = row;
    position.i = Index(i);
    return position;
  };
  Value zero = constI64(e, 0), length = constI64(e, plan.n);
  // Start of each class in the result: behind the elements of smaller keys.
  SmallVector<Value> begins(classes.size(), zero);
  begins = emitForCarrying(e, zero, length, 1, begins, [&](Value i, ValueRange counts) {
    Num own = keyAt(0, at(i));
    SmallVector<Value> next;
    for (auto [smallest, count] : llvm::zip(classes, counts)) {
      next.push_back(Num(e, count) + zextTo(below(own, smallest), e.b.getI64Type()));
    }
    return next;
  });
  emitForCarrying(e, zero, length, 1, begins, [&](Value i, ValueRange places) {
    Num own = keyAt(0, at(i));
    SmallVector<Value> next;
    for (auto [member, place] : llvm::zip(classes, places)) {
      Num is = equal(own, member);
      emitIf(e, is, [&] { storeRaw(at(place), rawAt(0, at(i))); });
      next.push_back(Num(e, place) + zextTo(is, e.b.getI64Type()));
    }
    return next;
  });
}

} // namespace hlo::codegen
