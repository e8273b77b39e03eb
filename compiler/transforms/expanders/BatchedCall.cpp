//===- BatchedCall.cpp - Custom calls on each matrix of a batch -----------===//
//
// In: a custom call. Out: whether its target is a routine of LAPACK that works on each matrix of a
// batch alone, so that a batch of any size can be called with a part of it. runtime/lapack has the
// contracts.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/BatchedCall.h"
#include "compiler/analysis/Shapes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace hlo;

std::optional<BatchedCall> BatchedCall::get(CustomCallOp op) {
  BatchedCall call;
  StringRef target = op.getCustomCallTarget();
  if (target == "tridiagonal_solve_perturbed_ffi") {
    call.routine = target;
    call.inner = 1;
  } else if (target.consume_front("lapack_") && target.consume_back("_ffi") && !target.empty()) {
    call.routine = target.drop_front();
    call.inner = llvm::StringSwitch<int64_t>(call.routine)
                     .Cases({"potrf", "getrf", "trsm", "geqrf", "geqp3"}, 2)
                     .Cases({"orgqr", "ungqr", "ormqr", "unmqr"}, 2)
                     .Cases({"gesdd", "gesvd", "syevd", "heevd"}, 2)
                     .Cases({"geev", "gees", "gehrd", "sytrd", "hetrd"}, 2)
                     .Case("gtsv", 1)
                     .Default(0);
  }
  RankedTensorType first = op.getNumOperands() ? arrayType(op.getOperand(0)) : RankedTensorType();
  if (!call.inner || !first || first.getRank() < call.inner ||
      (call.routine == "trsm" && op.getNumOperands() != 2)) {
    return std::nullopt;
  }
  call.batch = first.getRank() - call.inner;
  ArrayRef<int64_t> batch = first.getShape().take_front(call.batch);
  auto fits = [&](Value value) {
    RankedTensorType type = arrayType(value);
    return type && type.getRank() >= call.batch && type.getShape().take_front(call.batch) == batch;
  };
  if (!llvm::all_of(op->getOperands(), fits) || !llvm::all_of(op->getResults(), fits)) {
    return std::nullopt;
  }
  auto config = op->getAttrOfType<StringAttr>("hlo.backend_config");
  call.left = config && config.getValue().contains("side = 76 "); // the letter L
  return call;
}

/// The type with the arrays in it replaced, in order.
static Type replaced(Type type, llvm::function_ref<Type(Type)> change) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    return TupleType::get(type.getContext(),
                          llvm::map_to_vector(tuple.getTypes(), [&](Type element) {
                            return replaced(element, change);
                          }));
  }
  return change(type);
}

void hlo::changeCallTypes(
    CustomCallOp op, llvm::function_ref<Type(Type type, bool isResult, unsigned number)> change) {
  for (StringRef name : {"operand_layout_constraints", "operand_types", "operand_leaves",
                         "result_types", "result_leaves"}) {
    auto types = op->getAttrOfType<ArrayAttr>(name);
    if (!types) {
      continue;
    }
    bool isResult = name.starts_with("result");
    unsigned number = 0, count = isResult ? op->getNumResults() : op->getNumOperands();
    SmallVector<Attribute> changed;
    for (Attribute type : types) {
      changed.push_back(
          TypeAttr::get(replaced(cast<TypeAttr>(type).getValue(), [&](Type array) -> Type {
            return number < count && isa<RankedTensorType>(array)
                       ? change(array, isResult, number++)
                       : array;
          })));
    }
    op->setAttr(name, ArrayAttr::get(op.getContext(), changed));
  }
}
