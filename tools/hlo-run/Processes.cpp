//===- Processes.cpp - This process among those of mpirun -----------------===//
//
// Everything is an exchange of hlo/rt.h over a communicator of its own, so that time-outs, errors
// of others and processes that do not come are those of libhlo_comm_mpi, and no process waits for
// ever for one that has reported an error. MPI itself is in a library that is opened here.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/Processes.h"
#include "compiler/support/Checked.h"
#include "tools/hlo-run/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>
#include <vector>

using namespace llvm;
using namespace hlo::run;

/// The functions of libhlo_run_mpi.so, which is next to this program or where libraries are.
static Expected<const hlo_run_mpi *> openLibrary() {
  std::string self = sys::fs::getMainExecutable(nullptr, nullptr);
  SmallString<128> path(sys::path::parent_path(sys::path::parent_path(self)));
  sys::path::append(path, "lib", "libhlo_run_mpi.so");
  if (!sys::fs::exists(path)) {
    path = "libhlo_run_mpi.so";
  }
  // MPI libraries load parts of themselves that refer to their symbols.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void *symbol = library ? dlsym(library, HLO_RUN_MPI_FUNCTIONS) : nullptr;
  if (!symbol) {
    const char *reason = dlerror();
    return makeError(ExitUnsupported,
                     "--mpi: cannot load libhlo_run_mpi.so, which is built where MPI is: " +
                         Twine(reason ? reason : "it lacks a function"));
  }
  const hlo_run_mpi *mpi = reinterpret_cast<hlo_run_mpi_functions_type *>(symbol)();
  if (mpi->struct_size < sizeof(hlo_run_mpi)) {
    return makeError(ExitUnsupported, "--mpi: " + path + " is of another version");
  }
  return mpi;
}

static int64_t nanoseconds(double seconds) {
  return seconds > 0 ? hlo::saturatingNanoseconds(seconds) : 0;
}

Expected<std::unique_ptr<Processes>> Processes::start(StringRef name, double timeoutSeconds) {
  Expected<const hlo_run_mpi *> mpi = openLibrary();
  if (!mpi) {
    return mpi.takeError();
  }
  std::unique_ptr<Processes> processes(new Processes);
  if (int error = (*mpi)->start(&processes->number, &processes->count)) {
    return makeError(ExitRun, "--mpi: MPI does not start: error " + Twine(error));
  }
  // Another process that has failed after its own time limit says so before this one gives it up.
  double wait = timeoutSeconds > 0 ? 2 * timeoutSeconds + 10 : 0;
  processes->mpi = *mpi;
  processes->name = name.str();
  processes->control = (*mpi)->create(1, nanoseconds(wait));
  if (!processes->control) {
    return makeError(ExitRun, "--mpi: cannot connect the processes");
  }
  return std::move(processes);
}

Processes::~Processes() {
  if (mpi) {
    mpi->destroy(program);
    mpi->destroy(control);
    mpi->stop();
  }
}

Error Processes::exchange(ArrayRef<int32_t> members, ArrayRef<hlo_comm_part> send,
                          ArrayRef<hlo_comm_part> receive, uint64_t tag, const char *what) {
  char message[512] = "";
  hlo_comm_step step = {};
  step.struct_size = sizeof step;
  step.num_members = static_cast<int32_t>(members.size());
  step.self = static_cast<int32_t>(find(members, number) - members.begin());
  step.members = members.data();
  step.tag = tag << 20; // exchanges of one instruction differ in the low bits
  step.opcode = "hlo-run";
  step.name = what;
  step.module = name.c_str();
  step.message = message;
  step.message_bytes = sizeof message;
  const hlo_comm *comm = mpi->comm(control);
  hlo_status status = comm->exchange(comm->user, &step, send.data(), receive.data());
  if (status == HLO_OK) {
    return Error::success();
  }
  int code = hlo_status_code(status) == HLO_DEADLINE ? ExitTimeout : ExitRun;
  return makeError(code, "rank " + Twine(number) + ": " + message);
}

Error Processes::agree(Error own, const char *what) {
  if (own) {
    Error all = Error::success();
    std::string first;
    handleAllErrors(std::move(own), [&](const RunError &error) {
      if (first.empty()) {
        first = StringRef(error.getText()).split('\n').first.str();
      }
      // Diagnostics of the compiler begin with their place, and messages of runs with their rank.
      StringRef text = error.getText();
      bool isPlain = !text.contains("error: ") && !text.starts_with("rank ");
      std::string prefix = isPlain ? "rank " + std::to_string(number) + ": " : "";
      all = joinErrors(std::move(all), makeError(error.getExitCode(), prefix + text));
    });
    const hlo_comm *comm = mpi->comm(control);
    comm->leave(comm->user, HLO_ABORTED, first.c_str());
    return all;
  }
  char byte = 0;
  return compare(ArrayRef(&byte, 1), what);
}

Error Processes::compare(ArrayRef<char> bytes, const char *what) {
  SmallVector<int32_t> members;
  std::vector<hlo_comm_part> send, receive;
  std::vector<char> others(bytes.size() * size());
  for (int32_t other = 0; other < count; ++other) {
    members.push_back(other);
    send.push_back({const_cast<char *>(bytes.data()), bytes.size(), 1, bytes.size()});
    receive.push_back(
        {&others[bytes.size() * static_cast<size_t>(other)], bytes.size(), 1, bytes.size()});
  }
  if (Error e = exchange(members, send, receive, ++steps, what)) {
    return e;
  }
  for (int32_t other = 0; other < count; ++other) {
    ArrayRef<char> theirs(&others[bytes.size() * static_cast<size_t>(other)], bytes.size());
    if (other != number && theirs != bytes) {
      return makeError(ExitRun, "rank " + Twine(number) + ": has another " + what + " than rank " +
                                    Twine(other));
    }
  }
  return Error::success();
}

Error Processes::share(MutableArrayRef<char> bytes, const char *what) {
  SmallVector<int32_t> members;
  std::vector<hlo_comm_part> send(size()), receive(size());
  for (int32_t other = 0; other < count; ++other) {
    members.push_back(other);
    if (number == 0 && other != 0) {
      send[static_cast<size_t>(other)] = {bytes.data(), bytes.size(), 1, bytes.size()};
    }
  }
  if (number != 0) {
    receive[0] = {bytes.data(), bytes.size(), 1, bytes.size()};
  }
  return exchange(members, send, receive, ++steps, what);
}

Error Processes::transfer(uint32_t other, hlo_comm_part send, hlo_comm_part receive,
                          const char *what) {
  int32_t members[] = {number, static_cast<int32_t>(other)};
  hlo_comm_part none = {};
  // Pairs do not count as steps: the others do not take part. Messages of a pair keep their order.
  return exchange(members, {none, send}, {none, receive}, UINT64_C(1) << 32, what);
}

Error Processes::send(uint32_t to, ArrayRef<char> bytes, const char *what) {
  return transfer(to, {const_cast<char *>(bytes.data()), bytes.size(), 1, bytes.size()}, {}, what);
}

Error Processes::receive(uint32_t from, MutableArrayRef<char> bytes, const char *what) {
  return transfer(from, {}, {bytes.data(), bytes.size(), 1, bytes.size()}, what);
}

Error Processes::connect(uint32_t partitions, double timeoutSeconds) {
  program = mpi->create(static_cast<int32_t>(partitions), nanoseconds(timeoutSeconds));
  return program ? Error::success()
                 : makeError(ExitRun, "--mpi: cannot connect the program's ranks");
}
