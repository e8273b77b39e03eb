//===- Build.cpp - From a parsed instruction to an op --------------------===//
//
// A parameter becomes a block argument, every other instruction one op at the end of the scope's
// block. `X-start` becomes an async-start of a new computation that holds only X.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

Operation *Parser::createOp(Block *block, OperationName name, Location location, Type type,
                            ValueRange operands, NamedAttrList &attributes) {
  unsigned regions = name.getStringRef() == "hlo.fusion" ? 1 : 0;
  Operation *op =
      Operation::create(location, name, type, operands, attributes.getDictionary(context),
                        OpaqueProperties(nullptr), BlockRange(), regions);
  block->push_back(op);
  return op;
}

/// Rewrites `X-start` as an async-start of a new computation that holds only X.
void Parser::wrapAsync(Instruction &inst, Location location) {
  NamedAttrList own = std::move(inst.attributes);
  NamedAttrList outer;
  outer.append("sugar", builder.getStringAttr(inst.info->name));
  for (StringRef name : {"async_execution_thread", "output_to_operand_aliasing"}) {
    bool belongsToOp = llvm::any_of(inst.info->attributes,
                                    [&](const AttrSpec &spec) { return spec.name == name; });
    Attribute value = own.get(name);
    if (value && !belongsToOp) {
      own.erase(name);
      outer.append(name, value);
    }
  }
  if (inst.async == AsyncPart::Start) {
    for (StringRef name : {"hlo.metadata", "hlo.backend_config", "hlo.frontend_attributes",
                           "hlo.statistics", "hlo.origin"}) {
      if (Attribute value = inst.common.get(name)) {
        own.append(name, value);
      }
    }
    Type result = llvm::cast<TupleType>(inst.type).getType(1);
    auto empty = llvm::dyn_cast<TupleType>(result);
    if (empty && empty.size() == 0 && inst.info->name == "call") {
      auto callee =
          computations.lookup(llvm::cast<FlatSymbolRefAttr>(own.get("to_apply")).getValue());
      result = callee.op ? callee.op.getResultTypes()[0] : result;
    }
    auto block = std::make_unique<Block>();
    SmallVector<Type> types;
    for (auto [i, operand] : llvm::enumerate(inst.operands)) {
      types.push_back(operand.getType());
      block->addArgument(operand.getType(),
                         NameLoc::get(builder.getStringAttr("p" + std::to_string(i)), location));
    }
    Operation *op = createOp(block.get(), opcodes.getOpName(*inst.info), location, result,
                             block->getArguments(), own);
    std::string name = makeComputationName("async_wrapped");
    OpBuilder ops(context);
    ops.setInsertionPointToEnd(block.get());
    ReturnOp::create(ops, location, op->getResults());
    ops.setInsertionPointToEnd(moduleBlock);
    auto computation =
        ComputationOp::create(ops, NameLoc::get(builder.getStringAttr(name), location), name,
                              builder.getFunctionType(types, result));
    if (Attribute thread = outer.get("async_execution_thread")) {
      computation->setAttr("execution_thread", thread);
    }
    computation.getBody().push_back(block.release());
    outer.append("calls", FlatSymbolRefAttr::get(context, name));
  }
  inst.attributes = std::move(outer);
}

Value Parser::create(Scope &scope, Instruction &inst, Location location) {
  if (inst.info->name == "parameter") {
    Parameter &parameter = scope.parameters.back();
    parameter.argument = scope.block->addArgument(inst.type, location);
    parameter.attributes = inst.common.getDictionary(context);
    return parameter.argument;
  }
  OperationName name = opcodes.getOpName(*inst.info);
  if (inst.async != AsyncPart::None) {
    wrapAsync(inst, location);
    StringRef opcode = inst.async == AsyncPart::Start    ? "async-start"
                       : inst.async == AsyncPart::Update ? "async-update"
                                                         : "async-done";
    name = opcodes.getOpName(*opcodes.find(opcode));
  }
  inst.attributes.append(inst.common);
  return createOp(scope.block, name, location, inst.type, inst.operands, inst.attributes)
      ->getResult(0);
}
