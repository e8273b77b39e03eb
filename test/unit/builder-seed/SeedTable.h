//===- SeedTable.h - The builder against the specification -----*- C++ -*-===//
//
// The specification is five documents on operations and shapes. A row names sections of them, the
// function of the builder, examples that run, and what the function refuses. Every section has a
// row (builder_table.py looks for them in the documents), and docs/builder.md is written from
// the rows.
//
//   ROW(Abs, "Abs(operand)", "tr: Mutlak", "old: Element-wise unary functions") {
//     auto x = f32({2}, {-1, 2});
//     RUNS(Abs(x(b)), f32({2}, {1, 2}));    // b is the builder, x(b) a parameter with the value x
//     FAILS(Abs(Tuple(b, {x(b)})), "must be an array");
//   }
//
// Titles of sections begin with the document: tr, the newest; zh and en; old, the first version;
// layout, on shapes. An example of RUNS is built, printed, parsed and printed again, compiled, run
// and compared. One of FAILS is built, and the error must have its file and line, and the text.
//
//===----------------------------------------------------------------------===//
#ifndef TEST_UNIT_BUILDER_SEED_SEEDTABLE_H
#define TEST_UNIT_BUILDER_SEED_SEEDTABLE_H

#include "hlo/builder.h"
#include "gtest/gtest.h"
#include <array>
#include <functional>
#include <string>
#include <vector>

namespace seed {

using namespace hlo;
using Index = std::vector<std::int64_t>;

/// An argument of an example, or what the example gives: a literal, or one for each replica.
class Values {
public:
  Values(Literal literal) : all{std::move(literal)} {}
  explicit Values(std::vector<Literal> ranks) : all(std::move(ranks)) {}

  /// A parameter of the example in work that has this value; the same one in later calls.
  XlaOp operator()(XlaBuilder *b) const;
  const Literal &rank(std::size_t i) const { return all.size() == 1 ? all[0] : all[i]; }
  std::size_t numRanks() const { return all.size(); }

private:
  std::vector<Literal> all;
};

/// An array of T from numbers of type Number, or from a function of the position.
template <typename T, typename Number> struct MakeArray {
  Values operator()(Index dims, std::initializer_list<Number> numbers) const {
    return from(dims, numbers);
  }
  Values operator()(Index dims, const std::function<Number(const Index &)> &function) const {
    Literal literal(ShapeUtil::MakeShape(primitive_util::NativeToPrimitiveType<T>(), dims));
    Index at(dims.size());
    do {
      literal.Set<T>(at, T(function(at)));
    } while (IndexUtil::BumpIndices(literal.shape(), absl::MakeSpan(at)));
    return literal;
  }
  Values operator()(Number number) const { return from({}, std::initializer_list<Number>{number}); }

private:
  static Values from(const Index &dims, std::initializer_list<Number> numbers) {
    std::vector<T> elements;
    for (Number number : numbers) {
      elements.push_back(T(number));
    }
    Literal literal(ShapeUtil::MakeShape(primitive_util::NativeToPrimitiveType<T>(), dims));
    EXPECT_EQ(literal.element_count(), static_cast<std::int64_t>(elements.size()));
    std::size_t next = 0;
    for (T &element : literal.data<T>()) {
      element = elements[next++];
    }
    return literal;
  }
};

inline constexpr MakeArray<float, double> f32;
inline constexpr MakeArray<double, double> f64;
inline constexpr MakeArray<bfloat16, double> bf16;
inline constexpr MakeArray<complex64, complex128> c64;
struct MakePred {
  Values operator()(Index dims, std::initializer_list<int> numbers) const;
  Values operator()(int number) const { return operator()({}, {number}); }
};
inline constexpr MakePred pred;
inline constexpr MakeArray<hlo::s4, int> int4;
inline constexpr MakeArray<std::int8_t, int> s8;
inline constexpr MakeArray<std::int32_t, std::int64_t> s32;
inline constexpr MakeArray<std::uint8_t, int> u8;
inline constexpr MakeArray<std::uint16_t, int> u16;
inline constexpr MakeArray<std::uint32_t, std::int64_t> u32;
inline constexpr MakeArray<std::uint64_t, std::uint64_t> u64;

Values tuple(const std::vector<Values> &elements);
/// One value for each replica.
Values ranks(const std::vector<Values> &values);

/// The function (x, y) -> x op y of scalars; `op` is an HLO opcode, or a direction of compare.
XlaComputation Scalar2(PrimitiveType type, const std::string &op);
/// Padding {low, high, interior} of each dimension.
PaddingConfig Config(std::initializer_list<std::array<std::int64_t, 3>> dimensions);

/// For the next example: what it reads, and what it must have written.
void NextInfeed(std::vector<Values> items);
void NextOutfeed(std::vector<Values> items);
void NextHostRecv(std::vector<Values> items);
void NextHostSend(std::vector<Values> items);
/// A target of custom calls, of API version 1, in all examples of the row from here on.
void AddCustomCall(const char *name, void (*function)());

/// One line of the table, filled as its examples run.
class Row {
public:
  using Expression = std::function<XlaOp(XlaBuilder *)>;

  Row(const char *name, const char *function, std::vector<std::string> sections);
  /// Adds the row to the table.
  ~Row();

  /// `tolerance`: relative, or absolute below 1; 0: equal bits, any NaN being equal to any other.
  void runs(const char *text, const Expression &expression, const Values &expected,
            double tolerance, SourceLocation at);
  /// Builds, prints and, if `compiles`, compiles to an object.
  void prints(const char *text, const Expression &expression, const std::string &part,
              bool compiles, SourceLocation at);
  void fails(const char *text, const Expression &expression, const std::string &part,
             SourceLocation at);
  void holds(const char *text, const std::string &value, const std::string &expected,
             SourceLocation at);
  void refuses(const char *text, const absl::Status &status, const std::string &part,
               SourceLocation at);

private:
  std::string name, function;
  std::vector<std::string> sections, examples, errors;
  std::vector<std::string> known; ///< values that the page has shown
  void describe(std::vector<std::string> &lines, const char *text, const std::string &outcome);
};

inline std::string show(const std::string &value) { return value; }
inline std::string show(bool value) { return value ? "true" : "false"; }
inline std::string show(std::int64_t value) { return std::to_string(value); }
inline std::string show(int value) { return std::to_string(value); }
std::string show(const std::vector<std::int64_t> &value);

/// The page, as markdown. Complete after all tests.
std::string page();

} // namespace seed

#define ROW(Name, function, ...)                                                                   \
  static void row##Name(seed::Row &rowInWork);                                                     \
  TEST(Seed, Name) {                                                                               \
    seed::Row row(#Name, function, {__VA_ARGS__});                                                 \
    row##Name(row);                                                                                \
  }                                                                                                \
  static void row##Name([[maybe_unused]] seed::Row &rowInWork)
#define SEED_EXPRESSION(expression)                                                                \
  #expression, [&]([[maybe_unused]] hlo::XlaBuilder *b) -> hlo::XlaOp { return expression; }
#define SEED_AT hlo::SourceLocation::current(__FILE__, __LINE__)

#define RUNS(expression, expected) rowInWork.runs(SEED_EXPRESSION(expression), expected, 0, SEED_AT)
#define RUNS_NEAR(expression, tolerance, expected)                                                 \
  rowInWork.runs(SEED_EXPRESSION(expression), expected, tolerance, SEED_AT)
#define COMPILES(expression, part)                                                                 \
  rowInWork.prints(SEED_EXPRESSION(expression), part, true, SEED_AT)
#define PRINTS(expression, part) rowInWork.prints(SEED_EXPRESSION(expression), part, false, SEED_AT)
#define FAILS(expression, part) rowInWork.fails(SEED_EXPRESSION(expression), part, SEED_AT)
#define HOLDS(expression, expected)                                                                \
  rowInWork.holds(#expression, seed::show(expression), seed::show(expected), SEED_AT)
#define REFUSES(status, part) rowInWork.refuses(#status, status, part, SEED_AT)

#endif
