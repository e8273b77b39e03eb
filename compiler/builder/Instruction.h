//===- Instruction.h - An instruction to be added --------------*- C++ -*-===//
//
// Collects operands, attributes and shape of one instruction, in the text format's syntax, and adds
// it to its operands' builder. What all functions of hlo/ops have in common is here: operands that
// are not valid, or of several builders, and the place of errors.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_BUILDER_INSTRUCTION_H
#define COMPILER_BUILDER_INSTRUCTION_H

#include "absl/strings/str_cat.h"
#include <hlo/builder.h>

namespace hlo::detail {

using Numbers = absl::Span<const std::int64_t>;
using Pairs = absl::Span<const std::pair<std::int64_t, std::int64_t>>;
using Ops = absl::Span<const XlaOp>;
using Groups = absl::Span<const ReplicaGroup>;

/// "{1,2}".
std::string listText(Numbers numbers);
/// "{{0,1},{2,3}}".
std::string listsText(Groups groups);
/// A string in quotes, with escapes.
std::string quoted(absl::string_view text);
/// The shortest text of a number that gives it again.
std::string numberText(double value);
std::string numberText(float value);

class Instruction {
public:
  /// `builder`: null if it is that of the operands. Of several operands the first one that has a
  /// builder decides.
  Instruction(absl::string_view opcode, Ops operands, SourceLocation at,
              XlaBuilder *builder = nullptr);

  /// Whether the operands are valid values of one builder, and nothing has failed. After `false`,
  /// add() reports why.
  bool ready() const;
  /// Reports "opcode: ..."; the result is not valid.
  template <typename... T> XlaOp fail(const T &...parts) {
    return failWith(absl::StrCat(opcode, ": ", parts...));
  }
  /// The shape of an operand; null after an error.
  const Shape *shapeOf(int operand);
  /// The same, but only of arrays; reports others.
  const Shape *arrayOf(int operand);

  Instruction &operand(XlaOp op);
  Instruction &operands(Ops ops);
  /// An attribute in the text format's syntax.
  Instruction &attribute(absl::string_view name, std::string value);
  Instruction &numbers(absl::string_view name, Numbers values) {
    return attribute(name, listText(values));
  }
  Instruction &number(absl::string_view name, std::int64_t value) {
    return attribute(name, absl::StrCat(value));
  }
  Instruction &boolean(absl::string_view name, bool value) {
    return attribute(name, value ? "true" : "false");
  }
  Instruction &text(absl::string_view name, absl::string_view value) {
    return attribute(name, quoted(value));
  }
  Instruction &computation(absl::string_view name, const XlaComputation &called);
  Instruction &computations(absl::string_view name, absl::Span<const XlaComputation *const> called);
  Instruction &frontend(const std::string &key, std::string value);
  /// The result's shape, where it does not follow from the others.
  Instruction &shape(const Shape &result);

  XlaOp add();
  /// Adds the begin of a transfer, or the end of one that this builder has begun.
  XlaOp transfer(std::int64_t channel, bool isHostTransfer);
  XlaOp transferDone();

  /// The end of the chain of a builder's feeds or transfers of one kind; a new token at first.
  enum class Chain { infeed, outfeed, send, recv };
  static XlaOp token(XlaBuilder *builder, Chain chain, SourceLocation at);
  static void setToken(XlaBuilder *builder, Chain chain, XlaOp token);

  XlaBuilder *const builder;
  const SourceLocation at;

private:
  friend class hlo::XlaBuilder;
  XlaOp failWith(std::string message);
  void collect(XlaOp op);

  struct Attribute {
    std::string name, value;
    std::vector<const hlo_computation *> called;
  };

  std::string opcode;
  std::vector<XlaOp> given;
  std::vector<std::unique_ptr<Shape>> shapes; ///< of operands, as far as known
  std::vector<Attribute> attributes;
  FrontendAttributes frontendAttributes;
  std::string resultShape;
};

/// Element `i` of a tuple, for the functions that take results apart.
XlaOp element(XlaOp tuple, std::int64_t i, SourceLocation at);

/// The computation x, y -> opcode(x, y) of scalars.
XlaComputation scalarBinary(absl::string_view opcode, PrimitiveType type);
/// The computation that compares the first pair of scalars with LtTotalOrder.
XlaComputation scalarLess(absl::Span<const PrimitiveType> types);

/// Repeats the operand in the dimensions of size 1, and in those that are not among `dimensions`,
/// until it has the shape `target`; dimensions[i] is where dimension i goes. The caller has checked
/// the sizes.
XlaOp expandTo(XlaOp operand, const Shape &from, const Shape &target, Numbers dimensions,
               SourceLocation at);

/// `lhs opcode rhs` with implicit broadcasting. `direction`, `type`: of compare.
XlaOp binary(absl::string_view opcode, XlaOp lhs, XlaOp rhs, Numbers broadcastDimensions,
             SourceLocation at, absl::string_view direction = "", absl::string_view type = "");

} // namespace hlo::detail

#endif
