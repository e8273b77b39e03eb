//===- Load.cpp - Linking an object file into this process ----------------===//
//
// In: a relocatable ELF object. Out: its description, whose `run` can be called. Uses JITLink
// alone: an ORC session would add 2 ms, a tenth of the time to compile a small module. The object's
// sections go into one block of memory, so that code and constants are within reach of each other,
// whatever their size. Calls to the runtime and to libc go through stubs made by JITLink.
//
//===----------------------------------------------------------------------===//
#include "compiler/jit/Load.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/Support/Process.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <cmath>
#include <cstring>
#include <hlo/cpu.h>
#include <hlo/generated.h>
#include <hlo/sites.h>

using namespace llvm;
using namespace llvm::jitlink;
using namespace hlo;

struct LoadedObject::Impl {
  InProcessMemoryManager memory{sys::Process::getPageSizeEstimate()};
  JITLinkMemoryManager::FinalizedAlloc allocation;

  ~Impl() {
    if (allocation) {
      // Nothing uses the module any more; an error here could only concern freed memory.
      consumeError(memory.deallocate(std::move(allocation)));
    }
  }
};

namespace {
template <typename Function> void *address(Function *function) {
  return reinterpret_cast<void *>(function);
}

/// The address of a function that objects may refer to (importedSymbols in compiler/target); null
/// for others. Nothing is looked up in the process, because a module must not choose what it calls
/// here. Its custom call targets are weak references; their handlers come from CustomCalls.
orc::ExecutorAddr findRuntimeSymbol(StringRef name) {
  void *known = StringSwitch<void *>(name)
                    .Case("hlo_rt_begin", address(hlo_rt_begin))
                    .Case("hlo_rt_end", address(hlo_rt_end))
                    .Case("hlo_rt_prepare_begin", address(hlo_rt_prepare_begin))
                    .Case("hlo_rt_prepare_end", address(hlo_rt_prepare_end))
                    .Case("hlo_rt_parallel_for", address(hlo_rt_parallel_for))
                    .Case("hlo_rt_parallel_scratch", address(hlo_rt_parallel_scratch))
                    .Case("hlo_rt_poll", address(hlo_rt_poll))
                    .Case("hlo_rt_fail", address(hlo_rt_fail))
                    .Case("hlo_rt_collective_run", address(hlo_rt_collective_run))
                    .Case("hlo_rt_collective_start", address(hlo_rt_collective_start))
                    .Case("hlo_rt_collective_done", address(hlo_rt_collective_done))
                    .Case("hlo_rt_next_state", address(hlo_rt_next_state))
                    .Case("hlo_rt_count", address(hlo_rt_count))
                    .Case("hlo_rt_draw", address(hlo_rt_draw))
                    .Case("hlo_rt_custom_call", address(hlo_rt_custom_call))
                    .Case("hlo_rt_feed", address(hlo_rt_feed))
                    .Case("hlo_rt_run_level", address(hlo_rt_run_level))
                    .Case("hlo_rt_prepare_level", address(hlo_rt_prepare_level))
                    .Case("hlo_bad_signature", address(hlo_bad_signature))
                    .Case("hlo_cpu_detect", address(hlo_cpu_detect))
                    .Case("memcpy", address(std::memcpy))
                    .Case("memmove", address(std::memmove))
                    .Case("memset", address(std::memset))
                    .Case("floor", address<double(double)>(::floor))
                    .Case("floorf", address(::floorf))
                    .Case("ceil", address<double(double)>(::ceil))
                    .Case("ceilf", address(::ceilf))
                    .Case("trunc", address<double(double)>(::trunc))
                    .Case("truncf", address(::truncf))
                    .Case("round", address<double(double)>(::round))
                    .Case("roundf", address(::roundf))
                    .Case("roundeven", address<double(double)>(::roundeven))
                    .Case("roundevenf", address(::roundevenf))
                    .Case("rint", address<double(double)>(::rint))
                    .Case("rintf", address(::rintf))
                    .Case("nearbyint", address<double(double)>(::nearbyint))
                    .Case("nearbyintf", address(::nearbyintf))
                    .Default(nullptr);
  return orc::ExecutorAddr::fromPtr(known);
}

/// A module's description is returned by its function PREFIX_describe.
constexpr StringLiteral suffix = "_describe";

/// The result of a link. jitlink::link is synchronous here, so it is set when that returns.
struct Outcome {
  Error error = Error::success();
  orc::ExecutorAddr address;
};

class Context : public JITLinkContext {
public:
  Context(JITLinkMemoryManager &memory, JITLinkMemoryManager::FinalizedAlloc &allocation,
          StringRef wanted, Outcome &outcome)
      : JITLinkContext(/*JD=*/nullptr), memory(memory), allocation(allocation), wanted(wanted),
        outcome(outcome) {}

  JITLinkMemoryManager &getMemoryManager() override { return memory; }
  void notifyFailed(Error error) override {
    outcome.error = joinErrors(std::move(outcome.error), std::move(error));
  }
  void lookup(const LookupMap &symbols,
              std::unique_ptr<JITLinkAsyncLookupContinuation> next) override {
    AsyncLookupResult found;
    for (const auto &[name, flags] : symbols) {
      orc::ExecutorAddr address = findRuntimeSymbol(*name);
      if (!address && flags == SymbolLookupFlags::RequiredSymbol) {
        return next->run(createStringError("symbol not found: " + *name));
      }
      found[name] = {address, JITSymbolFlags::Exported};
    }
    next->run(std::move(found));
  }
  Error notifyResolved(LinkGraph &graph) override {
    for (Symbol *symbol : graph.defined_symbols()) {
      if (!symbol->hasName() || symbol->getScope() != Scope::Default) {
        continue;
      }
      StringRef name = *symbol->getName();
      if (name != wanted && !(wanted == suffix && name.ends_with(suffix))) {
        continue;
      }
      if (outcome.address) {
        return createStringError("it has several modules");
      }
      orc::MemProt access = symbol->getBlock().getSection().getMemProt();
      if ((access & orc::MemProt::Exec) == orc::MemProt::None) {
        return createStringError("its " + name + " is no function");
      }
      outcome.address = symbol->getAddress();
    }
    return outcome.address ? Error::success() : createStringError("it has no " + wanted);
  }
  void notifyFinalized(JITLinkMemoryManager::FinalizedAlloc finalized) override {
    allocation = std::move(finalized);
  }

private:
  JITLinkMemoryManager &memory;
  JITLinkMemoryManager::FinalizedAlloc &allocation;
  StringRef wanted;
  Outcome &outcome;
};
} // namespace

LoadedObject::LoadedObject(std::unique_ptr<Impl> impl, const hlo_module_desc &desc)
    : impl(std::move(impl)), desc(desc) {}
LoadedObject::LoadedObject(LoadedObject &&) = default;
LoadedObject::~LoadedObject() = default;

/// A description of an older or newer version has another size.
static hlo_module_desc copyDesc(const hlo_module_desc &desc) {
  hlo_module_desc copy{};
  uint32_t bytes = std::min<uint32_t>(desc.struct_size, sizeof copy);
  std::memcpy(&copy, &desc, bytes);
  copy.struct_size = bytes;
  return copy;
}

/// The description of the level at which calls with `cpuLevel` run, but with the functions of the
/// object, which choose it again: so they are what is run. The object's own description if there is
/// no such level; then a run says so.
static hlo_module_desc describeLevel(const hlo_module_desc &object, int32_t cpuLevel) {
  hlo_call call = hlo_call_init();
  call.cpu_level = cpuLevel;
  const hlo_module_desc *level = hlo_level(&object, &call);
  hlo_module_desc whole = copyDesc(object);
  hlo_module_desc chosen = level ? copyDesc(*level) : whole;
  chosen.run = whole.run;
  chosen.prepare = whole.prepare;
  return chosen;
}

Expected<LoadedObject> LoadedObject::load(StringRef object, StringRef prefix, int32_t cpuLevel) {
  if (identify_magic(object) != file_magic::elf_relocatable) {
    return createStringError("it is no relocatable ELF file");
  }
  // The graph refers to the names until its end.
  auto names = std::make_shared<orc::SymbolStringPool>();
  auto graph = createLinkGraphFromObject(MemoryBufferRef(object, "module.o"), names);
  if (!graph) {
    return graph.takeError();
  }
  if (Triple::ArchType arch = (*graph)->getTargetTriple().getArch();
      arch != Triple(sys::getProcessTriple()).getArch()) {
    return createStringError("it is for " + Triple::getArchTypeName(arch));
  }
  auto impl = std::make_unique<Impl>();
  Outcome outcome;
  std::string wanted = (prefix + suffix).str();
  jitlink::link(std::move(*graph),
                std::make_unique<Context>(impl->memory, impl->allocation, wanted, outcome));
  if (outcome.error) {
    return std::move(outcome.error);
  }
  const hlo_module_desc *desc = outcome.address.toPtr<const hlo_module_desc *(*)()>()();
  if (!desc || desc->abi != HLO_ABI) {
    return createStringError("it is for another version of hlo/rt.h");
  }
  return LoadedObject(std::move(impl), describeLevel(*desc, cpuLevel));
}
