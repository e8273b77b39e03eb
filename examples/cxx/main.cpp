// Trains a linear regression by gradient descent; regression.hpp declares everything that it needs.
#include "regression.hpp"

#include <array>
#include <cstdio>
#include <vector>

int main() {
  // 8 points of y = 3 a - 2 b, and the weights of a and b, which every step updates in place.
  float x[8][2];
  std::vector<float> y(8);
  std::array<float, 2> w{};
  float loss = 0;
  for (int i = 0; i < 8; ++i) {
    x[i][0] = static_cast<float>(i % 3), x[i][1] = static_cast<float>(i % 2);
    y[i] = 3 * x[i][0] - 2 * x[i][1];
  }

  hlo::context cx{hlo::threads(2)};
  examples::regression step(cx);
  for (int i = 1; i <= 100; ++i) {
    // By position: x, y, w, then the new w, for which the old one's memory does, and the loss.
    if (hlo::status s = step(x, y, w, w, loss); !s) {
      return std::fprintf(stderr, "%s: %s\n", s.name(), s.message()), 1;
    }
    if (i % 50 == 0) {
      std::printf("step %d: loss %.6f, w = %.4f %.4f\n", i, loss, w[0], w[1]);
    }
  }

  // By name. The size of a std::vector is known only at run time; the call checks it.
  examples::regression::arrays all;
  all.x = x, all.y = y, all.w = w, all.out_0 = w, all.out_1 = loss;
  y.pop_back();
  all.y = y;
  const hlo::status s = step(all);
  std::printf("%s: %s\n", s.name(), s.message());
  return s ? 1 : 0;
}
