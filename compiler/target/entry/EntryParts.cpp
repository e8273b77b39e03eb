//===- EntryParts.cpp - Entries of very many ops as several functions -----===//
//
// In: the body of a cpurt.entry. Out: its code, if it is long as calls of functions that each
// execute the next ops:
//
//     i32 PREFIX.part.N(ptr frame, ptr inputs, ptr outputs)
//
// The code generator keeps a function's instructions in memory until all its passes are done, and
// each pass visits all of them. A function of 30,000 launches takes 200 MB, and each visit waits
// for memory; the functions of parts take turns in the same few MB.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/entry/EntryBuilder.h"

using namespace hlo;
using llvm::BasicBlock;

/// Buffers that the ops of one part pass on, about; entries of at most mostWeight are not cut.
static constexpr uint64_t partWeight = 4096, mostWeight = 4 * partWeight;

/// How much code an op of the entry makes, about.
static uint64_t weigh(mlir::Operation &op) {
  uint64_t weight = 0;
  op.walk([&](mlir::Operation *inner) { weight += inner->getNumOperands(); });
  return weight;
}

mlir::LogicalResult EntryBuilder::emitBody(mlir::Block &body, bool prepares) {
  uint64_t whole = 0;
  for (mlir::Operation &op : body) {
    whole += weigh(op);
  }
  if (whole <= mostWeight) {
    return emitBlock(body);
  }
  unsigned number = 0;
  for (auto next = body.begin(); next != body.end();) {
    auto first = next;
    for (uint64_t weight = 0; next != body.end() && weight < partWeight; ++next) {
      weight += weigh(*next);
    }
    // While a part is built, its ops are in a block of their own.
    mlir::Block part;
    part.getOperations().splice(part.end(), body.getOperations(), first, next);
    llvm::Function *callee =
        EntryBuilder(in, module)
            .buildPart(part, prepares,
                       prefix + (prepares ? ".prepare.part." : ".part.") + llvm::Twine(number++));
    body.getOperations().splice(next, part.getOperations());
    if (!callee) {
      return mlir::failure();
    }
    leaveIfError(b.CreateCall(callee, {frame, function->getArg(1), function->getArg(2)}));
  }
  return mlir::success();
}

/// The function of one part; null after an error.
llvm::Function *EntryBuilder::buildPart(mlir::Block &part, bool prepares, const llvm::Twine &name) {
  function =
      llvm::Function::Create(llvm::FunctionType::get(i32, {pointer, pointer, pointer}, false),
                             llvm::GlobalValue::InternalLinkage, name, module);
  b.SetInsertPoint(newBlock(""));
  end = BasicBlock::Create(context, "end");
  llvm::IRBuilder<> atEnd(end);
  status = atEnd.CreatePHI(i32, 2, "status");
  frame = function->getArg(0);
  loadFrame(prepares);
  mlir::LogicalResult result = emitBlock(part);
  status->addIncoming(b.getInt32(0), b.GetInsertBlock());
  b.CreateBr(end);
  end->insertInto(function);
  placeRareBlocks();
  b.SetInsertPoint(end);
  b.CreateRet(status);
  sizeArguments();
  return mlir::succeeded(result) ? function : nullptr;
}
