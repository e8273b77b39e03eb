//===- CustomCallReview.cpp - Custom calls that the host must provide -----===//
//
// In: the planned program, and the Python lines of its custom calls. Out: diagnostics at the
// instructions. References to custom calls are weak, so an object links without them and fails only
// when it is called: too late to learn that a function still calls Python.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/CustomCallReview.h"
#include "compiler/driver/Metadata.h"
#include "compiler/target/calls/RuntimeCall.h"
#include "compiler/target/header/ReservedTargets.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace hlo;

namespace {
/// Who provides a target, as far as this project knows.
enum class Provider { Host, Library, Python };

Provider providerOf(StringRef target) {
  if (target.starts_with("xla_ffi_python_") || target.starts_with("xla_python_") ||
      target.starts_with("xla_ffi_partitioned_python_")) {
    return Provider::Python;
  }
  return isLapackTarget(target) || target == kShapeAssertion ? Provider::Library : Provider::Host;
}

/// How to avoid a callback, by the name that JAX gives its instruction.
StringRef wayOut(StringRef instruction) {
  if (instruction.starts_with("debug_print") || instruction.starts_with("debug_callback")) {
    return "remove jax.debug.print and jax.debug.callback before exporting, or return the values";
  }
  if (instruction.starts_with("io_callback")) {
    return "return the values and do the input or output in the program that calls the object";
  }
  return "compute it with jax.numpy, or call C by jax.ffi.ffi_call (examples/customcall); checks "
         "of Equinox and diffrax at run time go with EQX_ON_ERROR=nan in the environment of the "
         "export; diffeqsolve(..., throw=False) removes some of them";
}
} // namespace

PythonLines hlo::pythonLines(ModuleOp module) {
  PythonLines lines;
  auto text = module->getAttrOfType<StringAttr>("hlo.stack_frames");
  StackTables tables(text ? text.getValue() : "");
  module.walk([&](CustomCallOp call) {
    auto metadata = call->getAttrOfType<StringAttr>("hlo.metadata");
    if (!metadata) {
      return;
    }
    auto [file, number] = tables.sourceOf(metadata.getValue());
    std::string line = file.empty() ? "" : file + ":" + std::to_string(number);
    if (StringRef name = fieldOf(metadata.getValue(), "op_name"); !name.empty()) {
      line += (line.empty() ? "" : ", ") + name.str();
    }
    lines[instructionName(call.getLoc())] = line;
  });
  return lines;
}

std::string hlo::reviewCustomCalls(cpurt::EntryOp entry, const PythonLines &lines,
                                   ArrayRef<std::string> allowed) {
  SmallVector<llvm::GlobPattern> passed;
  for (StringRef pattern : allowed) {
    llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
    if (!glob) {
      return llvm::toString(glob.takeError());
    }
    passed.push_back(std::move(*glob));
  }
  llvm::StringSet<> seen, advised;
  entry.walk([&](cpurt::CallOp call) {
    auto target = call.getConfig().getAs<StringAttr>("custom_call_target");
    if (call.getKind() != "custom-call" || !target ||
        llvm::any_of(passed, [&](auto &glob) { return glob.match(target.getValue()); })) {
      return;
    }
    Provider provider = providerOf(target.getValue());
    std::string instruction = instructionName(call.getLoc());
    // Copies of an instruction keep its name: one message per instruction of the text.
    if (provider == Provider::Python && seen.insert(instruction).second) {
      std::string line = lines.lookup(instruction);
      auto warning = call.emitWarning()
                     << "'" << instruction << "' calls back into Python"
                     << (line.empty() ? "" : " (" + line + ")")
                     << ", which the object cannot do: a call of the program fails here, unless "
                        "hlo_call.custom_calls has a '"
                     << target.getValue() << "' [--allow-missing-custom-calls]";
      if (advised.insert(wayOut(instruction)).second) {
        warning.attachNote() << wayOut(instruction);
      }
      if (line.empty() && advised.insert("metadata").second) {
        warning.attachNote() << "with as_text(dialect=\"hlo\", debug_info=True) the text, and this "
                                "message, have the Python line";
      }
    } else if (provider == Provider::Host && seen.insert(target.getValue()).second) {
      call.emitRemark() << "custom call target '" << target.getValue()
                        << "': the program must link a function of that name or give one in "
                           "hlo_call.custom_calls [--allow-missing-custom-calls]";
    }
  });
  return "";
}
