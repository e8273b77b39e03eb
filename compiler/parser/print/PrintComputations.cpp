//===- PrintComputations.cpp - Text of computations and ops --------------===//
//
// Prints one line per op. Several results, flattened loops and branches, and regions of fusions are
// rewritten in terms of the text format.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"
#include "compiler/parser/print/ModulePrinter.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

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
  // Names from the text first, so that generated names avoid them.
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

/// Prints a tuple of the operands and returns its name.
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

  // Flattened values are packed into tuples before the op.
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
