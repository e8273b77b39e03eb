//===- ZipWriter.cpp - Writing zip archives -------------------------------===//
//
// In: named blocks of bytes. Out: an archive of stored members, like numpy.savez's. Sizes are
// always in zip64 form, so that no member is too large. The checksum is computed before a member is
// written, because the parts are in memory.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/Error.h"
#include "tools/hlo-run/arrays/Zip.h"
#include "llvm/Support/Endian.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

using namespace llvm;
using namespace hlo::run;

namespace {
/// Little-endian fields, one after the other.
class Fields {
public:
  Fields &u16(uint16_t v) { return put(v); }
  Fields &u32(uint32_t v) { return put(v); }
  Fields &u64(uint64_t v) { return put(v); }
  Fields &text(StringRef s) {
    bytes.append(s.begin(), s.end());
    return *this;
  }
  ArrayRef<char> get() const { return ArrayRef(bytes.data(), bytes.size()); }

private:
  template <typename T> Fields &put(T v) {
    char raw[sizeof(T)];
    support::endian::write<T>(raw, v, endianness::little);
    bytes.append(raw, raw + sizeof(T));
    return *this;
  }
  std::string bytes;
};

constexpr uint16_t version = 45;         // zip64
constexpr uint32_t date = (1 << 5) | 1;  // 1980-01-01: the same bytes each time
constexpr uint32_t inZip64 = UINT32_MAX; // "see the extra field"
} // namespace

Expected<ZipWriter> ZipWriter::create(StringRef path) {
  ZipWriter writer;
  writer.path = path.str();
  struct stat info;
  bool special = stat(writer.path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  writer.temporary = special ? "" : writer.path + ".tmp" + std::to_string(getpid());
  const std::string &opened = special ? writer.path : writer.temporary;
  writer.fd = ::open(opened.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (writer.fd < 0) {
    return makeError(ExitFile, path + ": cannot write: " + std::strerror(errno));
  }
  return std::move(writer);
}

ZipWriter::ZipWriter(ZipWriter &&other)
    : path(std::move(other.path)), temporary(std::move(other.temporary)),
      fd(std::exchange(other.fd, -1)), offset(other.offset), directory(std::move(other.directory)) {
}

ZipWriter::~ZipWriter() {
  if (fd >= 0) {
    close(fd);
    removeTemporary();
  }
}

void ZipWriter::removeTemporary() {
  if (!temporary.empty()) {
    unlink(temporary.c_str());
  }
}

Error ZipWriter::write(ArrayRef<char> bytes) {
  offset += bytes.size();
  while (!bytes.empty()) {
    ssize_t done = ::write(fd, bytes.data(), std::min<size_t>(bytes.size(), 1u << 30));
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done < 0) {
      return makeError(ExitFile, path + ": cannot write: " + std::strerror(errno));
    }
    bytes = bytes.drop_front(static_cast<size_t>(done));
  }
  return Error::success();
}

Error ZipWriter::add(StringRef name, ArrayRef<ArrayRef<char>> parts) {
  ZipMember member;
  member.name = name.str();
  member.headerOffset = offset;
  uLong crc = crc32(0, nullptr, 0);
  for (ArrayRef<char> part : parts) {
    crc = crc32_z(crc, reinterpret_cast<const Bytef *>(part.data()), part.size());
    member.bytes += part.size();
  }
  member.crc = static_cast<uint32_t>(crc);
  Fields header;
  header.u32(0x04034b50).u16(version).u16(0).u16(0).u16(0).u16(date).u32(member.crc);
  header.u32(inZip64).u32(inZip64).u16(static_cast<uint16_t>(name.size())).u16(20).text(name);
  header.u16(1).u16(16).u64(member.bytes).u64(member.bytes);
  if (Error e = write(header.get())) {
    return e;
  }
  for (ArrayRef<char> part : parts) {
    if (Error e = write(part)) {
      return e;
    }
  }
  directory.push_back(std::move(member));
  return Error::success();
}

Error ZipWriter::finish() {
  uint64_t start = offset;
  Fields out;
  for (const ZipMember &member : directory) {
    out.u32(0x02014b50).u16(version).u16(version).u16(0).u16(0).u16(0).u16(date).u32(member.crc);
    out.u32(inZip64).u32(inZip64).u16(static_cast<uint16_t>(member.name.size())).u16(28);
    out.u16(0).u16(0).u16(0).u32(0).u32(inZip64).text(member.name);
    out.u16(1).u16(24).u64(member.bytes).u64(member.bytes).u64(member.headerOffset);
  }
  uint64_t bytes = out.get().size(), count = directory.size();
  out.u32(0x06064b50).u64(44).u16(version).u16(version).u32(0).u32(0);
  out.u64(count).u64(count).u64(bytes).u64(start);
  out.u32(0x07064b50).u32(0).u64(start + bytes).u32(1);
  out.u32(0x06054b50)
      .u16(0)
      .u16(0)
      .u16(UINT16_MAX)
      .u16(UINT16_MAX)
      .u32(inZip64)
      .u32(inZip64)
      .u16(0);
  if (Error e = write(out.get())) {
    return e;
  }
  bool failed = close(std::exchange(fd, -1)) != 0;
  if (!failed && !temporary.empty()) {
    failed = std::rename(temporary.c_str(), path.c_str()) != 0;
  }
  if (failed) {
    int why = errno;
    removeTemporary();
    return makeError(ExitFile, path + ": cannot write: " + std::strerror(why));
  }
  return Error::success();
}
