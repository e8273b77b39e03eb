//===- CustomCalls.cpp - Handlers of custom calls from libraries ----------===//
//
// In: a module's description and shared libraries. Out: its table of handlers. A handler is the
// function with the target's name in the first library that defines it; the module states its api
// version. Libraries stay loaded until the process ends, because they may have started threads.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/CustomCalls.h"
#include "tools/hlo-run/Error.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>
#include <link.h>

using namespace llvm;
using namespace hlo::run;

namespace {
Expected<void *> open(StringRef path) {
  // dlopen searches the system's folders for a name without a slash.
  SmallString<128> name(path);
  if (sys::path::parent_path(path).empty()) {
    name = (Twine("./") + path).str();
  }
  if (void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    return library;
  }
  const char *reason = dlerror();
  return makeError(ExitFile, "--custom-calls=" + path + ": " + (reason ? reason : "cannot load"));
}

/// True if a dynamic symbol at this address is a function, not data.
bool isFunction(const void *address) {
  ElfW(Sym) *entry = nullptr;
  Dl_info info;
  if (dladdr1(address, &info, reinterpret_cast<void **>(&entry), RTLD_DL_SYMENT) == 0 || !entry) {
    return false;
  }
  // The resolver of an indirect function has another address than what it chooses; then there may
  // be no exact symbol, and what is there is code.
  unsigned type = ELF64_ST_TYPE(entry->st_info);
  return type == STT_FUNC || type == STT_GNU_IFUNC || info.dli_saddr != address;
}

/// The function `name` that the library itself defines, or null. dlsym would also find functions of
/// the libraries that it needs, such as the C library's `system`.
void *findIn(void *library, const char *name) {
  void *symbol = dlsym(library, name);
  struct link_map *own = nullptr, *owner = nullptr;
  Dl_info info;
  bool known = symbol && dlinfo(library, RTLD_DI_LINKMAP, &own) == 0 &&
               dladdr1(symbol, &info, reinterpret_cast<void **>(&owner), RTLD_DL_LINKMAP) != 0;
  return known && own == owner && isFunction(symbol) ? symbol : nullptr;
}

/// Opens libhlo_lapack next to this program; null if it is not there.
void *openLapack() {
  std::string self = sys::fs::getMainExecutable(nullptr, nullptr);
  SmallString<128> path(sys::path::parent_path(sys::path::parent_path(self)));
  sys::path::append(path, "lib", "libhlo_lapack.so");
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}
} // namespace

Expected<CustomCalls> CustomCalls::load(const hlo_module_desc &desc, ArrayRef<std::string> paths) {
  std::vector<void *> libraries;
  for (const std::string &path : paths) {
    Expected<void *> library = open(path);
    if (!library) {
      return library.takeError();
    }
    libraries.push_back(*library);
  }
  CustomCalls result;
  bool triedLapack = false;
  auto find = [&](const char *name) -> void * {
    for (void *library : libraries) {
      if (void *symbol = findIn(library, name)) {
        return symbol;
      }
    }
    return nullptr;
  };
  for (uint32_t i = 0; desc.custom_call_targets; ++i) {
    const hlo_custom_call *target = hlo_custom_call_target_at(&desc, i);
    if (!target->name) {
      break;
    }
    void *symbol = find(target->name);
    if (!symbol && !triedLapack) {
      triedLapack = true;
      if (void *library = openLapack()) {
        libraries.push_back(library);
        symbol = find(target->name);
      }
    }
    // The description is sorted, and lists a target once per api version.
    if (symbol &&
        (result.entries.empty() || StringRef(result.entries.back().name) != target->name)) {
      result.entries.push_back(*target);
      result.entries.back().fn = reinterpret_cast<void (*)()>(symbol);
    }
  }
  // Moving the vector keeps the entries' addresses.
  result.calls = {sizeof(hlo_custom_calls), static_cast<uint32_t>(result.entries.size()),
                  sizeof(hlo_custom_call), 0, result.entries.data()};
  return std::move(result);
}
