//===- RandomModule.h - Fused modules made by chance ----------------------===//
#ifndef TEST_UNIT_PLANNER_RANDOMMODULE_H
#define TEST_UNIT_PLANNER_RANDOMMODULE_H

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace hlo::test {

/// Writes a fused module as text: kernels with random `in_place` and `may_alias`, loops,
/// conditionals, bitcasts, copies, constants, results returned twice, donated inputs.
class RandomModule {
public:
  explicit RandomModule(uint32_t seed) : random(seed) {}
  std::string write();

private:
  using Types = std::vector<std::string>;
  struct Value {
    std::string name, type;
  };
  struct Body {
    std::string text;
    std::vector<Value> values;
    unsigned next = 0;
    unsigned depth = 0;
  };

  unsigned below(unsigned n) { return random() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }
  std::string randomType();
  Value &pick(Body &body) { return body.values[below(body.values.size())]; }
  /// A value of the type: an existing one, or a new kernel's result.
  std::string valueOf(Body &body, const std::string &type);
  void addKernel(Body &body, const Types &results);
  void addLoop(Body &body);
  void addConditional(Body &body);
  void addOp(Body &body);
  std::string addComputation(unsigned depth, const Types &arguments, const Types &results,
                             bool entry = false);

  std::mt19937 random;
  std::string computations;
  unsigned names = 0;
  /// Loops that may be used again: condition, body, types of the carries.
  struct Loop {
    std::string condition, body;
    Types types;
  };
  std::vector<Loop> loops;
};

} // namespace hlo::test

#endif
