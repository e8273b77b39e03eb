//===- PrintAttributes.cpp - Text of attributes --------------------------===//
//
// The opcode's attributes in the order of its row in the table, then the common
// ones.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/Elements.h"
#include "compiler/parser/ParserImpl.h"
#include "compiler/parser/print/ModulePrinter.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

void ModulePrinter::printAttributes(Operation *op, const OpcodeInfo &info) {
  for (const AttrSpec &spec : info.attributes) {
    printAttribute(op, spec);
  }
  auto fusion = llvm::dyn_cast<FusionOp>(op);
  if (fusion && fusedNames.contains(op)) {
    if (!fusion.getKind()) {
      os << ", kind=kLoop";
    }
    os << ", calls=%" << fusedNames[op];
    if (auto strategy = fusion.getStrategy(); strategy && !op->hasAttr("hlo.frontend_attributes")) {
      os << ", frontend_attributes={strategy=" << quote(*strategy) << "}";
    }
  }
}

void ModulePrinter::printAttribute(Operation *op, const AttrSpec &spec) {
  auto dims = [&](StringRef name) { return op->getAttrOfType<DenseI64ArrayAttr>(name); };
  switch (spec.kind) {
  case AttrKind::Padding: {
    auto low = dims("padding_low"), high = dims("padding_high"),
         interior = dims("padding_interior");
    os << ", padding=";
    for (int64_t i = 0; i < low.size(); ++i) {
      os << (i ? "x" : "") << low[i] << "_" << high[i];
      if (interior[i]) {
        os << "_" << interior[i];
      }
    }
    return;
  }
  case AttrKind::Slice: {
    auto starts = dims("start_indices"), limits = dims("limit_indices"), strides = dims("strides");
    bool strided = llvm::any_of(strides.asArrayRef(), [](int64_t stride) { return stride != 1; });
    os << ", slice={";
    for (int64_t i = 0; i < starts.size(); ++i) {
      os << (i ? ", [" : "[") << starts[i] << ":" << limits[i];
      if (strided) {
        os << ":" << strides[i];
      }
      os << "]";
    }
    os << "}";
    return;
  }
  case AttrKind::OneDim:
    if (auto dimension = op->getAttrOfType<IntegerAttr>("dimension")) {
      os << ", " << spec.name << "={" << dimension.getInt() << "}";
    }
    return;
  case AttrKind::TrueBranch:
  case AttrKind::FalseBranch:
  case AttrKind::Computations:
    if (auto branch = llvm::dyn_cast<ConditionalOp>(op)) {
      auto selector = llvm::dyn_cast<RankedTensorType>(branch.getSelector().getType());
      bool predicated = selector && selector.getElementType().isSignlessInteger(1) &&
                        branch.getBranchComputations().size() == 2;
      bool list = spec.kind == AttrKind::Computations;
      if (predicated == list) {
        return;
      }
      if (predicated) {
        os << ", " << spec.name << "=";
        printRef(branch.getBranchComputations()[spec.kind == AttrKind::FalseBranch]);
        return;
      }
    }
    break;
  default: break;
  }

  Attribute attribute = op->getAttr(spec.name);
  if (!attribute) {
    return;
  }
  os << ", " << spec.name << "=";
  switch (spec.kind) {
  case AttrKind::String: os << quote(llvm::cast<StringAttr>(attribute)); return;
  case AttrKind::Float: {
    std::string text;
    auto format = getElementFormat(Float64Type::get(context));
    printFloat(*format, llvm::cast<FloatAttr>(attribute).getValue().bitcastToAPInt().getZExtValue(),
               text);
    os << text;
    return;
  }
  case AttrKind::Window: os << windowToText(llvm::cast<WindowAttr>(attribute)); return;
  case AttrKind::DimLabels: {
    auto rank = [](Value value) {
      auto array = llvm::dyn_cast<RankedTensorType>(value.getType());
      return array ? array.getRank() : 0;
    };
    os << dimLabelsToText(llvm::cast<ConvDimsAttr>(attribute), rank(op->getOperand(0)),
                          rank(op->getOperand(1)), rank(op->getResult(0)));
    return;
  }
  default: break;
  }
  llvm::TypeSwitch<Attribute>(attribute)
      .Case<BoolAttr>([&](BoolAttr value) { os << (value.getValue() ? "true" : "false"); })
      .Case<IntegerAttr>([&](IntegerAttr value) { os << value.getInt(); })
      .Case<DenseI64ArrayAttr>([&](DenseI64ArrayAttr value) { printDims(value); })
      .Case<FlatSymbolRefAttr>([&](FlatSymbolRefAttr value) { printRef(value); })
      .Case<StringAttr>([&](StringAttr value) { os << value.getValue(); })
      .Case<TypeAttr>([&](TypeAttr value) { printType(os, value.getValue(), LayoutText::Always); })
      .Case<ArrayAttr>([&](ArrayAttr values) {
        os << "{";
        llvm::interleave(
            values,
            [&](Attribute value) {
              if (auto type = llvm::dyn_cast<TypeAttr>(value)) {
                printType(os, type.getValue(), LayoutText::Always);
              } else if (auto word = llvm::dyn_cast<StringAttr>(value)) {
                os << word.getValue();
              } else {
                printRef(value);
              }
            },
            [&]() { os << (spec.kind == AttrKind::Precision ? "," : ", "); });
        os << "}";
      });
}

void ModulePrinter::printCommon(DictionaryAttr attributes, Names &names) {
  for (StringRef name : getCommonAttributes()) {
    if (name == "control-predecessors") {
      auto predecessors = attributes.getAs<ArrayAttr>("hlo.control_predecessors");
      SmallVector<StringRef> printed;
      if (predecessors) {
        for (auto predecessor : predecessors.getAsRange<StringAttr>()) {
          auto it = names.printed.find(predecessor.getValue());
          if (it != names.printed.end()) {
            printed.push_back(it->second);
          }
        }
      }
      if (!printed.empty()) {
        os << ", control-predecessors={";
        llvm::interleave(
            printed, [&](StringRef other) { os << "%" << other; }, [&]() { os << ", "; });
        os << "}";
      }
      continue;
    }
    bool isMetadata = name == "metadata" || name == "origin" || name == "statistics";
    auto value = attributes.getAs<StringAttr>(("hlo." + name).str());
    if (value && (options.metadata || !isMetadata)) {
      os << ", " << name << "=" << value.getValue();
    }
  }
}

void ModulePrinter::printDims(DenseI64ArrayAttr dims, StringRef open, StringRef close) {
  os << open;
  llvm::interleave(dims.asArrayRef(), os, ",");
  os << close;
}

void ModulePrinter::printRef(Attribute ref) {
  os << "%" << llvm::cast<FlatSymbolRefAttr>(ref).getValue();
}
