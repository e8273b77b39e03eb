//===- ConvCase.cpp - A convolution, as text and as a naive loop ----------===//
//
// The reference follows the definition of the op element by element.
//
//===----------------------------------------------------------------------===//
#include "test/unit/codegen-conv/ConvCase.h"

namespace hlo::testing {

using Dims = std::vector<int64_t>;

int64_t Window::output() const {
  int64_t base = input == 0 ? 0 : (input - 1) * inputDilation + 1;
  int64_t padded = base + padLow + padHigh;
  int64_t width = kernel == 0 ? 0 : (kernel - 1) * kernelDilation + 1;
  return padded < width ? 0 : (padded - width) / stride + 1;
}

static std::string labelsOf(const std::string &labels, int side) {
  size_t first = labels.find('_'), arrow = labels.find("->");
  return side == 0   ? labels.substr(0, first)
         : side == 1 ? labels.substr(first + 1, arrow - first - 1)
                     : labels.substr(arrow + 2);
}

int64_t ConvCase::position(int side, char label) const {
  return labelsOf(labels, side).find(label);
}

static Dims shapeOf(const std::string &labels, const std::function<int64_t(char)> &size) {
  Dims shape;
  for (char label : labels) {
    shape.push_back(size(label));
  }
  return shape;
}

Dims ConvCase::inputShape() const {
  return shapeOf(labelsOf(labels, 0), [&](char l) {
    return l == 'b' ? batch : l == 'f' ? inputFeatures : windows[l - '0'].input;
  });
}

Dims ConvCase::kernelShape() const {
  return shapeOf(labelsOf(labels, 1), [&](char l) {
    return l == 'o'   ? outputFeatures
           : l == 'i' ? inputFeatures / featureGroups
                      : windows[l - '0'].kernel;
  });
}

Dims ConvCase::outputShape() const {
  return shapeOf(labelsOf(labels, 2), [&](char l) {
    return l == 'b' ? batch / batchGroups : l == 'f' ? outputFeatures : windows[l - '0'].output();
  });
}

double ConvCase::work() const {
  double result = 1;
  for (int64_t d : outputShape()) {
    result *= d;
  }
  for (const Window &w : windows) {
    result *= w.kernel;
  }
  return result * inputFeatures / featureGroups;
}

std::string ConvCase::describe() const {
  std::string text = mlirName(type) + " " + labels + " b" + std::to_string(batch) + " i" +
                     std::to_string(inputFeatures) + " o" + std::to_string(outputFeatures);
  for (const Window &w : windows) {
    text += " [" + std::to_string(w.input) + "/" + std::to_string(w.kernel) + " s" +
            std::to_string(w.stride) + " p" + std::to_string(w.padLow) + "_" +
            std::to_string(w.padHigh) + " ld" + std::to_string(w.inputDilation) + " rd" +
            std::to_string(w.kernelDilation) + (w.reversed ? " r]" : "]");
  }
  return text + " fg" + std::to_string(featureGroups) + " bg" + std::to_string(batchGroups) +
         (biasAndMaximum ? " bias" : "") + (negatedOperands ? " negated" : "");
}

std::string ConvCase::moduleText() const {
  std::string l = Array(type, inputShape()).mlirType(), r = Array(type, kernelShape()).mlirType();
  std::string o = Array(out, outputShape()).mlirType(), b = Array(out, {outputFeatures}).mlirType();
  auto dims = [&](int side, char first, char second, const char *a, const char *c) {
    std::string text = std::string("[") + a + " = " + std::to_string(position(side, first)) + ", " +
                       c + " = " + std::to_string(position(side, second));
    for (size_t d = 0; d < windows.size(); ++d) {
      text += ", " + std::to_string(position(side, '0' + d));
    }
    return text + "]";
  };
  auto entries = [&](const char *name, auto field, bool comma = true) {
    std::string text = std::string(name) + " = [";
    for (size_t d = 0; d < windows.size(); ++d) {
      text += (d ? ", " : "") + std::to_string(static_cast<int64_t>(field(windows[d])));
    }
    return text + (comma ? "], " : "]");
  };
  std::string window;
  if (!windows.empty()) {
    window = "window = #hlo.window<" + entries("size", [](auto &w) { return w.kernel; }) +
             entries("stride", [](auto &w) { return w.stride; }) +
             entries("pad_low", [](auto &w) { return w.padLow; }) +
             entries("pad_high", [](auto &w) { return w.padHigh; }) +
             entries("lhs_dilate", [](auto &w) { return w.inputDilation; }) +
             entries("rhs_dilate", [](auto &w) { return w.kernelDilation; }) +
             entries("reversal", [](auto &w) { return w.reversed; }, false) + ">, ";
    // The parser wants commas after all but the last entry only where the next is present.
  }
  std::string x = "%x", y = "%y", negate;
  if (negatedOperands) {
    negate = "%nx = \"hlo.negate\"(%x) : (" + l + ") -> " + l + "\n%ny = \"hlo.negate\"(%y) : (" +
             r + ") -> " + r + "\n";
    x = "%nx";
    y = "%ny";
  }
  std::string text =
      "%l = \"t.l\"() : () -> " + l + "\n%r = \"t.r\"() : () -> " + r +
      "\n%b = \"t.b\"() : () -> " + b + "\n%f = \"hlo.fusion\"(%l, %r, %b) ({\n^bb0(%x: " + l +
      ", %y: " + r + ", %z: " + b + "):\n" + negate + "%c = \"hlo.convolution\"(" + x + ", " + y +
      ") {" + window + "dim_labels = #hlo.conv_dims<input = " + dims(0, 'b', 'f', "b", "f") +
      ", kernel = " + dims(1, 'i', 'o', "i", "o") + ", output = " + dims(2, 'b', 'f', "b", "f") +
      ">, feature_group_count = " + std::to_string(featureGroups) +
      " : i64, batch_group_count = " + std::to_string(batchGroups) + " : i64} : (" + l + ", " + r +
      ") -> " + o + "\n";
  std::string root = "%c";
  if (biasAndMaximum) {
    text +=
        "%bb = \"hlo.broadcast\"(%z) {dimensions = array<i64: " + std::to_string(position(2, 'f')) +
        ">} : (" + b + ") -> " + o + "\n%s = \"hlo.add\"(%c, %bb) : (" + o + ", " + o + ") -> " +
        o + "\n%m = \"hlo.maximum\"(%s, %bb) : (" + o + ", " + o + ") -> " + o + "\n";
    root = "%m";
  }
  return text + "\"hlo.return\"(" + root + ") : (" + o + ") -> ()\n}) {strategy = \"conv\"} : (" +
         l + ", " + r + ", " + b + ") -> " + o + "\n";
}

/// The distance of neighbours along each dimension, in elements.
static Dims stridesOf(const Dims &shape) {
  Dims strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * shape[d];
  }
  return strides;
}

ConvReference::ConvReference(const ConvCase &c, const Array &input, const Array &kernel)
    : c(c), input(input.values()), kernel(kernel.values()), inputStrides(stridesOf(input.shape())),
      kernelStrides(stridesOf(kernel.shape())), inputBatch(c.position(0, 'b')),
      inputFeature(c.position(0, 'f')), kernelInput(c.position(1, 'i')),
      kernelOutput(c.position(1, 'o')), outputBatch(c.position(2, 'b')),
      outputFeature(c.position(2, 'f')) {
  for (size_t d = 0; d < c.windows.size(); ++d) {
    for (int side : {0, 1, 2}) {
      spatial[side].push_back(c.position(side, '0' + d));
    }
  }
}

Array::Value ConvReference::at(const Dims &index) const {
  int64_t feature = index[outputFeature];
  int64_t perGroup = c.inputFeatures / c.featureGroups;
  int64_t featureGroup = feature / (c.outputFeatures / c.featureGroups);
  int64_t batchGroup = feature / (c.outputFeatures / c.batchGroups);
  int64_t image = batchGroup * (c.batch / c.batchGroups) + index[outputBatch];
  Dims taps;
  for (const Window &w : c.windows) {
    taps.push_back(w.kernel);
  }
  Array::Value sum = 0;
  forEachIndex(taps, [&](const Dims &tap) {
    int64_t in =
        image * inputStrides[inputBatch] + featureGroup * perGroup * inputStrides[inputFeature];
    int64_t ker = feature * kernelStrides[kernelOutput];
    for (size_t d = 0; d < tap.size(); ++d) {
      const Window &w = c.windows[d];
      int64_t at = index[spatial[2][d]] * w.stride + tap[d] * w.kernelDilation - w.padLow;
      if (at < 0 || at % w.inputDilation != 0 || at / w.inputDilation >= w.input) {
        return;
      }
      in += at / w.inputDilation * inputStrides[spatial[0][d]];
      ker += (w.reversed ? w.kernel - 1 - tap[d] : tap[d]) * kernelStrides[spatial[1][d]];
    }
    for (int64_t i = 0; i < perGroup; ++i) {
      sum +=
          input[in + i * inputStrides[inputFeature]] * kernel[ker + i * kernelStrides[kernelInput]];
    }
  });
  return sum;
}

} // namespace hlo::testing
