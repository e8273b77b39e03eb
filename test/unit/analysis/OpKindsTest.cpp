//===- OpKindsTest.cpp - The table of opcodes is complete and consistent --===//
#include "compiler/analysis/OpKinds.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace hlo;

namespace {

class OpKinds : public testing::Test {
protected:
  OpKinds() { context.loadDialect<HloDialect>(); }

  /// Every op of the dialect that stands for an instruction, with its row.
  template <typename Check> void forEachOp(Check check) {
    for (RegisteredOperationName name : context.getRegisteredOperations()) {
      StringRef opcode = name.stripDialect();
      if (name.getDialectNamespace() == "hlo" && opcode != "computation") {
        SCOPED_TRACE(opcode.str());
        check(name, propertiesOf(name));
      }
    }
  }
  static bool has(const OpProperties &row, OpFlag flag) { return row.flags & flag; }

  MLIRContext context;
};

TEST_F(OpKinds, EveryOpcodeHasARow) {
  const OpProperties *none = &propertiesOf(OperationName("hlo.no_such_op", &context));
  size_t count = 0;
  forEachOp([&](OperationName, const OpProperties &row) {
    EXPECT_NE(&row, none);
    ++count;
  });
  EXPECT_GT(count, 100u);
}

TEST_F(OpKinds, FunctionsAreElementwiseAndCostly) {
  forEachOp([&](OperationName, const OpProperties &row) {
    if (has(row, OpFlag::Function)) {
      EXPECT_TRUE(has(row, OpFlag::Elementwise));
      EXPECT_GE(row.cost, 20);
      EXPECT_TRUE(has(row, OpFlag::Grouped));
    }
    // A store and a load are cheaper than a division, and than any function.
    bool isCostly = has(row, OpFlag::Elementwise) && row.cost >= 4;
    EXPECT_EQ(has(row, OpFlag::KeptInRow), isCostly);
    if (has(row, OpFlag::StaysWide)) {
      EXPECT_TRUE(has(row, OpFlag::Elementwise));
    }
  });
}

TEST_F(OpKinds, ElementwiseOpsAreComputedInKernelsOfOthers) {
  forEachOp([&](OperationName, const OpProperties &row) {
    if (has(row, OpFlag::Elementwise)) {
      EXPECT_EQ(row.role, Role::Compute);
      EXPECT_FALSE(has(row, OpFlag::Displaces));
    }
  });
}

TEST_F(OpKinds, StrategiesOfTheirOwnBelongToHeroesAndReductions) {
  forEachOp([&](OperationName, const OpProperties &row) {
    bool isOwn = row.role == Role::Hero || row.role == Role::Reduce;
    EXPECT_EQ(isOwn, row.strategy != Strategy::Loop);
  });
}

TEST_F(OpKinds, NoKernelComputesWhatTheRuntimeDoesOrOthersReplace) {
  forEachOp([&](OperationName, const OpProperties &row) {
    if (has(row, OpFlag::Runtime) || has(row, OpFlag::Composite) || has(row, OpFlag::Effect)) {
      EXPECT_EQ(row.role, Role::TopLevel);
    }
    if (has(row, OpFlag::Collective)) {
      EXPECT_TRUE(has(row, OpFlag::Runtime));
    }
  });
}

} // namespace
