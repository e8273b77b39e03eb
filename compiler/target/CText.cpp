//===- CText.cpp - Text of a module inside generated C --------------------===//
//
// In: names that a module's author chose. Out: identifiers and comment text. A module is data: no
// name in it may become C code, or keep a header from compiling. This file is the one place where
// text of a module enters a generated header.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/CText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

/// Keywords of C99 to C23 and of C++, and macros and names of headers that programs include.
static constexpr StringRef kTaken =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
    "char32_t "
    "char8_t class co_await co_return co_yield compl complex concept const const_cast consteval "
    "constexpr constinit continue contract_assert decltype default delete do double dynamic_cast "
    "else enum explicit export extern false far float for friend goto if imaginary inline int long "
    "mutable namespace near new noexcept noreturn not not_eq nullptr operator or or_eq private "
    "protected public register reinterpret_cast requires restrict return short signature signed "
    "sizeof static static_assert static_cast struct switch template this thread_local throw true "
    "try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile "
    "while xor xor_eq "
    "linux unix i386 NULL I EOF stdin stdout stderr errno assert offsetof setjmp va_arg va_copy "
    "va_end va_start NAN INFINITY HUGE_VAL HUGE_VALF HUGE_VALL OVERFLOW UNDERFLOW DOMAIN SING "
    "PLOSS TLOSS EDOM EILSEQ ERANGE BUFSIZ FILENAME_MAX L_tmpnam RAND_MAX MB_CUR_MAX "
    "EXIT_SUCCESS EXIT_FAILURE CLOCKS_PER_SEC SEEK_SET SEEK_CUR SEEK_END TMP_MAX "
    "acos acosh asin asinh atan atanh carg cimag conj cos cosh creal exp fabs log pow sin sinh "
    "sqrt tan tanh fpclassify isfinite isinf isnan isnormal signbit isgreater isless ";

/// INT8_MAX, UINT_FAST16_MAX, SIZE_MAX, INT64_C, DBL_EPSILON, M_PI, ...: macros of <stdint.h>,
/// <limits.h>, <float.h>, <math.h>, <fenv.h>, <inttypes.h>, <signal.h>.
static bool isStandardMacro(StringRef id) {
  static constexpr StringRef kinds[] = {"INT",   "UINT",  "PTRDIFF", "SIZE",  "SIG_ATOMIC", "WINT",
                                        "WCHAR", "CHAR",  "SCHAR",   "UCHAR", "SHRT",       "USHRT",
                                        "LONG",  "ULONG", "LLONG",   "ULLONG"};
  auto [kind, limit] = id.rsplit('_');
  if (is_contained({"MAX", "MIN", "C", "WIDTH", "BIT"}, limit) &&
      (is_contained(kinds, kind) || kind.starts_with("INT") || kind.starts_with("UINT"))) {
    return true;
  }
  return any_of(ArrayRef<StringRef>{"FLT_", "DBL_", "LDBL_", "DECIMAL_", "M_", "FP_", "FE_", "PRI",
                                    "SCN", "SIG", "MATH_", "math_err", "BUS_", "ILL_"},
                [&](StringRef start) { return id.starts_with(start); }) &&
         all_of(id, [](char c) { return isUpper(c) || isDigit(c) || c == '_' || isLower(c); });
}

/// Names of C's and the project's own headers, and those that compilers reserve.
static bool isReserved(StringRef id) {
  return (id.size() > 1 && id[0] == '_' && (id[1] == '_' || isUpper(id[1]))) ||
         id.starts_with("hlo_") || id.starts_with("HLO_") ||
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
  if (kTaken.contains((" " + id + " ")) || isStandardMacro(id) || isReserved(id)) {
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
