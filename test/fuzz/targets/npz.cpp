//===- npz.cpp - Files of arrays ------------------------------------------===//
//
// In: bytes as a file .npz or .npy, read as the inputs of a module with leaves of several types,
// one of them packed and one a shard. Buffers have no byte more than a leaf needs.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/arrays/Npz.h"
#include "tools/hlo-run/Dynamic.h"
#include "tools/hlo-run/Inputs.h"
#include "tools/hlo-run/arrays/Global.h"
#include "llvm/ADT/STLExtras.h"
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace hlo::run;

namespace {
const int64_t dims[] = {2, 3};
const int64_t columnMajor[] = {0, 1}, rowMajor[] = {1, 0};

hlo_buffer_desc makeLeaf(const char *name, int32_t type, uint64_t bytes, int32_t rank,
                         const int64_t *order) {
  hlo_buffer_desc leaf = {};
  leaf.name = name;
  leaf.type = type;
  leaf.bytes = bytes;
  leaf.align = 1;
  leaf.rank = rank;
  leaf.dims = dims;
  leaf.minor_to_major = order;
  leaf.alias = -1;

  return leaf;
}
/// Takes the shards of a global f32[4,3] whose columns are split among two partitions.
void takeShards(const ZipReader &archive, llvm::StringRef name) {
  static const int64_t global[] = {4, 3}, shard[] = {4, 2}, mesh[] = {2}, axes[] = {0, 1, 0};
  static const char *const names[] = {"x"};
  static const hlo_sharding sharding = {sizeof sharding, 2, global, mesh, names, 1, 2, axes,
                                        nullptr};
  hlo_buffer_desc leaf = makeLeaf("g", HLO_F32, 32, 2, rowMajor);
  leaf.dims = shard;
  leaf.sharding = &sharding;
  for (bool maps : {false, true}) {
    auto array = GlobalArray::read(archive, name, leaf, maps);
    if (!array) {
      llvm::consumeError(array.takeError());
      continue;
    }
    std::unique_ptr<char[]> buffer(new char[leaf.bytes]);
    for (uint32_t rank = 0; rank < 2; ++rank) {
      llvm::consumeError(array->take(rank, buffer.get()));
    }
  }
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string path = "/proc/self/fd/" + std::to_string(memfd_create("fuzz.npz", 0));
  static const int fd = std::atoi(path.c_str() + 14);
  if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != static_cast<ssize_t>(size)) {
    return -1;
  }
  const hlo_buffer_desc leaves[] = {
      makeLeaf("x", HLO_F32, 24, 2, rowMajor),      makeLeaf("y", HLO_S16, 12, 2, columnMajor),
      makeLeaf("z", HLO_C128, 32, 1, rowMajor + 1), makeLeaf("p", HLO_PRED, 1, 0, rowMajor),
      makeLeaf("s", HLO_S4, 6, 2, columnMajor),     makeLeaf("b", HLO_BF16, 12, 2, rowMajor),
  };
  auto archive = openInputs(path, leaves);
  if (!archive) {
    llvm::consumeError(archive.takeError());
    return 0;
  }
  std::vector<std::string> names;
  for (const hlo_buffer_desc &leaf : leaves) {
    names.push_back(leaf.name);
  }
  if (auto files = assignInputs(*archive, leaves, names)) {
    for (const std::string &name : files->members) {
      names.push_back(name);
    }
  } else {
    llvm::consumeError(files.takeError());
  }
  for (const ZipMember &member : archive->members()) {
    names.push_back(llvm::StringRef(member.name).ends_with(".npy")
                        ? member.name.substr(0, member.name.size() - 4)
                        : member.name);
  }
  llvm::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  // Each as the leaf of its name, or as one that the number of names chooses.
  for (auto [i, name] : llvm::enumerate(llvm::ArrayRef(names).take_front(12))) {
    auto *named = llvm::find_if(leaves, [&](const auto &leaf) { return name == leaf.name; });
    const hlo_buffer_desc &leaf =
        named != std::end(leaves) ? *named : leaves[(i + names.size()) % std::size(leaves)];
    std::unique_ptr<char[]> buffer(new char[leaf.bytes]);
    llvm::consumeError(loadLeaf(*archive, name, leaf, buffer.get()));
    llvm::consumeError(readShape(*archive, name, leaf).takeError());
    takeShards(*archive, name);
  }
  return 0;
}
