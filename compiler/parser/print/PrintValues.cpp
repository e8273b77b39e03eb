//===- PrintValues.cpp - Text of types, literals, windows -----------------===//
//
// The inverse of Shapes.cpp, Literals.cpp and StructuredAttributes.cpp.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/Elements.h"
#include "compiler/parser/print/PrinterImpl.h"
#include "dialect/hlo/Shapes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cstring>

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::raw_ostream;
using llvm::StringRef;

std::string hlo::parser::elementWord(Type type) {
  StringRef name = primitiveName(type);
  return name.empty() ? "opaque" : name.str();
}

void hlo::parser::printType(raw_ostream &os, Type type, LayoutText mode) {
  if (auto tuple = llvm::dyn_cast<TupleType>(type)) {
    os << '(';
    for (auto [i, element] : llvm::enumerate(tuple.getTypes())) {
      if (i) {
        os << ", ";
      }
      if (i && i % 5 == 0) {
        os << "/*index=" << i << "*/";
      }
      printType(os, element, mode);
    }
    os << ')';
    return;
  }
  if (auto buffer = llvm::dyn_cast<BufferType>(type)) {
    os << "b(";
    printType(os, buffer.getArray(), mode);
    os << ')';
    return;
  }
  if (llvm::isa<TokenType>(type)) {
    os << "token[]";
    return;
  }
  auto array = llvm::dyn_cast<RankedTensorType>(type);
  if (!array) {
    os << "opaque[]";
    return;
  }
  auto layout = llvm::dyn_cast_or_null<LayoutAttr>(array.getEncoding());
  os << elementWord(array.getElementType()) << '[';
  int64_t rank = array.getRank();
  for (int64_t i = 0; i < rank; ++i) {
    os << (i ? "," : "");
    if (array.isDynamicDim(i)) {
      os << '?';
      continue;
    }
    if (layout && llvm::is_contained(layout.getDynamic(), i)) {
      os << "<=";
    }
    os << array.getDimSize(i);
  }
  os << ']';
  if (mode == LayoutText::Never) {
    return;
  }
  SmallVector<int64_t> order;
  if (layout && !layout.getMinorToMajor().empty()) {
    order.assign(layout.getMinorToMajor().begin(), layout.getMinorToMajor().end());
  } else {
    for (int64_t i = rank - 1; i >= 0; --i) {
      order.push_back(i);
    }
  }
  bool rowMajor = llvm::equal(order, llvm::reverse(llvm::seq<int64_t>(0, rank)));
  StringRef properties = layout ? layout.getProperties() : "";
  if (properties.empty() && (rank == 0 || (mode == LayoutText::IfPresent && rowMajor))) {
    return;
  }
  os << '{';
  llvm::interleave(order, os, ",");
  if (!properties.empty()) {
    os << ':' << properties;
  }
  os << '}';
}

std::string hlo::parser::typeToText(Type type, bool alwaysLayout) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printType(os, type, alwaysLayout ? LayoutText::Always : LayoutText::IfPresent);
  return text;
}

namespace {
/// Prints the elements of one dense literal.
class DensePrinter {
public:
  DensePrinter(raw_ostream &os, DenseElementsAttr value, ElementFormat format)
      : os(os), data(value.getRawData()), format(format), splat(value.isSplat()),
        sizes(value.getType().getShape()) {}

  void print() { printDimension(0); }

private:
  void printDimension(size_t dimension) {
    if (dimension == sizes.size()) {
      printElement();
      return;
    }
    bool innermost = dimension + 1 == sizes.size();
    // `{1, 2}` at rank 1, `{ 1, 2 }` inside, but `{1}` for at most one element.
    bool blank = sizes.size() > 1 && (!innermost || sizes[dimension] > 1);
    os << (blank ? "{ " : "{");
    for (int64_t i = 0; i < sizes[dimension]; ++i) {
      os << (i ? ", " : "");
      printDimension(dimension + 1);
    }
    os << (blank ? " }" : "}");
  }

  uint64_t load(size_t offset, unsigned bytes) const {
    uint64_t bits = 0;
    std::memcpy(&bits, data.data() + offset, bytes);
    return bits;
  }

  void printElement() {
    size_t index = splat ? 0 : next++;
    if (format.isOneBit()) {
      bool bit = (data[index / 8] >> (index % 8)) & 1;
      if (format.kind == ElementFormat::Pred) {
        os << (sizes.empty() ? (bit ? "true" : "false") : (bit ? "1" : "0"));
      } else {
        os << (bit ? (format.kind == ElementFormat::Signed ? "-1" : "1") : "0");
      }
      return;
    }
    size_t offset = index * format.elementBytes();
    uint64_t bits = load(offset, format.bytes);
    switch (format.kind) {
    case ElementFormat::Pred: break;
    case ElementFormat::Signed: os << llvm::SignExtend64(bits, format.bits); break;
    case ElementFormat::Unsigned:
      os << (bits & llvm::maskTrailingOnes<uint64_t>(format.bits));
      break;
    case ElementFormat::Float: printNumber(bits); break;
    case ElementFormat::Complex:
      os << '(';
      printNumber(bits);
      os << ", ";
      printNumber(load(offset + format.bytes, format.bytes));
      os << ')';
      break;
    }
  }

  void printNumber(uint64_t bits) {
    text.clear();
    printFloat(format, bits, text);
    os << text;
  }

  raw_ostream &os;
  ArrayRef<char> data;
  ElementFormat format;
  bool splat;
  ArrayRef<int64_t> sizes;
  size_t next = 0;
  std::string text;
};
} // namespace

void hlo::parser::printLiteral(raw_ostream &os, Type type, Attribute value, uint64_t maxElements) {
  if (auto elements = llvm::dyn_cast<ArrayAttr>(value)) {
    os << "( ";
    auto tuple = llvm::dyn_cast<TupleType>(type);
    for (auto [i, element] : llvm::enumerate(elements)) {
      os << (i ? ", " : "");
      printLiteral(os, tuple ? tuple.getType(i) : type, element, maxElements);
    }
    os << " )";
    return;
  }
  auto dense = llvm::dyn_cast<DenseElementsAttr>(value);
  std::optional<ElementFormat> format;
  if (dense) {
    format = getElementFormat(dense.getElementType());
  }
  bool tooLarge = dense && maxElements && dense.getType().getRank() > 0 &&
                  uint64_t(dense.getNumElements()) > maxElements;
  if (!format || tooLarge) {
    os << "{...}";
    return;
  }
  DensePrinter(os, dense, *format).print();
}

std::string hlo::parser::literalToText(Type type, Attribute value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printLiteral(os, type, value, 0);
  return text;
}

std::string hlo::parser::windowToText(WindowAttr window) {
  std::string text = "{";
  auto item = [&](StringRef name, ArrayRef<int64_t> values, int64_t absent) {
    if (llvm::all_of(values, [&](int64_t v) { return v == absent; })) {
      return;
    }
    text += (text.size() > 1 ? " " : "") + name.str() + "=";
    for (auto [i, value] : llvm::enumerate(values)) {
      text += (i ? "x" : "") + std::to_string(value);
    }
  };
  // Every size is written, because sizes have no default.
  item("size", window.getSize(), INT64_MIN);
  item("stride", window.getStrides(), 1);
  auto isZero = [](int64_t v) { return v == 0; };
  if (!llvm::all_of(window.getPadLow(), isZero) || !llvm::all_of(window.getPadHigh(), isZero)) {
    text += (text.size() > 1 ? " pad=" : "pad=");
    for (auto [i, low, high] : llvm::enumerate(window.getPadLow(), window.getPadHigh())) {
      text += (i ? "x" : "") + std::to_string(low) + "_" + std::to_string(high);
    }
  }
  item("lhs_dilate", window.getBaseDilations(), 1);
  item("rhs_dilate", window.getWindowDilations(), 1);
  item("rhs_reversal", window.getReversal(), 0);
  return text + "}";
}

std::string hlo::parser::dimLabelsToText(ConvDimsAttr labels, int64_t inputRank, int64_t kernelRank,
                                         int64_t outputRank) {
  auto part = [](int64_t first, char firstLabel, int64_t second, char secondLabel,
                 ArrayRef<int64_t> spatial, int64_t rank) {
    int64_t size = std::max({first, second, rank - 1}) + 1;
    for (int64_t position : spatial) {
      size = std::max(size, position + 1);
    }
    std::string text(size, '?');
    text[first] = firstLabel;
    text[second] = secondLabel;
    for (auto [i, position] : llvm::enumerate(spatial)) {
      text[position] = char('0' + i);
    }
    return text;
  };
  return part(labels.getInputBatch(), 'b', labels.getInputFeature(), 'f', labels.getInputSpatial(),
              inputRank) +
         "_" +
         part(labels.getKernelInputFeature(), 'i', labels.getKernelOutputFeature(), 'o',
              labels.getKernelSpatial(), kernelRank) +
         "->" +
         part(labels.getOutputBatch(), 'b', labels.getOutputFeature(), 'f',
              labels.getOutputSpatial(), outputRank);
}
