//===- RuntimeOps.cpp - Buffers and scratch memory of runtime ops ---------===//
//
// In: the runtime ops of a fused module. Out: which of their results share a buffer with an
// operand, the scratch memory they need, the types their callee sees.
//
//   custom-call               in place where output_to_operand_aliasing says so
//   ragged-all-to-all         in place: the result is the second operand, updated
//   collective-permute        of slices the same; otherwise a result must not share an
//                             operand's buffer, since peers read the operand while others
//                             write the result
//   all-reduce, -broadcast    may share: each part of an operand is read only by the rank that
//                             then overwrites it
//   the same, asynchronous    all-reduce in place if nothing else reads the operand, since the
//                             operand must stay until the end of the op; otherwise its own buffer
//   collective-done           reads results and operands of its collective, and its scratch memory,
//                             so that all of them stay until then
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/schedule/RuntimeOps.h"
#include "compiler/analysis/AsyncPairs.h"
#include "compiler/analysis/OpKinds.h"
#include "compiler/analysis/Prepared.h"
#include "compiler/analysis/Shapes.h"
#include "dialect/hlo/TextAttrs.h"

using namespace mlir;
using namespace hlo;

/// Limits of the scratch memory of a reduction over a transport that does not share memory, which
/// transfers pieces of this size one after the other.
static constexpr int64_t leastScratch = 1 << 14, mostScratch = 1 << 20;
/// The limit for an asynchronous reduction, which exchanges at its start what the memory has room
/// for, and the rest at its end.
static constexpr int64_t mostAsyncScratch = 8 << 20;

static int64_t countLeaves(Type type) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    int64_t count = 0;
    for (Type element : tuple.getTypes()) {
      count += countLeaves(element);
    }
    return count;
  }
  return isa<TokenType>(type) ? 0 : 1;
}

/// The number of the leaf at `path` of element `first` of a list of types; -1 if there is none.
static int64_t leafNumber(ArrayRef<Type> types, ArrayRef<int64_t> path) {
  int64_t number = 0;
  while (!path.empty()) {
    int64_t index = path.front();
    if (index < 0 || index >= int64_t(types.size())) {
      return -1;
    }
    for (Type before : types.take_front(index)) {
      number += countLeaves(before);
    }
    Type type = types[index];
    path = path.drop_front();
    auto tuple = dyn_cast<TupleType>(type);
    if (!tuple) {
      return path.empty() && !isa<TokenType>(type) ? number : -1;
    }
    types = tuple.getTypes();
  }
  return types.size() == 1 && countLeaves(types[0]) == 1 ? number : -1;
}

static SmallVector<Type> typesOf(Operation *op, StringRef name, TypeRange otherwise) {
  auto list = op->getAttrOfType<ArrayAttr>(name);
  if (!list) {
    return SmallVector<Type>(otherwise);
  }
  return llvm::map_to_vector(list, [](Attribute type) { return cast<TypeAttr>(type).getValue(); });
}

SmallVector<Type> schedule::runtimeOperandTypes(Operation *op) {
  return typesOf(op, "operand_leaves", op->getOperandTypes());
}

SmallVector<Type> schedule::runtimeResultTypes(Operation *op) {
  return typesOf(op, "result_leaves", op->getResultTypes());
}

/// The pairs of output_to_operand_aliasing, which uses tuple indices, as leaf numbers.
static FailureOr<SmallVector<int64_t>> customCallPairs(CustomCallOp call) {
  SmallVector<int64_t> pairs;
  std::optional<StringRef> text = call.getOutputToOperandAliasing();
  if (!text || text->empty()) {
    return pairs;
  }
  FailureOr<SmallVector<Alias>> aliases = parseAliases(*text);
  if (failed(aliases)) {
    return call.emitError("output_to_operand_aliasing is malformed: ") << *text;
  }
  SmallVector<Type> operands = typesOf(call, "operand_types", call->getOperandTypes());
  SmallVector<Type> results = typesOf(call, "result_types", call->getResultTypes());
  for (const Alias &alias : *aliases) {
    SmallVector<int64_t> from{alias.parameter}, to(alias.output);
    llvm::append_range(from, alias.parameterIndex);
    // A custom call has one result; an output index starts inside it.
    if (results.size() == 1) {
      to.insert(to.begin(), 0);
    }
    int64_t operand = leafNumber(operands, from), result = leafNumber(results, to);
    if (operand < 0 || operand >= call->getNumOperands() || result < 0 ||
        result >= call->getNumResults()) {
      return call.emitError("output_to_operand_aliasing names no array: ") << *text;
    }
    if (bytesOf(call->getOperand(operand)) != bytesOf(call->getResult(result))) {
      return call.emitError("output_to_operand_aliasing pairs arrays of ")
             << bytesOf(call->getResult(result)) << " and " << bytesOf(call->getOperand(operand))
             << " bytes";
    }
    pairs.append({result, operand});
  }
  return pairs;
}

/// Whether a computation gives up its argument: it is a loop's carry that has another value in the
/// next iteration.
static bool isReplacedCarry(BlockArgument argument) {
  Block &block = *argument.getOwner();
  OperandRange next = block.getTerminator()->getOperands();
  return !isRoot(cast<ComputationOp>(block.getParentOp())) &&
         next.size() == block.getNumArguments() && next[argument.getArgNumber()] != argument;
}

/// Whether two ops alone read the array, the start and the end of an asynchronous collective, and
/// its buffer can be overwritten.
static bool isReadOnce(Value operand, Operation *start, Operation *done) {
  Operation *producer = operand.getDefiningOp();
  bool isOwn = producer ? !isa<ConstantOp, BitcastOp>(producer)
                        : isReplacedCarry(cast<BlockArgument>(operand));
  return isOwn && llvm::count(start->getOperands(), operand) == 1 &&
         llvm::all_of(operand.getUsers(),
                      [&](Operation *user) { return user == start || user == done; });
}

/// Gives an asynchronous all-reduce the buffers of the operands that nothing else reads. The end of
/// the op then no longer keeps them.
static void shareOperands(CollectiveDoneOp done, SmallVectorImpl<int64_t> &inPlace) {
  Operation *start = startOf(done);
  SmallVector<Value> kept(start->getResults());
  for (auto [i, operand] : llvm::enumerate(start->getOperands())) {
    if (isa<AllReduceOp>(start) && isReadOnce(operand, start, done)) {
      inPlace.append({int64_t(i), int64_t(i)});
    } else if (!llvm::is_contained(kept, operand)) {
      kept.push_back(operand);
    }
  }
  done->setOperands(kept);
}

LogicalResult schedule::markRuntimeOps(ModuleOp module) {
  Builder b(module.getContext());
  WalkResult walked = module.walk([&](Operation *op) {
    if (!isRuntimeOp(op)) {
      return WalkResult::advance();
    }
    SmallVector<int64_t> inPlace, mayAlias;
    if (op->hasAttr(kAsyncAttr)) {
      auto done = op->getNumResults() && op->getResult(0).hasOneUse()
                      ? dyn_cast<CollectiveDoneOp>(*op->user_begin())
                      : CollectiveDoneOp();
      if (!done || startOf(done) != op) {
        op->emitError("internal error: an asynchronous collective that nothing finishes");
        return WalkResult::interrupt();
      }
      shareOperands(done, inPlace);
    } else if (auto call = dyn_cast<CustomCallOp>(op)) {
      FailureOr<SmallVector<int64_t>> pairs = customCallPairs(call);
      if (failed(pairs)) {
        return WalkResult::interrupt();
      }
      inPlace = *pairs;
    } else if (isa<RaggedAllToAllOp>(op)) {
      inPlace = {0, 1};
    } else if (auto permute = dyn_cast<CollectivePermuteOp>(op)) {
      if (permute.getSliceSizes() && op->getNumOperands() > 1) {
        inPlace = {0, 1};
      }
    } else if (isa<AllReduceOp, CollectiveBroadcastOp>(op)) {
      for (int64_t i = 0; i < op->getNumResults() && i < op->getNumOperands(); ++i) {
        mayAlias.append({i, i});
      }
    }
    op->removeAttr("in_place");
    op->removeAttr("may_alias");
    if (!inPlace.empty()) {
      op->setAttr("in_place", b.getDenseI64ArrayAttr(inPlace));
    }
    if (!mayAlias.empty()) {
      op->setAttr("may_alias", b.getDenseI64ArrayAttr(mayAlias));
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

static int64_t ranksOf(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto count = [&](StringRef name) -> int64_t {
    auto attr = module->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : 1;
  };
  return count("hlo.replica_count") * count("hlo.num_partitions");
}

/// Bytes of HLO_COLLECTIVE_STATE_BYTES (hlo/generated.h), with which compiler/target compares them,
/// and for a reduction of what it receives at its start.
static int64_t asyncScratchBytes(Operation *op) {
  int64_t ranks = ranksOf(op), operands = op->getNumOperands();
  int64_t bytes =
      1536 + 64 * ranks + 32 * operands + 96 * std::min<int64_t>(ranks * operands, 4096);
  if (!isa<AllReduceOp, ReduceScatterOp>(op)) {
    return bytes;
  }
  int64_t received = 0;
  for (Value operand : op->getOperands()) {
    // Shares start at multiples of 64 elements.
    int64_t rounding = (64 * ranks + 64) * elementBytes(elementTypeOf(operand));
    received = std::min(received + bytesOf(operand) + rounding, mostAsyncScratch);
  }
  return bytes + received;
}

int64_t schedule::runtimeScratchBytes(Operation *op) {
  if (op->hasAttr(kAsyncAttr)) {
    return asyncScratchBytes(op);
  }
  if (auto done = dyn_cast<CollectiveDoneOp>(op)) {
    return asyncScratchBytes(startOf(done));
  }
  if (!isa<AllReduceOp, ReduceScatterOp>(op)) {
    return 0;
  }
  int64_t most = 0, whole = 0;
  for (Value operand : op->getOperands()) {
    most = std::max(most, bytesOf(operand));
    // An operand in one piece: each rank's share begins at a multiple of 64 elements.
    whole =
        std::max(whole, bytesOf(operand) + 64 * ranksOf(op) * elementBytes(elementTypeOf(operand)));
  }
  return std::min(whole, std::clamp(most, leastScratch, mostScratch));
}
