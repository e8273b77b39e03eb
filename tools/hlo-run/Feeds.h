//===- Feeds.h - Infeed, outfeed and host transfers by files --------------===//
#ifndef TOOLS_HLO_RUN_FEEDS_H
#define TOOLS_HLO_RUN_FEEDS_H

#include "tools/hlo-run/arrays/Npz.h"
#include <map>
#include <memory>
#include <optional>

namespace hlo::run {

/// The items of one stream of a module, read from or written to an .npz file. Arrays are numbered
/// over all items: feed0, feed1, ... in the order of their leaves; those of sends and receives per
/// channel: channel3_0, channel3_1, ...
class FeedFile {
public:
  /// Items come from the file.
  static llvm::Expected<std::unique_ptr<FeedFile>> read(llvm::StringRef path);
  /// Items go to the file, which is complete after finish().
  static llvm::Expected<std::unique_ptr<FeedFile>> write(llvm::StringRef path);

  /// For hlo_call; lives as long as this.
  const hlo_feed *feed() const { return &callbacks; }
  /// Called before each run: items start over. Only those of the first run are written.
  void rewind();
  llvm::Error finish();

private:
  FeedFile();
  hlo_status move(const hlo_feed_item &item);
  llvm::Error moveLeaf(const std::string &name, const hlo_feed_item &item, int32_t leaf);

  hlo_feed callbacks = {};
  std::optional<ZipReader> source;
  std::optional<ZipWriter> sink;
  bool writing = true;
  std::map<int64_t, uint64_t>
      moved; ///< number of arrays so far; the key is the channel, 0 for feeds
  uint32_t runs = 0;
};

/// File names of a module's streams; empty: none. `%r` is replaced by the rank.
struct StreamPaths {
  std::string infeed, outfeed, hostSend, hostRecv;
};

/// The streams of one rank. Null where there is no file.
struct Streams {
  std::unique_ptr<FeedFile> infeed, outfeed, hostSend, hostRecv;

  static llvm::Expected<Streams> open(const StreamPaths &paths, uint32_t rank);
  /// Sets the feeds of a call that is about to begin.
  void attach(hlo_call &call);
  /// Finishes the files.
  llvm::Error finish();
};

/// `path` with each `%r` replaced by the rank.
std::string pathOfRank(llvm::StringRef path, uint32_t rank);

} // namespace hlo::run

#endif
