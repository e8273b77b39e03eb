//===- LayoutGraph.cpp - Which arrays of a block are reordered ------------===//
//
// 1. Proposals. A convolution proposes features last for its input and its result. Each proposal
//    spreads over ops that work in any order (OrderRules.cpp), to convolutions and from these on.
//    The first proposal for an array stays.
// 2. A graph. An op is a node: it has the proposed order, or the row-major one. A convolution is
//    one for each array, as it reads and writes in different orders at no other cost than that of
//    its code, which `LayoutCosts` knows for all combinations. Between an op and the users of its
//    result in the other order a transpose is paid for, once for all of them.
// 3. A minimum cut: the exact optimum, since all costs are of pairs of nodes that differ.
// 4. Ops that are reordered and hang together are a region. One whose gain is not certain keeps its
//    orders as written, and so does one of a single convolution: its code packs what it reads in
//    another order itself, without an array more.
//
// The form is that of a binary labelling (D. M. Greig, B. T. Porteous, A. H. Seheult, Exact maximum
// a posteriori estimation for binary images, 1989). XLA's LayoutAssignment spreads constraints
// instead, and inserts a copy where they meet.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/layout/LayoutGraph.h"
#include "compiler/analysis/Shapes.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <cmath>

using namespace mlir;
using namespace hlo;

/// Edges that the cut may look at for each edge of the graph: networks take some tens.
static constexpr int64_t kLooksPerNode = 2000;

/// The model's error for one shape of convolution: it tells forms a quarter apart
/// (test/performance/NOTES.md, "The model of time"). Errors of different shapes are taken as
/// independent, those of equal shapes are equal.
static constexpr double kError = 0.2;

static bool isRowMajor(Value value, ArrayRef<int64_t> order) {
  return order.empty() || areSameBytes(shapeOf(value), order, rowMajor(order.size()));
}

static int64_t positions(Value array, ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) {
    count *= shapeOf(array)[dim];
  }
  return count;
}

/// Whether the convolution's features are those of a network's images. Those of a gradient with
/// respect to the kernel are images, its batch are features; so are few positions of a large
/// window.
static bool isForward(ConvolutionOp conv) {
  ConvDimsAttr dims = conv.getDimLabels();
  return positions(conv.getRhs(), dims.getKernelSpatial()) <=
         std::max<int64_t>(1, positions(conv.getResult(), dims.getOutputSpatial()));
}

bool LayoutGraph::propose() {
  bool any = false;
  for (auto conv : block.getOps<ConvolutionOp>()) {
    if (isForward(conv) && !proposals.contains(conv)) {
      ConvOrders orders = featuresLast(conv);
      any |=
          !isRowMajor(conv.getLhs(), orders.input) || !isRowMajor(conv.getResult(), orders.result);
    }
  }
  if (!any) {
    return false;
  }
  for (auto conv : block.getOps<ConvolutionOp>()) {
    if (!isForward(conv) || proposals.contains(conv)) {
      continue;
    }
    proposeConvolution(conv, featuresLast(conv).input);
    while (!work.empty()) {
      Value value = work.pop_back_val();
      Order order = orderOf[value];
      if (Operation *op = value.getDefiningOp()) {
        auto other = dyn_cast<ConvolutionOp>(op);
        if (other) {
          proposeConvolution(other, inputLikeResult(other, order));
        } else {
          proposeFor(op, mainFromResult(op, order));
        }
      }
      for (OpOperand &use : value.getUses()) {
        auto other = dyn_cast<ConvolutionOp>(use.getOwner());
        if (!other) {
          proposeFor(use.getOwner(),
                     mainFromOperand(use.getOwner(), use.getOperandNumber(), order));
        } else if (use.getOperandNumber() == 0) {
          proposeConvolution(other, order);
        }
      }
    }
  }
  return true;
}

void LayoutGraph::spread(Value value, ArrayRef<int64_t> order) {
  if (order.size() >= 2 && orderOf.try_emplace(value, order).second) {
    work.push_back(value);
  }
}

void LayoutGraph::proposeFor(Operation *op, std::optional<Order> main) {
  std::optional<OpOrders> orders =
      main && !proposals.contains(op) ? ordersOf(op, *main) : std::nullopt;
  if (!orders) {
    return;
  }
  proposals[op] = {*main, *orders, {}, kNone};
  for (auto [operand, order] : llvm::zip(op->getOperands(), orders->operands)) {
    spread(operand, order);
  }
  for (auto [result, order] : llvm::zip(op->getResults(), orders->results)) {
    spread(result, order);
  }
}

void LayoutGraph::proposeConvolution(ConvolutionOp conv, ArrayRef<int64_t> input) {
  if (proposals.contains(conv)) {
    return;
  }
  Order result = resultLikeInput(conv, input);
  proposals[conv] = {result, {{Order(input), {}}, {result}}, {}, kNone};
  spread(conv.getLhs(), input);
  spread(conv.getResult(), result);
}

int64_t LayoutGraph::cyclesOf(ConvolutionOp conv, const ConvOrders &orders) {
  Block scratch;
  auto add = [&](Value value, ArrayRef<int64_t> order) {
    return scratch.addArgument(
        HloBuilder::array(applied(order, shapeOf(value)), elementTypeOf(value)), conv.getLoc());
  };
  add(conv.getLhs(), orders.input);
  add(conv.getRhs(), orders.kernel);
  OpBuilder builder(conv.getContext());
  builder.setInsertionPointToEnd(&scratch);
  auto copy = cast<ConvolutionOp>(builder.clone(*conv));
  copy->setOperands(scratch.getArguments());
  reorderConvolution(copy, orders);
  std::vector<const void *> key;
  for (Type type : {copy.getLhs().getType(), copy.getRhs().getType(), copy.getResult().getType()}) {
    key.push_back(type.getAsOpaquePointer());
  }
  for (Attribute attribute :
       {Attribute(copy.getWindowAttr()), Attribute(copy.getDimLabels()),
        Attribute(copy.getFeatureGroupCountAttr()), Attribute(copy.getBatchGroupCountAttr())}) {
    key.push_back(attribute.getAsOpaquePointer());
  }
  auto [place, isNew] = known.try_emplace(key, 0);
  if (isNew) {
    place->second = std::llround(costs.convolution(copy));
  }
  return place->second;
}

/// The cycles of a convolution as a sum over its arrays that are reordered, and pairs of them.
void LayoutGraph::addConvolution(ConvolutionOp conv, Proposal &proposal) {
  Value arrays[] = {conv.getLhs(), conv.getRhs(), conv.getResult()};
  SmallVector<Order, 3> orders{proposal.orders.operands[0], {}, proposal.orders.results[0]};
  // A kernel that is an image: a gradient.
  if (auto found = orderOf.find(conv.getRhs()); found != orderOf.end()) {
    orders[1] = found->second;
    proposal.orders.operands[1] = found->second;
  }
  MinCut::Node nodes[3];
  for (int i = 0; i < 3; ++i) {
    nodes[i] = isRowMajor(arrays[i], orders[i]) ? kNone : cut.addNode();
  }
  proposal.operandNodes = {nodes[0], nodes[1]};
  proposal.resultNode = nodes[2];
  auto cycles = [&](unsigned reordered) {
    auto orderAt = [&](int i) {
      return reordered >> i & 1 ? orders[i] : rowMajor(rankOf(arrays[i]));
    };
    return cyclesOf(conv, {orderAt(0), orderAt(1), orderAt(2)});
  };
  int64_t none = cycles(0), alone[3] = {};
  for (MinCut::Node node : nodes) {
    if (node != kNone) {
      written[node] = {conv, none};
    }
  }
  for (int i = 0; i < 3; ++i) {
    alone[i] = nodes[i] != kNone ? cycles(1 << i) - none : 0;
  }
  for (auto [i, j] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
    if (nodes[i] == kNone || nodes[j] == kNone) {
      continue;
    }
    // What both gain beside what each gains. A loss is not a cost of nodes that differ: it counts
    // for one of them alone.
    int64_t both = cycles(1 << i | 1 << j) - none - alone[i] - alone[j];
    alone[i] += both;
    cut.addPair(nodes[i], nodes[j], -both);
  }
  for (int i = 0; i < 3; ++i) {
    if (nodes[i] != kNone) {
      cut.addYes(nodes[i], alone[i]);
      cut.addNo(nodes[i], -alone[i]);
    }
  }
}

/// Arrays that are made in any order at no cost. A transpose of a constant stays in the program.
static bool isMadeAnyhow(Operation *op) { return isa_and_nonnull<IotaOp, BroadcastOp>(op); }

/// Whether a dot reads an operand in this order without a transpose: the rules of dots take it in
/// if the free dimensions keep theirs.
static bool isReadInPlace(OpOperand &use, ArrayRef<int64_t> order) {
  auto dot = dyn_cast<DotOp>(use.getOwner());
  if (!dot) {
    return false;
  }
  bool isLhs = use.getOperandNumber() == 0;
  auto batch = isLhs ? dot.getLhsBatchDims() : dot.getRhsBatchDims();
  auto contracting = isLhs ? dot.getLhsContractingDims() : dot.getRhsContractingDims();
  int64_t last = -1;
  for (int64_t dim : order) {
    if ((batch && llvm::is_contained(*batch, dim)) ||
        (contracting && llvm::is_contained(*contracting, dim))) {
      continue;
    }
    if (dim < last) {
      return false;
    }
    last = dim;
  }
  return true;
}

/// The transposes between an array and its users.
void LayoutGraph::addUses(Value value) {
  Operation *maker = value.getDefiningOp();
  if (!arrayType(value) || isMadeAnyhow(maker)) {
    return;
  }
  MinCut::Node made = kNone;
  Order madeOrder;
  if (auto found = proposals.find(maker); maker && found != proposals.end()) {
    madeOrder = found->second.orders.results[cast<OpResult>(value).getResultNumber()];
    made = isRowMajor(value, madeOrder) ? kNone : found->second.resultNode;
  }
  int64_t cycles = std::llround(costs.transpose(arrayType(value)));
  MinCut::Node plain = kNone; // no if a user wants the row-major array
  auto wantPlain = [&](MinCut::Node user) {
    if (made == kNone) {
      return;
    }
    if (plain == kNone) {
      plain = cut.addNode();
      cut.addPair(made, plain, cycles);
    }
    user == kNone ? cut.addYes(plain, MinCut::kNever) : cut.addPair(plain, user, MinCut::kNever);
  };
  SmallVector<std::pair<Order, MinCut::Node>> turned; // yes if a user wants this order
  for (OpOperand &use : value.getUses()) {
    auto found = proposals.find(use.getOwner());
    MinCut::Node user = kNone;
    Order wanted;
    if (found != proposals.end()) {
      user = found->second.operandNodes[use.getOperandNumber()];
      wanted = found->second.orders.operands[use.getOperandNumber()];
    }
    if (user == kNone || isRowMajor(value, wanted)) {
      if (made == kNone || !isReadInPlace(use, madeOrder)) {
        wantPlain(kNone);
      }
      continue;
    }
    wantPlain(user);
    auto *place = llvm::find_if(
        turned, [&](auto &pair) { return areSameBytes(shapeOf(value), pair.first, wanted); });
    if (place == turned.end()) {
      turned.push_back({wanted, cut.addNode()});
      place = &turned.back();
      if (made != kNone && areSameBytes(shapeOf(value), madeOrder, wanted)) {
        cut.addPair(place->second, made, cycles);
      } else {
        cut.addYes(place->second, cycles);
      }
    }
    cut.addPair(user, place->second, MinCut::kNever);
  }
}

void LayoutGraph::rejectUncertain() {
  for (const MinCut::Region &region : cut.regions()) {
    llvm::SmallPtrSet<Operation *, 8> convolutions;
    llvm::MapVector<int64_t, double> ofShapes; // equal cycles are taken as an equal shape
    for (MinCut::Node node : region.nodes) {
      auto found = written.find(node);
      if (found != written.end() && convolutions.insert(found->second.first).second) {
        ofShapes[found->second.second] += static_cast<double>(found->second.second);
      }
    }
    double squares = 0;
    for (auto &entry : ofShapes) {
      squares += entry.second * entry.second;
    }
    bool isCertain = static_cast<double>(region.saved) > kError * std::sqrt(squares);
    if (!isCertain || convolutions.size() < 2) {
      cut.reject(region);
    }
  }
}

bool LayoutGraph::choose() {
  for (auto &[op, proposal] : proposals) {
    if (auto conv = dyn_cast<ConvolutionOp>(op)) {
      addConvolution(conv, proposal);
      continue;
    }
    MinCut::Node node = cut.addNode();
    proposal.resultNode = node;
    proposal.operandNodes.assign(op->getNumOperands(), node);
    if (auto transpose = dyn_cast<TransposeOp>(op);
        transpose && !isRowMajor(transpose.getOperand(), Order(transpose.getDimensions()))) {
      cut.addNo(node, std::llround(costs.transpose(arrayType(transpose.getResult()))));
    }
  }
  for (BlockArgument argument : block.getArguments()) {
    addUses(argument);
  }
  for (Operation &op : block) {
    for (Value result : op.getResults()) {
      addUses(result);
    }
  }
  if (!cut.solve(kLooksPerNode * static_cast<int64_t>(proposals.size()))) {
    return false;
  }
  rejectUncertain();
  return llvm::any_of(proposals, [&](auto &entry) { return isYes(entry.second.resultNode); });
}

ArrayRef<int64_t> LayoutGraph::chosenOperand(Operation *op, unsigned number) const {
  auto found = proposals.find(op);
  bool isChosen = found != proposals.end() && isYes(found->second.operandNodes[number]);
  return isChosen ? ArrayRef<int64_t>(found->second.orders.operands[number]) : ArrayRef<int64_t>();
}

ArrayRef<int64_t> LayoutGraph::chosenResult(Operation *op, unsigned number) const {
  auto found = proposals.find(op);
  bool isChosen = found != proposals.end() && isYes(found->second.resultNode);
  return isChosen ? ArrayRef<int64_t>(found->second.orders.results[number]) : ArrayRef<int64_t>();
}

void LayoutGraph::apply(Operation *op) const {
  auto found = proposals.find(op);
  if (found == proposals.end()) {
    return;
  }
  const Proposal &proposal = found->second;
  auto conv = dyn_cast<ConvolutionOp>(op);
  if (!conv) {
    if (isYes(proposal.resultNode)) {
      reorderOp(op, proposal.main, proposal.orders);
    }
    return;
  }
  auto orRowMajor = [](ArrayRef<int64_t> order, Value array) {
    return order.empty() ? rowMajor(rankOf(array)) : Order(order);
  };
  reorderConvolution(conv, {orRowMajor(chosenOperand(op, 0), conv.getLhs()),
                            orRowMajor(chosenOperand(op, 1), conv.getRhs()),
                            orRowMajor(chosenResult(op, 0), conv.getResult())});
}
