//===- Zip.h - Reading and writing zip archives ---------------------------===//
//
// The part of the format that .npz files use: stored and deflated members, zip64, no encryption,
// one disk. Members are streamed, so a large array is neither mapped nor held twice.
//
//===----------------------------------------------------------------------===//
#ifndef TOOLS_HLO_RUN_ARRAYS_ZIP_H
#define TOOLS_HLO_RUN_ARRAYS_ZIP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hlo::run {

/// One member, as described by the archive's directory, which is not trusted.
struct ZipMember {
  std::string name;
  uint16_t flags = 0, method = 0; ///< method: 0 stored, 8 deflated
  uint32_t crc = 0;
  uint64_t packedBytes = 0, bytes = 0;
  uint64_t headerOffset = 0;
  bool isPlain = false; ///< the whole file is the member: no header, no checksum
};

class ZipReader;

/// Part of a file, mapped read-only.
class MappedBytes {
public:
  MappedBytes() = default;
  MappedBytes(MappedBytes &&other) { *this = std::move(other); }
  MappedBytes &operator=(MappedBytes &&other);
  ~MappedBytes();
  const char *data() const { return start; }
  explicit operator bool() const { return start != nullptr; }

private:
  friend class ZipStream;
  const char *start = nullptr;
  void *mapping = nullptr;
  size_t mappingBytes = 0;
};

/// Reads one member from its start to its end.
class ZipStream {
public:
  ~ZipStream();
  ZipStream(ZipStream &&);
  /// Fills all of `out`; an error if the member ends earlier.
  llvm::Error read(llvm::MutableArrayRef<char> out);
  /// Call it after the last read: an error if bytes are left over, or the checksum is wrong.
  llvm::Error finish();
  /// The rest of the member, which must have that many bytes, without its checksum being compared;
  /// nothing if the member is compressed or empty, or the file cannot be mapped.
  llvm::Expected<MappedBytes> map(uint64_t bytes);

private:
  friend class ZipReader;
  struct Impl;
  explicit ZipStream(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// An archive opened for reading. Streams must not outlive it.
class ZipReader {
public:
  /// Opens the file and reads its directory. Unreadable: ExitFile; not a zip archive: ExitInput.
  static llvm::Expected<ZipReader> open(llvm::StringRef path);
  /// Opens a file that is not an archive as the only member, `name`, of one.
  static llvm::Expected<ZipReader> openPlain(llvm::StringRef path, llvm::StringRef name);
  ~ZipReader();
  ZipReader(ZipReader &&other);

  llvm::ArrayRef<ZipMember> members() const { return directory; }
  /// The member of that name, or null.
  const ZipMember *find(llvm::StringRef name) const;
  llvm::Expected<ZipStream> stream(const ZipMember &member) const;
  llvm::StringRef getPath() const { return path; }

private:
  ZipReader() = default;
  llvm::Error openFile(llvm::StringRef name);
  std::string path;
  int fd = -1;
  uint64_t fileBytes = 0;
  std::vector<ZipMember> directory;
};

/// Writes an archive of stored members under a temporary name, renamed to `path` by finish();
/// without finish() nothing is left. A path that is not a regular file (a pipe, /dev/null) is
/// written directly.
class ZipWriter {
public:
  static llvm::Expected<ZipWriter> create(llvm::StringRef path);
  ~ZipWriter();
  ZipWriter(ZipWriter &&other);
  /// Adds a member that consists of the parts, in order.
  llvm::Error add(llvm::StringRef name, llvm::ArrayRef<llvm::ArrayRef<char>> parts);
  llvm::Error finish();

private:
  ZipWriter() = default;
  llvm::Error write(llvm::ArrayRef<char> bytes);
  void removeTemporary();
  std::string path, temporary; ///< temporary: empty if the path itself is written
  int fd = -1;
  uint64_t offset = 0;
  std::vector<ZipMember> directory;
};

} // namespace hlo::run

#endif
