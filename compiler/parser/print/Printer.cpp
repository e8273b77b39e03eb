//===- Printer.cpp - The hlo dialect to HLO text --------------------------===//
//
// Prints one line per op, computations in module order but callees before callers, as the format
// asks; names come from the locations. Constructs that the text format lacks are rewritten: an op
// with several results prints a tuple and one get-tuple-element per used result; loops and branches
// with flattened values, and their computations, get one tuple again; a fusion's region prints as a
// computation before its user. `X-start`, `X-update` and `X-done` print in that form, without the
// wrapped computation.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"
#include "compiler/parser/print/ModulePrinter.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::raw_ostream;
using llvm::StringRef;

/// The instruction name in a location; empty if there is none.
StringRef hlo::parser::nameOf(Location location) {
  if (auto name = llvm::dyn_cast<NameLoc>(location)) {
    return name.getName().getValue();
  }
  if (auto fused = llvm::dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations()) {
      if (StringRef name = nameOf(part); !name.empty()) {
        return name;
      }
    }
  }
  if (auto call = llvm::dyn_cast<CallSiteLoc>(location)) {
    return nameOf(call.getCallee());
  }
  return "";
}

/// A name with characters of identifiers only.
std::string hlo::parser::identifier(StringRef name, StringRef fallback) {
  std::string result = name.empty() ? fallback.str() : name.str();
  for (char &c : result) {
    c = isIdentifierChar(c) ? c : '_';
  }
  if (!isIdentifierStart(result.front()) || isPrimitiveWord(result)) {
    result = "v_" + result;
  }
  if (StringRef(result).starts_with("__") && !StringRef(result).starts_with("__xla_")) {
    result = "v" + result;
  }
  return result;
}

Type hlo::parser::tupleOf(TypeRange types, MLIRContext *context) {
  return types.size() == 1 ? types[0] : TupleType::get(context, types);
}

void ModulePrinter::print() {
  collect();
  printHeader();
  for (Operation &op : *module.getBody()) {
    if (!llvm::isa<ComputationOp>(op)) {
      os << "\n// " << op.getName() << " has no HLO text\n";
    }
  }
  for (ComputationOp computation : calleesFirst()) {
    if (!hidden.contains(computation)) {
      os << "\n";
      printComputation(computation);
    }
  }
}

/// The computations in module order, each after those that it names.
std::vector<ComputationOp> ModulePrinter::calleesFirst() {
  std::vector<ComputationOp> order, stack;
  llvm::DenseSet<Operation *> entered, listed;
  for (auto root : module.getOps<ComputationOp>()) {
    stack.push_back(root);
    while (!stack.empty()) {
      ComputationOp top = stack.back();
      if (!entered.insert(top).second) {
        stack.pop_back();
        if (listed.insert(top).second) {
          order.push_back(top);
        }
        continue;
      }
      std::vector<ComputationOp> callees;
      top->walk([&](Operation *op) {
        op->getAttrDictionary().walk([&](FlatSymbolRefAttr name) {
          ComputationOp callee = op == top ? ComputationOp() : computations.lookup(name.getValue());
          if (callee && !entered.contains(callee)) {
            callees.push_back(callee);
          }
        });
      });
      // The first callee is on top of the stack.
      stack.insert(stack.end(), callees.rbegin(), callees.rend());
    }
  }
  return order;
}

/// The op that an async-start in the sugar form wraps: the only op of its computation. Else null.
Operation *ModulePrinter::wrappedOp(AsyncStartOp start) const {
  if (!start->hasAttr("sugar")) {
    return nullptr;
  }
  ComputationOp callee = computations.lookup(start.getCalls());
  if (!callee || callee.getBody().empty()) {
    return nullptr;
  }
  Block &block = callee.getBody().front();
  if (block.getOperations().size() != 2) {
    return nullptr;
  }
  Operation *op = &block.front();
  return llvm::equal(op->getOperands(), block.getArguments()) &&
                 llvm::equal(block.getTerminator()->getOperands(), op->getResults()) &&
                 opcodes.findOp(op->getName())
             ? op
             : nullptr;
}

void ModulePrinter::collect() {
  for (auto computation : module.getOps<ComputationOp>()) {
    computations[computation.getSymName()] = computation;
    computationNames.insert(computation.getSymName());
  }
  module.walk([&](Operation *op) {
    if (auto start = llvm::dyn_cast<AsyncStartOp>(op)) {
      if (wrappedOp(start)) {
        hidden.insert(computations.lookup(start.getCalls()));
      }
    } else if (auto loop = llvm::dyn_cast<WhileOp>(op)) {
      if (loop->getNumOperands() != 1) {
        packed.insert(loop.getCondition());
        packed.insert(loop.getBody());
      }
    } else if (auto branch = llvm::dyn_cast<ConditionalOp>(op)) {
      if (branch.getBranchOperandCounts()) {
        for (Attribute ref : branch.getBranchComputations()) {
          packed.insert(llvm::cast<FlatSymbolRefAttr>(ref).getValue());
        }
      }
    }
  });
}

void ModulePrinter::printHeader() {
  StringRef name = module.getSymName().value_or("module");
  bool needsSigil = isReservedWord(name) || isPrimitiveWord(name);
  os << "HloModule " << (needsSigil ? "%" : "")
     << (needsSigil ? name.str() : identifier(name, "module"));
  auto has = [&](StringRef attribute) { return module->getAttr(("hlo." + attribute).str()); };
  auto flag = [&](StringRef attribute) {
    if (has(attribute)) {
      os << ", " << attribute << "=true";
    }
  };
  auto number = [&](StringRef attribute) {
    if (auto value = llvm::dyn_cast_or_null<IntegerAttr>(has(attribute))) {
      os << ", " << attribute << "=" << value.getInt();
    }
  };
  auto text = [&](StringRef attribute) {
    if (auto value = llvm::dyn_cast_or_null<StringAttr>(has(attribute))) {
      os << ", " << attribute << "=" << value.getValue();
    }
  };
  auto index = [&](DictionaryAttr entry, StringRef field) {
    printDims(entry.getAs<DenseI64ArrayAttr>(field));
  };
  flag("is_scheduled");
  if (auto aliases = llvm::dyn_cast_or_null<ArrayAttr>(has("input_output_alias"))) {
    os << ", input_output_alias={ ";
    llvm::interleave(
        aliases.getAsRange<DictionaryAttr>(),
        [&](DictionaryAttr entry) {
          index(entry, "output_index");
          os << ": (" << entry.getAs<IntegerAttr>("parameter").getInt() << ", ";
          index(entry, "parameter_index");
          os << ", " << entry.getAs<StringAttr>("kind").getValue() << ")";
        },
        [&]() { os << ", "; });
    os << " }";
  }
  if (auto donors = llvm::dyn_cast_or_null<ArrayAttr>(has("buffer_donor"))) {
    os << ", buffer_donor={ ";
    llvm::interleave(
        donors.getAsRange<DictionaryAttr>(),
        [&](DictionaryAttr entry) {
          os << "(" << entry.getAs<IntegerAttr>("parameter").getInt() << ", ";
          index(entry, "parameter_index");
          os << ")";
        },
        [&]() { os << ", "; });
    os << " }";
  }
  flag("alias_passthrough_params");
  if (auto layout = llvm::dyn_cast_or_null<TypeAttr>(has("entry_computation_layout"))) {
    auto type = llvm::cast<FunctionType>(layout.getValue());
    os << ", entry_computation_layout={(";
    for (auto [i, input] : llvm::enumerate(type.getInputs())) {
      os << (i ? ", " : "");
      if (i && i % 5 == 0) {
        os << "/*index=" << i << "*/";
      }
      printType(os, input, LayoutText::Always);
    }
    os << ")->";
    printType(os, tupleOf(type.getResults(), context), LayoutText::Always);
    os << "}";
  }
  text("allow_spmd_sharding_propagation_to_parameters");
  text("allow_spmd_sharding_propagation_to_output");
  number("replica_count");
  number("num_partitions");
  text("frontend_attributes");
  text("origin_recovery_table");
  text("debug_attributes");
  os << "\n";
  if (auto frames = llvm::dyn_cast_or_null<StringAttr>(has("stack_frames"));
      frames && options.metadata) {
    os << "\n" << frames.getValue();
  }
}

std::string ModulePrinter::unique(Names &names, StringRef wanted, StringRef fallback) {
  std::string base = identifier(wanted, fallback);
  std::string name = base;
  for (int64_t i = 1; !names.taken.insert(name).second; ++i) {
    name = base + "." + std::to_string(i);
  }
  return name;
}

std::string ModulePrinter::uniqueComputation(StringRef wanted) {
  std::string name = wanted.str();
  for (int64_t i = 1; !computationNames.insert(name).second; ++i) {
    name = wanted.str() + "." + std::to_string(i);
  }
  return name;
}

void hlo::printHlo(ModuleOp module, raw_ostream &os, const PrintOptions &options) {
  ModulePrinter(module, os, options).print();
}
