//===- Load.h - Linking an object file into this process --------*- C++ -*-===//
#ifndef COMPILER_JIT_LOAD_H
#define COMPILER_JIT_LOAD_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <hlo/rt.h>
#include <memory>

namespace hlo {

/// An object file linked into this process. Its code lives as long as this.
class LoadedObject {
public:
  /// Links the ELF object, whose exported symbols start with `prefix`, against the runtime and this
  /// process's libc and libm. With an empty prefix, that of the only module in it. `object` is not
  /// needed afterwards. `cpuLevel`: hlo_call.cpu_level of the calls to come.
  static llvm::Expected<LoadedObject> load(llvm::StringRef object, llvm::StringRef prefix,
                                           int32_t cpuLevel = 0);
  ~LoadedObject();
  LoadedObject(LoadedObject &&);
  /// The description of the module; of an object with several CPU levels, of the one at which calls
  /// run if this CPU supports it.
  const hlo_module_desc &describe() const { return desc; }

private:
  struct Impl;
  LoadedObject(std::unique_ptr<Impl> impl, const hlo_module_desc &desc);
  std::unique_ptr<Impl> impl;
  hlo_module_desc desc;
};

} // namespace hlo

#endif
