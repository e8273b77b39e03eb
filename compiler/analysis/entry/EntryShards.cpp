//===- EntryShards.cpp - The entry's arrays as shards ---------------------===//
//
// Module attribute -> structs, and their text. The attribute is checked as a whole, because what is
// made from it (the object's description) is trusted by its readers.
//
//===----------------------------------------------------------------------===//
#include "compiler/analysis/entry/EntryShards.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace hlo;

static constexpr StringLiteral kEntryShards = "hlo.entry_shards";

std::vector<int64_t> LeafSharding::shardDims(const MeshAxes &mesh) const {
  std::vector<int64_t> shard;
  for (auto [size, list] : llvm::zip_equal(dims, axes)) {
    int64_t parts = 1;
    for (int64_t axis : list) {
      parts *= mesh.sizes[axis];
    }
    shard.push_back(size / parts + (size % parts != 0));
  }
  return shard;
}

/// True if `devices` has each partition once.
static bool isPermutation(ArrayRef<int64_t> devices, int64_t partitions) {
  std::vector<bool> seen(static_cast<size_t>(partitions));
  for (int64_t device : devices) {
    if (device < 0 || device >= partitions || seen[static_cast<size_t>(device)]) {
      return false;
    }
    seen[static_cast<size_t>(device)] = true;
  }
  return static_cast<int64_t>(devices.size()) == partitions;
}

/// Reads one leaf's dictionary.
static FailureOr<LeafSharding> decode(Attribute attr, const MeshAxes &mesh, int64_t partitions) {
  auto dict = dyn_cast<DictionaryAttr>(attr);
  auto global = dict ? dict.getAs<DenseI64ArrayAttr>("global") : nullptr;
  auto axes = dict ? dict.getAs<ArrayAttr>("axes") : nullptr;
  if (!global || !axes || global.size() != static_cast<int64_t>(axes.size())) {
    return failure();
  }
  LeafSharding leaf;
  leaf.dims = global.asArrayRef().vec();
  std::vector<bool> used(mesh.sizes.size());
  for (Attribute entry : axes) {
    auto list = dyn_cast<DenseI64ArrayAttr>(entry);
    if (!list) {
      return failure();
    }
    for (int64_t axis : list.asArrayRef()) {
      if (axis < 0 || axis >= static_cast<int64_t>(used.size()) || used[axis]) {
        return failure();
      }
      used[axis] = true;
    }
    leaf.axes.push_back(list.asArrayRef().vec());
  }
  if (llvm::any_of(leaf.dims, [](int64_t size) { return size < 0; })) {
    return failure();
  }
  if (Attribute devices = dict.get("devices")) {
    auto list = dyn_cast<DenseI64ArrayAttr>(devices);
    if (!list || !isPermutation(list.asArrayRef(), partitions)) {
      return failure();
    }
    leaf.devices = list.asArrayRef().vec();
  }
  return leaf;
}

/// Reads the mesh; fails unless it has `partitions` places.
static FailureOr<MeshAxes> decodeMesh(DictionaryAttr dict, int64_t partitions) {
  auto sizes = dict.getAs<DenseI64ArrayAttr>("mesh_sizes");
  auto names = dict.getAs<ArrayAttr>("mesh_names");
  if (!sizes || !names || sizes.size() != static_cast<int64_t>(names.size())) {
    return failure();
  }
  MeshAxes mesh;
  mesh.sizes = sizes.asArrayRef().vec();
  int64_t places = 1;
  for (int64_t size : mesh.sizes) {
    if (size < 1 || size > partitions / places) {
      return failure();
    }
    places *= size;
  }
  for (Attribute name : names) {
    auto text = dyn_cast<StringAttr>(name);
    if (!text) {
      return failure();
    }
    mesh.names.push_back(text.str());
  }
  if (places != partitions) {
    return failure();
  }
  return mesh;
}

FailureOr<EntryShards> EntryShards::get(ModuleOp module) {
  EntryShards shards;
  Attribute attr = module->getAttr(kEntryShards);
  if (!attr) {
    return shards;
  }
  auto bad = [&](const Twine &what) {
    module.emitError() << kEntryShards << ": " << what;
    return failure();
  };
  auto dict = dyn_cast<DictionaryAttr>(attr);
  auto count = module->getAttrOfType<IntegerAttr>("hlo.num_partitions");
  int64_t partitions = count && count.getInt() > 0 ? count.getInt() : 1;
  FailureOr<MeshAxes> mesh = failure();
  if (dict) {
    mesh = decodeMesh(dict, partitions);
  }
  if (failed(mesh)) {
    return bad("expected mesh_sizes and mesh_names of " + Twine(partitions) + " partitions");
  }
  shards.mesh = std::move(*mesh);
  for (auto [name, leaves] :
       {std::pair("params", &shards.params), std::pair("results", &shards.results)}) {
    auto list = dict.getAs<ArrayAttr>(name);
    if (!list) {
      return bad(Twine("expected ") + name);
    }
    for (auto [i, entry] : llvm::enumerate(list)) {
      leaves->emplace_back();
      if (isa<UnitAttr>(entry)) {
        continue;
      }
      FailureOr<LeafSharding> leaf = decode(entry, shards.mesh, partitions);
      if (failed(leaf)) {
        return bad(Twine(name) + "[" + Twine(i) + "] does not fit the mesh");
      }
      if (llvm::any_of(leaf->axes, [](const auto &axes) { return !axes.empty(); })) {
        leaves->back() = std::move(*leaf);
      }
    }
  }
  return shards;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
/// Part of an axis of the text: of its places, in groups of `size` * `inner`, those that a
/// coordinate of `size` values tells apart. The whole axis has no `isPart`.
struct NamedAxis {
  std::string base;
  int64_t outer = 1, size = 1; ///< "y:(outer)size"
  bool isPart = false;
};
} // namespace

static NamedAxis parseAxis(StringRef name, int64_t size) {
  auto [base, part] = name.rsplit(":(");
  auto [outer, text] = part.split(')');
  int64_t outerNumber = 0, partSize = 0;
  if (!part.empty() && !outer.getAsInteger(10, outerNumber) && !text.getAsInteger(10, partSize) &&
      partSize == size && outerNumber > 0) {
    return {base.str(), outerNumber, size, true};
  }
  return {name.str(), 1, size, false};
}

/// The axes `list` of the mesh; neighbours that are neighbouring parts of one axis become one.
static std::vector<NamedAxis> mergedAxes(ArrayRef<int64_t> list, const MeshAxes &mesh) {
  std::vector<NamedAxis> merged;
  for (int64_t axis : list) {
    NamedAxis next = parseAxis(mesh.names[axis], mesh.sizes[axis]);
    if (!merged.empty() && next.isPart && merged.back().isPart && merged.back().base == next.base &&
        merged.back().outer * merged.back().size == next.outer) {
      merged.back().size *= next.size;
    } else {
      merged.push_back(std::move(next));
    }
  }
  return merged;
}

static std::vector<NamedAxis> allAxes(const MeshAxes &mesh) {
  return mergedAxes(llvm::to_vector(llvm::seq<int64_t>(0, mesh.sizes.size())), mesh);
}

std::string hlo::meshText(const MeshAxes &mesh) {
  return llvm::join(llvm::map_range(allAxes(mesh),
                                    [](const NamedAxis &axis) {
                                      return axis.base + "=" + std::to_string(axis.size);
                                    }),
                    ", ");
}

std::string hlo::axesText(const LeafSharding &sharding, const MeshAxes &mesh) {
  std::vector<NamedAxis> all = allAxes(mesh);
  auto nameOf = [&](const NamedAxis &axis) {
    bool isWhole = !axis.isPart || llvm::any_of(all, [&](const NamedAxis &other) {
      return other.base == axis.base && other.size == axis.size;
    });
    return isWhole
               ? axis.base
               : axis.base + ":(" + std::to_string(axis.outer) + ")" + std::to_string(axis.size);
  };
  std::string text = "[";
  for (const std::vector<int64_t> &axes : sharding.axes) {
    text += (text.size() > 1 ? ", {" : "{") +
            llvm::join(llvm::map_range(mergedAxes(axes, mesh), nameOf), ", ") + "}";
  }
  return text + "]";
}
