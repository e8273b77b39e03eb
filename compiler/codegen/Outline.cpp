//===- Outline.cpp - Functions that are too large for LLVM ----------------===//
//
// In: an emitted function. Out: the same, whose loops are calls if it is large. A concatenate of
// hundreds of arrays has a loop per array, and LLVM's dominator trees and scheduler take quadratic
// time for that many loops in one function.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/Outline.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace hlo::codegen {

/// A function of more ops is split: from about this size on, 128 copies of arrays, LLVM's time
/// grows faster than the function (NOTES.md, "LLVM's passes, and compiling").
static constexpr int64_t kMostOps = 8192;
/// The ops of the loops that become one function: 32 copies of arrays, a quarter of kMostOps, so
/// that LLVM's time per copy stays the same. Fewer than kFewestOps stay where they are: a call must
/// cost little beside them.
static constexpr int64_t kPartOps = 2048, kFewestOps = 256;

static int64_t opsIn(Operation *op) {
  int64_t count = 0;
  op->walk([&](Operation *) { ++count; });
  return count;
}

/// Makes a function of loops that follow each other, and a call of it in their place. Constants are
/// copied, other values from outside are arguments.
static void outline(ArrayRef<scf::ForOp> loops, LLVM::LLVMFuncOp function, const Twine &name) {
  llvm::SetVector<Value> outside;
  for (scf::ForOp loop : loops) {
    outside.insert_range(loop->getOperands());
    getUsedValuesDefinedAbove(loop.getRegion(), outside);
  }
  SmallVector<Value> arguments;
  SmallVector<Operation *> constants;
  for (Value value : outside) {
    if (Operation *op = value.getDefiningOp(); op && op->hasTrait<OpTrait::ConstantLike>()) {
      constants.push_back(op);
    } else {
      arguments.push_back(value);
    }
  }
  OpBuilder b(function);
  Location loc = function.getLoc();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                          llvm::to_vector(ValueRange(arguments).getTypes()));
  auto part = LLVM::LLVMFuncOp::create(b, loc, name.str(), type, LLVM::Linkage::Internal);
  part.setNoInline(true);
  Block *body = part.addEntryBlock(b);
  b.setInsertionPointToEnd(body);
  IRMapping inside;
  inside.map(arguments, body->getArguments());
  for (Operation *op : constants) {
    b.clone(*op, inside);
  }
  for (scf::ForOp loop : loops) {
    b.clone(*loop, inside);
  }
  LLVM::ReturnOp::create(b, loc, ValueRange{});
  b.setInsertionPoint(loops.front());
  LLVM::CallOp::create(b, loc, part, arguments);
  for (scf::ForOp loop : loops) {
    loop.erase();
  }
}

void outlineLoops(LLVM::LLVMFuncOp function) {
  if (opsIn(function) <= kMostOps) {
    return;
  }
  SmallVector<scf::ForOp> together;
  int64_t number = 0, size = 0;
  auto close = [&] {
    if (size >= kFewestOps) {
      outline(together, function, function.getName() + ".part" + Twine(number++));
    }
    together.clear();
    size = 0;
  };
  for (Operation &op : llvm::make_early_inc_range(function.getFunctionBody().front())) {
    if (op.hasTrait<OpTrait::ConstantLike>()) {
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || loop.getNumResults() != 0) {
      close();
      continue;
    }
    together.push_back(loop);
    size += opsIn(loop);
    if (size >= kPartOps) {
      close();
    }
  }
}

} // namespace hlo::codegen
