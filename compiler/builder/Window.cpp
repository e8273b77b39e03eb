//===- Window.cpp - Windows of convolutions and reductions ----------------===//
#include "compiler/builder/Window.h"
#include "absl/strings/str_join.h"
#include <algorithm>

namespace hlo::detail {

static std::int64_t entry(const std::vector<std::int64_t> &list, std::size_t i) {
  return list.empty() ? 1 : list[i];
}

std::string Window::check() const {
  std::size_t rank = size.size();
  auto wrong = [&](const char *name, std::size_t entries, bool mayBeEmpty) {
    return entries == rank || (mayBeEmpty && entries == 0)
               ? std::string()
               : absl::StrCat(name, " has ", entries, " entries, the window has ", rank,
                              " dimensions");
  };
  std::string message = wrong("window_strides", strides.size(), true);
  message += message.empty() ? wrong("padding", padding.size(), false) : "";
  message += message.empty() ? wrong("base dilation", baseDilations.size(), true) : "";
  message += message.empty() ? wrong("window dilation", windowDilations.size(), true) : "";
  message += message.empty() ? wrong("window_reversal", reversal.size(), true) : "";
  auto positive = [&](const char *name, const std::vector<std::int64_t> &list) {
    for (std::int64_t value : list) {
      if (message.empty() && value < 1) {
        message = absl::StrCat(name, " holds ", value, ", must be positive");
      }
    }
  };
  positive("window_dimensions", size);
  positive("window_strides", strides);
  positive("base dilation", baseDilations);
  positive("window dilation", windowDilations);
  return message;
}

std::string Window::text() const {
  if (size.empty()) {
    return "";
  }
  std::string text = absl::StrCat("{size=", absl::StrJoin(size, "x"));
  auto add = [&](const char *name, const std::vector<std::int64_t> &list) {
    if (std::any_of(list.begin(), list.end(), [](std::int64_t value) { return value != 1; })) {
      absl::StrAppend(&text, " ", name, "=", absl::StrJoin(list, "x"));
    }
  };
  add("stride", strides);
  if (std::any_of(padding.begin(), padding.end(),
                  [](const auto &pair) { return pair.first || pair.second; })) {
    absl::StrAppend(&text, " pad=", absl::StrJoin(padding, "x", absl::PairFormatter("_")));
  }
  add("lhs_dilate", baseDilations);
  add("rhs_dilate", windowDilations);
  if (std::find(reversal.begin(), reversal.end(), true) != reversal.end()) {
    absl::StrAppend(&text,
                    " rhs_reversal=", absl::StrJoin(reversal, "x", [](std::string *out, bool is) {
                      *out += is ? "1" : "0";
                    }));
  }
  return text + "}";
}

/// (n - 1) * dilation + 1; in doubles first, for sizes that do not fit.
static std::int64_t dilated(std::int64_t size, std::int64_t dilation) {
  double exact = (static_cast<double>(size) - 1) * static_cast<double>(dilation) + 1;
  return size <= 0 ? 0 : exact > 0x1p60 ? std::int64_t(1) << 60 : (size - 1) * dilation + 1;
}

void Window::pad(Numbers inputSizes, Padding kind) {
  padding.assign(size.size(), {0, 0});
  for (std::size_t i = 0; kind == Padding::kSame && i < std::min(size.size(), inputSizes.size());
       ++i) {
    std::int64_t input = dilated(inputSizes[i], entry(baseDilations, i));
    std::int64_t window = dilated(size[i], entry(windowDilations, i));
    std::int64_t stride = std::max<std::int64_t>(entry(strides, i), 1);
    std::int64_t output = input / stride + (input % stride != 0);
    std::int64_t total = std::max<std::int64_t>((output - 1) * stride + window - input, 0);
    padding[i] = {total / 2, total - total / 2};
  }
}

std::int64_t Window::outputSize(int dimension, std::int64_t inputSize) const {
  auto [low, high] = padding[dimension];
  constexpr std::int64_t limit = std::int64_t(1) << 61;
  if (low > limit || high > limit || low < -limit || high < -limit) {
    return 0;
  }
  std::int64_t input = dilated(inputSize, entry(baseDilations, dimension)) + (low + high);
  std::int64_t window = dilated(size[dimension], entry(windowDilations, dimension));
  return input < window ? 0 : (input - window) / entry(strides, dimension) + 1;
}

} // namespace hlo::detail
