//===- FileKind.cpp - Formats of files that are not HLO text --------------===//
//
// In: the bytes of an input that is not HLO text. Out: the name of its format and how to get HLO
// text from it, for file formats that people keep next to a model. Formats are recognized by their
// first bytes: the magic numbers of their specifications, or for protocol buffers, which have none,
// the first fields of HloModuleProto, HloProto (xla/service/hlo.proto) and ModelProto (onnx.proto).
//
//===----------------------------------------------------------------------===//
#include "compiler/support/FileKind.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace {
constexpr StringLiteral kFromJax =
    "export HLO text from JAX: jax.jit(f).lower(*args).as_text(dialect=\"hlo\")";
constexpr StringLiteral kFromExport =
    "to StableHLO text: jax.export.deserialize(bytearray(data)).mlir_module()";
constexpr StringLiteral kFromMlir =
    "if it is a portable artefact of StableHLO: stablehlo-translate --deserialize, or export text: "
    "jax.jit(f).lower(*args).as_text()";
constexpr StringLiteral kFromProto =
    "to HLO text: jax._src.lib.xla_client.XlaComputation(data).as_hlo_text(), or export it as "
    "text: jax.jit(f).lower(*args).as_text(dialect=\"hlo\")";

/// A format with a magic number at a fixed offset.
struct Magic {
  size_t offset;
  StringRef bytes;
  StringRef what, how;
};

constexpr Magic magics[] = {
    {0, "ML\xefR", "MLIR bytecode", kFromMlir},
    {0, "\x1f\x8b", "gzip-compressed data", "unpack it first: gunzip"},
    {0, "BZh", "bzip2-compressed data", "unpack it first: bunzip2"},
    {0,
     "\xfd"
     "7zXZ",
     "xz-compressed data", "unpack it first: unxz"},
    {0, "\x28\xb5\x2f\xfd", "zstd-compressed data", "unpack it first: unzstd"},
    {0, "\x93NUMPY", "a numpy array (.npy)",
     "arrays are inputs of a program: hlo-run MODULE.hlo --inputs=FILE.npz"},
    {0,
     "\x7f"
     "ELF",
     "an ELF object, library or program", "give the HLO text it was made from"},
    {0, "!<arch>", "a static library", "give the HLO text it was made from"},
    {0, "BC\xc0\xde", "LLVM bitcode", "give the HLO text it was made from"},
    {0, "\xcf\xfa\xed\xfe", "a Mach-O file", "give the HLO text it was made from"},
    {0, "\x89HDF", "an HDF5 file (Keras weights)", kFromJax},
    {4, "TFL3", "a TensorFlow Lite model", kFromJax},
    {0, "GGUF", "a GGUF model", kFromJax},
    {0, "%PDF", "a PDF document", kFromJax},
    {0, "\xff\xfe", "UTF-16 text", "save it as UTF-8: iconv -f UTF-16 -t UTF-8"},
    {0, "\xfe\xff", "UTF-16 text", "save it as UTF-8: iconv -f UTF-16 -t UTF-8"},
};

std::string line(const Twine &what, StringRef how) {
  return ("this is " + what + ", not HLO text; " + how).str();
}

/// Reads field `number`, length-delimited, from the front of a protocol buffer.
bool readField(StringRef &data, unsigned number, StringRef &field) {
  if (data.empty() || static_cast<uint8_t>(data.front()) != (number << 3 | 2)) {
    return false;
  }
  uint64_t size = 0;
  size_t at = 1;
  for (unsigned shift = 0; shift < 35; shift += 7) {
    if (at == data.size()) {
      return false;
    }
    uint8_t byte = data[at++];
    size |= uint64_t(byte & 0x7f) << shift;
    if (!(byte & 0x80)) {
      field = data.substr(at, size);
      bool fits = size <= data.size() - at;
      data = data.drop_front(std::min<uint64_t>(at + size, data.size()));
      return fits;
    }
  }
  return false;
}

/// HloModuleProto {1: name, 2: entry_computation_name, ...}.
bool isHloModuleProto(StringRef data) {
  StringRef name, entry;
  return readField(data, 1, name) && all_of(name, isPrint) && readField(data, 2, entry) &&
         all_of(entry, isPrint);
}

/// ModelProto {1: ir_version, a varint; 2: producer_name; 7: graph; 8: opset_import}.
bool isOnnx(StringRef data) {
  if (data.size() < 4 || data[0] != 0x08 || data[1] < 1 || data[1] > 30) {
    return false;
  }
  return is_contained({0x12, 0x1a, 0x22, 0x3a, 0x42}, static_cast<uint8_t>(data[2]));
}

std::string describeZip(StringRef bytes) {
  constexpr size_t namesSeen = 4096;
  StringRef head = bytes.take_front(namesSeen);
  if (head.contains(".npy")) {
    return line("a numpy archive (.npz)",
                "arrays are inputs of a program: hlo-run MODULE.hlo --inputs=FILE.npz");
  }
  if (head.contains("data.pkl") || head.contains("/version")) {
    return line("a PyTorch file", kFromJax);
  }
  return line("a zip archive", "unpack it, and give HLO text");
}

/// The text without leading blanks and comments of MLIR.
StringRef withoutComments(StringRef text) {
  text = text.ltrim();
  while (text.starts_with("//")) {
    text = text.drop_while([](char c) { return c != '\n'; }).ltrim();
  }
  return text;
}

/// What MLIR text is, unless it is StableHLO text. Its first part shows that: constants of
/// hundreds of megabytes follow.
std::string describeMlir(StringRef text) {
  constexpr size_t seen = 1 << 16;
  StringRef head = withoutComments(text).take_front(seen);
  if (head.contains("hlo.computation") || head.contains("cpurt.")) {
    return line("MLIR text of a phase of hlo-compile", "it is read with --start-from");
  }
  if (head.contains("vhlo.") || head.contains("= \"mhlo.") || head.contains("= mhlo.")) {
    return ("this is text of the dialect " + Twine(head.contains("vhlo.") ? "VHLO" : "MHLO") +
            ", which is neither StableHLO nor HLO text; " + kFromJax)
        .str();
  }
  return "";
}

std::string describeText(StringRef text) {
  StringRef start = text.ltrim();
  StringRef first = start.take_until([](char c) { return c == '\n'; });
  if (hlo::isMlirText(text)) {
    return describeMlir(text);
  }
  if (first.starts_with("{ lambda") || first.starts_with("{lambda")) {
    return line("a jaxpr", kFromJax);
  }
  if (first.starts_with("hlo_module {") || first.starts_with("hlo_module:") ||
      (first.starts_with("name: \"") && text.contains("computations {"))) {
    return line("an HLO proto in text form", kFromProto);
  }
  if (first.starts_with("ir_version:")) {
    return line("an ONNX model in text form", kFromJax);
  }
  if (first.starts_with("import ") || first.starts_with("from ") || first.starts_with("#!")) {
    return line("a program", kFromJax);
  }
  if (first.starts_with("<?xml") || first.starts_with("<!DOCTYPE") || first.starts_with("<html")) {
    return line("XML or HTML", kFromJax);
  }
  if (first.starts_with("; ModuleID") || first.starts_with("target triple")) {
    return line("LLVM IR", "give the HLO text it was made from");
  }
  return "";
}
} // namespace

bool hlo::isInstalledPackage(StringRef path) {
  return path.contains("site-packages/") || path.contains("dist-packages/");
}

bool hlo::isMlirText(StringRef text) {
  StringRef rest = withoutComments(text);
  auto startsWithWord = [&](StringRef word) {
    StringRef after = rest;
    return after.consume_front(word) &&
           (after.empty() ||
            (!isAlnum(after.front()) && !StringRef("_.-").contains(after.front())));
  };
  // An alias of an attribute or a type: `#loc1 = loc(...)`, `!t = tensor<2xf32>`.
  bool isAlias = (rest.starts_with("#") || rest.starts_with("!")) && rest.size() > 1 &&
                 (isAlpha(rest[1]) || rest[1] == '_');
  return isAlias || startsWithWord("module") || startsWithWord("builtin.module") ||
         startsWithWord("func.func") || startsWithWord("\"builtin.module\"") ||
         startsWithWord("\"func.func\"") || startsWithWord("sdy.mesh");
}

std::string hlo::whyUnreadable(std::error_code error) {
  return error == std::errc::is_a_directory
             ? ("it is a folder; give a file of HLO text: " + kFromJax).str()
             : error.message();
}

std::string hlo::describeForeignFile(StringRef bytes) {
  if (bytes.empty()) {
    return ("the file is empty; " + kFromJax).str();
  }
  for (const Magic &magic : magics) {
    if (bytes.substr(magic.offset).starts_with(magic.bytes)) {
      return line(magic.what, magic.how);
    }
  }
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06")) {
    return describeZip(bytes);
  }
  constexpr size_t seen = 4096;
  StringRef head = bytes.take_front(seen);
  bool isText = none_of(head, [](char c) {
    return static_cast<uint8_t>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f';
  });
  if (isText) {
    return bytes.trim().empty() ? ("the file has only blanks; " + kFromJax).str()
                                : describeText(bytes);
  }
  // HLO text may hold a few stray characters; the lexer reports those with their places.
  StringRef start = head.ltrim();
  if (start.starts_with("HloModule") || start.starts_with("ENTRY") || start.starts_with("//") ||
      start.starts_with("/*")) {
    return "";
  }
  if (bytes.contains("StableHLO_v") || bytes.contains("ML\xefR")) {
    return line("a serialized jax.export.Exported", kFromExport);
  }
  StringRef module = bytes, inner;
  if (isHloModuleProto(bytes) || (readField(module, 1, inner) && isHloModuleProto(inner))) {
    return line("an HLO proto", kFromProto);
  }
  if (isOnnx(bytes)) {
    return line("an ONNX model", kFromJax);
  }
  if (bytes.substr(8).starts_with("{\"")) {
    return line("a safetensors file", kFromJax);
  }
  if (bytes.starts_with("\x80") && bytes.size() > 1 && bytes[1] >= 2 && bytes[1] <= 5) {
    return line("a Python pickle", kFromJax);
  }
  if (head.count('\0') >= head.size() / 3) {
    return line("UTF-16 or other binary data", "HLO text is UTF-8");
  }
  size_t strange = count_if(head, [](char c) {
    return static_cast<uint8_t>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f';
  });
  return strange * 20 > head.size() ? line("binary data", kFromJax) : "";
}
