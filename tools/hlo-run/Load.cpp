//===- Load.cpp - Linking an object file into this process ----------------===//
//
// In: a relocatable ELF object; out: its description, whose `run` can be called. ORC
// with JITLink and nothing else: no IR layers, no platform, no threads. The object's sections go
// into one block of memory, so that code and constants are within reach of each other, whatever
// their size; calls to the runtime and to libc go through stubs that JITLink makes.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/Error.h"
#include "tools/hlo-run/Program.h"
#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Support/MemoryBuffer.h"
#include <hlo/cpu.h>
#include <hlo/generated.h>
#include <hlo/sites.h>

using namespace llvm;
using namespace llvm::orc;
using namespace hlo::run;

struct LoadedObject::Impl {
  std::unique_ptr<ExecutionSession> session;
  std::unique_ptr<ObjectLinkingLayer> layer;

  ~Impl() {
    if (session) {
      // Nothing of the module is used any more; an error here could only concern freed memory.
      consumeError(session->endSession());
    }
  }
};

namespace {
/// Every function of the runtime that objects may refer to.
SymbolMap runtimeSymbols(ExecutionSession &session) {
  SymbolMap symbols;
  auto add = [&](StringRef name, auto *function) {
    symbols[session.intern(name)] = {ExecutorAddr::fromPtr(function),
                                     JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  };
  add("hlo_rt_begin", hlo_rt_begin);
  add("hlo_rt_end", hlo_rt_end);
  add("hlo_rt_prepare_begin", hlo_rt_prepare_begin);
  add("hlo_rt_prepare_end", hlo_rt_prepare_end);
  add("hlo_rt_parallel_for", hlo_rt_parallel_for);
  add("hlo_rt_poll", hlo_rt_poll);
  add("hlo_rt_fail", hlo_rt_fail);
  add("hlo_rt_collective_run", hlo_rt_collective_run);
  add("hlo_rt_next_state", hlo_rt_next_state);
  add("hlo_rt_draw", hlo_rt_draw);
  add("hlo_rt_custom_call", hlo_rt_custom_call);
  add("hlo_rt_feed", hlo_rt_feed);
  add("hlo_bad_signature", hlo_bad_signature);
  add("hlo_cpu_detect", hlo_cpu_detect);
  return symbols;
}

/// Wraps an error of the linker: an object of ours that cannot be linked is our own fault.
Error internal(Error error) {
  return makeError(ExitInternal, "internal error: cannot load the compiled module: " +
                                     toString(std::move(error)));
}
} // namespace

LoadedObject::LoadedObject(std::unique_ptr<Impl> impl, const hlo_module_desc *desc)
    : impl(std::move(impl)), desc(desc) {}
LoadedObject::LoadedObject(LoadedObject &&) = default;
LoadedObject::~LoadedObject() = default;

Expected<LoadedObject> LoadedObject::load(StringRef object, StringRef prefix) {
  auto control =
      SelfExecutorProcessControl::Create(nullptr, std::make_unique<InPlaceTaskDispatcher>());
  if (!control) {
    return internal(control.takeError());
  }
  auto impl = std::make_unique<Impl>();
  impl->session = std::make_unique<ExecutionSession>(std::move(*control));
  ExecutionSession &session = *impl->session;
  session.setErrorReporter(
      [](Error e) { consumeError(std::move(e)); }); // the lookup reports it as well
  impl->layer = std::make_unique<ObjectLinkingLayer>(session);

  JITDylib &library = session.createBareJITDylib("module");
  if (Error e = library.define(absoluteSymbols(runtimeSymbols(session)))) {
    return internal(std::move(e));
  }
  auto process = DynamicLibrarySearchGenerator::GetForCurrentProcess('\0');
  if (!process) {
    return internal(process.takeError());
  }
  library.addGenerator(std::move(*process));
  auto buffer = MemoryBuffer::getMemBuffer(object, "module.o", /*RequiresNullTerminator=*/false);
  if (Error e = impl->layer->add(library, std::move(buffer))) {
    return internal(std::move(e));
  }
  auto symbol = session.lookup({&library}, (prefix + "_describe").str());
  if (!symbol) {
    return internal(symbol.takeError());
  }
  auto *describe = symbol->getAddress().toPtr<const hlo_module_desc *(*)()>();
  return LoadedObject(std::move(impl), describe());
}
