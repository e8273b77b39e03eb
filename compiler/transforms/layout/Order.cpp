//===- Order.cpp - Orders of an array's dimensions ------------------------===//
#include "compiler/transforms/layout/Order.h"

using namespace mlir;
using namespace hlo;

Order hlo::rowMajor(int64_t rank) {
  Order order;
  llvm::append_range(order, llvm::seq<int64_t>(0, rank));
  return order;
}

Order hlo::placesOf(ArrayRef<int64_t> order) {
  Order places(order.size());
  for (auto [place, dim] : llvm::enumerate(order)) {
    places[dim] = place;
  }
  return places;
}

Order hlo::applied(ArrayRef<int64_t> order, ArrayRef<int64_t> values) {
  return Order(llvm::map_range(order, [&](int64_t dim) { return values[dim]; }));
}

bool hlo::areSameBytes(ArrayRef<int64_t> shape, ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  auto isMoving = [&](int64_t dim) { return shape[dim] != 1; };
  return llvm::equal(llvm::make_filter_range(a, isMoving), llvm::make_filter_range(b, isMoving));
}

Value hlo::reordered(HloBuilder &b, Value value, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  Order places = placesOf(from), shape = applied(places, HloBuilder::type(value).getShape());
  if (areSameBytes(shape, from, to)) {
    return b.reshape(value, applied(to, shape));
  }
  return b.transpose(value, applied(to, places));
}

namespace {
/// Dimensions [from, fromEnd) of one shape that hold the elements of [to, toEnd) of the other.
struct Run {
  int64_t from, fromEnd, to, toEnd;
};
} // namespace

/// The shortest runs of two shapes of equally many elements, none of them 0. Dimensions of size 1
/// belong to the run before them.
static SmallVector<Run> runsOf(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<Run> runs;
  int64_t i = 0, j = 0, fromRank = from.size(), toRank = to.size();
  while (i < fromRank || j < toRank) {
    Run run{i, i, j, j};
    int64_t left = i < fromRank ? from[i++] : 1, right = j < toRank ? to[j++] : 1;
    while (left != right) {
      if (left < right) {
        left *= from[i++];
      } else {
        right *= to[j++];
      }
    }
    while (i < fromRank && from[i] == 1) {
      ++i;
    }
    while (j < toRank && to[j] == 1) {
      ++j;
    }
    run.fromEnd = i;
    run.toEnd = j;
    runs.push_back(run);
  }
  return runs;
}

std::optional<Order> hlo::orderAfterReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                                            ArrayRef<int64_t> order) {
  if (llvm::is_contained(from, 0)) {
    return std::nullopt;
  }
  SmallVector<Run> runs = runsOf(from, to);
  SmallVector<size_t> runOf(from.size());
  SmallVector<int64_t> sizes(runs.size(), 0); // of each run, dimensions other than 1
  for (auto [r, run] : llvm::enumerate(runs)) {
    for (int64_t d = run.from; d < run.fromEnd; ++d) {
      runOf[d] = r;
      sizes[r] += from[d] != 1;
    }
  }
  Order result;
  SmallVector<bool> isPlaced(runs.size(), false);
  auto place = [&](size_t r) {
    llvm::append_range(result, llvm::seq<int64_t>(runs[r].to, runs[r].toEnd));
    isPlaced[r] = true;
  };
  SmallVector<int64_t> moving =
      llvm::filter_to_vector(order, [&](int64_t dim) { return from[dim] != 1; });
  for (size_t i = 0; i < moving.size();) {
    size_t r = runOf[moving[i]];
    int64_t last = -1, count = 0;
    for (; i < moving.size() && runOf[moving[i]] == r; ++i, ++count) {
      if (moving[i] < last) {
        return std::nullopt;
      }
      last = moving[i];
    }
    if (count != sizes[r]) {
      return std::nullopt;
    }
    place(r);
  }
  for (size_t r = 0; r < runs.size(); ++r) {
    if (!isPlaced[r]) {
      place(r);
    }
  }
  return result;
}
