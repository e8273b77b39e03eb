//===- EntryAttributes.cpp - Entry attributes from the module's header ----===//
//
// In: the module attributes that the parser makes from the header,
//   hlo.entry_computation_layout   a function type of the declared shapes
//   hlo.input_output_alias         [{output_index, parameter, parameter_index, kind}, ...]
//   hlo.buffer_donor               [{parameter, parameter_index}, ...]
// Out: the same as vectors.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/entry/EntryAttributes.h"

using namespace mlir;
using namespace hlo;

/// Reads `parameter` and `parameter_index` of an entry.
static bool readPlace(DictionaryAttr dict, int64_t &parameter, SmallVectorImpl<int64_t> &index) {
  auto number = dict.getAs<IntegerAttr>("parameter");
  auto path = dict.getAs<DenseI64ArrayAttr>("parameter_index");
  if (!number || !path) {
    return false;
  }
  parameter = number.getInt();
  index.assign(path.asArrayRef().begin(), path.asArrayRef().end());
  return true;
}

/// Calls `read` on each dictionary of an array attribute of the module.
static LogicalResult readEntries(ModuleOp module, StringRef name,
                                 function_ref<bool(DictionaryAttr)> read) {
  Attribute attr = module->getAttr(name);
  if (!attr) {
    return success();
  }
  auto list = dyn_cast<ArrayAttr>(attr);
  if (!list || !llvm::all_of(list, [&](Attribute entry) {
        auto dict = dyn_cast<DictionaryAttr>(entry);
        return dict && read(dict);
      })) {
    return module.emitError("malformed ") << name << ": " << attr;
  }
  return success();
}

FailureOr<EntryAttributes> EntryAttributes::get(ModuleOp module) {
  EntryAttributes result;
  if (auto layout = module->getAttrOfType<TypeAttr>("hlo.entry_computation_layout")) {
    auto type = dyn_cast<FunctionType>(layout.getValue());
    if (!type || type.getNumResults() != 1) {
      return module.emitError("malformed hlo.entry_computation_layout: ") << layout;
    }
    result.parameters.assign(type.getInputs().begin(), type.getInputs().end());
    result.result = type.getResult(0);
  }
  DenseSet<Attribute> outputs;
  if (failed(readEntries(module, "hlo.input_output_alias", [&](DictionaryAttr dict) {
        Alias alias;
        auto output = dict.getAs<DenseI64ArrayAttr>("output_index");
        if (!output || !readPlace(dict, alias.parameter, alias.index)) {
          return false;
        }
        alias.output.assign(output.asArrayRef().begin(), output.asArrayRef().end());
        // As in XLA, the first entry of an output wins.
        if (outputs.insert(output).second) {
          result.aliases.push_back(std::move(alias));
        }
        return true;
      }))) {
    return failure();
  }
  if (failed(readEntries(module, "hlo.buffer_donor", [&](DictionaryAttr dict) {
        Donor donor;
        bool ok = readPlace(dict, donor.parameter, donor.index);
        result.donors.push_back(std::move(donor));
        return ok;
      }))) {
    return failure();
  }
  return result;
}
