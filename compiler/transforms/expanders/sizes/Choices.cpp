//===- Choices.cpp - Which version of the program serves which sizes ------===//
//
// Classes of sizes that must agree, the sizes that each class has versions for, and the number of
// the version that serves a call:
//
//   n <= 1 ? 0 : n <= 2 ? 1 : ...              one class
//   3 * (versions of n) + (m <= 8 ? 0 : ...)   classes multiply
//   n == 5 ? 0 : 1 + (...)                     a choice before them, for sizes that the user gave
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/expanders/sizes/Choices.h"
#include "compiler/analysis/Shapes.h"
#include "compiler/analysis/entry/SizeArguments.h"
#include <map>
#include <set>

using namespace mlir;
using namespace hlo;
using namespace hlo::sizes;

int64_t SizeClass::bound() const {
  int64_t most = 0;
  for (const SizeArgument &size : sizes) {
    most = std::max(most, size.bound);
  }
  return most;
}

ArrayRef<int64_t> SizeClass::limits() const {
  size_t others = isOne() || isFixed ? 1 : 2; // the bound, and any
  return ArrayRef(grid).drop_back(std::min(others, grid.size()));
}

/// The sizes up to `bound` that have versions, ascending: at most `count`, with the smallest
/// factors between them that allows. A size that follows its predecessor by one has an exact
/// version, whose masks go away: the smallest sizes, powers of two and the bound.
static SmallVector<int64_t> gridOf(int64_t bound, int64_t count) {
  // How many sizes there are up to the next power of two, and up to which size all are taken.
  for (auto [steps, all] : {std::pair(4, 8), std::pair(2, 8), std::pair(1, 8), std::pair(1, 2)}) {
    std::set<int64_t> grid{bound};
    for (int64_t size = 0; size <= std::min<int64_t>(all, bound); ++size) {
      grid.insert(size);
    }
    grid.insert(std::max<int64_t>(bound - 1, 0));
    for (int64_t power = 4; power < bound; power *= 2) {
      if (power > 8) {
        grid.insert(power - 1);
      }
      for (int64_t step = 0; step < steps; ++step) {
        if (power >= all || step == 0) {
          grid.insert(std::min(power + power / steps * step, bound));
        }
      }
    }
    if (static_cast<int64_t>(grid.size()) <= count) {
      return SmallVector<int64_t>(grid.begin(), grid.end());
    }
  }
  SmallVector<int64_t> powers, grid;
  for (int64_t power = 1; power < bound; power *= 2) {
    powers.push_back(power);
  }
  powers.push_back(bound);
  // Every second, third, ... of the powers, from the bound down.
  int64_t last = powers.size() - 1;
  for (int64_t i = 0; i < std::min<int64_t>(count, last + 1); ++i) {
    grid.push_back(powers[count > last ? i : count == 1 ? last : i * last / (count - 1)]);
  }
  return grid;
}

Choice sizes::sizeClasses(ModuleOp module) {
  std::map<int64_t, SizeClass> byNumber;
  auto sizes = module->getAttrOfType<DenseI64ArrayAttr>(kSizeArguments);
  ArrayRef<int64_t> rest = sizes ? sizes.asArrayRef() : ArrayRef<int64_t>();
  for (; rest.size() >= 4; rest = rest.drop_front(4)) {
    byNumber[rest[2]].sizes.push_back({static_cast<unsigned>(rest[0]), rest[1], rest[3] != 0});
  }
  return llvm::map_to_vector(byNumber, [](auto &entry) { return entry.second; });
}

void sizes::chooseGrids(Choice &classes, int64_t budget, int64_t exact) {
  size_t left = llvm::count_if(classes, [](const SizeClass &own) { return !own.isFixed; });
  exact = left == 1 ? std::min(budget, exact) : 0;
  // Each class gets the same share, and what the ones before it left.
  for (SizeClass &own : classes) {
    if (own.isFixed) {
      continue;
    }
    int64_t share = 1;
    auto fits = [&](int64_t count) {
      int64_t total = 1;
      for (size_t rest = left; rest > 0 && total <= budget; --rest) {
        total *= count;
      }
      return total <= budget;
    };
    while (share < budget && fits(share + 1)) {
      ++share;
    }
    if (own.bound() < exact) {
      own.grid = llvm::to_vector(llvm::seq<int64_t>(0, own.bound() + 1));
    } else {
      own.grid = gridOf(own.bound(), own.isOne() ? share : std::max<int64_t>(share - 1, 1));
    }
    if (!own.isOne() && share > 1) {
      own.grid.push_back(own.grid.back());
    }
    budget /= own.grid.size();
    --left;
  }
}

int64_t sizes::countVersions(const Choice &choice) {
  int64_t count = 1;
  for (const SizeClass &own : choice) {
    count *= own.grid.size();
  }
  return count;
}

SmallVector<size_t> sizes::versionsOf(const Choice &choice, int64_t number) {
  SmallVector<size_t> which(choice.size());
  for (size_t i = choice.size(); i-- > 0; number /= choice[i].grid.size()) {
    which[i] = number % choice[i].grid.size();
  }
  return which;
}

/// The number of a class's version.
static Value versionOf(HloBuilder &b, ComputationOp entry, const SizeClass &own) {
  Value size = entry.getBody().getArgument(own.sizes[0].number), number = b.index(0), equal;
  for (int64_t most : own.limits()) {
    Value limit = b.scalar(elementTypeOf(size), static_cast<double>(most));
    number = b.add(number, b.convert(b.compare(size, limit, "GT"), elementTypeOf(number)));
  }
  for (const SizeArgument &other : ArrayRef(own.sizes).drop_front()) {
    Value also = b.convert(entry.getBody().getArgument(other.number), elementTypeOf(size));
    Value same = b.compare(size, also, "EQ");
    equal = equal ? b.binary<AndOp>(equal, same) : same;
  }
  return equal ? b.select(equal, number, b.index(own.grid.size() - 1)) : number;
}

/// True if all sizes are those of the fixed classes; null if there are none.
static Value isFor(HloBuilder &b, ComputationOp entry, const Choice &choice) {
  Value all;
  for (const SizeClass &own : choice) {
    for (const SizeArgument &given : own.isFixed ? ArrayRef(own.sizes) : ArrayRef<SizeArgument>()) {
      Value size = entry.getBody().getArgument(given.number);
      Value wanted = b.scalar(elementTypeOf(size), static_cast<double>(own.grid.front()));
      Value same = b.compare(size, wanted, "EQ");
      all = all ? b.binary<AndOp>(all, same) : same;
    }
  }
  return all;
}

Value sizes::selectorOf(HloBuilder &b, ComputationOp entry, ArrayRef<Choice> choices) {
  int64_t first = 0;
  for (const Choice &choice : choices) {
    first += countVersions(choice);
  }
  Value selector;
  for (const Choice &choice : llvm::reverse(choices)) {
    first -= countVersions(choice);
    Value own = b.index(0);
    for (const SizeClass &sizes : choice) {
      if (!sizes.isFixed) {
        own = b.add(b.mul(own, b.index(sizes.grid.size())), versionOf(b, entry, sizes));
      }
    }
    own = first > 0 ? b.add(b.index(first), own) : own;
    selector = selector ? b.select(isFor(b, entry, choice), own, selector) : own;
  }
  return selector;
}

SmallVector<int64_t> sizes::encode(ArrayRef<Choice> choices) {
  SmallVector<int64_t> all{static_cast<int64_t>(choices.size())};
  for (const Choice &choice : choices) {
    SmallVector<int64_t> conditions, classes;
    int64_t count = 0;
    for (const SizeClass &own : choice) {
      if (own.isFixed) {
        for (const SizeArgument &size : own.sizes) {
          conditions.append({size.number, own.grid.front()});
        }
        continue;
      }
      ++count;
      classes.push_back(own.sizes.size());
      for (const SizeArgument &size : own.sizes) {
        classes.push_back(size.number);
      }
      classes.append(
          {static_cast<int64_t>(own.grid.size()), static_cast<int64_t>(own.limits().size())});
      llvm::append_range(classes, own.limits());
    }
    all.push_back(conditions.size() / 2);
    llvm::append_range(all, conditions);
    all.push_back(count);
    llvm::append_range(all, classes);
  }
  return all;
}
