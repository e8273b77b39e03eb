//===- Files.cpp - Inputs and results of a run in files -------------------===//
//
// Without --global each rank has its own files, or all read the same. With it, files hold global
// arrays: for each of them, every rank of this process takes its shard, and the array is freed
// before the next one is read. Results go the other way: the first rank of a replica puts the
// shards together, one array at a time. Of equal shards one is sent.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/Files.h"
#include "tools/hlo-run/Dynamic.h"
#include "tools/hlo-run/Error.h"
#include "tools/hlo-run/Inputs.h"
#include "tools/hlo-run/arrays/Global.h"
#include "tools/hlo-run/arrays/Npz.h"
#include "tools/hlo-run/arrays/Random.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace llvm;
using namespace hlo::run;

using Show = function_ref<void(uint32_t, const hlo_buffer_desc &, const char *)>;

//===----------------------------------------------------------------------===//
// Files of single ranks
//===----------------------------------------------------------------------===//

namespace {
/// A file of inputs and which of its arrays is which.
struct Source {
  ZipReader archive;
  InputFiles files;
};
} // namespace

/// Opens the file of a rank, or of a replica. Warns of arrays that nothing takes if `warns`.
static Expected<Source> openSource(const CommandLine &line, ArrayRef<std::string> names,
                                   uint32_t number, ArrayRef<hlo_buffer_desc> leaves, bool warns) {
  Expected<ZipReader> archive = openInputs(pathOfRank(line.inputs, number), leaves);
  if (!archive) {
    return archive.takeError();
  }
  Expected<InputFiles> files = assignInputs(*archive, leaves, names);
  if (!files) {
    return files.takeError();
  }
  if (!files->unused.empty() && warns) {
    errs() << "hlo-run: warning: " << files->unused << "\n";
  }
  return Source{std::move(*archive), std::move(*files)};
}

Error hlo::run::fillInputs(const CommandLine &line, ArrayRef<std::string> names, uint32_t rank,
                           Program &program) {
  const hlo_module_desc &desc = program.describe();
  ArrayRef<hlo_buffer_desc> leaves(desc.inputs, desc.num_inputs);
  auto buffer = [&](uint32_t i) { return program.input(i); };
  if (line.inputs.empty()) {
    for (uint32_t i = 0; i < desc.num_inputs; ++i) {
      fillRandom(line.seed, i, leaves[i], program.input(i));
    }
    setSizesToBounds(leaves, buffer);
    return Error::success();
  }
  Expected<Source> source = openSource(line, names, rank, leaves, /*warns=*/rank == 0);
  if (!source) {
    return source.takeError();
  }
  Error all = readSizes(source->archive, source->files.members, leaves, buffer);
  if (all) {
    return all;
  }
  // Size leaves follow the arrays, which set them.
  for (uint32_t i = 0; i < source->files.members.size(); ++i) {
    const std::string &name = source->files.members[i];
    all = joinErrors(std::move(all), isBounded(leaves, i)
                                         ? loadBounded(source->archive, name, leaves, i, buffer)
                                         : loadLeaf(source->archive, name, leaves[i], buffer(i)));
  }
  return all;
}

Error hlo::run::writeOutputs(const CommandLine &line, uint32_t rank, const Program &program) {
  if (line.outputs.empty()) {
    return Error::success();
  }
  const hlo_module_desc &desc = program.describe();
  Expected<ZipWriter> archive = ZipWriter::create(pathOfRank(line.outputs, rank));
  if (!archive) {
    return archive.takeError();
  }
  ArrayRef<hlo_buffer_desc> leaves(desc.outputs, desc.num_outputs);
  for (uint32_t i = 0; i < desc.num_outputs && !isSize(leaves[i]); ++i) {
    Expected<TrueLeaf> cut = cutToSize(leaves, i, [&](uint32_t k) { return program.output(k); });
    if (!cut) {
      return cut.takeError();
    }
    if (Error e = saveLeaf(*archive, "out" + std::to_string(i), cut->leaf, cut->data)) {
      return e;
    }
  }
  return archive->finish();
}

//===----------------------------------------------------------------------===//
// Global inputs
//===----------------------------------------------------------------------===//

namespace {
/// A rank of this process.
struct Member {
  uint32_t rank;
  Program *program;
};
} // namespace

/// Fills input `i` of all members, ranks of one replica.
static Error fillOne(const CommandLine &line, const Source *source, uint32_t i,
                     ArrayRef<Member> members) {
  const hlo_module_desc &desc = members.front().program->describe();
  ArrayRef<hlo_buffer_desc> leaves(desc.inputs, desc.num_inputs);
  const hlo_buffer_desc &leaf = leaves[i];
  if (!leaf.sharding) {
    for (const Member &member : members) {
      auto buffer = [&](uint32_t k) { return member.program->input(k); };
      if (!source) {
        fillRandom(line.seed, i, leaf, buffer(i));
        continue;
      }
      const std::string &name = source->files.members[i];
      if (isBounded(leaves, i)) {
        if (Error e = loadBounded(source->archive, name, leaves, i, buffer)) {
          return e;
        }
      } else if (&member != &members.front()) {
        std::memcpy(buffer(i), members.front().program->input(i), leaf.bytes);
      } else if (Error e = loadLeaf(source->archive, name, leaf, buffer(i))) {
        return e;
      }
    }
    return Error::success();
  }
  if (isBounded(leaves, i)) {
    return makeError(ExitUnsupported,
                     Twine("--global: ") + leaf.name + " has a bounded dimension and is split");
  }
  Expected<GlobalArray> global =
      source ? GlobalArray::read(source->archive, source->files.members[i], leaf, line.mpi)
             : GlobalArray::make(leaf);
  if (!global) {
    return global.takeError();
  }
  if (!source) {
    fillRandom(line.seed, i, global->describe(), global->data());
  }
  for (const Member &member : members) {
    char *shard = member.program->input(i);
    if (Error e = global->take(member.rank, shard)) {
      return e;
    }
    if (Error e =
            line.guard == GuardSide::None ? Error::success() : global->spoil(member.rank, shard)) {
      return e;
    }
  }
  return Error::success();
}

/// Fills all inputs of all members, ranks of one replica.
static Error fillReplica(const CommandLine &line, ArrayRef<std::string> names, uint32_t replica,
                         ArrayRef<Member> members) {
  const hlo_module_desc &desc = members.front().program->describe();
  ArrayRef<hlo_buffer_desc> leaves(desc.inputs, desc.num_inputs);
  std::optional<Source> source;
  if (!line.inputs.empty()) {
    Expected<Source> opened =
        openSource(line, names, replica, leaves, /*warns=*/members.front().rank == 0);
    if (!opened) {
      return opened.takeError();
    }
    source.emplace(std::move(*opened));
    for (const Member &member : members) {
      if (Error e = readSizes(source->archive, source->files.members, leaves,
                              [&](uint32_t k) { return member.program->input(k); })) {
        return e;
      }
    }
  } else {
    for (const Member &member : members) {
      setSizesToBounds(leaves, [&](uint32_t k) { return member.program->input(k); });
    }
  }
  Error all = Error::success();
  for (uint32_t i = 0; i < leaves.size() && !isSize(leaves[i]); ++i) {
    all = joinErrors(std::move(all), fillOne(line, source ? &*source : nullptr, i, members));
  }
  return all;
}

Error hlo::run::fillFromGlobal(const CommandLine &line, ArrayRef<std::string> names,
                               const Ranks &ranks, std::vector<Program> &programs) {
  std::vector<Member> members;
  for (auto [i, program] : enumerate(programs)) {
    members.push_back({ranks.first() + static_cast<uint32_t>(i), &program});
  }
  // All members are one replica, or all partitions of several.
  for (ArrayRef<Member> left = members; !left.empty();) {
    uint32_t replica = left.front().rank / ranks.partitions();
    ArrayRef<Member> own = left.take_while(
        [&](const Member &member) { return member.rank / ranks.partitions() == replica; });
    if (Error e = fillReplica(line, names, replica, own)) {
      return e;
    }
    left = left.drop_front(own.size());
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Global results
//===----------------------------------------------------------------------===//

/// The ranks of one replica that have different shards of a leaf: one of each kind.
static SmallVector<uint32_t> owners(const hlo_buffer_desc &leaf, const Ranks &ranks,
                                    uint32_t replica) {
  SmallVector<uint32_t> list;
  for (uint32_t partition = 0; partition < ranks.partitions(); ++partition) {
    if (hlo_shard_first(&leaf, static_cast<int32_t>(partition)) ==
        static_cast<int32_t>(partition)) {
      list.push_back(replica * ranks.partitions() + partition);
    }
  }
  return list;
}

/// Puts a result of a replica together. On other processes than that of its first rank only sends
/// this rank's shard, and the array is absent.
static Expected<std::optional<GlobalArray>> gather(const hlo_buffer_desc &leaf, const Ranks &ranks,
                                                   uint32_t replica,
                                                   function_ref<const char *(uint32_t)> shard) {
  uint32_t root = replica * ranks.partitions(), self = ranks.first();
  bool isHere = !ranks.others() || self == root;
  MutableArrayRef<char> received;
  Memory memory;
  if (!isHere) {
    Error sent = Error::success();
    if (is_contained(owners(leaf, ranks, replica), self)) {
      ArrayRef<char> bytes(shard(self), static_cast<size_t>(leaf.bytes));
      sent = ranks.others()->send(root, bytes, "results");
    }
    if (sent) {
      return std::move(sent);
    }
    return std::optional<GlobalArray>();
  }
  Expected<GlobalArray> global = GlobalArray::make(leaf);
  if (!global) {
    return global.takeError();
  }
  for (uint32_t rank : owners(leaf, ranks, replica)) {
    const char *data = nullptr;
    if (!ranks.others() || rank == self) {
      data = shard(rank);
    } else {
      if (!memory) {
        memory = Memory(leaf.bytes);
        if (!memory) {
          return makeError(ExitRun, "not enough memory: " + Twine(leaf.bytes) + " bytes");
        }
        received = MutableArrayRef(memory.data(), static_cast<size_t>(leaf.bytes));
      }
      if (Error e = ranks.others()->receive(rank, received, "results")) {
        return std::move(e);
      }
      data = memory.data();
    }
    if (Error e = global->put(rank, data)) {
      return std::move(e);
    }
  }
  return std::optional<GlobalArray>(std::move(*global));
}

/// Calls `use` with each result of a replica, or with each input, on the process that has its first
/// rank.
static Error
forEachGlobal(const Ranks &ranks, std::vector<Program> &programs, uint32_t replica, bool areInputs,
              function_ref<Error(uint32_t, const hlo_buffer_desc &, const char *)> use) {
  const hlo_module_desc &desc = programs.front().describe();
  ArrayRef<hlo_buffer_desc> leaves(areInputs ? desc.inputs : desc.outputs,
                                   areInputs ? desc.num_inputs : desc.num_outputs);
  uint32_t root = replica * ranks.partitions();
  for (uint32_t i = 0; i < leaves.size() && !isSize(leaves[i]); ++i) {
    auto shardOf = [&](uint32_t rank, uint32_t leaf) -> const char * {
      Program &program = programs[rank - ranks.first()];
      return areInputs ? program.input(leaf) : program.output(leaf);
    };
    if (leaves[i].sharding) {
      Expected<std::optional<GlobalArray>> global =
          gather(leaves[i], ranks, replica, [&](uint32_t rank) { return shardOf(rank, i); });
      if (!global) {
        return global.takeError();
      }
      if (*global) {
        if (Error e = use(i, (*global)->describe(), (*global)->data())) {
          return e;
        }
      }
    } else if (!ranks.others() || ranks.first() == root) {
      Expected<TrueLeaf> cut = cutToSize(leaves, i, [&](uint32_t k) { return shardOf(root, k); });
      if (!cut) {
        return cut.takeError();
      }
      if (Error e = use(i, cut->leaf, cut->data)) {
        return e;
      }
    }
  }
  return Error::success();
}

/// Puts the results of one replica together; writes them if `writes`.
static Error writeReplica(const CommandLine &line, const Ranks &ranks,
                          std::vector<Program> &programs, uint32_t replica, bool writes,
                          Show show) {
  uint32_t root = replica * ranks.partitions();
  std::optional<ZipWriter> archive;
  if (writes && (!ranks.others() || ranks.first() == root)) {
    Expected<ZipWriter> created = ZipWriter::create(pathOfRank(line.outputs, replica));
    if (!created) {
      return created.takeError();
    }
    archive.emplace(std::move(*created));
  }
  Error error =
      forEachGlobal(ranks, programs, replica, /*areInputs=*/false,
                    [&](uint32_t i, const hlo_buffer_desc &leaf, const char *data) -> Error {
                      if (replica == 0) {
                        show(i, leaf, data);
                      }
                      return archive ? saveLeaf(*archive, "out" + std::to_string(i), leaf, data)
                                     : Error::success();
                    });
  if (error) {
    return error;
  }
  return archive ? archive->finish() : Error::success();
}

Error hlo::run::writeGlobal(const CommandLine &line, const Ranks &ranks,
                            std::vector<Program> &programs, Show show) {
  uint32_t replicas = ranks.count() / ranks.partitions();
  bool writesAll = StringRef(line.outputs).contains("%r");
  for (uint32_t replica = 0; replica < (writesAll ? replicas : 1); ++replica) {
    if (ranks.others() && ranks.first() / ranks.partitions() != replica) {
      continue;
    }
    if (Error e = writeReplica(line, ranks, programs, replica, !line.outputs.empty(), show)) {
      return e;
    }
  }
  return Error::success();
}

Error hlo::run::showGlobalInputs(const Ranks &ranks, std::vector<Program> &programs, Show show) {
  return forEachGlobal(ranks, programs, /*replica=*/0, /*areInputs=*/true,
                       [&](uint32_t i, const hlo_buffer_desc &leaf, const char *data) {
                         show(i, leaf, data);
                         return Error::success();
                       });
}
