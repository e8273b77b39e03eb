//===- Inputs.cpp - Assignment of a file's arrays to parameters -----------===//
//
// In: the members of an archive, and a program's inputs. Out: one member for each input. A name
// that matches several inputs, or two arrays for one input, are errors: a guess might run the
// program on the wrong data.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/Inputs.h"
#include "compiler/support/ParameterNames.h"
#include "tools/hlo-run/Dynamic.h"
#include "tools/hlo-run/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace hlo::run;

/// "in3" -> 3; nothing for other names.
static std::optional<size_t> numberAfter(StringRef name, StringRef prefix) {
  size_t number;
  if (!name.consume_front(prefix) || name.empty() || !all_of(name, isDigit) ||
      name.getAsInteger(10, number)) {
    return std::nullopt;
  }
  return number;
}

/// The inputs that `name` refers to: those with exactly this name if there are any, else those with
/// this path.
static SmallVector<size_t> inputsNamed(StringRef name, ArrayRef<hlo_buffer_desc> arrays,
                                       ArrayRef<std::string> textNames) {
  SmallVector<size_t> found, byPath;
  for (size_t i = 0; i < arrays.size(); ++i) {
    StringRef text = i < textNames.size() ? StringRef(textNames[i]) : StringRef(arrays[i].name);
    if (name == arrays[i].name || name == text) {
      found.push_back(i);
    } else if (hlo::matchesPath(name, text)) {
      byPath.push_back(i);
    }
  }
  return found.empty() ? byPath : found;
}

Expected<InputFiles> hlo::run::assignInputs(const ZipReader &archive,
                                            ArrayRef<hlo_buffer_desc> leaves,
                                            ArrayRef<std::string> textNames) {
  // Size leaves come after all arrays.
  ArrayRef<hlo_buffer_desc> arrays =
      leaves.take_while([](const hlo_buffer_desc &leaf) { return !isSize(leaf); });
  InputFiles files;
  files.members.resize(arrays.size());
  std::vector<std::string> unused;
  auto bad = [&](const Twine &what) {
    return makeError(ExitInput, archive.getPath() + ": " + what);
  };
  for (const ZipMember &member : archive.members()) {
    StringRef name = member.name;
    name.consume_back(".npy");
    SmallVector<size_t> inputs;
    // A parameter may itself be called in0: its name has precedence over the number.
    if (std::optional<size_t> number = numberAfter(name, "in"); number && *number < arrays.size()) {
      inputs.push_back(*number);
    } else {
      inputs = inputsNamed(name, arrays, textNames);
    }
    if (inputs.size() > 1) {
      return bad("array '" + name + "' may be " + arrays[inputs[0]].name + " or " +
                 arrays[inputs[1]].name);
    }
    if (inputs.empty()) {
      if (!numberAfter(name, "out")) {
        unused.push_back(name.str());
      }
      continue;
    }
    std::string &taken = files.members[inputs[0]];
    if (!taken.empty()) {
      return bad("arrays '" + taken + "' and '" + name + "' are both for " +
                 arrays[inputs[0]].name);
    }
    taken = name.str();
  }
  // An input without any array still gets its number, for the message.
  for (auto [i, member] : enumerate(files.members)) {
    if (member.empty()) {
      member = "in" + std::to_string(i);
    }
  }
  if (!unused.empty()) {
    std::vector<std::string> names;
    for (const hlo_buffer_desc &leaf : arrays) {
      names.push_back(leaf.name);
    }
    files.unused =
        (archive.getPath() + ": not used: " + firstNames(unused) + "; the program has " +
         (names.empty() ? "no inputs"
                        : std::to_string(names.size()) +
                              (names.size() == 1 ? " input: " : " inputs: ") + firstNames(names)))
            .str();
  }
  return files;
}

Expected<ZipReader> hlo::run::openInputs(StringRef path, ArrayRef<hlo_buffer_desc> leaves) {
  if (!path.ends_with(".npy")) {
    return ZipReader::open(path);
  }
  size_t arrays = count_if(leaves, [](const hlo_buffer_desc &leaf) { return !isSize(leaf); });
  if (arrays != 1) {
    return makeError(ExitInput, path + ": an .npy file has one array, the program has " +
                                    Twine(arrays) + " inputs; use an .npz file");
  }
  return ZipReader::openPlain(path, "in0");
}
