//===- SlowPath.cpp - Code that is called, not repeated -------------------===//
//
// Makes internal functions from their bodies, at the start of the module, each returning a
// struct, and loops that call them for each lane.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/elementwise/SlowPath.h"

using namespace mlir;

namespace hlo::codegen {

ModuleOp enclosingModule(Emission &e) {
  Operation *parent = e.b.getInsertionBlock()->getParentOp();
  auto module = dyn_cast<ModuleOp>(parent);
  return module ? module : parent->getParentOfType<ModuleOp>();
}

LLVM::LLVMFuncOp internalFunction(Emission &e, StringRef name, ArrayRef<Type> arguments,
                                  ArrayRef<Type> results,
                                  function_ref<SmallVector<Num>(ArrayRef<Num>)> body) {
  ModuleOp module = enclosingModule(e);
  if (auto existing = module.lookupSymbol<LLVM::LLVMFuncOp>(name)) {
    return existing;
  }
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(module.getBody());
  auto result = LLVM::LLVMStructType::getLiteral(e.b.getContext(), results);
  auto function = LLVM::LLVMFuncOp::create(
      e.b, e.loc, name, LLVM::LLVMFunctionType::get(result, arguments), LLVM::Linkage::Internal);
  function.setNoInline(true);
  e.b.setInsertionPointToStart(function.addEntryBlock(e.b));
  SmallVector<Num> parameters;
  for (Value argument : function.getArguments()) {
    parameters.push_back(Num(e, argument));
  }
  SmallVector<Num> values = body(parameters);
  Value packed = LLVM::UndefOp::create(e.b, e.loc, result);
  for (auto [i, value] : llvm::enumerate(values)) {
    packed = LLVM::InsertValueOp::create(e.b, e.loc, packed, value, ArrayRef<int64_t>{int64_t(i)});
  }
  LLVM::ReturnOp::create(e.b, e.loc, packed);
  return function;
}

SmallVector<Num> callOnce(Emission &e, LLVM::LLVMFuncOp function, ArrayRef<Num> arguments) {
  SmallVector<Value> operands(arguments.begin(), arguments.end());
  auto call = LLVM::CallOp::create(e.b, e.loc, function, operands);
  auto type = cast<LLVM::LLVMStructType>(call.getResult().getType());
  SmallVector<Num> parts;
  for (int64_t i = 0, count = type.getBody().size(); i < count; ++i) {
    parts.push_back(Num(e, LLVM::ExtractValueOp::create(e.b, e.loc, call.getResult(), i)));
  }
  return parts;
}

SmallVector<Num> callPerLane(LLVM::LLVMFuncOp function, ArrayRef<Num> arguments) {
  Emission &e = *arguments[0].e;
  int64_t lanes = arguments[0].lanes();
  if (lanes == 1) {
    return callOnce(e, function, arguments);
  }
  auto index = [&](int64_t i) -> Value { return arith::ConstantIndexOp::create(e.b, e.loc, i); };
  SmallVector<Value> init;
  auto results = cast<LLVM::LLVMStructType>(function.getFunctionType().getReturnType());
  for (Type type : results.getBody()) {
    auto zero = cast<TypedAttr>(e.b.getZeroAttr(laneType(type, lanes)));
    init.push_back(arith::ConstantOp::create(e.b, e.loc, zero));
  }
  auto loop = scf::ForOp::create(e.b, e.loc, index(0), index(lanes), index(1), init);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  OpFoldResult lane = loop.getInductionVar();
  SmallVector<Num> scalars;
  for (const Num &argument : arguments) {
    scalars.push_back(Num(e, vector::ExtractOp::create(e.b, e.loc, argument.v, lane)));
  }
  SmallVector<Value> next;
  for (auto [part, sum] : llvm::zip(callOnce(e, function, scalars), loop.getRegionIterArgs())) {
    next.push_back(vector::InsertOp::create(e.b, e.loc, part.v, sum, lane));
  }
  scf::YieldOp::create(e.b, e.loc, next);
  SmallVector<Num> values;
  for (Value result : loop.getResults()) {
    values.push_back(Num(e, result));
  }
  return values;
}

} // namespace hlo::codegen
