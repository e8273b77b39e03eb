//===- Signature.h - A module's interface, as C sees it -------------------===//
#ifndef COMPILER_TARGET_SIGNATURE_H
#define COMPILER_TARGET_SIGNATURE_H

#include "compiler/analysis/entry/EntryLayout.h"
#include "compiler/analysis/entry/EntryShards.h"
#include "compiler/support/ParameterNames.h"
#include "compiler/target/header/CText.h"
#include "runtime/abi/hlo/rt.h"
#include <string>
#include <vector>

namespace hlo {

/// One array leaf of the parameters or results; the fields of hlo_buffer_desc.
struct Leaf {
  std::string name; ///< a C identifier, unique among inputs and outputs
  std::string
      textName; ///< second C name: the parameter's name with its number as in the text; or empty
  std::string typeText;   ///< HLO's spelling: "f32[128,256]{1,0}"
  std::string layoutText; ///< the order in words: "row-major"; see describeLeaf
  hlo_type type = HLO_INVALID_TYPE;
  std::vector<int64_t> dims, minorToMajor;
  uint64_t bytes = 0;
  uint32_t align = 1;
  int32_t alias = -1;
  /// If this leaf is a size: the leaf of the same list, and its dimension, whose true size it is;
  /// else -1. Of an array, `sizeDim` is HLO_DENSE if its buffer is dense.
  int32_t sizeOf = -1, sizeDim = 0;
  bool isDense() const { return sizeOf < 0 && sizeDim == HLO_DENSE; }
  std::string symbol; ///< of a size: the program's name for it; or empty
  /// Of an array with named sizes: its dimensions, "[b, 2*b + 1, 16]"; else empty.
  std::string sizesText;
  std::optional<LeafSharding> sharding; ///< the leaf is a shard; `dims` are its own
  std::string shardingText; ///< "shard of f32[16,32] by [{x}, {}]"; empty for a whole array
};

/// Everything of a module that its callers rely on.
struct Signature {
  std::string prefix; ///< of the exported symbols, a C identifier
  /// Prefix of all symbols of the code. That of one CPU level of several has a dot, so they are all
  /// local: "mm.x86-64-v3".
  std::string symbols;
  std::vector<Leaf> inputs, outputs;
  uint64_t hash = 0; ///< of the module, and of all names, types, layouts and aliases
  uint32_t replicas = 1, partitions = 1;
  MeshAxes mesh; ///< of the partitions, if any leaf is a shard
  /// "8 partitions, mesh x=2, y=4"; empty if no leaf is a shard.
  std::string partitionsText() const;
};

/// Scratch memory of one program of a module: of run, or of prepare.
struct ArenaSize {
  uint64_t bytes = 0;       ///< of a call on one thread
  uint64_t threadBytes = 0; ///< how much more each other thread needs: a slot of scratch memory
  /// Where the entry has the tables of pointers that it passes on; none: they are small and on the
  /// stack.
  std::optional<uint64_t> tableAt;
  uint64_t planAt = 0; ///< where the entry's buffers begin
};

/// What a module keeps of its immutable parameters; bytes == 0: nothing.
struct Prepared {
  uint64_t bytes = 0, id = 0;
  ArenaSize arena;               ///< of prepare
  std::vector<uint8_t> inputUse; ///< of each input, a set of HLO_READ_BY_*, HLO_IMMUTABLE
};

/// The ABI number of an element type; HLO_INVALID_TYPE for types that no array can hold.
hlo_type typeCode(mlir::Type element);

/// Describes a leaf with this type; fails for types that the ABI cannot describe. Elements smaller
/// than a byte are packed in the buffers of callers and handlers, but not inside a program.
/// `layoutText` is "row-major" (also for vectors and scalars), "column-major: element (i,j) at
/// j*rows+i", or for other orders a formula with the sizes: "element (i,j,k) at (k*5+j)*3+i".
mlir::FailureOr<Leaf> describeLeaf(mlir::RankedTensorType type, llvm::StringRef name,
                                   bool packed = true);

/// The HLO name of the parameter that a leaf is in: the leaf's name without the path.
llvm::StringRef parameterName(const EntryLeaf &leaf);

/// Reads the interface of a canonical module (see analysis/entry/EntryLayout.h). Parameters are
/// named without their numbers where that is unique. `moduleHash` goes into the hash, so two
/// modules with one interface have different hashes.
mlir::FailureOr<Signature> makeSignature(mlir::ModuleOp module, llvm::StringRef prefix,
                                         llvm::StringRef moduleHash = "");

/// The entry's arrays as text for a person, one line each: number, name, type, layout in words,
/// bytes, aliases. `names`: the parameters' names in the module, shown where they differ.
std::string printSignature(const Signature &signature, llvm::ArrayRef<std::string> names);

/// `symbol` with the signature's hash appended: the name that headers refer to.
std::string hashedSymbol(const Signature &signature, llvm::StringRef symbol);

} // namespace hlo

#endif
