//===- Inputs.h - Assignment of a file's arrays to parameters -------------===//
#ifndef TOOLS_HLO_RUN_INPUTS_H
#define TOOLS_HLO_RUN_INPUTS_H

#include "tools/hlo-run/arrays/Zip.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <hlo/rt.h>
#include <string>
#include <vector>

namespace hlo::run {

/// The archive member that each input is read from.
struct InputFiles {
  /// One per leaf that is an array: a member's name without ".npy".
  std::vector<std::string> members;
  /// A line about arrays of the archive that no input uses; "" if there are none. Arrays named
  /// out0, out1, ... are recorded results, and not counted.
  std::string unused;
};

/// Assigns the arrays of an archive to the inputs `leaves`. An array may be named inN, with the
/// input's number; or by the input's name in the header (`x`) or in the text (`x.1`); or by the
/// path from which JAX made the name (`params/dense/kernel`). `textNames`: the inputs' names in the
/// text. Errors list every input with no array, or with more than one.
llvm::Expected<InputFiles> assignInputs(const ZipReader &archive,
                                        llvm::ArrayRef<hlo_buffer_desc> leaves,
                                        llvm::ArrayRef<std::string> textNames);

/// Opens a file of inputs: an .npz archive, or an .npy array for a program of one input.
llvm::Expected<ZipReader> openInputs(llvm::StringRef path, llvm::ArrayRef<hlo_buffer_desc> leaves);

} // namespace hlo::run

#endif
