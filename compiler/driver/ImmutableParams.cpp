//===- ImmutableParams.cpp - Parameters named by --immutable-params -------===//
//
// In: a canonical module and the value of --immutable-params. Out: the numbers of the leaves it
// names. The size leaves of a bounded array go with the array. A leaf whose buffer an output shares
// cannot be immutable, since a run may overwrite it, unless that output is the parameter itself,
// unchanged (a model that passes on its weights).
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/ImmutableParams.h"
#include "compiler/analysis/Computations.h"
#include "compiler/analysis/Prepared.h"
#include "compiler/analysis/entry/EntryLayout.h"
#include "compiler/support/NearestNames.h"
#include "compiler/support/ParameterNames.h"
#include "compiler/target/Signature.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace hlo;

namespace {
/// The names and numbers of all leaves.
struct Leaves {
  EntryLayout layout;
  Signature signature;
  int64_t parameters = 0;

  SmallVector<std::string> namesOf(unsigned leaf) const {
    const EntryLeaf &input = layout.inputs[leaf];
    StringRef whole = parameterName(input);
    SmallVector<std::string> names{signature.inputs[leaf].name, input.name, whole.str(),
                                   cIdentifier(whole)};
    // "x" for "x.1", unless there is an "x.2" as well.
    bool isUnique = llvm::all_of(layout.inputs, [&](const EntryLeaf &other) {
      return other.parameter == input.parameter ||
             withoutNumber(parameterName(other)) != withoutNumber(whole);
    });
    if (isUnique) {
      names.push_back(withoutNumber(whole).str());
    }
    return names;
  }
};
} // namespace

/// "3", "0.2.1": a parameter number and tuple indices.
static std::optional<SmallVector<int64_t>> parsePath(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, '.');
  SmallVector<int64_t> path;
  for (StringRef part : parts) {
    int64_t number;
    if (part.getAsInteger(10, number) || number < 0) {
      return std::nullopt;
    }
    path.push_back(number);
  }
  return path;
}

static std::string noParameter(int64_t number, int64_t count) {
  return "there is no parameter " + std::to_string(number) + ", the module has " +
         (count ? std::to_string(count) + ", from 0 on" : "none");
}

/// Sets the bits of the leaves that one item names.
static LogicalResult select(const Leaves &leaves, StringRef item, llvm::BitVector &chosen,
                            std::string &message) {
  size_t count = leaves.layout.inputs.size();
  auto [from, to] = item.split('-');
  int64_t first, last;
  if (!from.getAsInteger(10, first) && !to.getAsInteger(10, last)) {
    if (first > last || last >= leaves.parameters) {
      message = first > last ? "range '" + item.str() + "' ends before it begins"
                             : noParameter(last, leaves.parameters);
      return failure();
    }
    for (size_t i = 0; i < count; ++i) {
      int64_t parameter = leaves.layout.inputs[i].parameter;
      chosen[i] = chosen[i] || (parameter >= first && parameter <= last);
    }
    return success();
  }
  bool found = false;
  if (std::optional<SmallVector<int64_t>> path = parsePath(item)) {
    if (path->front() >= leaves.parameters) {
      message = noParameter(path->front(), leaves.parameters);
      return failure();
    }
    for (size_t i = 0; i < count; ++i) {
      const EntryLeaf &leaf = leaves.layout.inputs[i];
      bool below =
          leaf.parameter == path->front() && leaf.index.size() + 1 >= path->size() &&
          ArrayRef(leaf.index).take_front(path->size() - 1) == ArrayRef(*path).drop_front();
      chosen[i] = chosen[i] || below;
      found |= below;
    }
    message = "parameter " + std::to_string(path->front()) + " has no leaf '" + item.str() + "'";
    // A parameter without leaves (an empty tuple) is valid.
    return success(found || path->size() == 1);
  }
  for (size_t i = 0; i < count; ++i) {
    for (const std::string &name : leaves.namesOf(i)) {
      if (name == item || matchesGlob(item, name) || matchesPath(item, name)) {
        chosen[i] = found = true;
      }
    }
  }
  if (found) {
    return success();
  }
  SmallVector<std::string> all, parameters;
  for (size_t i = 0; i < count; ++i) {
    const EntryLeaf &leaf = leaves.layout.inputs[i];
    if (leaf.sizeOf < 0) {
      llvm::append_range(all, leaves.namesOf(i));
      std::string parameter = parameterName(leaf).str();
      if (parameters.empty() || parameters.back() != parameter) {
        parameters.push_back(parameter);
      }
    }
  }
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
  SmallVector<StringRef> names(all.begin(), all.end());
  message = "no parameter is named '" + item.str() + "'" + nearestNames(item, names) +
            "; the module has " + std::to_string(parameters.size()) +
            (parameters.size() == 1 ? " parameter: " : " parameters: ") + firstNames(parameters);
  return failure();
}

/// The message that says why a leaf cannot be immutable; empty if it can.
static std::string overwrittenBy(ModuleOp module, const Leaves &leaves, unsigned leaf) {
  std::string name = "parameter '" + leaves.signature.inputs[leaf].name + "' cannot be immutable: ";
  for (LeafAlias alias : leaves.layout.aliases) {
    if (alias.input != static_cast<int64_t>(leaf)) {
      continue;
    }
    for (auto computation : module.getOps<ComputationOp>()) {
      if (!computation.getEntry()) {
        continue;
      }
      Value value = computation.getReturn()->getOperand(alias.output);
      if (value != computation.getBody().getArgument(leaf)) {
        return name + "output '" + leaves.signature.outputs[alias.output].name +
               "' may be written to its buffer (input_output_alias); leave it out of the list";
      }
      return "";
    }
  }
  if (leaves.layout.inputs[leaf].donor) {
    return name + "its buffer is given away (buffer_donor); leave it out of the list";
  }
  return "";
}

LogicalResult hlo::markImmutableLeaves(ModuleOp module, StringRef list, std::string &message) {
  FailureOr<EntryLayout> layout = EntryLayout::get(module);
  FailureOr<Signature> signature = makeSignature(module, "module");
  if (failed(layout) || failed(signature)) {
    message = "the module's parameters are not known";
    return failure();
  }
  Leaves leaves{std::move(*layout), std::move(*signature)};
  for (const EntryLeaf &leaf : leaves.layout.inputs) {
    leaves.parameters = std::max(leaves.parameters, leaf.parameter + 1);
  }
  size_t count = leaves.layout.inputs.size();
  llvm::BitVector chosen(count);
  bool others = list.consume_front("all-but:");
  if (list == "all" && !others) {
    chosen.set();
  } else if (list != "none" || others) {
    SmallVector<StringRef> items;
    list.split(items, ',');
    for (StringRef item : items) {
      if (item.trim().empty()) {
        message = "expected numbers or names of parameters, all-but: and such a list, all, or none";
        return failure();
      }
      if (failed(select(leaves, item.trim(), chosen, message))) {
        return failure();
      }
    }
  }
  if (others) {
    chosen.flip();
  }
  SmallVector<int64_t> numbers;
  for (size_t i = 0; i < count; ++i) {
    int64_t array = leaves.layout.inputs[i].sizeOf;
    if (chosen[array >= 0 ? array : i]) {
      numbers.push_back(i);
      message = overwrittenBy(module, leaves, i);
      if (!message.empty()) {
        return failure();
      }
    }
  }
  message.clear();
  module->setAttr(kImmutableLeaves, Builder(module.getContext()).getDenseI64ArrayAttr(numbers));
  return success();
}
