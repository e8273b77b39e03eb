//===- RefuseUnpartitioned.cpp - hlo-refuse-unpartitioned -----------------===//
//
// A module of several partitions is either the program that each partition runs, or one program for
// all that a partitioner has yet to split along its shardings; the text does not say which. It
// still needs partitioning if
// - an instruction has a sharding that gives partitions different data, or a custom call converts
//   between the whole array and a shard;
// - a parameter has such a sharding and no op distinguishes partitions: partitioning keeps the
//   shardings of parameters, and inserts partition-id or collectives.
//
// A scheduled module is partitioned, since XLA schedules later. Its partitions may not communicate,
// and copies of parameters may have the parameters' shardings. Modules that need partitioning are
// refused: each partition would compute on its shard as if it were the whole array.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/ModuleFacts.h"
#include "compiler/transforms/simplifiers/Simplifiers.h"
#include "dialect/hlo/Dialect.h"
#include "dialect/hlo/Shapes.h"

using namespace mlir;
using namespace hlo;

namespace {

/// True if one of the leading sizes of `[2,1,4]...` exceeds 1; the last `subgroups` sizes are not
/// dimensions of the array.
bool splitsDimensions(StringRef tiles, size_t subgroups) {
  SmallVector<StringRef> sizes;
  tiles.split(']').first.split(sizes, ',');
  sizes.truncate(sizes.size() - std::min(sizes.size(), subgroups));
  return llvm::any_of(sizes, [](StringRef size) { return size.trim() != "1"; });
}

/// True if the sharding (normalized text) gives partitions different parts of an array.
bool splitsArrays(StringRef sharding) {
  if (sharding.contains("maximal")) {
    return true;
  }
  // Mesh form: splits if a dimension lists an axis, `{mesh['x'=2], [{'x'}, {}]}`.
  for (StringRef rest = sharding; rest.contains("mesh[");) {
    rest = rest.split("mesh[").second.split(']').second;
    StringRef dimensions = rest.split('}').first.contains('[') ? rest.split('[').second : "";
    dimensions = dimensions.split(']').first;
    if (dimensions.contains('\'') || dimensions.contains('"')) {
      return true;
    }
  }
  for (StringRef rest = sharding; rest.contains("devices=[");) {
    rest = rest.split("devices=[").second;
    StringRef body = rest.split("devices=[").first;
    StringRef kinds = body.split("last_tile_dims={").second.split('}').first;
    size_t subgroups =
        !kinds.empty() ? kinds.count(',') + 1 : body.contains("last_tile_dim_replicate");
    if (splitsDimensions(rest, subgroups)) {
      return true;
    }
  }
  return false;
}

/// True if the op's result differs between partitions, as ops of a partitioned program do.
bool tellsPartitionsApart(Operation *op) {
  return isa<PartitionIdOp>(op) ||
         (op->hasAttr("channel_id") && !isa<SendOp, SendDoneOp, RecvOp, RecvDoneOp>(op));
}

bool changesToShards(Operation *op) {
  auto call = dyn_cast<CustomCallOp>(op);
  return call && llvm::is_contained({"SPMDFullToShardShape", "SPMDShardToFullShape",
                                     "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"},
                                    call.getCustomCallTarget());
}

/// In a module of one partition, custom calls between an array and its shard return their operand.
/// If the shapes differ, the program was written for several devices.
LogicalResult checkShardShapes(CustomCallOp call) {
  if (!changesToShards(call)) {
    return success();
  }
  SmallVector<Type> operands(call.getOperandTypes()), results(call->getResultTypes());
  if (results.size() == 1 && isa<TupleType>(results[0])) {
    results = llvm::to_vector(cast<TupleType>(results[0]).getTypes());
  }
  auto shapeOf = [](Type type) {
    auto array = dyn_cast<RankedTensorType>(type);
    return array ? array.getShape() : ArrayRef<int64_t>();
  };
  for (auto [from, to] : llvm::zip(operands, results)) {
    if (shapeOf(from) != shapeOf(to)) {
      InFlightDiagnostic error = mlir::emitError(call.getLoc())
                                 << "partitioning is not supported: this custom-call goes from "
                                 << hloText(from) << " to " << hloText(to)
                                 << ", so the function is sharded over several devices (pmap, "
                                    "shard_map, or jit with shardings)";
      error.attachNote()
          << "in JAX, lower(...).compile().as_text() is the program of one device with its "
             "collectives, which runs on several ranks; with vmap in place of pmap or shard_map "
             "the function runs on one (examples/fromjax)";
      return error;
    }
  }
  return success();
}

class RefuseUnpartitionedPass
    : public PassWrapper<RefuseUnpartitionedPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RefuseUnpartitionedPass)
  StringRef getArgument() const final { return "hlo-refuse-unpartitioned"; }
  StringRef getDescription() const final {
    return "Report modules that need partitioning along their shardings";
  }

  void refuseShardShapes(ModuleOp module) {
    if (!getAnalysis<OpsPresent>().has<CustomCallOp>()) {
      return;
    }
    WalkResult result = module->walk([](CustomCallOp call) {
      return failed(checkShardShapes(call)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      signalPassFailure();
    }
  }

  void runOnOperation() final {
    markAllAnalysesPreserved();
    ModuleOp module = getOperation();
    auto count = module->getAttrOfType<IntegerAttr>("hlo.num_partitions");
    if (!count || count.getInt() < 2) {
      return refuseShardShapes(module);
    }
    auto refuse = [&](Location loc, const Twine &why) {
      InFlightDiagnostic diagnostic = mlir::emitError(loc)
                                      << "partitioning is not supported: " << why
                                      << ", the module has " << count.getInt() << " partitions";
      diagnostic.attachNote()
          << "give the program that one partition runs, without shardings (in JAX: "
             "lower(...).compile().as_text())";
      signalPassFailure();
    };
    bool isScheduled = module->hasAttr("hlo.is_scheduled");
    bool isPartitioned = isScheduled;
    WalkResult result = module->walk([&](Operation *op) {
      isPartitioned |= tellsPartitionsApart(op);
      auto sharding = op->getAttrOfType<StringAttr>("hlo.sharding");
      if (changesToShards(op)) {
        refuse(op->getLoc(), "this custom-call goes between an array and its shards");
      } else if (sharding && !isScheduled && op != module.getOperation() &&
                 splitsArrays(sharding.getValue())) {
        refuse(op->getLoc(), "this is sharded " + sharding.getValue());
      } else {
        return WalkResult::advance();
      }
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted() || isPartitioned) {
      return;
    }
    for (auto computation : module.getOps<ComputationOp>()) {
      for (BlockArgument argument : computation.getBody().getArguments()) {
        auto sharding =
            computation.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "hlo.sharding");
        if (sharding && splitsArrays(sharding.getValue())) {
          return refuse(argument.getLoc(), "this parameter is sharded " + sharding.getValue());
        }
      }
    }
  }
};
} // namespace

std::unique_ptr<Pass> hlo::createRefuseUnpartitionedPass() {
  return std::make_unique<RefuseUnpartitionedPass>();
}
