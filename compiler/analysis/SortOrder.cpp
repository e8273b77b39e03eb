//===- SortOrder.cpp - The order that a comparator defines ----------------===//
//
// In: a comparator over scalars a0, b0, a1, b1, ... Out: its keys, if it is an order by keys. Even
// parameters belong to the left element, odd ones to the right. An expression of left parameters is
// a key if it is compared with the same expression of right parameters.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/SortOrder.h"
#include "compiler/analysis/Reduction.h"
#include "compiler/analysis/Shapes.h"

using namespace mlir;

namespace hlo {

bool isSortableElement(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element)) {
    return integer.getWidth() <= 64;
  }
  // Float formats with a sign bit, a magnitude and both zeros.
  return isa<Float64Type, Float32Type, Float16Type, BFloat16Type, Float8E5M2Type, Float8E4M3Type,
             Float8E4M3FNType, Float8E3M4Type>(element);
}

DenseElementsAttr lastInOrder(Type element, bool descending) {
  if (isa<IntegerType>(element)) {
    return extremeOf(element, /*least=*/descending);
  }
  if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element)) {
    return {};
  }
  unsigned width = element.getIntOrFloatBitWidth();
  APInt bits = descending ? APInt::getAllOnes(width) : APInt::getSignedMaxValue(width);
  return DenseElementsAttr::get(RankedTensorType::get({}, element),
                                APFloat(cast<FloatType>(element).getFloatSemantics(), bits));
}

unsigned SortKey::bits() const {
  return element.isSignlessInteger(1) ? 1 : 8 * elementBytes(element);
}

bool SortKey::isInjective() const {
  return operand >= 0 && constants.empty() && (total || isa<IntegerType>(element));
}

namespace {

/// True for ops that may compute a key: element-wise, without control flow.
bool isKeyOp(Operation *op) {
  return isa<CompareOp, SelectOp, ConvertOp, BitcastConvertOp, RealOp, ImagOp, NegateOp, AbsOp,
             SignOp, AddOp, SubtractOp, MultiplyOp, AndOp, OrOp, XorOp, NotOp, MinimumOp, MaximumOp,
             ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp, ClampOp>(op) &&
         llvm::all_of(op->getOperandTypes(), [](Type type) { return isScalar(type); });
}

class Finder {
public:
  /// Appends the keys of `v`, a value of the comparator; false if it is not an order by keys.
  bool find(Value v, SmallVectorImpl<SortKey> &keys) {
    if (auto compare = v.getDefiningOp<CompareOp>()) {
      std::optional<SortKey> key = keyOf(compare);
      if (!key || (compare.getDirection() != "LT" && compare.getDirection() != "GT")) {
        return false;
      }
      keys.push_back(*key);
      return true;
    }
    // lt or (eq and rest)
    if (auto either = v.getDefiningOp<OrOp>()) {
      for (bool swapped : {false, true}) {
        Value first = either->getOperand(swapped), second = either->getOperand(!swapped);
        auto both = second.getDefiningOp<AndOp>();
        if (!first.getDefiningOp<CompareOp>() || !both) {
          continue;
        }
        for (bool inner : {false, true}) {
          if (chain(first, both->getOperand(inner), "EQ", both->getOperand(!inner), keys)) {
            return true;
          }
        }
      }
      return false;
    }
    // select(eq, rest, lt), select(ne, lt, rest)
    if (auto select = v.getDefiningOp<SelectOp>()) {
      return chain(select->getOperand(2), select->getOperand(0), "EQ", select->getOperand(1),
                   keys) ||
             chain(select->getOperand(1), select->getOperand(0), "NE", select->getOperand(2), keys);
    }
    return false;
  }

private:
  /// Matches one step of a lexicographic order: `first` compares a key, `equal` tests that key for
  /// equality (or inequality), `rest` decides if it is equal.
  bool chain(Value first, Value equal, StringRef direction, Value rest,
             SmallVectorImpl<SortKey> &keys) {
    auto test = equal.getDefiningOp<CompareOp>();
    size_t before = keys.size();
    if (!test || test.getDirection() != direction || !first.getDefiningOp<CompareOp>() ||
        !find(first, keys)) {
      return false;
    }
    std::optional<SortKey> tested = keyOf(test);
    if (tested && sameSide(tested->value, keys.back().value) &&
        tested->total == keys.back().total && find(rest, keys)) {
      return true;
    }
    keys.resize(before);
    return false;
  }

  /// The key of a comparison; `descending` for GT, with the left element's expression on the left.
  std::optional<SortKey> keyOf(CompareOp compare) {
    Value lhs = compare.getLhs(), rhs = compare.getRhs();
    bool swapped = !mirrored(lhs, rhs);
    if (swapped && !mirrored(rhs, lhs)) {
      return std::nullopt;
    }
    SortKey key;
    key.value = swapped ? rhs : lhs;
    key.element = elementTypeOf(key.value);
    if (!isSortableElement(key.element)) {
      return std::nullopt;
    }
    StringRef type = compare.getType().value_or("");
    if (auto integer = dyn_cast<IntegerType>(key.element)) {
      // The comparison is signed although the type is not, or the reverse.
      bool isSigned = integer.isSigned();
      if ((type == "UNSIGNED" && isSigned) || (type == "SIGNED" && !isSigned)) {
        return std::nullopt;
      }
    }
    key.descending = (compare.getDirection() == "GT") != swapped;
    key.total = type == "TOTALORDER";
    findForm(key.value, key);
    return key;
  }

  /// True if `left` uses left parameters only and `right` is the same expression of right
  /// parameters.
  bool mirrored(Value left, Value right) { return matches(left, right, /*rightSide=*/1); }
  bool sameSide(Value a, Value b) { return matches(a, b, /*rightSide=*/0); }

  bool matches(Value a, Value b, unsigned rightSide) {
    if (a.getType() != b.getType() || !isScalar(a.getType())) {
      return false;
    }
    auto argument = dyn_cast<BlockArgument>(a), other = dyn_cast<BlockArgument>(b);
    if (argument || other) {
      return argument && other && argument.getArgNumber() % 2 == 0 &&
             argument.getArgNumber() + rightSide == other.getArgNumber();
    }
    auto [known, isNew] = memo.try_emplace({a, b, rightSide}, false);
    if (!isNew) {
      return known->second;
    }
    Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    bool same = x->getName() == y->getName() && x->getNumOperands() == y->getNumOperands() &&
                (isa<ConstantOp>(x) || isKeyOp(x)) && sameAttributes(x, y);
    for (unsigned i = 0; same && i < x->getNumOperands(); ++i) {
      same = matches(x->getOperand(i), y->getOperand(i), rightSide);
    }
    return memo[{a, b, rightSide}] = same;
  }

  /// True if the attributes are equal except for names and metadata.
  static bool sameAttributes(Operation *x, Operation *y) {
    auto meaning = [](Operation *op) {
      return llvm::to_vector(llvm::make_filter_range(op->getAttrs(), [](NamedAttribute attribute) {
        return !attribute.getName().strref().starts_with("hlo.");
      }));
    };
    return meaning(x) == meaning(y);
  }

  /// True if the leaves of expression `v` are parameters of one operand and constants; notes which.
  static bool leavesOf(Value v, SortKey &key) {
    if (auto argument = dyn_cast<BlockArgument>(v)) {
      int64_t operand = argument.getArgNumber() / 2;
      if (key.operand >= 0 && key.operand != operand) {
        return false;
      }
      key.operand = operand;
      return true;
    }
    if (auto constant = v.getDefiningOp<ConstantOp>()) {
      auto literal = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (literal && !llvm::is_contained(key.constants, literal)) {
        key.constants.push_back(literal);
      }
      return literal != nullptr;
    }
    auto select = v.getDefiningOp<SelectOp>();
    return select && leavesOf(select->getOperand(1), key) && leavesOf(select->getOperand(2), key);
  }
  static void findForm(Value v, SortKey &key) {
    if (!leavesOf(v, key)) {
      key.operand = -1;
      key.constants.clear();
    }
  }

  DenseMap<std::tuple<Value, Value, unsigned>, bool> memo;
};

} // namespace

SmallVector<SortKey, 2> findSortKeys(ComputationOp comparator) {
  SmallVector<SortKey, 2> keys;
  Operation *end = comparator.getBody().front().getTerminator();
  if (end->getNumOperands() != 1 || !Finder().find(end->getOperand(0), keys)) {
    return {};
  }
  return keys;
}

} // namespace hlo
