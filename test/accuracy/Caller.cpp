//===- Caller.cpp - A compiled module, here or in another process ---------===//
//
// An object of another architecture is called by caller.c under an emulator: operands go into its
// standard input, status and result come out.
//
//===----------------------------------------------------------------------===//
#include "Caller.h"
#include <csignal>
#include <cstdint>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace accuracy {

struct Caller::Process {
  pid_t pid = -1;
  int in = -1, out = -1;

  Process(const std::string &command) {
    int toChild[2], fromChild[2];
    if (pipe2(toChild, O_CLOEXEC) != 0 || pipe2(fromChild, O_CLOEXEC) != 0) {
      return;
    }
    std::signal(SIGPIPE, SIG_IGN); // a process that has ended is a call that failed
    pid = fork();
    if (pid == 0) {
      dup2(toChild[0], 0);
      dup2(fromChild[1], 1);
      execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), nullptr);
      _exit(127);
    }
    close(toChild[0]);
    close(fromChild[1]);
    in = toChild[1];
    out = fromChild[0];
  }
  ~Process() {
    close(in);
    close(out);
    waitpid(pid, nullptr, 0);
  }
  bool send(const char *data, size_t size) const {
    while (size > 0) {
      ssize_t sent = write(in, data, size);
      if (sent <= 0) {
        return false;
      }
      data += sent;
      size -= static_cast<size_t>(sent);
    }
    return true;
  }
  bool receive(char *data, size_t size) const {
    while (size > 0) {
      ssize_t got = read(out, data, size);
      if (got <= 0) {
        return false;
      }
      data += got;
      size -= static_cast<size_t>(got);
    }
    return true;
  }
};

Caller::Caller(const Library &library, const std::string &symbol,
               std::array<size_t, 2> operandBytes, size_t resultBytes)
    : operandBytes(operandBytes), resultBytes(resultBytes) {
  if (library.command.empty()) {
    run = reinterpret_cast<decltype(run)>(dlsym(library.handle, symbol.c_str()));
    return;
  }
  process = std::make_unique<Process>(library.command + " '" + library.path + "' " + symbol + " " +
                                      std::to_string(operandBytes[0]) + " " +
                                      std::to_string(operandBytes[1]) + " " +
                                      std::to_string(resultBytes));
}

Caller::~Caller() = default;
Caller::Caller(Caller &&other) noexcept = default;

bool Caller::operator()(const std::array<std::vector<char>, 2> &operands,
                        std::vector<char> &result) {
  if (process == nullptr) {
    const void *inputs[] = {operands[0].data(), operands[1].data()};
    void *outputs[] = {result.data()};
    return run != nullptr && run(nullptr, inputs, outputs) == 0;
  }
  int32_t status = 0;
  return process->send(operands[0].data(), operandBytes[0]) &&
         process->send(operands[1].data(), operandBytes[1]) &&
         process->receive(reinterpret_cast<char *>(&status), sizeof(status)) && status == 0 &&
         process->receive(result.data(), resultBytes);
}

} // namespace accuracy
