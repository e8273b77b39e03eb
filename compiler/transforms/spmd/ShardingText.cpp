//===- ShardingText.cpp - Shardings as the text writes them ---------------===//
//
// A scanner for both forms. HLO's own attribute has been checked by the parser; Shardy's strings
// are text inside frontend attributes and come unchecked.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/spmd/ShardingText.h"
#include "dialect/hlo/TextAttrs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

namespace {

/// Reads tokens from a text; the first fault is kept.
class Scanner {
public:
  Scanner(StringRef text, std::string &why) : rest(text), why(why) {}

  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  /// A word that ends where letters, digits, `_`, `.`, `-` end.
  StringRef word() {
    rest = rest.ltrim();
    StringRef found = rest.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-'; });
    rest = rest.drop_front(found.size());
    return found;
  }
  bool at(StringRef token) {
    rest = rest.ltrim();
    return rest.starts_with(token);
  }
  bool atEnd() { return rest.trim().empty(); }
  LogicalResult expect(StringRef token) {
    return take(token) ? success() : fail("expected '" + token.str() + "'");
  }
  LogicalResult fail(const Twine &message) {
    if (why.empty()) {
      why =
          (message + (rest.empty() ? " at the end" : " before '" + rest.take_front(20).str() + "'"))
              .str();
    }
    return failure();
  }
  FailureOr<int64_t> integer() {
    rest = rest.ltrim();
    int64_t value = 0;
    if (rest.consumeInteger(10, value)) {
      return fail("expected an integer");
    }
    return value;
  }
  FailureOr<SmallVector<int64_t>> integers(StringRef open, StringRef close) {
    SmallVector<int64_t> values;
    if (failed(expect(open))) {
      return failure();
    }
    while (!take(close)) {
      if (!values.empty() && failed(expect(","))) {
        return failure();
      }
      FailureOr<int64_t> value = integer();
      if (failed(value)) {
        return failure();
      }
      values.push_back(*value);
    }
    return values;
  }
  FailureOr<std::string> quoted() {
    rest = rest.ltrim();
    size_t end = quotedEnd(rest);
    if (end == StringRef::npos) {
      return fail("expected a quoted name");
    }
    std::string name = rest.slice(1, end).str();
    rest = rest.drop_front(end + 1);
    return name;
  }
  FailureOr<AxisText> axis();
  FailureOr<std::vector<AxisText>> axes(StringRef open, StringRef close);
  LogicalResult meshAxes(MeshText &mesh);
  LogicalResult iota(SmallVector<int64_t> &sizes, SmallVector<int64_t> &devices);
  FailureOr<MeshText> mesh();
  FailureOr<AxesText> sharding();
  FailureOr<ShardingText> hloSharding();
  FailureOr<AxesText> hloMesh();
  LogicalResult devices(TilesText &tiles);

  StringRef rest;
  std::string &why;
};

std::string unescaped(StringRef text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
    }
    result += text[i];
  }
  return result;
}

} // namespace

int64_t MeshText::count() const {
  int64_t product = 1;
  for (const auto &[name, size] : axes) {
    if (size < 1 || llvm::MulOverflow(product, size, product)) {
      return 0;
    }
  }
  return product;
}

FailureOr<AxisText> Scanner::axis() {
  FailureOr<std::string> name = quoted();
  if (failed(name)) {
    return failure();
  }
  AxisText axis{*name, 1, 0};
  if (take(":")) {
    if (failed(expect("("))) {
      return failure();
    }
    FailureOr<int64_t> before = integer();
    if (failed(before) || failed(expect(")"))) {
      return failure();
    }
    FailureOr<int64_t> size = integer();
    if (failed(size)) {
      return failure();
    }
    if (*before < 1 || *size < 2) {
      return fail("a part of an axis has size " + Twine(*size) + " after " + Twine(*before));
    }
    axis.before = *before;
    axis.size = *size;
  }
  return axis;
}

FailureOr<std::vector<AxisText>> Scanner::axes(StringRef open, StringRef close) {
  std::vector<AxisText> list;
  if (failed(expect(open))) {
    return failure();
  }
  while (!take(close)) {
    if (!list.empty() && failed(expect(","))) {
      return failure();
    }
    FailureOr<AxisText> next = axis();
    if (failed(next)) {
      return failure();
    }
    list.push_back(*next);
  }
  return list;
}

/// `["x"=2, "y"=4]`.
LogicalResult Scanner::meshAxes(MeshText &mesh) {
  if (failed(expect("["))) {
    return failure();
  }
  while (!take("]")) {
    if (!mesh.axes.empty() && failed(expect(","))) {
      return failure();
    }
    FailureOr<std::string> name = quoted();
    if (failed(name) || failed(expect("="))) {
      return failure();
    }
    FailureOr<int64_t> size = integer();
    if (failed(size)) {
      return failure();
    }
    if (*size < 1) {
      return fail("axis \"" + *name + "\" has size " + Twine(*size));
    }
    if (llvm::any_of(mesh.axes, [&](const auto &each) { return each.first == *name; })) {
      return fail("the mesh has two axes \"" + *name + "\"");
    }
    mesh.axes.emplace_back(*name, *size);
  }
  return success();
}

/// `[4,2]T(1,0)`: the sizes, and the devices that they stand for.
LogicalResult Scanner::iota(SmallVector<int64_t> &sizes, SmallVector<int64_t> &devices) {
  FailureOr<SmallVector<int64_t>> dims = integers("[", "]"), permutation = SmallVector<int64_t>();
  if (failed(dims)) {
    return failure();
  }
  if (take("T")) {
    permutation = integers("(", ")");
    if (failed(permutation)) {
      return failure();
    }
  }
  FailureOr<IntegerList> ids = iotaDevices(*dims, *permutation);
  if (failed(ids)) {
    return fail("bad list of devices");
  }
  sizes = *dims;
  devices = *ids;
  return success();
}

/// `<["x"=2, "y"=4], device_ids=[1,0]>`, after `mesh`.
FailureOr<MeshText> Scanner::mesh() {
  MeshText mesh;
  if (failed(expect("<")) || failed(meshAxes(mesh))) {
    return failure();
  }
  if (take(",")) {
    if (failed(expect("device_ids")) || failed(expect("="))) {
      return failure();
    }
    FailureOr<SmallVector<int64_t>> ids = integers("[", "]");
    if (failed(ids)) {
      return failure();
    }
    mesh.devices = *ids;
  }
  if (failed(expect(">"))) {
    return failure();
  }
  return mesh;
}

/// `<@mesh, [{"x", ?}p1, {}], replicated={"y"}, unreduced={"z"}>`.
FailureOr<AxesText> Scanner::sharding() {
  AxesText sharding;
  if (failed(expect("<"))) {
    return failure();
  }
  if (take("@")) {
    sharding.mesh = at("\"") ? quoted().value_or("") : word().str();
  } else if (take("mesh")) {
    FailureOr<MeshText> inlined = mesh();
    if (failed(inlined)) {
      return failure();
    }
    sharding.inlined = *inlined;
  } else {
    return fail("expected @ and the name of a mesh");
  }
  if (failed(expect(",")) || failed(expect("["))) {
    return failure();
  }
  while (!take("]")) {
    if (!sharding.dims.empty() && failed(expect(","))) {
      return failure();
    }
    DimText dim;
    if (failed(expect("{"))) {
      return failure();
    }
    while (!take("}")) {
      if ((!dim.axes.empty() || dim.isOpen) && failed(expect(","))) {
        return failure();
      }
      if (take("?")) {
        dim.isOpen = true;
        continue;
      }
      FailureOr<AxisText> next = axis();
      if (failed(next)) {
        return failure();
      }
      dim.axes.push_back(*next);
    }
    if (take("p")) {
      FailureOr<int64_t> priority = integer();
      if (failed(priority)) {
        return failure();
      }
      dim.priority = *priority;
    }
    sharding.dims.push_back(std::move(dim));
  }
  while (take(",")) {
    StringRef kind = word();
    if (kind != "replicated" && kind != "unreduced") {
      return fail("expected replicated= or unreduced=");
    }
    if (failed(expect("="))) {
      return failure();
    }
    FailureOr<std::vector<AxisText>> list = axes("{", "}");
    if (failed(list)) {
      return failure();
    }
    sharding.isUnreduced |= kind == "unreduced" && !list->empty();
    llvm::append_range(sharding.kept, *list);
  }
  if (failed(expect(">"))) {
    return failure();
  }
  return sharding;
}

std::string hlo::spmd::frontendAttribute(StringRef attributes, StringRef key) {
  std::string pattern = (key + "=").str();
  size_t at = 0;
  for (;; ++at) {
    at = attributes.find(pattern, at);
    if (at == StringRef::npos) {
      return "";
    }
    char before = at ? attributes[at - 1] : '{';
    if (before == '{' || before == ',' || before == ' ') {
      break;
    }
  }
  StringRef value = attributes.drop_front(at + pattern.size());
  if (value.starts_with("\"")) {
    size_t end = quotedEnd(value);
    return end == StringRef::npos ? "" : unescaped(value.slice(1, end));
  }
  // A dictionary.
  size_t depth = 0, end = 0;
  for (; end < value.size(); ++end) {
    char c = value[end];
    if (c == '"') {
      size_t close = quotedEnd(value.drop_front(end));
      if (close == StringRef::npos) {
        break;
      }
      end += close;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && (depth == 0 || --depth == 0)) {
      break;
    }
  }
  return value.take_front(end + 1).str();
}

FailureOr<std::vector<MeshText>> hlo::spmd::parseMeshes(StringRef attributes, std::string &why) {
  std::vector<MeshText> meshes;
  std::string text = frontendAttribute(attributes, "xla.sdy.meshes");
  if (text.empty()) {
    return meshes;
  }
  Scanner scanner(text, why);
  if (failed(scanner.expect("{"))) {
    return failure();
  }
  while (!scanner.take("}")) {
    if (!meshes.empty() && failed(scanner.expect(","))) {
      return failure();
    }
    std::string name = scanner.at("\"") ? scanner.quoted().value_or("") : scanner.word().str();
    if (name.empty()) {
      return scanner.fail("expected the name of a mesh");
    }
    if (failed(scanner.expect("=")) || failed(scanner.expect("#sdy.mesh"))) {
      return failure();
    }
    FailureOr<MeshText> mesh = scanner.mesh();
    if (failed(mesh)) {
      return failure();
    }
    mesh->name = name;
    meshes.push_back(*mesh);
  }
  return meshes;
}

FailureOr<std::vector<AxesText>> hlo::spmd::parseAxes(StringRef text, std::string &why) {
  Scanner scanner(text, why);
  std::vector<AxesText> list;
  if (scanner.take("#sdy.sharding_per_value")) {
    if (failed(scanner.expect("<")) || failed(scanner.expect("["))) {
      return failure();
    }
    while (!scanner.take("]")) {
      if (!list.empty() && failed(scanner.expect(","))) {
        return failure();
      }
      FailureOr<AxesText> next = scanner.sharding();
      if (failed(next)) {
        return failure();
      }
      list.push_back(*next);
    }
    if (failed(scanner.expect(">"))) {
      return failure();
    }
  } else {
    if (failed(scanner.expect("#sdy.sharding"))) {
      return failure();
    }
    FailureOr<AxesText> one = scanner.sharding();
    if (failed(one)) {
      return failure();
    }
    list.push_back(*one);
  }
  if (!scanner.atEnd()) {
    return scanner.fail("unexpected text");
  }
  return list;
}

FailureOr<std::vector<AxisText>> hlo::spmd::parseManualAxes(StringRef text, std::string &why) {
  Scanner scanner(text, why);
  if (failed(scanner.expect("#sdy")) || failed(scanner.expect("<")) ||
      failed(scanner.expect("manual_axes"))) {
    return failure();
  }
  FailureOr<std::vector<AxisText>> list = scanner.axes("{", "}");
  if (failed(list) || failed(scanner.expect(">"))) {
    return failure();
  }
  return *list;
}

/// The tiles and devices after `devices=`.
LogicalResult Scanner::devices(TilesText &tiles) {
  FailureOr<SmallVector<int64_t>> sizes = integers("[", "]");
  if (failed(sizes)) {
    return failure();
  }
  tiles.tiles = *sizes;
  if (take("<=")) {
    return iota(tiles.iota, tiles.devices);
  }
  do {
    FailureOr<int64_t> device = integer();
    if (failed(device)) {
      return failure();
    }
    tiles.devices.push_back(*device);
  } while (take(","));
  return success();
}

/// `mesh['x'=2,'y'=4], [{'x'}, {'y', ?}]`, after the brace.
FailureOr<AxesText> Scanner::hloMesh() {
  AxesText sharding;
  MeshText mesh;
  if (take("maximal_mesh")) {
    rest = rest.drop_front(std::min(rest.size(), rest.find(']') + 1));
    sharding.isReplicated = true;
  } else {
    if (failed(expect("mesh")) || failed(meshAxes(mesh))) {
      return failure();
    }
  }
  while (!at("}")) {
    if (failed(expect(","))) {
      return failure();
    }
    if (take("device_ids")) {
      if (failed(expect("=")) || failed(expect("("))) {
        return failure();
      }
      if (at("[")) {
        SmallVector<int64_t> sizes;
        if (failed(iota(sizes, mesh.devices)) || failed(expect(")"))) {
          return failure();
        }
      } else {
        while (!take(")")) {
          FailureOr<int64_t> id = integer();
          if (failed(id)) {
            return failure();
          }
          mesh.devices.push_back(*id);
          take(",");
        }
      }
    } else if (take("[")) {
      while (!take("]")) {
        if (!sharding.dims.empty() && failed(expect(","))) {
          return failure();
        }
        DimText dim;
        if (failed(expect("{"))) {
          return failure();
        }
        while (!take("}")) {
          if (!dim.axes.empty() && failed(expect(","))) {
            return failure();
          }
          if (take("?")) {
            dim.isOpen = true;
            continue;
          }
          FailureOr<AxisText> next = axis();
          if (failed(next)) {
            return failure();
          }
          dim.axes.push_back(*next);
        }
        sharding.dims.push_back(std::move(dim));
      }
    } else {
      StringRef kind = word();
      if (kind == "metadata") {
        break;
      }
      bool whole = !take("=");
      sharding.isReplicated |= kind == "replicated" && whole;
      sharding.isManual |= kind == "manual";
      sharding.isUnreduced |= kind == "unreduced";
      if (!whole) {
        rest = rest.drop_until([](char c) { return c == '{'; });
        if (failed(axes("{", "}"))) {
          return failure();
        }
      }
    }
  }
  sharding.inlined = std::move(mesh);
  return sharding;
}

/// One sharding in braces.
FailureOr<ShardingText> Scanner::hloSharding() {
  ShardingText sharding;
  if (failed(expect("{"))) {
    return failure();
  }
  if (take("}")) {
    sharding.tiles = TilesText();
    return sharding;
  }
  if (at("mesh") || at("maximal_mesh")) {
    FailureOr<AxesText> mesh = hloMesh();
    if (failed(mesh)) {
      return failure();
    }
    sharding.axes = *mesh;
  } else {
    TilesText tiles;
    while (!at("}") && !at("metadata")) {
      StringRef item = word();
      if (item == "devices" && take("=")) {
        tiles.kind = TilesText::Kind::Tiled;
        if (failed(devices(tiles))) {
          return failure();
        }
      } else if (item == "device" && take("=")) {
        FailureOr<int64_t> device = integer();
        if (failed(device)) {
          return failure();
        }
        tiles.devices = {*device};
      } else if (item == "last_tile_dim_replicate") {
        tiles.subgroups.push_back(TilesText::Kind::Replicated);
      } else if (item == "last_tile_dims" && take("=")) {
        if (failed(expect("{"))) {
          return failure();
        }
        while (!take("}")) {
          take(",");
          StringRef kind = word();
          if (kind.empty()) {
            return fail("expected the kind of a subgroup");
          }
          tiles.subgroups.push_back(kind == "manual"      ? TilesText::Kind::Manual
                                    : kind == "unreduced" ? TilesText::Kind::Unreduced
                                    : kind == "maximal"   ? TilesText::Kind::Maximal
                                                          : TilesText::Kind::Replicated);
        }
      } else if (item == "shard_as" || item == "shard_like") {
        FailureOr<int64_t> group = integer();
        if (failed(group)) {
          return failure();
        }
        sharding.group = *group;
      } else if (item == "replicated") {
        tiles.kind = TilesText::Kind::Replicated;
      } else if (item == "manual") {
        tiles.kind = TilesText::Kind::Manual;
      } else if (item == "maximal") {
        tiles.kind = TilesText::Kind::Maximal;
      } else if (item == "unknown") {
        tiles.kind = TilesText::Kind::Unknown;
      } else if (item == "unreduced") {
        tiles.kind = TilesText::Kind::Unreduced;
      } else {
        return fail("unexpected '" + item + "' in a sharding");
      }
    }
    sharding.tiles = std::move(tiles);
  }
  // Metadata has braces and strings of its own.
  for (size_t depth = 1; depth > 0;) {
    if (rest.empty()) {
      return fail("expected '}'");
    }
    if (rest.front() == '"') {
      size_t end = quotedEnd(rest);
      if (end == StringRef::npos) {
        return fail("expected a quoted text");
      }
      rest = rest.drop_front(end + 1);
      continue;
    }
    depth += rest.front() == '{';
    depth -= rest.front() == '}';
    rest = rest.drop_front();
  }
  return sharding;
}

FailureOr<std::vector<ShardingText>> hlo::spmd::parseSharding(StringRef text, bool &isTuple,
                                                              std::string &why) {
  Scanner scanner(text, why);
  std::vector<ShardingText> list;
  StringRef inner = text.trim();
  isTuple = inner.consume_front("{") && inner.ltrim().starts_with("{");
  if (!isTuple) {
    FailureOr<ShardingText> one = scanner.hloSharding();
    if (failed(one)) {
      return failure();
    }
    list.push_back(*one);
    return list;
  }
  if (failed(scanner.expect("{"))) {
    return failure();
  }
  while (!scanner.take("}")) {
    if (!list.empty() && failed(scanner.expect(","))) {
      return failure();
    }
    if (scanner.take("/*")) { // `/*index=5*/`
      size_t end = scanner.rest.find("*/");
      scanner.rest =
          scanner.rest.drop_front(end == StringRef::npos ? scanner.rest.size() : end + 2);
    }
    FailureOr<ShardingText> next = scanner.hloSharding();
    if (failed(next)) {
      return failure();
    }
    list.push_back(*next);
  }
  return list;
}
