//===- MoveScratchTest.cpp - Large variables leave the stack --------------===//
//
// Variables become addresses in the scratch memory. Each loop loads where that is in front of its
// body, so that no address lives across the whole function.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/MoveScratch.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include <gtest/gtest.h>
#include <map>

using namespace llvm;

namespace {
constexpr const char *text = R"(
define void @kernel(ptr %in, i64 %n, ptr %memory) "hlo-scratch-bytes"="32768" {
  %small = alloca [64 x i8], align 64
  %first = alloca [16384 x i8], align 64
  %second = alloca [8192 x i8], align 64
  store i8 1, ptr %first
  br label %outer
outer:
  %i = phi i64 [ 0, %0 ], [ %i.next, %done ]
  br label %inner
inner:
  %k = phi i64 [ 0, %outer ], [ %k.next, %inner ]
  %from = getelementptr i8, ptr %first, i64 %k
  %to = getelementptr i8, ptr %second, i64 %k
  %value = load i8, ptr %from
  store i8 %value, ptr %to
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, %n
  br i1 %more, label %inner, label %done
done:
  store i8 2, ptr %second
  store i8 3, ptr %small
  %i.next = add i64 %i, 1
  %again = icmp slt i64 %i.next, %n
  br i1 %again, label %outer, label %end
end:
  ret void
}
)";

TEST(MoveScratch, LoopsLoadTheirOwnAddress) {
  LLVMContext context;
  SMDiagnostic error;
  std::unique_ptr<Module> module = parseAssemblyString(text, error, context);
  ASSERT_TRUE(module) << error.getMessage().str();
  hlo::moveToScratch(*module);
  ASSERT_FALSE(verifyModule(*module, &errs()));
  std::map<std::string, int> loads, stackBytes;
  for (BasicBlock &block : *module->getFunction("kernel")) {
    for (Instruction &instruction : block) {
      if (auto *load = dyn_cast<LoadInst>(&instruction)) {
        loads[block.getName().str()] += load->getType()->isPointerTy();
      } else if (auto *variable = dyn_cast<AllocaInst>(&instruction)) {
        stackBytes[variable->getName().str()] =
            static_cast<int>(variable->getAllocationSize(module->getDataLayout())->getFixedValue());
      }
    }
  }
  // In front of the outer loop, and in front of the inner one for both its addresses.
  EXPECT_EQ(loads[""], 1);
  EXPECT_EQ(loads["outer"], 1);
  EXPECT_EQ(loads["inner"], 0);
  EXPECT_EQ(loads["done"], 0);
  EXPECT_EQ(stackBytes, (std::map<std::string, int>{{"scratch", 8}, {"small", 64}}));
}
} // namespace
