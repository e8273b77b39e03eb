//===- Header.cpp - The C header of a compiled module ---------------------===//
//
// In: the module's signature. Out: a header with sizes as macros, a struct with one pointer per
// leaf, PREFIX_run (inline: checks the signature and passes the pointers to PREFIX_run_buffers),
// and PREFIX_describe.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/header/Header.h"
#include "compiler/support/Stack.h"
#include "compiler/target/header/LeafText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace hlo;

/// One member of the struct with its comment. The size of a bounded dimension is a number for
/// inputs, a pointer for outputs.
static void printMember(raw_ostream &out, const Leaf &leaf, bool isInput, const Signature &all,
                        ArrayRef<uint8_t> use) {
  if (leaf.sizeOf >= 0) {
    out << "  int64_t " << (isInput ? "" : "*") << leaf.name;
  } else {
    std::string type = (isInput ? "const " : "") + std::string(cType(leaf.type)) + " *";
    if (leaf.textName.empty()) {
      out << "  " << type << leaf.name;
    } else {
      out << "  HLO_EITHER(" << type << ", " << leaf.name << ", " << leaf.textName << ")";
    }
  }
  out << "; /**< " << leafText(leaf, isInput, all, use) << " */\n";
}

/// For a comment: what a call must supply besides buffers and scratch memory.
static std::string needsText(const HeaderInfo &info) {
  static constexpr std::pair<uint32_t, const char *> fields[] = {
      {HLO_NEEDS_INFEED, "infeed"},       {HLO_NEEDS_OUTFEED, "outfeed"},
      {HLO_NEEDS_COMM, "comm"},           {HLO_NEEDS_STATE, "state"},
      {HLO_NEEDS_HOST_SEND, "host_send"}, {HLO_NEEDS_HOST_RECV, "host_recv"}};
  std::string text;
  for (auto [bit, name] : fields) {
    if (info.needs & bit) {
      text += (text.empty() ? "\n *\n * A call must have: " : ", ") + std::string(name);
    }
  }
  for (const std::string &target : info.customCalls) {
    text += "\n * Custom call, linked or in custom_calls: " + cText(target);
  }
  return text;
}

/// For a comment: that arrays are shards, if any is.
static std::string partitionsText(const Signature &signature) {
  std::string partitions = signature.partitionsText();
  return partitions.empty() ? ""
                            : "\n *\n * One call for each of " + partitions +
                                  ". A shard is a part of an array:\n * <hlo/shard.h>.";
}

/// The macro for the size of hlo_call.state, if there is one.
static std::string stateText(StringRef upper, const HeaderInfo &info) {
  if (info.stateBytes == 0) {
    return "";
  }
  return formatv(
      "/** What outlives a call: hlo_call.state, aligned to 16, zero before the first one. */\n"
      "#define {0}_STATE_BYTES {1}u\n",
      upper, info.stateBytes);
}

/// The function that returns the arena bytes for a number of threads.
static std::string arenaFunction(StringRef prefix, StringRef upper, StringRef what,
                                 uint64_t threadBytes) {
  std::string more =
      threadBytes
          ? formatv(" +\n         (threads > 1 ? threads - 1 : 0) * UINT64_C({0})", threadBytes)
                .str()
          : "";
  return formatv("/** The same with an executor of `threads` threads. */\n"
                 "static inline uint64_t {0}_{1}_bytes(uint32_t threads) {{\n"
                 "{2}  return {3}_{4}_BYTES{5};\n}\n",
                 prefix, what, threadBytes ? "" : "  (void)threads;\n", upper, what.upper(), more);
}

/// The same for a module with sizes, of which each is a parameter.
static std::string sizedArenaFunction(const Signature &signature) {
  std::string parameters, values;
  for (const Leaf &leaf : signature.inputs) {
    if (leaf.sizeOf >= 0) {
      parameters += ", int64_t " + leaf.name;
      values += (values.empty() ? "" : ", ") + leaf.name;
    }
  }
  return formatv("/** The same for a call with these sizes and an executor of so many threads. */\n"
                 "static inline uint64_t {0}_arena_bytes(uint32_t hlo_threads{1}) {{\n"
                 "  const int64_t hlo_sizes[] = {{{2}};\n"
                 "  return hlo_sized_arena_bytes({0}_describe(), hlo_threads, hlo_sizes);\n}\n\n",
                 signature.prefix, parameters, values);
}

/// The macros of the prepared block.
static std::string preparedText(StringRef prefix, StringRef upper, const Prepared &prepared) {
  if (prepared.bytes == 0) {
    return "";
  }
  return formatv("/** The prepared block: what {0}_prepare makes of the immutable inputs and "
                 "{0}_run reads;\n"
                 " *  aligned to 64. And the scratch for one call of {0}_prepare. */\n"
                 "#define {1}_PREPARED_BYTES {2}ul\n"
                 "#define {1}_PREPARE_ARENA_BYTES {3}ul\n",
                 prefix, upper, prepared.bytes, prepared.arena.bytes)
             .str() +
         arenaFunction(prefix, upper, "prepare_arena", prepared.arena.threadBytes);
}

/// Part of PREFIX_prepare's comment. It contains braces, so it does not go through formatv.
static std::string prepareComment(StringRef prefix, StringRef upper) {
  return formatv(
      "/** Computes once what depends on the immutable inputs only, into the {1}_PREPARED_BYTES "
      "bytes at\n"
      " *  `prepared`, which are the caller's, aligned to 64, and need no initialization. Reads "
      "the inputs\n"
      " *  that are marked so; all other members of `args` may be null. With call->exec it uses "
      "threads, and\n"
      " *  it needs {0}_prepare_arena_bytes(threads) of scratch (any call->arena for {0}_run does "
      "if that is\n"
      " *  more). Afterwards set prepared and prepared_bytes of each hlo_call given to {0}_run: "
      "the block is\n"
      " *  only read, any number of calls may share it, it must outlive them, and it may be stored "
      "and loaded\n"
      " *  again for the same object. The immutable inputs must keep the bytes that they had here; "
      "those\n"
      " *  read by prepare only may be freed and be null in {0}_run. If they change, prepare again "
      "(not\n"
      " *  during a call). Errors: HLO_ERR_NULL, HLO_ERR_ALIGN, HLO_ERR_PREPARED (block too "
      "small),\n"
      " *  HLO_ERR_ARENA, HLO_ERR_CPU, HLO_CANCELLED, HLO_DEADLINE; the block is then unusable, "
      "and {0}_run\n"
      " *  refuses it with HLO_ERR_PREPARED, as it does any block that is not this module's. */\n",
      prefix, upper);
}

/// Prints PREFIX_run or PREFIX_prepare: checks the signature and passes the pointers on.
static void printFunction(raw_ostream &out, const Signature &signature, StringRef upper,
                          bool prepares) {
  const std::string &prefix = signature.prefix;
  // An array of many pointers would be a large frame. If no member is a size, the struct's members
  // are consecutive pointers and serve as the array.
  auto isSize = [](const Leaf &leaf) { return leaf.sizeOf >= 0; };
  bool inPlace = signature.inputs.size() + signature.outputs.size() > size_t(kMostPointers) &&
                 !any_of(signature.inputs, isSize);
  out << "HLO_NODISCARD static inline hlo_status " << prefix << (prepares ? "_prepare" : "_run")
      << "(const hlo_call *call, const " << prefix << "_args *args"
      << (prepares ? ",\n    void *prepared, size_t prepared_bytes" : "") << ") {\n";
  auto printArray = [&](StringRef type, StringRef name, const std::vector<Leaf> &leaves) {
    out << "  " << type << name << "[" << std::max<size_t>(1, leaves.size()) << "];\n";
  };
  if (!inPlace) {
    printArray("const void *", "inputs", signature.inputs);
  }
  if (!prepares && !inPlace) {
    printArray("void *", "outputs", signature.outputs);
  }
  out << "  if (args->signature != " << upper
      << "_SIGNATURE) {\n    return hlo_bad_signature(call, " << prefix
      << "_describe(), args->signature);\n  }\n";
  if (inPlace) {
    auto printPlace = [&](StringRef type, StringRef name, const std::vector<Leaf> &leaves) {
      if (leaves.empty()) {
        out << "  " << type << "const *" << name << " = 0;\n";
      } else {
        out << "  " << type << "const *" << name << " = (" << type
            << "const *)(const void *)&args->" << leaves[0].name << ";\n";
      }
    };
    printPlace("const void *", "inputs", signature.inputs);
    if (!prepares) {
      printPlace("void *", "outputs", signature.outputs);
    }
  }
  auto printFill = [&](StringRef name, const std::vector<Leaf> &leaves) {
    for (const auto &[i, leaf] : enumerate(leaves)) {
      bool isValue = leaf.sizeOf >= 0 && &leaves == &signature.inputs;
      out << "  " << name << "[" << i << "] = " << (isValue ? "&" : "") << "args->" << leaf.name
          << ";\n";
    }
    if (leaves.empty()) {
      out << "  " << name << "[0] = 0;\n";
    }
  };
  if (!inPlace) {
    printFill("inputs", signature.inputs);
  }
  if (prepares) {
    out << "  return " << prefix
        << "_prepare_buffers(call, inputs, prepared, prepared_bytes);\n}\n\n";
    return;
  }
  if (!inPlace) {
    printFill("outputs", signature.outputs);
  }
  out << "  return " << prefix << "_run_buffers(call, inputs, outputs);\n}\n\n";
}

std::string hlo::makeHeader(const Signature &signature, const HeaderInfo &info) {
  std::string text;
  raw_string_ostream out(text);
  const std::string &prefix = signature.prefix;
  std::string upper = StringRef(prefix).upper();
  std::string guard = upper + "_H_";
  size_t inputs = signature.inputs.size(), outputs = signature.outputs.size();
  bool hasSizes = any_of(signature.inputs, [](const Leaf &leaf) { return leaf.sizeOf >= 0; });
  bool isDynamic = any_of(concat<const Leaf>(signature.inputs, signature.outputs),
                          [](const Leaf &leaf) { return leaf.sizeOf >= 0; });
  bool isDense = any_of(concat<const Leaf>(signature.inputs, signature.outputs),
                        [](const Leaf &leaf) { return leaf.isDense(); });
  // Plain numbers: header readers of other languages do not expand UINT64_C.
  std::string hash = StringRef(formatv("{0:x16}", signature.hash).str()).lower() + "ul";
  auto symbolOf = [&](StringRef suffix) {
    return "HLO_SYMBOL(\"" + hashedSymbol(signature, prefix + suffix.str()) + "\")";
  };

  out << "/* " << prefix << ".h - made by hlo-compile " << info.version << " from "
      << cText(info.source) << "\n * (sha256 " << info.sha256 << ") for " << cText(info.target)
      << ";\n * you may use it under any terms.\n *\n"
      << " * There are no globals: calls may run at the same time if each has its own hlo_call "
         "and\n"
      << " * arena. Any buffer aligned to its element will do; 64 bytes are faster."
      << needsText(info) << partitionsText(signature) << " */\n"
      << "#ifndef " << guard << "\n#define " << guard << "\n\n#include <hlo/rt.h>\n\n";
  out << "#define " << upper << "_NUM_INPUTS " << inputs << "\n#define " << upper << "_NUM_OUTPUTS "
      << outputs << "\n"
      << "/** Scratch for one call on one thread, " << (hasSizes ? "of any sizes, " : "")
      << "and its alignment; 0: none is needed. */\n"
      << "#define " << upper << "_ARENA_BYTES " << info.arena.bytes << "ul\n"
      << "#define " << upper << "_ARENA_ALIGN " << info.arenaAlign << "u\n"
      << (hasSizes ? "" : arenaFunction(prefix, upper, "arena", info.arena.threadBytes))
      << stateText(upper, info) << preparedText(prefix, upper, info.prepared)
      << "/** Hash of the module, and of all names, types, layouts and aliases. The functions "
         "below "
         "have it in\n *  their symbols: the object of another module does not link. */\n"
      << "#define " << upper << "_SIGNATURE " << hash << "\n\n"
      << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
      << "/** The buffers of one call."
      << (isDense
              ? " Those of arrays with dimensions `<=N` are dense for the sizes of the call: a\n"
                " *  batch of 3 is 3 rows."
          : isDynamic
              ? " Those of arrays with dimensions `<=N` have the shape of the bounds: elements\n"
                " *  beyond the true sizes are ignored in inputs and unspecified in outputs."
              : "")
      << " */\ntypedef struct " << prefix << "_args {\n"
      << "  uint64_t signature; /**< " << upper << "_SIGNATURE; set by " << upper
      << "_ARGS_INIT */\n";
  for (const Leaf &leaf : signature.inputs) {
    printMember(out, leaf, true, signature, info.prepared.inputUse);
  }
  for (const Leaf &leaf : signature.outputs) {
    printMember(out, leaf, false, signature, {});
  }
  out << "} " << prefix << "_args;\n#define " << upper << "_ARGS_INIT { " << upper << "_SIGNATURE";
  for (const Leaf &leaf : signature.inputs) {
    if (leaf.sizeOf >= 0) {
      out << ", " << signature.inputs[leaf.sizeOf].dims[leaf.sizeDim];
    } else {
      out << (leaf.textName.empty() ? ", 0" : ", HLO_EITHER_NULL");
    }
  }
  for (size_t i = 0; i < outputs; ++i) {
    out << ", 0";
  }
  out << " }\n\n/** Names, shapes, layouts, needs of the module; static. */\nconst hlo_module_desc "
         "*"
      << prefix << "_describe(void) " << symbolOf("_describe") << ";\n\n"
      << (hasSizes ? sizedArenaFunction(signature) : "")
      << "/** Runs the module on one pointer per leaf, in order."
      << (info.prepared.bytes ? " Needs call->prepared"
                              : " `call` may be null if no scratch is\n *  needed: then it runs on "
                                "the calling thread")
      << ". */\n"
      << "HLO_NODISCARD hlo_status " << prefix
      << "_run_buffers(const hlo_call *call, const void *const *inputs,\n"
      << "    void *const *outputs) " << symbolOf("_run_buffers") << ";\n\n";
  if (info.prepared.bytes) {
    out << "/** The same of " << prefix << "_prepare. */\nHLO_NODISCARD hlo_status " << prefix
        << "_prepare_buffers(const hlo_call *call,\n    const void *const *inputs, void *prepared, "
           "size_t prepared_bytes)\n    "
        << symbolOf("_prepare_buffers") << ";\n\n"
        << prepareComment(prefix, upper);
    printFunction(out, signature, upper, /*prepares=*/true);
  }
  out << "/** Runs the module. */\n";
  printFunction(out, signature, upper, /*prepares=*/false);
  out << "#ifdef __cplusplus\n} /* extern \"C\" */\n#endif\n\n#endif /* " << guard << " */\n";
  return text;
}
