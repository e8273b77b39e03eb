//===- ComputationBuilder.cpp - A module instruction by instruction -------===//
//
// In: opcodes, values, and attributes and shapes as text. Out: a module like that of parseHlo. One
// Parser lives as long as the builder and reads the text of each call; its tables of computations
// and instruction names are the builder's.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ComputationBuilder.h"
#include "compiler/parser/AttributeText.h"
#include "compiler/parser/Elements.h"
#include "compiler/parser/ParserImpl.h"
#include "compiler/parser/Printer.h"
#include "compiler/parser/print/PrinterImpl.h"
#include "compiler/support/Checked.h"
#include "dialect/hlo/Shapes.h"
#include "dialect/hlo/verify/SymbolCache.h"
#include "mlir/IR/Verifier.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

ComputationBuilder::ComputationBuilder(MLIRContext *context, StringRef name) : context(context) {
  context->loadDialect<HloDialect>();
  parser = std::make_unique<Parser>(StringRef(), "", context, ParseOptions());
  parser->infersAll = true;
  scope = std::make_unique<Scope>(UnknownLoc::get(context));
  scope->storage = std::make_unique<Block>();
  scope->block = scope->storage.get();
  entryName = uniqueName(name.empty() ? "module" : name, [](StringRef) { return false; });
  parser->generatedNames.insert(entryName);
  module = ModuleOp::create(UnknownLoc::get(context), entryName);
  parser->moduleBlock = module->getBody();
  symbols = std::make_unique<SymbolTable>(*module);
}

ComputationBuilder::~ComputationBuilder() = default;

Location ComputationBuilder::locate(StringRef name, const CallerPlace &place) {
  Location at = UnknownLoc::get(context);
  if (place.line) {
    at = FileLineColLoc::get(context, place.file, place.line, 1);
  }
  return NameLoc::get(StringAttr::get(context, name), at);
}

void ComputationBuilder::startText(StringRef newText) {
  // Its keys are parts of the text that ends here.
  parser->shapeCache.clear();
  text = newText.str();
  parser->reporter.restart(text);
  parser->lexer = Lexer(text);
  parser->depth = 0;
}

bool ComputationBuilder::parseWholeShape(StringRef shape, Type &type) {
  startText(shape);
  if (!parser->atShape()) {
    (void)parser->unexpected("a shape");
    return false;
  }
  if (failed(parser->parseShape(type))) {
    return false;
  }
  if (!parser->at(Tok::Eof)) {
    (void)parser->unexpected("the end", "after a shape");
    return false;
  }
  return true;
}

/// `wanted` as a name of the format that is not taken; with a number behind it if need be.
std::string ComputationBuilder::uniqueName(StringRef wanted,
                                           llvm::function_ref<bool(StringRef)> isTaken) {
  std::string stem = identifierText(wanted), name = stem;
  unsigned &count = stems[stem];
  while (isTaken(name)) {
    name = stem + "." + std::to_string(++count);
  }
  return name;
}

std::string ComputationBuilder::nameInstruction(StringRef wanted, StringRef opcode) {
  return uniqueName(wanted.empty() ? opcode : wanted,
                    [&](StringRef name) { return scope->names.contains(name); });
}

/// Makes `value` the instruction that was added last.
Value ComputationBuilder::enter(Value value, Location location) {
  StringAttr name = cast<NameLoc>(location).getName();
  scope->names.try_emplace(name.getValue(), Binding{value, parser->position()});
  scope->last = value;
  scope->lastLocation = location;
  return value;
}

Value ComputationBuilder::parameter(int64_t number, StringRef shape, StringRef name,
                                    const CallerPlace &place) {
  Instruction inst;
  inst.info = parser->opcodes.find("parameter");
  if (!parseWholeShape(shape, inst.type)) {
    return {};
  }
  inst.opcodePosition = inst.namePosition = text.c_str();
  inst.opcode = inst.info->name;
  if (number < 0) {
    (void)(parser->error(text.c_str()) << "parameter number " << number << " is negative");
    return {};
  }
  if (!scope->parameterNumbers.insert(number).second) {
    (void)(parser->error(text.c_str()) << "parameter " << number << " is defined twice");
    return {};
  }
  if (failed(parser->checkExtent(inst))) {
    return {};
  }
  Location location =
      locate(nameInstruction(name.empty() ? "p" + std::to_string(number) : name.str(), ""), place);
  scope->parameters.push_back({number, BlockArgument(), text.c_str(), DictionaryAttr()});
  return enter(parser->create(*scope, inst, location), location);
}

Value ComputationBuilder::constant(StringRef shape, llvm::ArrayRef<char> bytes, StringRef name,
                                   const CallerPlace &place) {
  Type type;
  if (!parseWholeShape(shape, type)) {
    return {};
  }
  RankedTensorType array = asArray(type);
  std::optional<ElementFormat> format =
      array ? getElementFormat(array.getElementType()) : std::nullopt;
  auto fail = [&] { return parser->error(text.c_str()) << "constant: "; };
  if (!format || !array.hasStaticShape()) {
    (void)(fail() << "there are no constants of shape " << typeToText(type));
    return {};
  }
  std::optional<int64_t> count = checkedProduct(array.getShape());
  uint64_t wanted =
      count ? llvm::SaturatingMultiply<uint64_t>(*count, format->elementBytes()) : UINT64_MAX;
  if (wanted != bytes.size()) {
    (void)(fail() << typeToText(type) << " has " << wanted << " bytes, got " << bytes.size());
    return {};
  }
  // Of types of less than a byte only the low bits count; the parser leaves the others zero.
  std::vector<char> masked;
  if (format->bits < 8) {
    masked.assign(bytes.begin(), bytes.end());
    for (char &byte : masked) {
      byte &= (1 << format->bits) - 1;
    }
    bytes = masked;
  }
  Instruction inst;
  inst.info = parser->opcodes.find("constant");
  inst.opcodePosition = inst.namePosition = text.c_str();
  inst.type = array;
  inst.attributes.append("value", denseElements(dropEncoding(array), *format, bytes));
  Location location = locate(nameInstruction(name, "constant"), place);
  return enter(parser->create(*scope, inst, location), location);
}

/// Reads from the attributes as a list of the text format from now on.
ComputationBuilder::AttributeList
ComputationBuilder::startAttributes(llvm::ArrayRef<TextAttribute> attributes) {
  std::string list;
  AttributeList ends;
  for (const TextAttribute &attribute : attributes) {
    list += ", " + attribute.name.str() + "=" + attribute.value;
    ends.push_back(list.size());
  }
  startText(list);
  return ends;
}

LogicalResult ComputationBuilder::parseAttributes(const AttributeList &ends, Instruction &inst) {
  for (size_t end : ends) {
    if (!parser->consumeIf(Tok::Comma) || failed(parser->parseAttribute(*scope, inst))) {
      return failure();
    }
    // One value must not be taken for several attributes.
    if (parser->lexer.previousEnd() > text.c_str() + end ||
        parser->position() < text.c_str() + end) {
      (void)parser->unexpected("the end", "after an attribute");
      return failure();
    }
  }
  return success();
}

/// Enters the computations that were appended to the module into its table: a table of its own for
/// each call would take the square of their number.
void ComputationBuilder::enterSymbols() {
  Block *block = module->getBody();
  auto next = lastSymbol ? std::next(lastSymbol->getIterator()) : block->begin();
  for (; next != block->end(); ++next) {
    lastSymbol = &*next;
    symbols->insert(lastSymbol);
  }
}

Value ComputationBuilder::add(StringRef opcode, ValueRange operands, StringRef shape,
                              llvm::ArrayRef<TextAttribute> attributes, StringRef name,
                              const CallerPlace &place) {
  Type type;
  if (!shape.empty() && !parseWholeShape(shape, type)) {
    return {};
  }
  AttributeList list = startAttributes(attributes);
  Instruction inst;
  inst.type = type;
  inst.opcodePosition = inst.namePosition = text.c_str();
  inst.shapePosition = type ? inst.opcodePosition : nullptr;
  inst.operands.assign(operands.begin(), operands.end());
  inst.operandPositions.assign(operands.size(), inst.opcodePosition);
  if (failed(parser->findOpcode(opcode, inst))) {
    return {};
  }
  // The format's own syntax gives these a number and a literal.
  if (inst.info->name == "parameter" || inst.info->name == "constant") {
    (void)(parser->error(inst.opcodePosition)
           << inst.info->name << " cannot be added as an instruction of operands");
    return {};
  }
  if (inst.operands.size() > parser->budget.operands) {
    (void)(parser->error(inst.opcodePosition)
           << opcode << " has more than " << parser->budget.operands << " operands; "
           << parser->budget.text(&Budget::operands));
    return {};
  }
  if (failed(parser->checkOperandCount(inst)) || failed(parseAttributes(list, inst))) {
    return {};
  }
  if (failed(parser->checkAttributes(inst)) || failed(parser->completeShape(inst)) ||
      failed(parser->checkExtent(inst)) || failed(parser->checkShape(inst))) {
    return {};
  }
  // Inferred shapes may nest deeper than their text may.
  if (parser->extentOf(inst.type).levels > uint64_t(maxDepth)) {
    (void)(parser->error(inst.opcodePosition)
           << opcode << " has tuples nested deeper than " << maxDepth << " levels");
    return {};
  }
  std::string spelled = inst.opcode.str();
  Location location = locate(nameInstruction(name, spelled), place);
  Value value = parser->create(*scope, inst, location);
  // The op's block is not in the module yet.
  enterSymbols();
  SymbolScope scoped(*symbols);
  if (failed(mlir::verify(value.getDefiningOp()))) {
    value.getDefiningOp()->erase();
    return {};
  }
  return enter(value, location);
}

LogicalResult ComputationBuilder::annotate(Value value, llvm::ArrayRef<TextAttribute> attributes) {
  Operation *op = value.getDefiningOp();
  AttributeList list = startAttributes(attributes);
  Instruction inst;
  inst.info = op ? parser->opcodes.findOp(op->getName()) : parser->opcodes.find("parameter");
  inst.opcode = inst.info->name;
  inst.opcodePosition = inst.namePosition = text.c_str();
  inst.type = value.getType();
  if (failed(parseAttributes(list, inst))) {
    return failure();
  }
  if (!inst.attributes.empty()) {
    return parser->error(text.c_str())
           << inst.opcode << ": '" << inst.attributes.begin()->getName().getValue()
           << "' decides what the instruction computes and is given when it is added";
  }
  if (op) {
    for (NamedAttribute attribute : inst.common) {
      op->setAttr(attribute.getName(), attribute.getValue());
    }
    return success();
  }
  Parameter &parameter = *llvm::find_if(
      scope->parameters, [&](const Parameter &each) { return each.argument == value; });
  NamedAttrList all(parameter.attributes);
  for (NamedAttribute attribute : inst.common) {
    all.set(attribute.getName(), attribute.getValue());
  }
  parameter.attributes = all.getDictionary(context);
  return success();
}

LogicalResult ComputationBuilder::moduleAttribute(StringRef name, StringRef value,
                                                  const CallerPlace &place) {
  startText(value);
  if (failed(parser->parseHeaderAttribute(*module, name, text.c_str()))) {
    return failure();
  }
  if (!parser->at(Tok::Eof)) {
    (void)parser->unexpected("the end", "after a module attribute");
    return failure();
  }
  return success();
}

std::string ComputationBuilder::import(StringRef other) {
  OwningOpRef<ModuleOp> parsed = parseHlo(other, "", context);
  if (!parsed) {
    return "";
  }
  // Old names of the computations, and the names here.
  llvm::StringMap<StringAttr> names;
  std::string entry;
  auto computations = llvm::to_vector(parsed->getOps<ComputationOp>());
  for (ComputationOp op : computations) {
    std::string name = uniqueName(op.getSymName(), [&](StringRef candidate) {
      return parser->generatedNames.contains(candidate) || parser->computations.contains(candidate);
    });
    StringAttr interned = StringAttr::get(context, name);
    names[op.getSymName()] = interned;
    parser->computations[interned.getValue()] = {op, text.c_str()};
    if (op->hasAttr("entry")) {
      entry = name;
      op->removeAttr("entry");
    }
  }
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](FlatSymbolRefAttr ref) -> std::optional<Attribute> {
    auto found = names.find(ref.getValue());
    return found == names.end() ? Attribute(ref) : FlatSymbolRefAttr::get(found->second);
  });
  for (ComputationOp op : computations) {
    op.getBody().walk([&](Operation *inner) { replacer.replaceElementsIn(inner); });
    StringAttr name = names[op.getSymName()];
    op.setSymNameAttr(name);
    op->setLoc(NameLoc::get(name));
    op->moveBefore(parser->moduleBlock, parser->moduleBlock->end());
  }
  return entry;
}

OwningOpRef<ModuleOp> ComputationBuilder::finish(Value root) {
  startText("");
  if (!scope->last) {
    (void)(parser->error(text.c_str()) << "computation '" << entryName << "' has no instructions");
    return nullptr;
  }
  if (root) {
    scope->hasRoot = true;
    scope->root = root;
    Operation *op = root.getDefiningOp();
    scope->rootLocation = op ? op->getLoc() : cast<BlockArgument>(root).getLoc();
  }
  StringRef name = StringAttr::get(context, entryName).getValue();
  ComputationOp op = parser->finishComputation(*scope, name, text.c_str(), Type(), nullptr,
                                               /*visible=*/true);
  if (!op) {
    return nullptr;
  }
  op->setLoc(NameLoc::get(StringAttr::get(context, entryName)));
  parser->entry = op;
  parser->aliasPosition = text.c_str();
  if (failed(parser->finishEntry(*module)) || failed(parser->checkAliases(*module))) {
    return nullptr;
  }
  return std::move(module);
}
