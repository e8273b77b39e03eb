//===- Rule.h - Context and helpers of shape rules --------------*- C++ -*-===//
//
// A rule checks one opcode's operands and attributes and returns the result shape. It runs in two
// places: in the parser, if the text has no shape, and in the verifier, where `written` is the
// existing shape. Internal to the dialect's Infer*.cpp and Verify*.cpp.
//
// Every message reads `opcode: what is wrong, both sides [op_cN]`; N numbers the opcode's
// constraints in the order of its rule (0 is shared by all ops).
//
//===----------------------------------------------------------------------===//
#ifndef DIALECT_HLO_RULES_RULE_H
#define DIALECT_HLO_RULES_RULE_H

#include "dialect/hlo/Shapes.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo {

/// Operands, attributes and context of one instruction.
class RuleContext {
public:
  RuleContext(llvm::StringRef opName, mlir::ValueRange operands, mlir::DictionaryAttr attrs,
              mlir::TypeRange written, llvm::function_ref<ComputationOp(llvm::StringRef)> lookup,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError)
      : name(opName), operands(operands), attrs(attrs), written(written), lookup(lookup),
        emitError(emitError) {}

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  int64_t size() const { return operands.size(); }
  mlir::Value operand(int64_t i) const { return operands[i]; }
  mlir::Type type(int64_t i) const { return operands[i].getType(); }
  mlir::ValueRange all() const { return operands; }

  /// Checks the number of operands.
  mlir::LogicalResult expectOperands(int64_t count);
  mlir::LogicalResult expectAtLeast(int64_t count);

  /// Operand i as an array; reports an error and returns null if it is not an array, or if there
  /// are fewer operands.
  mlir::RankedTensorType array(int64_t i);

  /// All operands as arrays; reports an error and fails if one is not an array.
  mlir::FailureOr<llvm::SmallVector<mlir::RankedTensorType>> arrays();

  //===--------------------------------------------------------------------===//
  //
  // Attributes. An absent list is empty; a missing required attribute is reported.
  //
  //===--------------------------------------------------------------------===//

  llvm::ArrayRef<int64_t> list(llvm::StringRef attribute) const;
  mlir::FailureOr<llvm::ArrayRef<int64_t>> requiredList(llvm::StringRef attribute);
  std::optional<int64_t> integer(llvm::StringRef attribute) const;
  mlir::FailureOr<int64_t> requiredInteger(llvm::StringRef attribute);
  bool flag(llvm::StringRef attribute, bool absent = false) const;
  /// The string, or "".
  llvm::StringRef text(llvm::StringRef attribute) const;
  template <typename AttrT> AttrT get(llvm::StringRef attribute) const {
    return llvm::dyn_cast_if_present<AttrT>(attrs.get(attribute));
  }

  //===--------------------------------------------------------------------===//
  // Computations
  //===--------------------------------------------------------------------===//

  /// Parameters and results of a computation. As parsed there is one result, possibly a tuple;
  /// after flattening there may be any number.
  struct Signature {
    llvm::StringRef name;
    mlir::Location loc;
    llvm::SmallVector<mlir::Type> parameters;
    llvm::SmallVector<mlir::Type> results;
    /// The only result, or a tuple of all.
    mlir::Type result() const;
  };

  /// The computation that an attribute (or a symbol) names; reports an error if there is none.
  mlir::FailureOr<Signature> computation(llvm::StringRef attribute);
  mlir::FailureOr<Signature> computation(mlir::Attribute symbol, llvm::StringRef role);

  //===--------------------------------------------------------------------===//
  // Result
  //===--------------------------------------------------------------------===//

  /// The written shape of the instruction: its type, or a tuple of its results after flattening;
  /// null in the parser.
  mlir::Type writtenType() const;
  mlir::RankedTensorType writtenArray() const { return asArray(writtenType()); }

  /// The written shape, for opcodes whose shape does not follow from the operands. Reports an error
  /// if there is none.
  mlir::FailureOr<mlir::Type> requiredWritten();
  /// The same, which must be an array.
  mlir::FailureOr<mlir::RankedTensorType> requiredWrittenArray();

  /// True if the op has N results (or none) instead of one tuple.
  bool isFlattened() const { return isWritten() && written.size() != 1; }
  /// True if an operand, or the result of a computation that was looked up, is a tuple.
  bool passesTuples() const {
    return calledGivesTuple || llvm::any_of(operands.getTypes(), llvm::IsaPred<mlir::TupleType>);
  }
  bool isWritten() const { return !parsing; }
  void setParsing() { parsing = true; }

  //===--------------------------------------------------------------------===//
  // Messages
  //===--------------------------------------------------------------------===//

  llvm::StringRef opName() const { return name; }
  mlir::MLIRContext *mlirContext() const { return attrs.getContext(); }
  std::string opcode() const { return hloOpcode(name); }

  /// Reports `opcode: parts... [op_label]`. Parts are strings, numbers and types (as HLO text).
  template <typename... Parts>
  mlir::InFlightDiagnostic fail(llvm::StringRef label, const Parts &...parts) {
    std::string message;
    llvm::raw_string_ostream os(message);
    (append(os, parts), ...);
    return report(label, message);
  }

  /// As `fail`, with a note at the definition of each listed operand.
  template <typename... Parts>
  mlir::LogicalResult failAt(llvm::ArrayRef<int64_t> notedOperands, llvm::StringRef label,
                             const Parts &...parts) {
    mlir::InFlightDiagnostic diagnostic = fail(label, parts...);
    for (int64_t i : notedOperands) {
      note(diagnostic, i);
    }
    return diagnostic;
  }

  /// Adds `operand I is SHAPE` at the operand's definition.
  void note(mlir::InFlightDiagnostic &diagnostic, int64_t i);

  /// True if any constraint has been violated.
  bool hasFailed() const { return failed; }

  /// The result of a rule: `type`, or failure if an error was reported.
  mlir::FailureOr<mlir::Type> result(mlir::Type type) const {
    return failed ? mlir::FailureOr<mlir::Type>(mlir::failure()) : type;
  }

private:
  static void append(llvm::raw_ostream &os, llvm::ArrayRef<int64_t> list);
  template <typename T> static void append(llvm::raw_ostream &os, const T &part) {
    if constexpr (std::is_convertible_v<const T &, mlir::Type>) {
      os << hloText(part);
    } else {
      os << part;
    }
  }
  mlir::InFlightDiagnostic report(llvm::StringRef label, llvm::StringRef message);

  llvm::StringRef name;
  mlir::ValueRange operands;
  mlir::DictionaryAttr attrs;
  mlir::TypeRange written;
  llvm::function_ref<ComputationOp(llvm::StringRef)> lookup;
  llvm::function_ref<mlir::InFlightDiagnostic()> emitError;
  bool parsing = false;
  bool failed = false;
  bool calledGivesTuple = false;
};

using Rule = mlir::FailureOr<mlir::Type> (*)(RuleContext &);

/// The rule of an op by its full name; null if the family has no such op.
Rule elementwiseRule(llvm::StringRef opName);
Rule shapeRule(llvm::StringRef opName);
Rule indexRule(llvm::StringRef opName);
Rule reduceRule(llvm::StringRef opName);
Rule windowRule(llvm::StringRef opName);
Rule linalgRule(llvm::StringRef opName);
Rule factorizeRule(llvm::StringRef opName);
Rule controlRule(llvm::StringRef opName);
Rule communicationRule(llvm::StringRef opName);
Rule collectiveRule(llvm::StringRef opName);

/// The rule of any op that represents an instruction.
Rule findRule(llvm::StringRef opName);

//===----------------------------------------------------------------------===//
// Helpers that families share
//===----------------------------------------------------------------------===//

/// Collects the dimensions of a result one by one, bounded ones included.
struct ShapeBuilder {
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<int64_t> dynamic;

  void add(int64_t size, bool bounded = false) {
    if (bounded) {
      dynamic.push_back(sizes.size());
    }
    sizes.push_back(size);
  }
  /// Copies dimension `dim` of `from`.
  void add(mlir::RankedTensorType from, int64_t dim) {
    add(from.getDimSize(dim), isBounded(from, dim));
  }
  mlir::RankedTensorType build(mlir::Type element) const {
    return arrayType(sizes, element, {}, dynamic);
  }
};

/// The array with another element type; layout and bounds stay.
mlir::RankedTensorType withElement(mlir::RankedTensorType array, mlir::Type element);

/// Equal, or one is `?`.
bool sizesAgree(int64_t a, int64_t b);

/// Equal ranks and agreeing sizes; element types do not count.
bool sameDims(mlir::RankedTensorType a, mlir::RankedTensorType b);

/// Reports dimensions outside [0, rank), and repeated ones. `what` names the
/// attribute.
mlir::LogicalResult checkDimensions(RuleContext &context, llvm::StringRef label,
                                    llvm::StringRef what, llvm::ArrayRef<int64_t> dimensions,
                                    int64_t rank);

/// Checks that `called` takes scalars of the given element types and returns scalars of these
/// types; they may differ in float precision.
mlir::LogicalResult checkScalarComputation(RuleContext &context, llvm::StringRef label,
                                           llvm::StringRef role,
                                           const RuleContext::Signature &called,
                                           llvm::ArrayRef<mlir::Type> parameterElements,
                                           llvm::ArrayRef<mlir::Type> resultElements,
                                           Precision precision = Precision::anyFloat);

/// One array if there is one type, else a tuple of all.
mlir::Type tupleUnlessSingle(llvm::ArrayRef<mlir::Type> types);

/// Size of a window's output in one dimension, by the formula of convolution and reduce-window;
/// none on overflow, `?` for an unbounded size.
std::optional<int64_t> windowOutput(int64_t size, WindowAttr window, int64_t dimension);

/// Checks a window's own numbers: seven lists of the given length; sizes, strides and dilations
/// positive.
mlir::LogicalResult checkWindow(RuleContext &context, llvm::StringRef label, WindowAttr window,
                                int64_t rank);

} // namespace hlo

#endif
