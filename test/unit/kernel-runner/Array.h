//===- Array.h - Arrays of any HLO element type, for tests ----------------===//
#ifndef TEST_UNIT_KERNEL_RUNNER_ARRAY_H
#define TEST_UNIT_KERNEL_RUNNER_ARRAY_H

#include <complex>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace hlo::testing {

/// Element types that tests use, by their names in HLO text.
enum class Type { Pred, S8, U8, S16, S32, U32, S64, F16, BF16, F8, F32, F64, C64, C128 };

/// As written in MLIR: i1, si8, bf16, complex<f32>.
std::string mlirName(Type type);
int64_t bytesOf(Type type);
bool isInteger(Type type);
/// The distance from 1 to the next value; 0 for integers.
double epsilonOf(Type type);

/// A dense row-major array, aligned to a cache line.
class Array {
public:
  using Value = std::complex<double>;
  Array(Type type, std::vector<int64_t> shape);

  Type type() const { return elementType; }
  const std::vector<int64_t> &shape() const { return dims; }
  int64_t size() const { return count; }
  void *data() { return bytes.data() + offset; }
  Value get(int64_t index) const;
  /// All elements, the last dimension fastest.
  std::vector<Value> values() const;
  /// Rounds or wraps to the element type.
  void set(int64_t index, Value value);
  int64_t linear(const std::vector<int64_t> &index) const;
  Value at(const std::vector<int64_t> &index) const { return get(linear(index)); }
  /// Small values of both signs that the type holds exactly.
  void fillRandom(std::mt19937 &random);
  /// tensor<2x3xf32>
  std::string mlirType() const;

private:
  Type elementType;
  std::vector<int64_t> dims;
  int64_t count;
  size_t offset;
  std::vector<char> bytes;
};

/// Calls `body` with every index of a shape, the last dimension fastest.
void forEachIndex(const std::vector<int64_t> &shape,
                  const std::function<void(const std::vector<int64_t> &)> &body);

} // namespace hlo::testing

#endif
