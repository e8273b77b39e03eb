//===- hlo/source_location.h - Where a builder function was called -*- C++ -*-===//
//
// Part of the C++ builder. Licensed under Apache-2.0 WITH LLVM-exception.
//
//===----------------------------------------------------------------------===//
#ifndef HLO_SOURCE_LOCATION_H
#define HLO_SOURCE_LOCATION_H

#include <cstdint>
#if __cplusplus >= 202002L && __has_include(<source_location>)
#include <source_location>
#endif

namespace hlo {

/// A file and a line. The last parameter of every builder function; its default is the place of the
/// call. Functions of a program that wrap builder functions pass their own caller's place on.
/// Also made from std::source_location, where there is one.
class SourceLocation {
  struct Key {
    explicit Key() = default;
  };

public:
  static constexpr SourceLocation current(const char *file = __builtin_FILE(),
                                          std::uint32_t line = __builtin_LINE()) {
    return SourceLocation(Key(), file, line);
  }
#ifdef __cpp_lib_source_location
  constexpr SourceLocation(const std::source_location &place)
      : SourceLocation(Key(), place.file_name(), place.line()) {}
#endif

  /// Lives as long as the program.
  constexpr const char *file_name() const { return file; }
  /// From 1.
  constexpr std::uint32_t line() const { return number; }

private:
  // Not to be made from braces: `{}` as an argument must mean the parameter before.
  constexpr SourceLocation(Key, const char *file, std::uint32_t line) : file(file), number(line) {}

  const char *file;
  std::uint32_t number;
};

} // namespace hlo

#endif
