//===- SizeExprParser.cpp - Sizes from their text -------------------------===//
//
//   sum       product (('+' | '-') product)*, with an optional leading '-'
//   product   atom ('*' atom)*
//   atom      number, symbol, or floordiv(sum, sum), likewise mod, max, min
//
//===----------------------------------------------------------------------===//
#include "compiler/support/SizeExpr.h"
#include "llvm/ADT/StringRef.h"

using namespace hlo;
using llvm::StringRef;

namespace {
/// Levels of parentheses, which bound the parser's stack.
constexpr unsigned kMostNesting = 16;

class ExprParser {
public:
  explicit ExprParser(StringRef text) : rest(text) {}

  std::optional<SizeExpr> all() {
    std::optional<SizeExpr> expr = sum(0);
    rest = rest.ltrim();
    return expr && rest.empty() ? expr : std::nullopt;
  }

private:
  bool eat(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  std::optional<SizeExpr> sum(unsigned depth) {
    std::optional<SizeExpr> total = SizeExpr(0);
    bool isNegative = eat("-");
    do {
      std::optional<SizeExpr> next = product(depth);
      if (!next) {
        return std::nullopt;
      }
      total = isNegative ? *total - *next : *total + *next;
      isNegative = rest.ltrim().starts_with("-");
    } while (eat("+") || eat("-"));
    return total;
  }

  std::optional<SizeExpr> product(unsigned depth) {
    std::optional<SizeExpr> total = atom(depth);
    while (total && eat("*")) {
      std::optional<SizeExpr> next = atom(depth);
      total = next ? std::optional(*total * *next) : std::nullopt;
    }
    return total;
  }

  std::optional<SizeExpr> atom(unsigned depth) {
    using Make = SizeExpr (*)(const SizeExpr &, const SizeExpr &);
    for (auto [name, make] : {std::pair<StringRef, Make>("floordiv(", SizeExpr::floorDiv),
                              {"mod(", SizeExpr::mod},
                              {"max(", SizeExpr::max},
                              {"min(", SizeExpr::min}}) {
      if (!eat(name)) {
        continue;
      }
      std::optional<SizeExpr> a = depth < kMostNesting ? sum(depth + 1) : std::nullopt;
      std::optional<SizeExpr> b = a && eat(",") ? sum(depth + 1) : std::nullopt;
      return b && eat(")") ? std::optional(make(*a, *b)) : std::nullopt;
    }
    rest = rest.ltrim();
    StringRef name = rest.take_until([](char c) { return StringRef(" *,()+-").contains(c); });
    rest = rest.drop_front(name.size());
    int64_t number;
    if (!name.getAsInteger(10, number)) {
      return SizeExpr(number);
    }
    return name.empty() ? std::nullopt : std::optional(SizeExpr::symbol(name));
  }

  StringRef rest;
};
} // namespace

std::optional<SizeExpr> SizeExpr::parse(StringRef text) { return ExprParser(text).all(); }
