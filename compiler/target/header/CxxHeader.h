//===- CxxHeader.h - The C++ header of a compiled module ------------------===//
#ifndef COMPILER_TARGET_HEADER_CXXHEADER_H
#define COMPILER_TARGET_HEADER_CXXHEADER_H

#include "compiler/target/header/Header.h"

namespace hlo {

/// The header's text: the C header, and a class in namespace `space` ("a::b"). Valid as C++17 and
/// later without warnings, with or without exceptions and RTTI.
std::string makeCxxHeader(const Signature &signature, const HeaderInfo &info,
                          llvm::StringRef space);

/// The namespace of a module with this name, if the user gives none. It is no name that C++, POSIX,
/// the project's headers or the header of `prefix` have at file scope.
std::string cxxNamespace(llvm::StringRef moduleName, llvm::StringRef prefix);

/// Why the user's "a::b" cannot be the namespace; empty if it can, or if there is none.
std::string whyNotNamespace(llvm::StringRef space, llvm::StringRef prefix);

} // namespace hlo

#endif
