//===- EntryAttributes.cpp - What the module's header says of the entry ---===//
//
// In: the module attributes that keep the header's text form,
//   hlo.entry_computation_layout   a function type of the declared shapes
//   hlo.input_output_alias         "{ {0}: (1, {}, may-alias), ... }"
//   hlo.buffer_donor               "{ (1, {}), ... }"
// Out: the same as vectors. Spaces and commas have no meaning in the strings.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/simplifiers/EntryAttributes.h"

using namespace mlir;
using namespace hlo;

namespace {

/// Reads `{`, `(`, numbers and words, skipping the separators in between.
class Reader {
public:
  explicit Reader(StringRef text) : text(text) { skip(); }
  bool consume(char c) {
    if (!text.starts_with(StringRef(&c, 1))) {
      return false;
    }
    text = text.drop_front();
    skip();
    return true;
  }
  bool number(int64_t &value) {
    if (text.consumeInteger(10, value)) {
      return false;
    }
    skip();
    return true;
  }
  void word() {
    text = text.drop_while([](char c) { return isalpha(c) || c == '-' || c == '_'; });
    skip();
  }
  /// `{0,1}`
  bool path(SmallVectorImpl<int64_t> &values) {
    if (!consume('{')) {
      return false;
    }
    int64_t value;
    while (number(value)) {
      values.push_back(value);
    }
    return consume('}');
  }
  bool atEnd() const { return text.empty(); }

private:
  void skip() {
    text = text.drop_while([](char c) { return isspace(c) || c == ',' || c == ':'; });
  }
  StringRef text;
};

bool readAliases(StringRef text, SmallVectorImpl<EntryAttributes::Alias> &aliases) {
  Reader reader(text);
  if (!reader.consume('{')) {
    return false;
  }
  while (!reader.consume('}')) {
    EntryAttributes::Alias alias;
    if (!reader.path(alias.output) || !reader.consume('(') || !reader.number(alias.parameter) ||
        !reader.path(alias.index)) {
      return false;
    }
    reader.word();
    if (!reader.consume(')')) {
      return false;
    }
    aliases.push_back(std::move(alias));
  }
  return reader.atEnd();
}

bool readDonors(StringRef text, SmallVectorImpl<EntryAttributes::Donor> &donors) {
  Reader reader(text);
  if (!reader.consume('{')) {
    return false;
  }
  while (!reader.consume('}')) {
    EntryAttributes::Donor donor;
    if (!reader.consume('(') || !reader.number(donor.parameter) || !reader.path(donor.index) ||
        !reader.consume(')')) {
      return false;
    }
    donors.push_back(std::move(donor));
  }
  return reader.atEnd();
}

} // namespace

FailureOr<EntryAttributes> EntryAttributes::take(ModuleOp module) {
  EntryAttributes result;
  if (auto layout = module->getAttrOfType<TypeAttr>("hlo.entry_computation_layout")) {
    auto type = dyn_cast<FunctionType>(layout.getValue());
    if (!type || type.getNumResults() != 1) {
      return module.emitError("malformed entry_computation_layout: ") << layout;
    }
    result.parameters.assign(type.getInputs().begin(), type.getInputs().end());
    result.result = type.getResult(0);
  }
  if (auto text = module->getAttrOfType<StringAttr>("hlo.input_output_alias")) {
    if (!readAliases(text.getValue(), result.aliases)) {
      return module.emitError("malformed input_output_alias: ") << text;
    }
  }
  if (auto text = module->getAttrOfType<StringAttr>("hlo.buffer_donor")) {
    if (!readDonors(text.getValue(), result.donors)) {
      return module.emitError("malformed buffer_donor: ") << text;
    }
  }
  return result;
}
