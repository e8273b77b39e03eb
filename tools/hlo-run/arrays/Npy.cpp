//===- Npy.cpp - The header of an .npy array ------------------------------===//
//
// In: "\x93NUMPY", a version, a length and a Python dictionary literal with the keys descr,
// fortran_order and shape (documented in numpy/lib/format.py). Out: an NpyHeader. Only numpy's form
// of plain arrays is accepted; errors quote what was found. The text is not trusted: lengths and
// dimensions are bounded.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/arrays/Npy.h"
#include "tools/hlo-run/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"
#include <hlo/rt.h>

using namespace llvm;
using namespace hlo::run;

namespace {
/// numpy's own headers stay below 64 KiB; version 3 would allow 4 GiB.
constexpr uint32_t mostHeaderBytes = 1 << 16;
constexpr size_t mostDims = 64;

/// A cursor over the dictionary.
class Parser {
public:
  Parser(StringRef text) : rest(text) {}

  void skipSpace() { rest = rest.ltrim(" \t\r\n"); }
  bool accept(char c) {
    skipSpace();
    if (!rest.starts_with(StringRef(&c, 1))) {
      return false;
    }
    rest = rest.drop_front();
    return true;
  }
  bool acceptWord(StringRef word) {
    skipSpace();
    return rest.consume_front(word);
  }
  /// 'text' or "text", without escapes.
  bool string(StringRef &out) {
    skipSpace();
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"')) {
      return false;
    }
    size_t end = rest.find(rest[0], 1);
    if (end == StringRef::npos) {
      return false;
    }
    out = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
    return !out.contains('\\');
  }
  bool shape(SmallVectorImpl<int64_t> &out) {
    if (!accept('(')) {
      return false;
    }
    while (!accept(')')) {
      skipSpace();
      int64_t dim;
      if (out.size() == mostDims || rest.consumeInteger(10, dim) || dim < 0) {
        return false;
      }
      rest.consume_front("L"); // Python 2
      out.push_back(dim);
      if (!accept(',') && !(skipSpace(), rest.starts_with(")"))) {
        return false;
      }
    }
    return true;
  }
  bool atEnd() {
    skipSpace();
    return rest.empty();
  }

private:
  StringRef rest;
};

bool parseDescr(StringRef text, NpyHeader &header) {
  if (text.size() < 3 || !StringRef("<>|=").contains(text[0])) {
    return false;
  }
  header.order = text[0];
  header.kind = text[1];
  return !text.drop_front(2).getAsInteger(10, header.itemBytes) && header.itemBytes > 0 &&
         header.itemBytes <= 16;
}

/// The text for a message: printable, and not too long.
std::string quoted(StringRef text) {
  std::string out;
  raw_string_ostream os(out);
  printEscapedString(text.take_front(100), os);
  return out;
}
} // namespace

std::string NpyHeader::descr() const {
  return std::string{order, kind} + std::to_string(itemBytes);
}

std::string hlo::run::formatNpyHeader(const NpyHeader &header) {
  std::string dict = "{'descr': '" + header.descr() +
                     "', 'fortran_order': " + (header.fortran ? "True" : "False") + ", 'shape': (";
  for (int64_t dim : header.shape) {
    dict += std::to_string(dim) + (header.shape.size() == 1 ? "," : ", ");
  }
  if (header.shape.size() > 1) {
    dict.resize(dict.size() - 2);
  }
  dict += "), }";
  size_t total = (10 + dict.size() + 1 + 63) / 64 * 64;
  dict.append(total - 10 - dict.size() - 1, ' ');
  dict += '\n';
  char start[10] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, 0, 0};
  support::endian::write16le(start + 8, static_cast<uint16_t>(dict.size()));
  return std::string(start, 10) + dict;
}

Expected<NpyHeader> hlo::run::parseNpyHeader(StringRef text, StringRef where) {
  auto fail = [&](const Twine &what) {
    return makeError(ExitInput,
                     where + ": " + what + " in the array's header '" + quoted(text) + "'");
  };
  NpyHeader header;
  bool descr = false, order = false, shape = false;
  Parser p(text);
  if (!p.accept('{')) {
    return fail("no dictionary");
  }
  while (!p.accept('}')) {
    StringRef key, value;
    if (!p.string(key) || !p.accept(':')) {
      return fail("syntax error");
    }
    if (key == "descr" && !descr) {
      descr = true;
      if (!p.string(value) || !parseDescr(value, header)) {
        return fail("element type that is no plain number");
      }
    } else if (key == "fortran_order" && !order) {
      order = true;
      header.fortran = p.acceptWord("True");
      if (!header.fortran && !p.acceptWord("False")) {
        return fail("bad fortran_order");
      }
    } else if (key == "shape" && !shape) {
      shape = true;
      if (!p.shape(header.shape)) {
        return fail("bad shape");
      }
    } else {
      return fail("unexpected key '" + quoted(key) + "'");
    }
    p.accept(',');
  }
  if (!descr || !order || !shape || !p.atEnd()) {
    return fail(p.atEnd() ? "missing key" : "text behind the dictionary");
  }
  return header;
}

Expected<NpyHeader> hlo::run::readNpyHeader(ZipStream &stream, StringRef where) {
  char start[12];
  if (Error e = stream.read(MutableArrayRef(start, 10))) {
    return std::move(e);
  }
  if (StringRef(start, 6) != StringRef("\x93NUMPY", 6)) {
    return makeError(ExitInput, where + ": not an .npy array");
  }
  int version = start[6];
  if (version < 1 || version > 3) {
    return makeError(ExitInput,
                     where + ": .npy version " + Twine(version) + " is not known, only 1 to 3");
  }
  uint32_t bytes = support::endian::read16le(start + 8);
  if (version > 1) {
    if (Error e = stream.read(MutableArrayRef(start + 10, 2))) {
      return std::move(e);
    }
    bytes = support::endian::read32le(start + 8);
  }
  if (bytes > mostHeaderBytes) {
    return makeError(ExitInput, where + ": the array's header has " + Twine(bytes) +
                                    " bytes, at most " + Twine(mostHeaderBytes) + " are accepted");
  }
  std::string text(bytes, '\0');
  if (Error e = stream.read(MutableArrayRef(text.data(), text.size()))) {
    return std::move(e);
  }
  return parseNpyHeader(text, where);
}

std::pair<char, int64_t> hlo::run::npyStorage(int32_t type) {
  int64_t bytes = static_cast<int64_t>(hlo_type_bytes(type));
  switch (type) {
  case HLO_PRED: return {'b', 1};
  case HLO_S8:
  case HLO_S16:
  case HLO_S32:
  case HLO_S64: return {'i', bytes};
  case HLO_F16:
  case HLO_F32:
  case HLO_F64: return {'f', bytes};
  case HLO_C64:
  case HLO_C128: return {'c', bytes};
  default: // unsigned integers, and raw bits of what numpy lacks
    return {'u', bytes};
  }
}

bool hlo::run::npyMatches(const NpyHeader &header, int32_t type) {
  auto [kind, bytes] = npyStorage(type);
  if (header.itemBytes != bytes) {
    return false;
  }
  if (header.kind == kind || header.kind == 'V') {
    return true;
  }
  switch (type) {
  case HLO_PRED: // any byte values are allowed
    return header.kind == 'u' || header.kind == 'i';
  case HLO_S1:
  case HLO_S2:
  case HLO_S4: return header.kind == 'i';
  default: return false;
  }
}
