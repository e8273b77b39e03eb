//===- Dot.cpp - Rules of products ----------------------------------------===//
#include "dialect/stablehlo/rules/Rule.h"

using namespace mlir;
using namespace stablehlo;

static void precisions(Check &check, StringRef label, std::optional<ArrayAttr> config) {
  if (config) {
    check.require(config->size() <= 2, label, "precision_config has ", config->size(),
                  " entries, expected at most one for each operand");
  }
}

/// c13 to c20.
static void productElements(Check &check, ArrayRef<int64_t> rhsContracting) {
  ProductLabels labels = {"c13", "c14", "c17", "c18", "c19", "c20"};
  if (!checkProductElements(check, labels, check.operand(0), check.operand(1), check.result())) {
    return;
  }
  Type rhs = check.operand(1).getElementType();
  auto axis = dyn_cast<quant::UniformQuantizedPerAxisType>(rhs);
  auto one = dyn_cast<quant::UniformQuantizedType>(rhs);
  bool isZero = one ? one.getZeroPoint() == 0
                    : llvm::all_of(axis.getZeroPoints(), [](int64_t zero) { return zero == 0; });
  check.require(isZero, "c15", "rhs has a zero point other than 0: ", rhs);
  check.require(!axis || !llvm::is_contained(rhsContracting, axis.getQuantizedDimension()), "c16",
                "rhs is quantized along a contracting dimension: ", rhs);
}

static void algorithm(Check &check, DotGeneralOp op) {
  DotAlgorithmAttr attribute = op.getAlgorithmAttr();
  if (!attribute) {
    return;
  }
  bool isDefault = llvm::all_of(
      op.getPrecisionConfig().value_or(ArrayAttr::get(op.getContext(), {})),
      [](Attribute entry) { return cast<PrecisionAttr>(entry).getValue() == Precision::DEFAULT; });
  check.require(isDefault, "c21", "an algorithm and a precision other than DEFAULT are given");
  check.require(attribute.getLhsComponentCount() > 0, "c22", "lhs_component_count is ",
                attribute.getLhsComponentCount());
  check.require(attribute.getRhsComponentCount() > 0, "c23", "rhs_component_count is ",
                attribute.getRhsComponentCount());
  check.require(attribute.getNumPrimitiveOperations() > 0, "c24", "num_primitive_operations is ",
                attribute.getNumPrimitiveOperations());
  for (auto [label, type] : {std::pair("i8", attribute.getLhsPrecisionType()),
                             std::pair("i9", attribute.getRhsPrecisionType()),
                             std::pair("i10", attribute.getAccumulationType())}) {
    check.require(isa<FloatType>(type), label, "the algorithm has type ", type,
                  ", expected a float type");
  }
}

static void dotGeneral(Check &check) {
  auto op = cast<DotGeneralOp>(check.getOp());
  DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  ArrayRef<int64_t> lhsBatch = numbers.getLhsBatchingDimensions(),
                    rhsBatch = numbers.getRhsBatchingDimensions(),
                    lhsContracting = numbers.getLhsContractingDimensions(),
                    rhsContracting = numbers.getRhsContractingDimensions();
  precisions(check, "c11", op.getPrecisionConfig());
  algorithm(check, op);
  SmallVector<int64_t> lhsUsed = joined({lhsBatch, lhsContracting}),
                       rhsUsed = joined({rhsBatch, rhsContracting});
  bool valid =
      check.require(lhsBatch.size() == rhsBatch.size(), "c1", "there are ", lhsBatch.size(),
                    " batching dimensions of lhs, ", rhsBatch.size(), " of rhs");
  valid &= check.require(lhsContracting.size() == rhsContracting.size(), "c2", "there are ",
                         lhsContracting.size(), " contracting dimensions of lhs, ",
                         rhsContracting.size(), " of rhs");
  valid &= check.unique("c3", "the list of lhs's batching and contracting dimensions", lhsUsed);
  valid &= check.unique("c4", "the list of rhs's batching and contracting dimensions", rhsUsed);
  valid &= check.inRange("c5", "lhs_batching_dimensions", lhsBatch, lhs.getRank());
  valid &= check.inRange("c6", "lhs_contracting_dimensions", lhsContracting, lhs.getRank());
  valid &= check.inRange("c7", "rhs_batching_dimensions", rhsBatch, rhs.getRank());
  valid &= check.inRange("c8", "rhs_contracting_dimensions", rhsContracting, rhs.getRank());
  if (!valid) {
    return;
  }
  auto match = [&](StringRef label, StringRef kind, ArrayRef<int64_t> l, ArrayRef<int64_t> r) {
    for (auto [a, b] : llvm::zip_equal(l, r)) {
      check.require(sizesAgree(lhs.getDimSize(a), rhs.getDimSize(b)), label, kind,
                    " dimensions differ: dimension ", a, " of lhs has size ", lhs.getDimSize(a),
                    ", dimension ", b, " of rhs ", rhs.getDimSize(b));
    }
  };
  match("c9", "batching", lhsBatch, rhsBatch);
  match("c10", "contracting", lhsContracting, rhsContracting);
  SmallVector<int64_t> expected;
  for (auto [l, r] : llvm::zip_equal(lhsBatch, rhsBatch)) {
    expected.push_back(ShapedType::isDynamic(lhs.getDimSize(l)) ? rhs.getDimSize(r)
                                                                : lhs.getDimSize(l));
  }
  for (auto [type, used] : {std::pair(lhs, lhsUsed), std::pair(rhs, rhsUsed)}) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (!llvm::is_contained(used, dim)) {
        expected.push_back(type.getDimSize(dim));
      }
    }
  }
  check.resultShape("c12", expected);
  productElements(check, rhsContracting);
}

/// dot: vectors and matrices, the last dimension of lhs with the first of rhs.
static void dot(Check &check) {
  auto op = cast<DotOp>(check.getOp());
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  precisions(check, "c11", op.getPrecisionConfig());
  bool valid = lhs.getRank() >= 1 && lhs.getRank() <= 2 && rhs.getRank() >= 1 && rhs.getRank() <= 2;
  if (!check.require(valid, "c1", "lhs is ", lhs, ", rhs ", rhs,
                     ", expected vectors or matrices")) {
    return;
  }
  check.require(sizesAgree(lhs.getShape().back(), rhs.getShape().front()), "c10",
                "contracting dimensions differ: lhs is ", lhs, ", rhs ", rhs);
  SmallVector<int64_t> expected = llvm::to_vector(lhs.getShape().drop_back());
  llvm::append_range(expected, rhs.getShape().drop_front());
  check.resultShape("c12", expected);
}

ArrayRef<Row> stablehlo::dotRows() {
  static constexpr unsigned operands[] = {Any, AnyQuant};
  static constexpr unsigned any[] = {Any};
  static const Row rows[] = {
      {"dot", operands, AnyQuant, dot},    {"dot_general", operands, AnyQuant, dotGeneral},
      {"einsum", any, Any, nullptr},       {"torch_index_select", any, Any, nullptr},
      {"unary_einsum", any, Any, nullptr},
  };
  return rows;
}
