//===- Lexer.h - Tokens of the HLO text format ----------------------------===//
//
// A hand-written lexer with one current token. Its only state is a position in the buffer, so the
// parser can go back (`State`).
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_PARSER_LEXER_H
#define COMPILER_PARSER_LEXER_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace hlo::parser {

/// Kinds of tokens. The character after a word decides the word's kind.
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
  /// For Name and AttrName: whether the text had a sigil or colon.
  bool sigil = false;
  bool colon = false;
  llvm::StringRef text;
  /// First character of the token, sigil included.
  const char *begin = nullptr;
  int64_t intValue = 0;
  double floatValue = 0;
  /// The message, for Tok::Error.
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
  /// The next character after the current token that is not in blanks or a comment; 0 at the end.
  char peekChar() const;

  /// A position to return to.
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

  /// If the current token is `{`, takes the text up to the matching `}`, braces included, and moves
  /// past it. Braces in double-quoted strings do not count. False, without moving, if there is no
  /// matching brace.
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

/// True if the lexer returns `name` as Tok::Keyword or NonFinite.
bool isReservedWord(llvm::StringRef name);
/// True if `name` is a primitive type.
bool isPrimitiveWord(llvm::StringRef name);
/// True if `c` may occur in an identifier; or begin one.
bool isIdentifierChar(char c);
bool isIdentifierStart(char c);

} // namespace hlo::parser

#endif
