//===- RuntimeCall.cpp - Ops that the runtime executes --------------------===//
//
// In: a cpurt.call. Out: the function of libhlo_rt that executes it, and its static description:
// for collectives an hlo_rt_collective (hlo/generated.h), for custom calls and feeds a record of
// hlo/sites.h. The table here has one row per kind; each family makes its descriptions in a file of
// its own.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/calls/RuntimeCall.h"
#include "dialect/hlo/Shapes.h"
#include "mlir/IR/Location.h"
#include "runtime/abi/hlo/generated.h"
#include "llvm/ADT/StringSwitch.h"
#include <set>

using namespace hlo;

std::string hlo::instructionName(mlir::Location location) {
  auto name = location->findInstanceOf<mlir::NameLoc>();
  return name ? name.getName().str() : std::string("?");
}

mlir::FailureOr<llvm::Constant *> RuntimeCallContext::header(uint32_t bytes) const {
  cpurt::CallOp call = op;
  std::vector<Leaf> leaves;
  size_t operands = call.getOperandTypes().size();
  auto types = llvm::to_vector(call.getOperandTypes().getAsValueRange<mlir::TypeAttr>());
  llvm::append_range(types, call.getResultTypes().getAsValueRange<mlir::TypeAttr>());
  // Collectives move the program's own arrays, which are never packed.
  bool packed =
      llvm::is_contained({"custom-call", "infeed", "outfeed", "send", "recv"}, call.getKind());
  for (mlir::Type type : types) {
    auto array = mlir::dyn_cast<mlir::RankedTensorType>(type);
    mlir::FailureOr<Leaf> leaf = array ? describeLeaf(array, "", packed) : mlir::FailureOr<Leaf>();
    if (mlir::failed(leaf)) {
      return call.emitError() << call.getKind() << " of type " << hlo::hloText(type)
                              << " is not supported yet";
    }
    leaves.push_back(std::move(*leaf));
  }
  if (auto pairs = call.getAlias()) {
    for (size_t i = 0; i + 1 < pairs->size(); i += 2) {
      leaves[operands + (*pairs)[i]].alias = (*pairs)[i + 1];
      leaves[(*pairs)[i + 1]].alias = (*pairs)[i];
    }
  }
  return data.record({data.i32(bytes), data.i32(operands), data.i32(leaves.size() - operands),
                      data.i32(sizeof(hlo_buffer_desc)), data.string(call.getKind()),
                      data.string(instructionName(call.getLoc())), data.buffers(leaves),
                      data.i64(call.getScratchBytes())});
}

mlir::FailureOr<RuntimeCall> hlo::describeRuntimeCall(const RuntimeCallContext &context) {
  cpurt::CallOp call = context.op;
  using Maker = mlir::FailureOr<RuntimeCall> (*)(const RuntimeCallContext &);
  auto maker =
      llvm::StringSwitch<Maker>(call.getKind())
          .Cases({"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "ragged-all-to-all",
                  "collective-broadcast", "collective-permute", "replica-id", "partition-id"},
                 describeCollective)
          .Cases({"all-reduce-start", "all-gather-start", "reduce-scatter-start",
                  "all-to-all-start", "collective-broadcast-start", "collective-permute-start"},
                 describeCollective)
          .Cases({"all-reduce-done", "all-gather-done", "reduce-scatter-done", "all-to-all-done",
                  "collective-broadcast-done", "collective-permute-done"},
                 describeCollectiveDone)
          .Case("custom-call", describeCustomCall)
          .Cases({"infeed", "outfeed", "send", "recv"}, describeFeed)
          .Default(nullptr);
  if (!maker) {
    return call.emitError() << call.getKind() << " is not supported yet";
  }
  return maker(context);
}

int32_t hlo::customCallApi(cpurt::CallOp call) {
  auto text = call.getConfig().getAs<mlir::StringAttr>("api_version");
  return llvm::StringSwitch<int32_t>(text ? text.getValue() : "")
      .Case("API_VERSION_STATUS_RETURNING", HLO_API_STATUS_RETURNING)
      .Case("API_VERSION_STATUS_RETURNING_UNIFIED", HLO_API_STATUS_RETURNING_UNIFIED)
      .Case("API_VERSION_TYPED_FFI", HLO_API_TYPED_FFI)
      .Default(HLO_API_ORIGINAL);
}

void hlo::collectNeeds(cpurt::EntryOp entry, bool manyRanks, Description &description) {
  std::set<std::pair<std::string, int32_t>> targets;
  entry.walk([&](cpurt::CallOp call) {
    llvm::StringRef kind = call.getKind();
    if (kind == "infeed") {
      description.needs |= HLO_NEEDS_INFEED;
    } else if (kind == "outfeed") {
      description.needs |= HLO_NEEDS_OUTFEED;
    } else if (kind == "send") {
      description.needs |= HLO_NEEDS_HOST_SEND;
    } else if (kind == "recv") {
      description.needs |= HLO_NEEDS_HOST_RECV;
    } else if (kind == "custom-call") {
      auto target = call.getConfig().getAs<mlir::StringAttr>("custom_call_target");
      if (target && target != kShapeAssertion) {
        targets.insert({target.str(), customCallApi(call)});
      }
    } else if (manyRanks && kind != "pack" && kind != "unpack") {
      description.needs |= HLO_NEEDS_COMM;
    }
  });
  for (const auto &[target, api] : targets) {
    description.customCalls.push_back(target);
    description.customCallApis.push_back(api);
  }
}

uint64_t hlo::collectiveScratchBytes(const Signature &signature, const Description &description) {
  uint64_t ranks = uint64_t(signature.replicas) * uint64_t(signature.partitions);
  return description.needs & HLO_NEEDS_COMM ? HLO_COLLECTIVE_SCRATCH_BYTES(ranks) : 0;
}
