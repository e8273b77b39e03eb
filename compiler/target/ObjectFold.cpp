//===- ObjectFold.cpp - Equal sections of several objects -----------------===//
//
// Identical code folding, as linkers do it: sections start in one class per content, and a class is
// split while two of its sections have a relocation to sections of different classes. What is left
// in one class does the same (S. Tallam et al., "Safe ICF: Pointer Safe and Unwinding Aware
// Identical Code Folding in Gold", 2010; no function of ours has an address that code compares).
//
//===----------------------------------------------------------------------===//
#include "compiler/target/ObjectFold.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include <map>

using namespace llvm;
using namespace llvm::object;
using hlo::SectionId;
using File = ELFFile<ELF64LE>;

namespace {
struct Relocation {
  uint64_t offset, type;
  int64_t addend;
  /// Where the symbol is: in a section, at an offset; or outside of all objects, a name. What
  /// `text` holds is compared as it is: the name, or the bytes of a mergeable constant.
  int section = -1;
  uint64_t value = 0;
  std::string text;
};

struct Section {
  SectionId id;
  bool folds = false;
  std::string content; ///< what is compared beside the classes of the relocations' sections
  SmallVector<Relocation, 0> relocations;
};

/// A symbol that an object defines for others: number of its section in `Folder::sections`.
struct Definition {
  unsigned section;
  uint64_t value;
};

class Folder {
public:
  explicit Folder(const StringMap<std::string> &sameSymbol) : sameSymbol(sameSymbol) {}
  Error addObject(StringRef object);
  void resolve();
  std::vector<std::vector<SectionId>> classes();

private:
  Error addRelocations(const File &file, unsigned first, const File::Elf_Shdr &table,
                       ArrayRef<File::Elf_Shdr> headers);

  const StringMap<std::string> &sameSymbol;
  unsigned objects = 0;
  std::vector<Section> sections; ///< of all objects, in order
  std::vector<unsigned> starts;  ///< of each object: its first section
  StringMap<Definition> defined;
};
} // namespace

/// Whether the program cannot change a section: constant tables of pointers are writable only until
/// they are relocated.
static bool isReadOnly(const File::Elf_Shdr &header, StringRef name) {
  return (header.sh_flags & ELF::SHF_ALLOC) && header.sh_type == ELF::SHT_PROGBITS &&
         (!(header.sh_flags & ELF::SHF_WRITE) || name.starts_with(".data.rel.ro"));
}

/// The bytes of the constant at `value` in a section of constants of one size, which the linker
/// merges; empty for other sections.
static StringRef mergeableConstant(StringRef object, const File::Elf_Shdr &header, uint64_t value) {
  constexpr uint64_t kinds = ELF::SHF_MERGE | ELF::SHF_STRINGS;
  return (header.sh_flags & kinds) == ELF::SHF_MERGE && header.sh_entsize > 0 &&
                 value + header.sh_entsize <= header.sh_size
             ? object.substr(header.sh_offset + value, header.sh_entsize)
             : StringRef();
}

Error Folder::addRelocations(const File &file, unsigned first, const File::Elf_Shdr &table,
                             ArrayRef<File::Elf_Shdr> headers) {
  if (table.sh_link >= headers.size()) {
    return createStringError("relocations without symbols");
  }
  auto symbols = file.symbols(&headers[table.sh_link]);
  auto names = file.getStringTableForSymtab(headers[table.sh_link]);
  auto relocations = file.relas(table);
  if (!symbols || !names || !relocations) {
    return joinErrors(symbols.takeError(), joinErrors(names.takeError(), relocations.takeError()));
  }
  StringRef object(reinterpret_cast<const char *>(file.base()), file.getBufSize());
  for (const File::Elf_Rela &relocation : *relocations) {
    const File::Elf_Sym &symbol = (*symbols)[relocation.getSymbol(false)];
    Relocation made{relocation.r_offset, relocation.getType(false),
                    relocation.r_addend, -1,
                    symbol.st_value,     ""};
    if (symbol.st_shndx == ELF::SHN_UNDEF) {
      auto name = symbol.getName(*names);
      if (!name) {
        return name.takeError();
      }
      made.text = name->str();
    } else if (symbol.st_shndx < headers.size()) {
      StringRef constant =
          symbol.getType() == ELF::STT_SECTION
              ? StringRef()
              : mergeableConstant(object, headers[symbol.st_shndx], symbol.st_value);
      made.text = constant.str();
      made.section = constant.empty() ? first + symbol.st_shndx : -1;
      made.value = constant.empty() ? symbol.st_value : 0;
    }
    sections[first + table.sh_info].relocations.push_back(std::move(made));
  }
  return Error::success();
}

Error Folder::addObject(StringRef object) {
  Expected<File> file = File::create(object);
  if (!file) {
    return file.takeError();
  }
  auto headers = file->sections();
  if (!headers) {
    return headers.takeError();
  }
  unsigned first = sections.size();
  starts.push_back(first);
  for (auto [i, header] : enumerate(*headers)) {
    Expected<StringRef> name = file->getSectionName(header);
    if (!name) {
      return name.takeError();
    }
    Section section{{objects, unsigned(i)}, isReadOnly(header, *name), "", {}};
    if (section.folds) {
      section.content = (*name + Twine('\0') + Twine(uint64_t(header.sh_flags)) + " " +
                         Twine(uint64_t(header.sh_addralign)) + " " +
                         object.substr(header.sh_offset, header.sh_size))
                            .str();
    }
    sections.push_back(std::move(section));
  }
  ++objects;
  for (const File::Elf_Shdr &header : *headers) {
    if (header.sh_type == ELF::SHT_RELA && header.sh_info < headers->size()) {
      if (Error error = addRelocations(*file, first, header, *headers)) {
        return error;
      }
    }
    if (header.sh_type != ELF::SHT_SYMTAB) {
      continue;
    }
    auto symbols = file->symbols(&header);
    auto names = file->getStringTableForSymtab(header);
    if (!symbols || !names) {
      return joinErrors(symbols.takeError(), names.takeError());
    }
    for (const File::Elf_Sym &symbol : *symbols) {
      if (symbol.getBinding() == ELF::STB_LOCAL || symbol.st_shndx == ELF::SHN_UNDEF ||
          symbol.st_shndx >= headers->size()) {
        continue;
      }
      Expected<StringRef> name = symbol.getName(*names);
      if (!name) {
        return name.takeError();
      }
      defined[*name] = {unsigned(first + symbol.st_shndx), symbol.st_value};
    }
  }
  return Error::success();
}

/// Binds symbols of other objects, and writes what cannot change any more into `content`.
void Folder::resolve() {
  for (Section &section : sections) {
    for (Relocation &relocation : section.relocations) {
      if (relocation.section < 0) {
        if (auto known = defined.find(relocation.text); known != defined.end()) {
          relocation.section = known->second.section;
          relocation.value = known->second.value;
          relocation.text.clear();
        } else if (auto same = sameSymbol.find(relocation.text); same != sameSymbol.end()) {
          relocation.text = same->second;
        }
      }
      section.content += ("\n" + Twine(relocation.offset) + " " + Twine(relocation.type) + " " +
                          Twine(relocation.addend) + " " + Twine(relocation.value) + " " +
                          Twine(relocation.text.size()) + " " + relocation.text)
                             .str();
    }
  }
}

std::vector<std::vector<SectionId>> Folder::classes() {
  std::vector<unsigned> classOf(sections.size());
  unsigned count = 0;
  // The first round knows the contents, each further one the classes of the round before.
  for (bool isFirst = true;; isFirst = false) {
    std::map<std::vector<unsigned>, unsigned> byTargets;
    StringMap<unsigned> byContent;
    std::vector<unsigned> next(sections.size());
    for (auto [i, section] : enumerate(sections)) {
      std::vector<unsigned> key{classOf[i]};
      if (!section.folds) {
        key = {~0u, unsigned(i)};
      } else if (isFirst) {
        key = {byContent.try_emplace(section.content, byContent.size()).first->second};
      } else {
        for (const Relocation &relocation : section.relocations) {
          key.push_back(relocation.section < 0 ? ~0u : classOf[relocation.section]);
        }
      }
      next[i] = byTargets.try_emplace(std::move(key), byTargets.size()).first->second;
    }
    classOf = std::move(next);
    if (!isFirst && byTargets.size() == count) {
      break;
    }
    count = byTargets.size();
  }
  std::vector<int> firstOf(count, -1);
  std::vector<std::vector<SectionId>> result(objects);
  for (auto [i, section] : enumerate(sections)) {
    int &first = firstOf[classOf[i]];
    first = first < 0 ? int(i) : first;
    result[section.id.first].push_back(sections[first].id);
  }
  return result;
}

Expected<std::vector<std::vector<SectionId>>>
hlo::findEqualSections(ArrayRef<StringRef> objects, const StringMap<std::string> &sameSymbol) {
  Folder folder(sameSymbol);
  for (StringRef object : objects) {
    if (Error error = folder.addObject(object)) {
      return error;
    }
  }
  folder.resolve();
  return folder.classes();
}
