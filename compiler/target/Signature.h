//===- Signature.h - A module's interface, as C sees it -------------------===//
#ifndef COMPILER_TARGET_SIGNATURE_H
#define COMPILER_TARGET_SIGNATURE_H

#include "compiler/analysis/EntryLayout.h"
#include "runtime/abi/hlo/rt.h"
#include <string>
#include <vector>

namespace hlo {

/// One array leaf of the parameters or results; the fields of hlo_buffer_desc.
struct Leaf {
  std::string name;     ///< a C identifier, unique among inputs and outputs
  std::string typeText; ///< HLO's spelling: "f32[128,256]{1,0}"
  hlo_type type = HLO_INVALID_TYPE;
  std::vector<int64_t> dims, minorToMajor;
  uint64_t bytes = 0;
  uint32_t align = 1;
  int32_t alias = -1;
  /// The leaf of the same list, and its dimension, that this one is the true size of; -1: none.
  int32_t sizeOf = -1, sizeDim = 0;
};

/// Everything of a module that its callers rely on.
struct Signature {
  std::string prefix; ///< of the exported symbols, a C identifier
  std::vector<Leaf> inputs, outputs;
  uint64_t hash = 0; ///< of all types, layouts and aliases
  uint32_t replicas = 1, partitions = 1;
};

/// What a module keeps of its immutable parameters; bytes == 0: nothing.
struct Prepared {
  uint64_t bytes = 0, arenaBytes = 0, id = 0;
  std::vector<uint8_t> inputUse; ///< of each input, a set of HLO_READ_BY_*, HLO_IMMUTABLE
};

/// `text` made a C identifier: other characters become `_`; never a keyword of C or C++, nor a
/// macro of the standard headers that programs include most.
std::string cIdentifier(llvm::StringRef text);

/// The number of an element type in the ABI; HLO_INVALID_TYPE for what no array can hold.
hlo_type typeCode(mlir::Type element);

/// Fills in what follows from the type; fails for one that the ABI cannot describe. Types smaller
/// than a byte are packed in what callers and handlers see, but not inside a program.
mlir::FailureOr<Leaf> describeLeaf(mlir::RankedTensorType type, llvm::StringRef name,
                                   bool packed = true);

/// Reads the interface of a canonical module (see analysis/EntryLayout.h).
mlir::FailureOr<Signature> makeSignature(mlir::ModuleOp module, llvm::StringRef prefix);

} // namespace hlo

#endif
