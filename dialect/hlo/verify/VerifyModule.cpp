//===- VerifyModule.cpp - Checks of a whole HLO module --------------------===//
//
// MLIR's verifier stops at the first bad op. So where it finds one, ops are
// visited here one by one, and it has the word again once all of them are good.
// Labels are [module_cN].
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/verify/VerifyModule.h"

#include "compiler/support/Checked.h"
#include "dialect/hlo/Shapes.h"
#include "dialect/hlo/verify/SymbolCache.h"
#include "mlir/IR/Verifier.h"

#include <set>

using namespace mlir;

namespace hlo {

/// The entry computations of a module.
static SmallVector<ComputationOp> entries(ModuleOp module) {
  SmallVector<ComputationOp> found;
  for (auto computation : module.getOps<ComputationOp>()) {
    if (computation.getEntry()) {
      found.push_back(computation);
    }
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

static LogicalResult verifyLayout(ModuleOp module, ComputationOp entry, FunctionType layout) {
  bool good = true;
  for (TypeRange types : {TypeRange(layout.getInputs()), TypeRange(layout.getResults())}) {
    for (Type leaf : leafTypes(types)) {
      std::string problem = asArray(leaf) ? shapeProblem(asArray(leaf)) : std::string();
      if (!problem.empty()) {
        mlir::emitError(module.getLoc())
            << "entry_computation_layout: " << problem << " [module_c24]";
        good = false;
      }
    }
  }
  if (layout.getNumInputs() != entry.getArgumentTypes().size()) {
    mlir::emitError(module.getLoc())
        << "entry_computation_layout has " << layout.getNumInputs() << " parameters, the entry has "
        << entry.getArgumentTypes().size() << " [module_c2]";
    good = false;
  } else {
    for (auto [i, declared, argument] :
         llvm::enumerate(layout.getInputs(), entry.getBody().getArguments())) {
      if (!sameShape(declared, argument.getType())) {
        InFlightDiagnostic diagnostic = mlir::emitError(module.getLoc())
                                        << "entry_computation_layout declares parameter " << i
                                        << " as " << hloText(declared) << ", it is "
                                        << hloText(argument.getType()) << " [module_c3]";
        diagnostic.attachNote(argument.getLoc()) << "parameter " << i << " is defined here";
        good = false;
      }
    }
  }
  if (layout.getResults() != entry.getResultTypes() &&
      (layout.getNumResults() != entry.getResultTypes().size() ||
       !llvm::all_of(llvm::zip(layout.getResults(), entry.getResultTypes()),
                     [](auto pair) { return sameShape(std::get<0>(pair), std::get<1>(pair)); }))) {
    auto text = [&](TypeRange types) {
      return hloText(types.size() == 1 ? types.front()
                                       : Type(TupleType::get(module.getContext(), types)));
    };
    InFlightDiagnostic diagnostic = mlir::emitError(module.getLoc())
                                    << "entry_computation_layout declares the result as "
                                    << text(layout.getResults()) << ", it is "
                                    << text(entry.getResultTypes()) << " [module_c4]";
    diagnostic.attachNote(entry.getReturn()->getLoc()) << "the root is here";
    good = false;
  }
  return success(good);
}

LogicalResult verifyEntry(ModuleOp module) {
  SmallVector<ComputationOp> found = entries(module);
  if (found.size() != 1) {
    InFlightDiagnostic diagnostic = mlir::emitError(module.getLoc())
                                    << "module has " << found.size()
                                    << " entry computations, expected 1 [module_c1]";
    for (ComputationOp entry : found) {
      diagnostic.attachNote(entry.getLoc()) << "'" << entry.getSymName() << "' is an entry";
    }
    return diagnostic;
  }
  ComputationOp entry = found.front();
  bool good = true;
  auto refuseBuffers = [&](Type type, Location loc, StringRef what) {
    if (llvm::any_of(leafTypes(type), llvm::IsaPred<BufferType>)) {
      mlir::emitError(loc) << what << " of the entry is " << hloText(type)
                           << ", buffers must stay inside [module_c5]";
      good = false;
    }
  };
  for (BlockArgument argument : entry.getBody().getArguments()) {
    refuseBuffers(argument.getType(), argument.getLoc(), "a parameter");
  }
  for (Type result : entry.getResultTypes()) {
    refuseBuffers(result, entry.getReturn()->getLoc(), "the result");
  }
  if (auto layout = module->getAttrOfType<TypeAttr>("hlo.entry_computation_layout")) {
    auto type = dyn_cast<FunctionType>(layout.getValue());
    good &= type && succeeded(verifyLayout(module, entry, type));
  }
  int64_t counts[2] = {1, 1};
  bool inRange = true;
  const StringRef names[2] = {"hlo.replica_count", "hlo.num_partitions"};
  for (auto [i, name] : llvm::enumerate(names)) {
    auto value = module->getAttrOfType<IntegerAttr>(name);
    counts[i] = value ? value.getValue().trySExtValue().value_or(INT64_MAX) : 1;
    if (!checkedRanks(counts[i], 1)) {
      mlir::emitError(module.getLoc())
          << name.drop_front(4) << " is " << counts[i] << ", must be "
          << (counts[i] < 1 ? "positive" : "at most 2147483647") << " [module_c6]";
      inRange = false;
    }
  }
  if (inRange && !checkedRanks(counts[0], counts[1])) {
    mlir::emitError(module.getLoc()) << "replica_count is " << counts[0] << ", num_partitions is "
                                     << counts[1] << ": the product must be at most 2147483647"
                                     << " [module_c6]";
    inRange = false;
  }
  good &= inRange;
  return success(good);
}

//===----------------------------------------------------------------------===//
// Aliases
//===----------------------------------------------------------------------===//

namespace {
/// Checks aliases and donors entry by entry, and records which parameter leaves are used.
class AliasVerifier {
public:
  AliasVerifier(ModuleOp module, ComputationOp entry) : module(module), entry(entry) {
    auto layout = module->getAttrOfType<TypeAttr>("hlo.entry_computation_layout");
    auto declared = layout ? dyn_cast<FunctionType>(layout.getValue()) : FunctionType();
    type = declared ? declared : entry.getFunctionType();
  }

  LogicalResult run() {
    for (StringRef name : {"input_output_alias", "buffer_donor"}) {
      auto list = module->getAttrOfType<ArrayAttr>(("hlo." + name).str());
      if (!list) {
        continue;
      }
      for (Attribute element : list) {
        if (auto fields = dyn_cast<DictionaryAttr>(element)) {
          verifyElement(name, fields);
        }
      }
    }
    return success(good);
  }

private:
  InFlightDiagnostic error(StringRef name) {
    good = false;
    return mlir::emitError(module.getLoc()) << name << ": ";
  }

  static SmallVector<int64_t> index(DictionaryAttr fields, StringRef name) {
    auto list = fields.getAs<DenseI64ArrayAttr>(name);
    return list ? SmallVector<int64_t>(list.asArrayRef()) : SmallVector<int64_t>();
  }

  static std::string text(ArrayRef<int64_t> index) {
    std::string result = "{";
    for (int64_t step : index) {
      result += (result.size() > 1 ? "," : "") + std::to_string(step);
    }
    return result + "}";
  }

  void verifyElement(StringRef name, DictionaryAttr fields) {
    auto number = fields.getAs<IntegerAttr>("parameter");
    int64_t parameter = number ? number.getInt() : -1;
    SmallVector<int64_t> path = index(fields, "parameter_index");
    if (parameter < 0 || parameter >= static_cast<int64_t>(type.getNumInputs())) {
      error(name) << "there is no parameter " << parameter << ", the entry has "
                  << type.getNumInputs() << " [module_c7]";
      return;
    }
    RankedTensorType input = asArray(typeAtIndex(type.getInput(parameter), path));
    if (!input) {
      error(name) << "parameter " << parameter << " is " << hloText(type.getInput(parameter))
                  << ", there is no array at " << text(path) << " [module_c8]";
      return;
    }
    if (!taken.insert({parameter, path}).second) {
      error(name) << "parameter " << parameter << " " << text(path)
                  << " is given away twice [module_c9]";
    }
    if (name == "buffer_donor") {
      return;
    }
    SmallVector<int64_t> outputPath = index(fields, "output_index");
    Type result = type.getNumResults() == 1
                      ? type.getResult(0)
                      : Type(TupleType::get(module.getContext(), type.getResults()));
    RankedTensorType output = asArray(typeAtIndex(result, outputPath));
    if (!output) {
      error(name) << "the result is " << hloText(result) << ", there is no array at "
                  << text(outputPath) << " [module_c10]";
      return;
    }
    auto kind = fields.getAs<StringAttr>("kind");
    if (kind && kind.getValue() == "must-alias" && output != input) {
      error(name) << "output " << text(outputPath) << " is " << hloText(output, LayoutText::always)
                  << ", parameter " << parameter << " " << text(path) << " is "
                  << hloText(input, LayoutText::always)
                  << ", both must be equal to alias [module_c11]";
    } else if (byteSize(output) != byteSize(input)) {
      error(name) << "output " << text(outputPath) << " is " << hloText(output) << ", parameter "
                  << parameter << " " << text(path) << " is " << hloText(input)
                  << ", both must have one size to share a buffer [module_c11]";
    }
  }

  ModuleOp module;
  ComputationOp entry;
  FunctionType type;
  std::set<std::pair<int64_t, SmallVector<int64_t>>> taken;
  bool good = true;
};
} // namespace

LogicalResult verifyAliases(ModuleOp module) {
  SmallVector<ComputationOp> found = entries(module);
  return found.size() == 1 ? AliasVerifier(module, found.front()).run() : success();
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

/// MLIR's verifier, without its message.
static bool isValid(ModuleOp module) {
  ScopedDiagnosticHandler silence(module.getContext(), [](Diagnostic &) { return success(); });
  return succeeded(mlir::verify(module));
}

/// Reports every bad op, or else what is wrong between ops, of a module that is not valid.
static void reportInvalid(ModuleOp module) {
  bool good = true;
  module->walk([&](Operation *op) {
    if (op != module.getOperation()) {
      std::optional<RegisteredOperationName> info = op->getRegisteredInfo();
      good &= info && succeeded(info->verifyInvariants(op)) &&
              succeeded(info->verifyRegionInvariants(op));
    }
  });
  if (good) {
    (void)mlir::verify(module);
  }
}

/// The bytes of the largest array of a text: what 48 bits address. Passes multiply sizes by costs
/// and small counts, add a few of them, and make larger arrays, all in 64 bits.
static constexpr int64_t kMostArrayBytes = int64_t{1} << 48;

/// Whether the type has an array that is too large, of those that no type in `seen` has; they are
/// added. Each type is looked at once, however deep the tuples that have it.
static bool hasTooLarge(Type type, llvm::SmallDenseSet<Type> &seen) {
  bool isTooLarge = false;
  SmallVector<Type> open;
  auto meet = [&](Type next) {
    if (seen.insert(next).second) {
      open.push_back(next);
    }
  };
  meet(type);
  while (!open.empty()) {
    Type next = open.pop_back_val();
    if (auto tuple = dyn_cast<TupleType>(next)) {
      llvm::for_each(tuple.getTypes(), meet);
    } else if (RankedTensorType array = asArray(next); array && array.hasStaticShape()) {
      isTooLarge |= byteSize(array).value_or(INT64_MAX) > kMostArrayBytes;
    }
  }
  return isTooLarge;
}

namespace {
/// What one walk over a module finds: the parts of the verification that it may need, by its ops
/// and attributes, and the first value of each type that is too large.
struct Needs {
  bool pairs = false, collectives = false, shardings = false;
  SmallVector<Value> large;
};
} // namespace

/// One walk, where each part would make its own: in a large module a walk waits for memory at each
/// op, and few modules need all parts.
static Needs needsOf(ModuleOp module) {
  Needs needs;
  needs.collectives = module->hasAttr("hlo.replica_count");
  auto sharding = StringAttr::get(module.getContext(), "hlo.sharding");
  llvm::SmallDenseSet<OperationName> kinds;
  llvm::SmallDenseSet<Type> types;
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    kinds.insert(op->getName());
    auto computation = dyn_cast<ComputationOp>(op);
    auto check = [&](ValueRange values) {
      for (Value value : values) {
        if (hasTooLarge(value.getType(), types)) {
          needs.large.push_back(value);
        }
      }
    };
    check(op->getResults());
    if (computation && !computation.getBody().empty()) {
      check(computation.getBody().getArguments());
    }
    needs.shardings |= op->hasAttr(sharding) || (computation && computation.getArgAttrsAttr());
  });
  for (OperationName kind : kinds) {
    StringRef name = kind.getStringRef();
    needs.pairs |=
        name.ends_with("_start") || name.ends_with("_done") ||
        llvm::is_contained({"hlo.async_update", "hlo.infeed", "hlo.send", "hlo.recv"}, name);
    needs.collectives |= name == "hlo.all_reduce";
  }
  return needs;
}

LogicalResult verifyModule(ModuleOp module) {
  SymbolScope symbols(module);
  if (!isValid(module)) {
    reportInvalid(module);
    return failure();
  }
  Needs needs = needsOf(module);
  for (Value value : needs.large) {
    Operation *op = value.getDefiningOp();
    mlir::emitError(value.getLoc())
        << (op ? hloOpcode(op->getName().getStringRef()) : "parameter") << ": "
        << hloText(value.getType()) << " has more than 2^48 bytes [module_c28]";
  }
  bool good = needs.large.empty();
  using Part = LogicalResult (*)(ModuleOp);
  for (auto [isNeeded, part] :
       std::initializer_list<std::pair<bool, Part>>{{true, verifyEntry},
                                                    {true, verifyAliases},
                                                    {true, verifyCallGraph},
                                                    {needs.pairs, verifyPairs},
                                                    {needs.collectives, verifyCollectives},
                                                    {needs.shardings, verifyShardings}}) {
    good &= !isNeeded || succeeded(part(module));
  }
  return success(good);
}

} // namespace hlo
