//===- RoundTripTest.cpp - Print of parse is the same module --------------===//
#include "ParserTesting.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <random>

namespace {
/// Prints the parsed text, and checks that the output parses to the same module.
std::string roundTrip(llvm::StringRef text) {
  ParseFixture fixture;
  mlir::OwningOpRef<mlir::ModuleOp> first = fixture.parse(text);
  if (!first) {
    ADD_FAILURE() << text.str() << "\n" << (fixture.messages.empty() ? "" : fixture.messages[0]);
    return "";
  }
  std::string printed = ParseFixture::print(*first);
  mlir::OwningOpRef<mlir::ModuleOp> second = fixture.parse(printed);
  if (!second) {
    ADD_FAILURE() << printed << "\n" << (fixture.messages.empty() ? "" : fixture.messages[0]);
    return printed;
  }
  EXPECT_EQ(printed, ParseFixture::print(*second));
  EXPECT_EQ(ParseFixture::structure(*first), ParseFixture::structure(*second));
  return printed;
}

/// Passes add computations behind their callers; the format has them before.
TEST(RoundTrip, ComputationsStandBeforeTheirCallers) {
  ParseFixture fixture;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      fixture.parse("HloModule m\n"
                    "inner { a = f32[] parameter(0) ROOT r = negate(a) }\n"
                    "outer { a = f32[] parameter(0) ROOT r = call(a), to_apply=inner }\n"
                    "ENTRY main { x = f32[] parameter(0) ROOT r = call(x), to_apply=outer }\n");
  ASSERT_TRUE(module);
  mlir::Block *body = module->getBody();
  body->front().moveBefore(body, body->end());
  body->front().moveBefore(body, body->end());
  std::string printed = ParseFixture::print(*module);
  EXPECT_LT(printed.find("%inner ("), printed.find("%outer ("));
  EXPECT_LT(printed.find("%outer ("), printed.find("ENTRY"));
  EXPECT_TRUE(fixture.parse(printed)) << printed;
}

struct Case {
  const char *line;
  /// A part of the printed text; null: the line itself, with sigils.
  const char *expected;
};

TEST(RoundTrip, Instructions) {
  const Case cases[] = {
      {"r = negate(x)", "%r = f32[4]{0} negate(%x)"},
      {"r = negate(x,)", "%r = f32[4]{0} negate(%x)"},
      {"r = add(x, negate(x))", "%negate.anon = f32[4]{0} negate(%x)"},
      {"negate.anon = ceil(x) r = add(x, negate(x))", "%negate.anon.1 = f32[4]{0} negate(%x)"},
      {"r = f32[2,2]{0,1:T(8,128)(2,1)E(4)S(5)} copy(m)",
       "%r = f32[2,2]{0,1:T(8,128)(2,1)E(4)S(5)} copy(%m)"},
      {"r = f32[ 2, 2 ]{ 1, 0 : L(1)S(0) } copy(m)", "%r = f32[2,2]{1,0} copy(%m)"},
      {"r = u32[]{:S(2)} custom-call(), custom_call_target='f'",
       "%r = u32[]{:S(2)} custom-call(), custom_call_target=\"f\""},
      {"r = f32[<=4] set-dimension-size(x, i), dimensions={0}",
       "%r = f32[<=4]{0} set-dimension-size(%x, %i), dimensions={0}"},
      {"r = f32[?,2] custom-call(), custom_call_target='f'", "%r = f32[?,2]{1,0} custom-call()"},
      {"r = b(f32[4]) custom-call(), custom_call_target='f'", "%r = b(f32[4]{0}) custom-call()"},
      {"r = f32[2,2] dot(m, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
       "algorithm=DOT_F32_F32_F32, operand_precision={HIGH,default}",
       "lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={high,default}, "
       "algorithm=dot_f32_f32_f32"},
      {"r = f32[2] slice(x), slice={[0:4:2]}", "slice={[0:4:2]}"},
      {"r = f32[4] slice(x), slice={[0:4]}", "slice={[0:4]}"},
      {"r = f32[9] pad(x, z), padding=1_-1_1", "padding=1_-1_1"},
      {"r = f32[4] reduce-window(x, z), window={pad=1_1 size=3 rhs_reversal=1}, to_apply=add",
       "window={size=3 pad=1_1 rhs_reversal=1}"},
      {"r = f32[4,8,8,16] custom-call(), custom_call_target='c', dim_labels=b01f_01io->b01f",
       "dim_labels=b01f_01io->b01f"},
      // The rule of an omitted shape reads frontend attributes.
      {"r = call(x), to_apply=neg, is_composite=true, frontend_attributes={composite.name=\"a\"}",
       "frontend_attributes={composite.name=\"a\"}"},
      {"r = f32[4] conditional(i, x, x), branch_computations={neg, neg}",
       "branch_computations={%neg, %neg}"},
      {"p = pred[] constant(true) r = f32[4] conditional(p, x, x), true_computation=neg, "
       "false_computation=neg",
       "true_computation=%neg, false_computation=%neg"},
      {"r = f32[4] call(x), to_apply={ a = f32[4] parameter(0) ROOT b = negate(a) }",
       "call(%x), to_apply=%inline.0"},
      {"s = ((f32[4]), f32[4], u32[]) transpose-start(x), dimensions={0}, "
       "async_execution_thread='q'  u = ((f32[4]), f32[4], u32[]) transpose-update(s)  "
       "d = f32[4] transpose-done(u)",
       "transpose-start(%x), dimensions={0}, async_execution_thread=\"q\""},
      {"r = f32[3] after-all()", "%r = token[] after-all()"},
      {"r = f32[4] batch-norm-inference(x,x,x,x,x), epsilon=0.001, feature_index=0",
       "epsilon=0.001, feature_index=0"},
      {"r = f32[4] custom-call(x), custom_call_target='a', literal=(s32[] 1, f32[2]{0} {1, 2}), "
       "api_version=api_version_typed_ffi, operand_layout_constraints={f32[4]{0}}",
       "operand_layout_constraints={f32[4]{0}}, literal=(s32[] 1, f32[2]{0} {1, 2}), "
       "api_version=API_VERSION_TYPED_FFI"},
      // Common attributes.
      {"r = negate(x), metadata={source_line=3, op_name='a\\'\"b' op_type=\"t\"}",
       "metadata={op_type=\"t\" op_name=\"a\\'\\\"b\" source_line=3}"},
      {"r = negate(x), frontend_attributes={b={x{\"}\"}},a='1'}",
       "frontend_attributes={a=\"1\",b={x{\"}\"}}}"},
      {"r = negate(x), backend_config='{\"a\":1}'", "backend_config={\"a\":1}"},
      {"r = negate(x), backend_config='{a'", "backend_config=\"{a\""},
      {"r = negate(x), control-predecessors={y, z, y}", "control-predecessors={%y, %z}"},
      {"r = negate(x), origin={}", "origin={()}"},
      {"r = tuple(x, y), origin={({\"a\"}, {\"b\" {1}})}", "origin={({\"a\"}, {\"b\" {1}})}"},
      {"r = negate(x), statistics={foo=1,b=2.5}", "statistics={foo=1,b=2.5}"},
      {"r = negate(x), sharding={last_tile_dim_replicate devices=[2,2]<=[4]}",
       "sharding={devices=[2,2]<=[4] last_tile_dim_replicate}"},
      {"r = negate(x), sharding={{replicated},{device=3 maximal}}",
       "sharding={{replicated}, {maximal device=3}}"},
      {"r = negate(x), sharding={mesh[\"x\"=2,'y'=4], [{'x','y':(2)2,?}], replicated={'y':(1)2}}",
       "sharding={mesh['x'=2,'y'=4], [{'x', 'y':(2)2, ?}], replicated={'y':(1)2}}"},
      {"r = negate(x), sharding={mesh['a\\'b]'=2,\"c'd{\"=4], [{'a\\'b]',\"c'd{\"}]}",
       "sharding={mesh['a\\'b]'=2,'c\\'d{'=4], [{'a\\'b]', 'c\\'d{'}]}"},
      {"r = f32[4] all-reduce(x), replica_groups=mesh['x\\''=2,'y'=2] {'x\\''}, to_apply=add",
       "replica_groups=mesh['x\\''=2,'y'=2] {'x\\''}"},
      {"r = f32[4] all-reduce(x), replica_groups=mesh['x'=2,'y'=2] {'y'}, to_apply=add",
       "replica_groups=mesh['x'=2,'y'=2] {'y'}"},
      {"r = f32[4] all-reduce(x), replica_groups=[2,2]<=[2,2]T(1,0), to_apply=add",
       "replica_groups=[2,2]<=[2,2]T(1,0)"},
      {"r = exponential(x), result_accuracy={tolerance={rtol=0.5,atol=1}}",
       "result_accuracy={tolerance={atol=1,rtol=0.5}}"},
      {"r = domain(x), domain={kind=\"sharding\", entry={replicated}, exit={maximal device=1}}",
       "domain={kind=\"sharding\", entry={replicated}, exit={maximal device=1}}"},
  };
  for (const Case &c : cases) {
    std::string printed = roundTrip(inEntry(c.line));
    EXPECT_NE(printed.find(c.expected), std::string::npos) << c.line << "\n" << printed;
  }
}

TEST(RoundTrip, Literals) {
  const Case cases[] = {
      {"f32[] constant(-0.0)", "f32[] constant(-0.0)"},
      {"f32[] constant(-0)", "f32[] constant(0)"},
      {"f32[] constant(0.1)", "f32[] constant(0.1)"},
      {"f32[] constant(0.30000001192092896)", "f32[] constant(0.3)"},
      {"f32[] constant(1.00000012)", "f32[] constant(1.0000001)"},
      {"f64[] constant(0.30000000000000004)", "f64[] constant(0.30000000000000004)"},
      {"f32[5] constant({1e10 inf,-inf,nan, -nan(0x7)})",
       "f32[5]{0} constant({1e+10, inf, -inf, nan, -nan(0x7)})"},
      {"bf16[2] constant({3.1415926, 65280})", "bf16[2]{0} constant({3.14, 65280})"},
      {"f16[2] constant({65519, 0.1})", "f16[2]{0} constant({65504, 0.1})"},
      {"f8e4m3fn[3] constant({464, inf, -nan})", "f8e4m3fn[3]{0} constant({448, nan, -nan})"},
      {"f8e5m2fnuz[2] constant({-0.0, nan})", "f8e5m2fnuz[2]{0} constant({0, nan})"},
      {"f8e8m0fnu[3] constant({3, 6, 1.5})", "f8e8m0fnu[3]{0} constant({4, 8, 2})"},
      {"f4e2m1fn[3] constant({10, -inf, nan})", "f4e2m1fn[3]{0} constant({6, -6, -0.0})"},
      {"pred[] constant(7)", "pred[] constant(true)"},
      {"pred[3] constant({2, -2, 0})", "pred[3]{0} constant({1, 1, 0})"},
      {"pred[9] constant({true,0,1,1,1,1,1,1,false})",
       "pred[9]{0} constant({1, 0, 1, 1, 1, 1, 1, 1, 0})"},
      {"pred[8] constant({1,1,1,1,1,1,1,1})", "pred[8]{0} constant({1, 1, 1, 1, 1, 1, 1, 1})"},
      {"s1[2] constant({-1, 0})", "s1[2]{0} constant({-1, 0})"},
      {"s4[3] constant({-8, 7, 0})", "s4[3]{0} constant({-8, 7, 0})"},
      {"u4[2] constant({15, 1})", "u4[2]{0} constant({15, 1})"},
      {"u64[2] constant({-1, 18446744073709551615})",
       "u64[2]{0} constant({18446744073709551615, 18446744073709551615})"},
      {"s64[] constant(18446744073709551615)", "s64[] constant(-1)"},
      {"c64[2] constant({(1, -2.5), (inf, 0)})", "c64[2]{0} constant({(1, -2.5), (inf, 0)})"},
      {"s32[2,2] constant({{1 2}{3,,4,}})", "s32[2,2]{1,0} constant({ { 1, 2 }, { 3, 4 } })"},
      {"s32[2,2]{0,1} constant({{1,2},{3,4}})", "s32[2,2]{0,1} constant({ { 1, 2 }, { 3, 4 } })"},
      {"f32[2,0,4] constant({{},{}})", "f32[2,0,4]{2,1,0} constant({ {  }, {  } })"},
      {"f32[0,2] constant({})", "f32[0,2]{1,0} constant({  })"},
      {"f32[<=3] constant({1,2,3})", "f32[3]{0} constant({1, 2, 3})"},
      {"f32[1] constant(1)", "f32[1]{0} constant({1})"},
      {"f32[2,2] constant({...})", "f32[2,2]{1,0} constant({...})"},
      {"(f32[], (s32[2], pred[])) constant((1, ({2, 3}, false)))",
       "(f32[], (s32[2]{0}, pred[])) constant(( 1, ( {2, 3}, false ) ))"},
  };
  for (const Case &c : cases) {
    std::string printed = roundTrip(inEntry(std::string("ROOT r = ") + c.line));
    EXPECT_NE(printed.find(std::string("%r = ") + c.expected + "\n"), std::string::npos)
        << c.line << "\n"
        << printed;
  }
}

// As in XLA, a bare scalar for an array is its first element.
TEST(RoundTrip, BareScalarIsTheFirstElement) {
  ParseFixture fixture;
  std::string printed = fixture.print(inEntry("r = f32[3] constant(15)"));
  EXPECT_NE(printed.find("constant({15, 0, 0})"), std::string::npos);
  EXPECT_EQ(fixture.messages, std::vector<std::string>{
                                  "10:21: literal has 1 element, the shape 3; the others are 0"});
}

TEST(RoundTrip, Modules) {
  const Case cases[] = {
      {"HloModule a.b, is_scheduled=true, replica_count=2, num_partitions=4, "
       "input_output_alias={ {}: (0, {}, must-alias) }, buffer_donor={ (1, {}) }, "
       "entry_computation_layout={(f32[2,2]{0,1}, s32[])->f32[2,2]{0,1}}, "
       "allow_spmd_sharding_propagation_to_output={true}, frontend_attributes={k={v}}\n"
       "ENTRY e { p = f32[2,2]{0,1} parameter(0) q = s32[] parameter(1) ROOT r = copy(p) }",
       "HloModule a.b, is_scheduled=true, input_output_alias={ {}: (0, {}, must-alias) }, "
       "buffer_donor={ (1, {}) }, "
       "entry_computation_layout={(f32[2,2]{0,1}, s32[])->f32[2,2]{0,1}}, "
       "allow_spmd_sharding_propagation_to_output={true}, replica_count=2, num_partitions=4, "
       "frontend_attributes={k={v}}\n"},
      {"HloModule m\n\nFileNames\n1 \"a.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n"
       "1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=4 end_column=9}\n\n"
       "StackFrames\n1 {file_location_id=1, parent_frame_id=1}\n\n"
       "ENTRY e { p = f32[] parameter(0), metadata={stack_frame_id=1} }",
       "1 {file_location_id=1 parent_frame_id=1}"},
      {"f { ROOT p = f32[] parameter(0) }, execution_thread=\"t\"  ENTRY e { q = f32[] "
       "parameter(0) ROOT r = call(q), to_apply=f }",
       "}, execution_thread=\"t\""},
      {"ENTRY e { b = f32[] parameter(1) a = s32[] parameter(0) ROOT r = negate(b) }",
       "%e (a: s32[], b: f32[]) -> f32[] {"},
      {"ENTRY e { ROOT a = f32[4] parameter(0), parameter_replication={true}, "
       "sharding={replicated} }",
       "parameter(0), sharding={replicated}, parameter_replication={true}"},
      {"f32[4] add(f32[4] a, f32[4])", "%add = f32[4]{0} add(%a, %_1)"},
      {"HloModule %true ENTRY e { ROOT %ROOT = f32[] parameter(0) }", "HloModule %true\n"},
      // A comment or a line end may stand before a layout, also of a shape that came without one.
      {"ENTRY e { a = f32[2,3] parameter(0) b = f32[2,3]/*c*/{0,1} parameter(1) ROOT r = copy(b) }",
       "f32[2,3]{0,1} parameter(1)"},
      {"ENTRY e { a = f32[2,3] parameter(0) b = f32[2,3]\n{0,1} parameter(1) ROOT r = copy(b) }",
       "f32[2,3]{0,1} parameter(1)"},
  };
  for (const Case &c : cases) {
    std::string printed = roundTrip(c.line);
    EXPECT_NE(printed.find(c.expected), std::string::npos) << printed;
  }
}

// Modules after passes still print as HLO that parses.
TEST(RoundTrip, FlattenedModulesPrint) {
  ParseFixture fixture;
  fixture.context.loadDialect<hlo::HloDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      fixture.parse("HloModule m\n"
                    "ENTRY e { p = f32[4] parameter(0) q = s32[4] parameter(1)\n"
                    "  ROOT t = (f32[4], s32[4]) tuple(p, q) }");
  ASSERT_TRUE(module);
  auto entry = *module->getOps<hlo::ComputationOp>().begin();
  mlir::Operation *end = entry.getReturn();
  mlir::OpBuilder builder(end);
  mlir::Block &block = entry.getBody().front();
  // An op of two results, and a return of both.
  mlir::OperationState state(end->getLoc(), "hlo.opt_barrier");
  state.addOperands(block.getArguments());
  state.addTypes(block.getArgumentTypes());
  mlir::Operation *barrier = builder.create(state);
  end->setOperands(barrier->getResults());
  std::string printed = ParseFixture::print(*module);
  EXPECT_NE(printed.find("index=1"), std::string::npos) << printed;
  EXPECT_TRUE(fixture.parse(printed)) << printed << fixture.messages.front();
}

/// Files named in HLO_ROUND_TRIP_FILES, one path a line.
std::vector<std::string> listedFiles() {
  std::vector<std::string> files;
  const char *list = std::getenv("HLO_ROUND_TRIP_FILES");
  auto buffer = list ? llvm::MemoryBuffer::getFile(list) : std::error_code();
  if (!buffer) {
    return files;
  }
  llvm::SmallVector<llvm::StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  files.assign(lines.begin(), lines.end());
  return files;
}

TEST(RoundTrip, ListedFiles) {
  for (const std::string &file : listedFiles()) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    ASSERT_TRUE(bool(buffer)) << file;
    SCOPED_TRACE(file);
    roundTrip((*buffer)->getBuffer());
  }
}

/// A module with one of everything, for random damage.
std::string sample() {
  return "HloModule s, input_output_alias={ {}: (0, {}, may-alias) }\n" +
         inEntry("  c = f32[2,2]{0,1:T(2)} constant({ { 1, -nan(0x7) }, { 3.5, inf } })\n"
                 "  t = (f32[4], s32[]) tuple(x, i), sharding={{devices=[2,2]<=[2,2]T(1,0) "
                 "last_tile_dim_replicate},{replicated}}\n"
                 "  w = f32[4] reduce-window(x, z), window={size=3 pad=1_1}, to_apply={\n"
                 "    a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = add(a, b) }\n"
                 "  s = ((f32[4]), f32[4], u32[]) negate-start(x), metadata={op_name=\"n\\'\"}\n"
                 "  d = f32[4] negate-done(s), backend_config={\"k\":\"}\"}\n"
                 "  ROOT q = f32[4] custom-call(x, add(x, y)), custom_call_target=\"f\", "
                 "literal=(s32[] 1, s4[2]{0} {1, 2}), dim_labels=b0f_0io->b0f, "
                 "origin={({\"a\"}, {})}, frontend_attributes={a={b = 1 : i64}}")
             .substr(std::string("HloModule m\n").size());
}

// Damaged texts never crash, and accepted ones print.
TEST(Fuzz, RandomDamage) {
  const std::string text = sample();
  roundTrip(text);
  std::mt19937 random(1);
  const llvm::StringRef pool = "{}()[]<=,:%\"'x_->0123456789abf?#*+~ \n\t\\.eE";
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = text;
    for (int i = random() % 3; i >= 0; --i) {
      size_t at = random() % damaged.size();
      switch (random() % 4) {
      case 0: damaged[at] = pool[random() % pool.size()]; break;
      case 1: damaged.erase(at, 1 + random() % 8); break;
      case 2:
        damaged.insert(at, damaged.substr(random() % damaged.size(), 1 + random() % 30));
        break;
      case 3: damaged.resize(at + 1); break;
      }
    }
    ParseFixture fixture;
    mlir::OwningOpRef<mlir::ModuleOp> module = fixture.parse(damaged);
    if (module) {
      roundTrip(damaged);
    } else {
      EXPECT_FALSE(fixture.messages.empty()) << damaged;
    }
  }
}
} // namespace
