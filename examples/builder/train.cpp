//===- train.cpp - A network built, compiled and trained in one program ---===//
//
// A network of two layers that tells two spirals apart. The program builds one step of training as
// a computation, with the gradient written by hand, compiles it for this machine and runs it. No
// HLO text, no files.
//
//===----------------------------------------------------------------------===//
#include "hlo/builder.h"
#include "hlo/executable.h"
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {
constexpr std::int64_t kPoints = 400, kHidden = 32, kClasses = 2;
constexpr int kSteps = 2000;

/// What Reduce combines two elements with.
hlo::XlaComputation Combiner(const char *name, hlo::XlaOp (*combine)(hlo::XlaOp, hlo::XlaOp)) {
  hlo::XlaBuilder b(name);
  hlo::Shape scalar = hlo::ShapeUtil::MakeShape(hlo::F32, {});
  combine(hlo::Parameter(&b, 0, scalar, "x"), hlo::Parameter(&b, 1, scalar, "y"));
  return b.Build().value();
}

/// lhs * rhs, contracting dimension `l` of lhs with dimension `r` of rhs.
hlo::XlaOp Product(hlo::XlaOp lhs, std::int64_t l, hlo::XlaOp rhs, std::int64_t r) {
  hlo::DotDimensionNumbers numbers;
  numbers.add_lhs_contracting_dimensions(l);
  numbers.add_rhs_contracting_dimensions(r);
  return hlo::DotGeneral(lhs, rhs, numbers);
}

/// One step: (x, y, w1, b1, w2, b2) -> (w1, b1, w2, b2, loss). Weights share their buffers with the
/// new ones.
absl::StatusOr<hlo::XlaComputation> TrainingStep(float rate) {
  hlo::XlaComputation sum =
      Combiner("sum", [](hlo::XlaOp x, hlo::XlaOp y) { return hlo::Add(x, y); });
  hlo::XlaComputation maximum =
      Combiner("maximum", [](hlo::XlaOp x, hlo::XlaOp y) { return hlo::Max(x, y); });

  hlo::XlaBuilder b("step");
  auto parameter = [&](std::int64_t number, std::vector<std::int64_t> dims, const char *name) {
    return hlo::Parameter(&b, number, hlo::ShapeUtil::MakeShape(hlo::F32, dims), name);
  };
  hlo::XlaOp x = parameter(0, {kPoints, 2}, "x"), y = parameter(1, {kPoints, kClasses}, "y");
  hlo::XlaOp w1 = parameter(2, {2, kHidden}, "w1"), b1 = parameter(3, {kHidden}, "b1");
  hlo::XlaOp w2 = parameter(4, {kHidden, kClasses}, "w2"), b2 = parameter(5, {kClasses}, "b2");
  auto scalar = [&](float value) { return hlo::ConstantR0<float>(&b, value); };
  auto over = [&](hlo::XlaOp op, std::int64_t dimension) {
    return hlo::Reduce(op, scalar(0), sum, {dimension});
  };

  // Forward. {1}: dimension 0 of the bias is dimension 1 of the sum.
  hlo::XlaOp hidden = hlo::Tanh(hlo::Add(Product(x, 1, w1, 0), b1, {1}));
  hlo::XlaOp logits = hlo::Add(Product(hidden, 1, w2, 0), b2, {1});
  hlo::XlaOp largest = hlo::Reduce(logits, scalar(-INFINITY), maximum, {1});
  hlo::XlaOp shifted = hlo::Sub(logits, largest, {0});
  hlo::XlaOp exponentials = hlo::Exp(shifted);
  hlo::XlaOp total = over(exponentials, 1);
  hlo::XlaOp logProbabilities = hlo::Sub(shifted, hlo::Log(total), {0});
  hlo::XlaOp loss = hlo::Neg(over(over(y * logProbabilities, 1), 0)) / scalar(kPoints);

  // Backward.
  hlo::XlaOp dLogits = (hlo::Div(exponentials, total, {0}) - y) / scalar(kPoints);
  hlo::XlaOp dHidden = Product(dLogits, 1, w2, 1) * (scalar(1) - hidden * hidden);
  auto descend = [&](hlo::XlaOp weight, hlo::XlaOp gradient) {
    return weight - scalar(rate) * gradient;
  };
  hlo::Tuple(&b,
             {descend(w1, Product(x, 0, dHidden, 0)), descend(b1, over(dHidden, 0)),
              descend(w2, Product(hidden, 0, dLogits, 0)), descend(b2, over(dLogits, 0)), loss});
  for (std::int64_t i = 0; i < 4; ++i) {
    b.SetUpAlias({i}, 2 + i, {});
  }
  return b.Build();
}
} // namespace

int main() {
  absl::StatusOr<hlo::XlaComputation> step = TrainingStep(1.0f);
  if (!step.ok()) {
    std::fprintf(stderr, "%s\n", step.status().ToString().c_str());
    return 1;
  }
  absl::StatusOr<hlo::Executable> compiled = hlo::Jit(*step);
  if (!compiled.ok()) {
    std::fprintf(stderr, "%s\n", compiled.status().ToString().c_str());
    return 1;
  }

  // Two spirals; y is 1 in the column of the point's class.
  std::vector<float> x(kPoints * 2), y(kPoints * kClasses);
  for (std::int64_t i = 0; i < kPoints; ++i) {
    int spiral = i % 2;
    float radius = float(i) / kPoints, angle = 6 * radius + 3.14159265f * spiral;
    x[2 * i] = radius * std::cos(angle);
    x[2 * i + 1] = radius * std::sin(angle);
    y[kClasses * i + spiral] = 1;
  }
  std::mt19937 random(1);
  auto weights = [&](std::int64_t count, float scale) {
    std::normal_distribution<float> normal(0, scale);
    std::vector<float> values(count);
    for (float &value : values) {
      value = normal(random);
    }
    return values;
  };
  std::vector<float> w1 = weights(2 * kHidden, 2), b1 = weights(kHidden, 1);
  std::vector<float> w2 = weights(kHidden * kClasses, 0.3f), b2(kClasses);
  float loss = 0;

  // Without copies: the step reads and writes the weights in place.
  const void *inputs[] = {x.data(), y.data(), w1.data(), b1.data(), w2.data(), b2.data()};
  void *outputs[] = {w1.data(), b1.data(), w2.data(), b2.data(), &loss};
  for (int i = 0; i <= kSteps; ++i) {
    if (absl::Status status = compiled->RunBuffers(inputs, outputs); !status.ok()) {
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      return 1;
    }
    if (i % (kSteps / 4) == 0) {
      std::printf("step %4d  loss %.4f\n", i, loss);
    }
  }
  return loss < 0.1f ? 0 : 1;
}
