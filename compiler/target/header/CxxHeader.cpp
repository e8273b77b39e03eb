//===- CxxHeader.cpp - The C++ header of a compiled module ----------------===//
//
// In: the module's signature. Out: a header with a class that calls the module on typed views of
// hlo/rt.hpp:
//
//   namespace demo { class mm {
//     struct arrays { view<const float, 4, 8> x; ... };   // all arrays by name
//     status operator()(const arrays &);
//     status operator()(view<const float, 4, 8> x, ...);  // the same by position
//   }; }
//
// The header begins with the whole C header, whose guard makes both fit into one program. Functions
// of the class call PREFIX_run_buffers, which is external, so that they are the same in all files.
//
// Names. Members of `arrays` and parameters have the names of the signature's leaves, of which none
// begins with hlo_ unless it ends in _ or in a number (CText.h). All other names in the same scopes
// begin with hlo_ and end in a letter. Types are named from the global scope.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/header/CxxHeader.h"
#include "compiler/support/Stack.h"
#include "compiler/target/header/LeafText.h"
#include "compiler/target/header/ReservedTargets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace hlo;

/// Types, enumerators and variables at file scope of C's and POSIX's headers, sorted.
static constexpr StringRef kTypes[] = {
#include "compiler/target/header/CTypes.inc"
};

/// Macros of C's and POSIX's headers that cIdentifier does not know, sorted. A macro with
/// parameters would be replaced before a parenthesis.
static constexpr StringRef kMacros[] = {
#include "compiler/target/header/PosixMacros.inc"
};

/// Members of the class; a class cannot have the name of one.
static constexpr StringRef kMembers =
    " arena_align arena_bytes arrays describe num_inputs num_outputs prepare prepare_arena_bytes "
    "prepared prepared_bytes signature state state_bytes use_prepared ";

/// Most arrays that are passed by position.
static constexpr size_t kMostParameters = 64;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Why an outermost namespace cannot have this name; empty if it can.
static StringRef whyTaken(StringRef name, StringRef prefix) {
  if (name == "hlo" || name == "std" || name == "posix" ||
      (name.starts_with("std") && all_of(name.drop_front(3), isDigit))) {
    return "reserved";
  }
  if (name.starts_with((prefix + "_").str())) {
    return "for the functions of the header";
  }
  if (std::binary_search(std::begin(kTypes), std::end(kTypes), name)) {
    return "a type or a constant of the C library";
  }
  return whyReserved(name, prefix);
}

/// True for macros of other headers, and for names like those of the macros in the header of
/// `prefix`.
static bool isMacro(StringRef name, StringRef prefix) {
  return name.starts_with(prefix.upper() + "_") ||
         std::binary_search(std::begin(kMacros), std::end(kMacros), name);
}

std::string hlo::cxxNamespace(StringRef moduleName, StringRef prefix) {
  std::string name = cIdentifier(moduleName);
  if (isMacro(name, prefix) || !whyTaken(name, prefix).empty()) {
    name = "module_" + name;
  }
  return name;
}

std::string hlo::whyNotNamespace(StringRef space, StringRef prefix) {
  if (space.empty()) {
    return "";
  }
  SmallVector<StringRef> parts;
  space.split(parts, "::");
  for (StringRef part : parts) {
    if (part.empty() || isDigit(part[0]) ||
        !all_of(part, [](char c) { return isAlnum(c) || c == '_'; })) {
      return "'" + cText(part) + "' is no identifier";
    }
    if (cIdentifier(part) != part || part.contains("__")) {
      return "'" + part.str() + "' is reserved in C++ or in C's headers";
    }
    if (isMacro(part, prefix)) {
      return "'" + part.str() + "' is for the macros of the header or of C's headers";
    }
  }
  StringRef taken = whyTaken(parts.front(), prefix);
  return taken.empty() ? "" : ("'" + parts.front() + "' is " + taken).str();
}

//===----------------------------------------------------------------------===//
// The class
//===----------------------------------------------------------------------===//

namespace {
/// Prints the class of one module.
class ClassPrinter {
public:
  ClassPrinter(raw_ostream &out, const Signature &signature, const HeaderInfo &info)
      : out(out), signature(signature), info(info), prefix(signature.prefix),
        isPrepared(info.prepared.bytes > 0),
        usesTable(signature.inputs.size() + signature.outputs.size() > size_t(kMostPointers)) {
    name = prefix;
    if (kMembers.contains(" " + name + " ") || isMacro(name, prefix)) {
      name += '_';
    }
  }

  void print();

private:
  void printNumbers();
  void printArena(StringRef function, const ArenaSize &arena);
  void printArrays();
  bool hasSizes() const;
  void printSizes();
  void printCall(bool prepares);
  void printPositional(bool prepares);
  void printPointers(bool prepares);
  void printData();
  bool isRead(size_t input, bool prepares) const {
    ArrayRef<uint8_t> use = info.prepared.inputUse;
    return !isPrepared || use.empty() ||
           (use[input] & (prepares ? HLO_READ_BY_PREPARE : HLO_READ_BY_RUN));
  }

  raw_ostream &out;
  const Signature &signature;
  const HeaderInfo &info;
  StringRef prefix;
  std::string name;
  bool isPrepared, usesTable;
};
} // namespace

/// "::hlo::view<const float, 4, 8>", or "::hlo::dense_view<const float>". Dimensions are in the
/// order of memory, packed types bytes.
static std::string viewType(const Leaf &leaf, bool isInput) {
  StringRef element = cType(leaf.type);
  bool isBuiltin = element == "float" || element == "double";
  std::string text = std::string(leaf.isDense() ? "::hlo::dense_view<" : "::hlo::view<") +
                     (isInput ? "const " : "") + (isBuiltin ? "" : "::") + element.str();
  if (leaf.isDense()) {
    return text + ">";
  }
  switch (leaf.type) {
  case HLO_S1:
  case HLO_S2:
  case HLO_S4:
  case HLO_U1:
  case HLO_U2:
  case HLO_U4:
  case HLO_F4E2M1FN: return text + ", " + std::to_string(leaf.bytes) + ">";
  default: break;
  }
  for (int64_t dim : reverse(leaf.minorToMajor)) {
    text += ", " + std::to_string(leaf.dims[dim]);
  }
  return text + ">";
}

void ClassPrinter::printArena(StringRef function, const ArenaSize &arena) {
  out << "  static constexpr ::std::uint64_t " << function << "(::std::uint32_t"
      << (arena.threadBytes ? " threads" : "") << " = 1) noexcept {\n";
  if (arena.threadBytes) {
    out << "    return " << arena.bytes << "ul + (threads > 1 ? threads - 1 : 0) * UINT64_C("
        << arena.threadBytes << ");\n  }\n";
  } else {
    out << "    return " << arena.bytes << "ul;\n  }\n";
  }
}

void ClassPrinter::printNumbers() {
  out << "  static constexpr ::std::size_t num_inputs = " << signature.inputs.size()
      << ", num_outputs = " << signature.outputs.size() << ";\n"
      << "  /** Hash of the module, and of all names, types, layouts and aliases. */\n"
      << "  static constexpr ::std::uint64_t signature = 0x"
      << utohexstr(signature.hash, /*LowerCase=*/true, 16) << "ul;\n"
      << "  /** Scratch for one call on so many threads, and its alignment. */\n";
  printArena("arena_bytes", info.arena);
  out << "  static constexpr ::std::size_t arena_align = " << info.arenaAlign << ";\n";
  if (isPrepared) {
    out << "  /** The block that prepare() fills, and its scratch. */\n"
        << "  static constexpr ::std::size_t prepared_bytes = " << info.prepared.bytes << ";\n";
    printArena("prepare_arena_bytes", info.prepared.arena);
  }
  if (info.stateBytes) {
    out << "  static constexpr ::std::size_t state_bytes = " << info.stateBytes << ";\n";
  }
  out << "  /** Names, shapes, layouts, needs of the module; static. */\n"
      << "  static const ::hlo_module_desc *describe() noexcept { return ::" << prefix
      << "_describe(); }\n\n";
}

void ClassPrinter::printArrays() {
  out << "  /** All arrays of a call by name. */\n  struct arrays {\n";
  auto print = [&](const std::vector<Leaf> &leaves, bool isInput) {
    for (const Leaf &leaf : leaves) {
      out << "    ";
      if (leaf.sizeOf < 0) {
        out << viewType(leaf, isInput) << ' ' << leaf.name << "{}";
      } else if (isInput) {
        out << "::std::int64_t " << leaf.name << " = "
            << signature.inputs[leaf.sizeOf].dims[leaf.sizeDim];
      } else {
        out << "::std::int64_t *" << leaf.name << " = nullptr";
      }
      out << "; /**< "
          << leafText(leaf, isInput, signature,
                      isInput ? ArrayRef<uint8_t>(info.prepared.inputUse) : ArrayRef<uint8_t>())
          << " */\n";
    }
  };
  print(signature.inputs, true);
  print(signature.outputs, false);
  out << "  };\n\n";
}

/// Fills hlo_inputs and hlo_outputs.
void ClassPrinter::printPointers(bool prepares) {
  size_t inputs = signature.inputs.size(), outputs = signature.outputs.size();
  auto valueOf = [&](const Leaf &leaf, bool isInput) {
    std::string member = "hlo_all." + leaf.name;
    return leaf.sizeOf < 0 ? member + ".data()" : (isInput ? "&" : "") + member;
  };
  if (usesTable) {
    // So many pointers are no frame for a small stack.
    out << "    if (!hlo_table.reserve(" << inputs + outputs
        << " * sizeof(void *), alignof(void *))) {\n"
           "      return ::hlo::status(HLO_ERR_ALLOC, \"there is no memory for the table\");\n"
           "    }\n"
           "    const void **hlo_inputs = static_cast<const void **>(hlo_table.data());\n";
    if (!prepares) {
      out << "    void **hlo_outputs = static_cast<void **>(hlo_table.data()) + " << inputs
          << ";\n";
    }
    for (const auto &[i, leaf] : enumerate(signature.inputs)) {
      out << "    hlo_inputs[" << i << "] = " << valueOf(leaf, true) << ";\n";
    }
    for (const auto &[i, leaf] : enumerate(signature.outputs)) {
      if (!prepares) {
        out << "    hlo_outputs[" << i << "] = " << valueOf(leaf, false) << ";\n";
      }
    }
    return;
  }
  auto print = [&](StringRef type, StringRef array, const std::vector<Leaf> &leaves, bool isInput) {
    out << "    " << type << array << "[] = {";
    for (const auto &[i, leaf] : enumerate(leaves)) {
      out << (i % 4 ? ", " : i ? ",\n        " : "") << valueOf(leaf, isInput);
    }
    out << (leaves.empty() ? "nullptr" : "") << "};\n";
  };
  print("const void *const ", "hlo_inputs", signature.inputs, true);
  if (!prepares) {
    print("void *const ", "hlo_outputs", signature.outputs, false);
  }
}

bool ClassPrinter::hasSizes() const {
  return any_of(signature.inputs, [](const Leaf &leaf) { return leaf.sizeOf >= 0; });
}

/// Defines hlo_sizes, the sizes of the call, if something of the module depends on sizes.
void ClassPrinter::printSizes() {
  bool isDynamic = any_of(concat<const Leaf>(signature.inputs, signature.outputs),
                          [](const Leaf &leaf) { return leaf.sizeOf >= 0 || leaf.isDense(); });
  if (!isDynamic) {
    return;
  }
  out << "    [[maybe_unused]] const ::std::int64_t hlo_sizes[] = {";
  for (const Leaf &leaf : signature.inputs) {
    out << (leaf.sizeOf >= 0 ? "hlo_all." + leaf.name + ", " : "");
  }
  out << "0};\n";
}

/// operator()(arrays) or prepare(arrays).
void ClassPrinter::printCall(bool prepares) {
  out << "  ::hlo::status " << (prepares ? "prepare" : "operator()")
      << "(const arrays &hlo_all) noexcept {\n";
  bool uses = false;
  auto check = [&](const std::vector<Leaf> &leaves, bool isInput) {
    for (const auto &[i, leaf] : enumerate(leaves)) {
      uses = true;
      if (leaf.sizeOf >= 0 || (isInput && !isRead(i, prepares))) {
        continue;
      }
      std::string view = "hlo_all." + leaf.name;
      if (leaf.isDense()) {
        out << "    if (::hlo::status hlo_fault = hlo_context->check_dense(\n            \""
            << prefix << (isInput ? ": input " : ": output ") << i << " (" << leaf.name
            << ")\", describe(), " << (isInput ? "true, " : "false, ") << i << ", hlo_sizes, "
            << view << "); !hlo_fault) {\n      return hlo_fault;\n    }\n";
        continue;
      }
      out << "    if (!" << view << ".fits()) {\n      return hlo_context->refuse(\"" << prefix
          << (isInput ? ": input " : ": output ") << i << " (" << leaf.name << ")\", " << view
          << ");\n    }\n";
    }
  };
  printSizes();
  check(signature.inputs, true);
  if (!prepares) {
    check(signature.outputs, false);
  }
  if (!uses) {
    out << "    static_cast<void>(hlo_all);\n";
  }
  std::string arena =
      prepares     ? "prepare_arena_bytes(hlo_context->num_threads())"
      : hasSizes() ? "::hlo_sized_arena_bytes(describe(), hlo_context->num_threads(), hlo_sizes)"
                   : "arena_bytes(hlo_context->num_threads())";
  out << "    if (::hlo::status hlo_fault = hlo_context->start(\n            " << arena
      << ", arena_align); !hlo_fault) {\n"
         "      return hlo_fault;\n    }\n";
  printPointers(prepares);
  if (prepares) {
    out << "    hlo_block = nullptr;\n"
           "    if (!hlo_own.reserve(prepared_bytes, 64)) {\n"
           "      return ::hlo::status(HLO_ERR_ALLOC, \"there is no memory for the prepared "
           "block\");\n    }\n"
           "    ::hlo::status hlo_result = hlo_context->finish(::"
        << prefix
        << "_prepare_buffers(\n        &hlo_context->call(), hlo_inputs, hlo_own.data(), "
           "prepared_bytes));\n"
           "    if (hlo_result) {\n      use_prepared(hlo_own.data(), prepared_bytes);\n    }\n"
           "    return hlo_result;\n  }\n\n";
    return;
  }
  std::string call = "hlo_context->call()";
  if (isPrepared || info.stateBytes) {
    call = "hlo_one";
    out << "    ::hlo_call hlo_one = hlo_context->call();\n";
  }
  if (isPrepared) {
    out << "    hlo_one.prepared = hlo_block;\n    hlo_one.prepared_bytes = hlo_block_bytes;\n";
  }
  if (info.stateBytes) {
    out << "    hlo_one.state = static_cast<::hlo_state *>(state());\n";
  }
  out << "    return hlo_context->finish(::" << prefix << "_run_buffers(&" << call
      << ", hlo_inputs, hlo_outputs));\n  }\n\n";
}

/// The same by position: those arrays that the function reads or writes.
void ClassPrinter::printPositional(bool prepares) {
  std::string parameters, copies;
  size_t count = 0;
  auto add = [&](const std::vector<Leaf> &leaves, bool isInput) {
    for (const auto &[i, leaf] : enumerate(leaves)) {
      if (isInput && !isRead(i, prepares)) {
        continue;
      }
      std::string type = leaf.sizeOf < 0 ? viewType(leaf, isInput) + " "
                         : isInput       ? "::std::int64_t "
                                         : "::std::int64_t &";
      parameters += (count++ ? ",\n      " : "\n      ") + type + leaf.name;
      copies += "    hlo_all." + leaf.name + " = " + (leaf.sizeOf >= 0 && !isInput ? "&" : "") +
                leaf.name + ";\n";
    }
  };
  add(signature.inputs, true);
  if (!prepares) {
    add(signature.outputs, false);
  }
  if (count > kMostParameters) {
    return;
  }
  // `struct`: a parameter may be called arrays.
  out << "  ::hlo::status " << (prepares ? "prepare(" : "operator()(") << parameters
      << ") noexcept {\n    struct arrays hlo_all;\n"
      << copies << "    return " << (prepares ? "this->prepare" : "(*this)")
      << "(hlo_all);\n  }\n\n";
}

void ClassPrinter::printData() {
  out << " private:\n  ::hlo::context *hlo_context;\n";
  if (isPrepared) {
    out << "  ::hlo::memory hlo_own;\n  const void *hlo_block = nullptr;\n"
           "  ::std::size_t hlo_block_bytes = 0;\n";
  }
  if (info.stateBytes) {
    out << "  alignas(16) unsigned char hlo_random[state_bytes] = {};\n";
  }
  if (usesTable) {
    out << "  ::hlo::memory hlo_table;\n";
  }
}

void ClassPrinter::print() {
  out << "/** The module on a context, which must outlive it; serves one call at a time. */\nclass "
      << name << " {\n public:\n";
  printNumbers();
  out << "  explicit " << name
      << "(::hlo::context &hlo_used) noexcept : hlo_context(&hlo_used) {}\n\n";
  printArrays();
  if (isPrepared) {
    out << "  /** Computes once what depends on the immutable inputs only, into a block that this "
           "object owns.\n"
           "   *  Those that are read by prepare only may be freed afterwards. */\n";
    printCall(/*prepares=*/true);
    printPositional(/*prepares=*/true);
    out << "  /** Uses the block of another object of this class, or one from a file: "
           "`bytes` bytes aligned\n   *  to 64, which must outlive this object. */\n"
           "  void use_prepared(const void *block, ::std::size_t bytes) noexcept {\n"
           "    hlo_block = block;\n    hlo_block_bytes = bytes;\n  }\n"
           "  /** The block in use, or null; never written by calls, and may be shared. */\n"
           "  const void *prepared() const noexcept { return hlo_block; }\n\n";
  }
  if (info.stateBytes) {
    out << "  /** The state of the module's random numbers, which this object keeps: state_bytes "
           "bytes,\n   *  zero before the first call. hlo_call.state takes precedence. */\n"
           "  void *state() noexcept {\n"
           "    return hlo_context->call().state ? static_cast<void *>(hlo_context->call().state)\n"
           "                                     : hlo_random;\n  }\n\n";
  }
  out << "  /** Runs the module; "
      << (isPrepared ? "needs prepare() or use_prepared() before. */\n" : "by name. */\n");
  printCall(/*prepares=*/false);
  printPositional(/*prepares=*/false);
  printData();
  out << "};\n";
}

std::string hlo::makeCxxHeader(const Signature &signature, const HeaderInfo &info,
                               StringRef space) {
  std::string text = makeHeader(signature, info);
  raw_string_ostream out(text);
  std::string guard = StringRef(signature.prefix).upper() + "_HPP_";
  out << "\n#ifndef " << guard << "\n#define " << guard << "\n\n#include <hlo/rt.hpp>\n\n"
      << "namespace " << space << " {\n\n";
  ClassPrinter(out, signature, info).print();
  out << "\n} /* namespace " << space << " */\n\n#endif /* " << guard << " */\n";
  return text;
}
