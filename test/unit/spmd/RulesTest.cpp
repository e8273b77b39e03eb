//===- RulesTest.cpp - Every opcode has a rule, as the page says ----------===//
//
// The table of compiler/transforms/spmd/rules/README.md: an instruction of each opcode, the passes
// that run before partitioning, and the rule of what is left. If the table differs, the test prints
// what it should be.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/OpKinds.h"
#include "compiler/parser/Parser.h"
#include "compiler/transforms/expanders/Expanders.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "compiler/transforms/spmd/Partitioner.h"
#include "dialect/hlo/Shapes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>
#include <map>

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

/// An instruction on the parameters of `textOf`.
struct Instance {
  const char *name; ///< of the row: an opcode, perhaps with what is particular in parentheses
  const char *text;
};

constexpr Instance kInstances[] = {
    {"bitcast", "r = f32[64] bitcast(x)"},
    {"broadcast", "r = f32[8,8,4] broadcast(x), dimensions={0,1}"},
    {"concatenate", "r = f32[16,8] concatenate(x, y), dimensions={0}"},
    {"copy", "r = f32[8,8] copy(x)"},
    {"dynamic-reshape", "r = f32[<=64] dynamic-reshape(x, n)"},
    {"dynamic-slice", "r = f32[8,4] dynamic-slice(x, n, n), dynamic_slice_sizes={8,4}"},
    {"dynamic-update-slice", "r = f32[8,8] dynamic-update-slice(x, y, n, n)"},
    {"gather", "r = f32[8,4] gather(x, v), offset_dims={1}, collapsed_slice_dims={0}, "
               "start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}"},
    {"get-dimension-size", "r = s32[] get-dimension-size(x), dimensions={0}"},
    {"iota", "r = f32[8,8] iota(), iota_dimension=0"},
    {"pad", "r = f32[12,8] pad(x, s), padding=2_2x0_0"},
    {"reshape", "r = f32[64] reshape(x)"},
    {"reverse", "r = f32[8,8] reverse(x), dimensions={0}"},
    {"set-dimension-size", "r = f32[<=8,8] set-dimension-size(x, n), dimensions={0}"},
    {"slice", "r = f32[8,4] slice(x), slice={[0:8],[2:6]}"},
    {"transpose", "r = f32[8,8] transpose(x), dimensions={1,0}"},
    {"constant", "r = f32[4] constant({1, 2, 3, 4})"},
    {"scatter", "r = f32[8,8] scatter(x, v, y), update_window_dims={1}, inserted_window_dims={0}, "
                "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"},
    {"reduce", "r = f32[8] reduce(x, s0), dimensions={0}, to_apply=add"},
    {"reduce (argmax)",
     "r = (f32[8], s32[8]) reduce(x, i, low, n0), dimensions={0}, to_apply=larger"},
    {"reduce (argmax that takes the last)",
     "r = (f32[8], s32[8]) reduce(x, i, s, n), dimensions={0}, to_apply=last"},
    {"reduce (not associative)", "r = f32[8] reduce(x, s0), dimensions={0}, to_apply=sub"},
    {"reduce-window", "r = f32[8,7] reduce-window(x, s0), window={size=1x2}, to_apply=add"},
    {"select-and-scatter",
     "w = f32[8,4] slice(x), slice={[0:8],[0:4]}\n"
     "  r = f32[8,8] select-and-scatter(x, w, s0), window={size=1x2 stride=1x2}, select=ge, "
     "scatter=add"},
    {"map", "r = f32[8,8] map(x, y), dimensions={0,1}, to_apply=add"},
    {"scan", "r = (f32[8,8], f32[8]) scan(x, row), dimensions={0}, num_carries=1, "
             "to_apply=step"},
    {"sort", "r = f32[8,8] sort(x), dimensions={0}, to_apply=lt"},
    {"topk", "r = (f32[8,2], s32[8,2]) topk(x), k=2, largest=true"},
    {"dot", "r = f32[8,8] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
    {"ragged-dot", "g = s32[2] constant({3, 5})\n  w = f32[2,8,8] broadcast(y), dimensions={1,2}\n"
                   "  r = f32[8,8] ragged-dot(x, w, g), lhs_contracting_dims={1}, "
                   "rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}"},
    {"scaled-dot", "r = f32[8,8] scaled-dot(x, y, x, s), lhs_contracting_dims={1}, "
                   "rhs_contracting_dims={0}"},
    {"convolution", "l = f32[8,8,4] broadcast(x), dimensions={0,1}\n"
                    "  k = f32[8,8,3] broadcast(y), dimensions={0,1}\n"
                    "  r = f32[8,8,2] convolution(l, k), window={size=3}, "
                    "dim_labels=bf0_oi0->bf0"},
    {"fft", "r = c64[8,8] fft(c), fft_type=FFT, fft_length={8}"},
    {"cholesky", "b = f32[4,8,8] broadcast(x), dimensions={1,2}\n  r = f32[4,8,8] cholesky(b), "
                 "lower=true"},
    {"triangular-solve", "r = f32[8,8] triangular-solve(x, y), left_side=true, lower=true, "
                         "transpose_a=NO_TRANSPOSE"},
    {"batch-norm-grad", "r = (f32[8,8], f32[8], f32[8]) batch-norm-grad(x, row, row, row, y), "
                        "epsilon=0.001, feature_index=1"},
    {"batch-norm-inference", "r = f32[8,8] batch-norm-inference(x, row, row, row, row), "
                             "epsilon=0.001, feature_index=1"},
    {"batch-norm-training", "r = (f32[8,8], f32[8], f32[8]) batch-norm-training(x, row, row), "
                            "epsilon=0.001, feature_index=1"},
    {"call", "r = f32[] call(s, s), to_apply=add"},
    {"while", "r = s32[] while(n), condition=less, body=next"},
    {"conditional", "r = s32[] conditional(n, n, n), branch_computations={next, next}"},
    {"fusion", "r = f32[] fusion(s, s), kind=kLoop, calls=add"},
    {"tuple", "r = (f32[8,8], f32[8,8]) tuple(x, y)"},
    {"get-tuple-element", "t = (f32[8,8], f32[8,8]) tuple(x, y)\n"
                          "  r = f32[8,8] get-tuple-element(t), index=0"},
    {"opt-barrier", "r = f32[8,8] opt-barrier(x)"},
    {"domain", "r = f32[8,8] domain(x), domain={kind=\"sharding\", entry={maximal device=0}, "
               "exit={maximal device=0}}"},
    {"after-all", "a = token[] after-all()\n  r = f32[8,8] add-dependency(x, a)"},
    {"add-dependency", "a = token[] after-all()\n  r = f32[8,8] add-dependency(x, a)"},
    {"async-start", "a = ((f32[], f32[]), f32[], s32[]) async-start(s, s), calls=add\n"
                    "  r = f32[] async-done(a)"},
    {"async-update", "a = ((f32[], f32[]), f32[], s32[]) async-start(s, s), calls=add\n"
                     "  b = ((f32[], f32[]), f32[], s32[]) async-update(a)\n"
                     "  r = f32[] async-done(b)"},
    {"async-done", "a = ((f32[], f32[]), f32[], s32[]) async-start(s, s), calls=add\n"
                   "  r = f32[] async-done(a)"},
    {"copy-start", "a = (f32[8,8], f32[8,8], u32[]) copy-start(x)\n  r = f32[8,8] copy-done(a)"},
    {"copy-done", "a = (f32[8,8], f32[8,8], u32[]) copy-start(x)\n  r = f32[8,8] copy-done(a)"},
    {"custom-call", "r = f32[8,8] custom-call(x), custom_call_target=\"f\""},
    {"custom-call (with a rule)",
     "r = f32[8,8] custom-call(x), custom_call_target=\"f\", "
     "frontend_attributes={xla.sdy.sharding_rule=\"#sdy.op_sharding_rule<([i, j])->([i, j]) "
     "{i=8, j=8}, custom>\"}"},
    {"all-reduce", "r = f32[8,8] all-reduce(x), replica_groups={}, to_apply=add"},
    {"all-reduce (of partitions)",
     "r = f32[8,8] all-reduce(x), replica_groups={{0,1}}, channel_id=1, "
     "use_global_device_ids=true, to_apply=add"},
    {"all-reduce-start", "a = f32[8,8] all-reduce-start(x), replica_groups={}, to_apply=add\n"
                         "  r = f32[8,8] all-reduce-done(a)"},
    {"all-reduce-done", "a = f32[8,8] all-reduce-start(x), replica_groups={}, to_apply=add\n"
                        "  r = f32[8,8] all-reduce-done(a)"},
    {"all-gather", "r = f32[16,8] all-gather(x), dimensions={0}, replica_groups={{0,1}}"},
    {"all-gather-start", "a = (f32[8,8], f32[16,8]) all-gather-start(x), dimensions={0}, "
                         "replica_groups={{0,1}}\n  r = f32[16,8] all-gather-done(a)"},
    {"all-gather-done", "a = (f32[8,8], f32[16,8]) all-gather-start(x), dimensions={0}, "
                        "replica_groups={{0,1}}\n  r = f32[16,8] all-gather-done(a)"},
    {"reduce-scatter", "r = f32[4,8] reduce-scatter(x), dimensions={0}, replica_groups={{0,1}}, "
                       "to_apply=add"},
    {"all-to-all", "r = f32[8,8] all-to-all(x), dimensions={0}, replica_groups={{0,1}}"},
    {"ragged-all-to-all",
     "o = s64[2] constant({0, 0})\n  r = f32[8,8] ragged-all-to-all(x, y, o, o, o, o), "
     "replica_groups={{0,1}}"},
    {"collective-broadcast", "r = f32[8,8] collective-broadcast(x), replica_groups={{0,1}}"},
    {"collective-permute", "r = f32[8,8] collective-permute(x), source_target_pairs={{0,1}}"},
    {"collective-permute-start",
     "a = (f32[8,8], f32[8,8]) collective-permute-start(x), source_target_pairs={{0,1}}\n"
     "  r = f32[8,8] collective-permute-done(a)"},
    {"collective-permute-done",
     "a = (f32[8,8], f32[8,8]) collective-permute-start(x), source_target_pairs={{0,1}}\n"
     "  r = f32[8,8] collective-permute-done(a)"},
    {"partition-id", "r = u32[] partition-id()"},
    {"replica-id", "r = u32[] replica-id()"},
    {"infeed", "a = token[] after-all()\n  r = (f32[8,8], token[]) infeed(a)"},
    {"outfeed", "a = token[] after-all()\n  r = token[] outfeed(x, a)"},
    {"send", "a = token[] after-all()\n  b = (f32[8,8], u32[], token[]) send(x, a), channel_id=1\n"
             "  r = token[] send-done(b), channel_id=1"},
    {"send-done",
     "a = token[] after-all()\n  b = (f32[8,8], u32[], token[]) send(x, a), channel_id=1\n"
     "  r = token[] send-done(b), channel_id=1"},
    {"recv", "a = token[] after-all()\n  b = (f32[8,8], u32[], token[]) recv(a), channel_id=1\n"
             "  r = (f32[8,8], token[]) recv-done(b), channel_id=1"},
    {"recv-done",
     "a = token[] after-all()\n  b = (f32[8,8], u32[], token[]) recv(a), channel_id=1\n"
     "  r = (f32[8,8], token[]) recv-done(b), channel_id=1"},
    {"rng", "r = f32[8,8] rng(s, s), distribution=rng_uniform"},
    {"rng-bit-generator",
     "r = (u64[2], u32[8,8]) rng-bit-generator(state), algorithm=rng_three_fry"},
    {"rng-get-and-update-state", "r = u64[2] rng-get-and-update-state(), delta=1"},
};

/// What stands for no instruction of the text.
constexpr StringLiteral kNoOpcodes[] = {"computation", "return", "stack", "collective_done",
                                        "pack",        "resize", "unpack"};

/// A module whose entry has the instruction and parameters of many types.
std::string textOf(StringRef instruction) {
  return R"(HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
sub { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] subtract(a, b) }
lt { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT }
ge { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE }
step { a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  c = f32[8] add(a, b)
  ROOT r = (f32[8], f32[8]) tuple(c, c) }
larger { v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  gt = pred[] compare(v, w), direction=GT
  ne = pred[] compare(v, v), direction=NE
  larger = pred[] or(gt, ne)
  eq = pred[] compare(v, w), direction=EQ
  before = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, before)
  first = pred[] or(larger, tie)
  v2 = f32[] select(larger, v, w)
  i2 = s32[] select(first, i, j)
  ROOT r = (f32[], s32[]) tuple(v2, i2) }
last { v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  gt = pred[] compare(v, w), direction=GT
  v2 = f32[] select(gt, v, w)
  i2 = s32[] select(gt, i, j)
  ROOT r = (f32[], s32[]) tuple(v2, i2) }
less { a = s32[] parameter(0)
  ten = s32[] constant(10)
  ROOT r = pred[] compare(a, ten), direction=LT }
next { a = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT r = s32[] add(a, one) }
ENTRY main {
  x = f32[8,8] parameter(0)
  y = f32[8,8] parameter(1)
  i = s32[8,8] parameter(2)
  j = s32[8,8] parameter(3)
  p = pred[8,8] parameter(4)
  c = c64[8,8] parameter(5)
  s = f32[] parameter(6)
  n = s32[] parameter(7)
  v = s32[8,1] parameter(8)
  row = f32[8] parameter(9)
  state = u64[2] parameter(10)
  u = u32[8,8] parameter(11)
  s0 = f32[] constant(0)
  low = f32[] constant(-inf)
  n0 = s32[] constant(0)
  )" + instruction.str() +
         "\n}\n";
}

/// The instruction of an element-wise opcode.
std::string elementwiseText(StringRef opcode) {
  bool isBits = opcode == "and" || opcode == "or" || opcode == "xor" || opcode == "mulhi" ||
                opcode.starts_with("shift");
  std::string result =
      opcode == "complex"                                                                  ? "c64"
      : isBits || opcode == "not" || opcode == "popcnt" || opcode == "count-leading-zeros" ? "s32"
      : opcode == "compare" || opcode == "is-finite"                                       ? "pred"
                                                                                           : "f32";
  std::string operands = llvm::StringSwitch<std::string>(opcode)
                             .Case("select", "p, x, y")
                             .Case("clamp", "s, x, s")
                             .Case("compare", "x, y), direction=LT")
                             .Case("reduce-precision", "x), exponent_bits=5, mantissa_bits=3")
                             .Case("convert", "i")
                             .Case("stochastic-convert", "x, u")
                             .Cases({"real", "imag"}, "c")
                             .Cases({"not", "popcnt", "count-leading-zeros"}, "i")
                             .Cases({"add", "atan2", "complex", "divide", "maximum", "minimum",
                                     "multiply", "power", "remainder", "subtract"},
                                    "x, y")
                             .Default(isBits ? "i, j" : "x");
  if (opcode == "stochastic-convert") {
    result = "s32";
  }
  return "r = " + result + "[8,8] " + opcode.str() + "(" + operands +
         (StringRef(operands).contains(')') ? "" : ")");
}

/// Ops whose bodies the partitioner partitions.
bool isControl(StringRef opcode) { return opcode == "while" || opcode == "conditional"; }

class Rules : public testing::Test {
protected:
  /// The text of a row's columns after the opcode.
  std::string describe(StringRef opcode, StringRef instruction) {
    OwningOpRef<ModuleOp> module = parseHlo(textOf(instruction), "rules.hlo", &context);
    EXPECT_TRUE(module) << opcode.str() << ": " << instruction.str();
    if (!module) {
      return "";
    }
    // What runs before the phase.
    auto passes = PassManager::on<ModuleOp>(&context);
    passes.addPass(createFlattenCallsPass());
    passes.addPass(createFlattenTuplesPass());
    passes.addPass(createHostTransferExpanderPass());
    passes.addPass(createDeviceTransferExpanderPass());
    passes.addPass(createDynamicPadderPass());
    EXPECT_TRUE(succeeded(passes.run(*module))) << opcode.str();
    Operation *found = nullptr;
    for (auto computation : module->getOps<ComputationOp>()) {
      for (Operation &op : computation.getBody().front()) {
        if (computation.getEntry() && hloOpcode(op.getName().getStringRef()) == opcode) {
          found = &op;
        }
      }
    }
    if (!found) {
      return "gone | replaced before partitioning";
    }
    if (isControl(opcode)) {
      return "real | by the bodies' ops";
    }
    Rule rule = ruleOf(found);
    bool has[4] = {};
    for (const Factor &factor : rule.factors) {
      has[static_cast<int>(factor.kind)] = true;
    }
    // A rule without factors has its reason, and a real one splits something.
    std::string reason = rule.replicated;
    if (!reason.empty()) {
      EXPECT_FALSE(has[0] || has[1] || has[2]) << opcode.str();
      return "replicated | " + reason;
    }
    if (!has[0] && !has[1] && !has[2]) {
      ADD_FAILURE() << opcode.str() << " splits nothing and has no reason";
    }
    constexpr const char *names[] = {"pass", "sum", "special", "whole"};
    std::string kinds;
    for (int kind = 0; kind < 4; ++kind) {
      kinds += has[kind] ? (kinds.empty() ? "" : ", ") + std::string(names[kind]) : "";
    }
    return "real | " + kinds;
  }

  /// Every opcode of the dialect.
  std::vector<std::string> opcodes() {
    context.loadDialect<HloDialect>();
    std::vector<std::string> names;
    for (RegisteredOperationName name : context.getRegisteredOperations()) {
      if (name.getDialectNamespace() == "hlo" &&
          !llvm::is_contained(kNoOpcodes, name.stripDialect())) {
        names.push_back(hloOpcode(name.getStringRef()));
      }
    }
    return names;
  }

  std::string page() {
    std::map<std::string, std::vector<std::string>> rows;
    for (const std::string &opcode : opcodes()) {
      std::string op = opcode;
      std::replace(op.begin(), op.end(), '-', '_');
      OperationName registered("hlo." + op, &context);
      bool found = false;
      for (const Instance &instance : kInstances) {
        if (StringRef(instance.name).split(" (").first == opcode) {
          rows[describe(opcode, instance.text)].push_back(instance.name);
          found = true;
        }
      }
      if (!found && (propertiesOf(registered).flags & OpFlag::Elementwise)) {
        rows[describe(opcode, elementwiseText(opcode))].push_back(opcode);
        found = true;
      }
      EXPECT_TRUE(found) << opcode << " has no instance in this test";
    }
    std::string text = "| opcode | rule | along which dimensions, or why not |\n|---|---|---|\n";
    for (auto &[description, names] : rows) {
      std::sort(names.begin(), names.end());
      // Lines of up to 120 columns: a row goes on in rows without a description.
      std::string line, columns = description;
      auto flush = [&] {
        text += "| " + line + " | " + columns + " |\n";
        line.clear();
        columns = "| ";
      };
      for (const std::string &name : names) {
        if (!line.empty() && line.size() + name.size() + columns.size() + 10 > 120) {
          flush();
        }
        line += (line.empty() ? "" : ", ") + name;
      }
      flush();
    }
    return text;
  }

  MLIRContext context;
};

TEST_F(Rules, EveryOpcodeIsOnThePage) {
  std::string expected = page();
  auto file = llvm::MemoryBuffer::getFile(HLO_RULES_PAGE);
  ASSERT_TRUE(static_cast<bool>(file));
  StringRef text = (*file)->getBuffer();
  size_t begin = text.find("| opcode |");
  ASSERT_NE(begin, StringRef::npos);
  StringRef table = text.drop_front(begin);
  table = table.take_front(table.find("\n\n") == StringRef::npos ? table.size()
                                                                 : table.find("\n\n") + 1);
  EXPECT_EQ(table.str(), expected) << "the table should be:\n" << expected;
}

} // namespace
