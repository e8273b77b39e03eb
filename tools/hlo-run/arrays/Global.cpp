//===- Global.cpp - Arrays of which ranks have shards ---------------------===//
//
// hlo/shard.h on arrays of files. A file's order of dimensions may differ from the program's: the
// shard is cut out in the file's order, and only the shard is permuted. Elements smaller than a
// byte take one here, so they are copied as bytes.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/arrays/Global.h"
#include "tools/hlo-run/Error.h"
#include "tools/hlo-run/arrays/Npz.h"
#include "tools/hlo-run/arrays/Packed.h"
#include "tools/hlo-run/arrays/Permute.h"
#include <cstring>

using namespace llvm;
using namespace hlo::run;

/// The leaf as hlo/shard.h reads it: with elements of whole bytes.
static hlo_buffer_desc ofBytes(hlo_buffer_desc leaf) {
  if (isPacked(leaf)) {
    leaf.type = HLO_U8;
  }
  return leaf;
}

static Error statusError(hlo_status status, const hlo_buffer_desc &leaf) {
  return status == HLO_OK ? Error::success()
                          : makeError(ExitInternal, Twine("internal error: sharding of ") +
                                                        leaf.name + ": " + hlo_status_name(status));
}

hlo_buffer_desc hlo::run::globalLeaf(const hlo_buffer_desc &leaf) {
  hlo_buffer_desc global = leaf;
  if (leaf.sharding) {
    hlo_buffer_desc bytes = ofBytes(leaf);
    global.dims = leaf.sharding->dims;
    global.bytes = hlo_shard_global_bytes(&bytes);
    global.sharding = nullptr;
  }
  return global;
}

static Error noMemory(const hlo_buffer_desc &global) {
  return makeError(ExitRun, "not enough memory: " + Twine(global.bytes) + " bytes for " +
                                global.name + ", " + typeOf(global));
}

Expected<GlobalArray> GlobalArray::make(const hlo_buffer_desc &leaf) {
  GlobalArray array(leaf);
  array.order.assign(orderOf(leaf).begin(), orderOf(leaf).end());
  hlo_buffer_desc global = globalLeaf(leaf);
  array.memory = Memory(global.bytes);
  if (!array.memory) {
    return noMemory(global);
  }
  std::memset(array.memory.data(), 0, global.bytes);
  return std::move(array);
}

Expected<GlobalArray> GlobalArray::read(const ZipReader &archive, StringRef name,
                                        const hlo_buffer_desc &leaf, bool maps) {
  hlo_buffer_desc global = globalLeaf(leaf);
  Expected<ArrayStream> opened = openLeaf(archive, name, global);
  if (!opened) {
    return opened.takeError();
  }
  GlobalArray array(leaf);
  size_t rank = dimsOf(leaf).size();
  array.order = opened->header.fortran ? columnMajor(rank) : rowMajor(rank);
  if (maps) {
    Expected<MappedBytes> mapped = opened->stream.map(global.bytes);
    if (!mapped) {
      return mapped.takeError();
    }
    if (*mapped) {
      array.mapped = std::move(*mapped);
      return std::move(array);
    }
  }
  array.memory = Memory(global.bytes);
  if (!array.memory) {
    return noMemory(global);
  }
  MutableArrayRef<char> items(array.memory.data(), static_cast<size_t>(global.bytes));
  if (Error e = opened->stream.read(items)) {
    return std::move(e);
  }
  if (Error e = opened->stream.finish()) {
    return std::move(e);
  }
  return std::move(array);
}

Error GlobalArray::take(uint32_t rank, char *shard) const {
  hlo_buffer_desc inOrder = ofBytes(leaf);
  inOrder.minor_to_major = order.data();
  bool direct = sameOrder(dimsOf(leaf), order, orderOf(leaf));
  Memory copy;
  if (!direct) {
    copy = Memory(leaf.bytes);
    if (!copy) {
      return noMemory(leaf);
    }
  }
  char *to = direct ? shard : copy.data();
  if (Error e =
          statusError(hlo_shard_take(&inOrder, static_cast<int32_t>(rank), bytes(), to), leaf)) {
    return e;
  }
  if (!direct) {
    permute(dimsOf(leaf), static_cast<int64_t>(hlo_type_bytes(leaf.type)), to, order, shard,
            orderOf(leaf));
  }
  normalize(leaf.type, MutableArrayRef(shard, static_cast<size_t>(leaf.bytes)));
  return Error::success();
}

Error GlobalArray::spoil(uint32_t rank, char *shard) const {
  Expected<GlobalArray> ones = make(leaf);
  Memory mask(leaf.bytes);
  if (!ones) {
    return ones.takeError();
  }
  if (!mask) {
    return noMemory(leaf);
  }
  std::memset(ones->data(), 1, ones->describe().bytes);
  if (Error e = ones->take(rank, mask.data())) {
    return e;
  }
  for (uint64_t i = 0; i < leaf.bytes; ++i) {
    if (!mask.data()[i]) {
      shard[i] = leaf.type == HLO_PRED ? 1 : -1;
    }
  }
  normalize(leaf.type, MutableArrayRef(shard, static_cast<size_t>(leaf.bytes)));
  return Error::success();
}

Error GlobalArray::put(uint32_t rank, const char *shard) {
  hlo_buffer_desc bytes = ofBytes(leaf);
  return statusError(hlo_shard_put(&bytes, static_cast<int32_t>(rank), shard, memory.data()), leaf);
}
