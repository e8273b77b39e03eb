//===- Caller.h - A compiled module, here or in another process -----------===//
#ifndef TEST_ACCURACY_CALLER_H
#define TEST_ACCURACY_CALLER_H

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace accuracy {

/// What calls the objects of one CPU.
struct Library {
  std::string cpu, path;
  std::string command; ///< starts caller.c, for objects that this process cannot call; else empty
  void *handle = nullptr; ///< of dlopen, if there is no command
};

/// One module of a library.
class Caller {
public:
  /// Arrays of these sizes; an operand that the module does not have has none.
  Caller(const Library &library, const std::string &symbol, std::array<size_t, 2> operandBytes,
         size_t resultBytes);
  ~Caller();
  Caller(Caller &&other) noexcept;
  /// Whether the call succeeded.
  bool operator()(const std::array<std::vector<char>, 2> &operands, std::vector<char> &result);

private:
  struct Process;
  int (*run)(const void *, const void *const *, void *const *) = nullptr;
  std::unique_ptr<Process> process;
  std::array<size_t, 2> operandBytes;
  size_t resultBytes;
};

} // namespace accuracy

#endif
