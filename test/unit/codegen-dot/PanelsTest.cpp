//===- PanelsTest.cpp - Dots whose weights arrive as panels ---------------===//
//
// The layout that the code generator asks for, filled element by element as PanelLayout describes
// it, and the kernel that reads it, against a naive loop. The ops between the panels and the dot
// say the same in HLO, so a kernel with other panels than it asked for must be right as well.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/Kernel.h"
#include "mlir/Parser/Parser.h"
#include "test/unit/kernel-runner/Array.h"
#include "test/unit/kernel-runner/ExpectClose.h"
#include "test/unit/kernel-runner/KernelRunner.h"
#include "test/unit/kernel-runner/Targets.h"
#include "llvm/Support/MathExtras.h"

#include <gtest/gtest.h>

using namespace hlo::testing;

namespace {

struct Product {
  Type type, out;
  int64_t m, n, k;
};

std::string tensor(std::initializer_list<int64_t> shape, Type type) {
  return Array(type, shape).mlirType();
}

std::string dotText(const Product &p) {
  return "\"hlo.dot\"(%x, %w) {lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = "
         "array<i64: 0>} : (" +
         tensor({p.m, p.k}, p.type) + ", " + tensor({p.k, p.n}, p.type) + ") -> " +
         tensor({p.m, p.n}, p.out) + "\n";
}

/// What wantedPanels says about the right side.
std::optional<hlo::PanelLayout> asked(const Product &p, const hlo::Target &target) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<hlo::HloDialect, mlir::arith::ArithDialect, mlir::scf::SCFDialect,
                      mlir::math::MathDialect, mlir::vector::VectorDialect, mlir::LLVM::LLVMDialect,
                      mlir::cf::ControlFlowDialect>();
  context.allowUnregisteredDialects();
  std::string text = "%x = \"t.x\"() : () -> " + tensor({p.m, p.k}, p.type) +
                     "\n%w = \"t.w\"() : () -> " + tensor({p.k, p.n}, p.type) +
                     "\n%d = " + dotText(p);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  std::optional<hlo::PanelLayout> layout;
  module->walk(
      [&](hlo::DotOp dot) { layout = hlo::codegen::wantedPanels(dot, 1, target.machine); });
  return layout;
}

/// A fusion of the dot that reads panels of this shape.
std::string kernelText(const Product &p, const Array &panels) {
  const std::vector<int64_t> &s = panels.shape();
  int64_t k = s[3] * s[5], n = s[1] * s[4];
  std::string x = tensor({p.m, p.k}, p.type), in = panels.mlirType();
  std::string moved = tensor({1, 1, s[3], s[5], s[1], s[4]}, p.type);
  std::string padded = tensor({1, 1, k, n}, p.type), cut = tensor({1, 1, p.k, p.n}, p.type);
  std::string w = tensor({p.k, p.n}, p.type), out = tensor({p.m, p.n}, p.out);
  std::string text = "%l = \"t.l\"() : () -> " + x + "\n%r = \"t.r\"() : () -> " + in +
                     "\n%f = \"hlo.fusion\"(%l, %r) ({\n^bb0(%x: " + x + ", %p: " + in + "):\n";
  text += "%t = \"hlo.transpose\"(%p) {dimensions = array<i64: 0, 2, 3, 5, 1, 4>, hlo.panels} : (" +
          in + ") -> " + moved + "\n%a = \"hlo.reshape\"(%t) {hlo.panels} : (" + moved + ") -> " +
          padded + "\n";
  text += "%c = \"hlo.slice\"(%a) {start_indices = array<i64: 0, 0, 0, 0>, limit_indices = "
          "array<i64: 1, 1, " +
          std::to_string(p.k) + ", " + std::to_string(p.n) +
          ">, strides = array<i64: 1, 1, 1, 1>, hlo.panels} : (" + padded + ") -> " + cut +
          "\n%w = \"hlo.reshape\"(%c) {hlo.panels} : (" + cut + ") -> " + w + "\n";
  return text + "%d = " + dotText(p) + "\"hlo.return\"(%d) : (" + out +
         ") -> ()\n}) {strategy = \"dot\"} : (" + x + ", " + in + ") -> " + out + "\n";
}

void check(const Product &p, const hlo::PanelLayout &layout, const hlo::Target &target) {
  std::mt19937 random(5);
  int64_t steps = llvm::alignTo(p.k, layout.kUnit) / layout.group;
  int64_t count = llvm::divideCeil(p.n, layout.width);
  Array x(p.type, {p.m, p.k}), w(p.type, {p.k, p.n}), out(p.out, {p.m, p.n});
  Array panels(p.type, {1, count, 1, steps, layout.width, layout.group});
  x.fillRandom(random);
  w.fillRandom(random);
  forEachIndex(panels.shape(), [&](const std::vector<int64_t> &i) {
    int64_t n = i[1] * layout.width + i[4], k = i[3] * layout.group + i[5];
    panels.set(panels.linear(i), n < p.n && k < p.k ? w.at({k, n}) : 0);
  });
  auto kernel = Kernel::compile(kernelText(p, panels), target);
  if (!kernel) {
    FAIL() << llvm::toString(kernel.takeError());
  }
  (*kernel)->run({x.data(), panels.data(), out.data()});
  expectClose(out, [&](const std::vector<int64_t> &i) {
    Array::Value sum = 0;
    for (int64_t k = 0; k < p.k; ++k) {
      sum += x.at({i[0], k}) * w.at({k, i[1]});
    }
    return sum;
  });
}

TEST(Panels, AsAsked) {
  for (const Product &p :
       {Product{Type::F32, Type::F32, 40, 192, 130}, Product{Type::F32, Type::F32, 53, 203, 131},
        Product{Type::F64, Type::F64, 37, 131, 70}, Product{Type::BF16, Type::F32, 40, 203, 171},
        Product{Type::S8, Type::S32, 70, 203, 371}}) {
    for (const hlo::Target &target : targets()) {
      SCOPED_TRACE(target.cpu + " " + mlirName(p.type) + " " + std::to_string(p.k));
      std::optional<hlo::PanelLayout> layout = asked(p, target);
      if (p.type == Type::F32) {
        ASSERT_TRUE(layout);
      }
      if (layout) {
        EXPECT_EQ(layout->kUnit % layout->group, 0);
        check(p, *layout, target);
      }
    }
  }
}

TEST(Panels, OtherThanAsked) {
  for (const hlo::Target &target : targets()) {
    SCOPED_TRACE(target.cpu);
    check({Type::F32, Type::F32, 40, 100, 130}, {5, 3, 6}, target);
    check({Type::BF16, Type::F32, 40, 100, 130}, {7, 1, 1}, target);
    check({Type::S8, Type::S32, 40, 100, 130}, {16, 4, 16}, target);
  }
}

TEST(Panels, NoneWhereTheOperandIsReadInPlace) {
  for (const hlo::Target &target : targets()) {
    EXPECT_FALSE(asked({Type::F32, Type::F32, 1, 512, 512}, target)) << target.cpu;
    EXPECT_FALSE(asked({Type::F32, Type::F32, 64, 16, 16}, target)) << target.cpu;
  }
}

} // namespace
