//===- ErrorTest.cpp - Diagnostics: text, place, recovery -----------------===//
#include "ParserTesting.h"
#include "gtest/gtest.h"

namespace {
struct Case {
  /// One line in the entry computation of `inEntry`, which is line 10.
  const char *line;
  /// The first diagnostic.
  const char *expected;
};

TEST(Errors, OneLine) {
  const Case cases[] = {
      {"  r = f32[4] negat(x)", "10:14: unknown opcode 'negat'; did you mean 'negate'?"},
      {"  r = f32[4] add(x, q)", "10:21: operand 'q' is not defined above in this computation"},
      {"  r = f32[4] add(x)", "10:14: add takes 2 operands, got 1"},
      {"  r = f32[4] transpose(x), dimension={0}",
       "10:28: transpose has no attribute 'dimension'; did you mean 'dimensions'?"},
      {"  r = f32[4] transpose(x)", "10:14: transpose needs the attribute 'dimensions'"},
      {"  r = f32[4] transpose(x), dimensions={0,}",
       "10:42: expected an integer in a list, got '}'"},
      {"  r = f32[4] transpose(x), dimensions={0}, dimensions={0}",
       "10:44: attribute 'dimensions' is given twice"},
      {"  x = f32[4] negate(x)", "10:3: instruction 'x' is already defined"},
      {"  r = f32[4] call(x), to_apply=nge",
       "10:32: computation 'nge' of to_apply does not exist; did you mean 'neg'?"},
      {"  r= f32[4] negate(x)", "10:3: write a blank between 'r' and '='"},
      {"  f32 = f32[4] negate(x)",
       "10:3: 'f32' is an element type and cannot name an instruction; write 'f32_'"},
      {"  __r = f32[4] negate(x)", "10:3: instruction name '__r' must not begin with '__'"},
      {"  r = f32[4] negate(f32[5] x)",
       "10:21: operand 'x' is written as f32[5], but it is f32[4]"},
      {"  r = F32[4] negate(x)", "10:7: unknown opcode or type 'F32'; did you mean 'f32'?"},
      {"  r = i32[4] negate(x)", "10:7: unknown opcode or type 'i32'; did you mean 's32'?"},
      {"  r = bool[4] not(x)", "10:7: unknown opcode or type 'bool'; did you mean 'pred'?"},
      {"  r = f32[4]{1,0} negate(x)", "10:13: layout has 2 dimensions, the shape has 1"},
      {"  r = f32[-1] negate(x)", "10:11: dimension 0 has negative size -1"},
      {"  r = token[2] after-all()", "10:7: token has no dimensions, write token[]"},
      {"  r = f32[4]{0:T(-8)} negate(x)", "10:18: layout: tile size -8 is negative"},
      {"  r = f32[4]{0:L(0)} negate(x)", "10:18: layout: L(0) must be at least 1"},
      {"  r = f32[4] negate(x), metadata={op_nam=\"x\"}",
       "10:35: metadata has no field 'op_nam'; did you mean 'op_name'?"},
      {"  r = f32[4] negate(x), control-predecessors={q}",
       "10:47: control predecessor 'q' does not exist"},
      {"  r = f32[4] negate(x), parameter_replication={true}",
       "10:25: parameter_replication belongs to parameters, not to negate"},
      {"  r = f32[4] compare(x, y), direction=lt",
       "10:39: unknown value 'lt' for 'direction'; did you mean 'LT'?; known are EQ, NE, GE, GT, "
       "LE, LT"},
      {"  r = iota(), iota_dimension=0",
       "10:7: the shape of iota cannot be inferred and must be written"},
      {"  r = broadcast(x), dimensions={1}",
       "10:7: the shape of a broadcast with dimensions must be written"},
      {"  r = f32[5] reshape(x)", "10:7: reshape of 4 elements to 5"},
      {"  r = f32[4] conditional(z, x, x), branch_computations={neg, neg}",
       "10:26: the selector of a conditional is pred[] or s32[], got f32[]"},
      {"  r = f32[4] conditional(i, x), branch_computations={neg, neg}",
       "10:14: conditional has 2 branches and 1 branch operands"},
      {"  r = f32[4] all-reduce(x), use_global_device_ids=true, to_apply=add",
       "10:14: all-reduce: use_global_device_ids=true needs a channel_id"},
      {"  r = f32[4] parameter(0)", "10:24: parameter 0 is defined twice"},
      {"  r = f32[4] parameter(9)", "10:3: parameter 9 of 'e', but there is no parameter 5"},
      {"  r = u8[] constant(256)", "10:21: value 256 is out of range for u8, which is [0, 255]"},
      {"  r = f32[2,2] constant({{1,2},{3}})",
       "10:34: literal has 1 elements in dimension 1, the shape has 2"},
      {"  r = f32[2] constant({1,2,3})", "10:28: literal has more than 2 elements in dimension 0"},
      {"  r = f32[] constant(.5)", "10:22: stray '.'; a number needs a digit before the point"},
      {"  r = s32[] constant(4.0)", "10:22: expected an integer of type s32, got 4.0"},
      {"  r = f32[4] negate(x), sharding={devices=[3]0,1}",
       "10:43: sharding has 3 tiles and 2 devices"},
      {"  r = f32[4] negate(x), sharding={mesh['x'=2], [{'y'}]}",
       "10:50: the mesh has no axis 'y'"},
      {"  r = f32[4] reduce-window(x, z), window={size=3 pad=1_1x1_1}, to_apply=add",
       "10:50: window: pad has 2 entries, size has 1"},
      {"  s = f32[4] negate-start(x)",
       "10:7: the state of an asynchronous operation is ((operands...), result, context...), got "
       "f32[4]"},
      {"  s = ((f32[4]), f32[4]) negate-start(x)\n  d = f32[4] ceil-done(s)",
       "11:14: this continues negate-start, not ceil-start"},
  };
  for (const Case &c : cases) {
    ParseFixture fixture;
    EXPECT_FALSE(fixture.parse(inEntry(c.line))) << c.line;
    ASSERT_FALSE(fixture.messages.empty()) << c.line;
    EXPECT_EQ(fixture.messages.front(), c.expected) << c.line;
  }
}

TEST(Errors, WholeTexts) {
  const Case cases[] = {
      {"HloModule m", "1:12: a module needs at least one computation"},
      {"HloModule m, is_schedule=true\nENTRY e { ROOT p = f32[] parameter(0) }",
       "1:14: unknown module attribute 'is_schedule'; did you mean 'is_scheduled'?"},
      {"HloModule m, input_output_alias={ {1}: (0, {}) }\nENTRY e { p = f32[] parameter(0) }",
       "1:33: input_output_alias: the result f32[] has no output {1}"},
      {"HloModule m\nENTRY e { }", "2:11: computation 'e' has no instructions"},
      {"HloModule m\nENTRY e {\n p = f32[] parameter(0)\n",
       "4:1: the body of computation 'e' has no closing '}'"},
      {"HloModule m\nENTRY e (p: f32[4]) -> f32[5] {\n ROOT p = f32[4] parameter(0)\n}",
       "2:7: the signature of 'e' gives the result f32[5], its root is f32[4]"},
      {"HloModule m\nENTRY e (%p: f32[4]) -> f32[4] { p = f32[4] parameter(0) }",
       "2:10: parameter names in a signature have no '%'"},
      {"HloModule m\nENTRY a { p = f32[] parameter(0) }\nENTRY b { p = f32[] parameter(0) }",
       "3:1: a module has one ENTRY"},
      {"HloModule m\na { p = f32[] parameter(0) }\na { p = f32[] parameter(0) }",
       "3:1: computation 'a' is already defined"},
      {"HloModule m\nENTRY e {\n ROOT p = f32[] parameter(0)\n ROOT q = f32[] negate(p)\n}",
       "4:2: a computation has one ROOT"},
      {"HloModule m\nFileNames\n1 \"a\"\nENTRY e { p = f32[] parameter(0) }",
       "4:1: expected FunctionNames in the stack frame tables, got 'ENTRY'"},
      {"f32[4] add(a, b)", "1:12: operand 'a' is not defined above in this computation"},
      {"f32[4] add(f32[4] a, f32[4] b) x",
       "1:32: expected the end of the text after a single instruction, got 'x'"},
      {"", "1:1: expected a module, a computation or an instruction, got the end of the text"},
  };
  for (const Case &c : cases) {
    ParseFixture fixture;
    EXPECT_FALSE(fixture.parse(c.line)) << c.line;
    ASSERT_FALSE(fixture.messages.empty()) << c.line;
    EXPECT_EQ(fixture.messages.front(), c.expected) << c.line;
  }
}

// Each error is reported once; users of a broken name report nothing more.
TEST(Errors, ReportsSeveral) {
  ParseFixture fixture;
  EXPECT_FALSE(fixture.parse("HloModule m\n"
                             "f { v = f32[4] parameter(0) ROOT n = f32[4] negat(v) }\n"
                             "ENTRY e {\n"
                             "  p = f32[4] parameter(0)\n"
                             "  a = f32[4] negat(p)\n"
                             "  b = f32[4] add(p, a)\n"
                             "  c = call(p), to_apply=f\n"
                             "  d = f32[4] custom-call(p), custom_call_target=\"x\", to_apply={\n"
                             "    x = f32[4] parametr(0)\n"
                             "    ROOT r = f32[4] negate(x)\n"
                             "  }\n"
                             "  ROOT r = f32[4] tan(p, p)\n"
                             "}\n"));
  EXPECT_EQ(fixture.messages, (std::vector<std::string>{
                                  "2:45: unknown opcode 'negat'; did you mean 'negate'?",
                                  "5:14: unknown opcode 'negat'; did you mean 'negate'?",
                                  "9:16: unknown opcode 'parametr'; did you mean 'parameter'?",
                                  "12:19: tan takes 1 operand, got 2",
                              }));
}

TEST(Errors, StopsAtTheLimit) {
  std::string text = "HloModule m\nENTRY e {\n";
  for (int i = 0; i < 100; ++i) {
    text += "  a" + std::to_string(i) + " = f32[4] negate(missing)\n";
  }
  ParseFixture fixture;
  EXPECT_FALSE(fixture.parse(text + "}\n", 3));
  EXPECT_EQ(fixture.messages.size(), 4u); // and the note that there may be more
}

TEST(Errors, DefinitionsAreShown) {
  ParseFixture fixture;
  EXPECT_FALSE(fixture.parse(inEntry("  r = f32[4] negate(f32[5] x)")));
  ASSERT_EQ(fixture.messages.size(), 2u);
  EXPECT_EQ(fixture.messages[1], "note: 5:3: defined here");
}

// Nests that would overflow the stack of a recursive parser.
TEST(Errors, DeepNestsAreRefused) {
  auto repeat = [](const char *piece, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) {
      text += piece;
    }
    return text;
  };
  const std::string texts[] = {
      inEntry("  r = " + repeat("(", 100000) + " parameter(9)"),
      inEntry("  r = " + repeat("negate(", 100000) + "x" + repeat(")", 100000)),
      inEntry("  r = " + repeat("f32[] call(), to_apply={ a = ", 100000)),
      inEntry("  r = f32[2] constant(" + repeat("{", 100000)),
      inEntry("  r = f32[4] negate(x), origin={" + repeat("(", 100000)),
      inEntry("  r = f32[4] negate(x), backend_config=" + repeat("{", 100000)),
  };
  for (const std::string &text : texts) {
    ParseFixture fixture;
    EXPECT_FALSE(fixture.parse(text));
    EXPECT_EQ(fixture.messages.size(), 1u);
  }
}
} // namespace
