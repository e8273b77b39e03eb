//===- EntryControl.cpp - Loops and branches of an entry -----------------===//
//
// In: cpurt.while and cpurt.case. Out: basic blocks; a counted loop if the trip count is known.
// Small loops become functions that the entry calls: their slices of the arena are local variables,
// and their kernels are inlined.
//
//===----------------------------------------------------------------------===//
#include "compiler/support/Stack.h"
#include "compiler/target/entry/EntryBuilder.h"

using namespace hlo;
using llvm::BasicBlock;

/// Blocks: header (poll, condition) -> body or exit; body -> header.
mlir::LogicalResult EntryBuilder::emitWhile(cpurt::WhileOp loop) {
  if (auto known = in.loops.find(loop); known != in.loops.end() && !insideLoop) {
    callLoop(known->second);
    if (auto row = in.operations.others.find(loop); row != in.operations.others.end()) {
      count(row->second, 0);
    }
    return mlir::success();
  }
  if (std::optional<uint64_t> count = loop.getTripCount()) {
    return emitCountedLoop(loop, *count);
  }
  BasicBlock *header = newBlock("while");
  b.CreateBr(header);
  b.SetInsertPoint(header);
  poll();
  if (mlir::failed(emitBlock(loop.getCondition().front()))) {
    return mlir::failure();
  }
  auto condition = mlir::cast<cpurt::ConditionOp>(loop.getCondition().front().back());
  llvm::Value *go = b.CreateLoad(b.getInt8Ty(), address(condition.getPred()));
  BasicBlock *body = newBlock("do"), *exit = newBlock("done");
  b.CreateCondBr(b.CreateIsNotNull(go), body, exit);
  b.SetInsertPoint(body);
  if (mlir::failed(emitBlock(loop.getBody().front()))) {
    return mlir::failure();
  }
  b.CreateBr(header);
  b.SetInsertPoint(exit);
  launchesSincePoll = 0;
  return mlir::success();
}

/// Emits a loop with a known trip count: a counter replaces the condition.
mlir::LogicalResult EntryBuilder::emitCountedLoop(cpurt::WhileOp loop, int64_t count) {
  if (count <= 0) {
    return mlir::success();
  }
  BasicBlock *before = b.GetInsertBlock(), *header = newBlock("for");
  b.CreateBr(header);
  b.SetInsertPoint(header);
  llvm::PHINode *counter = b.CreatePHI(i64, 2);
  counter->addIncoming(b.getInt64(count), before);
  poll();
  if (mlir::failed(emitBlock(loop.getBody().front()))) {
    return mlir::failure();
  }
  llvm::Value *left = b.CreateSub(counter, b.getInt64(1));
  counter->addIncoming(left, b.GetInsertBlock());
  BasicBlock *exit = newBlock("done");
  b.CreateCondBr(b.CreateIsNotNull(left), header, exit);
  b.SetInsertPoint(exit);
  launchesSincePoll = 0;
  return mlir::success();
}

mlir::LogicalResult EntryBuilder::emitCase(cpurt::CaseOp op) {
  bool predicated = op.getPredicated();
  llvm::Value *selector = b.CreateLoad(predicated ? b.getInt8Ty() : i32, address(op.getSelector()));
  unsigned count = op.getBranches().size();
  BasicBlock *head = b.GetInsertBlock(), *join = newBlock("join");
  llvm::SmallVector<BasicBlock *> starts;
  for (mlir::Region &branch : op.getBranches()) {
    starts.push_back(newBlock("branch"));
    b.SetInsertPoint(starts.back());
    if (mlir::failed(emitBlock(branch.front()))) {
      return mlir::failure();
    }
    b.CreateBr(join);
  }
  b.SetInsertPoint(head);
  if (predicated) {
    b.CreateCondBr(b.CreateIsNotNull(selector), starts[0], starts[1]);
  } else {
    llvm::SwitchInst *choice = b.CreateSwitch(selector, starts.back(), count - 1);
    for (unsigned i = 0; i + 1 < count; ++i) {
      choice->addCase(b.getInt32(i), starts[i]);
    }
  }
  b.SetInsertPoint(join);
  return mlir::success();
}

/// Calls i32 LOOP(ptr frame, i32 watch, ptr arena, ptr prepared, ptr input..., ptr output...), with
/// `ptr scratch` last if its variables are large.
void EntryBuilder::callLoop(const SmallLoop &loop) {
  llvm::SmallVector<llvm::Value *> values{frame, watch, arena, prepared};
  for (int64_t input : loop.inputs) {
    values.push_back(leaf(/*isInput=*/true, input));
  }
  for (int64_t output : loop.outputs) {
    values.push_back(leaf(/*isInput=*/false, output));
  }
  if (loop.scratchBytes) {
    values.push_back(scratch);
  }
  llvm::SmallVector<llvm::Type *> parameters;
  for (llvm::Value *value : values) {
    parameters.push_back(value->getType());
  }
  llvm::FunctionCallee callee = runtime(loop.symbol, parameters);
  auto *target = llvm::cast<llvm::Function>(callee.getCallee());
  target->setVisibility(llvm::GlobalValue::HiddenVisibility);
  leaveIfError(b.CreateCall(callee, values));
}

/// Makes a variable for each arena range of the loop, initialized from the arena.
void EntryBuilder::makeLoopVariables(cpurt::WhileOp loop) {
  int64_t line = in.description.arenaAlign;
  for (const LoopSlot &slot : in.loops.find(loop)->second.slots) {
    auto *type = llvm::ArrayType::get(b.getInt8Ty(), llvm::alignTo(slot.bytes, line));
    llvm::AllocaInst *variable = b.CreateAlloca(type);
    variable->setAlignment(llvm::Align(line));
    loopVariables.push_back({slot, variable});
  }
  copyLoopVariables(/*fromArena=*/true);
}

/// Copies the variables that code outside of the loop also uses, from or to the arena.
void EntryBuilder::copyLoopVariables(bool fromArena) {
  for (auto [slot, variable] : loopVariables) {
    if (slot.usedOutside) {
      llvm::Value *there = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), arena, slot.offset);
      llvm::Align start(in.description.arenaAlign);
      llvm::Align align = llvm::commonAlignment(start, slot.offset);
      b.CreateMemCpy(fromArena ? variable : there, align, fromArena ? there : variable, align,
                     slot.bytes);
    }
  }
}

mlir::LogicalResult EntryBuilder::buildLoop(cpurt::WhileOp loop) {
  const SmallLoop &small = in.loops.find(loop)->second;
  insideLoop = true;
  unsigned leaves = small.inputs.size() + small.outputs.size();
  llvm::SmallVector<llvm::Type *> parameters{pointer, i32, pointer, pointer};
  parameters.append(leaves + (small.scratchBytes != 0), pointer);
  // With text output, the module may already contain the function.
  function = llvm::cast<llvm::Function>(
      module.getOrInsertFunction(small.symbol, llvm::FunctionType::get(i32, parameters, false))
          .getCallee());
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  b.SetInsertPoint(newBlock(""));
  frame = function->getArg(0);
  watch = function->getArg(1);
  arena = function->getArg(2);
  prepared = function->getArg(3);
  // These attributes let LLVM keep the loop's carries in registers. A leaf that may share its
  // buffer with another leaf gets none.
  auto promise = [&](unsigned argument, uint64_t bytes, uint64_t align, bool writable) {
    function->addParamAttr(argument, llvm::Attribute::NoAlias);
    function->addParamAttr(argument,
                           llvm::Attribute::getWithAlignment(context, llvm::Align(align)));
    function->addDereferenceableParamAttr(argument, bytes);
    if (writable) {
      function->addParamAttr(argument, llvm::Attribute::Writable);
    }
  };
  promise(2, in.description.arena.bytes, in.description.arenaAlign, /*writable=*/true);
  if (uint64_t bytes = in.description.prepared.bytes) {
    promise(3, bytes, /*align=*/64, /*writable=*/false);
  }
  unsigned argument = 4;
  for (int64_t input : small.inputs) {
    const Leaf &leaf = in.signature.inputs[input];
    if (leaf.alias < 0) {
      promise(argument, leaf.bytes, leaf.align, /*writable=*/false);
    }
    loopInputs[input] = function->getArg(argument++);
  }
  for (int64_t output : small.outputs) {
    const Leaf &leaf = in.signature.outputs[output];
    if (leaf.alias < 0) {
      promise(argument, leaf.bytes, leaf.align, /*writable=*/true);
    }
    loopOutputs[output] = function->getArg(argument++);
  }
  if (small.scratchBytes) {
    promise(argument, small.scratchBytes, /*align=*/64, /*writable=*/true);
    function->addFnAttr(kScratchBytes, std::to_string(small.scratchBytes));
  }
  end = BasicBlock::Create(context, "end");
  llvm::IRBuilder<> atEnd(end);
  status = atEnd.CreatePHI(i32, 2, "status");
  makeLoopVariables(loop);
  mlir::LogicalResult result = emitWhile(loop);
  status->addIncoming(b.getInt32(0), b.GetInsertBlock());
  b.CreateBr(end);
  end->insertInto(function);
  b.SetInsertPoint(end);
  copyLoopVariables(/*fromArena=*/false);
  b.CreateRet(status);
  return result;
}
