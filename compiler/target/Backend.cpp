//===- Backend.cpp - LLVM IR to optimized IR to machine code --------------===//
//
// In: modules of the LLVM dialect, or LLVM IR. Out: machine code. Everything specific to LLVM's
// code generator is here: options of the target machine, attributes of functions, the order of
// LLVM's passes.
//
// Floating point: code selection fuses a multiplication and an addition into an FMA if both carry
// the `contract` flag. Emitters set it on the user's operations but not on their own exact
// sequences. Nothing is reassociated, subnormals are kept.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/Backend.h"
#include "compiler/target/MoveScratch.h"
#include "compiler/target/OneLaneStores.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/LowerExpectIntrinsic.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

std::unique_ptr<TargetMachine> hlo::makeTargetMachine(const Target &target, int optLevel,
                                                      bool ownSections) {
  initializeTargets();
  std::string message;
  Triple triple(target.triple);
  const llvm::Target *backend = TargetRegistry::lookupTarget(triple, message);
  if (!backend) {
    return nullptr;
  }
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Standard;
  options.MCOptions.AsmVerbose = false;
  options.EmitAddrsig = false;
  options.UniqueSectionNames = false;
  options.FunctionSections = options.DataSections = ownSections;
  if (triple.isRISCV64()) {
    options.MCOptions.ABIName = "lp64d"; // the default of a CPU without a name has no floats
  }
  CodeGenOptLevel level = optLevel == 0   ? CodeGenOptLevel::None
                          : optLevel == 1 ? CodeGenOptLevel::Less
                          : optLevel == 2 ? CodeGenOptLevel::Default
                                          : CodeGenOptLevel::Aggressive;
  return std::unique_ptr<TargetMachine>(backend->createTargetMachine(
      triple, target.cpu, target.features, options, Reloc::PIC_, CodeModel::Small, level));
}

/// If a CPU (AMD's) is scheduled after register allocation, LLVM may rename registers, including
/// AMX tiles, whose numbers are fixed by the tile configuration. Functions with tiles are therefore
/// scheduled for a CPU without post-RA scheduling.
static void keepTileNames(Module &module, TargetMachine &machine) {
  Function *configure = module.getFunction("llvm.x86.ldtilecfg");
  if (!configure) {
    return;
  }
  for (User *user : configure->users()) {
    Function *function = cast<CallInst>(user)->getFunction();
    if (machine.getSubtargetImpl(*function)->enablePostRAScheduler()) {
      function->addFnAttr("tune-cpu", "sapphirerapids");
    }
  }
}

void hlo::setTarget(Module &module, TargetMachine &machine, const Target &target) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  AttrBuilder attributes(module.getContext());
  attributes.addAttribute("target-cpu", target.cpu);
  if (!target.features.empty()) {
    attributes.addAttribute("target-features", target.features);
  }
  attributes.addAttribute("prefer-vector-width", std::to_string(target.machine.vectors.bytes * 8));
  attributes.addAttribute(Attribute::NoUnwind);
  for (Function &function : module) {
    if (function.isIntrinsic()) {
      continue;
    }
    if (function.isDeclaration()) {
      function.setDoesNotThrow();
    } else {
      function.addFnAttrs(attributes);
    }
    function.setDSOLocal(function.hasLocalLinkage() || function.hasHiddenVisibility());
  }
  keepTileNames(module, machine);
}

std::unique_ptr<Module> hlo::translate(mlir::ModuleOp module, LLVMContext &context,
                                       TargetMachine &machine) {
  std::unique_ptr<Module> result =
      mlir::translateModuleToLLVMIR(module, context, "kernels", /*disableVerification=*/true);
  if (result) {
    result->setTargetTriple(machine.getTargetTriple());
    result->setDataLayout(machine.createDataLayout());
  }
  return result;
}

/// Number of instructions in a loop's body; a wide vector counts as the registers it occupies.
static unsigned registersOf(const Loop &loop, const TargetTransformInfo &costs) {
  uint64_t width = std::max( // without vector registers, a vector is a scalar per lane
      costs.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector).getFixedValue(),
      costs.getRegisterBitWidth(TargetTransformInfo::RGK_Scalar).getFixedValue());
  unsigned size = 0;
  for (const BasicBlock *block : loop.blocks()) {
    for (const Instruction &instruction : *block) {
      if (isa<PHINode, BitCastInst>(instruction)) {
        continue;
      }
      Type *type = isa<StoreInst>(instruction) ? instruction.getOperand(0)->getType()
                                               : instruction.getType();
      uint64_t bits = type->isVectorTy() ? type->getPrimitiveSizeInBits().getFixedValue() : 0;
      size += std::max<uint64_t>(1, bits / width);
    }
  }
  return size;
}

/// Trip count of a rotated loop that counts from a constant to a constant; 0 for other loops, and
/// for counts above `most`.
static unsigned tripsOf(const Loop &loop, unsigned most) {
  const BasicBlock *latch = loop.getLoopLatch();
  auto *branch = latch ? dyn_cast<BranchInst>(latch->getTerminator()) : nullptr;
  if (!branch || !branch->isConditional() || loop.getExitingBlock() != latch) {
    return 0;
  }
  auto *test = dyn_cast<ICmpInst>(branch->getCondition());
  auto *last = test ? dyn_cast<ConstantInt>(test->getOperand(1)) : nullptr;
  if (!last) {
    return 0;
  }
  // The test compares the counter or its next value.
  const Value *tested = test->getOperand(0);
  auto *next = dyn_cast<BinaryOperator>(tested);
  auto *counter = dyn_cast<PHINode>(next ? next->getOperand(0) : tested);
  if (!counter || counter->getParent() != loop.getHeader()) {
    return 0;
  }
  auto *first = dyn_cast<ConstantInt>(counter->getIncomingValueForBlock(loop.getLoopPreheader()));
  auto *advance = dyn_cast<BinaryOperator>(counter->getIncomingValueForBlock(latch));
  auto *step = advance ? dyn_cast<ConstantInt>(advance->getOperand(1)) : nullptr;
  if (!first || !step || advance->getOpcode() != Instruction::Add ||
      advance->getOperand(0) != counter || (next && next != advance)) {
    return 0;
  }
  bool staysIfTrue = loop.contains(branch->getSuccessor(0));
  APInt value = first->getValue();
  for (unsigned trips = 1; trips <= most; ++trips) {
    APInt after = value + step->getValue();
    if (ICmpInst::compare(next ? after : value, last->getValue(), test->getPredicate()) !=
        staysIfTrue) {
      return trips;
    }
    value = after;
  }
  return 0;
}

namespace {
/// LLVM's full unrolling, restricted to loops with small constant trip counts.
///
/// The restriction saves compile time: LLVM estimates the cost of a loop before it asks for its
/// trip count. The size limits are in registers, because LLVM counts a vector of 64 lanes as one
/// instruction and would unroll loops that emitters have already unrolled. Up to ten trips
/// unrolling pays until the result is 256 registers' worth; with more trips, 128 are enough. One
/// function may grow by 4096 instructions: its blocks merge into one, and LLVM takes time quadratic
/// in a block of loads and stores. Measurements: test/performance/NOTES.md, "LLVM's passes".
class UnrollShortLoops : public PassInfoMixin<UnrollShortLoops> {
public:
  UnrollShortLoops(int optLevel, std::shared_ptr<unsigned> grown)
      : unroll(optLevel), grown(std::move(grown)) {}
  PreservedAnalyses run(Loop &loop, LoopAnalysisManager &manager,
                        LoopStandardAnalysisResults &analyses, LPMUpdater &updater) {
    constexpr unsigned longest = 256, few = 10;
    unsigned count = loop.getLoopPreheader() ? tripsOf(loop, longest) : 0;
    unsigned size = count ? count * registersOf(loop, analyses.TTI) : 0;
    if (count == 0 || size > (count > few ? longest / 2 : longest) || *grown > 16 * longest) {
      return PreservedAnalyses::all();
    }
    PreservedAnalyses preserved = unroll.run(loop, manager, analyses, updater);
    *grown += preserved.areAllPreserved() ? 0 : size;
    return preserved;
  }

private:
  LoopFullUnrollPass unroll;
  std::shared_ptr<unsigned> grown; ///< growth of the function so far
};

/// Clean-up after unrolling. Unrolled bodies have equal loads and constant indices, which GVN and
/// InstCombine remove. In functions without unrolled loops EarlyCSE finds what hoisting made equal,
/// in a third of the time and with the same code. Only functions of small loops, which keep their
/// buffers in variables, have dead stores to remove.
class TidyBodies : public PassInfoMixin<TidyBodies> {
public:
  TidyBodies(bool thorough, std::shared_ptr<unsigned> grown)
      : thorough(thorough), grown(std::move(grown)) {
    afterUnrolling.addPass(SROAPass(SROAOptions::ModifyCFG));
    afterUnrolling.addPass(GVNPass());
    afterUnrolling.addPass(InstCombinePass());
    if (thorough) {
      afterUnrolling.addPass(DSEPass());
    }
    afterUnrolling.addPass(
        createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()), /*UseMemorySSA=*/true));
    otherwise.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  }
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &manager) {
    bool unrolled = std::exchange(*grown, 0) != 0;
    return (unrolled || thorough ? afterUnrolling : otherwise).run(function, manager);
  }

private:
  bool thorough;
  std::shared_ptr<unsigned> grown;
  FunctionPassManager afterUnrolling, otherwise;
};
} // namespace

/// The clean-up passes of one function, innermost loops first.
static FunctionPassManager makeFunctionPasses(int optLevel, bool thorough) {
  FunctionPassManager passes;
  if (optLevel == 0) {
    return passes;
  }
  passes.addPass(LowerExpectIntrinsicPass());
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/false));
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  // Hoists invariant addresses and reciprocals. Rotation comes first: it creates a preheader that
  // is executed only if the loop runs.
  LoopPassManager early;
  early.addPass(LoopRotatePass());
  early.addPass(LICMPass(LICMOptions()));
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(early), /*UseMemorySSA=*/true));
  if (optLevel >= 2) {
    // No IndVarSimplify: loops count in i64 from the start. It and the scalar evolution that only
    // it needs took 15 % of LLVM's time.
    auto grown = std::make_shared<unsigned>(0);
    passes.addPass(createFunctionToLoopPassAdaptor(UnrollShortLoops(optLevel, grown),
                                                   /*UseMemorySSA=*/false));
    passes.addPass(TidyBodies(thorough || optLevel > 2, grown));
  }
  passes.addPass(SimplifyCFGPass());
  passes.addPass(ADCEPass());
  return passes;
}

/// Runs passes with all analyses registered.
static void runPasses(Module &module, TargetMachine &machine, ModulePassManager passes) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  passes.run(module, modules);
}

void hlo::optimizeKernels(Module &module, TargetMachine &machine, int optLevel, bool thorough) {
  if (optLevel > 0) {
    ModulePassManager passes;
    passes.addPass(createModuleToFunctionPassAdaptor(makeFunctionPasses(optLevel, thorough)));
    runPasses(module, machine, std::move(passes));
  }
  moveToScratch(module);
}

void hlo::inlineKernels(Module &module, TargetMachine &machine) {
  ModulePassManager passes;
  passes.addPass(AlwaysInlinerPass());
  runPasses(module, machine, std::move(passes));
}

void hlo::removeUnused(Module &module, TargetMachine &machine) {
  ModulePassManager passes;
  passes.addPass(GlobalDCEPass());
  runPasses(module, machine, std::move(passes));
}

namespace {
/// LLVM's code generation passes, without loop strength reduction below -O3. Emitters advance few
/// pointers by constant strides, and X86's addressing modes cover the rest, so code without it runs
/// at the same speed while it took 40 % of code generation. Passes that only it needs are dropped
/// too. Stack arguments are stored, not pushed, so that a frame's size includes them.
class CodeGenPasses : public legacy::PassManager {
public:
  explicit CodeGenPasses(CodeGenOptLevel level) : all(level == CodeGenOptLevel::Aggressive) {}
  void add(Pass *pass) override {
    StringRef name = pass->getPassName();
    if ((!all && (name == "Loop Strength Reduction" ||
                  name == "Canonicalize Freeze Instructions in Loops")) ||
        name == "X86 Optimize Call Frame") {
      delete pass;
      return;
    }
    legacy::PassManager::add(pass);
  }

private:
  bool all;
};
} // namespace

namespace {
/// Intercepts the frame sizes among LLVM's diagnostics and passes on all others.
class FrameNotes : public DiagnosticHandler {
public:
  FrameNotes(hlo::StackUse &stack, LLVMContext &context)
      : stack(stack), before(context.getDiagnosticHandler()) {}
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (auto *frame = dyn_cast<DiagnosticInfoStackSize>(&info)) {
      stack.addFrame(frame->getFunction().getName(), frame->getResourceSize());
      return true;
    }
    return before && before->handleDiagnostics(info);
  }
  std::unique_ptr<DiagnosticHandler> takeBefore() { return std::move(before); }

private:
  hlo::StackUse &stack;
  std::unique_ptr<DiagnosticHandler> before;
};
} // namespace

SmallString<0> hlo::generateCode(Module &module, TargetMachine &machine, CodeGenFileType kind,
                                 StackUse *stack) {
  scalarizeOneLaneStores(module);
  LLVMContext &context = module.getContext();
  if (stack) {
    stack->addCalls(module);
    context.setDiagnosticHandler(std::make_unique<FrameNotes>(*stack, context));
  }
  scope_exit restore([&] {
    if (stack) {
      std::unique_ptr<DiagnosticHandler> notes = context.getDiagnosticHandler();
      context.setDiagnosticHandler(static_cast<FrameNotes &>(*notes).takeBefore());
    }
  });
  SmallString<0> code;
  raw_svector_ostream stream(code);
  CodeGenPasses passes(machine.getOptLevel());
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind, /*DisableVerify=*/true)) {
    return {};
  }
  passes.run(module);
  return code;
}
