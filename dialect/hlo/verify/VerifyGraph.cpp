//===- VerifyGraph.cpp - Checks between instructions and computations -----===//
//
// Checks the call graph, the pairs of asynchronous ops, the order of infeeds, and the devices of
// collectives. Single ops have been verified before.
//
//===----------------------------------------------------------------------===//
#include "compiler/support/Checked.h"
#include "dialect/hlo/Shapes.h"
#include "dialect/hlo/TextAttrs.h"
#include "dialect/hlo/verify/VerifyModule.h"

using namespace mlir;

namespace hlo {

//===----------------------------------------------------------------------===//
// Call graph
//===----------------------------------------------------------------------===//

namespace {
/// A call and its callee.
struct CallEdge {
  Operation *caller;
  ComputationOp callee;
};
} // namespace

static SmallVector<CallEdge> callsOf(ComputationOp computation, SymbolTable &symbols) {
  SmallVector<CallEdge> edges;
  computation->walk([&](Operation *op) {
    if (op == computation.getOperation()) {
      return;
    }
    auto visit = [&](FlatSymbolRefAttr reference) {
      if (auto callee = symbols.lookup<ComputationOp>(reference.getAttr())) {
        edges.push_back({op, callee});
      }
    };
    for (NamedAttribute attribute : op->getAttrs()) {
      if (auto reference = dyn_cast<FlatSymbolRefAttr>(attribute.getValue())) {
        visit(reference);
      } else if (isa<ArrayAttr, DictionaryAttr>(attribute.getValue())) {
        attribute.getValue().walk(visit);
      }
    }
  });
  return edges;
}

LogicalResult verifyCallGraph(ModuleOp module) {
  SymbolTable symbols(module);
  bool good = true;
  // Depth first; `open` holds the path to the current computation.
  struct Frame {
    ComputationOp computation;
    SmallVector<CallEdge> edges;
    size_t next = 0;
  };
  llvm::SmallDenseSet<Operation *> open, done;
  for (auto start : module.getOps<ComputationOp>()) {
    if (done.contains(start)) {
      continue;
    }
    SmallVector<Frame> path;
    path.push_back({start, callsOf(start, symbols)});
    open.insert(start);
    while (!path.empty()) {
      Frame &frame = path.back();
      if (frame.next == frame.edges.size()) {
        open.erase(frame.computation);
        done.insert(frame.computation);
        path.pop_back();
        continue;
      }
      CallEdge edge = frame.edges[frame.next++];
      if (edge.callee.getEntry()) {
        mlir::emitError(edge.caller->getLoc())
            << "the entry '" << edge.callee.getSymName() << "' is called [module_c12]";
        good = false;
      }
      if (open.contains(edge.callee)) {
        mlir::emitError(edge.caller->getLoc())
            << "computation '" << edge.callee.getSymName() << "' reaches itself [module_c13]";
        good = false;
      } else if (!done.contains(edge.callee)) {
        open.insert(edge.callee);
        path.push_back({edge.callee, callsOf(edge.callee, symbols)});
      }
    }
  }
  return success(good);
}

//===----------------------------------------------------------------------===//
// Asynchronous pairs
//===----------------------------------------------------------------------===//

/// The op that must produce the state operand of an update or a done; "" for other ops.
static std::string startOf(StringRef opName) {
  if (opName == "hlo.send_done" || opName == "hlo.recv_done") {
    return opName.drop_back(5).str();
  }
  if (opName == "hlo.async_update") {
    return "hlo.async_start";
  }
  return opName.consume_back("_done") ? (opName + "_start").str() : "";
}

/// True if a value may carry a state from elsewhere: through a tuple, a loop, a call or a
/// parameter.
static bool mayCarryState(Operation *producer) {
  return !producer || producer->getName().getStringRef() == "hlo.async_update" ||
         isa<GetTupleElementOp, WhileOp, ConditionalOp, CallOp, OptBarrierOp, DomainOp, BitcastOp,
             CopyOp, AddDependencyOp, FusionOp, CustomCallOp>(producer);
}

/// True if a start and its done must be directly connected; states of other ops may travel, for
/// instance around a loop.
static bool isTight(Operation *op) {
  return isa<CopyStartOp, CopyDoneOp, AllReduceStartOp, AllReduceDoneOp, AllGatherStartOp,
             AllGatherDoneOp, CollectivePermuteStartOp, CollectivePermuteDoneOp>(op);
}

static LogicalResult verifyDone(Operation *done) {
  std::string expected = startOf(done->getName().getStringRef());
  if (expected.empty() || done->getNumOperands() != 1) {
    return success();
  }
  Value state = done->getOperand(0);
  Operation *start = state.getDefiningOp();
  std::string opcode = hloOpcode(done->getName().getStringRef());
  auto parent = dyn_cast_if_present<ComputationOp>(done->getParentOp());
  if (!start && (isTight(done) || (parent && parent.getEntry()))) {
    InFlightDiagnostic diagnostic = mlir::emitError(done->getLoc())
                                    << opcode << ": the operand must come from "
                                    << hloOpcode(expected) << ", is a parameter [module_c14]";
    diagnostic.attachNote(state.getLoc()) << "the operand is defined here";
    return diagnostic;
  }
  if (mayCarryState(start) && !(start && isTight(done))) {
    return success();
  }
  if (start->getName().getStringRef() != expected) {
    InFlightDiagnostic diagnostic =
        mlir::emitError(done->getLoc())
        << opcode << ": the operand must come from " << hloOpcode(expected) << ", comes from "
        << hloOpcode(start->getName().getStringRef()) << " [module_c14]";
    diagnostic.attachNote(start->getLoc()) << "the operand is defined here";
    return diagnostic;
  }
  bool good = true;
  for (StringRef name : {"channel_id", "is_host_transfer"}) {
    if (!isa<SendDoneOp, RecvDoneOp>(done) || done->getAttr(name) == start->getAttr(name)) {
      continue;
    }
    auto text = [name](Operation *op) -> std::string {
      if (auto flag = op->getAttrOfType<BoolAttr>(name)) {
        return flag.getValue() ? "true" : "false";
      }
      auto value = op->getAttrOfType<IntegerAttr>(name);
      return value ? std::to_string(value.getInt())
                   : (name == "is_host_transfer" ? "false" : "absent");
    };
    if (text(done) == text(start)) {
      continue;
    }
    InFlightDiagnostic diagnostic = mlir::emitError(done->getLoc())
                                    << opcode << ": " << name << " is " << text(done)
                                    << ", its start has " << text(start) << " [module_c15]";
    diagnostic.attachNote(start->getLoc()) << "the start is here";
    good = false;
  }
  return success(good);
}

static bool isStart(Operation *op) {
  return isa<SendOp, RecvOp>(op) || op->getName().getStringRef().ends_with("_start");
}

static LogicalResult verifyStart(Operation *start) {
  if (!isStart(start) || start->getNumResults() != 1) {
    return success();
  }
  std::string opcode = hloOpcode(start->getName().getStringRef());
  if (start->use_empty()) {
    return mlir::emitError(start->getLoc()) << opcode << ": has no done [module_c16]";
  }
  Operation *first = nullptr;
  for (Operation *user : start->getUsers()) {
    auto parent = dyn_cast_if_present<ComputationOp>(start->getParentOp());
    bool isDone = !startOf(user->getName().getStringRef()).empty();
    bool leaves = isa<ReturnOp>(user) && parent && parent.getEntry();
    if (!isDone && (isTight(start) || leaves)) {
      InFlightDiagnostic diagnostic =
          mlir::emitError(start->getLoc())
          << opcode << ": only a done may use its state, "
          << (isa<ReturnOp>(user) ? "it is the result of the computation"
                                  : "it is used by " + hloOpcode(user->getName().getStringRef()))
          << " [module_c25]";
      diagnostic.attachNote(user->getLoc()) << "the use is here";
      return diagnostic;
    }
    if (!isDone) {
      continue;
    }
    if (first) {
      InFlightDiagnostic diagnostic = mlir::emitError(start->getLoc())
                                      << opcode << ": has two dones [module_c17]";
      diagnostic.attachNote(user->getLoc()) << "one is here";
      diagnostic.attachNote(first->getLoc()) << "another is here";
      return diagnostic;
    }
    first = user;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Feeds
//===----------------------------------------------------------------------===//

/// True if `to` depends on `from`, an earlier op of the same block.
static bool dependsOn(Operation *to, Operation *from) {
  SmallVector<Operation *> pending = {to};
  llvm::SmallDenseSet<Operation *> seen;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    if (op == from) {
      return true;
    }
    if (!seen.insert(op).second) {
      continue;
    }
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && !producer->isBeforeInBlock(from)) {
        pending.push_back(producer);
      }
    }
  }
  return false;
}

/// A feed delivers items in one order, so infeeds must form a chain of dependences. Infeeds of
/// empty items are exempt.
static LogicalResult verifyInfeeds(ComputationOp computation) {
  Operation *last = nullptr;
  bool good = true;
  for (Operation &op : computation.getBody().front()) {
    auto infeed = dyn_cast<InfeedOp>(op);
    if (!infeed) {
      continue;
    }
    SmallVector<Type> leaves = leafTypes(infeed->getResultTypes());
    if (!llvm::any_of(leaves, llvm::IsaPred<RankedTensorType>)) {
      continue;
    }
    if (last && !dependsOn(&op, last)) {
      InFlightDiagnostic diagnostic =
          mlir::emitError(op.getLoc())
          << "infeed: must depend on the one before it through its token [module_c18]";
      diagnostic.attachNote(last->getLoc()) << "the infeed before it is here";
      good = false;
    }
    last = &op;
  }
  return success(good);
}

LogicalResult verifyPairs(ModuleOp module) {
  bool good = true;
  for (auto computation : module.getOps<ComputationOp>()) {
    computation->walk([&](Operation *op) {
      good &= succeeded(verifyDone(op));
      good &= succeeded(verifyStart(op));
    });
    good &= succeeded(verifyInfeeds(computation));
  }
  return success(good);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// The largest device id in replica groups or permutation pairs; -1 if none.
static int64_t largestDevice(Operation *op) {
  int64_t largest = -1;
  auto consider = [&](FailureOr<IntegerLists> lists) {
    if (succeeded(lists)) {
      for (const IntegerList &list : *lists) {
        for (int64_t device : list) {
          largest = std::max(largest, device);
        }
      }
    }
  };
  if (auto groups = op->getAttrOfType<StringAttr>("replica_groups")) {
    consider(parseReplicaGroups(groups.getValue()));
  }
  if (auto pairs = op->getAttrOfType<StringAttr>("source_target_pairs")) {
    consider(parseIntegerLists(pairs.getValue()));
  }
  return largest;
}

/// The number of devices that an op's replica groups must contain, and what the devices are; 0 if
/// any number.
static std::pair<int64_t, StringRef> devicesOf(Operation *op, int64_t replicas,
                                               int64_t partitions) {
  if (!op->hasAttr("channel_id")) {
    return {replicas == 1 ? 0 : replicas, "replicas"};
  }
  // Only these ops say whether their groups hold replicas or devices.
  if (!isa<AllReduceOp, AllReduceStartOp, AllGatherOp, AllGatherStartOp, ReduceScatterOp>(op)) {
    return {partitions == 1 ? 0 : partitions, "partitions"};
  }
  auto global = op->getAttrOfType<BoolAttr>("use_global_device_ids");
  if (!global || !global.getValue()) {
    return {replicas == 1 ? 0 : replicas, "replicas"};
  }
  int64_t devices =
      checkedRanks(replicas, partitions).value_or(0); // module_c6 reports the error otherwise
  return {devices == 1 ? 0 : devices, "devices"};
}

/// Without groups all devices form one; an all-to-all then has a piece for each.
static LogicalResult verifyPieces(Operation *op, int64_t devices, StringRef what) {
  if (!isa<AllToAllOp>(op) || devices == 0) {
    return success();
  }
  int64_t pieces = op->getNumOperands();
  if (auto dimension = op->getAttrOfType<IntegerAttr>("dimension")) {
    RankedTensorType array = asArray(op->getOperand(0).getType());
    pieces = array ? array.getDimSize(dimension.getInt()) : devices;
    if (ShapedType::isDynamic(pieces) || pieces % devices == 0) {
      return success();
    }
    return mlir::emitError(op->getLoc())
           << "all-to-all: dim " << dimension.getInt() << " is " << pieces
           << ", must be divisible by the number of " << what << ", " << devices << " [module_c27]";
  }
  if (pieces == devices) {
    return success();
  }
  return mlir::emitError(op->getLoc()) << "all-to-all: has " << pieces << " operands, the module "
                                       << devices << " " << what << " [module_c27]";
}

/// Groups must contain every device, except those of a broadcast.
static LogicalResult verifyGroups(Operation *op, int64_t replicas, int64_t partitions) {
  if (isa<CollectiveBroadcastOp>(op)) {
    return success();
  }
  auto text = op->getAttrOfType<StringAttr>("replica_groups");
  FailureOr<IntegerLists> groups =
      text ? parseReplicaGroups(text.getValue()) : FailureOr<IntegerLists>(IntegerLists());
  if (failed(groups)) {
    return success();
  }
  auto [expected, what] = devicesOf(op, replicas, partitions);
  if (groups->empty()) {
    return verifyPieces(op, expected, what);
  }
  int64_t count = 0;
  for (const IntegerList &group : *groups) {
    count += group.size();
  }
  if (expected == 0 || count == expected) {
    return success();
  }
  return mlir::emitError(op->getLoc())
         << hloOpcode(op->getName().getStringRef()) << ": replica groups hold " << count
         << " ids, the module has " << expected << " " << what << " [module_c26]";
}

LogicalResult verifyCollectives(ModuleOp module) {
  auto count = [&](StringRef name) -> int64_t {
    auto value = module->getAttrOfType<IntegerAttr>(name);
    return value ? std::max<int64_t>(value.getInt(), 1) : 1;
  };
  int64_t replicas = count("hlo.replica_count"), partitions = count("hlo.num_partitions");
  // Often the number of replicas is stated only when the program starts.
  bool isDeclared = module->hasAttr("hlo.replica_count");
  bool good = true;
  AllReduceOp unconstrained, constrained;
  module->walk([&](Operation *op) {
    int64_t largest = isDeclared ? largestDevice(op) : -1;
    if (largest >= replicas && largest / replicas >= partitions) {
      mlir::emitError(op->getLoc()) << hloOpcode(op->getName().getStringRef()) << ": names device "
                                    << largest << ", the module has " << replicas
                                    << " replicas and " << partitions << " partitions [module_c19]";
      good = false;
    } else if (isDeclared && failed(verifyGroups(op, replicas, partitions))) {
      good = false;
    }
    if (auto allReduce = dyn_cast<AllReduceOp>(op)) {
      auto flag = op->getAttrOfType<BoolAttr>("constrain_layout");
      (flag && flag.getValue() ? constrained : unconstrained) = allReduce;
    }
  });
  if (constrained && unconstrained) {
    InFlightDiagnostic diagnostic =
        mlir::emitError(constrained.getLoc())
        << "all-reduce: constrain_layout is true, on another it is false [module_c20]";
    diagnostic.attachNote(unconstrained.getLoc()) << "the other is here";
    good = false;
  }
  return success(good);
}

} // namespace hlo
