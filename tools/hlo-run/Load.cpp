//===- Load.cpp - Linking an object file into this process ----------------===//
//
// In: a relocatable ELF object of hlo-compile; out: its description, whose `run` can be called.
// The object's sections go into one block of memory, code first, so that code and constants are within
// reach of each other, whatever their size; then slots with the addresses of what the process
// defines, and stubs that jump there, as that may be further away than 2 GiB.
//
// Objects come from compiler/target/ObjectMerge, so the cases are few. LLVM's JITLink would do as
// well, but takes 3 ms for the smallest object, a fifth of the time to compile it.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/Error.h"
#include "tools/hlo-run/Program.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/Memory.h"
#include "llvm/Support/Process.h"
#include <cstring>
#include <dlfcn.h>
#include <hlo/cpu.h>
#include <hlo/generated.h>
#include <hlo/sites.h>

using namespace llvm;
using namespace llvm::object;
using namespace hlo::run;
using File = ELFFile<ELF64LE>;

struct LoadedObject::Impl {
  sys::OwningMemoryBlock memory;
};

namespace {
/// A function of the runtime by its name, else what this process exports; null if there is none.
void *findInProcess(StringRef name) {
  auto address = [](auto *function) { return reinterpret_cast<void *>(function); };
  void *known = StringSwitch<void *>(name)
                    .Case("hlo_rt_begin", address(hlo_rt_begin))
                    .Case("hlo_rt_end", address(hlo_rt_end))
                    .Case("hlo_rt_prepare_begin", address(hlo_rt_prepare_begin))
                    .Case("hlo_rt_prepare_end", address(hlo_rt_prepare_end))
                    .Case("hlo_rt_parallel_for", address(hlo_rt_parallel_for))
                    .Case("hlo_rt_poll", address(hlo_rt_poll))
                    .Case("hlo_rt_fail", address(hlo_rt_fail))
                    .Case("hlo_rt_collective_run", address(hlo_rt_collective_run))
                    .Case("hlo_rt_next_state", address(hlo_rt_next_state))
                    .Case("hlo_rt_draw", address(hlo_rt_draw))
                    .Case("hlo_rt_custom_call", address(hlo_rt_custom_call))
                    .Case("hlo_rt_feed", address(hlo_rt_feed))
                    .Case("hlo_bad_signature", address(hlo_bad_signature))
                    .Case("hlo_cpu_detect", address(hlo_cpu_detect))
                    .Default(nullptr);
  return known ? known : dlsym(RTLD_DEFAULT, name.str().c_str());
}

/// One object on its way into memory.
class Linker {
public:
  Error read(StringRef object);
  Error link(sys::OwningMemoryBlock &memory);
  /// The address of an exported symbol, once linked; null if there is none.
  const void *find(StringRef name) const;

private:
  /// What the process defines: its address, and how to get there from code.
  struct Import {
    uint64_t address;
    char *slot, *stub;
  };
  Error layOut();
  Error bindSymbols();
  Error relocate(const File::Elf_Rela &relocation, char *section);
  uint64_t importedFor(uint32_t symbol, bool slot);

  std::optional<File> file;
  File::Elf_Shdr_Range sections;
  File::Elf_Sym_Range symbols;
  StringRef names;
  std::vector<uint64_t> offsets; ///< of sections in the block
  uint64_t codeSize = 0, size = 0, importsAt = 0;
  char *base = nullptr;
  std::vector<uint64_t> addresses; ///< of symbols
  std::vector<Import> imports;     ///< of undefined symbols, by their number
};

constexpr uint64_t stubSize = 16;

bool isLoaded(const File::Elf_Shdr &section) { return section.sh_flags & ELF::SHF_ALLOC; }
bool isCode(const File::Elf_Shdr &section) { return section.sh_flags & ELF::SHF_EXECINSTR; }
} // namespace

Error Linker::read(StringRef object) {
  Expected<File> opened = File::create(object);
  if (!opened) {
    return opened.takeError();
  }
  file.emplace(std::move(*opened));
  auto all = file->sections();
  if (!all) {
    return all.takeError();
  }
  sections = *all;
  for (const File::Elf_Shdr &section : sections) {
    if (section.sh_type != ELF::SHT_SYMTAB) {
      continue;
    }
    auto table = file->symbols(&section);
    auto strings = file->getStringTableForSymtab(section);
    if (!table || !strings) {
      return joinErrors(table.takeError(), strings.takeError());
    }
    symbols = *table;
    names = *strings;
  }
  return Error::success();
}

/// Code, the stubs after it, and from the next page on the rest, constants last as the object has them.
Error Linker::layOut() {
  uint64_t page = sys::Process::getPageSizeEstimate();
  offsets.assign(sections.size(), 0);
  auto place = [&](bool code) -> Error {
    for (auto [offset, section] : zip(offsets, sections)) {
      if (isLoaded(section) && isCode(section) == code) {
        if (section.sh_addralign > page) {
          return createStringError("alignment %llu of a section is more than a page",
                                   static_cast<unsigned long long>(section.sh_addralign));
        }
        offset = alignTo(size, std::max<uint64_t>(section.sh_addralign, 1));
        size = offset + section.sh_size;
      }
    }
    return Error::success();
  };
  if (Error e = place(/*code=*/true)) {
    return e;
  }
  uint64_t undefined = count_if(symbols, [](const File::Elf_Sym &symbol) { return symbol.isUndefined(); });
  importsAt = alignTo(size, stubSize);
  size = codeSize = alignTo(importsAt + undefined * (stubSize + sizeof(uint64_t)), page);
  return place(/*code=*/false);
}

/// An address for each symbol; slots and stubs for undefined ones, which are absent if weak and not there.
Error Linker::bindSymbols() {
  addresses.assign(symbols.size(), 0);
  imports.assign(symbols.size(), {});
  uint64_t undefined = count_if(symbols, [](const File::Elf_Sym &symbol) { return symbol.isUndefined(); });
  char *stub = base + importsAt, *slot = stub + undefined * stubSize;
  for (uint32_t i = 1; i < symbols.size(); ++i) {
    const File::Elf_Sym &symbol = symbols[i];
    if (!symbol.isUndefined()) {
      bool isAbsolute = symbol.st_shndx >= sections.size();
      addresses[i] = symbol.st_value + (isAbsolute ? 0 : reinterpret_cast<uint64_t>(base) + offsets[symbol.st_shndx]);
      continue;
    }
    Expected<StringRef> name = symbol.getName(names);
    if (!name) {
      return name.takeError();
    }
    addresses[i] = reinterpret_cast<uint64_t>(findInProcess(*name));
    if (!addresses[i] && symbol.getBinding() != ELF::STB_WEAK) {
      return createStringError("symbol not found: " + *name);
    }
    imports[i] = {addresses[i], slot, stub};
    // jmp *[rip + distance]: the slot is the operand.
    static constexpr unsigned char jump[] = {0xff, 0x25};
    int32_t distance = slot - (stub + sizeof(jump) + sizeof(int32_t));
    std::memcpy(stub, jump, sizeof(jump));
    std::memcpy(stub + sizeof(jump), &distance, sizeof(distance));
    std::memcpy(slot, &addresses[i], sizeof(uint64_t));
    stub += stubSize;
    slot += sizeof(uint64_t);
  }
  return Error::success();
}

/// Applies one relocation to a section that is in memory.
Error Linker::relocate(const File::Elf_Rela &relocation, char *section) {
  char *at = section + relocation.r_offset;
  uint32_t symbol = relocation.getSymbol(false), type = relocation.getType(false);
  uint64_t here = reinterpret_cast<uint64_t>(at), there = addresses[symbol];
  auto write = [&](uint64_t value, bool fits) -> Error {
    if (!fits) {
      return createStringError("relocation of type %u is out of reach", type);
    }
    std::memcpy(at, &value, sizeof(int32_t));
    return Error::success();
  };
  switch (type) {
  case ELF::R_X86_64_64: {
    uint64_t value = there + relocation.r_addend;
    std::memcpy(at, &value, sizeof(value));
    return Error::success();
  }
  case ELF::R_X86_64_PC64: {
    uint64_t value = there + relocation.r_addend - here;
    std::memcpy(at, &value, sizeof(value));
    return Error::success();
  }
  case ELF::R_X86_64_GOTPCREL:
  case ELF::R_X86_64_GOTPCRELX:
  case ELF::R_X86_64_REX_GOTPCRELX:
    // Only what is not in the object is reached by a slot.
    if (imports[symbol].slot) {
      int64_t value = reinterpret_cast<uint64_t>(imports[symbol].slot) + relocation.r_addend - here;
      return write(value, isInt<32>(value));
    }
    break;
  case ELF::R_X86_64_PC32:
  case ELF::R_X86_64_PLT32: {
    int64_t value = there + relocation.r_addend - here;
    if (!isInt<32>(value) && imports[symbol].stub) {
      value = reinterpret_cast<uint64_t>(imports[symbol].stub) + relocation.r_addend - here;
    }
    return write(value, isInt<32>(value));
  }
  case ELF::R_X86_64_32:
  case ELF::R_X86_64_32S: {
    uint64_t value = there + relocation.r_addend;
    return write(value, type == ELF::R_X86_64_32 ? isUInt<32>(value) : isInt<32>(static_cast<int64_t>(value)));
  }
  default:
    break;
  }
  return createStringError("relocation of type %u is not known here", type);
}

Error Linker::link(sys::OwningMemoryBlock &memory) {
  if (Error e = layOut()) {
    return e;
  }
  std::error_code error;
  memory = sys::OwningMemoryBlock(sys::Memory::allocateMappedMemory(
      size, nullptr, sys::Memory::MF_READ | sys::Memory::MF_WRITE, error));
  if (error) {
    return errorCodeToError(error);
  }
  base = static_cast<char *>(memory.base());
  for (auto [offset, section] : zip(offsets, sections)) {
    if (isLoaded(section) && section.sh_type != ELF::SHT_NOBITS) {
      std::memcpy(base + offset, file->base() + section.sh_offset, section.sh_size);
    }
  }
  if (Error e = bindSymbols()) {
    return e;
  }
  for (const File::Elf_Shdr &section : sections) {
    if (section.sh_type != ELF::SHT_RELA || !isLoaded(sections[section.sh_info])) {
      continue;
    }
    auto relocations = file->relas(section);
    if (!relocations) {
      return relocations.takeError();
    }
    for (const File::Elf_Rela &relocation : *relocations) {
      if (Error e = relocate(relocation, base + offsets[section.sh_info])) {
        return e;
      }
    }
  }
  // The rest stays writable: it is this process's copy.
  return errorCodeToError(sys::Memory::protectMappedMemory(
      sys::MemoryBlock(base, codeSize), sys::Memory::MF_READ | sys::Memory::MF_EXEC));
}

const void *Linker::find(StringRef name) const {
  for (auto [i, symbol] : enumerate(symbols)) {
    Expected<StringRef> known = symbol.getName(names);
    if (!known) {
      consumeError(known.takeError());
    } else if (*known == name) {
      return reinterpret_cast<const void *>(addresses[i]);
    }
  }
  return nullptr;
}

LoadedObject::LoadedObject(std::unique_ptr<Impl> impl, const hlo_module_desc *desc)
    : impl(std::move(impl)), desc(desc) {}
LoadedObject::LoadedObject(LoadedObject &&) = default;
LoadedObject::~LoadedObject() = default;

Expected<LoadedObject> LoadedObject::load(StringRef object, StringRef prefix) {
  // An object of ours that cannot be linked is our own fault.
  auto internal = [](Error error) {
    return makeError(ExitInternal, "internal error: cannot load the compiled module: " +
                                       toString(std::move(error)));
  };
  auto impl = std::make_unique<Impl>();
  Linker linker;
  if (Error e = linker.read(object)) {
    return internal(std::move(e));
  }
  if (Error e = linker.link(impl->memory)) {
    return internal(std::move(e));
  }
  const void *symbol = linker.find((prefix + "_describe").str());
  if (!symbol) {
    return internal(createStringError("it has no description"));
  }
  auto *describe = reinterpret_cast<const hlo_module_desc *(*)()>(const_cast<void *>(symbol));
  return LoadedObject(std::move(impl), describe());
}
