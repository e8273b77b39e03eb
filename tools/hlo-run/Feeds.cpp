//===- Feeds.cpp - Infeed, outfeed and host transfers by files ------------===//
//
// Connects hlo_feed.move_item to an .npz archive that is read or written leaf by leaf. Element type
// and shape of an array in a file must match the module's, as with --inputs.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/Feeds.h"
#include "tools/hlo-run/Error.h"
#include "tools/hlo-run/arrays/Packed.h"
#include <algorithm>
#include <cstring>

using namespace llvm;
using namespace hlo::run;

FeedFile::FeedFile() {
  callbacks.struct_size = sizeof(hlo_feed);
  callbacks.user = this;
  callbacks.move_item = [](void *user, const hlo_feed_item *item) {
    return static_cast<FeedFile *>(user)->move(*item);
  };
}

Expected<std::unique_ptr<FeedFile>> FeedFile::read(StringRef path) {
  Expected<ZipReader> archive = ZipReader::open(path);
  if (!archive) {
    return archive.takeError();
  }
  std::unique_ptr<FeedFile> file(new FeedFile());
  file->source.emplace(std::move(*archive));
  return std::move(file);
}

Expected<std::unique_ptr<FeedFile>> FeedFile::write(StringRef path) {
  Expected<ZipWriter> archive = ZipWriter::create(path);
  if (!archive) {
    return archive.takeError();
  }
  std::unique_ptr<FeedFile> file(new FeedFile());
  file->sink.emplace(std::move(*archive));
  return std::move(file);
}

void FeedFile::rewind() {
  moved.clear();
  writing = runs++ == 0;
}

Error FeedFile::finish() { return sink ? sink->finish() : Error::success(); }

Error FeedFile::moveLeaf(const std::string &name, const hlo_feed_item &item, int32_t leaf) {
  auto *buffer = static_cast<char *>(item.leaves[leaf]);
  const hlo_buffer_desc &given = *hlo_feed_leaf_at(&item, static_cast<uint32_t>(leaf));
  hlo_buffer_desc type = given;
  std::vector<char> unpacked; // files have an element a byte
  if (isPacked(type)) {
    type.bytes = static_cast<uint64_t>(countOf(type));
    unpacked.resize(type.bytes + 1);
  }
  char *elements = unpacked.empty() ? buffer : unpacked.data();
  if (source) {
    Error error = loadLeaf(*source, name, type, elements);
    if (!error && !unpacked.empty()) {
      pack(given, elements, buffer);
    }
    return error;
  }
  if (!writing) {
    return Error::success();
  }
  if (!unpacked.empty()) {
    unpack(given, buffer, elements);
  }
  return saveLeaf(*sink, name, type, elements);
}

hlo_status FeedFile::move(const hlo_feed_item &item) {
  std::string prefix =
      item.channel ? "channel" + std::to_string(item.channel) + "_" : std::string("feed");
  for (int32_t leaf = 0; leaf < item.count; ++leaf) {
    std::string name = prefix + std::to_string(moved[item.channel]++);
    Error error = moveLeaf(name, item, leaf);
    if (!error) {
      continue;
    }
    std::string text;
    int code = ExitDone;
    handleAllErrors(std::move(error), [&](const RunError &e) {
      text = e.getText();
      code = e.getExitCode();
    });
    size_t length = std::min(text.size(), item.message_bytes - 1);
    std::memcpy(item.message, text.data(), length);
    item.message[length] = '\0';
    return code == ExitInput ? HLO_INVALID_ARGUMENT : HLO_UNAVAILABLE;
  }
  return HLO_OK;
}

std::string hlo::run::pathOfRank(StringRef path, uint32_t rank) {
  std::string result;
  while (!path.empty()) {
    auto [before, after] = path.split("%r");
    result += before;
    if (before.size() != path.size()) {
      result += std::to_string(rank);
    }
    path = after;
  }
  return result;
}

Expected<Streams> Streams::open(const StreamPaths &paths, uint32_t rank) {
  Streams streams;
  auto openOne = [&](StringRef path, bool isSource, std::unique_ptr<FeedFile> &file) -> Error {
    if (path.empty()) {
      return Error::success();
    }
    std::string name = pathOfRank(path, rank);
    auto opened = isSource ? FeedFile::read(name) : FeedFile::write(name);
    if (!opened) {
      return opened.takeError();
    }
    file = std::move(*opened);
    return Error::success();
  };
  if (Error e = openOne(paths.infeed, /*isSource=*/true, streams.infeed)) {
    return std::move(e);
  }
  if (Error e = openOne(paths.hostRecv, /*isSource=*/true, streams.hostRecv)) {
    return std::move(e);
  }
  if (Error e = openOne(paths.outfeed, /*isSource=*/false, streams.outfeed)) {
    return std::move(e);
  }
  if (Error e = openOne(paths.hostSend, /*isSource=*/false, streams.hostSend)) {
    return std::move(e);
  }
  return std::move(streams);
}

void Streams::attach(hlo_call &call) {
  auto attachOne = [](std::unique_ptr<FeedFile> &file, const hlo_feed *&feed) {
    if (file) {
      file->rewind();
      feed = file->feed();
    }
  };
  attachOne(infeed, call.infeed);
  attachOne(outfeed, call.outfeed);
  attachOne(hostSend, call.host_send);
  attachOne(hostRecv, call.host_recv);
}

Error Streams::finish() {
  Error all = Error::success();
  for (FeedFile *file : {outfeed.get(), hostSend.get()}) {
    if (file) {
      all = joinErrors(std::move(all), file->finish());
    }
  }
  return all;
}
