//===- Specialize.cpp - Versions for sizes that the user gave -------------===//
//
// In: lists of sizes, "b=8" or "x:0=8", and the entry's sizes. Out: for each list a choice in which
// their classes are fixed:
//
//   b=1:s=128  ->  b fixed to 1, s to 128              one version
//   x:0=8      ->  2*b = 8: b fixed to 4; s free       as many versions as s has
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/entry/SizeArguments.h"
#include "compiler/support/ParameterNames.h"
#include "compiler/support/SizeExpr.h"
#include "compiler/transforms/expanders/sizes/Choices.h"
#include "dialect/hlo/Shapes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::sizes;

namespace {
/// An input that is a size, and its value.
struct Fixed {
  unsigned input;
  int64_t value;
};

class Resolver {
public:
  Resolver(ModuleOp module, const EntryLayout &layout) : module(module), layout(layout) {}
  /// Reads `NAME=VALUE`.
  FailureOr<Fixed> read(StringRef text);

private:
  InFlightDiagnostic refuse(StringRef text) {
    return module.emitError("--specialize=") << text << ": ";
  }
  FailureOr<Fixed> ofDimension(StringRef text, size_t array, int64_t dim, int64_t value);
  std::optional<unsigned> inputOf(StringRef symbol);
  std::string nameOf(const EntryLeaf &size);

  ModuleOp module;
  const EntryLayout &layout;
};
} // namespace

std::optional<unsigned> Resolver::inputOf(StringRef symbol) {
  for (auto [i, leaf] : llvm::enumerate(layout.inputs)) {
    if (leaf.sizeOf >= 0 && !leaf.symbol.empty() && leaf.symbol == symbol) {
      return i;
    }
  }
  return std::nullopt;
}

std::string Resolver::nameOf(const EntryLeaf &size) {
  return !size.symbol.empty()
             ? size.symbol
             : layout.inputs[size.sizeOf].name + ":" + std::to_string(size.sizeDim);
}

FailureOr<Fixed> Resolver::ofDimension(StringRef text, size_t array, int64_t dim, int64_t value) {
  const EntryLeaf &leaf = layout.inputs[array];
  if (!llvm::is_contained(boundedDimensions(leaf.type), dim)) {
    return refuse(text) << "the dimension is " << leaf.type.getDimSize(dim) << " in the program";
  }
  std::optional<SizeExpr> size =
      leaf.sizes.empty() ? std::nullopt : SizeExpr::parse(leaf.sizes[dim]);
  if (!size) {
    for (auto [i, other] : llvm::enumerate(layout.inputs)) {
      if (other.sizeOf == static_cast<int64_t>(array) && other.sizeDim == dim) {
        return Fixed{static_cast<unsigned>(i), value};
      }
    }
    return refuse(text) << "the dimension has no size";
  }
  std::vector<std::string> names = size->symbols();
  auto parts = names.size() == 1 ? size->linearIn(names.front()) : std::nullopt;
  std::optional<int64_t> rest = parts ? parts->second.constant() : std::nullopt;
  std::optional<unsigned> input = rest ? inputOf(names.front()) : std::nullopt;
  int64_t difference;
  if (!input || llvm::SubOverflow(value, *rest, difference)) {
    return refuse(text) << "the dimension is " << leaf.sizes[dim] << "; give "
                        << llvm::join(names, " and ");
  }
  if (difference % parts->first != 0 || difference / parts->first < 0) {
    return refuse(text) << "the dimension is " << leaf.sizes[dim] << ", which is never " << value;
  }
  return Fixed{*input, difference / parts->first};
}

FailureOr<Fixed> Resolver::read(StringRef text) {
  auto [name, number] = text.rsplit('=');
  int64_t value = 0;
  if (number.getAsInteger(10, value) || value < 0) {
    return refuse(text) << "expected NAME=N";
  }
  FailureOr<Fixed> found = failure();
  auto [parameter, at] = name.rsplit(':');
  int64_t dim = 0;
  bool isDimension = parameter.size() < name.size() && !at.getAsInteger(10, dim) && dim >= 0;
  if (std::optional<unsigned> input = inputOf(name)) {
    found = Fixed{*input, value};
  } else {
    for (auto [i, leaf] : llvm::enumerate(layout.inputs)) {
      bool isNamed =
          leaf.sizeOf < 0 && (leaf.name == parameter || withoutNumber(leaf.name) == parameter ||
                              "arg" + std::to_string(leaf.parameter) == parameter);
      if (isDimension && isNamed && dim < leaf.type.getRank()) {
        found = ofDimension(text, i, dim, value);
        if (failed(found)) {
          return failure();
        }
        break;
      }
    }
  }
  if (failed(found)) {
    std::vector<std::string> names;
    for (const EntryLeaf &leaf : layout.inputs) {
      if (leaf.sizeOf >= 0) {
        names.push_back(nameOf(leaf));
      }
    }
    InFlightDiagnostic error = refuse(text) << "the program has no size '" << name << "'";
    return names.empty() ? error << "; none is given at run time"
                         : error << "; it has: " << firstNames(names);
  }
  const EntryLeaf &size = layout.inputs[found->input];
  int64_t bound = layout.inputs[size.sizeOf].type.getDimSize(size.sizeDim);
  if (found->value > bound) {
    return refuse(text) << "size '" << nameOf(size) << "' would be " << found->value
                        << ", it is bounded by " << bound;
  }
  return found;
}

FailureOr<SmallVector<Choice>> sizes::specialChoices(ModuleOp module, const EntryLayout &layout,
                                                     const Choice &classes) {
  SmallVector<Choice> choices;
  auto lists = module->getAttrOfType<ArrayAttr>(kSpecialSizes);
  if (!lists) {
    return choices;
  }
  Resolver resolver(module, layout);
  for (auto list : lists.getAsRange<ArrayAttr>()) {
    Choice &choice = choices.emplace_back(classes);
    for (StringRef text : list.getAsValueRange<StringAttr>()) {
      FailureOr<Fixed> fixed = resolver.read(text);
      if (failed(fixed)) {
        return failure();
      }
      for (SizeClass &own : choice) {
        if (llvm::none_of(own.sizes,
                          [&](const SizeArgument &size) { return size.number == fixed->input; })) {
          continue;
        }
        if (own.isFixed && own.grid.front() != fixed->value) {
          return module.emitError("--specialize=") << text << ": a size that must be equal is "
                                                   << own.grid.front() << " in the same list";
        }
        for (const SizeArgument &size : own.sizes) {
          if (fixed->value > size.bound) {
            return module.emitError("--specialize=") << text << ": a size that must be equal is "
                                                     << "bounded by " << size.bound;
          }
        }
        own.isFixed = true;
        own.grid = {fixed->value};
      }
    }
  }
  return choices;
}
