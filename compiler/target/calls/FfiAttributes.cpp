//===- FfiAttributes.cpp - Attributes of typed custom calls ---------------===//
//
// In: the backend_config of a typed FFI custom call, a dictionary in MLIR syntax. Out: constants in
// the layouts that handlers read (XLA_FFI_Attrs, _Scalar, _Array, _ByteSpan), so that nothing is
// parsed or built at run time:
//
//   pred, integers, floats        scalar; a signless integer counts as signed
//   array<...>, dense<...>, [...] array of scalars, without its shape
//   strings                       string
//   { ... }                       dictionary, sorted by name
//
// A short text must not become a large object: splats such as dense<1> : tensor<99999999999xi32>
// are bounded, and so is the nesting, because handlers decode recursively.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/calls/FfiAttributes.h"
#include "compiler/support/Checked.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

using namespace hlo;
using llvm::Constant;

namespace {
/// Bound on the total elements of a call's splat arrays.
constexpr int64_t maxRepeated = 1 << 16;
/// Bound on nested brackets.
constexpr int64_t maxNesting = 256;

/// XLA_FFI_AttrType.
enum class Kind : uint32_t { Array = 1, Dictionary = 2, Scalar = 3, String = 4 };

/// The XLA_FFI_DataType of an element; 0 if the FFI has none for it.
uint32_t dataType(mlir::Type type) {
  if (type.isBF16()) {
    return 16;
  }
  if (type.isF16()) {
    return 10;
  }
  if (type.isF32()) {
    return 11;
  }
  if (type.isF64()) {
    return 12;
  }
  auto integer = mlir::dyn_cast<mlir::IntegerType>(type);
  if (!integer) {
    return 0;
  }
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1: return 1;
  case 8: return isUnsigned ? 6 : 2;
  case 16: return isUnsigned ? 7 : 3;
  case 32: return isUnsigned ? 8 : 4;
  case 64: return isUnsigned ? 9 : 5;
  default: return 0;
  }
}

class AttributeBuilder {
public:
  AttributeBuilder(mlir::Location location, StaticData &data, llvm::Module &module)
      : location(location), data(data), module(module), b(module.getContext()) {}

  mlir::FailureOr<Constant *> dictionary(mlir::DictionaryAttr attr);

private:
  struct Value {
    Kind kind;
    Constant *pointer;
  };
  mlir::FailureOr<Value> value(llvm::StringRef name, mlir::Attribute attr);
  mlir::FailureOr<Value> array(llvm::StringRef name, mlir::Type element,
                               llvm::ArrayRef<mlir::Attribute> items);
  mlir::FailureOr<Value> unsupported(llvm::StringRef name, mlir::Attribute attr) {
    std::string text;
    // LLVM's printer reads a byte of each element, and integers of no bits have none.
    bool isPrintable =
        !attr.walk([](mlir::DenseElementsAttr dense) {
               return mlir::WalkResult(mlir::failure(dense.getElementType().isInteger(0)));
             })
             .wasInterrupted();
    llvm::raw_string_ostream stream(text);
    isPrintable ? stream << attr : stream << "integers of no bits";
    constexpr size_t shown = 200;
    bool isLong = text.size() > shown;
    mlir::emitError(location) << "backend_config: the typed FFI has no form for attribute '" << name
                              << "' = " << llvm::StringRef(text).take_front(shown)
                              << (isLong ? "..." : "");
    return mlir::failure();
  }
  /// The bytes of a number; pred takes one.
  std::optional<llvm::APInt> bits(mlir::Attribute attr);
  Constant *span(llvm::StringRef text) {
    return data.global(data.record({data.string(text), data.i64(text.size())}));
  }

  mlir::Location location;
  StaticData &data;
  llvm::Module &module;
  llvm::IRBuilder<> b;
  int64_t repeated = 0; ///< elements so far
};
} // namespace

std::optional<llvm::APInt> AttributeBuilder::bits(mlir::Attribute attr) {
  if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(attr)) {
    llvm::APInt value = integer.getValue();
    return value.getBitWidth() == 1 ? value.zext(8) : value;
  }
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(attr)) {
    return number.getValue().bitcastToAPInt();
  }
  return std::nullopt;
}

mlir::FailureOr<AttributeBuilder::Value>
AttributeBuilder::array(llvm::StringRef name, mlir::Type element,
                        llvm::ArrayRef<mlir::Attribute> items) {
  llvm::SmallVector<Constant *> values;
  for (mlir::Attribute item : items) {
    std::optional<llvm::APInt> value = bits(item);
    if (!value || mlir::cast<mlir::TypedAttr>(item).getType() != element) {
      return unsupported(name, item);
    }
    values.push_back(llvm::ConstantInt::get(module.getContext(), *value));
  }
  Constant *pointer = data.null();
  if (!values.empty()) {
    auto *type = llvm::ArrayType::get(values.front()->getType(), values.size());
    llvm::GlobalVariable *global = data.global(llvm::ConstantArray::get(type, values));
    global->setAlignment(llvm::Align(16));
    pointer = global;
  }
  return Value{Kind::Array, data.global(data.record({data.i32(dataType(element)), data.i32(0),
                                                     data.i64(values.size()), pointer}))};
}

mlir::FailureOr<AttributeBuilder::Value> AttributeBuilder::value(llvm::StringRef name,
                                                                 mlir::Attribute attr) {
  if (auto text = mlir::dyn_cast<mlir::StringAttr>(attr)) {
    return Value{Kind::String, span(text.getValue())};
  }
  if (auto nested = mlir::dyn_cast<mlir::DictionaryAttr>(attr)) {
    mlir::FailureOr<Constant *> list = dictionary(nested);
    if (mlir::failed(list)) {
      return mlir::failure();
    }
    return Value{Kind::Dictionary, *list};
  }
  if (std::optional<llvm::APInt> number = bits(attr)) {
    uint32_t type = dataType(mlir::cast<mlir::TypedAttr>(attr).getType());
    if (!type) {
      return unsupported(name, attr);
    }
    Constant *global = data.global(llvm::ConstantInt::get(module.getContext(), *number));
    return Value{Kind::Scalar, data.global(data.record({data.i32(type), data.i32(0), global}))};
  }
  llvm::SmallVector<mlir::Attribute> items;
  mlir::Type element;
  if (auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(attr)) {
    element = dense.getElementType();
    // Before the elements are listed: of those without a bit there may be any number.
    if (!dataType(element)) {
      return unsupported(name, attr);
    }
    std::optional<int64_t> count = checkedProduct(dense.getType().getShape());
    repeated = saturatingAdd(repeated, dense.isSplat() ? count.value_or(INT64_MAX) : 0);
    if (repeated > maxRepeated) {
      mlir::emitError(location) << "backend_config: attribute '" << name
                                << "' repeats one number for " << dense.getType() << ", at most "
                                << maxRepeated << " elements of a call may be given so";
      return mlir::failure();
    }
    llvm::append_range(items, dense.getValues<mlir::Attribute>());
  } else if (auto list = mlir::dyn_cast<mlir::ArrayAttr>(attr)) {
    llvm::append_range(items, list.getValue());
    auto first = items.empty() ? mlir::TypedAttr() : mlir::dyn_cast<mlir::TypedAttr>(items.front());
    element = items.empty() ? mlir::IntegerType::get(attr.getContext(), 32)
              : first       ? first.getType()
                            : mlir::Type();
  } else if (auto flat = mlir::dyn_cast<mlir::DenseArrayAttr>(attr)) {
    // Elements are whole bytes in memory, one for i1.
    element = flat.getElementType();
    unsigned width = std::max(1u, element.getIntOrFloatBitWidth() / 8);
    if (!dataType(element)) {
      return unsupported(name, attr);
    }
    llvm::StringRef raw(flat.getRawData().data(), flat.getRawData().size());
    Constant *pointer = data.null();
    if (!raw.empty()) {
      llvm::GlobalVariable *global = data.global(
          llvm::ConstantDataArray::getString(module.getContext(), raw, /*AddNull=*/false));
      global->setAlignment(llvm::Align(16));
      pointer = global;
    }
    return Value{Kind::Array, data.global(data.record({data.i32(dataType(element)), data.i32(0),
                                                       data.i64(raw.size() / width), pointer}))};
  }
  if (!element || !dataType(element)) {
    return unsupported(name, attr);
  }
  return array(name, element, items);
}

mlir::FailureOr<Constant *> AttributeBuilder::dictionary(mlir::DictionaryAttr attr) {
  llvm::SmallVector<Constant *> kinds, names, values;
  for (mlir::NamedAttribute entry : attr) {
    llvm::StringRef name = entry.getName().getValue();
    mlir::FailureOr<Value> item = value(name, entry.getValue());
    if (mlir::failed(item)) {
      return mlir::failure();
    }
    kinds.push_back(data.i32(static_cast<uint32_t>(item->kind)));
    names.push_back(span(name));
    values.push_back(item->pointer);
  }
  constexpr uint64_t structSize = 48; // of XLA_FFI_Attrs
  Constant *kindTable = data.null();
  if (!kinds.empty()) {
    auto *type = llvm::ArrayType::get(b.getInt32Ty(), kinds.size());
    kindTable = data.global(llvm::ConstantArray::get(type, kinds));
  }
  return data.global(data.record({data.i64(structSize), data.null(), data.i64(kinds.size()),
                                  kindTable, data.pointers(names), data.pointers(values)}));
}

/// Nesting depth of the brackets outside of strings.
static int64_t nestingOf(llvm::StringRef text) {
  int64_t depth = 0, most = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isString) {
      i += c == '\\';
      isString = c != '"';
    } else if (c == '"') {
      isString = true;
    } else if (llvm::StringRef("{[(<").contains(c)) {
      most = std::max(most, ++depth);
    } else if (llvm::StringRef("}])>").contains(c) && !(c == '>' && i > 0 && text[i - 1] == '-')) {
      --depth;
    }
  }
  return most;
}

mlir::FailureOr<Constant *> hlo::makeFfiAttributes(llvm::StringRef text, mlir::Location location,
                                                   StaticData &data, llvm::Module &module) {
  if (text.trim().empty()) {
    return data.null();
  }
  if (int64_t nesting = nestingOf(text); nesting > maxNesting) {
    mlir::emitError(location) << "backend_config: brackets are nested " << nesting
                              << " deep, at most " << maxNesting << " may be";
    return mlir::failure();
  }
  mlir::MLIRContext *context = location.getContext();
  std::string reason;
  mlir::Attribute attr;
  {
    // MLIR's error locations refer to this text, not to the module's.
    mlir::ScopedDiagnosticHandler quiet(context, [&](mlir::Diagnostic &diagnostic) {
      if (reason.empty()) {
        reason = diagnostic.str();
      }
      return mlir::success();
    });
    attr = mlir::parseAttribute(text, context);
  }
  auto dictionary = mlir::dyn_cast_or_null<mlir::DictionaryAttr>(attr);
  if (!dictionary) {
    mlir::emitError(location)
        << "backend_config of a typed FFI call must be a dictionary of attributes such as "
           "{gain = 2.0 : f32}"
        << (reason.empty() ? "" : ": ") << reason;
    return mlir::failure();
  }
  return AttributeBuilder(location, data, module).dictionary(dictionary);
}
