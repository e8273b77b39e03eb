//===- Entry.cpp - The planned program as LLVM IR -------------------------===//
//
// In: a cpurt.entry. Out: PREFIX_run_buffers, which executes the program, or PREFIX_prepare_buffers
// of the same form with hlo_rt_prepare_begin and _end:
//
//     frame on the stack; hlo_rt_begin; launches, copies, loops, branches; hlo_rt_end
//
// EntryLaunch.cpp builds launches and copies, EntryControl.cpp loops and branches; EntryParts.cpp
// cuts an entry of very many ops into several functions. Only the addresses of the frame and the
// arena and the two tables of pointers live across calls, so entries of thousands of launches
// compile in linear time and need no optimization. The entry polls the caller's request to stop
// once per loop iteration, and every few dozen launches of straight-line code.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/entry/EntryBuilder.h"
#include "runtime/abi/hlo/generated.h"
#include "llvm/IR/MDBuilder.h"

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

/// Branches to a block that few calls execute. It stands behind all others, whether the code
/// generator orders blocks by their weights or, without optimization, keeps their order.
void EntryBuilder::branchToRare(llvm::Value *condition, BasicBlock *rare, BasicBlock *usual) {
  b.CreateCondBr(condition, rare, usual, llvm::MDBuilder(context).createUnlikelyBranchWeights());
  rareBlocks.push_back(rare);
}

/// Adds the time since the last such call to the row of this operation, if the caller wants a
/// profile.
void EntryBuilder::count(uint32_t operation, uint64_t bytes) {
  if (!profile || counting == Counting::Never) {
    return;
  }
  BasicBlock *next = nullptr;
  if (counting == Counting::IfAsked) {
    BasicBlock *add = newBlock("count");
    next = newBlock("");
    branchToRare(b.CreateIsNotNull(profile), add, next);
    b.SetInsertPoint(add);
  }
  b.CreateCall(runtime("hlo_rt_count", {pointer, i32, i64}, b.getVoidTy()),
               {frame, b.getInt32(operation), b.getInt64(bytes)});
  if (next) {
    b.CreateBr(next);
    b.SetInsertPoint(next);
  }
}

/// Emits a call that asks the runtime whether to go on, if the caller may request a stop.
void EntryBuilder::poll() {
  BasicBlock *ask = newBlock("poll"), *next = newBlock("");
  // No weights: in a loop whose kernels are inlined, LLVM would keep all their constants in
  // registers, as if no call stood between two iterations, and spill the values that the loop
  // carries.
  b.CreateCondBr(b.CreateIsNotNull(watch), ask, next);
  rareBlocks.push_back(ask);
  b.SetInsertPoint(ask);
  llvm::Value *error = b.CreateCall(runtime("hlo_rt_poll", {pointer}), {frame});
  BasicBlock *leave = leaveWith(error);
  b.CreateCondBr(b.CreateIsNotNull(error), leave, next);
  b.SetInsertPoint(next);
  launchesSincePoll = 0;
}

/// True for the ops that denote a buffer: code appears where the buffer is used.
static bool isBuffer(mlir::Operation *op) {
  return mlir::isa<cpurt::InputOp, cpurt::OutputOp, cpurt::ArenaOp, cpurt::PreparedOp,
                   cpurt::ConstantOp>(op);
}

mlir::LogicalResult EntryBuilder::emitOp(mlir::Operation &op) {
  if (auto launch = mlir::dyn_cast<cpurt::LaunchOp>(op)) {
    return emitLaunch(launch);
  }
  if (auto copy = mlir::dyn_cast<cpurt::CopyOp>(op)) {
    emitCopy(copy);
  } else if (auto state = mlir::dyn_cast<cpurt::RandomStateOp>(op)) {
    emitRandomState(state);
  } else if (auto call = mlir::dyn_cast<cpurt::CallOp>(op)) {
    return emitCall(call);
  } else if (auto loop = mlir::dyn_cast<cpurt::WhileOp>(op)) {
    return emitWhile(loop);
  } else if (auto choice = mlir::dyn_cast<cpurt::CaseOp>(op)) {
    return emitCase(choice);
  } else if (!isBuffer(&op) && !op.hasTrait<mlir::OpTrait::IsTerminator>()) {
    return op.emitError("internal error: ") << op.getName() << " has no translation";
  }
  return mlir::success();
}

/// The launches of small kernels from `first` on, up to the next op of another kind.
llvm::SmallVector<cpurt::LaunchOp> EntryBuilder::smallLaunches(mlir::Operation *first) {
  llvm::SmallVector<cpurt::LaunchOp> launches;
  for (mlir::Operation *op = first; op && launches.size() < launchesPerPoll;
       op = op->getNextNode()) {
    auto launch = mlir::dyn_cast<cpurt::LaunchOp>(op);
    if (launch) {
      auto kernel = in.kernels.find(launch.getKernel());
      if (kernel == in.kernels.end() || !kernel->second.smallOps || kernel->second.tasks != 1 ||
          takesTable(launch.getBuffers().size())) {
        break;
      }
      launches.push_back(launch);
    } else if (!isBuffer(op) || launches.empty()) {
      break;
    }
  }
  return launches;
}

/// Emits launches twice, with and without counts, and one branch in front: a kernel over a few
/// elements takes 3 ns, and a test after each call adds an eighth to that.
mlir::LogicalResult EntryBuilder::emitSmallLaunches(llvm::ArrayRef<cpurt::LaunchOp> launches) {
  if (launchesSincePoll + launches.size() > launchesPerPoll) {
    poll();
  }
  unsigned earlier = launchesSincePoll;
  BasicBlock *counted = newBlock("counted"), *plain = newBlock("plain"), *next = newBlock("");
  branchToRare(b.CreateIsNotNull(profile), counted, plain);
  for (BasicBlock *block : {counted, plain}) {
    b.SetInsertPoint(block);
    counting = block == counted ? Counting::Always : Counting::Never;
    launchesSincePoll = earlier;
    for (cpurt::LaunchOp launch : launches) {
      if (mlir::failed(emitLaunch(launch))) {
        return mlir::failure();
      }
    }
    b.CreateBr(next);
  }
  counting = Counting::IfAsked;
  b.SetInsertPoint(next);
  launchesEmittedTwice += launches.size();
  return mlir::success();
}

mlir::LogicalResult EntryBuilder::emitBlock(mlir::Block &block) {
  // Fewer than 4 launches in a row gain a nanosecond. 512 launches of the smallest kernels fill the
  // cache of instructions several times: then a call waits for its code, not for the tests.
  constexpr size_t leastLaunches = 4, mostEmittedTwice = 512;
  for (mlir::Operation *op = block.empty() ? nullptr : &block.front(), *following; op;
       op = following) {
    following = op->getNextNode();
    llvm::SmallVector<cpurt::LaunchOp> launches;
    if (profile && launchesEmittedTwice < mostEmittedTwice) {
      launches = smallLaunches(op);
    }
    bool twice = launches.size() >= leastLaunches;
    if (mlir::failed(twice ? emitSmallLaunches(launches) : emitOp(*op))) {
      return mlir::failure();
    }
    if (twice) {
      following = launches.back()->getNextNode();
    }
  }
  return mlir::success();
}

/// Loads what the code of an entry, or of a part of one, needs of the frame.
void EntryBuilder::loadFrame(bool prepares) {
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
  if (size.planAt) {
    arena = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), arena, size.planAt);
  }
  if (size.threadBytes) {
    scratch = b.CreateLoad(
        pointer, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame, offsetof(hlo_frame, scratch)));
  }
}

/// Moves the blocks that few calls reach behind all others of the function.
void EntryBuilder::placeRareBlocks() {
  for (BasicBlock *block : rareBlocks) {
    block->moveAfter(&function->back());
  }
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
  loadFrame(prepares);
  if (mlir::failed(emitBody(entry.getBody().front(), prepares))) {
    delete end;
    return mlir::failure();
  }
  status->addIncoming(b.getInt32(0), b.GetInsertBlock());
  b.CreateBr(end);
  end->insertInto(function);
  placeRareBlocks();
  b.SetInsertPoint(end);
  b.CreateRet(b.CreateCall(runtime(prepares ? "hlo_rt_prepare_end" : "hlo_rt_end", {pointer, i32}),
                           {frame, status}));
  sizeArguments();
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
