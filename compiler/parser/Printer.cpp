//===- Printer.cpp - The hlo dialect to HLO text --------------------------===//
//
// One line per op, computations in module order, names from the locations. What
// the text format has no words for is rewritten on the way: an op of several
// results prints a tuple and one get-tuple-element per used result; loops and
// branches whose values were flattened get one tuple again, and so do their
// computations; a fusion's region is printed as a computation before its user.
// `X-start` and its kin print as they were written, without the wrapped
// computation.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/Printer.h"
#include "compiler/parser/Elements.h"
#include "compiler/parser/Opcodes.h"
#include "compiler/parser/ParserImpl.h"
#include "compiler/parser/PrinterImpl.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::raw_ostream;
using llvm::StringRef;

namespace {
/// The instruction name in a location, or nothing.
StringRef nameOf(Location location) {
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
std::string identifier(StringRef name, StringRef fallback) {
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

Type tupleOf(TypeRange types, MLIRContext *context) {
  return types.size() == 1 ? types[0] : TupleType::get(context, types);
}

class ModulePrinter {
public:
  ModulePrinter(ModuleOp module, raw_ostream &os, const PrintOptions &options)
      : module(module), os(os), options(options), context(module.getContext()),
        opcodes(module.getContext()) {}

  void print();

private:
  /// Names of one computation.
  struct Names {
    llvm::DenseMap<Value, std::string> values;
    llvm::StringSet<> taken;
    /// Instruction names as the text had them, to what is printed.
    llvm::StringMap<std::string> printed;
  };

  void collect();
  void printHeader();
  void printComputation(ComputationOp computation);
  void printBody(StringRef name, Block &block, bool isEntry, bool packParameters,
                 ArrayAttr argumentAttributes, StringRef thread);
  void printFusedRegions(Block &block);
  void printOp(Operation *op, Names &names, bool isRoot);
  void printOperands(Operation *op, Names &names, const OpcodeInfo &info);
  std::string packOperands(ValueRange operands, Names &names, StringRef stem);
  void printAttributes(Operation *op, const OpcodeInfo &info);
  void printAttribute(Operation *op, const AttrSpec &spec);
  void printCommon(DictionaryAttr attributes, Names &names);
  void printDims(DenseI64ArrayAttr dims, StringRef open = "{", StringRef close = "}");
  void printRef(Attribute ref);
  std::string unique(Names &names, StringRef wanted, StringRef fallback);
  std::string uniqueComputation(StringRef wanted);
  Operation *wrappedOp(AsyncStartOp start) const;

  ModuleOp module;
  raw_ostream &os;
  const PrintOptions &options;
  MLIRContext *context;
  OpcodeTable opcodes;
  llvm::StringMap<ComputationOp> computations;
  llvm::StringSet<> computationNames;
  /// Computations that the async sugar stands for.
  llvm::DenseSet<Operation *> hidden;
  /// Computations whose values were flattened: one tuple in, one out.
  llvm::StringSet<> packed;
  llvm::DenseMap<Operation *, std::string> fusedNames;
};

void ModulePrinter::print() {
  collect();
  printHeader();
  for (Operation &op : *module.getBody()) {
    auto computation = llvm::dyn_cast<ComputationOp>(op);
    if (!computation) {
      os << "\n// " << op.getName() << " has no HLO text\n";
      continue;
    }
    if (hidden.contains(&op)) {
      continue;
    }
    os << "\n";
    printComputation(computation);
  }
}

/// The op that a sugared async-start wraps, if its computation holds only that.
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

void ModulePrinter::printFusedRegions(Block &block) {
  for (Operation &op : block) {
    auto fusion = llvm::dyn_cast<FusionOp>(op);
    if (!fusion || fusion.getBody().empty()) {
      continue;
    }
    StringRef own = nameOf(op.getLoc());
    std::string name = uniqueComputation(identifier(own, "fusion") + "_computation");
    fusedNames[&op] = name;
    printBody(name, fusion.getBody().front(), false, false, nullptr, "");
    os << "\n";
  }
}

void ModulePrinter::printComputation(ComputationOp computation) {
  if (computation.getBody().empty()) {
    return;
  }
  Block &block = computation.getBody().front();
  printFusedRegions(block);
  printBody(computation.getSymName(), block, computation.getEntry(),
            packed.contains(computation.getSymName()), computation.getArgAttrsAttr(),
            computation.getExecutionThread().value_or(""));
}

void ModulePrinter::printBody(StringRef name, Block &block, bool isEntry, bool packParameters,
                              ArrayAttr argumentAttributes, StringRef thread) {
  Names names;
  // Names of the text first, so that generated ones make way.
  for (BlockArgument argument : block.getArguments()) {
    names.values[argument] = unique(names, nameOf(argument.getLoc()), "p");
  }
  for (Operation &op : block) {
    if (op.getNumResults() > 0 || !op.hasTrait<mlir::OpTrait::IsTerminator>()) {
      std::string printed = unique(names, nameOf(op.getLoc()), op.getName().stripDialect());
      names.printed.try_emplace(nameOf(op.getLoc()), printed);
      if (op.getNumResults() > 0) {
        names.values[op.getResult(0)] = printed;
      }
    }
  }
  for (BlockArgument argument : block.getArguments()) {
    names.printed.try_emplace(nameOf(argument.getLoc()), names.values[argument]);
  }

  Operation *terminator = block.getTerminator();
  Type result = tupleOf(terminator->getOperandTypes(), context);
  std::string tupleParameter = packParameters ? unique(names, "arg_tuple", "p") : "";
  Type tupleType = TupleType::get(context, SmallVector<Type>(block.getArgumentTypes()));
  os << (isEntry ? "ENTRY %" : "%") << name << " (";
  if (packParameters) {
    os << tupleParameter << ": ";
    printType(os, tupleType, LayoutText::Never);
  } else {
    for (auto [i, argument] : llvm::enumerate(block.getArguments())) {
      os << (i ? ", " : "") << names.values[argument] << ": ";
      printType(os, argument.getType(), LayoutText::Never);
    }
  }
  os << ") -> ";
  printType(os, result, LayoutText::Never);
  os << " {\n";

  Value root = terminator->getNumOperands() == 1 ? terminator->getOperand(0) : Value();
  if (packParameters) {
    os << "  %" << tupleParameter << " = ";
    printType(os, tupleType, LayoutText::Always);
    os << " parameter(0)\n";
  }
  for (BlockArgument argument : block.getArguments()) {
    os << (root == argument ? "  ROOT %" : "  %") << names.values[argument] << " = ";
    printType(os, argument.getType(), LayoutText::Always);
    if (packParameters) {
      os << " get-tuple-element(%" << tupleParameter << "), index=" << argument.getArgNumber();
    } else {
      os << " parameter(" << argument.getArgNumber() << ")";
    }
    if (argumentAttributes && argument.getArgNumber() < argumentAttributes.size()) {
      printCommon(llvm::cast<DictionaryAttr>(argumentAttributes[argument.getArgNumber()]), names);
    }
    os << "\n";
  }
  for (Operation &op : block.without_terminator()) {
    bool isRoot = root && root.getDefiningOp() == &op && op.getNumResults() == 1;
    printOp(&op, names, isRoot);
  }
  if (terminator->getNumOperands() != 1) {
    os << "  ROOT %" << unique(names, "root", "root") << " = ";
    printType(os, result, LayoutText::Always);
    os << " tuple(";
    llvm::interleave(
        terminator->getOperands(), [&](Value value) { os << "%" << names.values[value]; },
        [&]() { os << ", "; });
    os << ")\n";
  } else if (auto opResult = llvm::dyn_cast<OpResult>(root);
             opResult && opResult.getOwner()->getNumResults() != 1) {
    os << "  ROOT %" << unique(names, "root", "root") << " = ";
    printType(os, result, LayoutText::Always);
    os << " copy(%" << names.values[root] << ")\n";
  }
  os << "}";
  if (!thread.empty()) {
    os << ", execution_thread=" << quote(thread);
  }
  os << "\n";
}

/// Prints a tuple of the operands; its name.
std::string ModulePrinter::packOperands(ValueRange operands, Names &names, StringRef stem) {
  std::string name = unique(names, stem, "tuple");
  os << "  %" << name << " = ";
  printType(os, TupleType::get(context, operands.getTypes()), LayoutText::Always);
  os << " tuple(";
  llvm::interleave(
      operands, [&](Value value) { os << "%" << names.values[value]; }, [&]() { os << ", "; });
  os << ")\n";
  return name;
}

void ModulePrinter::printOp(Operation *op, Names &names, bool isRoot) {
  const OpcodeInfo *info = opcodes.findOp(op->getName());
  if (!info) {
    os << "  // " << op->getName() << " has no HLO text\n";
    return;
  }
  std::string name = op->getNumResults() ? names.values[op->getResult(0)]
                                         : unique(names, nameOf(op->getLoc()), info->name);

  // Flattened values become tuples before the op.
  SmallVector<std::string> tuples;
  if (llvm::isa<WhileOp, OptBarrierOp>(op) && op->getNumOperands() != 1) {
    tuples.push_back(packOperands(op->getOperands(), names, name + ".init"));
  } else if (auto branch = llvm::dyn_cast<ConditionalOp>(op);
             branch && branch.getBranchOperandCounts()) {
    ValueRange rest = branch.getInputs();
    tuples.push_back(names.values[branch.getSelector()]);
    for (int64_t count : branch.getBranchOperandCountsAttr().asArrayRef()) {
      tuples.push_back(packOperands(rest.take_front(count), names, name + ".operand"));
      rest = rest.drop_front(count);
    }
  }

  os << (isRoot ? "  ROOT %" : "  %") << name << " = ";
  Type type = op->getNumResults() == 1 ? op->getResult(0).getType()
                                       : TupleType::get(context, op->getResultTypes());
  printType(os, type, LayoutText::Always);
  os << " ";
  const OpcodeInfo *attributeInfo = info;
  Operation *attributeOp = op;
  auto sugar = op->getAttrOfType<StringAttr>("sugar");
  auto start = llvm::dyn_cast<AsyncStartOp>(op);
  Operation *wrapped = start ? wrappedOp(start) : nullptr;
  if (wrapped) {
    attributeOp = wrapped;
    attributeInfo = opcodes.findOp(wrapped->getName());
    os << attributeInfo->name << "-start";
  } else if (sugar && !start) {
    attributeInfo = nullptr;
    os << sugar.getValue() << (llvm::isa<AsyncUpdateOp>(op) ? "-update" : "-done");
  } else {
    os << info->name;
  }
  os << "(";
  if (!tuples.empty()) {
    llvm::interleave(tuples, [&](StringRef tuple) { os << "%" << tuple; }, [&]() { os << ", "; });
  } else {
    printOperands(op, names, *info);
  }
  os << ")";
  if (attributeInfo) {
    printAttributes(attributeOp, *attributeInfo);
  }
  if (wrapped || (sugar && !start)) {
    for (const char *extra : {"async_execution_thread", "output_to_operand_aliasing"}) {
      if (auto value = op->getAttrOfType<StringAttr>(extra)) {
        bool isText = StringRef(extra).starts_with("output");
        os << ", " << extra << "=" << (isText ? value.getValue().str() : quote(value));
      }
    }
  }
  printCommon(op->getAttrDictionary(), names);
  os << "\n";

  if (op->getNumResults() > 1) {
    for (OpResult result : op->getResults()) {
      if (result.use_empty()) {
        continue;
      }
      std::string element =
          unique(names, name + "." + std::to_string(result.getResultNumber()), "element");
      os << "  %" << element << " = ";
      printType(os, result.getType(), LayoutText::Always);
      os << " get-tuple-element(%" << name << "), index=" << result.getResultNumber() << "\n";
      names.values[result] = element;
    }
  }
}

void ModulePrinter::printOperands(Operation *op, Names &names, const OpcodeInfo &info) {
  if (auto constant = llvm::dyn_cast<ConstantOp>(op)) {
    printLiteral(os, constant.getType(), constant.getValue(), options.maxConstantElements);
    return;
  }
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    os << (i ? ", " : "");
    if (i && i % 5 == 0) {
      os << "/*index=" << i << "*/";
    }
    os << "%" << names.values[operand];
  }
}

void ModulePrinter::printDims(DenseI64ArrayAttr dims, StringRef open, StringRef close) {
  os << open;
  llvm::interleave(dims.asArrayRef(), os, ",");
  os << close;
}

void ModulePrinter::printRef(Attribute ref) {
  os << "%" << llvm::cast<FlatSymbolRefAttr>(ref).getValue();
}

void ModulePrinter::printAttributes(Operation *op, const OpcodeInfo &info) {
  for (const AttrSpec &spec : info.attributes) {
    printAttribute(op, spec);
  }
  auto fusion = llvm::dyn_cast<FusionOp>(op);
  if (fusion && fusedNames.contains(op)) {
    if (!fusion.getKind()) {
      os << ", kind=kLoop";
    }
    os << ", calls=%" << fusedNames[op];
    if (auto strategy = fusion.getStrategy();
        strategy && !op->hasAttr("hlo.frontend_attributes")) {
      os << ", frontend_attributes={strategy=" << quote(*strategy) << "}";
    }
  }
}

void ModulePrinter::printAttribute(Operation *op, const AttrSpec &spec) {
  auto dims = [&](StringRef name) { return op->getAttrOfType<DenseI64ArrayAttr>(name); };
  switch (spec.kind) {
  case AttrKind::Padding: {
    auto low = dims("padding_low"), high = dims("padding_high"), interior = dims("padding_interior");
    os << ", padding=";
    for (int64_t i = 0; i < low.size(); ++i) {
      os << (i ? "x" : "") << low[i] << "_" << high[i];
      if (interior[i]) {
        os << "_" << interior[i];
      }
    }
    return;
  }
  case AttrKind::Slice: {
    auto starts = dims("start_indices"), limits = dims("limit_indices"), strides = dims("strides");
    bool strided = llvm::any_of(strides.asArrayRef(), [](int64_t stride) { return stride != 1; });
    os << ", slice={";
    for (int64_t i = 0; i < starts.size(); ++i) {
      os << (i ? ", [" : "[") << starts[i] << ":" << limits[i];
      if (strided) {
        os << ":" << strides[i];
      }
      os << "]";
    }
    os << "}";
    return;
  }
  case AttrKind::OneDim:
    if (auto dimension = op->getAttrOfType<IntegerAttr>("dimension")) {
      os << ", " << spec.name << "={" << dimension.getInt() << "}";
    }
    return;
  case AttrKind::TrueBranch:
  case AttrKind::FalseBranch:
  case AttrKind::Computations:
    if (auto branch = llvm::dyn_cast<ConditionalOp>(op)) {
      auto selector = llvm::dyn_cast<RankedTensorType>(branch.getSelector().getType());
      bool predicated = selector && selector.getElementType().isSignlessInteger(1) &&
                        branch.getBranchComputations().size() == 2;
      bool list = spec.kind == AttrKind::Computations;
      if (predicated == list) {
        return;
      }
      if (predicated) {
        os << ", " << spec.name << "=";
        printRef(branch.getBranchComputations()[spec.kind == AttrKind::FalseBranch]);
        return;
      }
    }
    break;
  default:
    break;
  }

  Attribute attribute = op->getAttr(spec.name);
  if (!attribute) {
    return;
  }
  os << ", " << spec.name << "=";
  switch (spec.kind) {
  case AttrKind::String:
    os << quote(llvm::cast<StringAttr>(attribute));
    return;
  case AttrKind::Float: {
    std::string text;
    auto format = getElementFormat(Float64Type::get(context));
    printFloat(*format, llvm::cast<FloatAttr>(attribute).getValue().bitcastToAPInt().getZExtValue(),
               text);
    os << text;
    return;
  }
  case AttrKind::Window:
    os << windowToText(llvm::cast<WindowAttr>(attribute));
    return;
  case AttrKind::DimLabels: {
    auto rank = [](Value value) {
      auto array = llvm::dyn_cast<RankedTensorType>(value.getType());
      return array ? array.getRank() : 0;
    };
    os << dimLabelsToText(llvm::cast<ConvDimsAttr>(attribute), rank(op->getOperand(0)),
                          rank(op->getOperand(1)), rank(op->getResult(0)));
    return;
  }
  default:
    break;
  }
  llvm::TypeSwitch<Attribute>(attribute)
      .Case<BoolAttr>([&](BoolAttr value) { os << (value.getValue() ? "true" : "false"); })
      .Case<IntegerAttr>([&](IntegerAttr value) { os << value.getInt(); })
      .Case<DenseI64ArrayAttr>([&](DenseI64ArrayAttr value) { printDims(value); })
      .Case<FlatSymbolRefAttr>([&](FlatSymbolRefAttr value) { printRef(value); })
      .Case<StringAttr>([&](StringAttr value) { os << value.getValue(); })
      .Case<TypeAttr>([&](TypeAttr value) { printType(os, value.getValue(), LayoutText::Always); })
      .Case<ArrayAttr>([&](ArrayAttr values) {
        os << "{";
        llvm::interleave(
            values,
            [&](Attribute value) {
              if (auto type = llvm::dyn_cast<TypeAttr>(value)) {
                printType(os, type.getValue(), LayoutText::Always);
              } else if (auto word = llvm::dyn_cast<StringAttr>(value)) {
                os << word.getValue();
              } else {
                printRef(value);
              }
            },
            [&]() { os << (spec.kind == AttrKind::Precision ? "," : ", "); });
        os << "}";
      });
}

void ModulePrinter::printCommon(DictionaryAttr attributes, Names &names) {
  for (StringRef name : getCommonAttributes()) {
    if (name == "control-predecessors") {
      auto predecessors = attributes.getAs<ArrayAttr>("hlo.control_predecessors");
      SmallVector<StringRef> printed;
      if (predecessors) {
        for (auto predecessor : predecessors.getAsRange<StringAttr>()) {
          auto it = names.printed.find(predecessor.getValue());
          if (it != names.printed.end()) {
            printed.push_back(it->second);
          }
        }
      }
      if (!printed.empty()) {
        os << ", control-predecessors={";
        llvm::interleave(
            printed, [&](StringRef other) { os << "%" << other; }, [&]() { os << ", "; });
        os << "}";
      }
      continue;
    }
    bool isMetadata = name == "metadata" || name == "origin" || name == "statistics";
    auto value = attributes.getAs<StringAttr>(("hlo." + name).str());
    if (value && (options.metadata || !isMetadata)) {
      os << ", " << name << "=" << value.getValue();
    }
  }
}
} // namespace

void hlo::printHlo(ModuleOp module, raw_ostream &os, const PrintOptions &options) {
  ModulePrinter(module, os, options).print();
}
