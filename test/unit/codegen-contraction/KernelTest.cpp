//===- KernelTest.cpp - What the register kernel emits --------------------===//
//
// The ops that a step, a loop that carries sums and a loop over pieces become. What kernels made of
// them compute is tested by codegen-dot, codegen-conv and test/e2e.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/contraction/Loops.h"
#include "compiler/codegen/contraction/Pack.h"
#include "test/unit/kernel-runner/Targets.h"

#include <gtest/gtest.h>

using namespace hlo;
using namespace hlo::codegen;
using namespace mlir;

namespace {

/// A function under construction, for a machine with multiply-adds.
class Kernel : public ::testing::Test {
protected:
  Kernel() {
    context.loadDialect<arith::ArithDialect, scf::SCFDialect, math::MathDialect,
                        vector::VectorDialect, LLVM::LLVMDialect>();
    b.setInsertionPointToEnd(module->getBody());
    Type pointer = LLVM::LLVMPointerType::get(&context), i64 = b.getI64Type();
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&context), {pointer, i64});
    function = LLVM::LLVMFuncOp::create(b, loc, "kernel", type);
    b.setInsertionPointToStart(function.addEntryBlock(b));
  }

  template <typename Op> int64_t count() {
    int64_t result = 0;
    module->walk([&](Op) { ++result; });
    return result;
  }
  Value buffer() { return function.getArgument(0); }
  Value unknown() { return function.getArgument(1); }
  Type f32() { return b.getF32Type(); }
  Elem load(int64_t at, int64_t lanes) {
    return loadElements(e, f32(), buffer(), constI64(e, at), lanes);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder b{&context};
  LLVM::LLVMFuncOp function;
  Target target = hlo::testing::targetNamed("x86-64-v3");
  Emission e{{b, loc}, target.machine};
};

TEST_F(Kernel, StepBroadcastsEachRowOnce) {
  Sums sums = zeroSums(e, f32(), 3 * 2, 8);
  std::vector<int64_t> order;
  multiplyStep(
      e, Multiplier{e, f32()}, 3, 2,
      [&](int64_t r) {
        order.push_back(10 + r);
        return load(r, 1);
      },
      [&](int64_t v) {
        order.push_back(v);
        return load(8 * v, 8);
      },
      sums);
  EXPECT_EQ(count<vector::FMAOp>(), 6);
  EXPECT_EQ(count<vector::BroadcastOp>(), 3);
  EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 10, 11, 12}));
  // Row by row: the sums of one row share their lhs.
  EXPECT_EQ(sums[2].re.getDefiningOp()->getOperand(0), sums[3].re.getDefiningOp()->getOperand(0));
  EXPECT_EQ(sums[1].re.getDefiningOp()->getOperand(1), sums[3].re.getDefiningOp()->getOperand(1));
}

TEST_F(Kernel, LastColumnMayBeNarrower) {
  Sums sums{zeroElem(e, f32(), 8), zeroElem(e, f32(), 4)};
  multiplyStep(
      e, Multiplier{e, f32()}, 1, 2, [&](int64_t) { return load(0, 1); },
      [&](int64_t v) { return load(8 * v, v == 0 ? 8 : 4); }, sums);
  EXPECT_EQ(lanesOf(sums[0].re), 8);
  EXPECT_EQ(lanesOf(sums[1].re), 4);
  EXPECT_EQ(count<vector::BroadcastOp>(), 2);
}

TEST_F(Kernel, RowsMayBeVectors) {
  Sums sums = zeroSums(e, f32(), 2, 8);
  multiplyStep(
      e, Multiplier{e, f32()}, 2, 1, [&](int64_t r) { return load(8 * r, 8); },
      [&](int64_t) { return load(0, 8); }, sums);
  EXPECT_EQ(count<vector::BroadcastOp>(), 0);
  EXPECT_EQ(count<vector::FMAOp>(), 2);
}

TEST_F(Kernel, BothPartsOfComplexSumsAreCarried) {
  Type complex = ComplexType::get(f32());
  Sums sums = zeroSums(e, complex, 3, 8);
  carrySums(e, constI64(e, 0), unknown(), 1, sums, [&](Value, Sums &inner) {
    ASSERT_EQ(inner.size(), 3u);
    for (Elem &sum : inner) {
      sum = multiplyAdd(e, complex, sum, sum, sum);
    }
  });
  int64_t carried = 0;
  module->walk([&](scf::ForOp loop) { carried = loop.getNumResults(); });
  EXPECT_EQ(carried, 6);
  EXPECT_TRUE(sums[2].im && sums[2].im.getDefiningOp<scf::ForOp>());
}

TEST_F(Kernel, VectorsOfARemainderAreMasked) {
  for (auto [size, loops, masked] :
       {std::tuple{20, 1, true}, {16, 1, false}, {8, 0, false}, {5, 0, true}}) {
    int64_t before = count<scf::ForOp>();
    bool sawMask = false;
    Sums sums = zeroSums(e, f32(), 1, 8);
    carryVectors(e, size, 8, sums, [&](Value, Value mask, Sums &inner) {
      sawMask |= static_cast<bool>(mask);
      inner[0] = addElems(e, f32(), inner[0], inner[0]);
    });
    EXPECT_EQ(count<scf::ForOp>() - before, loops) << size;
    EXPECT_EQ(sawMask, masked) << size;
  }
}

TEST_F(Kernel, NestCountsThroughAllDimensions) {
  Sums none;
  carryNest(e, {2, 3, 4}, none, [&](ArrayRef<Index> index, Value linear, Sums &) {
    EXPECT_EQ(index.size(), 3u);
    EXPECT_FALSE(constantOf(linear));
  });
  EXPECT_EQ(count<scf::ForOp>(), 3);
  int64_t calls = 0;
  carryNest(e, {}, none, [&](ArrayRef<Index> index, Value linear, Sums &) {
    ++calls;
    EXPECT_TRUE(index.empty());
    EXPECT_EQ(constantOf(linear), 0);
  });
  EXPECT_EQ(calls, 1);
}

TEST_F(Kernel, PiecesAndTheirRemainder) {
  std::vector<int64_t> counts;
  auto note = [&](Value, int64_t count) { counts.push_back(count); };
  // Known bounds: no branch. Unknown ones: the remainder only where the range ends with the size.
  forEachPiece(e, 20, 8, note);
  EXPECT_EQ(counts, (std::vector<int64_t>{8, 4}));
  EXPECT_EQ(count<scf::IfOp>(), 0);
  counts.clear();
  forEachPiece(e, constI64(e, 0), unknown(), 20, 8, note);
  EXPECT_EQ(counts, (std::vector<int64_t>{8, 4}));
  EXPECT_EQ(count<scf::IfOp>(), 1);
  counts.clear();
  forEachPiece(e, constI64(e, 0), unknown(), 16, 8, note);
  EXPECT_EQ(counts, (std::vector<int64_t>{8}));
  counts.clear();
  forEachPiece(e, 5, 8, note);
  EXPECT_EQ(counts, (std::vector<int64_t>{5}));
}

TEST_F(Kernel, PieceBoundsEndWithTheSize) {
  auto [from, to] = pieceAt(e, constI64(e, 2), 20, 8);
  EXPECT_EQ(constantOf(from), 16);
  EXPECT_EQ(constantOf(to), 20);
  auto [all0, all1] = pieceAt(e, constI64(e, 0), 20, 32);
  EXPECT_EQ(constantOf(all0), 0);
  EXPECT_EQ(constantOf(all1), 20);
}

TEST_F(Kernel, EarlierSumsAreAddedInTheirOwnOrder) {
  Sums sums{load(0, 8), load(8, 8)}, before = sums;
  Value isLater = compareI(e, arith::CmpIPredicate::ne, unknown(), 0);
  std::vector<int64_t> loaded;
  addEarlier(e, f32(), isLater, sums, [&](int64_t i) {
    loaded.push_back(i);
    return load(16 + 8 * i, 8);
  });
  EXPECT_EQ(loaded, (std::vector<int64_t>{0, 1}));
  auto branch = sums[1].re.getDefiningOp<scf::IfOp>();
  ASSERT_TRUE(branch);
  EXPECT_EQ(branch.elseYield().getOperand(1), before[1].re);
  EXPECT_EQ(count<arith::AddFOp>(), 2);
}

TEST_F(Kernel, BuffersKeepPartsApart) {
  Buffers buffers(e, ComplexType::get(f32()));
  EXPECT_EQ(buffers.parts, 2);
  EXPECT_EQ(buffers.partBytes, 4);
  Elem value = buffers.load(buffer(), 8, /*distance=*/32);
  EXPECT_TRUE(value.re && value.im);
  EXPECT_EQ(count<LLVM::LoadOp>(), 2);
  buffers.store(buffer(), value, 32);
  EXPECT_EQ(count<LLVM::StoreOp>(), 2);
}

} // namespace
