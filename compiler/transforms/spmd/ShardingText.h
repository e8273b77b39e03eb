//===- ShardingText.h - Shardings as the text writes them -----------------===//
//
// Both annotation forms as values: tiles over a list of devices (HLO), and axes of a named mesh
// (Shardy's strings in frontend attributes, HLO's `mesh[...]`).
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_TRANSFORMS_SPMD_SHARDINGTEXT_H
#define COMPILER_TRANSFORMS_SPMD_SHARDINGTEXT_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace hlo::spmd {

/// `#sdy.mesh<["x"=2, "y"=4], device_ids=[...]>`
struct MeshText {
  std::string name;
  std::vector<std::pair<std::string, int64_t>> axes;
  llvm::SmallVector<int64_t> devices; ///< empty: in order
  int64_t count() const;              ///< product of the sizes; 0 if it overflows
};

/// `"x"`, or `"x":(2)4`: the part of size 4 after parts of size 2.
struct AxisText {
  std::string name;
  int64_t before = 1, size = 0; ///< size 0: the whole axis
};

struct DimText {
  std::vector<AxisText> axes;
  bool isOpen = false; ///< `?`: propagation may append axes
  int64_t priority = 0;
};

/// `#sdy.sharding<@mesh, [{"x"}, {?}], replicated={"y"}>`
struct AxesText {
  std::string mesh; ///< its name; empty if `inlined` is set
  std::optional<MeshText> inlined;
  std::vector<DimText> dims;
  std::vector<AxisText> kept; ///< of `replicated`: they split no dimension
  bool isUnreduced = false;
  bool isManual = false, isReplicated = false; ///< forms of HLO's mesh shardings
};

/// `{devices=[2,1,2]<=[4] last_tile_dim_replicate}` and the like.
struct TilesText {
  enum class Kind {
    Replicated,
    Manual,
    Maximal,
    Unknown,
    Unreduced,
    Tiled
  } kind = Kind::Replicated;
  llvm::SmallVector<int64_t> tiles;             ///< of the dimensions, then of the subgroups
  llvm::SmallVector<int64_t> devices;           ///< of each tile, row-major; the one of `maximal`
  llvm::SmallVector<TilesText::Kind> subgroups; ///< kinds of the last tile dimensions
  /// The sizes of the iota, so the axes that the writer had in mind; empty for a list.
  llvm::SmallVector<int64_t> iota;
};

/// One sharding of either form, with what both may have.
struct ShardingText {
  std::optional<AxesText> axes;
  std::optional<TilesText> tiles;
  std::optional<int64_t> group; ///< of `shard_as`, `shard_like`
};

/// All of these return failure with a reason in `why`.
/// `{xla.sdy.meshes={mesh = #sdy.mesh<...>}}`: the meshes of the module's frontend attributes.
mlir::FailureOr<std::vector<MeshText>> parseMeshes(llvm::StringRef frontendAttributes,
                                                   std::string &why);
/// The value of a key of frontend attributes, unescaped; empty if there is none.
std::string frontendAttribute(llvm::StringRef attributes, llvm::StringRef key);
/// `#sdy.sharding<...>` gives one, `#sdy.sharding_per_value<[<...>, <...>]>` several.
mlir::FailureOr<std::vector<AxesText>> parseAxes(llvm::StringRef text, std::string &why);
/// The axes of `#sdy<manual_axes{"x", "y"}>`.
mlir::FailureOr<std::vector<AxisText>> parseManualAxes(llvm::StringRef text, std::string &why);
/// HLO's form; a tuple's has one entry per leaf, `isTuple` tells which it was.
mlir::FailureOr<std::vector<ShardingText>> parseSharding(llvm::StringRef text, bool &isTuple,
                                                         std::string &why);

} // namespace hlo::spmd

#endif
