//===- Lexer.h - Tokens of the HLO text format ----------------------------===//
//
// A hand-written lexer with one current token. Its whole state is a position
// in the buffer, so that the parser may go back (`State`).
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_PARSER_LEXER_H
#define COMPILER_PARSER_LEXER_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace hlo::parser {

/// Kinds of tokens. A word is classified by the character that touches its end.
enum class Tok : uint8_t {
  Eof,
  Error,
  // Punctuation.
  Equal,
  Comma,
  Colon,
  Star,
  Question,
  Hash,
  Plus,
  Tilde,
  LSquare,
  RSquare,
  LBrace,
  RBrace,
  LParen,
  RParen,
  Arrow,
  LessEqual,
  Dots,
  // Words.
  Name,      ///< `%abc` or `abc:`; text without the sigil or colon
  AttrName,  ///< `abc=`; text without the `=`
  Primitive, ///< `f32`, `pred`, `token`, ...
  Keyword,   ///< `ROOT`, `true`, `maximal`, ...; compare the text
  Ident,     ///< any other word
  // Numbers and the like.
  Int,       ///< `intValue`
  Decimal,   ///< `floatValue`
  NonFinite, ///< inf, -inf, nan, -nan, nan(0x12): see the text
  DimLabels, ///< 01bf_01io->01bf
  DxD,       ///< 3x3x1
  Pad,       ///< 0_0x-1_2
  String,    ///< text is the raw spelling, quotes included
};

/// One token. `text` points into the buffer.
struct Token {
  Tok kind = Tok::Eof;
  /// For Name and AttrName: whether a sigil or colon was there.
  bool sigil = false;
  bool colon = false;
  llvm::StringRef text;
  /// First character of the token, sigil included.
  const char *begin = nullptr;
  int64_t intValue = 0;
  double floatValue = 0;
  /// What is wrong, for Tok::Error.
  const char *error = nullptr;

  bool is(Tok k) const { return kind == k; }
  bool isKeyword(llvm::StringRef word) const { return kind == Tok::Keyword && text == word; }
};

/// Produces tokens from a buffer that outlives it. The buffer need not end in NUL.
class Lexer {
public:
  explicit Lexer(llvm::StringRef buffer);

  /// The current token.
  const Token &token() const { return current; }
  /// Moves to the next token.
  void advance() {
    lastEnd = cursor;
    lex();
  }
  /// The next character after the current token that is neither blank nor in a
  /// comment, or 0 at the end.
  char peekChar() const;

  /// Everything needed to come back to a place.
  struct State {
    Token token;
    const char *cursor;
    const char *lastEnd;
  };
  State save() const { return {current, cursor, lastEnd}; }
  void restore(const State &state) {
    current = state.token;
    cursor = state.cursor;
    lastEnd = state.lastEnd;
  }
  /// Continues at `position`, a place in the buffer.
  void restartAt(const char *position) {
    cursor = position;
    advance();
  }

  /// The current token is `{`: takes the text up to the matching `}`, braces
  /// included, and moves past it. Only double-quoted strings hide braces.
  /// False if there is no matching brace; then nothing moves.
  bool takeRawBraces(llvm::StringRef &text);

  /// One past the last character of the previous token.
  const char *previousEnd() const { return lastEnd; }
  llvm::StringRef getBuffer() const { return {start, size_t(end - start)}; }

private:
  void lex();
  bool skipBlank();
  void lexWord();
  void lexSigil();
  void lexNumber();
  void lexString(char quote);
  bool lexDimLabels();
  bool lexNonFinite(const char *after, bool isNan);
  void finish(Tok kind, const char *tokenEnd);
  void fail(const char *message, const char *tokenEnd);

  const char *start;
  const char *end;
  const char *cursor;
  const char *lastEnd;
  Token current;
};

/// Whether `name` is a word that the lexer gives as Tok::Keyword or NonFinite.
bool isReservedWord(llvm::StringRef name);
/// Whether `name` is the word of a primitive type.
bool isPrimitiveWord(llvm::StringRef name);
/// Whether `c` may occur in an identifier, respectively begin one.
bool isIdentifierChar(char c);
bool isIdentifierStart(char c);

} // namespace hlo::parser

#endif
