//===- RuntimeCall.h - Ops that the runtime executes ----------------------===//
#ifndef COMPILER_TARGET_CALLS_RUNTIMECALL_H
#define COMPILER_TARGET_CALLS_RUNTIMECALL_H

#include "compiler/target/StaticData.h"
#include "compiler/target/entry/Entry.h"
#include "dialect/cpurt/Dialect.h"

namespace hlo {

/// The translation of a cpurt.call: `hlo_status FUNCTION(frame, description, buffers)`.
struct RuntimeCall {
  llvm::StringRef function;    ///< a function of libhlo_rt, listed in importedSymbols
  llvm::Constant *description; ///< static and read-only
};

/// Input of the makers of descriptions.
struct RuntimeCallContext {
  cpurt::CallOp op;
  StaticData &data;
  llvm::Module &module;
  /// The function of a kernel, by the name of its cpurt.kernel; null if it was not emitted.
  llvm::function_ref<llvm::Constant *(llvm::StringRef)> kernel;

  /// An attribute of the HLO op; null if it has none with that name.
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

/// Of the ends of collectives in two parts.
mlir::FailureOr<RuntimeCall> describeCollectiveDone(const RuntimeCallContext &context);

/// Of custom calls.
mlir::FailureOr<RuntimeCall> describeCustomCall(const RuntimeCallContext &context);

/// Of infeed, outfeed, and send and recv between program and host.
mlir::FailureOr<RuntimeCall> describeFeed(const RuntimeCallContext &context);

/// The target of JAX's assertions on sizes, which the runtime itself checks.
inline constexpr llvm::StringLiteral kShapeAssertion = "shape_assertion";

/// HLO_API_* of a custom call.
int32_t customCallApi(cpurt::CallOp call);

/// The HLO name of the instruction at a location.
std::string instructionName(mlir::Location location);

/// Collects what the program's calls need from the caller: `needs` and `customCalls`.
void collectNeeds(cpurt::EntryOp entry, bool manyRanks, Description &description);

/// Scratch memory of the program's collectives, for tables of many ranks.
uint64_t collectiveScratchBytes(const Signature &signature, const Description &description);

} // namespace hlo

#endif
