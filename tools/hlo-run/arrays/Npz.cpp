//===- Npz.cpp - Array leaves from and to .npz files ----------------------===//
//
// Arrays are copied directly between file and program buffer, unless the order of dimensions or the
// form of the elements differs. The file's claims are compared with the leaf before memory is
// allocated for it.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/arrays/Npz.h"
#include "tools/hlo-run/Error.h"
#include "tools/hlo-run/arrays/Permute.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <hlo/shard.h>

using namespace llvm;
using namespace hlo::run;

namespace {
std::string shapeText(ArrayRef<int64_t> dims) {
  return "[" + llvm::join(llvm::map_range(dims, [](int64_t d) { return itostr(d); }), ",") + "]";
}

/// True if raw bytes of the type differ between file and program.
bool isSubByte(int32_t type) {
  char probe = '\xff';
  denormalize(type, MutableArrayRef(probe));
  return probe != '\xff';
}

Error check(const NpyHeader &header, const hlo_buffer_desc &leaf, StringRef where) {
  auto [kind, bytes] = npyStorage(leaf.type);
  if (!npyMatches(header, leaf.type)) {
    return makeError(ExitInput, where + ": element type " + header.descr() + ", " +
                                    hlo_type_name(leaf.type) + " is stored as '" + Twine(kind) +
                                    Twine(bytes) + "'" + (kind == 'u' ? " (raw bits)" : ""));
  }
  if (header.order == '>' && header.itemBytes > 1) {
    return makeError(ExitInput, where + ": big-endian array (" + header.descr() +
                                    "), only little-endian ones are read");
  }
  if (ArrayRef<int64_t>(header.shape) != dimsOf(leaf)) {
    bool isGlobal = leaf.sharding && ArrayRef<int64_t>(header.shape) ==
                                         ArrayRef(leaf.sharding->dims, dimsOf(leaf).size());
    return makeError(ExitInput, where + ": shape " + shapeText(header.shape) + ", the program's " +
                                    leaf.name + " has " + shapeText(dimsOf(leaf)) +
                                    (isGlobal ? ", a shard; --global reads whole arrays" : ""));
  }
  return Error::success();
}

/// Opens the member that holds the array.
Expected<ZipStream> openArray(const ZipReader &archive, StringRef name,
                              const hlo_buffer_desc &leaf) {
  const ZipMember *member = archive.find((name + ".npy").str());
  if (!member) {
    member = archive.find(name);
  }
  if (!member) {
    return makeError(ExitInput, archive.getPath() + ": no array '" + name + "' (for " + leaf.name +
                                    ", " + typeOf(leaf) + ")");
  }
  return archive.stream(*member);
}
} // namespace

Expected<SmallVector<int64_t>> hlo::run::readShape(const ZipReader &archive, StringRef name,
                                                   const hlo_buffer_desc &leaf) {
  Expected<ZipStream> stream = openArray(archive, name, leaf);
  if (!stream) {
    return stream.takeError();
  }
  Expected<NpyHeader> header = readNpyHeader(*stream, (archive.getPath() + ": " + name).str());
  if (!header) {
    return header.takeError();
  }
  return header->shape;
}

Expected<ArrayStream> hlo::run::openLeaf(const ZipReader &archive, StringRef name,
                                         const hlo_buffer_desc &leaf) {
  std::string where = (archive.getPath() + ": " + name).str();
  Expected<ZipStream> stream = openArray(archive, name, leaf);
  if (!stream) {
    return stream.takeError();
  }
  Expected<NpyHeader> header = readNpyHeader(*stream, where);
  if (!header) {
    return header.takeError();
  }
  if (Error e = check(*header, leaf, where)) {
    return std::move(e);
  }
  return ArrayStream{std::move(*stream), std::move(*header)};
}

Error hlo::run::loadLeaf(const ZipReader &archive, StringRef name, const hlo_buffer_desc &leaf,
                         char *buffer) {
  Expected<ArrayStream> opened = openLeaf(archive, name, leaf);
  if (!opened) {
    return opened.takeError();
  }
  ZipStream *stream = &opened->stream;
  const NpyHeader *header = &opened->header;
  size_t rank = dimsOf(leaf).size();
  SmallVector<int64_t> order = header->fortran ? columnMajor(rank) : rowMajor(rank);
  bool direct = sameOrder(dimsOf(leaf), order, orderOf(leaf));
  Memory copy;
  if (!direct) {
    copy = Memory(leaf.bytes);
    if (!copy) {
      return makeError(ExitInput, archive.getPath() + ": " + name + ": not enough memory for " +
                                      Twine(leaf.bytes) + " bytes");
    }
  }
  MutableArrayRef<char> items(direct ? buffer : copy.data(), static_cast<size_t>(leaf.bytes));
  if (Error e = stream->read(items)) {
    return e;
  }
  if (Error e = stream->finish()) {
    return e;
  }
  if (!direct) {
    permute(dimsOf(leaf), header->itemBytes, copy.data(), order, buffer, orderOf(leaf));
  }
  normalize(leaf.type, MutableArrayRef(buffer, static_cast<size_t>(leaf.bytes)));
  return Error::success();
}

Error hlo::run::saveLeaf(ZipWriter &archive, StringRef name, const hlo_buffer_desc &leaf,
                         const char *buffer) {
  NpyHeader header;
  std::tie(header.kind, header.itemBytes) = npyStorage(leaf.type);
  header.order = header.itemBytes > 1 ? '<' : '|';
  header.shape.assign(dimsOf(leaf).begin(), dimsOf(leaf).end());
  SmallVector<int64_t> order = rowMajor(dimsOf(leaf).size());
  bool direct = sameOrder(dimsOf(leaf), order, orderOf(leaf)) && !isSubByte(leaf.type);
  Memory copy;
  if (!direct) {
    copy = Memory(leaf.bytes);
    if (!copy) {
      return makeError(ExitFile, name + ": not enough memory for " + Twine(leaf.bytes) + " bytes");
    }
    permute(dimsOf(leaf), header.itemBytes, buffer, orderOf(leaf), copy.data(), order);
    denormalize(leaf.type, MutableArrayRef(copy.data(), static_cast<size_t>(leaf.bytes)));
    buffer = copy.data();
  }
  std::string start = formatNpyHeader(header);
  ArrayRef<char> parts[] = {ArrayRef(start.data(), start.size()),
                            ArrayRef(buffer, static_cast<size_t>(leaf.bytes))};
  return archive.add((name + ".npy").str(), parts);
}
