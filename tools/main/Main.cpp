//===- Main.cpp - One binary, several programs ----------------------------===//
//
// hlo-run and hlo-opt are links to hlo-compile: LLVM, most of the binary, is there once. The name
// by which it is called decides; a name that has only the beginning of one (hlo-run-22) will do.
//
//===----------------------------------------------------------------------===//
#include "tools/Tools.h"
#include "llvm/Support/Path.h"

int main(int argc, char **argv) {
  llvm::StringRef name = argc > 0 ? llvm::sys::path::filename(argv[0]) : llvm::StringRef();
  if (name.starts_with("hlo-run")) {
    return hlo::tool::runMain(argc, argv);
  }
  if (name.starts_with("hlo-opt")) {
    return hlo::tool::optMain(argc, argv);
  }
  return hlo::tool::compileMain(argc, argv);
}
