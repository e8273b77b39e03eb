//===- Verify.cpp - Rules of chlo's ops -----------------------------------===//
//
// CHLO has no specification with numbered constraints: labels count the checks of each rule here.
// Operands may be of unknown rank (`tensor<*xf32>`), which agrees with any shape.
//
//===----------------------------------------------------------------------===//
#include "dialect/stablehlo/chlo/Dialect.h"
#include "dialect/stablehlo/rules/Region.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace stablehlo;

namespace {
/// Kinds of the elements of all operands and of the results, and a further rule.
struct ChloRow {
  unsigned operands, results;
  Rule rule;
};
} // namespace

static Type elementOf(Type type) { return cast<TensorType>(type).getElementType(); }

static bool shapesFit(Type a, Type b) {
  RankedTensorType first = arrayOf(a), second = arrayOf(b);
  return !first || !second || shapesAgree(first, second);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static void sameElements(Check &check) {
  for (Type type : check->getOperandTypes()) {
    check.require(elementsAgree(elementOf(type), elementOf(check.resultType(0))), "c2",
                  "an operand is ", type, ", the result ", check.resultType(0));
  }
}
static void sameShapes(Check &check) {
  for (Type type : check->getOperandTypes()) {
    check.require(shapesFit(type, check.resultType(0)), "c1", "an operand is ", type,
                  ", the result ", check.resultType(0));
  }
}
static void sameTypes(Check &check) {
  sameShapes(check);
  sameElements(check);
}

static void constantLike(Check &check) {
  sameShapes(check);
  auto op = cast<chlo::ConstantLikeOp>(check.getOp());
  check.require(op.getValue().getType() == elementOf(check.resultType(0)), "c2",
                "the value is of type ", op.getValue().getType(), ", the result ",
                check.resultType(0));
}

static void constant(Check &check) {
  auto op = cast<chlo::ConstantOp>(check.getOp());
  RankedTensorType result = check.result();
  check.require(result && result.hasStaticShape() && op.getValue().getType() == result, "c1",
                "the value is ", op.getValue().getType(), ", the result ", check.resultType(0));
}

//===----------------------------------------------------------------------===//
// Broadcasts: the shorter shape is aligned at its end, or as `broadcast_dimensions` says; sizes
// that differ are 1 on one side.
//===----------------------------------------------------------------------===//

/// Merges `shape` into `total` at the given dimensions; false if they do not fit.
static bool merge(MutableArrayRef<int64_t> total, ArrayRef<int64_t> shape,
                  ArrayRef<int64_t> dimensions) {
  for (auto [size, dim] : llvm::zip_equal(shape, dimensions)) {
    int64_t &other = total[dim];
    if (other == 1) {
      other = size;
    } else if (size != 1 && !sizesAgree(size, other)) {
      return false;
    } else if (ShapedType::isDynamic(other) && size != 1) {
      other = size;
    }
  }
  return true;
}

static void broadcastShape(Check &check) {
  SmallVector<RankedTensorType> operands;
  RankedTensorType longest;
  for (Type type : check->getOperandTypes()) {
    operands.push_back(arrayOf(type));
    if (!operands.back()) {
      return;
    }
    longest = longest && longest.getRank() >= operands.back().getRank() ? longest : operands.back();
  }
  auto given = check->getAttrOfType<DenseI64ArrayAttr>("broadcast_dimensions");
  SmallVector<int64_t> total = llvm::to_vector(longest.getShape());
  for (RankedTensorType operand : operands) {
    int64_t rank = operand.getRank();
    SmallVector<int64_t> dimensions =
        llvm::to_vector(llvm::seq<int64_t>(longest.getRank() - rank, longest.getRank()));
    if (given && operand != longest && rank < longest.getRank()) {
      dimensions = llvm::to_vector(given.asArrayRef());
      if (!check.hasSize("c3", "broadcast_dimensions", dimensions.size(), rank) ||
          !check.inRange("c3", "broadcast_dimensions", dimensions, longest.getRank()) ||
          !check.unique("c3", "broadcast_dimensions", dimensions)) {
        return;
      }
    }
    if (!check.require(merge(total, operand.getShape(), dimensions), "c1", "the operands ",
                       operands.front(), " and ", operand, " cannot be broadcast")) {
      return;
    }
  }
  check.resultShape("c1", total);
}

static void broadcast(Check &check) {
  sameElements(check);
  broadcastShape(check);
}
static void broadcastComplex(Check &check) {
  auto number = cast<::mlir::ComplexType>(elementOf(check.resultType(0)));
  for (Type type : check->getOperandTypes()) {
    check.require(elementOf(type) == number.getElementType(), "c2", "an operand is ", type,
                  ", the result ", check.resultType(0));
  }
  broadcastShape(check);
}
static void broadcastCompare(Check &check) {
  check.require(elementsAgree(elementOf(check.operandType(0)), elementOf(check.operandType(1))),
                "c2", "the operands are ", check.operandType(0), " and ", check.operandType(1));
  check.require(kindOf(elementOf(check.resultType(0))) == Pred, "o1", "the result is ",
                check.resultType(0), ", expected elements of type i1");
  broadcastShape(check);
}
static void broadcastSelect(Check &check) {
  check.require(kindOf(elementOf(check.operandType(0))) == Pred, "i1", "pred is ",
                check.operandType(0), ", expected elements of type i1");
  for (unsigned i : {1u, 2u}) {
    check.require(elementsAgree(elementOf(check.operandType(i)), elementOf(check.resultType(0))),
                  "c2", "an operand is ", check.operandType(i), ", the result ",
                  check.resultType(0));
  }
  broadcastShape(check);
}

//===----------------------------------------------------------------------===//
// top_k, ragged_dot
//===----------------------------------------------------------------------===//

static void topK(Check &check) {
  auto op = cast<chlo::TopKOp>(check.getOp());
  int64_t k = op.getK();
  RankedTensorType operand = check.operand(0);
  check.require(elementOf(op.getValues().getType()) == elementOf(check.operandType(0)), "c4",
                "the operand is ", check.operandType(0), ", values ", op.getValues().getType());
  check.require(elementOf(op.getIndices().getType()).isSignlessInteger(32), "c5", "indices is ",
                op.getIndices().getType(), ", expected elements of type i32");
  if (!check.require(k >= 0, "c1", "k is ", k) || !operand ||
      !check.require(operand.getRank() >= 1, "c2", "the operand is ", operand,
                     ", expected at least a vector")) {
    return;
  }
  SmallVector<int64_t> expected = llvm::to_vector(operand.getShape());
  check.require(ShapedType::isDynamic(expected.back()) || expected.back() >= k, "c3",
                "the operand is ", operand, ", k ", k);
  expected.back() = k;
  check.resultShape("c6", expected, 0);
  check.resultShape("c6", expected, 1);
}

/// [b, m, k] x [g, b, k, n] with group sizes [b, g] or [g] gives [b, m, n]; a ragged k gives
/// [g, b, m, n].
static void raggedDot(Check &check) {
  auto op = cast<chlo::RaggedDotOp>(check.getOp());
  chlo::RaggedDotDimensionNumbersAttr n = op.getRaggedDotDimensionNumbers();
  RankedTensorType lhs = check.operand(0), rhs = check.operand(1), groups = check.operand(2);
  if (!lhs || !rhs || !groups) {
    return;
  }
  ArrayRef<int64_t> lhsBatch = n.getLhsBatchingDimensions(),
                    rhsBatch = n.getRhsBatchingDimensions(),
                    lhsContracting = n.getLhsContractingDimensions(),
                    rhsContracting = n.getRhsContractingDimensions();
  bool valid =
      check.require(n.getLhsRaggedDimensions().size() == 1, "c1", "lhs_ragged_dimensions has ",
                    n.getLhsRaggedDimensions().size(), " entries, expected one");
  valid &= check.require(
      lhsBatch.size() == rhsBatch.size() && lhsContracting.size() == rhsContracting.size(), "c2",
      "lhs and rhs differ in their numbers of batching or contracting "
      "dimensions");
  SmallVector<int64_t> lhsUsed = joined({lhsBatch, lhsContracting});
  SmallVector<int64_t> rhsUsed = joined({rhsBatch, rhsContracting, n.getRhsGroupDimensions()});
  valid &= check.unique("c3", "the list of lhs's dimensions", lhsUsed);
  valid &= check.unique("c3", "the list of rhs's dimensions", rhsUsed);
  valid &= check.inRange("c4", "the list of lhs's dimensions",
                         joined({lhsUsed, n.getLhsRaggedDimensions()}), lhs.getRank());
  valid &= check.inRange("c4", "the list of rhs's dimensions", rhsUsed, rhs.getRank());
  if (!valid) {
    return;
  }
  auto match = [&](StringRef kind, ArrayRef<int64_t> l, ArrayRef<int64_t> r) {
    for (auto [a, b] : llvm::zip_equal(l, r)) {
      check.require(sizesAgree(lhs.getDimSize(a), rhs.getDimSize(b)), "c5", kind,
                    " dimensions differ: dimension ", a, " of lhs has size ", lhs.getDimSize(a),
                    ", dimension ", b, " of rhs ", rhs.getDimSize(b));
    }
  };
  match("batching", lhsBatch, rhsBatch);
  match("contracting", lhsContracting, rhsContracting);

  int64_t ragged = n.getLhsRaggedDimensions()[0];
  bool isBatch = llvm::is_contained(lhsBatch, ragged);
  bool isContracting = llvm::is_contained(lhsContracting, ragged);
  size_t wanted = isBatch || isContracting ? 0 : 1;
  if (!check.require(n.getRhsGroupDimensions().size() == wanted, "c6", "rhs_group_dimensions has ",
                     n.getRhsGroupDimensions().size(), " entries, expected ", wanted)) {
    return;
  }
  // Sizes of groups: one list, or one for each index of the dimensions in front of the ragged one.
  SmallVector<int64_t> prefix;
  if (isBatch) {
    for (int64_t dim : lhsBatch) {
      if (dim == ragged) {
        break;
      }
      prefix.push_back(lhs.getDimSize(dim));
    }
  } else {
    for (int64_t dim : lhsBatch) {
      prefix.push_back(lhs.getDimSize(dim));
    }
    for (int64_t dim = 0; dim < lhs.getRank(); ++dim) {
      bool before = isContracting ? llvm::is_contained(lhsContracting, dim)
                                  : !llvm::is_contained(lhsUsed, dim);
      if (dim == ragged) {
        break;
      }
      if (before) {
        prefix.push_back(lhs.getDimSize(dim));
      }
    }
  }
  if (!check.require(groups.getRank() >= 1, "c7", "group_sizes is ", groups)) {
    return;
  }
  int64_t count = groups.getShape().back();
  bool fits = groups.getRank() == 1 || shapesAgree(groups.getShape().drop_back(), prefix);
  check.require(fits, "c7", "group_sizes is ", groups, ", expected ", count,
                " sizes, or those for ", shapeText(prefix));
  if (wanted == 1) {
    int64_t dim = n.getRhsGroupDimensions()[0];
    check.require(sizesAgree(rhs.getDimSize(dim), count), "c8", "dimension ", dim,
                  " of rhs has size ", rhs.getDimSize(dim), ", there are ", count, " groups");
  }
  SmallVector<int64_t> expected;
  if (isContracting) {
    expected.push_back(count);
  }
  for (int64_t dim : lhsBatch) {
    expected.push_back(lhs.getDimSize(dim));
  }
  for (auto [type, used] : {std::pair(lhs, lhsUsed), std::pair(rhs, rhsUsed)}) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (!llvm::is_contained(used, dim)) {
        expected.push_back(type.getDimSize(dim));
      }
    }
  }
  check.resultShape("c9", expected);
}

//===----------------------------------------------------------------------===//
// scan: the body gets an input without the scanned dimension and the carried values, and returns
// outputs and carried values.
//===----------------------------------------------------------------------===//

static void scan(Check &check) {
  auto op = cast<chlo::ScanOp>(check.getOp());
  check.require(!op.getInputs().empty() || !op.getOutputs().empty(), "c1",
                "there are neither inputs nor outputs");
  check.require(op.getInits().size() == op.getCarries().size(), "c2", "there are ",
                op.getInits().size(), " initial values and ", op.getCarries().size(),
                " carried results");
  int64_t dim = op.getDimension();
  int64_t size =
      op.getScanDimSize() ? static_cast<int64_t>(*op.getScanDimSize()) : ShapedType::kDynamic;
  for (ValueRange values : {ValueRange(op.getInputs()), ValueRange(op.getOutputs())}) {
    for (Value value : values) {
      RankedTensorType type = arrayOf(value.getType());
      if (!check.require(type != nullptr, "c3", "an array is ", value.getType(),
                         ", expected a known rank") ||
          !check.inRange("c3", "dimension", dim, type.getRank())) {
        return;
      }
      check.require(sizesAgree(type.getDimSize(dim), size), "c4", "dimension ", dim, " of ", type,
                    " is scanned with size ", size);
      size = ShapedType::isDynamic(size) ? type.getDimSize(dim) : size;
    }
  }
}

/// The types without the scanned dimension, then the carried ones.
static SmallVector<Type> sliced(ValueRange arrays, ValueRange carried, int64_t dim) {
  SmallVector<Type> types;
  for (Value value : arrays) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape = llvm::to_vector(type.getShape());
    shape.erase(shape.begin() + dim);
    types.push_back(RankedTensorType::get(shape, type.getElementType()));
  }
  llvm::append_range(types, carried.getTypes());
  return types;
}

LogicalResult chlo::verifyRegionsOf(Operation *op) {
  auto scan = dyn_cast<ScanOp>(op);
  if (!scan) {
    return success();
  }
  Check check(op);
  int64_t dim = scan.getDimension();
  checkArguments(check, "c5", scan.getBody(), "the body",
                 sliced(scan.getInputs(), scan.getInits(), dim));
  checkReturned(check, "c6", scan.getBody(), "the body",
                sliced(scan.getOutputs(), scan.getCarries(), dim));
  return check.outcome();
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

static llvm::StringMap<ChloRow> makeTable() {
  constexpr unsigned numbers = Float | Complex;
  llvm::StringMap<ChloRow> table;
  auto add = [&](unsigned operands, unsigned results, Rule rule,
                 std::initializer_list<StringRef> names) {
    for (StringRef name : names) {
      table[name] = {operands, results, rule};
    }
  };
  add(numbers, numbers, sameTypes,
      {"acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i1e", "conj", "cosh", "sinh",
       "square", "tan"});
  add(Complex, Complex, sameTypes, {"_asin_acos_kernel"});
  add(Float, Float, sameTypes,
      {"digamma", "erf", "erf_inv", "erfc", "lgamma", "next_after", "polygamma", "zeta"});
  add(Float, Pred, sameShapes, {"is_inf", "is_neg_inf", "is_pos_inf"});
  add(Int, Int, sameTypes, {"mulhi"});
  add(AnyQuant, AnyQuant, broadcast,
      {"broadcast_add", "broadcast_atan2", "broadcast_divide", "broadcast_maximum",
       "broadcast_minimum", "broadcast_multiply", "broadcast_next_after", "broadcast_polygamma",
       "broadcast_power", "broadcast_remainder", "broadcast_shift_left",
       "broadcast_shift_right_arithmetic", "broadcast_shift_right_logical", "broadcast_subtract"});
  add(Pred | Int, AnyQuant, broadcast, {"broadcast_and", "broadcast_or", "broadcast_xor"});
  add(Float, Float, broadcast, {"broadcast_zeta"});
  add(Float, Complex, broadcastComplex, {"broadcast_complex"});
  add(AnyQuant, Pred, broadcastCompare, {"broadcast_compare"});
  add(AnyQuant, AnyQuant, broadcastSelect, {"broadcast_select"});
  add(Any, Any, constant, {"constant"});
  add(AnyQuant, AnyQuant, constantLike, {"constant_like"});
  add(AnyQuant, AnyQuant, raggedDot, {"ragged_dot"});
  add(AnyQuant, AnyQuant, scan, {"scan"});
  add(AnyQuant, AnyQuant, topK, {"top_k"});
  return table;
}

LogicalResult chlo::verifyOp(Operation *op) {
  static const llvm::StringMap<ChloRow> table = makeTable();
  auto entry = table.find(op->getName().stripDialect());
  if (entry == table.end()) {
    return success();
  }
  const ChloRow &row = entry->second;
  Check check(op);
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes())) {
    checkArray(check, "i" + std::to_string(i + 1), "operand " + std::to_string(i), type,
               row.operands);
  }
  for (auto [i, type] : llvm::enumerate(op->getResultTypes())) {
    if (check.hasFailed()) {
      break;
    }
    checkArray(check, "o" + std::to_string(i + 1), "result " + std::to_string(i), type,
               row.results);
  }
  if (!check.hasFailed()) {
    row.rule(check);
  }
  return check.outcome();
}
