//===- ScaledTest.cpp - Dots with narrow integers and scales --------------===//
//
// Integers of 2, 4 and 8 bits by rows of k or of columns, with scales and zero points for groups of
// k or for each column, as programs write them, against a loop in f64. Also rows with infinities,
// and what only looks like scaled integers.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/contraction/UnpackBytes.h"
#include "test/unit/kernel-runner/Array.h"
#include "test/unit/kernel-runner/ExpectClose.h"
#include "test/unit/kernel-runner/KernelRunner.h"
#include "test/unit/kernel-runner/Targets.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace hlo::testing;

namespace {

struct ScaledCase {
  Type type; ///< of the rows and the scales
  int bits;
  bool isSigned, alongK;  ///< whether the integers are contiguous along k
  int64_t m, k, n, group; ///< group 0: no scales
  bool zeros = false;     ///< zero points, subtracted from bytes
  bool quantized = false; ///< rows may be rounded to bytes
  bool wraps = false; ///< si8: 12 and -130, which is 126 there, are subtracted before the convert
};

/// The arrays of a case, and the value of each weight.
class Data {
public:
  explicit Data(const ScaledCase &c)
      : c(c), x(c.type, {c.m, c.k}), w(Type::U8, stored()), s(c.type, perGroup()),
        z(Type::U8, perGroup()), out(c.type == Type::S8 ? Type::S32 : c.type, {c.m, c.n}) {
    std::mt19937 random(5);
    for (Array *array : {&x, &s, &out}) {
      array->fillRandom(random);
    }
    for (int64_t i = 0; i < w.size(); ++i) {
      w.set(i, random() >> 24);
    }
    for (int64_t i = 0; i < z.size(); ++i) {
      z.set(i, random() % 16);
    }
  }

  std::vector<int64_t> integers() const {
    return c.alongK ? std::vector<int64_t>{c.n, c.k} : std::vector<int64_t>{c.k, c.n};
  }
  std::vector<int64_t> stored() const {
    int64_t each = 8 / c.bits;
    return {integers()[0], integers()[1] / each};
  }
  int64_t groups() const { return c.group ? c.k / c.group : 1; }
  std::vector<int64_t> perGroup() const {
    return c.alongK ? std::vector<int64_t>{c.n, groups()} : std::vector<int64_t>{groups(), c.n};
  }
  double weight(int64_t k, int64_t n) {
    int64_t linear = c.alongK ? n * c.k + k : k * c.n + n, bit = linear * c.bits;
    const auto *bytes = static_cast<const uint8_t *>(w.data());
    int value = bytes[bit / 8] >> (bit % 8) & ((1 << c.bits) - 1);
    value -= c.isSigned && value >= 1 << (c.bits - 1) ? 1 << c.bits : 0;
    if (c.group == 0) {
      return c.wraps ? static_cast<int8_t>(value - 12 - 126) : value;
    }
    int64_t group = k / c.group;
    std::vector<int64_t> place =
        c.alongK ? std::vector<int64_t>{n, group} : std::vector<int64_t>{group, n};
    return (value - (c.zeros ? z.at(place).real() : 0)) * s.at(place).real();
  }
  /// Element k of a row in 8 bits: blocks of at most 32 elements that begin with each group share a
  /// scale.
  double rounded(int64_t row, int64_t k) {
    int64_t run = c.group ? c.group : c.k, first = k / run * run + k % run / 32 * 32;
    float largest = 0;
    for (int64_t i = first; i < std::min(first + 32, k / run * run + run); ++i) {
      largest = std::max(largest, std::abs(static_cast<float>(x.at({row, i}).real())));
    }
    float scale = largest * (1 / 127.0F), inverse = 127 / largest;
    return double(std::nearbyint(static_cast<float>(x.at({row, k}).real()) * inverse)) * scale;
  }
  std::vector<void *> buffers() { return {x.data(), w.data(), s.data(), z.data(), out.data()}; }

  const ScaledCase &c;
  Array x, w, s, z, out;
};

std::string tensor(const std::vector<int64_t> &shape, const std::string &type) {
  std::string text = "tensor<";
  for (int64_t d : shape) {
    text += std::to_string(d) + "x";
  }
  return text + type + ">";
}

/// One op: %result = "hlo.NAME"(operands) attributes : (types) -> type.
std::string op(const std::string &result, const std::string &name, const std::string &operands,
               const std::string &attributes, const std::string &types, const std::string &type) {
  return "%" + result + " = \"hlo." + name + "\"(" + operands + ") " + attributes + " : (" + types +
         ") -> " + type + "\n";
}

std::string unpacking(const ScaledCase &c, const Data &d) {
  std::string whole = tensor(d.integers(), (c.isSigned ? "si" : "ui") + std::to_string(c.bits));
  std::vector<int64_t> split = d.stored();
  int64_t each = 8 / c.bits;
  split.push_back(each);
  std::string w = d.w.mlirType();
  if (c.bits == 8) {
    return op("q", "bitcast_convert", "%w", "", w, whole);
  }
  std::string parts = tensor(split, (c.isSigned ? "si" : "ui") + std::to_string(c.bits));
  return op("p", "bitcast_convert", "%w", "", w, parts) +
         op("q", "reshape", "%p", "", parts, whole);
}

std::string moduleText(const ScaledCase &c, const Data &d) {
  std::string name = mlirName(c.type), x = d.x.mlirType(), w = d.w.mlirType(), s = d.s.mlirType(),
              z = d.z.mlirType(), out = d.out.mlirType();
  std::string stored = (c.isSigned ? "si" : "ui") + std::to_string(c.bits);
  std::string whole = tensor(d.integers(), name);
  std::string text = "%x0 = \"t.x\"() : () -> " + x + "\n%w0 = \"t.w\"() : () -> " + w +
                     "\n%s0 = \"t.s\"() : () -> " + s + "\n%z0 = \"t.z\"() : () -> " + z +
                     "\n%f = \"hlo.fusion\"(%x0, %w0, %s0, %z0) ({\n^bb0(%x: " + x + ", %w: " + w +
                     ", %s: " + s + ", %z: " + z + "):\n" + unpacking(c, d);
  if (c.wraps) {
    std::string bytes = tensor(d.integers(), "si8"), both = bytes + ", " + bytes;
    std::string none = "{dimensions = array<i64>}";
    text += op("q8", "convert", "%q", "", tensor(d.integers(), stored), bytes) +
            op("a", "constant", "", "{value = dense<-12> : tensor<si8>}", "", "tensor<si8>") +
            op("as", "broadcast", "%a", none, "tensor<si8>", bytes) +
            op("low", "add", "%q8, %as", "", both, bytes) +
            op("b", "constant", "", "{value = dense<-130> : tensor<si32>}", "", "tensor<si32>") +
            op("b8", "convert", "%b", "", "tensor<si32>", "tensor<si8>") +
            op("bs", "broadcast", "%b8", none, "tensor<si8>", bytes) +
            op("wrapped", "subtract", "%low, %bs", "", both, bytes) +
            op("v", "convert", "%wrapped", "", bytes, whole);
  } else if (c.group == 0) {
    text += op("v", "convert", "%q", "", tensor(d.integers(), stored), whole);
  } else {
    std::vector<int64_t> grouped = c.alongK ? std::vector<int64_t>{c.n, d.groups(), c.group}
                                            : std::vector<int64_t>{d.groups(), c.group, c.n};
    std::string g = tensor(grouped, name);
    std::string dims =
        c.alongK ? "{dimensions = array<i64: 0, 1>}" : "{dimensions = array<i64: 0, 2>}";
    text += op("c", "convert", "%q", "", tensor(d.integers(), stored), whole) +
            op("g", "reshape", "%c", "", whole, g);
    std::string at = "%g";
    if (c.zeros) {
      std::string zc = tensor(d.perGroup(), name);
      text += op("zc", "convert", "%z", "", z, zc) + op("zb", "broadcast", "%zc", dims, zc, g) +
              op("moved0", "subtract", "%g, %zb", "", g + ", " + g, g);
      at = "%moved0";
    }
    text += op("sb", "broadcast", "%s", dims, s, g) +
            op("scaled", "multiply", at + ", %sb", "", g + ", " + g, g) +
            op("v", "reshape", "%scaled", "", g, whole);
  }
  std::string k = c.alongK ? "1" : "0";
  return text +
         op("d", "dot", "%x, %v",
            "{lhs_contracting_dims = array<i64: 1>, rhs_contracting_dims = array<i64: " + k + ">" +
                (c.quantized ? ", hlo.quantize_activations" : "") + "}",
            x + ", " + whole, out) +
         "\"hlo.return\"(%d) : (" + out + ") -> ()\n}) {strategy = \"dot\"} : (" + x + ", " + w +
         ", " + s + ", " + z + ") -> " + out + "\n";
}

std::string describe(const ScaledCase &c) {
  return mlirName(c.type) + (c.isSigned ? " s" : " u") + std::to_string(c.bits) +
         (c.alongK ? " along k " : " along n ") + std::to_string(c.m) + "x" + std::to_string(c.k) +
         "x" + std::to_string(c.n) + " group " + std::to_string(c.group) +
         (c.zeros ? " zeros" : "") + (c.quantized ? " quantized" : "");
}

double product(Data &d, const std::vector<int64_t> &index) {
  double sum = 0;
  for (int64_t k = 0; k < d.c.k; ++k) {
    sum += d.x.at({index[0], k}).real() * d.weight(k, index[1]);
  }
  return sum;
}

/// Whether rows are rounded on the target: where it has a product of bytes.
bool isRounded(const ScaledCase &c, const hlo::Target &target) {
  return c.quantized && hlo::codegen::byteProduct(target.machine, c.bits, c.isSigned);
}

std::unique_ptr<Kernel> compiled(const ScaledCase &c, const Data &d, const hlo::Target &target) {
  auto kernel = Kernel::compile(moduleText(c, d), target);
  if (!kernel) {
    ADD_FAILURE() << llvm::toString(kernel.takeError());
    return nullptr;
  }
  return std::move(*kernel);
}

/// The results are those of rows in 8 bits: a unit of f32 of the sum of the products' magnitudes is
/// a thousandth of what rounding the rows changes.
void expectRounded(Data &d) {
  int64_t failures = 0;
  forEachIndex({d.c.m, d.c.n}, [&](const std::vector<int64_t> &index) {
    double want = 0, magnitude = 0;
    for (int64_t k = 0; k < d.c.k; ++k) {
      double term = d.rounded(index[0], k) * d.weight(k, index[1]);
      want += term;
      magnitude += std::abs(term);
    }
    double got = d.out.at(index).real();
    double tolerance = 0x1p-23 * magnitude + epsilonOf(d.c.type) * std::abs(want);
    if (!(std::abs(got - want) <= tolerance) && ++failures <= 3) {
      ADD_FAILURE() << "at " << index[0] << ", " << index[1] << ": " << got << ", expected "
                    << want;
    }
  });
  EXPECT_EQ(failures, 0);
}

void check(const ScaledCase &c) {
  for (const hlo::Target &target : targets()) {
    if (c.quantized && !isRounded(c, target)) {
      continue;
    }
    SCOPED_TRACE(describe(c) + " on " + target.cpu);
    Data d(c);
    std::unique_ptr<Kernel> kernel = compiled(c, d, target);
    ASSERT_TRUE(kernel);
    std::vector<void *> buffers = d.buffers();
    kernel->run(buffers);
    if (c.quantized) {
      expectRounded(d);
    } else {
      expectClose(d.out, [&](const std::vector<int64_t> &index) { return product(d, index); });
    }
    // The same bits, task by task and in reverse order.
    std::vector<char> all(static_cast<char *>(d.out.data()),
                          static_cast<char *>(d.out.data()) + d.out.size() * bytesOf(c.type));
    std::memset(d.out.data(), 0x55, all.size());
    for (int64_t t = kernel->tasks(); t-- > 0;) {
      kernel->run(buffers, t, t + 1);
    }
    EXPECT_EQ(std::memcmp(d.out.data(), all.data(), all.size()), 0);
  }
}

TEST(Scaled, GroupsAlongColumns) {
  for (Type type : {Type::F32, Type::BF16}) {
    for (int64_t group : {32, 64, 128}) {
      check({type, 4, true, false, 1, 256, 192, group});
      check({type, 4, false, false, 1, 256, 192, group, true});
    }
    // Groups that are no power of two, columns after the last whole tile, one scale per column.
    check({type, 4, true, false, 1, 240, 202, 48});
    check({type, 4, false, false, 1, 216, 330, 24, true});
    check({type, 4, true, false, 1, 77, 130, 77});
    check({type, 4, true, false, 1, 77, 130, 0});
  }
}

TEST(Scaled, GroupsAlongK) {
  for (Type type : {Type::F32, Type::BF16}) {
    for (int64_t group : {32, 64, 128}) {
      check({type, 4, true, true, 1, 256, 33, group});
      check({type, 4, false, true, 1, 256, 33, group, true});
    }
    check({type, 4, true, true, 1, 240, 7, 48});
    check({type, 4, false, true, 1, 216, 130, 24, true});
    check({type, 4, true, true, 1, 152, 130, 152});
    check({type, 4, true, true, 1, 328, 1, 0});
  }
}

TEST(Scaled, SeveralRows) {
  for (int64_t m : {2, 3, 4, 5, 8, 11, 16}) {
    for (bool alongK : {false, true}) {
      check({Type::F32, 4, true, alongK, m, 192, 198, 32});
      check({Type::BF16, 4, false, alongK, m, 192, 136, 64, true});
      check({Type::F32, 8, true, alongK, m, 192, 136, 32});
    }
  }
}

TEST(Scaled, OtherWidths) {
  for (bool isSigned : {false, true}) {
    for (bool alongK : {false, true}) {
      for (int bits : {2, 8}) {
        check({Type::F32, bits, isSigned, alongK, 1, 320, 332, 32});
        check({Type::BF16, bits, isSigned, alongK, 2, 320, 332, 40});
      }
      check({Type::F32, 2, isSigned, alongK, 1, 320, 332, 64, true});
    }
  }
}

TEST(Scaled, QuantizedRows) {
  for (bool alongK : {false, true}) {
    for (int bits : {2, 4, 8}) {
      for (bool isSigned : {false, true}) {
        check({Type::F32, bits, isSigned, alongK, 1, 320, 332, 32, false, true});
        check({Type::BF16, bits, isSigned, alongK, 3, 288, 264, 48, true, true});
      }
    }
    // One scale for all of k, a last step or tile that overlaps, groups with blocks of other sizes.
    check({Type::F32, 4, true, alongK, 1, 416, 390, 416, false, true});
    check({Type::F32, 4, true, alongK, 2, 416, 390, 0, false, true});
    check({Type::F32, 8, true, alongK, 5, 280, 134, 40, true, true});
    for (int64_t m : {4, 7, 16}) {
      check({Type::F32, 4, true, alongK, m, 128, 136, 64, false, true});
    }
  }
  // Steps beyond the last group of four.
  check({Type::F32, 4, true, false, 2, 77, 258, 77, false, true});
  check({Type::F32, 4, false, false, 1, 90, 256, 15, true, true});
}

/// Rows that are bytes: sums of integers.
TEST(Scaled, RowsOfBytes) {
  for (int64_t m : {1, 3, 8}) {
    for (bool isSigned : {false, true}) {
      check({Type::S8, 4, isSigned, true, m, 402, 37, 0});
      check({Type::S8, 4, isSigned, false, m, 77, 330, 0});
      check({Type::S8, 2, isSigned, true, m, 512, 10, 0});
      check({Type::S8, 2, isSigned, false, m, 130, 520, 0});
    }
  }
}

TEST(Scaled, SmallOrOdd) {
  // Too few columns or rows of k for a tile, columns that begin inside of a byte's row.
  check({Type::F32, 4, true, false, 1, 64, 30, 32});
  check({Type::F32, 4, true, true, 1, 32, 40, 16});
  check({Type::F32, 4, true, true, 1, 36, 40, 4});
  check({Type::F32, 4, true, false, 17, 64, 128, 32});
}

/// A zero point that the conversion to its type changes: the integers wrap, sums of floats do not.
TEST(Scaled, ZeroPointsThatWrap) {
  check({Type::F32, 4, true, false, 1, 64, 128, 0, false, false, true});
  check({Type::F32, 4, true, true, 1, 64, 40, 0, false, false, true});
}

/// Infinities, NaNs and rows beyond the range of the sums' factors are computed as the program
/// says.
TEST(Scaled, RowsThatAreNotOrdinary) {
  for (int form = 0; form < 4; ++form) {
    bool alongK = form % 2, quantized = form / 2;
    for (double value : {HUGE_VAL, -HUGE_VAL, std::nan(""), 0x1p100}) {
      ScaledCase c{Type::F32, 4, true, alongK, 2, 128, 136, 32, false, quantized};
      Data d(c);
      d.x.set(c.k + 70, value);
      std::unique_ptr<Kernel> kernel = compiled(c, d, targets().front());
      ASSERT_TRUE(kernel);
      kernel->run(d.buffers());
      forEachIndex({c.m, c.n}, [&](const std::vector<int64_t> &index) {
        double want = product(d, index), got = d.out.at(index).real();
        if (std::isfinite(want)) {
          EXPECT_NEAR(got, want, 1e-5 * std::abs(want) + 1e-3);
        } else {
          EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want) << got << " for " << want;
        }
      });
    }
  }
}

/// Where all integers are zero, so is the sum, however large the biases of unpacking are.
TEST(Scaled, ZerosStayZero) {
  for (int form = 0; form < 4; ++form) {
    bool alongK = form % 2, quantized = form / 2;
    ScaledCase c{Type::F32, 4, true, alongK, 1, 256, 136, 128, false, quantized};
    Data d(c);
    std::memset(d.w.data(), 0, d.w.size());
    for (int64_t i = 0; i < d.x.size(); ++i) {
      d.x.set(i, 1 / (3.0 + static_cast<double>(i % 17)));
    }
    std::unique_ptr<Kernel> kernel = compiled(c, d, targets().front());
    ASSERT_TRUE(kernel);
    kernel->run(d.buffers());
    for (int64_t i = 0; i < d.out.size(); ++i) {
      ASSERT_EQ(d.out.get(i).real(), 0);
    }
  }
}

} // namespace
