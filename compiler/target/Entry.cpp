//===- Entry.cpp - The planned program as LLVM IR -------------------------===//
//
// In: a cpurt.entry. Out: PREFIX_run_buffers, the function of an object that does the
// work (and PREFIX_prepare_buffers of the same form, with hlo_rt_prepare_begin and _end):
//
//     frame on the stack; hlo_rt_begin; launches, copies, loops, branches; hlo_rt_end
//
// A kernel of one task is a direct call; one of several tasks goes to
// hlo_rt_parallel_for as a small function that unpacks its buffers from an array on the
// stack (one array serves all launches); one with barriers is a call for each stage. What the runtime executes is a call with a static
// description and the same array (RuntimeCall.cpp). Nothing but the frame's address, the arena's and
// the two tables of pointers lives across calls, so that entries of thousands of launches
// compile in linear time and need no optimization. The caller's wish to stop is looked
// at once per iteration of a loop, and every few dozen launches of straight code.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/Entry.h"
#include "compiler/target/LoopMemory.h"
#include "compiler/target/RuntimeCall.h"
#include "runtime/abi/hlo/generated.h"
#include "llvm/IR/IRBuilder.h"

using namespace hlo;
using llvm::BasicBlock;

/// Launches between two looks at the caller's wish to stop.
static constexpr unsigned launchesPerPoll = 64;
/// Larger copies are tasks of so many bytes.
static constexpr int64_t leastParallelCopy = 1 << 20, bytesPerCopyTask = 256 << 10;

namespace {
class EntryBuilder {
public:
  EntryBuilder(const EntryContext &in, llvm::Module &module)
      : in(in), prefix(in.signature.prefix), module(module), context(module.getContext()),
        b(context), pointer(b.getPtrTy()), i32(b.getInt32Ty()), i64(b.getInt64Ty()) {}

  mlir::LogicalResult build(cpurt::EntryOp entry);
  mlir::LogicalResult buildLoop(cpurt::WhileOp loop);

private:
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitLaunch(cpurt::LaunchOp launch);
  void emitCopy(cpurt::CopyOp copy);
  mlir::LogicalResult emitCall(cpurt::CallOp call);
  mlir::LogicalResult storeArguments(mlir::ValueRange buffers);
  void emitRandomState(cpurt::RandomStateOp op);
  void callLoop(const SmallLoop &loop);
  mlir::LogicalResult emitWhile(cpurt::WhileOp loop);
  mlir::LogicalResult emitCountedLoop(cpurt::WhileOp loop, int64_t count);
  mlir::LogicalResult emitCase(cpurt::CaseOp op);
  void makeLoopVariables(cpurt::WhileOp loop);
  void copyLoopVariables(bool fromArena);
  llvm::Value *address(mlir::Value buffer);
  llvm::Value *leaf(bool isInput, int64_t index);
  llvm::FunctionType *kernelType(unsigned buffers);
  llvm::Function *taskFunction(unsigned buffers, bool staged);
  llvm::Function *copyFunction();
  void reserveArguments(unsigned count);
  /// Puts a value into the array on the stack, in which room is made.
  void passArgument(unsigned number, llvm::Value *value) {
    b.CreateStore(value, b.CreateConstInBoundsGEP1_64(pointer, arguments, number));
  }
  void parallelFor(llvm::Function *task, int64_t tasks);
  llvm::Function *kernelFunction(llvm::StringRef symbol, unsigned buffers);
  llvm::FunctionCallee runtime(llvm::StringRef name, llvm::ArrayRef<llvm::Type *> parameters,
                               llvm::Type *result = nullptr) {
    auto *type = llvm::FunctionType::get(result ? result : i32, parameters, false);
    return module.getOrInsertFunction(name, type);
  }
  BasicBlock *newBlock(llvm::StringRef name) { return BasicBlock::Create(context, name, function); }
  void leaveIfError(llvm::Value *status);
  void poll();

  const EntryContext &in;
  llvm::StringRef prefix;
  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::IRBuilder<> b;
  llvm::Type *pointer, *i32, *i64;

  llvm::Function *function = nullptr;
  bool insideLoop = false; ///< the function is a small loop's
  llvm::DenseMap<int64_t, llvm::Value *> loopInputs, loopOutputs; ///< its parameters
  llvm::SmallVector<std::pair<LoopSlot, llvm::Value *>> loopVariables; ///< instead of the arena
  llvm::Value *frame = nullptr, *arena = nullptr, *prepared = nullptr, *watch = nullptr;
  llvm::AllocaInst *arguments = nullptr; ///< of parallel launches; made at the first one
  unsigned argumentCount = 0;
  BasicBlock *end = nullptr;
  llvm::PHINode *status = nullptr; ///< in `end`
  unsigned launchesSincePoll = 0;
};
} // namespace

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
    auto *global = llvm::cast<llvm::GlobalVariable>(
        module.getOrInsertGlobal(symbol, b.getInt8Ty()));
    global->setVisibility(llvm::GlobalValue::HiddenVisibility);
    global->setDSOLocal(true);
    global->setConstant(true);
    return global;
  }
  op->emitError() << "internal error: " << op->getName() << " is no buffer";
  return nullptr;
}

/// Leaves the program through `end` if the status is not 0.
void EntryBuilder::leaveIfError(llvm::Value *error) {
  BasicBlock *next = newBlock("");
  status->addIncoming(error, b.GetInsertBlock());
  b.CreateCondBr(b.CreateIsNotNull(error), end, next);
  b.SetInsertPoint(next);
}

/// Asks the runtime whether to go on, if the caller could ever want to stop.
void EntryBuilder::poll() {
  BasicBlock *ask = newBlock("poll"), *next = newBlock("");
  b.CreateCondBr(b.CreateIsNotNull(watch), ask, next);
  b.SetInsertPoint(ask);
  llvm::Value *error = b.CreateCall(runtime("hlo_rt_poll", {pointer}), {frame});
  status->addIncoming(error, ask);
  b.CreateCondBr(b.CreateIsNotNull(error), end, next);
  b.SetInsertPoint(next);
  launchesSincePoll = 0;
}

llvm::FunctionType *EntryBuilder::kernelType(unsigned buffers) {
  llvm::SmallVector<llvm::Type *> parameters(buffers, pointer);
  parameters.append(2, i64);
  return llvm::FunctionType::get(b.getVoidTy(), parameters, false);
}

llvm::Function *EntryBuilder::kernelFunction(llvm::StringRef symbol, unsigned buffers) {
  if (llvm::Function *known = module.getFunction(symbol)) {
    return known;
  }
  auto *kernel = llvm::Function::Create(kernelType(buffers), llvm::GlobalValue::ExternalLinkage,
                                        symbol, module);
  kernel->setVisibility(llvm::GlobalValue::HiddenVisibility);
  kernel->setDSOLocal(true);
  return kernel;
}

/// `void task.N(ptr args, i64 first, i64 last)`: the kernel args[N] on the buffers in front of it; `staged`: tasks are
/// counted from the number behind it. One for all kernels of so many buffers: each function takes a tenth of a
/// millisecond to compile, however short.
llvm::Function *EntryBuilder::taskFunction(unsigned buffers, bool staged) {
  std::string name = (staged ? "stage." : "task.") + std::to_string(buffers);
  if (llvm::Function *known = module.getFunction(name)) {
    return known;
  }
  auto *type = llvm::FunctionType::get(b.getVoidTy(), {pointer, i64, i64}, false);
  auto *task = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  llvm::IRBuilder<> inside(BasicBlock::Create(context, "", task));
  auto argument = [&](unsigned i, llvm::Type *of) {
    return inside.CreateLoad(of, inside.CreateConstInBoundsGEP1_64(pointer, task->getArg(0), i));
  };
  llvm::SmallVector<llvm::Value *> values;
  for (unsigned i = 0; i < buffers; ++i) {
    values.push_back(argument(i, pointer));
  }
  llvm::Value *kernel = argument(buffers, pointer);
  llvm::Value *first = task->getArg(1), *last = task->getArg(2);
  if (staged) {
    llvm::Value *begin = argument(buffers + 1, i64);
    first = inside.CreateAdd(first, begin);
    last = inside.CreateAdd(last, begin);
  }
  values.append({first, last});
  inside.CreateCall(kernelType(buffers), kernel, values)->setTailCall();
  inside.CreateRetVoid();
  return task;
}

mlir::LogicalResult EntryBuilder::emitLaunch(cpurt::LaunchOp launch) {
  auto known = in.kernels.find(launch.getKernel());
  if (known == in.kernels.end()) {
    return launch.emitError("internal error: kernel ") << launch.getKernel() << " was not emitted";
  }
  const KernelInfo &info = known->second;
  if (info.tasks == 0) {
    return mlir::success();
  }
  if (++launchesSincePoll > launchesPerPoll) {
    poll();
  }
  unsigned buffers = launch.getBuffers().size();
  llvm::SmallVector<llvm::Value *> values;
  for (mlir::Value buffer : launch.getBuffers()) {
    values.push_back(address(buffer));
    if (!values.back()) {
      return mlir::failure();
    }
  }
  llvm::Function *kernel = kernelFunction(info.symbol, buffers);
  if (info.tasks == 1) {
    values.append({b.getInt64(0), b.getInt64(1)});
    llvm::CallInst *call = b.CreateCall(kernel, values);
    if (insideLoop) {
      call->addFnAttr(llvm::Attribute::AlwaysInline);
    }
    return mlir::success();
  }
  bool staged = !info.barriers.empty();
  reserveArguments(buffers + 1 + staged);
  for (auto [i, value] : llvm::enumerate(values)) {
    passArgument(i, value);
  }
  passArgument(buffers, kernel);
  llvm::SmallVector<int64_t> ends(info.barriers.begin(), info.barriers.end());
  ends.push_back(info.tasks);
  int64_t begin = 0;
  for (int64_t end : ends) {
    if (staged && end - begin == 1) {
      llvm::SmallVector<llvm::Value *> direct(values);
      direct.append({b.getInt64(begin), b.getInt64(end)});
      b.CreateCall(kernel, direct);
      begin = end;
      continue;
    }
    if (staged) {
      passArgument(buffers + 1, b.getInt64(begin));
    }
    parallelFor(taskFunction(buffers, staged), end - begin);
    begin = end;
  }
  return mlir::success();
}

/// Makes room for `count` of them in the array on the stack that parallel launches, large copies and the runtime's
/// operations get.
void EntryBuilder::reserveArguments(unsigned count) {
  if (!arguments) {
    llvm::IRBuilder<> top(&function->getEntryBlock(), function->getEntryBlock().begin());
    arguments = top.CreateAlloca(pointer, top.getInt32(1), "arguments");
  }
  argumentCount = std::max(argumentCount, count);
}

/// Has the tasks done by the caller's threads, with the arguments on the stack.
void EntryBuilder::parallelFor(llvm::Function *task, int64_t tasks) {
  leaveIfError(b.CreateCall(runtime("hlo_rt_parallel_for", {pointer, pointer, pointer, i64}),
                            {frame, task, arguments, b.getInt64(tasks)}));
}

mlir::LogicalResult EntryBuilder::storeArguments(mlir::ValueRange buffers) {
  reserveArguments(buffers.size());
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    llvm::Value *value = address(buffer);
    if (!value) {
      return mlir::failure();
    }
    passArgument(i, value);
  }
  return mlir::success();
}

mlir::LogicalResult EntryBuilder::emitCall(cpurt::CallOp call) {
  StaticData data(module);
  auto kernel = [&](llvm::StringRef name) -> llvm::Constant * {
    auto known = in.kernels.find(name);
    // Two operands and a result.
    return known == in.kernels.end() ? nullptr : kernelFunction(known->second.symbol, 3);
  };
  mlir::FailureOr<RuntimeCall> service = describeRuntimeCall({call, data, module, kernel});
  if (mlir::failed(service) || mlir::failed(storeArguments(call.getBuffers()))) {
    return mlir::failure();
  }
  leaveIfError(b.CreateCall(runtime(service->function, {pointer, pointer, pointer}),
                            {frame, service->description, arguments}));
  return mlir::success();
}

/// `void copy.task(ptr args, i64 first, i64 last)`: copies pieces of args[1] to args[0]; args[2] is the number of bytes.
llvm::Function *EntryBuilder::copyFunction() {
  if (llvm::Function *known = module.getFunction("copy.task")) {
    return known;
  }
  auto *type = llvm::FunctionType::get(b.getVoidTy(), {pointer, i64, i64}, false);
  auto *task = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "copy.task", module);
  llvm::IRBuilder<> inside(BasicBlock::Create(context, "", task));
  auto argument = [&](int64_t i, llvm::Type *of) {
    return inside.CreateLoad(of, inside.CreateConstInBoundsGEP1_64(pointer, task->getArg(0), i));
  };
  llvm::Value *destination = argument(0, pointer), *source = argument(1, pointer), *bytes = argument(2, i64);
  llvm::Value *piece = inside.getInt64(bytesPerCopyTask);
  llvm::Value *begin = inside.CreateMul(task->getArg(1), piece), *end = inside.CreateMul(task->getArg(2), piece);
  end = inside.CreateBinaryIntrinsic(llvm::Intrinsic::umin, end, bytes);
  inside.CreateMemCpy(inside.CreatePtrAdd(destination, begin), llvm::MaybeAlign(1),
                      inside.CreatePtrAdd(source, begin), llvm::MaybeAlign(1), inside.CreateSub(end, begin));
  inside.CreateRetVoid();
  return task;
}

void EntryBuilder::emitCopy(cpurt::CopyOp copy) {
  llvm::Value *destination = address(copy.getDst()), *source = address(copy.getSrc());
  if (copy.getBytes() <= 0) {
    return;
  }
  BasicBlock *after = nullptr;
  if (copy.getMayBeSame()) {
    BasicBlock *different = newBlock("copy");
    after = newBlock("");
    b.CreateCondBr(b.CreateICmpEQ(destination, source), after, different);
    b.SetInsertPoint(different);
  }
  int64_t bytes = copy.getBytes();
  if (bytes < leastParallelCopy || insideLoop) {
    b.CreateMemCpy(destination, llvm::MaybeAlign(1), source, llvm::MaybeAlign(1), bytes);
  } else {
    reserveArguments(3);
    llvm::Value *values[] = {destination, source, b.getInt64(bytes)};
    for (auto [i, value] : llvm::enumerate(values)) {
      passArgument(i, value);
    }
    parallelFor(copyFunction(), llvm::divideCeil(bytes, bytesPerCopyTask));
  }
  if (after) {
    b.CreateBr(after);
    b.SetInsertPoint(after);
  }
}

/// The services cannot fail: what they need was checked when the call began.
void EntryBuilder::emitRandomState(cpurt::RandomStateOp op) {
  llvm::Value *destination = address(op.getDst());
  if (std::optional<uint64_t> offset = op.getOffset()) {
    b.CreateCall(runtime("hlo_rt_next_state", {pointer, i64, i64, pointer}, b.getVoidTy()),
                 {frame, b.getInt64(*offset), b.getInt64(op.getDelta().value_or(0)), destination});
  } else {
    b.CreateCall(runtime("hlo_rt_draw", {pointer, pointer}, b.getVoidTy()), {frame, destination});
  }
}

/// header: poll, condition -> body or exit; body -> header.
mlir::LogicalResult EntryBuilder::emitWhile(cpurt::WhileOp loop) {
  if (auto known = in.loops.find(loop); known != in.loops.end() && !insideLoop) {
    callLoop(known->second);
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

/// A loop whose trip count is known has a counter instead of a condition.
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
  llvm::Value *selector =
      b.CreateLoad(predicated ? b.getInt8Ty() : i32, address(op.getSelector()));
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

/// i32 LOOP(ptr frame, i32 watch, ptr arena, ptr prepared, ptr input..., ptr output...)
void EntryBuilder::callLoop(const SmallLoop &loop) {
  llvm::SmallVector<llvm::Value *> values{frame, watch, arena, prepared};
  for (int64_t input : loop.inputs) {
    values.push_back(leaf(/*isInput=*/true, input));
  }
  for (int64_t output : loop.outputs) {
    values.push_back(leaf(/*isInput=*/false, output));
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

/// Variables for what the loop has in the arena, with the values that it finds there.
void EntryBuilder::makeLoopVariables(cpurt::WhileOp loop) {
  int64_t line = in.description.arenaAlign;
  for (const LoopSlot &slot : loopSlots(loop)) {
    auto *type = llvm::ArrayType::get(b.getInt8Ty(), llvm::alignTo(slot.bytes, line));
    llvm::AllocaInst *variable = b.CreateAlloca(type);
    variable->setAlignment(llvm::Align(line));
    loopVariables.push_back({slot, variable});
  }
  copyLoopVariables(/*fromArena=*/true);
}

/// Between the variables that others than the loop use and the arena.
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
  parameters.append(leaves, pointer);
  // In an output of text, the entry may be there already.
  function = llvm::cast<llvm::Function>(
      module.getOrInsertFunction(small.symbol, llvm::FunctionType::get(i32, parameters, false))
          .getCallee());
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  b.SetInsertPoint(newBlock(""));
  frame = function->getArg(0);
  watch = function->getArg(1);
  arena = function->getArg(2);
  prepared = function->getArg(3);
  // With these promises LLVM may keep what the loop carries in registers. A leaf that the caller may
  // give the same buffer as another leaf gets none.
  auto promise = [&](unsigned argument, uint64_t bytes, uint64_t align, bool writable) {
    function->addParamAttr(argument, llvm::Attribute::NoAlias);
    function->addParamAttr(argument, llvm::Attribute::getWithAlignment(context, llvm::Align(align)));
    function->addDereferenceableParamAttr(argument, bytes);
    if (writable) {
      function->addParamAttr(argument, llvm::Attribute::Writable);
    }
  };
  promise(2, in.description.arenaBytes, in.description.arenaAlign, /*writable=*/true);
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
  // The description may have declared it.
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
  llvm::Value *description = module.getNamedValue((prefix + "_desc").str());
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
  arena = b.CreateLoad(pointer, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame,
                                                             offsetof(hlo_frame, arena)));
  watch = b.CreateLoad(i32, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame,
                                                         offsetof(hlo_frame, watch)));
  // Objects without a prepared block must work with runtimes that know of none.
  prepared = in.description.prepared.bytes
                 ? static_cast<llvm::Value *>(b.CreateLoad(
                       pointer, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame,
                                                             offsetof(hlo_frame, prepared))))
                 : llvm::ConstantPointerNull::get(b.getPtrTy());
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
  if (arguments) {
    arguments->setOperand(0, b.getInt32(argumentCount));
  }
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
