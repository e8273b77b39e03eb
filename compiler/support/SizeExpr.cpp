//===- SizeExpr.cpp - Sizes as expressions over symbols -------------------===//
//
// The normal form is a sorted sum of products of sorted atoms. Atoms are compared by their text.
//
//===----------------------------------------------------------------------===//
#include "compiler/support/SizeExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <set>

using namespace hlo;
using llvm::StringRef;

namespace {
/// Limits of an expression, so that hostile arithmetic takes bounded time: JAX's own stay far
/// below.
constexpr size_t kMostTerms = 64, kMostFactors = 16;
constexpr unsigned kMostDepth = 16;
constexpr size_t kMostText = 2000;
constexpr int64_t kLimit = int64_t(1) << 62;

int64_t limited(__int128 value) {
  return static_cast<int64_t>(std::clamp<__int128>(value, -kLimit, kLimit));
}

std::string keyOf(const SizeExpr::Term &term) {
  std::string key;
  for (const SizeExpr::AtomRef &atom : term.factors) {
    key += (key.empty() ? "" : "*") + atom->key;
  }
  return key;
}

SizeRange times(SizeRange x, SizeRange y) {
  __int128 products[] = {__int128(x.low) * y.low, __int128(x.low) * y.high,
                         __int128(x.high) * y.low, __int128(x.high) * y.high};
  return {limited(*std::min_element(products, products + 4)),
          limited(*std::max_element(products, products + 4))};
}

int64_t floorQuotient(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}
} // namespace

SizeExpr::SizeExpr(int64_t constant) {
  if (constant) {
    sum.push_back({constant, {}});
  }
}

SizeExpr SizeExpr::unknown() {
  SizeExpr none;
  none.known = false;
  return none;
}

SizeExpr SizeExpr::ofAtom(AtomRef atom) {
  SizeExpr one;
  one.sum.push_back({1, {std::move(atom)}});
  return one;
}

SizeExpr SizeExpr::symbol(StringRef name) {
  return ofAtom(std::make_shared<Atom>(Atom{Kind::Symbol, name.str(), {}, {}, name.str(), 0}));
}

SizeExpr SizeExpr::fromTerms(std::vector<Term> terms) {
  std::vector<std::pair<std::string, Term>> keyed;
  for (Term &term : terms) {
    llvm::sort(term.factors, [](const AtomRef &x, const AtomRef &y) { return x->key < y->key; });
    std::string key = keyOf(term);
    if (term.factors.size() > kMostFactors || key.size() > kMostText) {
      return unknown();
    }
    keyed.emplace_back(std::move(key), std::move(term));
  }
  // The constant comes last.
  llvm::sort(keyed, [](const auto &x, const auto &y) {
    return std::pair(x.first.empty(), StringRef(x.first)) <
           std::pair(y.first.empty(), StringRef(y.first));
  });
  SizeExpr result;
  for (size_t i = 0; i < keyed.size();) {
    Term term = keyed[i].second;
    size_t next = i + 1;
    for (; next < keyed.size() && keyed[next].first == keyed[i].first; ++next) {
      if (llvm::AddOverflow(term.coefficient, keyed[next].second.coefficient, term.coefficient)) {
        return unknown();
      }
    }
    i = next;
    if (term.coefficient) {
      result.sum.push_back(std::move(term));
    }
  }
  return result.sum.size() > kMostTerms ? unknown() : result;
}

SizeExpr SizeExpr::operator+(const SizeExpr &other) const {
  if (!known || !other.known) {
    return unknown();
  }
  std::vector<Term> terms = sum;
  llvm::append_range(terms, other.sum);
  return fromTerms(std::move(terms));
}

SizeExpr SizeExpr::operator-(const SizeExpr &other) const { return *this + other * SizeExpr(-1); }

SizeExpr SizeExpr::operator*(const SizeExpr &other) const {
  if (!known || !other.known) {
    return unknown();
  }
  std::vector<Term> terms;
  for (const Term &x : sum) {
    for (const Term &y : other.sum) {
      Term &term = terms.emplace_back(x);
      if (llvm::MulOverflow(x.coefficient, y.coefficient, term.coefficient)) {
        return unknown();
      }
      term.factors.append(y.factors);
    }
  }
  return fromTerms(std::move(terms));
}

SizeExpr SizeExpr::make(Kind kind, const SizeExpr &a, const SizeExpr &b) {
  static constexpr StringRef names[] = {"", "floordiv", "mod", "max", "min"};
  unsigned depth = 0;
  for (const SizeExpr *operand : {&a, &b}) {
    for (const Term &term : operand->sum) {
      for (const AtomRef &atom : term.factors) {
        depth = std::max(depth, atom->depth);
      }
    }
  }
  std::string key = names[static_cast<int>(kind)].str() + "(" + a.text() + ", " + b.text() + ")";
  if (depth >= kMostDepth || key.size() > kMostText) {
    return unknown();
  }
  return ofAtom(std::make_shared<Atom>(Atom{kind, "", a, b, std::move(key), depth + 1}));
}

SizeExpr SizeExpr::floorDiv(const SizeExpr &a, const SizeExpr &b) {
  if (!a.known || !b.known || b == SizeExpr(0)) {
    return unknown();
  }
  if (a.constant() && b.constant()) {
    return *a.constant() == INT64_MIN ? unknown() : floorQuotient(*a.constant(), *b.constant());
  }
  if (b == SizeExpr(1)) {
    return a;
  }
  // Terms that the divisor, a single product, divides leave the quotient:
  // floordiv(k*x + r, k) = x + floordiv(r, k).
  if (b.sum.size() != 1) {
    return a == b ? SizeExpr(1) : make(Kind::FloorDiv, a, b);
  }
  const Term &divisor = b.sum.front();
  std::vector<Term> whole, rest;
  for (const Term &term : a.sum) {
    Term quotient = term;
    bool divides = divisor.coefficient != -1 && term.coefficient % divisor.coefficient == 0;
    for (const AtomRef &factor : divisor.factors) {
      auto found = llvm::find_if(quotient.factors,
                                 [&](const AtomRef &atom) { return atom->key == factor->key; });
      divides &= found != quotient.factors.end();
      if (!divides) {
        break;
      }
      quotient.factors.erase(found);
    }
    if (divides) {
      quotient.coefficient /= divisor.coefficient;
      whole.push_back(std::move(quotient));
    } else {
      rest.push_back(term);
    }
  }
  SizeExpr left = fromTerms(std::move(rest));
  if (left.constant() && b.constant()) {
    return fromTerms(std::move(whole)) + floorDiv(left, b);
  }
  return fromTerms(std::move(whole)) +
         (left == SizeExpr(0) ? SizeExpr(0) : make(Kind::FloorDiv, left, b));
}

SizeExpr SizeExpr::mod(const SizeExpr &a, const SizeExpr &b) {
  if (!a.known || !b.known || b == SizeExpr(0)) {
    return unknown();
  }
  std::optional<int64_t> divisor = b.constant();
  if (!divisor || *divisor < 0) {
    SizeExpr quotient = floorDiv(a, b);
    return quotient * b == a ? SizeExpr(0) : make(Kind::Mod, a, b);
  }
  // Only coefficients' remainders count.
  std::vector<Term> terms = a.sum;
  for (Term &term : terms) {
    term.coefficient -= floorQuotient(term.coefficient, *divisor) * *divisor;
  }
  SizeExpr reduced = fromTerms(std::move(terms));
  return reduced.constant() ? reduced : make(Kind::Mod, reduced, b);
}

SizeExpr SizeExpr::max(const SizeExpr &a, const SizeExpr &b) {
  if (!a.known || !b.known) {
    return unknown();
  }
  if (std::optional<int64_t> difference = (a - b).constant()) {
    return *difference >= 0 ? a : b;
  }
  return a.text() < b.text() ? make(Kind::Max, a, b) : make(Kind::Max, b, a);
}

SizeExpr SizeExpr::min(const SizeExpr &a, const SizeExpr &b) {
  if (!a.known || !b.known) {
    return unknown();
  }
  if (std::optional<int64_t> difference = (a - b).constant()) {
    return *difference <= 0 ? a : b;
  }
  return a.text() < b.text() ? make(Kind::Min, a, b) : make(Kind::Min, b, a);
}

bool SizeExpr::operator==(const SizeExpr &other) const {
  return known && other.known && text() == other.text();
}

std::optional<int64_t> SizeExpr::constant() const {
  if (!known || sum.size() > 1 || (sum.size() == 1 && !sum[0].factors.empty())) {
    return std::nullopt;
  }
  return sum.empty() ? 0 : sum[0].coefficient;
}

std::optional<StringRef> SizeExpr::asSymbol() const {
  if (!known || sum.size() != 1 || sum[0].coefficient != 1 || sum[0].factors.size() != 1 ||
      sum[0].factors[0]->kind != Kind::Symbol) {
    return std::nullopt;
  }
  return StringRef(sum[0].factors[0]->name);
}

std::string SizeExpr::text() const {
  if (!known) {
    return "?";
  }
  std::string text;
  for (const Term &term : sum) {
    bool isNegative = term.coefficient < 0;
    text += text.empty() ? (isNegative ? "-" : "") : (isNegative ? " - " : " + ");
    uint64_t size = isNegative ? -static_cast<uint64_t>(term.coefficient) : term.coefficient;
    std::string product = keyOf(term);
    if (size != 1 || product.empty()) {
      text += std::to_string(size) + (product.empty() ? "" : "*");
    }
    text += product;
  }
  return text.empty() ? "0" : text;
}

static void collect(const SizeExpr &expr, std::set<std::string> &names) {
  for (const SizeExpr::Term &term : expr.terms()) {
    for (const SizeExpr::AtomRef &atom : term.factors) {
      if (atom->kind == SizeExpr::Kind::Symbol) {
        names.insert(atom->name);
      } else {
        collect(atom->a, names);
        collect(atom->b, names);
      }
    }
  }
}

std::vector<std::string> SizeExpr::symbols() const {
  std::set<std::string> names;
  collect(*this, names);
  return {names.begin(), names.end()};
}

bool SizeExpr::mentions(StringRef name) const { return llvm::is_contained(symbols(), name); }

SizeExpr SizeExpr::substitute(llvm::function_ref<const SizeExpr *(StringRef)> value) const {
  if (!known) {
    return unknown();
  }
  SizeExpr result(0);
  for (const Term &term : sum) {
    SizeExpr product(term.coefficient);
    for (const AtomRef &atom : term.factors) {
      if (atom->kind == Kind::Symbol) {
        const SizeExpr *given = value(atom->name);
        product = product * (given ? *given : ofAtom(atom));
        continue;
      }
      SizeExpr a = atom->a.substitute(value), b = atom->b.substitute(value);
      switch (atom->kind) {
      case Kind::FloorDiv: product = product * floorDiv(a, b); break;
      case Kind::Mod: product = product * mod(a, b); break;
      case Kind::Max: product = product * max(a, b); break;
      default: product = product * min(a, b); break;
      }
    }
    result = result + product;
  }
  return result;
}

SizeRange SizeExpr::range(llvm::function_ref<SizeRange(StringRef)> rangeOf) const {
  if (!known) {
    return {-kLimit, kLimit};
  }
  SizeRange result{0, 0};
  for (const Term &term : sum) {
    SizeRange product{limited(term.coefficient), limited(term.coefficient)};
    for (const AtomRef &atom : term.factors) {
      SizeRange factor{-kLimit, kLimit};
      if (atom->kind == Kind::Symbol) {
        factor = rangeOf(atom->name);
      } else {
        SizeRange a = atom->a.range(rangeOf), b = atom->b.range(rangeOf);
        if (atom->kind == Kind::Max) {
          factor = {std::max(a.low, b.low), std::max(a.high, b.high)};
        } else if (atom->kind == Kind::Min) {
          factor = {std::min(a.low, b.low), std::min(a.high, b.high)};
        } else if (b.low > 0 && atom->kind == Kind::FloorDiv) {
          factor = {floorQuotient(a.low, a.low < 0 ? b.low : b.high),
                    floorQuotient(a.high, a.high < 0 ? b.high : b.low)};
        } else if (b.low > 0) {
          factor = {0, b.high - 1};
          if (a.low >= 0) {
            factor.high = std::min(factor.high, a.high);
          }
        }
      }
      product = times(product, factor);
    }
    result = {limited(__int128(result.low) + product.low),
              limited(__int128(result.high) + product.high)};
  }
  return result;
}

std::optional<int64_t>
SizeExpr::evaluate(llvm::function_ref<std::optional<int64_t>(StringRef)> valueOf) const {
  if (!known) {
    return std::nullopt;
  }
  int64_t result = 0;
  for (const Term &term : sum) {
    int64_t product = term.coefficient;
    for (const AtomRef &atom : term.factors) {
      std::optional<int64_t> factor;
      if (atom->kind == Kind::Symbol) {
        factor = valueOf(atom->name);
      } else {
        std::optional<int64_t> a = atom->a.evaluate(valueOf), b = atom->b.evaluate(valueOf);
        if (!a || !b) {
          return std::nullopt;
        }
        bool divides = *b != 0 && *b != -1;
        switch (atom->kind) {
        case Kind::Max: factor = std::max(*a, *b); break;
        case Kind::Min: factor = std::min(*a, *b); break;
        case Kind::FloorDiv:
          if (divides) {
            factor = floorQuotient(*a, *b);
          }
          break;
        default:
          if (divides) {
            factor = *a - floorQuotient(*a, *b) * *b;
          }
          break;
        }
      }
      if (!factor || llvm::MulOverflow(product, *factor, product)) {
        return std::nullopt;
      }
    }
    if (llvm::AddOverflow(result, product, result)) {
      return std::nullopt;
    }
  }
  return result;
}

std::optional<std::pair<int64_t, SizeExpr>> SizeExpr::linearIn(StringRef name) const {
  if (!known) {
    return std::nullopt;
  }
  std::vector<Term> rest;
  int64_t factor = 0;
  for (const Term &term : sum) {
    if (term.factors.size() == 1 && term.factors[0]->kind == Kind::Symbol &&
        term.factors[0]->name == name) {
      factor = term.coefficient;
    } else {
      rest.push_back(term);
    }
  }
  SizeExpr other = fromTerms(std::move(rest));
  if (!factor || other.mentions(name)) {
    return std::nullopt;
  }
  return std::pair(factor, other);
}
