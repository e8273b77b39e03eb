//===- SizeExpr.h - Sizes as expressions over symbols ---------------------===//
//
// The size of a dimension as a polynomial over symbols (`b`, `s`) and over quotients, remainders,
// maxima and minima of such polynomials, in a normal form: two expressions that differ only in the
// order or grouping of sums and products are equal.
//
//   2*b*s + floordiv(b + 1, 2) - 3
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_SUPPORT_SIZEEXPR_H
#define COMPILER_SUPPORT_SIZEEXPR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hlo {

/// Module attribute of a program with named sizes: for each parameter of the entry the list of its
/// dimensions as texts of SizeExpr; an empty list if all are static. Removed together with bounded
/// dimensions.
inline constexpr llvm::StringLiteral kEntrySizes = "hlo.entry_sizes";
/// The same for each result that is an array; an empty list also if the dimensions are not known.
inline constexpr llvm::StringLiteral kResultSizes = "hlo.result_sizes";

/// Least and greatest value of a number, both included; limited to +-2^62, which stands for all
/// beyond.
struct SizeRange {
  int64_t low, high;
  bool operator==(const SizeRange &other) const { return low == other.low && high == other.high; }
};

class SizeExpr {
public:
  enum class Kind { Symbol, FloorDiv, Mod, Max, Min };
  struct Atom;
  using AtomRef = std::shared_ptr<const Atom>;
  /// coefficient * product of the factors, which are sorted.
  struct Term {
    int64_t coefficient;
    llvm::SmallVector<AtomRef, 2> factors;
  };

  SizeExpr(int64_t constant = 0);
  static SizeExpr symbol(llvm::StringRef name);
  /// Of nothing that is known; so is all arithmetic on it. Also the result of an overflow, and of
  /// arithmetic with more than a few dozen terms.
  static SizeExpr unknown();
  /// Reads what `text` writes; names of symbols are whatever ends at none of ` *,()+-`. None if the
  /// text is something else.
  static std::optional<SizeExpr> parse(llvm::StringRef text);
  bool isKnown() const { return known; }

  SizeExpr operator+(const SizeExpr &other) const;
  SizeExpr operator-(const SizeExpr &other) const;
  SizeExpr operator*(const SizeExpr &other) const;
  /// The quotient, rounded down; unknown if the divisor is the constant 0.
  static SizeExpr floorDiv(const SizeExpr &a, const SizeExpr &b);
  /// a - b * floordiv(a, b).
  static SizeExpr mod(const SizeExpr &a, const SizeExpr &b);
  static SizeExpr max(const SizeExpr &a, const SizeExpr &b);
  static SizeExpr min(const SizeExpr &a, const SizeExpr &b);

  /// True if both are known and have the same normal form.
  bool operator==(const SizeExpr &other) const;
  bool operator!=(const SizeExpr &other) const { return !(*this == other); }
  std::optional<int64_t> constant() const;
  /// The name of the symbol that this is.
  std::optional<llvm::StringRef> asSymbol() const;
  llvm::ArrayRef<Term> terms() const { return sum; }
  /// The text, which is equal for equal expressions; "?" if unknown.
  std::string text() const;

  /// The names of all symbols, sorted, each once.
  std::vector<std::string> symbols() const;
  /// Every symbol replaced by `value` of its name; null: kept.
  SizeExpr substitute(llvm::function_ref<const SizeExpr *(llvm::StringRef)> value) const;
  /// Bounds of the value, if each symbol is in `rangeOf` its name.
  SizeRange range(llvm::function_ref<SizeRange(llvm::StringRef)> rangeOf) const;
  /// The value; none if it is unknown, on overflow, and on division by 0.
  std::optional<int64_t>
  evaluate(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> valueOf) const;
  /// a and the rest r of this = a * name + r, if the symbol occurs nowhere else and a is not 0.
  std::optional<std::pair<int64_t, SizeExpr>> linearIn(llvm::StringRef name) const;
  /// True if the symbol occurs.
  bool mentions(llvm::StringRef name) const;

private:
  static SizeExpr make(Kind kind, const SizeExpr &a, const SizeExpr &b);
  static SizeExpr fromTerms(std::vector<Term> terms);
  static SizeExpr ofAtom(AtomRef atom);

  std::vector<Term> sum; ///< sorted, no coefficient 0, all factors different
  bool known = true;
};

struct SizeExpr::Atom {
  Kind kind;
  std::string name; ///< of a symbol
  SizeExpr a, b;    ///< operands of the other kinds
  std::string key;  ///< the text
  unsigned depth;   ///< of nested kinds
};

} // namespace hlo

#endif
