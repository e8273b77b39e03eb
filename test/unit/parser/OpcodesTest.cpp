//===- OpcodesTest.cpp - The table of opcodes against the dialect ---------===//
#include "compiler/parser/Opcodes.h"
#include "dialect/hlo/Dialect.h"
#include "gtest/gtest.h"

using namespace hlo::parser;

namespace {
TEST(Opcodes, EachHasAnOp) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<hlo::HloDialect>();
  OpcodeTable table(&context);
  EXPECT_EQ(getOpcodes().size(), 133u);
  for (const OpcodeInfo &info : getOpcodes()) {
    EXPECT_EQ(table.find(info.name), &info);
    if (info.name != "parameter") { // a block argument
      EXPECT_TRUE(table.getOpName(info).isRegistered()) << info.name.str();
    }
    EXPECT_EQ(table.findOp(table.getOpName(info)), &info);
  }
  // And each op has an opcode, but for these.
  const llvm::StringRef without[] = {"hlo.computation",     "hlo.return", "hlo.stack",
                                     "hlo.collective_done", "hlo.resize", "hlo.pack",
                                     "hlo.unpack"};
  for (mlir::RegisteredOperationName op : context.getRegisteredOperationsByDialect("hlo")) {
    if (!llvm::is_contained(without, op.getStringRef())) {
      EXPECT_NE(table.findOp(op), nullptr) << op.getStringRef().str();
    }
  }
}

TEST(Opcodes, AttributesAreKnownToTheOp) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<hlo::HloDialect>();
  OpcodeTable table(&context);
  for (const OpcodeInfo &info : getOpcodes()) {
    auto names = table.getOpName(info).getAttributeNames();
    for (const AttrSpec &spec : info.attributes) {
      llvm::SmallVector<llvm::StringRef> stored = {spec.name};
      switch (spec.kind) {
      case AttrKind::IgnoredWord: stored = {}; break;
      case AttrKind::OneDim: stored = {"dimension"}; break;
      case AttrKind::TrueBranch:
      case AttrKind::FalseBranch: stored = {"branch_computations"}; break;
      case AttrKind::OneComputation: stored = {"called_computations"}; break;
      case AttrKind::Padding: stored = {"padding_low", "padding_high", "padding_interior"}; break;
      case AttrKind::Slice: stored = {"start_indices", "limit_indices", "strides"}; break;
      default: break;
      }
      for (llvm::StringRef name : stored) {
        EXPECT_TRUE(llvm::any_of(names, [&](mlir::StringAttr known) { return known == name; }))
            << info.name.str() << " " << name.str();
      }
    }
  }
}

TEST(Opcodes, AsyncSugar) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  OpcodeTable table(&context);
  AsyncPart part = AsyncPart::None;
  EXPECT_EQ(table.findAsync("call-start", part), table.find("call"));
  EXPECT_EQ(part, AsyncPart::Start);
  EXPECT_EQ(table.findAsync("reduce-scatter-done", part), table.find("reduce-scatter"));
  EXPECT_EQ(part, AsyncPart::Done);
  for (const char *word : {"copy-update", "all-gather-update", "recv-start", "parameter-start",
                           "foo-start", "call", "-start"}) {
    EXPECT_EQ(table.findAsync(word, part), nullptr) << word;
  }
}
} // namespace
