//===- Explain.cpp - Explanations of message labels -----------------------===//
//
// In: a label, with or without its brackets. Out: the message, an instruction that causes it, a
// valid one; or the nearest labels and exit code 2.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-compile/Explain.h"
#include "compiler/support/NearestNames.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace hlo;
using llvm::StringRef;

int hlo::tool::explain(StringRef label) {
  label.consume_front("[");
  label.consume_back("]");
  std::string text = std::string(explanations[0]) + explanations[1];
  llvm::SmallVector<StringRef> lines, labels;
  StringRef(text).split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  StringRef valid;
  for (size_t i = 0; i < lines.size(); ++i) {
    StringRef line = lines[i];
    if (line.consume_front("==")) {
      valid = line.trim();
      continue;
    }
    if (line.starts_with(" ")) {
      continue;
    }
    labels.push_back(line);
    if (line != label) {
      continue;
    }
    llvm::outs() << label << ": a constraint of "
                 << (label.starts_with("module_") ? "the module" : "the opcode") << '\n';
    StringRef captions[] = {"for example", "said of"};
    for (size_t k = 0; k < 2 && i + 1 + k < lines.size() && lines[i + 1 + k].starts_with(" ");
         ++k) {
      llvm::outs() << captions[k] << ":\n    " << lines[i + 1 + k].trim() << '\n';
    }
    if (!valid.empty()) {
      llvm::outs() << "valid is:\n    " << valid << '\n';
    }
    return 0;
  }
  llvm::errs() << "hlo-compile: error: unknown label '" << label << "'"
               << nearestNames(label, labels) << '\n';
  return 2;
}
