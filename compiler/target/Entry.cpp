//===- Entry.cpp - The planned program as LLVM IR -------------------------===//
//
// In: a cpurt.entry. Out: PREFIX_run_buffers, which executes the program, or PREFIX_prepare_buffers
// of the same form with hlo_rt_prepare_begin and _end:
//
//     frame on the stack; hlo_rt_begin; launches, copies, loops, branches; hlo_rt_end
//
// EntryLaunch.cpp builds launches and copies, EntryControl.cpp loops and branches. Only the
// addresses of the frame and the arena and the two tables of pointers live across calls, so entries
// of thousands of launches compile in linear time and need no optimization. The entry polls the
// caller's request to stop once per loop iteration, and every few dozen launches of straight-line
// code.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/EntryBuilder.h"
#include "runtime/abi/hlo/generated.h"

using namespace hlo;
using llvm::BasicBlock;

/// The caller's pointer to a leaf.
llvm::Value *EntryBuilder::leaf(bool isInput, int64_t index) {
  if (insideLoop) {
    return (isInput ? loopInputs : loopOutputs).lookup(index);
  }
  llvm::Value *table = function->getArg(isInput ? 1 : 2);
  return b.CreateLoad(pointer, b.CreateConstInBoundsGEP1_64(pointer, table, index));
}

llvm::Value *EntryBuilder::address(mlir::Value buffer) {
  mlir::Operation *op = buffer.getDefiningOp();
  if (auto input = mlir::dyn_cast<cpurt::InputOp>(op)) {
    return leaf(/*isInput=*/true, input.getIndex());
  }
  if (auto output = mlir::dyn_cast<cpurt::OutputOp>(op)) {
    llvm::Value *buffer = leaf(/*isInput=*/false, output.getIndex());
    uint64_t offset = output.getOffset().value_or(0);
    return offset ? b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), buffer, offset) : buffer;
  }
  if (auto slice = mlir::dyn_cast<cpurt::ArenaOp>(op)) {
    int64_t offset = slice.getOffset();
    for (auto [slot, variable] : loopVariables) {
      if (offset >= slot.offset && offset < slot.offset + slot.bytes) {
        return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), variable, offset - slot.offset);
      }
    }
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), arena, slice.getOffset());
  }
  if (auto slice = mlir::dyn_cast<cpurt::PreparedOp>(op)) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), prepared, slice.getOffset());
  }
  if (auto constant = mlir::dyn_cast<cpurt::ConstantOp>(op)) {
    std::string symbol = in.constants.lookup(constant.getGlobal());
    if (llvm::GlobalVariable *known = module.getNamedGlobal(symbol)) {
      return known;
    }
    auto *global =
        llvm::cast<llvm::GlobalVariable>(module.getOrInsertGlobal(symbol, b.getInt8Ty()));
    global->setVisibility(llvm::GlobalValue::HiddenVisibility);
    global->setDSOLocal(true);
    global->setConstant(true);
    return global;
  }
  op->emitError() << "internal error: " << op->getName() << " is no buffer";
  return nullptr;
}

/// The block to which code here branches to leave the program with an error. LLVM searches a PHI
/// for each predecessor, so code with many exits gets several such blocks.
BasicBlock *EntryBuilder::leaveWith(llvm::Value *error) {
  constexpr unsigned mostPlaces = 1024;
  if (!exit) {
    exit = status;
  }
  if (exit->getNumIncomingValues() >= mostPlaces) {
    BasicBlock *block = newBlock("leave");
    llvm::IRBuilder<> inside(block);
    exit = inside.CreatePHI(i32, 2);
    inside.CreateBr(end);
    status->addIncoming(exit, block);
  }
  exit->addIncoming(error, b.GetInsertBlock());
  return exit->getParent();
}

/// Leaves the program through `end` if the status is not 0.
void EntryBuilder::leaveIfError(llvm::Value *error) {
  BasicBlock *next = newBlock("");
  BasicBlock *leave = leaveWith(error);
  b.CreateCondBr(b.CreateIsNotNull(error), leave, next);
  b.SetInsertPoint(next);
}

/// Adds the time since the last such call to the row of this operation, if the caller wants a
/// profile.
void EntryBuilder::count(uint32_t operation, uint64_t bytes) {
  if (!profile) {
    return;
  }
  BasicBlock *add = newBlock("count"), *next = newBlock("");
  b.CreateCondBr(b.CreateIsNotNull(profile), add, next);
  b.SetInsertPoint(add);
  b.CreateCall(runtime("hlo_rt_count", {pointer, i32, i64}, b.getVoidTy()),
               {frame, b.getInt32(operation), b.getInt64(bytes)});
  b.CreateBr(next);
  b.SetInsertPoint(next);
}

/// Emits a call that asks the runtime whether to go on, if the caller may request a stop.
void EntryBuilder::poll() {
  BasicBlock *ask = newBlock("poll"), *next = newBlock("");
  b.CreateCondBr(b.CreateIsNotNull(watch), ask, next);
  b.SetInsertPoint(ask);
  llvm::Value *error = b.CreateCall(runtime("hlo_rt_poll", {pointer}), {frame});
  BasicBlock *leave = leaveWith(error);
  b.CreateCondBr(b.CreateIsNotNull(error), leave, next);
  b.SetInsertPoint(next);
  launchesSincePoll = 0;
}

mlir::LogicalResult EntryBuilder::emitBlock(mlir::Block &block) {
  for (mlir::Operation &op : block) {
    mlir::LogicalResult result = mlir::success();
    if (auto launch = mlir::dyn_cast<cpurt::LaunchOp>(op)) {
      result = emitLaunch(launch);
    } else if (auto copy = mlir::dyn_cast<cpurt::CopyOp>(op)) {
      emitCopy(copy);
    } else if (auto state = mlir::dyn_cast<cpurt::RandomStateOp>(op)) {
      emitRandomState(state);
    } else if (auto call = mlir::dyn_cast<cpurt::CallOp>(op)) {
      result = emitCall(call);
    } else if (auto loop = mlir::dyn_cast<cpurt::WhileOp>(op)) {
      result = emitWhile(loop);
    } else if (auto choice = mlir::dyn_cast<cpurt::CaseOp>(op)) {
      result = emitCase(choice);
    } else if (!mlir::isa<cpurt::InputOp, cpurt::OutputOp, cpurt::ArenaOp, cpurt::PreparedOp,
                          cpurt::ConstantOp>(op) &&
               !op.hasTrait<mlir::OpTrait::IsTerminator>()) {
      result = op.emitError("internal error: ") << op.getName() << " has no translation";
    }
    if (mlir::failed(result)) {
      return mlir::failure();
    }
  }
  return mlir::success();
}

mlir::LogicalResult EntryBuilder::build(cpurt::EntryOp entry) {
  bool prepares = entry.getPrepare();
  llvm::SmallVector<llvm::Type *> parameters(3, pointer);
  if (prepares) {
    parameters.push_back(i64);
  }
  auto *type = llvm::FunctionType::get(i32, parameters, false);
  // PREFIX_describe may have declared the function.
  llvm::StringRef suffix = prepares ? "_prepare_buffers" : "_run_buffers";
  function = llvm::cast<llvm::Function>(
      module.getOrInsertFunction((prefix + suffix).str(), type).getCallee());
  b.SetInsertPoint(newBlock(""));
  BasicBlock *refused = newBlock("refused"), *body = newBlock("body");
  end = BasicBlock::Create(context, "end");
  llvm::IRBuilder<> atEnd(end);
  status = atEnd.CreatePHI(i32, 2, "status");

  auto *storage =
      b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), HLO_FRAME_BYTES), nullptr, "frame");
  storage->setAlignment(llvm::Align(16));
  frame = storage;
  llvm::Value *description = module.getNamedValue((prefix + ".desc").str());
  llvm::SmallVector<llvm::Value *> given{function->getArg(0), description, function->getArg(1),
                                         function->getArg(2)};
  llvm::SmallVector<llvm::Type *> types(5, pointer);
  if (prepares) {
    given.push_back(function->getArg(3));
    types.insert(types.begin() + 4, i64);
  }
  given.push_back(frame);
  llvm::Value *error =
      b.CreateCall(runtime(prepares ? "hlo_rt_prepare_begin" : "hlo_rt_begin", types), given);
  b.CreateCondBr(b.CreateIsNotNull(error), refused, body);
  b.SetInsertPoint(refused);
  b.CreateRet(error);
  b.SetInsertPoint(body);
  arena = b.CreateLoad(
      pointer, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame, offsetof(hlo_frame, arena)));
  watch = b.CreateLoad(
      i32, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame, offsetof(hlo_frame, watch)));
  if (!prepares) {
    profile = b.CreateLoad(
        pointer, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame, offsetof(hlo_frame, profile)));
  }
  // Objects without a prepared block must work with runtimes that do not know prepared blocks.
  prepared = in.description.prepared.bytes
                 ? static_cast<llvm::Value *>(b.CreateLoad(
                       pointer, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame,
                                                             offsetof(hlo_frame, prepared))))
                 : llvm::ConstantPointerNull::get(b.getPtrTy());
  const ArenaSize &size = prepares ? in.description.prepared.arena : in.description.arena;
  if (size.tableAt) {
    arguments = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), arena, *size.tableAt);
  }
  if (size.threadBytes) {
    scratch = b.CreateLoad(
        pointer, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame, offsetof(hlo_frame, scratch)));
  }
  if (mlir::failed(emitBlock(entry.getBody().front()))) {
    delete end;
    return mlir::failure();
  }
  status->addIncoming(b.getInt32(0), b.GetInsertBlock());
  b.CreateBr(end);
  end->insertInto(function);
  b.SetInsertPoint(end);
  b.CreateRet(b.CreateCall(runtime(prepares ? "hlo_rt_prepare_end" : "hlo_rt_end", {pointer, i32}),
                           {frame, status}));
  if (auto *variable = llvm::dyn_cast_or_null<llvm::AllocaInst>(arguments)) {
    variable->setOperand(0, b.getInt32(argumentCount));
  }
  exportHashed(*function, in.signature);
  return mlir::success();
}

mlir::LogicalResult hlo::buildEntry(cpurt::EntryOp entry, const EntryContext &context,
                                    llvm::Module &module) {
  return EntryBuilder(context, module).build(entry);
}

mlir::LogicalResult hlo::buildLoop(cpurt::WhileOp loop, const EntryContext &context,
                                   llvm::Module &module) {
  return EntryBuilder(context, module).buildLoop(loop);
}
