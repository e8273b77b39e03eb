//===- Rule.h - What the rules of ops are written with --------------------===//
//
// A rule is a function that checks one kind of op against the constraints of the specification and
// reports each violation with the constraint's number: `[dot_general_c3]`, or `[dot_general_i1]`
// for the type of an operand. Sizes that are not known (`?`) agree with any size.
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_STABLEHLO_RULES_RULE_H
#define DIALECT_STABLEHLO_RULES_RULE_H

#include "dialect/stablehlo/Dialect.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "llvm/Support/raw_ostream.h"

namespace stablehlo {

//===----------------------------------------------------------------------===//
// Kinds of element types
//===----------------------------------------------------------------------===//

enum Kind : unsigned {
  Pred = 1,
  SInt = 2, ///< signless, as signed integers are written
  UInt = 4,
  Float = 8,
  Complex = 16,
  Quant = 32,     ///< quantized with one scale
  QuantAxis = 64, ///< quantized with a scale for each index of a dimension
  Index = 128,
  Int = SInt | UInt,
  Any = Pred | Int | Float | Complex | Quant,
  AnyQuant = Any | QuantAxis,
  Dimension = Int | Index,
};

/// The kind of an element type; 0 if it is of none, such as i1024.
unsigned kindOf(mlir::Type element);

/// "integer, float or complex numbers"
std::string describeKinds(unsigned kinds);

inline bool isQuantized(mlir::Type element) {
  return llvm::isa<mlir::quant::QuantizedType>(element);
}

/// The type that a quantized element stands for; other types are themselves.
mlir::Type expressedType(mlir::Type element);
/// The type in which a quantized element is stored; other types are themselves.
mlir::Type storageType(mlir::Type element);

/// Equal, but for the scales and zero points of quantized types and for which of them is quantized.
bool elementsAgree(mlir::Type a, mlir::Type b);

/// The type of a real part; other types are themselves.
mlir::Type realType(mlir::Type element);

/// True if both types are of one kind and `to` has no fewer bits.
bool isPromotable(mlir::Type from, mlir::Type to);

/// True if a reduction of `from` may compute in `to`: isPromotable, or both are floats or both are
/// complex.
bool accumulates(mlir::Type from, mlir::Type to);

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Equal, or one is unknown.
inline bool sizesAgree(int64_t a, int64_t b) {
  return a == b || mlir::ShapedType::isDynamic(a) || mlir::ShapedType::isDynamic(b);
}
/// Of equal rank, and all sizes agree. A bound is an upper limit of its size.
bool shapesAgree(mlir::RankedTensorType a, mlir::RankedTensorType b);
bool shapesAgree(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);
/// Shapes and elements agree; types that are no arrays are equal.
bool typesAgree(mlir::Type a, mlir::Type b);

/// An array as it is used in messages and rules: null for other types.
inline mlir::RankedTensorType arrayOf(mlir::Type type) {
  return llvm::dyn_cast<mlir::RankedTensorType>(type);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// An op that is being verified.
class Check {
public:
  /// Labels have the op's name without its dialect.
  Check(mlir::Operation *op) : op(op), name(op->getName().stripDialect()) {}

  mlir::Operation *operator->() const { return op; }
  mlir::Operation *getOp() const { return op; }

  mlir::Type operandType(unsigned i) const { return op->getOperand(i).getType(); }
  mlir::Type resultType(unsigned i) const { return op->getResult(i).getType(); }
  mlir::RankedTensorType operand(unsigned i) const { return arrayOf(operandType(i)); }
  mlir::RankedTensorType result(unsigned i = 0) const { return arrayOf(resultType(i)); }

  /// Reports `NAME: parts... [NAME_label]`.
  template <typename... Parts> bool fail(llvm::StringRef label, const Parts &...parts) {
    std::string message;
    llvm::raw_string_ostream os(message);
    (append(os, parts), ...);
    report(label, message);
    return false;
  }
  /// As `fail`, unless the condition holds, which is returned.
  template <typename... Parts>
  bool require(bool condition, llvm::StringRef label, const Parts &...parts) {
    return condition || fail(label, parts...);
  }

  bool hasFailed() const { return failed; }
  mlir::LogicalResult outcome() const { return mlir::failure(failed); }

  //===--------------------------------------------------------------------===//
  // Checks that many rules share
  //===--------------------------------------------------------------------===//

  /// The list has entries in [0, rank), named `what`.
  bool inRange(llvm::StringRef label, llvm::StringRef what, llvm::ArrayRef<int64_t> list,
               int64_t rank);
  bool unique(llvm::StringRef label, llvm::StringRef what, llvm::ArrayRef<int64_t> list);
  bool sorted(llvm::StringRef label, llvm::StringRef what, llvm::ArrayRef<int64_t> list);
  bool hasSize(llvm::StringRef label, llvm::StringRef what, int64_t size, int64_t expected);
  bool positive(llvm::StringRef label, llvm::StringRef what, llvm::ArrayRef<int64_t> list);

  /// The result has the given sizes.
  bool resultShape(llvm::StringRef label, llvm::ArrayRef<int64_t> sizes, unsigned index = 0);

private:
  static void append(llvm::raw_ostream &os, llvm::ArrayRef<int64_t> list);
  template <typename T> static void append(llvm::raw_ostream &os, const T &part) {
    if constexpr (!std::is_arithmetic_v<T> &&
                  std::is_convertible_v<const T &, llvm::ArrayRef<int64_t>>) {
      append(os, llvm::ArrayRef<int64_t>(part));
    } else {
      os << part;
    }
  }
  void report(llvm::StringRef label, llvm::StringRef message);

  mlir::Operation *op;
  llvm::StringRef name;
  bool failed = false;
};

/// Writes `[1, ?, 3]`.
std::string shapeText(llvm::ArrayRef<int64_t> sizes);

/// The entries of all lists.
llvm::SmallVector<int64_t> joined(std::initializer_list<llvm::ArrayRef<int64_t>> lists);

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The integers of an attribute; none if they are more than any op needs. A splat stands for as
/// many as its type says, however short the text is.
std::optional<llvm::SmallVector<int64_t>> integersOf(mlir::DenseIntElementsAttr attribute);

/// The integers of a value that is a constant; none if it is not, or has too many.
std::optional<llvm::SmallVector<int64_t>> constantIntegers(mlir::Value value);

/// True for a one-dimensional array of known size.
bool isStaticVector(mlir::RankedTensorType array);

/// Checks a vector of sizes: it has an entry for each dimension of the result, and if it is a
/// constant, these are the result's sizes.
void checkSizes(Check &check, llvm::StringRef label, llvm::StringRef what, mlir::Value sizes);

/// Static, or with one dimension that is bounded and no other that is dynamic.
void requireStaticOrOneBound(Check &check, llvm::StringRef label);

/// Checks a type if it is a tensor: its rank is supported, its elements are of one of the kinds (0:
/// of any), and scales fit its shape.
void checkArray(Check &check, llvm::StringRef label, llvm::StringRef what, mlir::Type type,
                unsigned kinds);

/// Labels of the constraints on the elements of a product's operands and result.
struct ProductLabels {
  llvm::StringRef equal;                     ///< without quantized elements: lhs is as rhs
  llvm::StringRef quantized;                 ///< rhs is quantized, and lhs if the result is
  llvm::StringRef stored, expressed, scales; ///< lhs is quantized
  llvm::StringRef hybrid;                    ///< rhs alone is
};
/// Checks the elements of dot_general and convolution. True if rhs is quantized, and lhs if the
/// result is.
bool checkProductElements(Check &check, const ProductLabels &labels, mlir::RankedTensorType lhs,
                          mlir::RankedTensorType rhs, mlir::RankedTensorType result);

/// The result's elements are the operand's; they may be quantized along another dimension, and with
/// other scales if `mayScaleDiffer`.
void sameElement(Check &check, llvm::StringRef label, mlir::RankedTensorType operand,
                 bool mayScaleDiffer = false);

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

using Rule = void (*)(Check &);

/// What is checked of one kind of op.
struct Row {
  llvm::StringRef name; ///< without the dialect
  /// Kinds of the operands' elements; the last entry is also that of all further operands, 0 stands
  /// for operands of any type. Empty: no operands, or the rule looks at them.
  llvm::ArrayRef<unsigned> operands;
  /// Kinds of the results' elements; 0: any type.
  unsigned results;
  Rule rule;              ///< null: no further constraints
  Rule regions = nullptr; ///< checked once the ops in the regions are verified
};

llvm::ArrayRef<Row> unaryRows();
llvm::ArrayRef<Row> binaryRows();
llvm::ArrayRef<Row> shapeRows();
llvm::ArrayRef<Row> sliceRows();
llvm::ArrayRef<Row> indexRows();
llvm::ArrayRef<Row> dotRows();
llvm::ArrayRef<Row> convRows();
llvm::ArrayRef<Row> linalgRows();
llvm::ArrayRef<Row> reduceRows();
llvm::ArrayRef<Row> controlRows();
llvm::ArrayRef<Row> communicationRows();

} // namespace stablehlo

#endif
