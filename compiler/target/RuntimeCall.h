//===- RuntimeCall.h - Ops that the runtime executes ----------------------===//
#ifndef COMPILER_TARGET_RUNTIMECALL_H
#define COMPILER_TARGET_RUNTIMECALL_H

#include "compiler/target/Entry.h"
#include "compiler/target/StaticData.h"
#include "dialect/cpurt/Dialect.h"

namespace hlo {

/// What a cpurt.call becomes: `hlo_status FUNCTION(frame, description, buffers)`.
struct RuntimeCall {
  llvm::StringRef function;    ///< of libhlo_rt; in the list of importedSymbols
  llvm::Constant *description; ///< static and read-only
};

/// What the makers of descriptions may use.
struct RuntimeCallContext {
  cpurt::CallOp op;
  StaticData &data;
  llvm::Module &module;
  /// The function of a kernel, by the name of its cpurt.kernel; null if it was not emitted.
  llvm::function_ref<llvm::Constant *(llvm::StringRef)> kernel;

  /// An attribute of the HLO op; null if it has none of that name.
  template <typename Attr> Attr get(llvm::StringRef name) const {
    return llvm::dyn_cast_or_null<Attr>(cpurt::CallOp(op).getConfig().get(name));
  }
  /// The fields of hlo_rt_op; `bytes` is the size of the whole description.
  mlir::FailureOr<llvm::Constant *> header(uint32_t bytes) const;
};

/// Describes one call. Fails with a located error if the op cannot be executed.
mlir::FailureOr<RuntimeCall> describeRuntimeCall(const RuntimeCallContext &context);

/// Of collectives, replica-id and partition-id.
mlir::FailureOr<RuntimeCall> describeCollective(const RuntimeCallContext &context);

/// Of custom calls.
mlir::FailureOr<RuntimeCall> describeCustomCall(const RuntimeCallContext &context);

/// Of infeed, outfeed, and send and recv between program and host.
mlir::FailureOr<RuntimeCall> describeFeed(const RuntimeCallContext &context);

/// HLO_API_* of a custom call.
int32_t customCallApi(cpurt::CallOp call);

/// The HLO name of the instruction at a place.
std::string instructionName(mlir::Location location);

/// Notes what the program's calls need of the caller: `needs` and `customCalls`.
void collectNeeds(cpurt::EntryOp entry, bool manyRanks, Description &description);

/// Scratch memory that the program's collectives need, for tables of many ranks.
uint64_t collectiveScratchBytes(const Signature &signature, const Description &description);

} // namespace hlo

#endif
