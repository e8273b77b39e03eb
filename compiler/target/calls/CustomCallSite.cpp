//===- CustomCallSite.cpp - Descriptions of custom calls ------------------===//
//
// In: the cpurt.call of a custom call. Out: an hlo_call_site (runtime/abi/hlo/sites.h):
// target, api version, the leaves that the handler sees, tokens included, and the
// backend_config as text and, for the typed FFI, as tables of attributes.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/calls/FfiAttributes.h"
#include "compiler/target/calls/RuntimeCall.h"
#include "dialect/hlo/Dialect.h"
#include "runtime/abi/hlo/sites.h"

using namespace hlo;

/// The text of a backend_config: a string's contents, or a dictionary with its braces.
static mlir::FailureOr<std::string> opaqueText(const RuntimeCallContext &context) {
  auto config = context.get<mlir::StringAttr>("hlo.backend_config");
  if (!config) {
    return std::string();
  }
  llvm::StringRef text = config.getValue();
  if (!text.consume_front("\"")) {
    return text.str();
  }
  text.consume_back("\"");
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    // The printed form uses only these escapes and octal ones.
    char c = text[++i];
    if (c >= '0' && c <= '7') {
      unsigned value = 0;
      size_t end = std::min(text.size(), i + 3);
      for (; i < end && text[i] >= '0' && text[i] <= '7'; ++i) {
        value = value * 8 + (text[i] - '0');
      }
      --i;
      plain += static_cast<char>(value);
      continue;
    }
    plain += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
  }
  return plain;
}

namespace {
/// The leaves of one side, depth first: arrays come from `arrays`, which have the layouts of the
/// bytes; tokens come from the written types.
class LeafList {
public:
  explicit LeafList(std::vector<Leaf> &leaves) : leaves(leaves) {}

  mlir::LogicalResult add(cpurt::CallOp call, mlir::ArrayAttr written, mlir::ArrayAttr arrays) {
    auto types = llvm::to_vector(arrays.getAsValueRange<mlir::TypeAttr>());
    next = types;
    if (written) {
      for (mlir::Type type : written.getAsValueRange<mlir::TypeAttr>()) {
        if (mlir::failed(addType(call, type))) {
          return mlir::failure();
        }
      }
    }
    while (!next.empty()) {
      if (mlir::failed(addArray(call))) {
        return mlir::failure();
      }
    }
    return mlir::success();
  }

private:
  mlir::LogicalResult addType(cpurt::CallOp call, mlir::Type type) {
    if (auto tuple = mlir::dyn_cast<mlir::TupleType>(type)) {
      for (mlir::Type element : tuple.getTypes()) {
        if (mlir::failed(addType(call, element))) {
          return mlir::failure();
        }
      }
      return mlir::success();
    }
    if (mlir::isa<TokenType>(type)) {
      Leaf token;
      token.type = static_cast<hlo_type>(HLO_SITE_TOKEN);
      leaves.push_back(token);
      return mlir::success();
    }
    return next.empty() ? mlir::success() : addArray(call);
  }
  mlir::LogicalResult addArray(cpurt::CallOp call) {
    auto array = mlir::dyn_cast<mlir::RankedTensorType>(next.front());
    mlir::FailureOr<Leaf> leaf = array ? describeLeaf(array, "") : mlir::FailureOr<Leaf>();
    if (mlir::failed(leaf)) {
      return call.emitError("custom-call of type ") << next.front() << " is not supported yet";
    }
    leaves.push_back(std::move(*leaf));
    next = next.drop_front();
    return mlir::success();
  }

  std::vector<Leaf> &leaves;
  llvm::ArrayRef<mlir::Type> next; ///< types that `add` has not reached yet
};
} // namespace

mlir::FailureOr<RuntimeCall> hlo::describeCustomCall(const RuntimeCallContext &context) {
  cpurt::CallOp call = context.op;
  StaticData &data = context.data;
  auto target = context.get<mlir::StringAttr>("custom_call_target");
  if (!target) {
    return call.emitError("internal error: a custom call without a target");
  }
  auto resultTypes = context.get<mlir::ArrayAttr>("result_types");
  std::vector<Leaf> leaves;
  if (mlir::failed(LeafList(leaves).add(call, context.get<mlir::ArrayAttr>("operand_types"),
                                        call.getOperandTypes()))) {
    return mlir::failure();
  }
  uint32_t operands = leaves.size();
  if (mlir::failed(LeafList(leaves).add(call, resultTypes, call.getResultTypes()))) {
    return mlir::failure();
  }
  int32_t api = customCallApi(call);
  mlir::FailureOr<std::string> opaque = opaqueText(context);
  llvm::Constant *attributes = data.null();
  if (mlir::failed(opaque)) {
    return mlir::failure();
  }
  if (api == HLO_API_TYPED_FFI) {
    mlir::FailureOr<llvm::Constant *> made =
        makeFfiAttributes(*opaque, call.getLoc(), data, context.module);
    if (mlir::failed(made)) {
      return mlir::failure();
    }
    attributes = *made;
  }
  bool tuple = resultTypes && resultTypes.size() == 1 &&
               mlir::isa<mlir::TupleType>(mlir::cast<mlir::TypeAttr>(resultTypes[0]).getValue());
  // The runtime itself checks assertions.
  llvm::Constant *symbol =
      target == kShapeAssertion ? data.null() : weakTarget(context.module, target.getValue());
  llvm::Constant *header = data.record(
      {data.i32(sizeof(hlo_call_site)), data.i32(operands), data.i32(leaves.size() - operands),
       data.i32(sizeof(hlo_buffer_desc)), data.string(call.getKind()),
       data.string(instructionName(call.getLoc())), data.buffers(leaves), data.i64(0)});
  llvm::Constant *site = data.global(data.record(
      {header, data.string(target.getValue()), symbol, data.string(*opaque),
       data.i64(opaque->size()), attributes, data.i32(api), data.i32(tuple ? HLO_SITE_TUPLE : 0)}));
  return RuntimeCall{"hlo_rt_custom_call", site};
}
