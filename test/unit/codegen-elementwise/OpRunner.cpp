//===- OpRunner.cpp - Compile one element-wise op and call it -------------===//
//
// In: an opcode, element types, lanes, a target. Out: a function in this process, made
// by emitNamed, loadElements and storeElements and the compiler's own lowering.
//
//===----------------------------------------------------------------------===//
#include "test/unit/codegen-elementwise/OpRunner.h"
#include "compiler/target/Backend.h"
#include "compiler/target/LowerToLLVM.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace hlo::codegen;

namespace hlo::testing {

Target targetOf(llvm::StringRef cpu) { return llvm::cantFail(describeTarget(cpu)); }

/// A loop over the elements that applies one op.
static bool emitLoop(Emission &e, ValueRange arguments, StringRef opcode, ArrayRef<Type> operands,
                     Type result, int64_t lanes, DictionaryAttr attrs) {
  auto loop = scf::ForOp::create(e.b, e.loc, constI64(e, 0), arguments[4], constI64(e, lanes));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  Value index = loop.getInductionVar();
  SmallVector<Elem> values;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    values.push_back(loadElements(e, operand, arguments[i], index, lanes));
  }
  // As on the ops: the pred of a select says nothing of the type.
  Type data = opcode == "select" ? operands[1] : operands[0];
  Elem value = emitNamed(e, opcode, data, result, values, attrs);
  if (!value) {
    return false;
  }
  storeElements(e, result, value, arguments[3], index);
  return true;
}

std::unique_ptr<OpRunner> OpRunner::compile(StringRef opcode, ArrayRef<std::string> operands,
                                            StringRef result, int64_t lanes, const Target &target,
                                            StringRef attrs, std::string *error) {
  return compileBody(
      target, "",
      [&](Emission &e, ModuleOp, ValueRange arguments) {
        MLIRContext *context = e.b.getContext();
        SmallVector<Type> types;
        for (const std::string &operand : operands) {
          types.push_back(parseType(operand, context));
        }
        auto dictionary = cast<DictionaryAttr>(parseAttribute(attrs, context));
        return emitLoop(e, arguments, opcode, types, parseType(result, context), lanes, dictionary);
      },
      error);
}

std::unique_ptr<OpRunner> OpRunner::compileBody(const Target &target, StringRef text, Body body,
                                                std::string *error) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<HloDialect, arith::ArithDialect, scf::SCFDialect, math::MathDialect,
                      vector::VectorDialect, LLVM::LLVMDialect, cf::ControlFlowDialect,
                      ub::UBDialect>();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (error) {
      *error = diagnostic.str();
    } else {
      llvm::errs() << diagnostic.str() << "\n";
    }
    return success();
  });
  OwningOpRef<ModuleOp> source = parseSourceString<ModuleOp>(text, &context);
  if (!source) {
    return nullptr;
  }
  Location loc = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder b(&context);
  b.setInsertionPointToEnd(module->getBody());
  Type pointer = LLVM::LLVMPointerType::get(&context);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&context),
                                          {pointer, pointer, pointer, pointer, b.getI64Type()});
  auto function = LLVM::LLVMFuncOp::create(b, loc, "kernel", type);
  b.setInsertionPointToStart(function.addEntryBlock(b));
  Emission e{{b, loc}, target.machine};
  if (!body(e, *source, function.getArguments())) {
    return nullptr;
  }
  LLVM::ReturnOp::create(b, loc, ValueRange{});
  if (failed(verify(*module)) || failed(lowerToLLVM(*module))) {
    return nullptr;
  }
  auto runner = std::make_unique<OpRunner>();
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(target, 2);
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> code = translate(*module, llvmContext, *machine);
  setTarget(*code, *machine, target);
  optimizeKernels(*code, *machine, 2);
  llvm::SmallString<0> object = generateCode(*code, *machine, llvm::CodeGenFileType::ObjectFile);
  runner->jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  llvm::cantFail(runner->jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object)));
  auto symbol = llvm::cantFail(runner->jit->lookup("kernel"));
  runner->entry = symbol.toPtr<decltype(runner->entry)>();
  return runner;
}

void OpRunner::run(ArrayRef<const void *> operands, void *result, int64_t count) const {
  auto at = [&](size_t i) { return i < operands.size() ? operands[i] : nullptr; };
  entry(at(0), at(1), at(2), result, count);
}

} // namespace hlo::testing
