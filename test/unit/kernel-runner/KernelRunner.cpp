//===- KernelRunner.cpp - Compile one fusion and call it ------------------===//
//
// In: an MLIR module with one hlo.fusion whose operands come from anywhere. Out: its
// kernel, made by the compiler's own code generation and loaded into this process.
//
//===----------------------------------------------------------------------===//
#include "test/unit/kernel-runner/KernelRunner.h"
#include "compiler/codegen/Kernel.h"
#include "compiler/target/Backend.h"
#include "compiler/target/LowerToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;

namespace hlo::testing {

static llvm::Error failureOf(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

llvm::Expected<std::unique_ptr<Kernel>> Kernel::compile(llvm::StringRef moduleText,
                                                        const Target &target, bool keepAssembly) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<HloDialect, arith::ArithDialect, scf::SCFDialect, math::MathDialect,
                      vector::VectorDialect, LLVM::LLVMDialect, cf::ControlFlowDialect,
                      ub::UBDialect>();
  context.allowUnregisteredDialects();
  OwningOpRef<ModuleOp> source = parseSourceString<ModuleOp>(moduleText, &context);
  if (!source) {
    return failureOf("the module does not parse");
  }
  FusionOp fusion;
  source->walk([&](FusionOp op) { fusion = op; });
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  FailureOr<codegen::KernelTasks> tasks =
      codegen::emitKernel(fusion, "kernel", target.machine, *source, *module);
  if (failed(tasks) || failed(lowerToLLVM(*module))) {
    return failureOf("the kernel cannot be made");
  }
  auto kernel = std::make_unique<Kernel>();
  kernel->taskCount = tasks->count;
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(target, 2);
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> code = translate(*module, llvmContext, *machine);
  setTarget(*code, *machine, target);
  optimizeKernels(*code, *machine, 2);
  if (keepAssembly) {
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*code);
    kernel->text = generateCode(*copy, *machine, llvm::CodeGenFileType::AssemblyFile).str();
  }
  llvm::SmallString<0> object = generateCode(*code, *machine, llvm::CodeGenFileType::ObjectFile);
  kernel->objectBytes = object.size();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit) {
    return jit.takeError();
  }
  kernel->jit = std::move(*jit);
  if (auto error = kernel->jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object))) {
    return std::move(error);
  }
  auto symbol = kernel->jit->lookup("kernel");
  if (!symbol) {
    return symbol.takeError();
  }
  kernel->entry = symbol->toPtr<void *>();
  return kernel;
}

void Kernel::run(llvm::ArrayRef<void *> p, int64_t first, int64_t last) const {
  using P = void *;
  using I = int64_t;
  switch (p.size()) {
  case 1: return reinterpret_cast<void (*)(P, I, I)>(entry)(p[0], first, last);
  case 2: return reinterpret_cast<void (*)(P, P, I, I)>(entry)(p[0], p[1], first, last);
  case 3: return reinterpret_cast<void (*)(P, P, P, I, I)>(entry)(p[0], p[1], p[2], first, last);
  case 4:
    return reinterpret_cast<void (*)(P, P, P, P, I, I)>(entry)(p[0], p[1], p[2], p[3], first, last);
  case 5:
    return reinterpret_cast<void (*)(P, P, P, P, P, I, I)>(entry)(p[0], p[1], p[2], p[3], p[4],
                                                                  first, last);
  default: llvm::report_fatal_error("kernels of more than five buffers cannot be called here");
  }
}

} // namespace hlo::testing
