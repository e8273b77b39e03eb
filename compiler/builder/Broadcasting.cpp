//===- Broadcasting.cpp - Operands of different shapes --------------------===//
//
// The instructions of the text format take operands of one shape. The builder's take shapes that
// are compatible, and get here the broadcasts that make them equal: first the operand of lower rank
// gets dimensions of size 1, then dimensions of size 1 are repeated.
//
//===----------------------------------------------------------------------===//
#include "absl/strings/str_join.h"
#include "compiler/builder/Instruction.h"
#include <algorithm>

namespace hlo {
namespace detail {

XlaOp expandTo(XlaOp operand, const Shape &from, const Shape &target, Numbers dimensions,
               SourceLocation at) {
  Shape result = ShapeUtil::ChangeElementType(target, from.element_type());
  result.clear_layout();
  if (ShapeUtil::Compatible(from, result) && std::is_sorted(dimensions.begin(), dimensions.end())) {
    return operand;
  }
  // The broadcast instruction has no dimensions of size 1 to repeat: they go first.
  std::vector<std::int64_t> kept;
  Shape squeezed(from.element_type(), {});
  for (int i = 0; i < from.dimensions_size(); ++i) {
    int to = static_cast<int>(dimensions[i]);
    bool repeats = from.dimensions(i) == 1 && !from.is_dynamic_dimension(i) &&
                   (target.dimensions(to) != 1 || target.is_dynamic_dimension(to));
    if (!repeats) {
      kept.push_back(to);
      squeezed.add_dimensions(from.dimensions(i), from.is_dynamic_dimension(i));
    }
  }
  if (squeezed.rank() != from.rank()) {
    operand = Instruction("reshape", {operand}, at).shape(squeezed).add();
  }
  return Instruction("broadcast", {operand}, at).numbers("dimensions", kept).shape(result).add();
}

namespace {
/// Makes two operands one shape.
class Broadcaster {
public:
  Broadcaster(absl::string_view opcode, XlaOp lhs, XlaOp rhs, SourceLocation at)
      : inst(opcode, {lhs, rhs}, at), lhs(lhs), rhs(rhs) {}

  /// False after an error.
  bool run(Numbers given);

  Instruction inst;
  XlaOp lhs, rhs;
  Shape target;

private:
  /// The dimensions of the larger operand that those of the smaller one go to.
  bool mapDimensions(Numbers given);
  bool mergeSizes();

  const Shape *left = nullptr, *right = nullptr;
  bool leftIsSmall = false;
  std::vector<std::int64_t> mapping; ///< of the smaller operand
};

bool Broadcaster::run(Numbers given) {
  left = inst.arrayOf(0);
  right = left ? inst.arrayOf(1) : nullptr;
  if (!right) {
    inst.add(); // reports operands that are not valid
    return false;
  }
  leftIsSmall = left->rank() < right->rank();
  if (!mapDimensions(given) || !mergeSizes()) {
    return false;
  }
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < target.rank(); ++i) {
    all.push_back(i);
  }
  lhs = expandTo(lhs, *left, target, leftIsSmall ? mapping : all, inst.at);
  rhs = expandTo(rhs, *right, target, leftIsSmall ? all : mapping, inst.at);
  return true;
}

bool Broadcaster::mapDimensions(Numbers given) {
  const Shape &small = leftIsSmall ? *left : *right, &large = leftIsSmall ? *right : *left;
  std::string list = listText(given);
  if (small.rank() == large.rank() || small.rank() == 0) {
    for (std::int64_t i = 0; i < small.rank(); ++i) {
      mapping.push_back(i);
    }
    if (!given.empty() && given != Numbers(mapping)) {
      inst.fail("broadcast_dimensions are ", list, ", of ", left->ToString(), " and ",
                right->ToString(), " they must be {} or ", listText(mapping));
      return false;
    }
    return true;
  }
  if (given.empty()) {
    inst.fail("ranks differ: lhs is ", left->ToString(), ", rhs is ", right->ToString(),
              "; broadcast_dimensions must say which dimensions correspond");
    return false;
  }
  mapping.assign(given.begin(), given.end());
  if (static_cast<std::int64_t>(given.size()) != small.rank()) {
    inst.fail("broadcast_dimensions ", list, " have ", given.size(), " entries, ", small.ToString(),
              " has rank ", small.rank());
    return false;
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] < 0 || given[i] >= large.rank() || (i && given[i] <= given[i - 1])) {
      inst.fail("broadcast_dimensions ", list, " must be dimensions of ", large.ToString(),
                ", in increasing order");
      return false;
    }
  }
  return true;
}

bool Broadcaster::mergeSizes() {
  const Shape &small = leftIsSmall ? *left : *right, &large = leftIsSmall ? *right : *left;
  target = large;
  target.clear_layout();
  for (int i = 0; i < small.dimensions_size(); ++i) {
    int to = static_cast<int>(mapping[i]);
    std::int64_t a = small.dimensions(i), b = large.dimensions(to);
    bool aIsDynamic = small.is_dynamic_dimension(i), bIsDynamic = large.is_dynamic_dimension(to);
    if (a == b) {
      target.set_dynamic_dimension(to, aIsDynamic || bIsDynamic);
    } else if (b == 1 && !bIsDynamic) {
      target.set_dimensions(to, a).set_dynamic_dimension(to, aIsDynamic);
    } else if (a != 1 || aIsDynamic) {
      inst.fail("sizes differ: lhs is ", left->ToString(), ", rhs is ", right->ToString(),
                small.rank() == large.rank()
                    ? absl::StrCat(", in dimension ", to)
                    : absl::StrCat(", dimension ", i, " of the smaller one goes to dimension ", to),
                "; sizes must be equal or 1");
      return false;
    }
  }
  return true;
}
} // namespace

XlaOp binary(absl::string_view opcode, XlaOp lhs, XlaOp rhs, Numbers broadcastDimensions,
             SourceLocation at, absl::string_view direction, absl::string_view type) {
  Broadcaster broadcaster(opcode, lhs, rhs, at);
  if (!broadcaster.run(broadcastDimensions)) {
    return broadcaster.inst.builder ? broadcaster.inst.builder->ReportError(absl::OkStatus(), at)
                                    : XlaOp();
  }
  Instruction inst(opcode, {broadcaster.lhs, broadcaster.rhs}, at);
  if (!direction.empty()) {
    inst.attribute("direction", std::string(direction));
  }
  if (!type.empty()) {
    inst.attribute("type", std::string(type));
  }
  return inst.add();
}

} // namespace detail

using detail::Instruction;

XlaOp Broadcast(XlaOp operand, absl::Span<const std::int64_t> broadcast_sizes, SourceLocation at) {
  Instruction inst("broadcast", {operand}, at);
  const Shape *from = inst.arrayOf(0);
  if (!from) {
    return inst.add();
  }
  Shape result(from->element_type(), broadcast_sizes);
  std::vector<std::int64_t> dimensions;
  for (int i = 0; i < from->dimensions_size(); ++i) {
    dimensions.push_back(result.rank());
    result.add_dimensions(from->dimensions(i), from->is_dynamic_dimension(i));
  }
  if (absl::Status status = ShapeUtil::ValidateShape(result); !status.ok()) {
    return inst.fail(status.message());
  }
  return inst.numbers("dimensions", dimensions).shape(result).add();
}

XlaOp BroadcastInDim(XlaOp operand, absl::Span<const std::int64_t> out_dim_size,
                     absl::Span<const std::int64_t> broadcast_dimensions, SourceLocation at) {
  Instruction inst("broadcast", {operand}, at);
  const Shape *from = inst.arrayOf(0);
  if (!from) {
    return inst.add();
  }
  Shape target(from->element_type(), out_dim_size);
  std::string list = detail::listText(broadcast_dimensions);
  if (absl::Status status = ShapeUtil::ValidateShape(target); !status.ok()) {
    return inst.fail(status.message());
  }
  if (static_cast<std::int64_t>(broadcast_dimensions.size()) != from->rank()) {
    return inst.fail("broadcast_dimensions ", list, " have ", broadcast_dimensions.size(),
                     " entries, the operand is ", from->ToString());
  }
  for (int i = 0; i < from->dimensions_size(); ++i) {
    std::int64_t to = broadcast_dimensions[i];
    bool isRepeated = std::count(broadcast_dimensions.begin(), broadcast_dimensions.end(), to) > 1;
    if (to < 0 || to >= target.rank() || isRepeated) {
      return inst.fail("broadcast_dimensions ", list, " must be different dimensions of ",
                       target.ToString());
    }
    std::int64_t size = target.dimensions(static_cast<int>(to));
    bool isDynamic = from->is_dynamic_dimension(i);
    if (from->dimensions(i) != size && (from->dimensions(i) != 1 || isDynamic)) {
      return inst.fail("dimension ", i, " of ", from->ToString(), " goes to dimension ", to, " of ",
                       target.ToString(), "; its size must be equal or 1");
    }
    target.set_dynamic_dimension(static_cast<int>(to), isDynamic);
  }
  return detail::expandTo(operand, *from, target, broadcast_dimensions, at);
}

} // namespace hlo
