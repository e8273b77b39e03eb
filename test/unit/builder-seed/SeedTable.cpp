//===- SeedTable.cpp - Runs examples, collects the table ------------------===//
#include "SeedTable.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include <cmath>
#include <hlo/feed.h>
#include <hlo/ranks.h>
#include <map>
#include <regex>
#include <thread>

using namespace seed;

namespace {

/// What the example in work has been given.
struct Example {
  std::vector<const Values *> arguments; ///< by parameter number
  std::vector<XlaOp> parameters;
};

/// Items of feeds for the next example, and custom calls of the row.
struct Surroundings {
  std::vector<Values> infeed, outfeed, hostRecv, hostSend;
  std::map<std::string, void (*)()> customCalls; ///< sorted, as hlo_custom_calls must be
};

struct Line {
  std::string name, function;
  std::vector<std::string> sections, examples, errors;
};

} // namespace

static Example *inWork = nullptr;
static Surroundings surroundings;
static std::vector<Line> table;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

XlaOp Values::operator()(XlaBuilder *b) const {
  for (std::size_t i = 0; i < inWork->arguments.size(); ++i) {
    if (inWork->arguments[i] == this) {
      return inWork->parameters[i];
    }
  }
  const std::int64_t number = static_cast<std::int64_t>(inWork->arguments.size());
  const XlaOp parameter = Parameter(b, number, all[0].shape(), absl::StrCat("p", number));
  inWork->arguments.push_back(this);
  inWork->parameters.push_back(parameter);
  return parameter;
}

Values MakePred::operator()(Index dims, std::initializer_list<int> numbers) const {
  Literal literal(ShapeUtil::MakeShape(PRED, dims));
  EXPECT_EQ(literal.element_count(), static_cast<std::int64_t>(numbers.size()));
  std::size_t next = 0;
  for (bool &element : literal.data<bool>()) {
    element = numbers.begin()[next++] != 0;
  }
  return literal;
}

Values seed::tuple(const std::vector<Values> &elements) {
  std::vector<Literal> literals;
  for (const Values &element : elements) {
    literals.push_back(element.rank(0));
  }
  return Literal::MakeTuple(std::move(literals));
}

Values seed::ranks(const std::vector<Values> &values) {
  std::vector<Literal> literals;
  for (const Values &value : values) {
    literals.push_back(value.rank(0));
  }
  return Values(std::move(literals));
}

XlaComputation seed::Scalar2(PrimitiveType type, const std::string &op) {
  using Binary = XlaOp (*)(XlaOp, XlaOp, absl::Span<const std::int64_t>, SourceLocation);
  static const std::map<std::string, Binary> functions = {
      {"add", Add}, {"multiply", Mul}, {"subtract", Sub}, {"maximum", Max}, {"minimum", Min},
      {"and", And}, {"or", Or},        {"ge", Ge},        {"gt", Gt},       {"lt", Lt}};
  XlaBuilder b(absl::StrCat(op, "_", primitive_util::LowercasePrimitiveTypeName(type)));
  const Shape scalar = ShapeUtil::MakeShape(type, {});
  const XlaOp x = Parameter(&b, 0, scalar, "x"), y = Parameter(&b, 1, scalar, "y");
  functions.at(op)(x, y, {}, SourceLocation::current());
  return b.Build().value();
}

PaddingConfig seed::Config(std::initializer_list<std::array<std::int64_t, 3>> dimensions) {
  PaddingConfig config;
  for (const auto &[low, high, interior] : dimensions) {
    config.add_dimensions()
        ->set_edge_padding_low(low)
        .set_edge_padding_high(high)
        .set_interior_padding(interior);
  }
  return config;
}

void seed::NextInfeed(std::vector<Values> items) { surroundings.infeed = std::move(items); }
void seed::NextOutfeed(std::vector<Values> items) { surroundings.outfeed = std::move(items); }
void seed::NextHostRecv(std::vector<Values> items) { surroundings.hostRecv = std::move(items); }
void seed::NextHostSend(std::vector<Values> items) { surroundings.hostSend = std::move(items); }
void seed::AddCustomCall(const char *name, void (*function)()) {
  surroundings.customCalls[name] = function;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static bool isNear(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) && std::isnan(b);
  }
  if (tolerance == 0 || std::isinf(a) || std::isinf(b)) {
    return a == b && std::signbit(a) == std::signbit(b);
  }
  return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

template <typename T> static bool areNear(const Literal &a, const Literal &b, double tolerance) {
  const auto x = a.data<T>(), y = b.data<T>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!isNear(std::real(x[i]), std::real(y[i]), tolerance) ||
        !isNear(std::imag(x[i]), std::imag(y[i]), tolerance)) {
      return false;
    }
  }
  return true;
}

static bool areNear(const Literal &actual, const Literal &expected, double tolerance) {
  if (expected.IsTuple() != actual.IsTuple()) {
    return false;
  }
  if (expected.IsTuple()) {
    const auto &a = actual.tuple_elements(), &e = expected.tuple_elements();
    bool isEqual = a.size() == e.size();
    for (std::size_t i = 0; isEqual && i < e.size(); ++i) {
      isEqual = areNear(a[i], e[i], tolerance);
    }
    return isEqual;
  }
  if (actual.shape() != expected.shape()) {
    return false;
  }
  switch (expected.element_type()) {
  case F32: return areNear<float>(actual, expected, tolerance);
  case F64: return areNear<double>(actual, expected, tolerance);
  case C64: return areNear<complex64>(actual, expected, tolerance);
  default: return actual == expected;
  }
}

//===----------------------------------------------------------------------===//
// Building, printing, running
//===----------------------------------------------------------------------===//

/// The place of a check, for messages of GoogleTest.
static testing::Message in(const char *text) { return testing::Message() << text; }

/// The text of the module that the text is parsed to; "" and a failure after an error.
static std::string reprinted(const std::string &text) {
  hlo_compile_options options = hlo_compile_options_init();
  options.emit = HLO_EMIT_HLO;
  options.file = "example.hlo";
  hlo_compilation *compilation = nullptr;
  std::string again;
  if (hlo_compile_text(text.data(), text.size(), &options, &compilation) == HLO_OK) {
    const hlo_bytes bytes = hlo_compilation_artifact(compilation, HLO_EMIT_HLO);
    again.assign(static_cast<const char *>(bytes.data), bytes.size);
  } else {
    ADD_FAILURE() << hlo_compilation_log(compilation) << text;
  }
  hlo_compilation_free(compilation);
  return again;
}

/// Checks that the computation's text is read back as the same text.
static bool roundTrips(const XlaComputation &computation) {
  const std::string text = computation.ToString(), again = reprinted(text);
  EXPECT_EQ(text, again);
  return text == again;
}

static void flatten(const Literal &literal, std::vector<const Literal *> &leaves) {
  if (!literal.IsTuple()) {
    leaves.push_back(&literal);
  }
  for (const Literal &element : literal.tuple_elements()) {
    flatten(element, leaves);
  }
}

namespace {
/// A queue between an example and the test; none if there are no items.
class Feed {
public:
  explicit Feed(const std::vector<Values> &items) : items(items) {
    if (!items.empty()) {
      queue = hlo_feed_queue_create(static_cast<std::uint32_t>(items.size()));
      hlo_feed_queue_set_timeout(queue, 10'000'000'000);
    }
  }
  ~Feed() { hlo_feed_queue_destroy(queue); }
  const hlo_feed *source() {
    for (const Values &item : items) {
      move(item, [&](std::vector<std::string> &data, const std::vector<std::uint64_t> &bytes) {
        std::vector<const void *> pointers;
        for (std::string &leaf : data) {
          pointers.push_back(leaf.data());
        }
        EXPECT_EQ(hlo_feed_queue_push(queue, pointers.data(), bytes.data(),
                                      static_cast<std::int32_t>(bytes.size()), 0),
                  HLO_OK);
      });
    }
    return queue ? hlo_feed_queue_source(queue) : nullptr;
  }
  const hlo_feed *sink() { return queue ? hlo_feed_queue_sink(queue) : nullptr; }
  /// Checks that the example has read all items.
  void expectEmpty() {
    if (queue) {
      EXPECT_EQ(hlo_feed_queue_size(queue), 0u);
    }
  }
  /// Checks that the example has written these items.
  void expectItems() {
    if (!queue) {
      return;
    }
    EXPECT_EQ(hlo_feed_queue_size(queue), items.size());
    hlo_feed_queue_close(queue);
    for (const Values &item : items) {
      move(item, [&](std::vector<std::string> &data, const std::vector<std::uint64_t> &bytes) {
        const std::vector<std::string> expected = data;
        std::vector<void *> pointers;
        for (std::string &leaf : data) {
          leaf.assign(leaf.size(), '?');
          pointers.push_back(leaf.data());
        }
        EXPECT_EQ(hlo_feed_queue_pop(queue, pointers.data(), bytes.data(),
                                     static_cast<std::int32_t>(bytes.size()), 0),
                  HLO_OK);
        EXPECT_EQ(data, expected);
      });
    }
  }

private:
  template <typename Function> void move(const Values &item, const Function &function) {
    std::vector<const Literal *> leaves;
    flatten(item.rank(0), leaves);
    std::vector<std::string> data;
    std::vector<std::uint64_t> bytes;
    for (const Literal *leaf : leaves) {
      data.emplace_back(static_cast<const char *>(leaf->untyped_data()), leaf->size_bytes());
      bytes.push_back(leaf->size_bytes());
    }
    function(data, bytes);
  }

  std::vector<Values> items;
  hlo_feed_queue *queue = nullptr;
};
} // namespace

/// Runs one rank: the result as one literal.
static absl::StatusOr<Literal> runRank(const Executable &executable, const Example &example,
                                       std::size_t rank, RunOptions options) {
  std::vector<Literal> arguments;
  for (const Values *values : example.arguments) {
    arguments.push_back(values->rank(rank));
  }
  std::vector<std::max_align_t> state(executable.description()->state_bytes /
                                      sizeof(std::max_align_t));
  if (!state.empty()) {
    options.call.state = reinterpret_cast<hlo_state *>(state.data());
  }
  absl::StatusOr<std::vector<Literal>> results = executable.Run(arguments, options);
  if (!results.ok()) {
    return results.status();
  }
  if (executable.program_shape().result().IsTuple()) {
    return Literal::MakeTuple(*std::move(results));
  }
  return std::move((*results)[0]);
}

Row::Row(const char *name, const char *function, std::vector<std::string> sections)
    : name(name), function(function), sections(std::move(sections)) {
  surroundings = Surroundings();
}

Row::~Row() { table.push_back({name, function, sections, examples, errors}); }

void Row::runs(const char *text, const Expression &expression, const Values &expected,
               double tolerance, SourceLocation at) {
  SCOPED_TRACE(in(text) << ", line " << at.line());
  Example example;
  inWork = &example;
  XlaBuilder b("example");
  const XlaOp op = expression(&b);
  const std::size_t numRanks = expected.numRanks();
  if (numRanks > 1) {
    b.SetReplicaCount(static_cast<std::int64_t>(numRanks));
  }
  const absl::StatusOr<XlaComputation> computation = b.Build(op, at);
  ASSERT_TRUE(computation.ok()) << computation.status();
  ASSERT_TRUE(roundTrips(*computation));
  const absl::StatusOr<Executable> executable = Jit(*computation);
  ASSERT_TRUE(executable.ok()) << executable.status() << "\n" << computation->ToString();

  RunOptions options;
  std::vector<hlo_custom_call> entries;
  for (const auto &[target, handler] : surroundings.customCalls) {
    entries.push_back({target.c_str(), HLO_API_ORIGINAL, 0, handler, nullptr});
  }
  const hlo_custom_calls calls = {sizeof calls, static_cast<std::uint32_t>(entries.size()),
                                  sizeof(hlo_custom_call), 0, entries.data()};
  options.call.custom_calls = &calls;
  Feed infeed(surroundings.infeed), outfeed(surroundings.outfeed);
  Feed hostRecv(surroundings.hostRecv), hostSend(surroundings.hostSend);
  options.call.infeed = infeed.source();
  options.call.outfeed = outfeed.sink();
  options.call.host_recv = hostRecv.source();
  options.call.host_send = hostSend.sink();

  std::vector<absl::StatusOr<Literal>> results(numRanks);
  hlo_ranks *group =
      hlo_ranks_create(static_cast<std::int32_t>(numRanks), 1, /*timeout_ns=*/10'000'000'000);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < numRanks; ++rank) {
    threads.emplace_back([&, rank] {
      RunOptions own = options;
      own.call.comm = hlo_ranks_comm(group, static_cast<std::int32_t>(rank));
      results[rank] = runRank(*executable, example, rank, own);
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  hlo_ranks_destroy(group);
  for (std::size_t rank = 0; rank < numRanks; ++rank) {
    ASSERT_TRUE(results[rank].ok()) << results[rank].status() << "\n" << computation->ToString();
    EXPECT_TRUE(areNear(*results[rank], expected.rank(rank), tolerance))
        << "rank " << rank << "\ngot      " << *results[rank] << "\nexpected "
        << expected.rank(rank) << "\n"
        << computation->ToString();
  }
  infeed.expectEmpty();
  hostRecv.expectEmpty();
  outfeed.expectItems();
  hostSend.expectItems();
  surroundings = Surroundings{{}, {}, {}, {}, surroundings.customCalls};

  std::vector<std::string> outcomes;
  for (std::size_t rank = 0; rank < numRanks; ++rank) {
    outcomes.push_back(expected.rank(rank).ToString());
  }
  describe(examples, text, "= " + absl::StrJoin(outcomes, "; "));
}

void Row::prints(const char *text, const Expression &expression, const std::string &part,
                 bool compiles, SourceLocation at) {
  SCOPED_TRACE(in(text) << ", line " << at.line());
  Example example;
  inWork = &example;
  XlaBuilder b("example");
  const absl::StatusOr<XlaComputation> computation = b.Build(expression(&b), at);
  ASSERT_TRUE(computation.ok()) << computation.status();
  ASSERT_TRUE(roundTrips(*computation));
  EXPECT_TRUE(absl::StrContains(computation->ToString(), part)) << computation->ToString();
  if (compiles) {
    const absl::StatusOr<Artifacts> artifacts = Compile(*computation);
    ASSERT_TRUE(artifacts.ok()) << artifacts.status();
    EXPECT_FALSE(artifacts->object.empty());
  }
  describe(examples, text,
           absl::StrCat(compiles ? "compiles; its text has `" : "its text has `", part, "`"));
}

void Row::fails(const char *text, const Expression &expression, const std::string &part,
                SourceLocation at) {
  SCOPED_TRACE(in(text) << ", line " << at.line());
  Example example;
  inWork = &example;
  XlaBuilder b("example");
  const absl::StatusOr<XlaComputation> computation = b.Build(expression(&b), at);
  if (computation.ok()) {
    ADD_FAILURE() << "no error\n" << computation->ToString();
    return;
  }
  EXPECT_EQ(computation.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string message(computation.status().message());
  const std::string place = absl::StrCat(at.file_name(), ":", at.line(), ": error: ");
  EXPECT_TRUE(absl::StartsWith(message, place)) << message << "\nexpected " << place;
  EXPECT_TRUE(!part.empty() && absl::StrContains(message, part))
      << "MESSAGE " << at.file_name() << " " << at.line() << " " << message;
  describe(errors, text, message.substr(place.size(), message.find('\n') - place.size()));
}

void Row::holds(const char *text, const std::string &value, const std::string &expected,
                SourceLocation at) {
  EXPECT_EQ(value, expected) << text << ", line " << at.line();
  describe(examples, text, "= " + expected);
}

void Row::refuses(const char *text, const absl::Status &status, const std::string &part,
                  SourceLocation at) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text << ", line " << at.line();
  const std::string message(status.message());
  EXPECT_TRUE(!part.empty() && absl::StrContains(message, part))
      << "MESSAGE " << at.file_name() << " " << at.line() << " " << message;
  describe(errors, text, message);
}

std::string seed::show(const std::vector<std::int64_t> &value) {
  return "{" + absl::StrJoin(value, ", ") + "}";
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

/// A literal, at most a few elements of it.
static std::string shortened(std::string text) {
  constexpr std::size_t longest = 160;
  return text.size() <= longest ? text : text.substr(0, text.rfind(',', longest)) + ", ...";
}

/// Breaks lines after a space so that they have at most 120 columns.
static std::string wrapped(const std::string &indent, const std::string &text) {
  constexpr std::size_t columns = 116;
  std::string lines, line = indent;
  for (absl::string_view word : absl::StrSplit(text, ' ')) {
    if (line.size() + word.size() > columns && line.size() > indent.size()) {
      absl::StrAppend(&lines, line.substr(0, line.size() - 1), "\n");
      line = indent + "    ";
    }
    absl::StrAppend(&line, word, " ");
  }
  return lines + line.substr(0, line.size() - 1) + "\n";
}

void Row::describe(std::vector<std::string> &lines, const char *text, const std::string &outcome) {
  static const std::regex argument("\\b([a-z]\\w*)\\(b\\)");
  std::string shown = std::regex_replace(text, argument, "$1");
  // Parameters are numbered in the order of the text: arguments are evaluated from left to right.
  std::vector<std::string> names;
  const std::string all = text;
  for (std::sregex_iterator found(all.begin(), all.end(), argument), end; found != end; ++found) {
    if (std::find(names.begin(), names.end(), (*found)[1]) == names.end()) {
      names.push_back((*found)[1]);
    }
  }
  std::string entry;
  if (inWork && names.size() == inWork->arguments.size()) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (std::find(known.begin(), known.end(), names[i]) != known.end()) {
        continue;
      }
      known.push_back(names[i]);
      const Values &values = *inWork->arguments[i];
      std::vector<std::string> ofRanks;
      for (std::size_t rank = 0; rank < values.numRanks(); ++rank) {
        ofRanks.push_back(shortened(values.rank(rank).ToString()));
      }
      entry += wrapped("", names[i] + " = " + absl::StrJoin(ofRanks, "; "));
    }
  }
  inWork = nullptr;
  const std::string line = shown + " " + shortened(outcome);
  const bool isShort = outcome[0] == '=' && line.size() <= 116;
  entry += isShort ? line + "\n" : wrapped("", shown) + wrapped("  ", shortened(outcome));
  lines.push_back(entry);
}

std::string seed::page() {
  std::string text;
  for (const Line &row : table) {
    absl::StrAppend(&text, "\n## ", row.name, "\n\n");
    std::vector<std::string> titles;
    for (const std::string &section : row.sections) {
      titles.push_back(absl::StrReplaceAll(section, {{": ", ": *"}}) + "*");
    }
    absl::StrAppend(&text, wrapped("", "Sections: " + absl::StrJoin(titles, ", ") + "."), "\n");
    absl::StrAppend(&text, "```cpp\n");
    for (absl::string_view signature : absl::StrSplit(row.function, "; ")) {
      text += wrapped("", std::string(signature));
    }
    absl::StrAppend(&text, "```\n\nExamples:\n\n```text\n", absl::StrJoin(row.examples, ""),
                    "```\n");
    if (!row.errors.empty()) {
      absl::StrAppend(&text, "\nErrors:\n\n```text\n", absl::StrJoin(row.errors, ""), "```\n");
    }
  }
  return text;
}
