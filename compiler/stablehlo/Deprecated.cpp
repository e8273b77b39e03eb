//===- Deprecated.cpp - Rules of ops that have a newer form ---------------===//
//
//   einsum("abc,cd->db")      each operand summed over labels that are nowhere else; the dot of both,
//                             batches of labels that all have, contracting those that the result
//                             lacks; transposed into the result's order
//   unary_einsum("ab->b")     the same of one operand
//   torch_index_select        gather of slices along one dimension
//   cross-replica-sum         all-reduce by add
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Rules.h"
#include "compiler/stablehlo/Text.h"
#include "dialect/hlo/Shapes.h"
#include "dialect/stablehlo/Dialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;
using llvm::StringRef;

namespace {
/// An array whose dimensions have letters.
struct Labelled {
  Value value;
  std::string labels;
};
} // namespace

/// The positions of the labels of `x` that are, or are not, in `others`.
static SmallVector<int64_t> positions(const Labelled &x, StringRef others, bool contained) {
  SmallVector<int64_t> found;
  for (auto [i, label] : llvm::enumerate(x.labels)) {
    if (others.contains(label) == contained) {
      found.push_back(i);
    }
  }
  return found;
}

/// The dot of two arrays: dimensions are batches, free ones of lhs, free ones of rhs.
static Labelled dotOf(Converter &c, const Labelled &lhs, const Labelled &rhs, StringRef result,
                      Type element) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsSums, rhsSums, shape;
  Labelled made;
  for (auto [i, label] : llvm::enumerate(lhs.labels)) {
    size_t other = rhs.labels.find(label);
    if (other == std::string::npos) {
      continue;
    }
    bool isBatch = result.contains(label);
    (isBatch ? lhsBatch : lhsSums).push_back(i);
    (isBatch ? rhsBatch : rhsSums).push_back(other);
    if (isBatch) {
      made.labels += label;
      shape.push_back(HloBuilder::type(lhs.value).getDimSize(i));
    }
  }
  for (const auto &[own, other] : {std::pair(&lhs, &rhs), std::pair(&rhs, &lhs)}) {
    for (int64_t i : positions(*own, other->labels, /*contained=*/false)) {
      made.labels += own->labels[i];
      shape.push_back(HloBuilder::type(own->value).getDimSize(i));
    }
  }
  SmallVector<NamedAttribute> attributes;
  addDims(c, "lhs_batch_dims", lhsBatch, attributes);
  addDims(c, "rhs_batch_dims", rhsBatch, attributes);
  addDims(c, "lhs_contracting_dims", lhsSums, attributes);
  addDims(c, "rhs_contracting_dims", rhsSums, attributes);
  made.value =
      c.create("hlo.dot", HloBuilder::array(shape, element), {lhs.value, rhs.value}, attributes);
  return made;
}

/// The array summed over dimensions whose labels `kept` lacks: its dot with ones.
static Labelled summed(Converter &c, const Labelled &x, StringRef kept) {
  SmallVector<int64_t> gone = positions(x, kept, /*contained=*/false), sizes;
  if (gone.empty()) {
    return x;
  }
  RankedTensorType type = HloBuilder::type(x.value);
  Labelled ones;
  for (int64_t i : gone) {
    ones.labels += x.labels[i];
    sizes.push_back(type.getDimSize(i));
  }
  ones.value = c.hlo().broadcastScalar(c.hlo().scalar(type.getElementType(), 1), sizes);
  return dotOf(c, x, ones, kept, type.getElementType());
}

/// The labels of an array in an equation, without spaces; an error if they do not fit its type.
static FailureOr<std::string> readLabels(Operation *op, StringRef text, RankedTensorType type,
                                         StringRef of) {
  std::string labels;
  for (char letter : text) {
    if (letter == ' ') {
      continue;
    }
    if (!llvm::isAlpha(letter)) {
      return op->emitOpError() << "has '" << letter << "' in its equation; supported are letters";
    }
    if (StringRef(labels).contains(letter)) {
      return op->emitOpError() << "repeats label '" << letter << "' of the " << of
                               << ", which is not supported";
    }
    labels += letter;
  }
  if (type.getRank() != int64_t(labels.size())) {
    return op->emitOpError() << "has " << labels.size() << " labels for the " << of
                             << ", an array of rank " << type.getRank();
  }
  return labels;
}

static LogicalResult convertEquation(Converter &c, Operation *op, StringRef equation) {
  auto arrow = equation.find("->");
  if (arrow == StringRef::npos) {
    return op->emitOpError() << "has an equation without '->'";
  }
  SmallVector<StringRef, 2> sides;
  equation.take_front(arrow).split(sides, ',');
  if (sides.size() != op->getNumOperands()) {
    return op->emitOpError() << "has an equation of " << sides.size() << " operands";
  }
  RankedTensorType wanted = c.array(op->getResult(0));
  if (!wanted.getElementType().isIntOrFloat() || wanted.getElementType().isInteger(1)) {
    if (!isa<ComplexType>(wanted.getElementType())) {
      return op->emitOpError() << "has elements that cannot be multiplied and added";
    }
  }
  FailureOr<std::string> result = readLabels(op, equation.drop_front(arrow + 2), wanted, "result");
  SmallVector<Labelled, 2> operands;
  llvm::StringMap<int64_t> sizes;
  auto checkSizes = [&](StringRef labels, RankedTensorType type) -> LogicalResult {
    for (auto [i, label] : llvm::enumerate(labels)) {
      auto [known, isNew] = sizes.try_emplace(StringRef(&label, 1), type.getDimSize(i));
      if (known->second != type.getDimSize(i)) {
        return op->emitOpError() << "has sizes " << known->second << " and " << type.getDimSize(i)
                                 << " for label '" << label << "'";
      }
    }
    return success();
  };
  for (auto [side, operand] : llvm::zip(sides, op->getOperands())) {
    FailureOr<std::string> labels = readLabels(op, side, c.array(operand), "operand");
    if (failed(result) || failed(labels) || failed(checkSizes(*labels, c.array(operand)))) {
      return failure();
    }
    operands.push_back({c.get(operand), *labels});
  }
  for (char label : *result) {
    if (!sizes.count(StringRef(&label, 1))) {
      return op->emitOpError() << "has label '" << label << "' in the result alone";
    }
  }
  if (failed(checkSizes(*result, wanted))) {
    return failure();
  }
  Labelled made;
  if (operands.size() == 1) {
    made = summed(c, operands[0], *result);
  } else {
    Labelled lhs = summed(c, operands[0], *result + operands[1].labels);
    Labelled rhs = summed(c, operands[1], *result + operands[0].labels);
    made = dotOf(c, lhs, rhs, *result, wanted.getElementType());
  }
  SmallVector<int64_t> order;
  for (char label : *result) {
    order.push_back(made.labels.find(label));
  }
  Value turned = c.hlo().convert(c.hlo().transpose(made.value, order), wanted.getElementType());
  return c.bind(op, turned);
}

static LogicalResult convertEinsum(Converter &c, stablehlo::EinsumOp op) {
  return convertEquation(c, op, op.getEinsumConfig());
}

static LogicalResult convertUnaryEinsum(Converter &c, stablehlo::UnaryEinsumOp op) {
  return convertEquation(c, op, op.getEinsumConfig());
}

/// r[b..., i..., j..., k...] = x[b..., i..., index[b..., j...], k...]
static LogicalResult convertIndexSelect(Converter &c, stablehlo::TorchIndexSelectOp op) {
  RankedTensorType x = c.array(op.getOperand()), index = c.array(op.getIndex());
  RankedTensorType wanted = c.array(op->getResult(0));
  int64_t batch = op.getBatchDims(), rank = x.getRank();
  int64_t dim = op.getDim() < 0 ? op.getDim() + rank : op.getDim();
  if (batch < 0 || batch > dim || dim >= rank || batch > index.getRank() ||
      !isa<IntegerType>(index.getElementType()) || index.getElementType().isInteger(1)) {
    return op.emitOpError() << "selects along dimension " << op.getDim() << " of " << hloText(x)
                            << " behind " << batch << " batch dimensions by " << hloText(index)
                            << "; expected batch_dims <= dim < rank, and integers";
  }
  SmallVector<int64_t> shape(x.getShape().take_front(dim)), sizes(x.getShape()), offsets, batches;
  llvm::append_range(shape, index.getShape().drop_front(batch));
  llvm::append_range(shape, x.getShape().drop_front(dim + 1));
  if (x.getShape().take_front(batch) != index.getShape().take_front(batch) ||
      wanted.getShape() != ArrayRef(shape) || wanted.getElementType() != x.getElementType()) {
    return op.emitOpError() << "of " << hloText(x) << " and " << hloText(index) << " gives "
                            << hloText(wanted) << ", expected sizes "
                            << hloText(HloBuilder::array(shape, x.getElementType()));
  }
  for (int64_t i = 0; i < rank; ++i) {
    if (i < batch) {
      batches.push_back(i);
    }
    if (i < batch || i == dim) {
      sizes[i] = std::min<int64_t>(sizes[i], 1);
    } else {
      offsets.push_back(i < dim ? i : i - 1 + index.getRank() - batch);
    }
  }
  SmallVector<NamedAttribute> attributes{
      c.dims("offset_dims", offsets), c.dims("collapsed_slice_dims", {dim}),
      c.dims("start_index_map", {dim}), c.integer("index_vector_dim", index.getRank()),
      c.dims("slice_sizes", sizes)};
  addDims(c, "operand_batching_dims", batches, attributes);
  addDims(c, "start_indices_batching_dims", batches, attributes);
  return c.bind(op, c.create("hlo.gather", wanted, {c.get(op.getOperand()), c.get(op.getIndex())},
                             attributes));
}

static LogicalResult convertCrossReplicaSum(Converter &c, stablehlo::CrossReplicaSumOp op) {
  OpBuilder b(op);
  OperationState state(op.getLoc(), stablehlo::AllReduceOp::getOperationName());
  state.addOperands(op.getOperand());
  state.addTypes(op->getResultTypes());
  state.addAttribute("replica_groups", op.getReplicaGroupsAttr());
  state.addRegion();
  Operation *made = b.create(state);
  Block &body = made->getRegion(0).emplaceBlock();
  auto scalar =
      RankedTensorType::get({}, cast<RankedTensorType>(op.getOperand().getType()).getElementType());
  body.addArguments({scalar, scalar}, {op.getLoc(), op.getLoc()});
  b.setInsertionPointToEnd(&body);
  OperationState sum(op.getLoc(), stablehlo::AddOp::getOperationName());
  sum.addOperands(body.getArguments());
  sum.addTypes(scalar);
  OperationState end(op.getLoc(), stablehlo::ReturnOp::getOperationName());
  end.addOperands(b.create(sum)->getResults());
  b.create(end);
  if (failed(Rules::get().find(made)(c, made))) {
    return failure();
  }
  return c.bind(op, c.get(made->getResult(0)));
}

void hlo::stable::addDeprecatedRules(Rules &rules) {
  rules.add<stablehlo::CrossReplicaSumOp, convertCrossReplicaSum>();
  rules.add<stablehlo::EinsumOp, convertEinsum>();
  rules.add<stablehlo::TorchIndexSelectOp, convertIndexSelect>();
  rules.add<stablehlo::UnaryEinsumOp, convertUnaryEinsum>();
}
