//===- Output.cpp - Writing files whole or not at all ---------------------===//
//
// In: an artefact and a path. Out: the complete file, or nothing: an interrupted build must not
// leave half an object that is newer than its source.
//
//===----------------------------------------------------------------------===//
#include "Output.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

StringRef hlo::tool::contentsOf(const Artifacts &artifacts, const OutputFile &file) {
  switch (file.kind) {
  case EmitObject: return artifacts.object;
  case EmitAssembly: return artifacts.assembly;
  case EmitLlvmIr: return artifacts.llvmIr;
  case EmitBitcode: return artifacts.bitcode;
  case EmitMlir: return artifacts.mlir;
  case EmitHlo: return artifacts.hlo;
  case EmitHeader: return artifacts.header;
  case EmitCxxHeader: return artifacts.cxxHeader;
  case EmitCustomCallList: return artifacts.customCallList;
  case EmitCustomCallHeader: return artifacts.customCallHeader;
  case EmitSignature: return artifacts.signature;
  case EmitNone: break;
  }
  return file.text;
}

std::string hlo::tool::writeFile(const std::string &path, StringRef contents) {
  if (path == "-") {
    outs() << contents;
    outs().flush();
    return "";
  }
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) && !sys::fs::is_regular_file(status)) {
    std::error_code error;
    raw_fd_ostream file(path, error);
    if (!error) {
      file << contents;
      file.close();
      error = file.error();
      file.clear_error();
    }
    return error ? error.message() : "";
  }
  Expected<sys::fs::TempFile> temporary = sys::fs::TempFile::create(path + ".tmp-%%%%%%%%");
  if (!temporary) {
    return toString(temporary.takeError());
  }
  std::error_code error;
  {
    raw_fd_ostream file(temporary->FD, /*shouldClose=*/false);
    file << contents;
    file.flush();
    error = file.error();
    file.clear_error();
  }
  Error finished = error ? temporary->discard() : temporary->keep(path);
  if (error) {
    consumeError(std::move(finished));
    return error.message();
  }
  return finished ? toString(std::move(finished)) : "";
}
