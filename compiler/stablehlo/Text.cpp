//===- Text.cpp - Attributes of StableHLO as HLO's ------------------------===//
#include "compiler/stablehlo/Text.h"
#include "dialect/stablehlo/Dialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;

std::string hlo::stable::accuracyText(Attribute attribute) {
  auto accuracy = dyn_cast<stablehlo::ResultAccuracyAttr>(attribute);
  if (!accuracy) {
    return "";
  }
  auto number = [](const llvm::APFloat &value) {
    SmallString<32> text;
    value.toString(text, /*FormatPrecision=*/17, /*FormatMaxPadding=*/0);
    return text.str().str();
  };
  switch (accuracy.getMode().getValue()) {
  case stablehlo::ResultAccuracyMode::DEFAULT: return "";
  case stablehlo::ResultAccuracyMode::HIGHEST: return "{mode=highest}";
  case stablehlo::ResultAccuracyMode::TOLERANCE: break;
  }
  return "{tolerance={atol=" + number(accuracy.getAtol()) + ",rtol=" + number(accuracy.getRtol()) +
         ",ulps=" + std::to_string(accuracy.getUlps()) + "}}";
}

void hlo::stable::addPrecision(Converter &c, std::optional<ArrayAttr> config,
                               SmallVectorImpl<NamedAttribute> &attributes) {
  if (!config) {
    return;
  }
  SmallVector<std::string> words;
  for (auto each : config->getAsRange<stablehlo::PrecisionAttr>()) {
    words.push_back(stablehlo::stringifyPrecision(each.getValue()).lower());
  }
  if (words.size() != 2 || llvm::all_of(words, [](StringRef word) { return word == "default"; })) {
    return;
  }
  SmallVector<StringRef> views(words.begin(), words.end());
  attributes.push_back(c.named("operand_precision", c.builder.getStrArrayAttr(views)));
}

void hlo::stable::addDims(Converter &c, StringRef name, ArrayRef<int64_t> values,
                          SmallVectorImpl<NamedAttribute> &attributes) {
  if (!values.empty()) {
    attributes.push_back(c.dims(name, values));
  }
}

void hlo::stable::addChannel(Converter &c, stablehlo::ChannelHandleAttr channel,
                             SmallVectorImpl<NamedAttribute> &attributes) {
  if (channel && channel.getHandle() != 0) {
    attributes.push_back(c.integer("channel_id", channel.getHandle()));
  }
}

std::string hlo::stable::listsText(DenseIntElementsAttr rows) {
  auto type = cast<ShapedType>(rows.getType());
  int64_t columns = type.getRank() == 2 ? type.getDimSize(1) : 0;
  if (columns == 0) {
    return "{}";
  }
  SmallVector<std::string> lists;
  SmallVector<std::string> row;
  int64_t column = 0;
  for (const APInt &value : rows.getValues<APInt>()) {
    if (!value.isNegative()) {
      row.push_back(std::to_string(value.getSExtValue()));
    }
    if (++column == columns) {
      lists.push_back("{" + llvm::join(row, ",") + "}");
      row.clear();
      column = 0;
    }
  }
  return "{" + llvm::join(lists, ",") + "}";
}

WindowAttr hlo::stable::windowAttr(MLIRContext *context, const WindowSizes &window) {
  size_t rank = window.sizes.size();
  auto filled = [&](const std::optional<ArrayRef<int64_t>> &given) {
    SmallVector<int64_t> values(rank, 1);
    if (given && given->size() == rank) {
      llvm::copy(*given, values.begin());
    }
    return values;
  };
  SmallVector<int64_t> low(rank, 0), high(rank, 0), reversal(rank, 0);
  if (window.padding && window.padding->getNumElements() == static_cast<int64_t>(2 * rank)) {
    for (auto [i, value] : llvm::enumerate(window.padding->getValues<APInt>())) {
      (i % 2 ? high : low)[i / 2] = value.getSExtValue();
    }
  }
  if (window.reversal && window.reversal->size() == rank) {
    llvm::copy(*window.reversal, reversal.begin());
  }
  return WindowAttr::get(context, window.sizes, filled(window.strides), low, high,
                         filled(window.baseDilations), filled(window.windowDilations), reversal);
}
