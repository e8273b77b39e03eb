//===- ConvCase.h - A convolution, as text and as a naive loop ------------===//
#ifndef TEST_UNIT_CODEGEN_CONV_CONVCASE_H
#define TEST_UNIT_CODEGEN_CONV_CONVCASE_H

#include "test/unit/kernel-runner/Array.h"

namespace hlo::testing {

struct Window {
  int64_t input, kernel;
  int64_t stride = 1, padLow = 0, padHigh = 0, inputDilation = 1, kernelDilation = 1;
  bool reversed = false;
  int64_t output() const;
};

struct ConvCase {
  Type type = Type::F32, out = Type::F32;
  /// dim_labels as in HLO text, e.g. b01f_01io->b01f.
  std::string labels;
  int64_t batch, inputFeatures, outputFeatures;
  std::vector<Window> windows;
  int64_t featureGroups = 1, batchGroups = 1;
  bool biasAndMaximum = false, negatedOperands = false;

  std::vector<int64_t> inputShape() const, kernelShape() const, outputShape() const;
  /// The module with the fusion; the bias has one element per output feature.
  std::string moduleText() const;
  std::string describe() const;
  /// Multiply-adds, padding included.
  double work() const;
  /// The dimension of an array with a label: side 0, 1, 2; label b, f, i, o or a digit.
  int64_t position(int side, char label) const;
};

/// The results of a case for given operands, by the definition of the op.
class ConvReference {
public:
  ConvReference(const ConvCase &c, const Array &input, const Array &kernel);
  /// The element at an index of the output.
  Array::Value at(const std::vector<int64_t> &index) const;

private:
  const ConvCase &c;
  std::vector<Array::Value> input, kernel;
  std::vector<int64_t> inputStrides, kernelStrides;
  int64_t inputBatch, inputFeature, kernelInput, kernelOutput, outputBatch, outputFeature;
  /// For each array the dimensions of the windows.
  std::vector<int64_t> spatial[3];
};

} // namespace hlo::testing

#endif
