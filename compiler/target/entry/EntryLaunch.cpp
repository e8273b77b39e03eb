//===- EntryLaunch.cpp - Launches, copies and runtime calls of an entry --===//
//
// In: ops of a cpurt.entry that execute something. Out: calls.
//
//     one task            kernel(buffers, 0, 1)
//     several             hlo_rt_parallel_for(task function, array of the buffers), or
//                         hlo_rt_parallel_scratch if the kernel has large variables
//     of many buffers     the same, with the array itself as the kernel's only buffer
//     with barriers       one such call for each stage
//     a large copy        hlo_rt_parallel_for of pieces; else memcpy
//     a runtime op        hlo_rt_NAME(static description, array of the buffers)
//
// The array is on the stack, or in the arena if it is large, and all launches of the function reuse
// it. Static descriptions are made in RuntimeCall.cpp.
//
//===----------------------------------------------------------------------===//
#include "compiler/support/Stack.h"
#include "compiler/target/calls/RuntimeCall.h"
#include "compiler/target/entry/EntryBuilder.h"

using namespace hlo;
using llvm::BasicBlock;

/// Copies of at least leastParallelCopy bytes are split into tasks of bytesPerCopyTask.
static constexpr int64_t leastParallelCopy = 1 << 20, bytesPerCopyTask = 256 << 10;
/// Reading the clock takes as long as copying 2 KiB, so shorter copies are counted with the next
/// operation.
static constexpr int64_t leastCountedCopy = 4 << 10;

uint64_t hlo::tableBytes(cpurt::EntryOp entry) {
  // Entries of the array behind the buffers: the kernel, and the first task of a stage.
  constexpr uint64_t others = 2;
  uint64_t most = 0;
  entry.walk([&](mlir::Operation *op) {
    if (auto launch = mlir::dyn_cast<cpurt::LaunchOp>(op)) {
      most = std::max<uint64_t>(most, launch.getBuffers().size() + others);
    } else if (auto call = mlir::dyn_cast<cpurt::CallOp>(op)) {
      most = std::max<uint64_t>(most, call.getBuffers().size());
    }
  });
  return most > kMostPointers + others ? most * sizeof(void *) : 0;
}

llvm::FunctionType *EntryBuilder::kernelType(unsigned buffers, bool takesScratch) {
  llvm::SmallVector<llvm::Type *> parameters(takesTable(buffers) ? 1 : buffers, pointer);
  parameters.append(2, i64);
  parameters.append(takesScratch, pointer);
  return llvm::FunctionType::get(b.getVoidTy(), parameters, false);
}

llvm::Function *EntryBuilder::kernelFunction(const KernelInfo &info, unsigned buffers) {
  if (llvm::Function *known = module.getFunction(info.symbol)) {
    return known;
  }
  auto *kernel = llvm::Function::Create(kernelType(buffers, info.scratchBytes != 0),
                                        llvm::GlobalValue::ExternalLinkage, info.symbol, module);
  kernel->setVisibility(llvm::GlobalValue::HiddenVisibility);
  kernel->setDSOLocal(true);
  return kernel;
}

/// `void task.N(ptr args, i64 first, i64 last)`: calls the kernel args[N] on the N buffers before
/// it. `staged`: tasks are counted from the number that follows; `takesScratch`: (..., ptr
/// scratch), passed on to the kernel. Shared by all kernels with this number of buffers, because
/// every function, however short, takes a tenth of a millisecond to compile.
llvm::Function *EntryBuilder::taskFunction(unsigned buffers, bool staged, bool takesScratch) {
  std::string name =
      (staged ? "stage." : "task.") + std::to_string(buffers) + (takesScratch ? ".scratch" : "");
  if (llvm::Function *known = module.getFunction(name)) {
    return known;
  }
  llvm::SmallVector<llvm::Type *> parameters{pointer, i64, i64};
  parameters.append(takesScratch, pointer);
  auto *type = llvm::FunctionType::get(b.getVoidTy(), parameters, false);
  auto *task = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  llvm::IRBuilder<> inside(BasicBlock::Create(context, "", task));
  auto argument = [&](unsigned i, llvm::Type *of) {
    return inside.CreateLoad(of, inside.CreateConstInBoundsGEP1_64(pointer, task->getArg(0), i));
  };
  llvm::SmallVector<llvm::Value *> values;
  if (takesTable(buffers)) {
    values.push_back(task->getArg(0));
  }
  for (unsigned i = 0; i < buffers && !takesTable(buffers); ++i) {
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
  if (takesScratch) {
    values.push_back(task->getArg(3));
  }
  inside.CreateCall(kernelType(buffers, takesScratch), kernel, values)->setTailCall();
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
  bool isTable = takesTable(buffers);
  if (isTable) {
    // One pointer at a time: all together would be spilled to the stack.
    if (mlir::failed(storeArguments(launch.getBuffers()))) {
      return mlir::failure();
    }
    values.push_back(arguments);
  } else {
    for (mlir::Value buffer : launch.getBuffers()) {
      values.push_back(address(buffer));
      if (!values.back()) {
        return mlir::failure();
      }
    }
  }
  llvm::Function *kernel = kernelFunction(info, buffers);
  bool takesScratch = info.scratchBytes != 0;
  auto appendTasks = [&](llvm::SmallVectorImpl<llvm::Value *> &values, int64_t begin, int64_t end) {
    values.append({b.getInt64(begin), b.getInt64(end)});
    if (takesScratch) {
      // After inlining only the kernel's variables remain; they become the loop's.
      values.push_back(insideLoop ? llvm::ConstantPointerNull::get(b.getPtrTy()) : scratch);
    }
  };
  if (info.tasks == 1 && !isTable) {
    appendTasks(values, 0, 1);
    llvm::CallInst *call = b.CreateCall(kernel, values);
    if (insideLoop) {
      call->addFnAttr(llvm::Attribute::AlwaysInline);
    }
    countKernel(launch);
    return mlir::success();
  }
  bool staged = !info.barriers.empty();
  reserveArguments(buffers + 1 + staged);
  for (unsigned i = 0; i < buffers && !isTable; ++i) {
    passArgument(i, values[i]);
  }
  passArgument(buffers, kernel);
  llvm::SmallVector<int64_t> ends(info.barriers.begin(), info.barriers.end());
  ends.push_back(info.tasks);
  int64_t begin = 0;
  for (int64_t end : ends) {
    if ((staged || isTable) && end - begin == 1) {
      llvm::SmallVector<llvm::Value *> direct(values);
      appendTasks(direct, begin, end);
      b.CreateCall(kernel, direct);
      begin = end;
      continue;
    }
    if (staged) {
      passArgument(buffers + 1, b.getInt64(begin));
    }
    parallelFor(taskFunction(buffers, staged, takesScratch), end - begin, takesScratch);
    begin = end;
  }
  countKernel(launch);
  return mlir::success();
}

void EntryBuilder::countKernel(cpurt::LaunchOp launch) {
  auto row = in.operations.kernels.find(launch.getKernel());
  if (row != in.operations.kernels.end()) {
    count(row->second, in.operations.rows[row->second].bytes);
  }
}

/// Grows the stack array of parallel launches, large copies and runtime calls to `count` pointers.
void EntryBuilder::reserveArguments(unsigned count) {
  if (!arguments) {
    llvm::IRBuilder<> top(&function->getEntryBlock(), function->getEntryBlock().begin());
    arguments = top.CreateAlloca(pointer, top.getInt32(1), "arguments");
  }
  argumentCount = std::max(argumentCount, count);
}

/// Gives the array, if there is one on the stack, its final size.
void EntryBuilder::sizeArguments() {
  if (auto *variable = llvm::dyn_cast_or_null<llvm::AllocaInst>(arguments)) {
    variable->setOperand(0, b.getInt32(argumentCount));
  }
}

/// Runs the tasks on the caller's threads, with the arguments on the stack.
void EntryBuilder::parallelFor(llvm::Function *task, int64_t tasks, bool takesScratch) {
  llvm::StringRef service = takesScratch ? "hlo_rt_parallel_scratch" : "hlo_rt_parallel_for";
  leaveIfError(b.CreateCall(runtime(service, {pointer, pointer, pointer, i64}),
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
  if (call.getKind() == "pack" || call.getKind() == "unpack") {
    return emitPack(call);
  }
  auto kernel = [&](llvm::StringRef name) -> llvm::Constant * {
    auto known = in.kernels.find(name);
    // The kernel has two operands and a result.
    return known == in.kernels.end() ? nullptr : kernelFunction(known->second, 3);
  };
  mlir::FailureOr<RuntimeCall> service = describeRuntimeCall({call, data, module, kernel});
  if (mlir::failed(service) || mlir::failed(storeArguments(call.getBuffers()))) {
    return mlir::failure();
  }
  leaveIfError(b.CreateCall(runtime(service->function, {pointer, pointer, pointer}),
                            {frame, service->description, arguments}));
  if (auto row = in.operations.others.find(call); row != in.operations.others.end()) {
    count(row->second, in.operations.rows[row->second].bytes);
  }
  return mlir::success();
}

/// `void copy.task(ptr args, i64 first, i64 last)`: copies pieces of args[1] to args[0]; args[2] is
/// the size in bytes.
llvm::Function *EntryBuilder::copyFunction() {
  if (llvm::Function *known = module.getFunction("copy.task")) {
    return known;
  }
  auto *type = llvm::FunctionType::get(b.getVoidTy(), {pointer, i64, i64}, false);
  auto *task =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "copy.task", module);
  llvm::IRBuilder<> inside(BasicBlock::Create(context, "", task));
  auto argument = [&](int64_t i, llvm::Type *of) {
    return inside.CreateLoad(of, inside.CreateConstInBoundsGEP1_64(pointer, task->getArg(0), i));
  };
  llvm::Value *destination = argument(0, pointer), *source = argument(1, pointer),
              *bytes = argument(2, i64);
  llvm::Value *piece = inside.getInt64(bytesPerCopyTask);
  llvm::Value *begin = inside.CreateMul(task->getArg(1), piece),
              *end = inside.CreateMul(task->getArg(2), piece);
  end = inside.CreateBinaryIntrinsic(llvm::Intrinsic::umin, end, bytes);
  inside.CreateMemCpy(inside.CreatePtrAdd(destination, begin), llvm::MaybeAlign(1),
                      inside.CreatePtrAdd(source, begin), llvm::MaybeAlign(1),
                      inside.CreateSub(end, begin));
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
  if (bytes >= leastCountedCopy) {
    count(OperationTable::copies, 2 * bytes);
  }
  if (after) {
    b.CreateBr(after);
    b.SetInsertPoint(after);
  }
}

/// These services cannot fail: hlo_rt_begin has checked what they need.
void EntryBuilder::emitRandomState(cpurt::RandomStateOp op) {
  llvm::Value *destination = address(op.getDst());
  if (std::optional<uint64_t> offset = op.getOffset()) {
    b.CreateCall(runtime("hlo_rt_next_state", {pointer, i64, i64, pointer}, b.getVoidTy()),
                 {frame, b.getInt64(*offset), b.getInt64(op.getDelta().value_or(0)), destination});
  } else {
    b.CreateCall(runtime("hlo_rt_draw", {pointer, pointer}, b.getVoidTy()), {frame, destination});
  }
}
