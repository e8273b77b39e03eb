//===- TextAttrs.cpp - Attributes that are kept as text -------------------===//
//
// One cursor over the text and one function per construct. Errors are not reported here, and
// nothing outside the given text is read.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/TextAttrs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace hlo {

size_t quotedEnd(StringRef text) {
  if (text.empty() || (text[0] != '\'' && text[0] != '"')) {
    return StringRef::npos;
  }
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[0]) {
      return i;
    }
  }
  return StringRef::npos;
}

std::string withoutStrings(StringRef text) {
  std::string plain;
  while (!text.empty()) {
    size_t end = quotedEnd(text);
    plain += text.front();
    if (end != StringRef::npos) {
      plain += text[end];
    }
    text = text.drop_front(end == StringRef::npos ? 1 : end + 1);
  }
  return plain;
}

namespace {
class Cursor {
public:
  explicit Cursor(StringRef text) : rest(text) { skipSpace(); }

  bool consume(StringRef token) {
    if (!rest.consume_front(token)) {
      return false;
    }
    skipSpace();
    return true;
  }
  bool peek(StringRef token) const { return rest.starts_with(token); }
  bool atEnd() const { return rest.empty(); }

  bool integer(int64_t &value) {
    if (rest.consumeInteger(10, value)) {
      return false;
    }
    skipSpace();
    return true;
  }

  /// `open int,* close`.
  bool integers(StringRef open, StringRef close, IntegerList &values) {
    if (!consume(open)) {
      return false;
    }
    if (consume(close)) {
      return true;
    }
    do {
      int64_t value = 0;
      if (!integer(value)) {
        return false;
      }
      values.push_back(value);
    } while (consume(","));
    return consume(close);
  }

  /// `'x'` or `"x"`; the value is the text between the quotes, with its escapes.
  bool quoted(StringRef &value) {
    size_t end = quotedEnd(rest);
    if (end == StringRef::npos) {
      return false;
    }
    value = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
    skipSpace();
    return true;
  }

private:
  void skipSpace() { rest = rest.ltrim(" \t\r\n"); }
  StringRef rest;
};
} // namespace

/// The most devices that a compact form may represent.
static constexpr int64_t maxDevices = int64_t{1} << 24;

static bool parseLists(Cursor &cursor, IntegerLists &lists) {
  if (!cursor.consume("{")) {
    return false;
  }
  if (cursor.consume("}")) {
    return true;
  }
  do {
    if (!cursor.integers("{", "}", lists.emplace_back())) {
      return false;
    }
  } while (cursor.consume(","));
  return cursor.consume("}");
}

FailureOr<IntegerLists> parseIntegerLists(StringRef text) {
  Cursor cursor(text);
  IntegerLists lists;
  if (!parseLists(cursor, lists) || !cursor.atEnd()) {
    return failure();
  }
  return lists;
}

FailureOr<IntegerList> iotaDevices(ArrayRef<int64_t> dims, ArrayRef<int64_t> perm) {
  int64_t total = 1;
  for (int64_t dim : dims) {
    if (dim < 1 || llvm::MulOverflow(total, dim, total) || total > maxDevices) {
      return failure();
    }
  }
  size_t rank = dims.size();
  IntegerList order(perm);
  if (order.empty()) {
    order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  }
  IntegerList sorted(order);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, rank))) {
    return failure();
  }
  IntegerList strides(rank, 1);
  for (size_t dim = rank; dim-- > 1;) {
    strides[dim - 1] = strides[dim] * dims[dim];
  }
  IntegerList devices, counter(rank, 0);
  for (int64_t i = 0; i < total; ++i) {
    int64_t device = 0;
    for (size_t k = 0; k < rank; ++k) {
      device += counter[k] * strides[order[k]];
    }
    devices.push_back(device);
    for (size_t k = rank; k-- > 0;) {
      if (++counter[k] < dims[order[k]]) {
        break;
      }
      counter[k] = 0;
    }
  }
  return devices;
}

/// Cuts a device list into groups of equal size.
static IntegerLists cut(ArrayRef<int64_t> devices, int64_t size) {
  IntegerLists groups;
  for (size_t start = 0; start < devices.size(); start += size) {
    groups.push_back(IntegerList(devices.slice(start, size)));
  }
  return groups;
}

static FailureOr<IntegerLists> parseIotaGroups(Cursor &cursor) {
  IntegerList shape, dims, perm;
  if (!cursor.integers("[", "]", shape) || shape.size() != 2 || !cursor.consume("<=") ||
      !cursor.integers("[", "]", dims) ||
      (cursor.consume("T") && !cursor.integers("(", ")", perm)) || !cursor.atEnd()) {
    return failure();
  }
  FailureOr<IntegerList> devices = iotaDevices(dims, perm);
  int64_t count = 0;
  if (failed(devices) || shape[0] < 1 || shape[1] < 1 ||
      llvm::MulOverflow(shape[0], shape[1], count) ||
      count != static_cast<int64_t>(devices->size())) {
    return failure();
  }
  return cut(*devices, shape[1]);
}

/// `mesh['x'=2,'y'=2], device_ids=([4]T(..) | list)? {'y'}`: devices that differ only along the
/// listed axes form a group.
static FailureOr<IntegerLists> parseMeshGroups(Cursor &cursor) {
  SmallVector<StringRef> names;
  IntegerList sizes;
  if (!cursor.consume("[")) {
    return failure();
  }
  if (!cursor.consume("]")) {
    do {
      if (!cursor.quoted(names.emplace_back()) || !cursor.consume("=") ||
          !cursor.integer(sizes.emplace_back())) {
        return failure();
      }
    } while (cursor.consume(","));
    if (!cursor.consume("]")) {
      return failure();
    }
  }
  IntegerList ids;
  if (cursor.consume(",") || cursor.peek("device_ids")) {
    IntegerList dims, perm;
    if (!cursor.consume("device_ids") || !cursor.consume("=")) {
      return failure();
    }
    if (!cursor.peek("([")) {
      if (!cursor.integers("(", ")", ids)) {
        return failure();
      }
    } else if (!cursor.consume("(") || !cursor.integers("[", "]", dims) ||
               (cursor.consume("T") && !cursor.integers("(", ")", perm)) || !cursor.consume(")")) {
      return failure();
    } else if (auto devices = iotaDevices(dims, perm); succeeded(devices)) {
      ids = *devices;
    } else {
      return failure();
    }
  }
  IntegerList inner, order;
  int64_t groupSize = 1;
  if (!cursor.consume("{")) {
    return failure();
  }
  if (!cursor.consume("}")) {
    do {
      StringRef axis;
      if (!cursor.quoted(axis)) {
        return failure();
      }
      auto found = llvm::find(names, axis);
      if (found == names.end() || llvm::is_contained(inner, found - names.begin())) {
        return failure();
      }
      inner.push_back(found - names.begin());
    } while (cursor.consume(","));
    if (!cursor.consume("}")) {
      return failure();
    }
  }
  for (int64_t axis = 0; axis < static_cast<int64_t>(sizes.size()); ++axis) {
    if (!llvm::is_contained(inner, axis)) {
      order.push_back(axis);
    }
  }
  llvm::append_range(order, inner);
  FailureOr<IntegerList> positions = iotaDevices(sizes, order);
  if (failed(positions) || !cursor.atEnd() || (!ids.empty() && ids.size() != positions->size())) {
    return failure();
  }
  for (int64_t axis : inner) {
    groupSize *= sizes[axis];
  }
  IntegerList devices;
  for (int64_t position : *positions) {
    devices.push_back(ids.empty() ? position : ids[position]);
  }
  return cut(devices, groupSize);
}

FailureOr<IntegerLists> parseReplicaGroups(StringRef text) {
  Cursor cursor(text);
  if (cursor.consume("mesh")) {
    return parseMeshGroups(cursor);
  }
  if (cursor.peek("[")) {
    return parseIotaGroups(cursor);
  }
  return parseIntegerLists(text);
}

/// `(P, {index}, kind?)`.
static bool parseTarget(Cursor &cursor, Alias &alias) {
  if (!cursor.consume("(") || !cursor.integer(alias.parameter)) {
    return false;
  }
  if (cursor.consume(",") && !cursor.integers("{", "}", alias.parameterIndex)) {
    return false;
  }
  if (cursor.consume(",")) {
    alias.mustAlias = cursor.consume("must-alias");
    if (!alias.mustAlias && !cursor.consume("may-alias")) {
      return false;
    }
  }
  return cursor.consume(")");
}

static FailureOr<SmallVector<Alias>> parseEntries(StringRef text, bool hasOutput) {
  Cursor cursor(text);
  SmallVector<Alias> aliases;
  if (!cursor.consume("{")) {
    return failure();
  }
  if (!cursor.consume("}")) {
    do {
      Alias &alias = aliases.emplace_back();
      if (hasOutput && (!cursor.integers("{", "}", alias.output) || !cursor.consume(":"))) {
        return failure();
      }
      if (!parseTarget(cursor, alias)) {
        return failure();
      }
    } while (cursor.consume(","));
    if (!cursor.consume("}")) {
      return failure();
    }
  }
  if (!cursor.atEnd()) {
    return failure();
  }
  return aliases;
}

FailureOr<SmallVector<Alias>> parseAliases(StringRef text) { return parseEntries(text, true); }

FailureOr<SmallVector<Alias>> parseDonors(StringRef text) { return parseEntries(text, false); }

} // namespace hlo
