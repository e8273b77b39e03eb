//===- Preflight.cpp - Decisions about a parsed module --------------------===//
//
// In: a verified module, as the text has it. Out: the same with the layouts of its entry decided,
// or an error for modules that must not be compiled silently.
//
// Layouts. In the text that JAX lowers to, transposed values, results included, have layouts such
// as f32[3,2]{0,1}, but JAX's runtime compiles it with row-major arrays at the entry. Callers
// expect JAX's behaviour, so row-major is the default. Text that XLA dumped after optimization
// (`is_scheduled=true`) shows the layouts that XLA's caller saw; they are kept.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Preflight.h"
#include "compiler/analysis/entry/EntryAttributes.h"
#include "compiler/target/header/ReservedTargets.h"
#include "dialect/cpurt/Dialect.h"
#include "dialect/hlo/Dialect.h"
#include "dialect/hlo/Shapes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace hlo;

namespace {
/// The attribute that holds the entry's types as its caller sees them.
constexpr StringLiteral kDeclared = "hlo.entry_computation_layout";

/// Calls `visit` for each array of `type`, in order, with its tuple indices.
void forEachArray(Type type, SmallVectorImpl<int64_t> &path,
                  function_ref<void(RankedTensorType, ArrayRef<int64_t>)> visit) {
  if (auto tuple = dyn_cast<TupleType>(type)) {
    for (auto [i, element] : llvm::enumerate(tuple.getTypes())) {
      path.push_back(i);
      forEachArray(element, path, visit);
      path.pop_back();
    }
  } else if (auto array = dyn_cast<RankedTensorType>(type)) {
    visit(array, path);
  }
}

/// The element of `type` at tuple indices `path`; null if there is none.
Type elementAt(Type type, ArrayRef<int64_t> path) {
  for (int64_t index : path) {
    auto tuple = dyn_cast<TupleType>(type);
    if (!tuple || index < 0 || index >= static_cast<int64_t>(tuple.size())) {
      return Type();
    }
    type = tuple.getType(index);
  }
  return type;
}

/// True if the bytes are those of a row-major array; dimensions of size 1 may be anywhere.
bool isRowMajor(RankedTensorType type) {
  SmallVector<int64_t> order = minorToMajor(type);
  llvm::erase_if(order, [&](int64_t dim) { return type.getDimSize(dim) == 1; });
  return llvm::is_sorted(order, std::greater<>());
}

/// "result {1}", "parameter 0", "parameter 0 {2}".
std::string placeText(int64_t parameter, ArrayRef<int64_t> path) {
  std::string text = parameter < 0 ? "the result" : "parameter " + std::to_string(parameter);
  if (!path.empty()) {
    auto numbers = llvm::map_range(path, [](int64_t i) { return std::to_string(i); });
    text = (parameter < 0 ? "result" : text) + " {" + llvm::join(numbers, ",") + "}";
  }
  return text;
}

/// The declared types of the entry; its own types if the header declares none.
FunctionType declaredTypes(ModuleOp module) {
  if (auto declared = module->getAttrOfType<TypeAttr>(kDeclared)) {
    return dyn_cast<FunctionType>(declared.getValue());
  }
  for (auto computation : module.getOps<ComputationOp>()) {
    if (computation.getEntry()) {
      return computation.getFunctionType();
    }
  }
  return FunctionType();
}

/// Error if an aliased parameter and result have different layouts.
LogicalResult checkAliasedLayouts(ModuleOp module, FunctionType types) {
  FailureOr<EntryAttributes> attributes = EntryAttributes::get(module);
  if (failed(attributes)) {
    return failure();
  }
  LogicalResult result = success();
  for (const EntryAttributes::Alias &alias : attributes->aliases) {
    if (alias.parameter >= static_cast<int64_t>(types.getNumInputs())) {
      continue; // reported where aliases are resolved
    }
    RankedTensorType to = asArray(elementAt(types.getResult(0), alias.output));
    RankedTensorType from = asArray(elementAt(types.getInput(alias.parameter), alias.index));
    if (!to || !from || minorToMajor(to) == minorToMajor(from) ||
        (isRowMajor(to) && isRowMajor(from))) {
      continue;
    }
    result = module.emitError()
             << "input_output_alias: " << placeText(-1, alias.output) << " is " << hloText(to)
             << " but shares the buffer of " << placeText(alias.parameter, alias.index) << ", "
             << hloText(from)
             << ": a caller that feeds the result back would pass it in another layout each time; "
                "compile with --entry-layout=row-major";
  }
  return result;
}
} // namespace

LogicalResult hlo::applyEntryLayouts(ModuleOp module, EntryLayouts mode) {
  FunctionType types = declaredTypes(module);
  if (!types || types.getNumResults() != 1) {
    return success(); // reported where the entry is needed
  }
  size_t others = 0;
  std::string first;
  auto look = [&](Type type, int64_t parameter) {
    SmallVector<int64_t> path;
    forEachArray(type, path, [&](RankedTensorType array, ArrayRef<int64_t> index) {
      if (!isRowMajor(array) && others++ == 0) {
        first = placeText(parameter, index) + " is " + hloText(array);
      }
    });
  };
  for (auto [i, type] : llvm::enumerate(types.getInputs())) {
    look(type, i);
  }
  for (Type type : types.getResults()) {
    look(type, -1);
  }
  bool obeys = mode == EntryLayouts::Text ||
               (mode == EntryLayouts::Auto && module->hasAttr("hlo.is_scheduled"));
  if (others) {
    std::string which = first + " in the text" +
                        (others == 2  ? ", and 1 more array of the entry is not row-major"
                         : others > 2 ? ", and " + std::to_string(others - 1) +
                                            " more arrays of the entry are not row-major"
                                      : "");
    auto remark = module.emitRemark() << which;
    if (obeys) {
      remark << (mode == EntryLayouts::Text
                     ? ": obeyed, as --entry-layout=text says"
                     : ": obeyed, since the text was dumped after optimization "
                       "(is_scheduled=true); --entry-layout=row-major gives row-major buffers");
    } else {
      remark << ": compiled as row-major buffers, which is what JAX's runtime gives"
             << (mode == EntryLayouts::Auto ? " (--entry-layout=text obeys the text)" : "");
    }
  }
  if (obeys) {
    return checkAliasedLayouts(module, types);
  }
  auto plain = [](TypeRange range) { return llvm::map_to_vector(range, stripLayout); };
  auto rowMajor =
      FunctionType::get(module.getContext(), plain(types.getInputs()), plain(types.getResults()));
  module->setAttr(kDeclared, TypeAttr::get(rowMajor));
  return success();
}

/// The number of constants without values in the text, and the first one.
static std::pair<size_t, ConstantOp> elidedConstants(ModuleOp module) {
  size_t count = 0;
  ConstantOp first;
  module.walk<WalkOrder::PreOrder>([&](ConstantOp op) {
    if (isa<UnitAttr>(op.getValue())) {
      first = first ? first : op;
      ++count;
    }
  });
  return {count, first};
}

/// Error at the constant at which the total size of constants without values exceeds the budget.
static LogicalResult checkPlaceholders(ModuleOp module, const Budget &budget) {
  uint64_t total = 0;
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](ConstantOp op) {
    if (!isa<UnitAttr>(op.getValue())) {
      return WalkResult::advance();
    }
    for (Type leaf : leafTypes(op.getType())) {
      std::optional<int64_t> bytes = asArray(leaf) ? byteSize(asArray(leaf)) : std::nullopt;
      total = llvm::SaturatingAdd(total, bytes ? static_cast<uint64_t>(*bytes) : UINT64_MAX);
    }
    if (total <= budget.constantBytes) {
      return WalkResult::advance();
    }
    op.emitError() << "placeholders of constants without values take " << total << " bytes; "
                   << budget.text(&Budget::constantBytes);
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult hlo::refuseElidedConstants(ModuleOp module, bool allowed, const Budget &budget) {
  auto [count, first] = elidedConstants(module);
  if (!count) {
    return success();
  }
  if (allowed) {
    return checkPlaceholders(module, budget);
  }
  auto error =
      first.emitError() << count
                        << (count == 1 ? " constant has" : " constants have, this one first,")
                        << " no values in the text ('{...}'), so the object would compute nonsense";
  error.attachNote() << "print them: jax.jit(f).lower(...).as_text(dialect=\"hlo\") does; in XLA, "
                        "HloPrintOptions with print_large_constants, or "
                        "--xla_dump_large_constants for dumps";
  error.attachNote() << "to measure without them, --placeholder-constants makes values up";
  return error;
}

/// Reports why no custom call may have this target and api version, if so.
static LogicalResult checkTarget(Operation *call, StringRef target, StringRef api,
                                 StringRef prefix) {
  if (StringRef why = whyReserved(target, prefix); !why.empty()) {
    return call->emitError() << "custom_call_target '" << target << "' is " << why
                             << ", which a module may not call; give the handler another name";
  }
  // Tables of handlers have C strings: the name would be cut there, and be another one.
  if (target.contains('\0')) {
    return call->emitError() << "custom_call_target '" << target
                             << "' has a null character; give the handler another name";
  }
  // With another api version the handler would misread the operands' addresses as its call frame.
  if (isLapackTarget(target) && api != "API_VERSION_TYPED_FFI") {
    return call->emitError() << "custom_call_target '" << target
                             << "' is a handler of the typed FFI; the call needs "
                                "api_version=API_VERSION_TYPED_FFI";
  }
  return success();
}

LogicalResult hlo::refuseReservedTargets(ModuleOp module, StringRef prefix) {
  LogicalResult result = success();
  module.walk([&](Operation *op) {
    LogicalResult checked = success();
    if (auto call = dyn_cast<CustomCallOp>(op)) {
      checked =
          checkTarget(op, call.getCustomCallTarget(), call.getApiVersion().value_or(""), prefix);
    } else if (auto call = dyn_cast<cpurt::CallOp>(op)) { // with --start-from
      auto target = call.getConfig().getAs<StringAttr>("custom_call_target");
      auto api = call.getConfig().getAs<StringAttr>("api_version");
      checked = target ? checkTarget(op, target, api ? api.getValue() : "", prefix) : success();
    }
    result = failed(checked) ? checked : result;
  });
  return result;
}

void hlo::warnOfElidedConstants(ModuleOp module) {
  if (auto [count, first] = elidedConstants(module); count) {
    first.emitWarning() << count
                        << (count == 1 ? " constant has" : " constants have, this one first,")
                        << " no values in the text ('{...}'); hlo-compile refuses such a module";
  }
}
