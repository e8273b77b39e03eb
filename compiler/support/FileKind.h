//===- FileKind.h - Kinds of files ----------------------------------------===//
#ifndef COMPILER_SUPPORT_FILEKIND_H
#define COMPILER_SUPPORT_FILEKIND_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <system_error>

namespace hlo {

/// One line, without control characters, that names the format of `bytes` and says how to get HLO
/// text from it: "this is an ONNX model, ...". Empty if it may be HLO or StableHLO text: then
/// the parser decides.
std::string describeForeignFile(llvm::StringRef bytes);

/// True if `text` is MLIR, judged by its first word, rather than HLO text.
bool isMlirText(llvm::StringRef text);

/// True for a file of an installed Python package, by its path: not the user's own program.
bool isInstalledPackage(llvm::StringRef path);

/// Why a file could not be read, with advice for a folder.
std::string whyUnreadable(std::error_code error);

} // namespace hlo

#endif
