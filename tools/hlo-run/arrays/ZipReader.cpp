//===- ZipReader.cpp - Reading zip archives -------------------------------===//
//
// In: a file. Out: its directory and streams of its members' contents. Follows PKWARE's APPNOTE 6.3
// (sections 4.3.7 local header, 4.3.12 directory entry, 4.3.14-16 end records, 4.5.3 zip64 extra
// field). The file may be hostile: every offset and size is checked against the file before it is
// used, no allocation exceeds the file's length because of its claims, and inflating stops where
// the caller's request ends.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/Error.h"
#include "tools/hlo-run/arrays/Zip.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

using namespace llvm;
using namespace hlo::run;
using support::endian::read16le;
using support::endian::read32le;
using support::endian::read64le;

namespace {
constexpr uint32_t localMagic = 0x04034b50, entryMagic = 0x02014b50;
constexpr uint32_t endMagic = 0x06054b50, end64Magic = 0x06064b50, locatorMagic = 0x07064b50;
constexpr size_t localBytes = 30, entryBytes = 46, endBytes = 22, end64Bytes = 56,
                 locatorBytes = 20;

/// Where the directory is.
struct DirectoryPlace {
  uint64_t offset, bytes, entries;
};

Error bad(StringRef path, const Twine &what) { return makeError(ExitInput, path + ": " + what); }

/// Reads exactly `size` bytes at `offset`.
Error readAt(int fd, StringRef path, uint64_t offset, char *out, size_t size) {
  while (size > 0) {
    ssize_t got = pread(fd, out, std::min<size_t>(size, 1u << 30), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return makeError(ExitFile, path + ": cannot read: " + std::strerror(errno));
    }
    if (got == 0) {
      return bad(path, "the file ends within an archive member");
    }
    out += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
  return Error::success();
}

Expected<DirectoryPlace> findDirectory(int fd, StringRef path, uint64_t fileBytes) {
  if (fileBytes < endBytes) {
    return bad(path, "not an .npz file: it has " + Twine(fileBytes) + " bytes");
  }
  // The end record is followed by a comment of at most 65535 bytes.
  size_t tailBytes =
      static_cast<size_t>(std::min<uint64_t>(fileBytes, endBytes + 65535 + locatorBytes));
  std::string tail(tailBytes, '\0');
  uint64_t tailOffset = fileBytes - tailBytes;
  if (Error e = readAt(fd, path, tailOffset, tail.data(), tailBytes)) {
    return std::move(e);
  }
  size_t end = tailBytes - endBytes + 1;
  do {
    if (end-- == 0) {
      return bad(path, "not an .npz file: no zip directory at its end");
    }
  } while (read32le(tail.data() + end) != endMagic);
  const char *record = tail.data() + end;
  DirectoryPlace place{read32le(record + 16), read32le(record + 12), read16le(record + 10)};
  uint64_t limit = tailOffset + end;
  if (end >= locatorBytes && read32le(record - locatorBytes) == locatorMagic) {
    uint64_t at = read64le(record - locatorBytes + 8);
    char end64[end64Bytes];
    if (at > fileBytes || fileBytes - at < end64Bytes) {
      return bad(path, "damaged archive: its zip64 end record lies outside of the file");
    }
    if (Error e = readAt(fd, path, at, end64, end64Bytes)) {
      return std::move(e);
    }
    if (read32le(end64) != end64Magic) {
      return bad(path, "damaged archive: no zip64 end record where the locator points");
    }
    place = {read64le(end64 + 48), read64le(end64 + 40), read64le(end64 + 32)};
    limit = at;
  }
  if (place.offset > limit || place.bytes > limit - place.offset ||
      place.entries > place.bytes / entryBytes) {
    return bad(path, "damaged archive: its directory does not fit into the file");
  }
  return place;
}

/// Replaces the fields that the entry marks as stored in the zip64 extra field.
bool readZip64(ArrayRef<char> extra, ZipMember &member) {
  bool packed = member.packedBytes == UINT32_MAX, plain = member.bytes == UINT32_MAX;
  bool offset = member.headerOffset == UINT32_MAX;
  while (extra.size() >= 4) {
    uint16_t id = read16le(extra.data()), size = read16le(extra.data() + 2);
    if (size > extra.size() - 4) {
      return false;
    }
    if (id == 1) {
      const char *p = extra.data() + 4;
      size_t left = size;
      auto take = [&](bool wanted, uint64_t &field) {
        if (!wanted) {
          return true;
        }
        if (left < 8) {
          return false;
        }
        field = read64le(p);
        p += 8;
        left -= 8;
        return true;
      };
      return take(plain, member.bytes) && take(packed, member.packedBytes) &&
             take(offset, member.headerOffset);
    }
    extra = extra.drop_front(4 + size);
  }
  return !(packed || plain || offset);
}

Error parseDirectory(StringRef path, ArrayRef<char> bytes, uint64_t entries,
                     std::vector<ZipMember> &out) {
  for (uint64_t i = 0; i < entries; ++i) {
    if (bytes.size() < entryBytes || read32le(bytes.data()) != entryMagic) {
      return bad(path, "damaged archive: directory entry " + Twine(i) + " of " + Twine(entries) +
                           " is missing");
    }
    const char *p = bytes.data();
    size_t name = read16le(p + 28), extra = read16le(p + 30), comment = read16le(p + 32);
    if (bytes.size() - entryBytes < name + extra + comment) {
      return bad(path, "damaged archive: directory entry " + Twine(i) + " is cut off");
    }
    ZipMember member;
    member.flags = read16le(p + 8);
    member.method = read16le(p + 10);
    member.crc = read32le(p + 16);
    member.packedBytes = read32le(p + 20);
    member.bytes = read32le(p + 24);
    member.headerOffset = read32le(p + 42);
    member.name.assign(p + entryBytes, name);
    if (!readZip64(bytes.slice(entryBytes + name, extra), member)) {
      return bad(path, "damaged archive: zip64 sizes of member '" + member.name + "' are missing");
    }
    out.push_back(std::move(member));
    bytes = bytes.drop_front(entryBytes + name + extra + comment);
  }
  return Error::success();
}
} // namespace

//===----------------------------------------------------------------------===//
// ZipReader
//===----------------------------------------------------------------------===//

Error ZipReader::openFile(StringRef name) {
  path = name.str();
  fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0) {
    return makeError(ExitFile, path + ": cannot open: " + std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) {
    return makeError(ExitFile, path + ": not a regular file");
  }
  fileBytes = static_cast<uint64_t>(info.st_size);
  return Error::success();
}

Expected<ZipReader> ZipReader::openPlain(StringRef path, StringRef name) {
  ZipReader reader;
  if (Error e = reader.openFile(path)) {
    return std::move(e);
  }
  ZipMember member;
  member.name = name.str();
  member.packedBytes = member.bytes = reader.fileBytes;
  member.isPlain = true;
  reader.directory.push_back(std::move(member));
  return std::move(reader);
}

Expected<ZipReader> ZipReader::open(StringRef path) {
  ZipReader reader;
  if (Error e = reader.openFile(path)) {
    return std::move(e);
  }
  Expected<DirectoryPlace> place = findDirectory(reader.fd, path, reader.fileBytes);
  if (!place) {
    return place.takeError();
  }
  std::vector<char> bytes(place->bytes);
  if (Error e = readAt(reader.fd, path, place->offset, bytes.data(), bytes.size())) {
    return std::move(e);
  }
  if (Error e = parseDirectory(path, bytes, place->entries, reader.directory)) {
    return std::move(e);
  }
  return std::move(reader);
}

ZipReader::ZipReader(ZipReader &&other)
    : path(std::move(other.path)), fd(std::exchange(other.fd, -1)), fileBytes(other.fileBytes),
      directory(std::move(other.directory)) {}

ZipReader::~ZipReader() {
  if (fd >= 0) {
    close(fd);
  }
}

const ZipMember *ZipReader::find(StringRef name) const {
  for (const ZipMember &member : directory) {
    if (member.name == name) {
      return &member;
    }
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// ZipStream
//===----------------------------------------------------------------------===//

struct ZipStream::Impl {
  int fd;
  std::string where; ///< "file.npz: in0.npy"
  bool deflated;
  uint64_t offset, packedLeft; ///< of the packed bytes not yet read
  uint64_t left;               ///< unpacked bytes still expected
  uint32_t crc, expectedCrc;
  bool checks; ///< whether there is a checksum; a plain file has none
  z_stream inflater{};
  bool inflaterOpen = false;
  std::vector<char> packed; ///< the inflater's input

  ~Impl() {
    if (inflaterOpen) {
      inflateEnd(&inflater);
    }
  }

  Error readStored(char *out, size_t size) {
    if (Error e = readAt(fd, where, offset, out, size)) {
      return e;
    }
    offset += size;
    packedLeft -= size;
    return Error::success();
  }

  Error readDeflated(char *out, size_t size) {
    inflater.next_out = reinterpret_cast<Bytef *>(out);
    while (size > 0) {
      if (inflater.avail_in == 0 && packedLeft > 0) {
        size_t chunk = static_cast<size_t>(std::min<uint64_t>(packedLeft, packed.size()));
        if (Error e = readStored(packed.data(), chunk)) {
          return e;
        }
        inflater.next_in = reinterpret_cast<Bytef *>(packed.data());
        inflater.avail_in = static_cast<uInt>(chunk);
      }
      uInt want = static_cast<uInt>(std::min<size_t>(size, 1u << 30));
      inflater.avail_out = want;
      int status = inflate(&inflater, Z_NO_FLUSH);
      size_t got = want - inflater.avail_out;
      size -= got;
      bool stuck = got == 0 && inflater.avail_in == 0 && packedLeft == 0;
      if (size > 0 && (status == Z_STREAM_END || stuck)) {
        return bad(where, "compressed data end " + Twine(size) + " bytes too early");
      }
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        return bad(where, Twine("damaged compressed data: ") +
                              (inflater.msg ? inflater.msg : "unknown reason"));
      }
    }
    return Error::success();
  }
};

ZipStream::ZipStream(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
ZipStream::ZipStream(ZipStream &&) = default;
ZipStream::~ZipStream() = default;

Expected<ZipStream> ZipReader::stream(const ZipMember &member) const {
  std::string where = path + ": " + member.name;
  if (member.flags & 1) {
    return bad(where, "encrypted archive members are not supported");
  }
  if (member.method != 0 && member.method != 8) {
    return bad(where, "compression method " + Twine(member.method) +
                          " is not supported, only 0 (stored) and 8 (deflated)");
  }
  if (!member.isPlain &&
      (member.headerOffset > fileBytes || fileBytes - member.headerOffset < localBytes)) {
    return bad(where, "damaged archive: the member starts at " + Twine(member.headerOffset) +
                          ", the file has " + Twine(fileBytes) + " bytes");
  }
  uint64_t start = 0;
  if (!member.isPlain) {
    char header[localBytes];
    if (Error e = readAt(fd, where, member.headerOffset, header, localBytes)) {
      return std::move(e);
    }
    if (read32le(header) != localMagic) {
      return bad(where, "damaged archive: no member where the directory points");
    }
    start = member.headerOffset + localBytes + read16le(header + 26) + read16le(header + 28);
  }
  if (start > fileBytes || fileBytes - start < member.packedBytes) {
    return bad(where, "damaged archive: " + Twine(member.packedBytes) + " bytes at " +
                          Twine(start) + " do not fit into the file of " + Twine(fileBytes) +
                          " bytes");
  }
  if (member.method == 0 && member.packedBytes != member.bytes) {
    return bad(where, "damaged archive: a stored member of " + Twine(member.bytes) +
                          " bytes takes " + Twine(member.packedBytes));
  }
  auto impl = std::make_unique<ZipStream::Impl>();
  impl->fd = fd;
  impl->where = std::move(where);
  impl->deflated = member.method == 8;
  impl->offset = start;
  impl->packedLeft = member.packedBytes;
  impl->left = member.bytes;
  impl->expectedCrc = member.crc;
  impl->checks = !member.isPlain;
  impl->crc = static_cast<uint32_t>(crc32(0, nullptr, 0));
  if (impl->deflated) {
    impl->packed.resize(1 << 18);
    if (inflateInit2(&impl->inflater, -MAX_WBITS) != Z_OK) {
      return makeError(ExitInternal, impl->where + ": cannot start zlib");
    }
    impl->inflaterOpen = true;
  }
  return ZipStream(std::move(impl));
}

Error ZipStream::read(MutableArrayRef<char> out) {
  if (out.size() > impl->left) {
    return bad(impl->where, "the member has " + Twine(impl->left) + " bytes left, " +
                                Twine(out.size()) + " are needed");
  }
  // In pieces that stay in the cache, so that the checksum needs no extra pass over memory.
  for (size_t done = 0; done < out.size();) {
    size_t piece = std::min<size_t>(out.size() - done, 1 << 18);
    char *p = out.data() + done;
    if (Error e = impl->deflated ? impl->readDeflated(p, piece) : impl->readStored(p, piece)) {
      return e;
    }
    impl->crc = static_cast<uint32_t>(
        crc32(impl->crc, reinterpret_cast<const Bytef *>(p), static_cast<uInt>(piece)));
    done += piece;
  }
  impl->left -= out.size();
  return Error::success();
}

Expected<MappedBytes> ZipStream::map(uint64_t bytes) {
  if (impl->left != bytes) {
    return bad(impl->where, "the member has " + Twine(impl->left) + " bytes left, " + Twine(bytes) +
                                " are needed");
  }
  MappedBytes mapped;
  if (impl->deflated || bytes == 0) {
    return std::move(mapped);
  }
  uint64_t before = impl->offset % static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  size_t length = static_cast<size_t>(bytes + before);
  void *mapping = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, impl->fd,
                       static_cast<off_t>(impl->offset - before));
  if (mapping != MAP_FAILED) {
    mapped.mapping = mapping;
    mapped.mappingBytes = length;
    mapped.start = static_cast<const char *>(mapping) + before;
  }
  return std::move(mapped);
}

MappedBytes &MappedBytes::operator=(MappedBytes &&other) {
  std::swap(start, other.start);
  std::swap(mapping, other.mapping);
  std::swap(mappingBytes, other.mappingBytes);
  return *this;
}

MappedBytes::~MappedBytes() {
  if (mapping) {
    munmap(mapping, mappingBytes);
  }
}

Error ZipStream::finish() {
  if (impl->left != 0) {
    return bad(impl->where, Twine(impl->left) + " bytes too many");
  }
  if (impl->checks && impl->crc != impl->expectedCrc) {
    return bad(impl->where, "damaged archive: wrong checksum of the member's contents");
  }
  return Error::success();
}
