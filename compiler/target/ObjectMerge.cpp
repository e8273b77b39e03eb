//===- ObjectMerge.cpp - Several ELF objects and constants into one -------===//
//
// In: the objects made by the code generator's threads, and the bytes of the module's constants.
// Out: one relocatable object, like that of `ld -r`.
//
// A linker would need files, and constants would have to pass through LLVM IR, which copies and
// hashes each several times; here hundreds of megabytes of weights are appended with one copy. The
// input is what LLVM's ELF writer emits for our own modules, so the cases are few: sections of one
// name and kind are concatenated at their alignment, symbols move with them, and relocations
// against a section's symbol are adjusted by the section's place. Mergeable sections (constant
// pools) stay mergeable; the final linker removes duplicates.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/ObjectMerge.h"
#include "compiler/target/ObjectFold.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Alignment.h"
#include <cstring>
#include <map>
#include <vector>

using namespace llvm;
using namespace llvm::object;
using hlo::ConstantData;
using File = ELFFile<ELF64LE>;

namespace {
/// An output section: parts at increasing offsets.
struct OutputSection {
  std::string name;
  uint32_t type = ELF::SHT_PROGBITS;
  uint64_t flags = 0, entrySize = 0, alignment = 1, size = 0;
  struct Part {
    uint64_t offset;
    ArrayRef<char> bytes;
    uint64_t size; ///< if more than bytes.size(), the bytes are repeated
  };
  std::vector<Part> parts;
  std::vector<ELF::Elf64_Rela> relocations;
  unsigned sectionSymbol = 0; ///< index into Merger::symbols

  uint64_t append(ArrayRef<char> bytes, uint64_t bytesInFile, uint64_t align) {
    alignment = std::max(alignment, align);
    size = alignTo(size, Align(align));
    parts.push_back({size, bytes, bytesInFile});
    uint64_t offset = size;
    size += bytesInFile;
    return offset;
  }
};

struct OutputSymbol {
  std::string name;
  uint8_t type = ELF::STT_NOTYPE;
  bool global = false;
  int section = -1; ///< index into Merger::sections; -1: undefined
  uint64_t value = 0, size = 0;
  bool weak = false; ///< undefined, and the program may leave it undefined
};

class Merger {
public:
  explicit Merger(ArrayRef<std::string> exported) {
    for (const std::string &name : exported) {
      keepGlobal.insert(name);
    }
  }
  void addConstant(const ConstantData &constant);
  /// `standIns`: the section that is taken for each of the object's; empty: each one itself.
  Error addObject(StringRef object, ArrayRef<hlo::SectionId> standIns);
  Error checkUndefined(ArrayRef<StringRef> imported) const;
  std::string write();

private:
  struct Place {
    int section = -1;
    uint64_t offset = 0;
  };
  unsigned sectionFor(StringRef name, uint32_t type, uint64_t flags, uint64_t entrySize);
  unsigned addSymbol(OutputSymbol symbol) {
    symbols.push_back(std::move(symbol));
    return symbols.size() - 1;
  }
  Expected<unsigned> defineSymbol(const File &file, const File::Elf_Sym &symbol, StringRef name,
                                  ArrayRef<Place> places);
  unsigned referToName(StringRef name);

  StringSet<> keepGlobal;
  uint16_t machine = ELF::EM_NONE;        ///< of all objects
  uint32_t fileFlags = 0;                 ///< of all objects: the calling convention
  std::vector<std::vector<Place>> placed; ///< of each object: where its sections are
  std::vector<OutputSection> sections;
  std::vector<OutputSymbol> symbols;
  StringMap<unsigned> byName; ///< symbols that were global in some input
};
} // namespace

unsigned Merger::sectionFor(StringRef name, uint32_t type, uint64_t flags, uint64_t entrySize) {
  for (unsigned i = 0; i < sections.size(); ++i) {
    if (sections[i].name == name && sections[i].type == type && sections[i].flags == flags &&
        sections[i].entrySize == entrySize) {
      return i;
    }
  }
  OutputSection section;
  section.name = name.str();
  section.type = type;
  section.flags = flags;
  section.entrySize = entrySize;
  section.sectionSymbol = addSymbol({"", ELF::STT_SECTION, false, (int)sections.size(), 0, 0});
  sections.push_back(std::move(section));
  return sections.size() - 1;
}

/// The symbol with that name; undefined until an object defines it.
unsigned Merger::referToName(StringRef name) {
  auto [it, isNew] = byName.try_emplace(name, 0);
  if (isNew) {
    it->second = addSymbol({name.str(), ELF::STT_NOTYPE, true, -1, 0, 0});
  }
  return it->second;
}

void Merger::addConstant(const ConstantData &constant) {
  unsigned index = sectionFor(".rodata", ELF::SHT_PROGBITS, ELF::SHF_ALLOC, 0);
  uint64_t size = constant.splat ? constant.size : constant.bytes.size();
  uint64_t offset = sections[index].append(constant.bytes, size, constant.alignment);
  auto define = [&](StringRef name) {
    OutputSymbol &symbol = symbols[referToName(name)];
    symbol.type = ELF::STT_OBJECT;
    symbol.global = false;
    symbol.section = index;
    symbol.value = offset;
    symbol.size = size;
  };
  define(constant.symbol);
  for (const std::string &name : constant.otherNames) {
    define(name);
  }
}

Expected<unsigned> Merger::defineSymbol(const File &file, const File::Elf_Sym &symbol,
                                        StringRef name, ArrayRef<Place> places) {
  bool local = symbol.getBinding() == ELF::STB_LOCAL;
  unsigned section = symbol.st_shndx;
  if (section == ELF::SHN_UNDEF) {
    bool isNew = !byName.contains(name);
    unsigned index = referToName(name);
    bool weak = symbol.getBinding() == ELF::STB_WEAK;
    symbols[index].weak = isNew ? weak : symbols[index].weak && weak;
    return index;
  }
  if (section >= places.size() || places[section].section < 0) {
    return createStringError("symbol '" + name + "' is in a section that is not kept");
  }
  const Place &place = places[section];
  if (symbol.getType() == ELF::STT_SECTION) {
    return sections[place.section].sectionSymbol;
  }
  unsigned index = local ? addSymbol({name.str(), 0, false, -1, 0, 0}) : referToName(name);
  OutputSymbol &out = symbols[index];
  if (out.section >= 0) {
    return createStringError("symbol '" + name + "' is defined twice");
  }
  out.type = symbol.getType();
  out.global = !local && keepGlobal.contains(name);
  out.section = place.section;
  out.value = place.offset + symbol.st_value;
  out.size = symbol.st_size;
  return index;
}

Error Merger::addObject(StringRef object, ArrayRef<hlo::SectionId> standIns) {
  Expected<File> file = File::create(object);
  if (!file) {
    return file.takeError();
  }
  machine = file->getHeader().e_machine;
  fileFlags = file->getHeader().e_flags;
  auto inputs = file->sections();
  if (!inputs) {
    return inputs.takeError();
  }
  hlo::SectionId own{placed.size(), 0};
  std::vector<Place> &places = placed.emplace_back(inputs->size());
  auto isReplaced = [&](size_t section) {
    own.second = section;
    return !standIns.empty() && standIns[section] != own;
  };
  const File::Elf_Shdr *symbolTable = nullptr;
  for (auto [i, input] : enumerate(*inputs)) {
    if (input.sh_type == ELF::SHT_SYMTAB) {
      symbolTable = &input;
    }
    if (!(input.sh_flags & ELF::SHF_ALLOC) || input.sh_size == 0) {
      continue;
    }
    Expected<StringRef> name = file->getSectionName(input);
    if (!name) {
      return name.takeError();
    }
    if (isReplaced(i)) {
      places[i] = placed[standIns[i].first][standIns[i].second];
      continue;
    }
    unsigned index = sectionFor(*name, input.sh_type, input.sh_flags, input.sh_entsize);
    ArrayRef<char> bytes;
    if (input.sh_type != ELF::SHT_NOBITS) {
      bytes = ArrayRef(object.data() + input.sh_offset, input.sh_size);
    }
    places[i] = {(int)index, sections[index].append(bytes, input.sh_size,
                                                    std::max<uint64_t>(1, input.sh_addralign))};
  }
  if (!symbolTable) {
    return Error::success();
  }
  auto inputSymbols = file->symbols(symbolTable);
  Expected<StringRef> names = file->getStringTableForSymtab(*symbolTable);
  if (!inputSymbols) {
    return inputSymbols.takeError();
  }
  if (!names) {
    return names.takeError();
  }
  constexpr unsigned kNone = ~0u;
  std::vector<unsigned> newIndex(inputSymbols->size(), kNone);
  for (auto [i, symbol] : enumerate(*inputSymbols)) {
    // Symbols of empty sections and of the source file's name refer to nothing, nor do mapping
    // symbols ("$d") in sections that are not kept.
    bool isMark = symbol.getType() == ELF::STT_SECTION ||
                  (symbol.getType() == ELF::STT_NOTYPE && symbol.getBinding() == ELF::STB_LOCAL);
    bool inNothing = isMark && symbol.st_shndx != ELF::SHN_UNDEF &&
                     symbol.st_shndx < places.size() && places[symbol.st_shndx].section < 0;
    if (i == 0 || symbol.getType() == ELF::STT_FILE || inNothing) {
      continue;
    }
    Expected<StringRef> name = symbol.getName(*names);
    if (!name) {
      return name.takeError();
    }
    Expected<unsigned> index = defineSymbol(*file, symbol, *name, places);
    if (!index) {
      return index.takeError();
    }
    newIndex[i] = *index;
  }
  for (const File::Elf_Shdr &input : *inputs) {
    if (input.sh_type != ELF::SHT_RELA || input.sh_info >= places.size() ||
        places[input.sh_info].section < 0 || isReplaced(input.sh_info)) {
      continue;
    }
    const Place &place = places[input.sh_info];
    auto relocations = file->relas(input);
    if (!relocations) {
      return relocations.takeError();
    }
    for (const File::Elf_Rela &relocation : *relocations) {
      uint32_t oldSymbol = relocation.getSymbol(false);
      const File::Elf_Sym &symbol = (*inputSymbols)[oldSymbol];
      if (newIndex[oldSymbol] == kNone) {
        return createStringError("a relocation refers to a section that is not kept");
      }
      ELF::Elf64_Rela out;
      out.r_offset = relocation.r_offset + place.offset;
      out.setSymbolAndType(newIndex[oldSymbol], relocation.getType(false));
      out.r_addend = relocation.r_addend;
      if (symbol.getType() == ELF::STT_SECTION) {
        out.r_addend += places[symbol.st_shndx].offset;
      }
      sections[place.section].relocations.push_back(out);
    }
  }
  return Error::success();
}

Error Merger::checkUndefined(ArrayRef<StringRef> imported) const {
  for (const OutputSymbol &symbol : symbols) {
    if (symbol.section < 0 && !symbol.weak && !is_contained(imported, symbol.name)) {
      return createStringError("the code refers to '" + symbol.name +
                               "', which neither it nor the runtime defines");
    }
  }
  return Error::success();
}

namespace {
/// A string table under construction.
struct StringTable {
  std::string bytes = std::string(1, '\0');
  uint32_t add(StringRef name) {
    if (name.empty()) {
      return 0;
    }
    uint32_t offset = bytes.size();
    bytes += name;
    bytes += '\0';
    return offset;
  }
};
} // namespace

std::string Merger::write() {
  // Section header numbers: null, the sections, their relocations, then the fixed ones.
  std::vector<unsigned> withRelocations;
  for (unsigned i = 0; i < sections.size(); ++i) {
    if (!sections[i].relocations.empty()) {
      withRelocations.push_back(i);
    }
  }
  unsigned firstRela = 1 + sections.size();
  unsigned noteIndex = firstRela + withRelocations.size();
  unsigned symtabIndex = noteIndex + 1, strtabIndex = noteIndex + 2, shstrtabIndex = noteIndex + 3;

  // Local symbols come first, each kind in the order of definition.
  std::vector<unsigned> order, finalIndex(symbols.size());
  for (bool global : {false, true}) {
    for (unsigned i = 0; i < symbols.size(); ++i) {
      if (symbols[i].global == global) {
        finalIndex[i] = order.size() + 1;
        order.push_back(i);
      }
    }
  }
  unsigned locals = count_if(symbols, [](const OutputSymbol &symbol) { return !symbol.global; });

  StringTable names, sectionNames;
  std::vector<ELF::Elf64_Sym> table(1);
  std::memset(&table[0], 0, sizeof(table[0]));
  for (unsigned i : order) {
    const OutputSymbol &symbol = symbols[i];
    ELF::Elf64_Sym entry;
    std::memset(&entry, 0, sizeof(entry));
    entry.st_name = names.add(symbol.name);
    bool weak = symbol.weak && symbol.section < 0;
    entry.setBindingAndType(weak            ? ELF::STB_WEAK
                            : symbol.global ? ELF::STB_GLOBAL
                                            : ELF::STB_LOCAL,
                            symbol.type);
    entry.st_shndx = symbol.section < 0 ? ELF::SHN_UNDEF : symbol.section + 1;
    entry.st_value = symbol.value;
    entry.st_size = symbol.size;
    table.push_back(entry);
  }

  std::vector<ELF::Elf64_Shdr> headers(1);
  std::memset(&headers[0], 0, sizeof(headers[0]));
  uint64_t offset = sizeof(ELF::Elf64_Ehdr);
  auto addHeader = [&](StringRef name, uint32_t type, uint64_t flags, uint64_t size,
                       uint64_t alignment) -> ELF::Elf64_Shdr & {
    ELF::Elf64_Shdr header;
    std::memset(&header, 0, sizeof(header));
    header.sh_name = sectionNames.add(name);
    header.sh_type = type;
    header.sh_flags = flags;
    offset = alignTo(offset, Align(alignment));
    header.sh_offset = offset;
    header.sh_size = size;
    header.sh_addralign = alignment;
    offset += type == ELF::SHT_NOBITS ? 0 : size;
    headers.push_back(header);
    return headers.back();
  };
  for (const OutputSection &section : sections) {
    addHeader(section.name, section.type, section.flags, section.size, section.alignment)
        .sh_entsize = section.entrySize;
  }
  for (unsigned i : withRelocations) {
    ELF::Elf64_Shdr &header =
        addHeader(".rela" + sections[i].name, ELF::SHT_RELA, ELF::SHF_INFO_LINK,
                  sections[i].relocations.size() * sizeof(ELF::Elf64_Rela), 8);
    header.sh_link = symtabIndex;
    header.sh_info = i + 1;
    header.sh_entsize = sizeof(ELF::Elf64_Rela);
  }
  addHeader(".note.GNU-stack", ELF::SHT_PROGBITS, 0, 0, 1);
  ELF::Elf64_Shdr &symtab =
      addHeader(".symtab", ELF::SHT_SYMTAB, 0, table.size() * sizeof(ELF::Elf64_Sym), 8);
  symtab.sh_link = strtabIndex;
  symtab.sh_info = locals + 1;
  symtab.sh_entsize = sizeof(ELF::Elf64_Sym);
  addHeader(".strtab", ELF::SHT_STRTAB, 0, names.bytes.size(), 1);
  sectionNames.add(".shstrtab");
  uint32_t ownName = sectionNames.bytes.size() - sizeof(".shstrtab");
  addHeader("", ELF::SHT_STRTAB, 0, sectionNames.bytes.size(), 1).sh_name = ownName;
  uint64_t headersAt = alignTo(offset, Align(8));

  ELF::Elf64_Ehdr file;
  std::memset(&file, 0, sizeof(file));
  std::memcpy(file.e_ident, ELF::ElfMagic, 4);
  file.e_ident[ELF::EI_CLASS] = ELF::ELFCLASS64;
  file.e_ident[ELF::EI_DATA] = ELF::ELFDATA2LSB;
  file.e_ident[ELF::EI_VERSION] = ELF::EV_CURRENT;
  file.e_type = ELF::ET_REL;
  file.e_machine = machine;
  file.e_version = ELF::EV_CURRENT;
  file.e_flags = fileFlags;
  file.e_ehsize = sizeof(file);
  file.e_shoff = headersAt;
  file.e_shentsize = sizeof(ELF::Elf64_Shdr);
  file.e_shnum = headers.size();
  file.e_shstrndx = shstrtabIndex;

  std::string out(headersAt + headers.size() * sizeof(ELF::Elf64_Shdr), '\0');
  auto put = [&](uint64_t at, const void *bytes, uint64_t size) {
    if (size) {
      std::memcpy(out.data() + at, bytes, size);
    }
  };
  put(0, &file, sizeof(file));
  for (unsigned i = 0; i < sections.size(); ++i) {
    for (const OutputSection::Part &part : sections[i].parts) {
      for (uint64_t at = 0; !part.bytes.empty() && at < part.size; at += part.bytes.size()) {
        put(headers[i + 1].sh_offset + part.offset + at, part.bytes.data(), part.bytes.size());
      }
    }
  }
  for (auto [k, i] : enumerate(withRelocations)) {
    for (ELF::Elf64_Rela &relocation : sections[i].relocations) {
      relocation.setSymbol(finalIndex[relocation.getSymbol()]);
    }
    put(headers[firstRela + k].sh_offset, sections[i].relocations.data(),
        headers[firstRela + k].sh_size);
  }
  put(headers[symtabIndex].sh_offset, table.data(), headers[symtabIndex].sh_size);
  put(headers[strtabIndex].sh_offset, names.bytes.data(), names.bytes.size());
  put(headers[shstrtabIndex].sh_offset, sectionNames.bytes.data(), sectionNames.bytes.size());
  put(headersAt, headers.data(), headers.size() * sizeof(ELF::Elf64_Shdr));
  return out;
}

Expected<std::string> hlo::mergeObjects(ArrayRef<StringRef> objects,
                                        ArrayRef<ConstantData> constants,
                                        ArrayRef<std::string> exported,
                                        ArrayRef<StringRef> imported, bool fold) {
  std::vector<std::vector<SectionId>> standIns(objects.size());
  if (fold) {
    StringMap<std::string> sameSymbol;
    for (const ConstantData &constant : constants) {
      for (const std::string &name : constant.otherNames) {
        sameSymbol[name] = constant.symbol;
      }
    }
    auto found = findEqualSections(objects, sameSymbol);
    if (!found) {
      return found.takeError();
    }
    standIns = std::move(*found);
  }
  Merger merger(exported);
  for (auto [i, object] : enumerate(objects)) {
    if (Error error = merger.addObject(object, standIns[i])) {
      return error;
    }
  }
  // Constants come last, so that code and its small constants stay close together.
  for (const ConstantData &constant : constants) {
    merger.addConstant(constant);
  }
  if (Error error = merger.checkUndefined(imported)) {
    return error;
  }
  return merger.write();
}

void hlo::setNumber(MutableArrayRef<char> object, StringRef symbol, uint64_t offset,
                    uint64_t value) {
  Expected<File> file = File::create(StringRef(object.data(), object.size()));
  if (!file) {
    return consumeError(file.takeError());
  }
  auto sections = cantFail(file->sections());
  for (const File::Elf_Shdr &table : sections) {
    if (table.sh_type != ELF::SHT_SYMTAB) {
      continue;
    }
    StringRef names = cantFail(file->getStringTableForSymtab(table));
    for (const File::Elf_Sym &each : cantFail(file->symbols(&table))) {
      if (each.st_shndx != ELF::SHN_UNDEF && each.st_shndx < sections.size() &&
          cantFail(each.getName(names)) == symbol) {
        uint64_t at = sections[each.st_shndx].sh_offset + each.st_value + offset;
        std::memcpy(object.data() + at, &value, sizeof(value));
      }
    }
  }
}

ArrayRef<StringRef> hlo::importedSymbols() {
  static constexpr StringRef symbols[] = {
      "hlo_rt_begin", "hlo_rt_end", "hlo_rt_parallel_for", "hlo_rt_parallel_scratch", "hlo_rt_poll",
      "hlo_rt_fail", "hlo_rt_collective_run", "hlo_rt_collective_start", "hlo_rt_collective_done",
      "hlo_rt_prepare_begin", "hlo_rt_prepare_end", "hlo_rt_next_state", "hlo_rt_draw",
      "hlo_rt_count", "hlo_rt_custom_call", "hlo_rt_feed", "hlo_rt_run_level",
      "hlo_rt_prepare_level", "memcpy", "memmove", "memset",
      // SSE4.1 has instructions for these; older CPUs call libm.
      "floor", "floorf", "ceil", "ceilf", "trunc", "truncf", "round", "roundf", "roundeven",
      "roundevenf", "rint", "rintf", "nearbyint", "nearbyintf"};
  return symbols;
}
