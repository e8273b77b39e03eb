//===- CText.cpp - Text of a module inside generated C --------------------===//
//
// In: names that a module's author chose. Out: identifiers and comment text. No name in a module
// may inject C code or keep a header from compiling. This file is the only place where text of a
// module enters a generated header.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/header/CText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

/// Keywords of C99 to C23 and of C++ up to C++26, and members of structs in generated headers.
static constexpr StringRef kKeywords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
    "char32_t "
    "char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr "
    "constinit continue contract_assert decltype default delete do double dynamic_cast else enum "
    "explicit export extern false float for friend goto if inline int long mutable namespace new "
    "noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires restrict return short signature signed sizeof static static_assert "
    "static_cast struct switch template this thread_local throw true try typedef typeid typename "
    "typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq ";

/// Object-like macros of the standard headers, sorted.
static constexpr StringRef kMacros[] = {
#include "compiler/target/header/CMacros.inc"
};

/// True for names that compilers reserve; such a name with `_` appended may be reserved again.
static bool isCompilers(StringRef id) {
  return id.size() > 1 && id[0] == '_' && (id[1] == '_' || isUpper(id[1]));
}

/// True for names that the project's headers reserve, and types that generated headers use.
static bool isReserved(StringRef id) {
  return id.starts_with("hlo_") || id.starts_with("HLO_") ||
         is_contained({"int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t",
                       "uint64_t", "size_t", "ptrdiff_t", "wchar_t"},
                      id);
}

std::string hlo::cIdentifier(StringRef text) {
  std::string id;
  for (char c : text) {
    id += isAlnum(c) ? c : '_';
  }
  if (id.empty() || isDigit(id[0])) {
    id.insert(id.begin(), '_');
  }
  if (isCompilers(id)) {
    return id + "_arg";
  }
  if (kKeywords.contains((" " + id + " ")) || isReserved(id) ||
      std::binary_search(std::begin(kMacros), std::end(kMacros), StringRef(id))) {
    id += '_';
  }
  return id;
}

std::string hlo::cText(StringRef text, size_t most) {
  std::string result;
  for (char c : text.take_front(most)) {
    bool marks = !result.empty() && ((result.back() == '*' && c == '/') ||
                                     (result.back() == '/' && (c == '*' || c == '/')) ||
                                     (result.back() == '?' && c == '?'));
    if (marks) {
      result += ' ';
    }
    if (c == '\\' || c == '"' || !isPrint(c)) {
      result += "\\x" + toHex(StringRef(&c, 1));
    } else {
      result += c;
    }
  }
  return text.size() > most ? result + "..." : result;
}
