//===- CustomCallHeader.cpp - Custom call targets and their C header ------===//
//
// In: the planned program. Out: a list of its custom call targets, or a header that declares them,
// so that a C compiler checks the user's handlers. Valid as C99 and as C++11.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/header/CustomCallHeader.h"
#include "compiler/target/calls/RuntimeCall.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <map>

using namespace hlo;

namespace {
/// The types of each call of a target, by its name and api version.
using Targets = std::map<std::pair<std::string, int32_t>, std::vector<std::string>>;
} // namespace

static llvm::StringRef nameOfApi(int32_t api) {
  switch (api) {
  case HLO_API_STATUS_RETURNING: return "API_VERSION_STATUS_RETURNING";
  case HLO_API_STATUS_RETURNING_UNIFIED: return "API_VERSION_STATUS_RETURNING_UNIFIED";
  case HLO_API_TYPED_FFI: return "API_VERSION_TYPED_FFI";
  default: return "API_VERSION_ORIGINAL";
  }
}

/// The types of leaves in HLO syntax: "f32[4]{0}, s32[]".
static std::string typesText(mlir::ArrayAttr types) {
  std::string text;
  for (mlir::Type type : types.getAsValueRange<mlir::TypeAttr>()) {
    mlir::FailureOr<Leaf> leaf = describeLeaf(mlir::cast<mlir::RankedTensorType>(type), "");
    text += (text.empty() ? "" : ", ") + (mlir::succeeded(leaf) ? leaf->typeText : "?");
  }
  return text;
}

static Targets collectTargets(cpurt::EntryOp entry) {
  Targets targets;
  entry.walk([&](cpurt::CallOp call) {
    auto target = call.getConfig().getAs<mlir::StringAttr>("custom_call_target");
    if (call.getKind() != "custom-call" || !target) {
      return;
    }
    auto written = call.getConfig().getAs<mlir::ArrayAttr>("result_types");
    bool tuple = written && written.size() == 1 &&
                 mlir::isa<mlir::TupleType>(mlir::cast<mlir::TypeAttr>(written[0]).getValue());
    std::string results = typesText(call.getResultTypes());
    std::string types =
        "(" + typesText(call.getOperandTypes()) + ") -> " + (tuple ? "(" + results + ")" : results);
    std::vector<std::string> &calls = targets[{target.str(), customCallApi(call)}];
    if (!llvm::is_contained(calls, types)) {
      calls.push_back(types);
    }
  });
  return targets;
}

std::string hlo::listCustomCalls(cpurt::EntryOp entry) {
  std::string text;
  for (const auto &[target, calls] : collectTargets(entry)) {
    text += target.first + " " + nameOfApi(target.second).str() + "\n";
  }
  return text;
}

static std::string prototype(const std::string &name, int32_t api) {
  switch (api) {
  case HLO_API_STATUS_RETURNING:
    return "void " + name + "(void *out, const void **in, XlaCustomCallStatus *status);\n";
  case HLO_API_STATUS_RETURNING_UNIFIED:
    return "void " + name +
           "(void *out, const void **in, const char *opaque, size_t opaque_len,\n"
           "    XlaCustomCallStatus *status);\n";
  case HLO_API_TYPED_FFI:
    return "struct XLA_FFI_Error *" + name + "(struct XLA_FFI_CallFrame *call_frame);\n";
  default: return "void " + name + "(void *out, const void **in);\n";
  }
}

std::string hlo::makeCustomCallHeader(cpurt::EntryOp entry, llvm::StringRef prefix) {
  Targets targets = collectTargets(entry);
  bool withStatus = false, typed = false;
  for (const auto &[target, calls] : targets) {
    withStatus |= target.second == HLO_API_STATUS_RETURNING ||
                  target.second == HLO_API_STATUS_RETURNING_UNIFIED;
    typed |= target.second == HLO_API_TYPED_FFI;
  }
  std::string guard = prefix.upper() + "_CUSTOM_CALLS_H_";
  std::string text = "/* Custom call targets of " + prefix.str() +
                     ": `in` and `out` point to the leaves given below, in order; for a result\n"
                     " * in parentheses `out` is an array of pointers. */\n#ifndef " +
                     guard + "\n#define " + guard +
                     "\n\n#include <stddef.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  if (withStatus) {
    text += "typedef struct XlaCustomCallStatus_ XlaCustomCallStatus;\n"
            "void XlaCustomCallStatusSetSuccess(XlaCustomCallStatus *status);\n"
            "void XlaCustomCallStatusSetFailure(XlaCustomCallStatus *status, const char *message,\n"
            "    size_t message_len);\n\n";
  }
  if (typed) {
    text += "/* Defined in xla/ffi/api/c_api.h. */\nstruct XLA_FFI_Error;\n"
            "struct XLA_FFI_CallFrame;\n\n";
  }
  llvm::StringSet<> declared;
  for (const auto &[target, calls] : targets) {
    const auto &[name, api] = target;
    text += "/* " + nameOfApi(api).str() + "\n";
    for (const std::string &types : calls) {
      text += " *   " + types + "\n";
    }
    bool isNew = declared.insert(name).second;
    if (name != cIdentifier(name)) {
      text += " * No name in C: give '" + cText(name) + "' in hlo_call.custom_calls. */\n\n";
    } else if (!isNew) {
      text += " * Also called in another way: give one of them in hlo_call.custom_calls. */\n\n";
    } else {
      text += " */\n" + prototype(name, api) + "\n";
    }
  }
  return text + "#ifdef __cplusplus\n} /* extern \"C\" */\n#endif\n\n#endif /* " + guard + " */\n";
}
