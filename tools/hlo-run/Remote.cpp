//===- Remote.cpp - A module of another architecture, under an emulator ----===//
//
// In: an object file that this process cannot execute. It is linked with its architecture's runtime
// into a shared library, and the guest, a small program of that architecture, loads and calls it.
// Everything that touches files and numbers stays in this process, so all flags work as for a
// module of this CPU. guest/wire.h says what goes over the sockets.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/Remote.h"
#include "compiler/support/Checked.h"
#include "tools/hlo-run/Error.h"
#include "tools/hlo-run/arrays/Leaf.h"
#include "tools/hlo-run/guest/wire.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <csignal>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <mutex>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace hlo::run;

namespace {
/// One end of a connection. After an error everything received is zero, and isBroken.
///
/// The process at the other end is whatever --emulator starts, and runs custom calls, so nothing
/// that it says is believed: numbers are checked before they become sizes or indices, and memory
/// is taken only as bytes arrive.
class Wire {
public:
  explicit Wire(int fd = -1) : fd(fd) {}
  Wire(Wire &&other)
      : fd(std::exchange(other.fd, -1)), broken(other.broken), isRefused(other.isRefused) {}
  ~Wire() {
    if (fd >= 0) {
      close(fd);
    }
  }
  bool isBroken() const { return broken; }
  /// Ends the conversation, since what came is nothing that the guest sends.
  void refuse() { broken = isRefused = true; }
  bool wasRefused() const { return isRefused; }

  void send(const void *data, size_t size) {
    for (const char *at = static_cast<const char *>(data); size > 0 && !broken;) {
      ssize_t sent = ::send(fd, at, size, MSG_NOSIGNAL);
      broken = sent <= 0;
      at += std::max<ssize_t>(sent, 0);
      size -= static_cast<size_t>(std::max<ssize_t>(sent, 0));
    }
  }
  template <typename T> void put(T value) { send(&value, sizeof(value)); }
  void putText(StringRef text) {
    put(static_cast<uint32_t>(text.size()));
    send(text.data(), text.size());
  }

  void receive(void *data, size_t size) {
    for (char *at = static_cast<char *>(data); size > 0 && !broken;) {
      ssize_t got = ::read(fd, at, size);
      broken = got <= 0;
      at += std::max<ssize_t>(got, 0);
      size -= static_cast<size_t>(std::max<ssize_t>(got, 0));
    }
  }
  template <typename T> T get() {
    T value = {};
    receive(&value, sizeof(value));
    return broken ? T{} : value;
  }
  /// `count` values; fewer once the connection is broken.
  template <typename Container> Container getMany(uint64_t count) {
    constexpr uint64_t atOnce = 1 << 16;
    Container values;
    while (values.size() < count && !broken) {
      size_t before = values.size();
      values.resize(before + std::min(count - before, atOnce));
      receive(&values[before], (values.size() - before) * sizeof(values[0]));
    }
    return values;
  }

private:
  int fd;
  bool broken = false, isRefused = false;
};

/// True if `leaf`, whose lists are there, can describe an array.
bool isArray(const hlo_buffer_desc &leaf) {
  constexpr uint32_t mostAlign = 1 << 16;
  std::optional<int64_t> bits =
      hlo::checkedProduct({leaf.dims, static_cast<size_t>(leaf.rank)}, hlo_type_bits(leaf.type));
  std::vector<bool> seen(static_cast<size_t>(leaf.rank));
  for (int32_t i = 0; leaf.minor_to_major && i < leaf.rank; ++i) {
    int64_t dim = leaf.minor_to_major[i];
    if (dim < 0 || dim >= leaf.rank || seen[static_cast<size_t>(dim)]) {
      return false;
    }
    seen[static_cast<size_t>(dim)] = true;
  }
  return leaf.name && leaf.layout && bits && hlo_type_bits(leaf.type) > 0 &&
         leaf.bytes == divideCeil(static_cast<uint64_t>(*bits), 8) && isPowerOf2_32(leaf.align) &&
         leaf.align <= mostAlign;
}

/// True if the leaves that `leaves` refer to are there, of the other side `others`.
bool haveLeaves(ArrayRef<hlo_buffer_desc> leaves, uint32_t others) {
  return all_of(leaves, [&](const hlo_buffer_desc &leaf) {
    if (leaf.alias < -1 || (leaf.alias >= 0 && static_cast<uint32_t>(leaf.alias) >= others)) {
      return false;
    }
    if (leaf.size_of == 0) {
      return true;
    }
    auto array = static_cast<uint32_t>(leaf.size_of) - 1;
    return leaf.type == HLO_S64 && leaf.rank == 0 && array < leaves.size() && leaf.size_dim >= 0 &&
           leaf.size_dim < leaves[array].rank;
  });
}

/// Memory of what descriptions point to.
struct Storage {
  std::deque<std::string> texts;
  std::deque<std::vector<int64_t>> lists;

  const char *text(Wire &wire) {
    auto length = wire.get<uint32_t>();
    if (length == UINT32_MAX) {
      return nullptr;
    }
    texts.push_back(wire.getMany<std::string>(length));
    return texts.back().c_str();
  }
  const int64_t *list(Wire &wire, int32_t count) {
    lists.push_back(wire.getMany<std::vector<int64_t>>(static_cast<uint64_t>(count)));
    return lists.back().data();
  }
  /// All zeros once the connection is broken.
  hlo_buffer_desc leaf(Wire &wire) {
    hlo_buffer_desc leaf = {};
    leaf.name = text(wire);
    leaf.layout = text(wire);
    leaf.rank = wire.get<int32_t>();
    if (leaf.rank < 0) {
      wire.refuse();
      return {};
    }
    leaf.dims = list(wire, leaf.rank);
    leaf.minor_to_major = wire.get<uint8_t>() ? list(wire, leaf.rank) : nullptr;
    leaf.bytes = wire.get<uint64_t>();
    leaf.type = wire.get<int32_t>();
    leaf.align = wire.get<uint32_t>();
    leaf.alias = wire.get<int32_t>();
    leaf.size_of = wire.get<int32_t>();
    leaf.size_dim = wire.get<int32_t>();
    leaf.sizes = text(wire);
    if (!wire.isBroken() && !isArray(leaf)) {
      wire.refuse();
    }
    return wire.isBroken() ? hlo_buffer_desc{} : leaf;
  }
};

/// A process of the guest.
class Process {
public:
  ~Process() {
    if (pid > 0) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  /// Starts the command with `count` sockets, and returns our ends of them.
  Expected<std::vector<Wire>> start(ArrayRef<std::string> command, uint32_t count) {
    std::vector<Wire> ours;
    std::vector<int> theirs;
    for (uint32_t i = 0; i < count; ++i) {
      int pair[2];
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        for_each(theirs, close);
        return makeError(ExitRun, "cannot connect " + Twine(count) + " ranks: " + strerror(errno));
      }
      ours.emplace_back(pair[0]);
      // Away from the numbers that the guest expects, so that none is overwritten below.
      theirs.push_back(
          fcntl(pair[1], F_DUPFD_CLOEXEC, HLO_WIRE_FIRST_SOCKET + static_cast<int>(count)));
      close(pair[1]);
    }
    std::vector<char *> arguments;
    for (const std::string &word : command) {
      arguments.push_back(const_cast<char *>(word.c_str()));
    }
    arguments.push_back(nullptr);
    pid_t parent = getpid();
    pid = fork();
    if (pid == 0) {
      // A time-out ends this process without destructors.
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) {
        _exit(1);
      }
      for (uint32_t i = 0; i < count; ++i) {
        dup2(theirs[i], HLO_WIRE_FIRST_SOCKET + static_cast<int>(i));
      }
      execvp(arguments[0], arguments.data());
      _exit(127);
    }
    for_each(theirs, close);
    if (pid < 0) {
      return makeError(ExitRun, "cannot start '" + command[0] + "': " + strerror(errno));
    }
    return std::move(ours);
  }
  /// Why the process has ended, once a connection to it broke; ends it if it did not. `isRefused`:
  /// because of what it sent.
  Error whyEnded(StringRef command, bool isRefused) {
    hasClosed |= !isRefused && !hasEnded();
    if (pid > 0) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      pid = -1;
    }
    if (isRefused || hasClosed) {
      return makeError(ExitRun, Twine("the process that runs the module ") +
                                    (isRefused ? "sent what hlo-run-guest never sends"
                                               : "closed its connection") +
                                    "; does --emulator run the program that it is given?");
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
      return makeError(ExitFile,
                       "cannot start '" + command + "'; --emulator names another command");
    }
    std::string how = WIFSIGNALED(status)
                          ? "by signal " + std::to_string(WTERMSIG(status))
                          : "with exit status " + std::to_string(WEXITSTATUS(status));
    return makeError(ExitRun, "the process that runs the module ended " + how);
  }

private:
  /// Whether the process ends by itself, within the second that an exit may take.
  bool hasEnded() {
    constexpr int tries = 100;
    for (int i = 0; i < tries && pid > 0; ++i) {
      if (waitpid(pid, &status, WNOHANG) == pid) {
        pid = -1;
      } else {
        usleep(10000);
      }
    }
    return pid <= 0;
  }

  pid_t pid = -1;
  int status = 0; ///< of waitpid, once the process has ended
  bool hasClosed = false;
};
} // namespace

struct Remote::Impl {
  RemoteOptions options;
  std::vector<std::string> emulator;
  std::string guest, prefix, library;
  std::unique_ptr<FileRemover> remover;
  Storage storage;
  hlo_module_desc desc = {};
  std::vector<hlo_buffer_desc> inputs, outputs;
  std::vector<hlo_op_desc> operations;
  Process process;
  std::mutex ending; ///< ranks ask at the same time why the process ended
  std::vector<Wire> wires;

  std::vector<std::string> command(ArrayRef<std::string> arguments) const {
    std::vector<std::string> words = emulator;
    words.push_back(guest);
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }
  Error broken(const Wire &wire) {
    std::lock_guard<std::mutex> guard(ending);
    return process.whyEnded(emulator.empty() ? guest : emulator.front(), wire.wasRefused());
  }
  Error link(StringRef object);
  Error readDescription();
  bool isPossible() const;
  Expected<hlo_status> exchange(uint32_t rank, uint8_t kind, const hlo_call &call, bool first,
                                ArrayRef<hlo_view> in, ArrayRef<hlo_view> out, double &seconds);
  void serveFeed(Wire &wire, const hlo_call &call);
};

/// The system part of the name that Debian's cross compilers, and our folders, have.
static std::string gnuName(const Triple &triple) {
  return (triple.getArchName() + "-linux-" + triple.getEnvironmentName()).str();
}

Error Remote::Impl::link(StringRef object) {
  Triple triple(options.triple);
  std::string name = gnuName(triple);
  std::string self = sys::fs::getMainExecutable(nullptr, nullptr);
  SmallString<128> folder(sys::path::parent_path(sys::path::parent_path(self)));
  sys::path::append(folder, "lib", name);
  guest = (folder + "/hlo-run-guest").str();
  std::string runtime = (folder + "/libhlo_rt.a").str();
  if (!sys::fs::exists(guest) || !sys::fs::exists(runtime)) {
    return makeError(ExitFile, "there is no runtime for " + name + " in '" + folder +
                                   "'; it is built with hlo-run if the cross compiler " + name +
                                   "-gcc is there");
  }
  bool isOwn = triple.getArch() == Triple(sys::getProcessTriple()).getArch();
  SmallVector<StringRef> words;
  std::string usual = isOwn ? "" : ("qemu-" + triple.getArchName()).str();
  StringRef(options.emulator.empty() ? usual : options.emulator).split(words, ' ', -1, false);
  emulator.assign(words.begin(), words.end());
  // Where qemu finds the dynamic linker and the C library.
  if (!isOwn) {
    setenv("QEMU_LD_PREFIX", ("/usr/" + name).c_str(), /*overwrite=*/0);
  }

  SmallString<128> objectPath, libraryPath;
  int fd = -1;
  if (sys::fs::createTemporaryFile("hlo-run", "o", fd, objectPath) ||
      sys::fs::createTemporaryFile("hlo-run", "so", libraryPath)) {
    return makeError(ExitFile, "cannot write a file for the linker");
  }
  FileRemover objectRemover(objectPath);
  remover = std::make_unique<FileRemover>(libraryPath);
  library = libraryPath.str().str();
  {
    raw_fd_ostream os(fd, /*shouldClose=*/true);
    os << object;
    os.close();
    if (os.has_error()) {
      os.clear_error();
      return makeError(ExitFile, "cannot write " + objectPath.str());
    }
  }
  std::string linker = name + "-gcc";
  ErrorOr<std::string> found = sys::findProgramByName(isOwn ? "cc" : linker);
  if (!found) {
    return makeError(ExitFile, "cannot find the linker " + (isOwn ? "cc" : linker));
  }
  std::string message;
  int code = sys::ExecuteAndWait(
      *found, {*found, "-shared", "-o", library, objectPath, runtime, "-lm", "-pthread"},
      /*Env=*/std::nullopt, /*Redirects=*/{}, /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  return code == 0 ? Error::success()
                   : makeError(ExitInternal, "internal error: cannot link the compiled module: " +
                                                 *found + " ended with status " + Twine(code) +
                                                 (message.empty() ? "" : ": ") + message);
}

/// Whether what has been read describes the module.
bool Remote::Impl::isPossible() const {
  return desc.name && desc.name == prefix && desc.target && isPowerOf2_32(desc.arena_align) &&
         hlo::checkedRanks(desc.num_replicas, desc.num_partitions) &&
         haveLeaves(inputs, desc.num_outputs) && haveLeaves(outputs, desc.num_inputs);
}

Error Remote::Impl::readDescription() {
  Process asked;
  auto ends =
      asked.start(command({"describe", library, prefix, std::to_string(options.cpuLevel)}), 1);
  if (!ends) {
    return ends.takeError();
  }
  Wire &wire = ends->front();
  desc.struct_size = sizeof(desc);
  desc.abi = HLO_ABI;
  desc.name = storage.text(wire);
  desc.target = storage.text(wire);
  desc.compiler_version = desc.flags = desc.source_sha256 = "";
  desc.arena_bytes = wire.get<uint64_t>();
  desc.thread_arena_bytes = wire.get<uint64_t>();
  desc.state_bytes = wire.get<uint64_t>();
  desc.prepared_bytes = wire.get<uint64_t>();
  desc.prepare_arena_bytes = wire.get<uint64_t>();
  desc.prepare_thread_arena_bytes = wire.get<uint64_t>();
  desc.stack_bytes = wire.get<uint64_t>();
  desc.arena_align = wire.get<uint32_t>();
  desc.needs = wire.get<uint32_t>();
  desc.num_replicas = wire.get<uint32_t>();
  desc.num_partitions = wire.get<uint32_t>();
  desc.num_inputs = wire.get<uint32_t>();
  desc.num_outputs = wire.get<uint32_t>();
  desc.num_ops = wire.get<uint32_t>();
  desc.buffer_stride = sizeof(hlo_buffer_desc);
  desc.op_stride = sizeof(hlo_op_desc);
  desc.custom_call_stride = sizeof(hlo_custom_call);
  for (uint32_t i = 0; i < desc.num_inputs && !wire.isBroken(); ++i) {
    inputs.push_back(storage.leaf(wire));
  }
  for (uint32_t i = 0; i < desc.num_outputs && !wire.isBroken(); ++i) {
    outputs.push_back(storage.leaf(wire));
  }
  for (uint32_t i = 0; i < desc.num_ops && !wire.isBroken(); ++i) {
    hlo_op_desc op = {};
    op.name = storage.text(wire);
    op.kind = storage.text(wire);
    op.file = storage.text(wire);
    op.op_name = storage.text(wire);
    op.source_file = storage.text(wire);
    op.line = wire.get<int32_t>();
    op.column = wire.get<int32_t>();
    op.source_line = wire.get<int32_t>();
    op.flops = wire.get<uint64_t>();
    op.bytes = wire.get<uint64_t>();
    operations.push_back(op);
  }
  if (!wire.isBroken() && !isPossible()) {
    wire.refuse();
  }
  if (wire.isBroken()) {
    return asked.whyEnded(emulator.empty() ? guest : emulator.front(), wire.wasRefused());
  }
  desc.inputs = inputs.data();
  desc.outputs = outputs.data();
  desc.ops = operations.data();
  return Error::success();
}

void Remote::Impl::serveFeed(Wire &wire, const hlo_call &call) {
  auto which = wire.get<uint8_t>();
  bool given = which == HLO_WIRE_OUTFEED || which == HLO_WIRE_HOST_SEND; // by the module
  const hlo_feed *feed = which == HLO_WIRE_INFEED      ? call.infeed
                         : which == HLO_WIRE_OUTFEED   ? call.outfeed
                         : which == HLO_WIRE_HOST_SEND ? call.host_send
                         : which == HLO_WIRE_HOST_RECV ? call.host_recv
                                                       : nullptr;
  if (!feed) {
    return wire.refuse();
  }
  Storage texts;
  hlo_feed_item item = {};
  item.struct_size = sizeof(item);
  item.channel = wire.get<int64_t>();
  item.config = texts.text(wire);
  auto count = wire.get<uint32_t>();
  std::vector<hlo_buffer_desc> types;
  std::vector<uint64_t> bytes;
  std::vector<Memory> data;
  std::vector<void *> leaves;
  for (uint32_t i = 0; i < count && !wire.isBroken(); ++i) {
    types.push_back(texts.leaf(wire));
    bytes.push_back(wire.get<uint64_t>());
    data.emplace_back(bytes.back());
    leaves.push_back(data.back().data());
    if (bytes.back() != types.back().bytes || !data.back()) {
      wire.refuse();
    } else if (given) {
      wire.receive(leaves.back(), bytes.back());
    }
  }
  if (wire.isBroken()) {
    return;
  }
  char message[1024] = "";
  item.count = static_cast<int32_t>(count);
  item.type_stride = sizeof(hlo_buffer_desc);
  item.types = types.data();
  item.bytes = bytes.data();
  item.leaves = leaves.data();
  item.message = message;
  item.message_bytes = sizeof(message);
  hlo_status status = feed->move_item(feed->user, &item);
  wire.put(static_cast<int32_t>(status));
  wire.putText(message);
  for (uint32_t i = 0; i < count && status == HLO_OK && !given; ++i) {
    wire.send(leaves[i], bytes[i]);
  }
}

Expected<hlo_status> Remote::Impl::exchange(uint32_t rank, uint8_t kind, const hlo_call &call,
                                            bool first, ArrayRef<hlo_view> in,
                                            ArrayRef<hlo_view> out, double &seconds) {
  Wire &wire = wires[rank];
  wire.put(kind);
  wire.put(static_cast<uint8_t>(first));
  wire.put(call.deadline_ns);
  wire.put(call.rng_seed);
  wire.put(static_cast<uint8_t>(call.profile != nullptr));
  uint8_t feeds = 0;
  for (auto [which, feed] :
       {std::pair(HLO_WIRE_INFEED, call.infeed), std::pair(HLO_WIRE_OUTFEED, call.outfeed),
        std::pair(HLO_WIRE_HOST_SEND, call.host_send),
        std::pair(HLO_WIRE_HOST_RECV, call.host_recv)}) {
    feeds |= feed ? 1 << which : 0;
  }
  wire.put(feeds);
  for (const hlo_view &view : in) {
    wire.send(view.data, view.bytes);
  }
  auto answer = wire.get<uint8_t>();
  for (; answer == HLO_WIRE_FEED && !wire.isBroken(); answer = wire.get<uint8_t>()) {
    serveFeed(wire, call);
  }
  if (answer != HLO_WIRE_DONE && !wire.isBroken()) {
    wire.refuse();
  }
  auto status = static_cast<hlo_status>(wire.get<int32_t>());
  Storage texts;
  const char *message = texts.text(wire);
  seconds = static_cast<double>(wire.get<uint64_t>()) * 1e-9;
  if (!wire.isBroken() && status == HLO_OK && kind == HLO_WIRE_RUN) {
    for (const hlo_view &view : out) {
      wire.receive(view.data, view.bytes);
    }
    for (uint32_t i = 0; call.profile && i < desc.num_ops; ++i) {
      call.profile[i].calls += wire.get<uint64_t>();
      call.profile[i].ns += wire.get<uint64_t>();
      call.profile[i].bytes += wire.get<uint64_t>();
    }
  }
  if (wire.isBroken()) {
    return broken(wire);
  }
  strncpy(call.message, message ? message : "", call.message_bytes - 1);
  return status;
}

Remote::Remote(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Remote::~Remote() = default;

Expected<std::unique_ptr<Remote>> Remote::load(StringRef object, StringRef prefix,
                                               const RemoteOptions &options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->prefix = prefix.str();
  if (Error e = impl->link(object)) {
    return std::move(e);
  }
  if (Error e = impl->readDescription()) {
    return std::move(e);
  }
  return std::unique_ptr<Remote>(new Remote(std::move(impl)));
}

const hlo_module_desc &Remote::describe() const { return impl->desc; }

Error Remote::start(uint32_t replicas, uint32_t partitions) {
  const RemoteOptions &options = impl->options;
  double seconds = options.timeoutSeconds > 0 ? options.timeoutSeconds : 120;
  std::vector<std::string> arguments{
      "run",
      impl->library,
      impl->prefix,
      std::to_string(options.cpuLevel),
      std::to_string(options.threads),
      std::to_string(hlo::saturatingNanoseconds(seconds)),
      std::to_string(replicas),
      std::to_string(partitions),
  };
  arguments.insert(arguments.end(), options.customCalls.begin(), options.customCalls.end());
  auto wires = impl->process.start(impl->command(arguments), replicas * partitions);
  if (!wires) {
    return wires.takeError();
  }
  impl->wires = std::move(*wires);
  return Error::success();
}

Expected<hlo_status> Remote::run(uint32_t rank, const hlo_call &call, bool first,
                                 ArrayRef<hlo_view> inputs, ArrayRef<hlo_view> outputs,
                                 double &seconds) {
  return impl->exchange(rank, HLO_WIRE_RUN, call, first, inputs, outputs, seconds);
}

Expected<hlo_status> Remote::prepare(uint32_t rank, const hlo_call &call, ArrayRef<hlo_view> inputs,
                                     double &seconds) {
  return impl->exchange(rank, HLO_WIRE_PREPARE, call, /*first=*/true, inputs, {}, seconds);
}
