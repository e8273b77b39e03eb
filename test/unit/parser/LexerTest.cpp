//===- LexerTest.cpp - Tokens ---------------------------------------------===//
#include "compiler/parser/Lexer.h"
#include "gtest/gtest.h"
#include <vector>

using namespace hlo::parser;

namespace {
std::vector<Tok> kinds(llvm::StringRef text) {
  std::vector<Tok> result;
  for (Lexer lexer(text); !lexer.token().is(Tok::Eof); lexer.advance()) {
    result.push_back(lexer.token().kind);
    if (result.back() == Tok::Error) {
      break;
    }
  }
  return result;
}

struct Case {
  const char *text;
  std::vector<Tok> expected;
};

TEST(Lexer, ClassifiesTokens) {
  const Case cases[] = {
      // Words, by the character that touches them.
      {"abc", {Tok::Ident}},
      {"%abc", {Tok::Name}},
      {"abc:", {Tok::Name}},
      {"abc=", {Tok::AttrName}},
      {"abc =", {Tok::Ident, Tok::Equal}},
      {"%abc=", {Tok::Name, Tok::Equal}},
      {"a.b-c_1", {Tok::Ident}},
      {"f32", {Tok::Primitive}},
      {"f32.2", {Tok::Ident}},
      {"%f32", {Tok::Name}},
      {"ROOT true", {Tok::Keyword, Tok::Keyword}},
      {"%true", {Tok::Name}},
      {"inf.1", {Tok::Ident}},
      {"foo->", {Tok::Ident, Tok::Error}},
      {"% abc", {Tok::Error}},
      // Numbers: the first pattern that fits.
      {"1", {Tok::Int}},
      {"-7", {Tok::Int}},
      {"3e+2", {Tok::Decimal}},
      {"5.", {Tok::Decimal}},
      {"-.5", {Tok::Decimal}},
      {".5", {Tok::Error}},
      {"3x3x1", {Tok::DxD}},
      {"0x10", {Tok::DxD}},
      {"0_0x-1_2", {Tok::Pad}},
      {"1_1_3", {Tok::Pad}},
      {"b01f_01io->b01f", {Tok::DimLabels}},
      {"01bf_01io->01bf", {Tok::DimLabels}},
      {"b?f_io?->?bf", {Tok::DimLabels}},
      {"inf -inf nan -nan nan(0x12)",
       {Tok::NonFinite, Tok::NonFinite, Tok::NonFinite, Tok::NonFinite, Tok::NonFinite}},
      {"1e400", {Tok::Error}},
      {"18446744073709551616", {Tok::Error}},
      {"-9223372036854775809", {Tok::Error}},
      // The rest.
      {"-> <= ...", {Tok::Arrow, Tok::LessEqual, Tok::Dots}},
      {"a /* { */ b // }\nc", {Tok::Ident, Tok::Ident, Tok::Ident}},
      {"a /* b", {Tok::Ident, Tok::Error}},
      {"'a\"b' \"c\\\"d\"", {Tok::String, Tok::String}},
      {"\"abc", {Tok::Error}},
      {";", {Tok::Error}},
      {"#", {Tok::Hash}},
  };
  for (const Case &c : cases) {
    EXPECT_EQ(kinds(c.text), c.expected) << c.text;
  }
}

TEST(Lexer, ReadsValues) {
  EXPECT_EQ(Lexer("18446744073709551615").token().intValue, -1);
  EXPECT_EQ(Lexer("-9223372036854775808").token().intValue, INT64_MIN);
  EXPECT_EQ(Lexer("1.5E-3").token().floatValue, 1.5e-3);
  EXPECT_EQ(Lexer("1e-400").token().floatValue, 0.0);
  EXPECT_EQ(Lexer("%a.b").token().text, "a.b");
}

TEST(Lexer, TakesRawBraces) {
  Lexer lexer("{a = \"}\\\"\" {} // }\n} tail");
  llvm::StringRef raw;
  ASSERT_TRUE(lexer.takeRawBraces(raw));
  EXPECT_EQ(raw, "{a = \"}\\\"\" {} // }");
  Lexer open("{{}");
  EXPECT_FALSE(open.takeRawBraces(raw));
  EXPECT_TRUE(open.token().is(Tok::LBrace));
}
} // namespace
