//===- Sharding.cpp - Shardings and meshes --------------------------------===//
//
// Both forms of a sharding: tiles over device lists, and axes of a named mesh. Checks everything
// that does not need the shape, and keeps normalized text. The items of a tiled sharding may come
// in any order and are kept in XLA's order.
//
//===----------------------------------------------------------------------===//
#include "compiler/parser/ParserImpl.h"

#include <set>

using namespace hlo;
using namespace hlo::parser;
using namespace mlir;
using llvm::StringRef;

Parser::Result Parser::parseSharding(std::string &text) {
  if (!at(Tok::LBrace)) {
    return unexpected("'{'", "at the start of a sharding");
  }
  lexer.advance();
  if (consumeIf(Tok::RBrace)) {
    text += "{}";
    return success();
  }
  if (!at(Tok::LBrace)) {
    return parseShardingBody(text);
  }
  text += "{";
  int64_t count = 0;
  do {
    if (count && count % 5 == 0) {
      text += ", /*index=" + std::to_string(count) + "*/";
    } else if (count) {
      text += ", ";
    }
    ++count;
    if (failed(expect(Tok::LBrace, "'{'", "in a tuple sharding"))) {
      return failure();
    }
    if (consumeIf(Tok::RBrace)) {
      text += "{}";
    } else if (failed(parseShardingBody(text))) {
      return failure();
    }
  } while (consumeIf(Tok::Comma));
  text += "}";
  return expect(Tok::RBrace, "',' or '}'", "in a tuple sharding");
}

/// One sharding: after its `{`, up to and including its `}`.
Parser::Result Parser::parseShardingBody(std::string &text) {
  if (atWord("mesh") || atWord("maximal_mesh")) {
    return parseMeshSharding(text);
  }
  const char *start = position();
  StringRef kind;
  std::string devices, share, metadata;
  std::optional<int64_t> maximalDevice;
  SmallVector<StringRef> subgroups;
  bool lastReplicate = false, lastDims = false;
  const char *devicesAt = nullptr;
  Lexer::State tiles = lexer.save();

  while (!at(Tok::RBrace)) {
    const char *itemAt = position();
    if (at(Tok::Keyword)) {
      StringRef word = token().text;
      if (word == "last_tile_dim_replicate") {
        lastReplicate = true;
        lexer.advance();
      } else if (word == "shard_as" || word == "shard_like") {
        if (!share.empty()) {
          return error(itemAt) << "sharding: shard_as or shard_like is given twice";
        }
        lexer.advance();
        int64_t group;
        if (failed(parseInteger(group, "in a sharding"))) {
          return failure();
        }
        share = " " + word.str() + " " + std::to_string(group);
      } else if (word == "replicated" || word == "manual" || word == "unknown" ||
                 word == "unreduced" || word == "maximal") {
        if (!kind.empty() && kind != word) {
          return error(itemAt) << "sharding is both " << kind << " and " << word;
        }
        kind = word;
        lexer.advance();
      } else {
        return unexpected("an item of a sharding");
      }
    } else if (consumeIfAttrName("device")) {
      int64_t device;
      if (maximalDevice) {
        return error(itemAt) << "sharding: device= is given twice";
      }
      if (failed(parseInteger(device, "in a sharding"))) {
        return failure();
      }
      maximalDevice = device;
    } else if (at(Tok::AttrName) && token().text == "devices") {
      if (devicesAt) {
        return error(itemAt) << "sharding: devices= is given twice";
      }
      devicesAt = itemAt;
      lexer.advance();
      tiles = lexer.save();
      // First pass to skip the tiles; the second one checks them, which needs the subgroups.
      std::string ignored;
      if (failed(parseTiles(ignored, -1))) {
        return failure();
      }
    } else if (consumeIfAttrName("last_tile_dims")) {
      if (lastDims) {
        return error(itemAt) << "sharding: last_tile_dims= is given twice";
      }
      lastDims = true;
      if (failed(expect(Tok::LBrace, "'{'", "in last_tile_dims"))) {
        return failure();
      }
      if (!at(Tok::RBrace)) {
        do {
          StringRef word = token().text;
          if (word != "manual" && word != "replicated" && word != "maximal" &&
              word != "unreduced") {
            return unexpected("manual, replicated, maximal or unreduced", "in last_tile_dims");
          }
          subgroups.push_back(word);
          lexer.advance();
        } while (consumeIf(Tok::Comma));
      }
      if (failed(expect(Tok::RBrace, "',' or '}'", "in last_tile_dims"))) {
        return failure();
      }
    } else if (consumeIfAttrName("metadata")) {
      if (!metadata.empty()) {
        return error(itemAt) << "sharding: metadata= is given twice";
      }
      if (failed(parseShardingMetadata(metadata))) {
        return failure();
      }
    } else {
      return unexpected("an item of a sharding");
    }
  }

  if (kind == "maximal") {
    if (!maximalDevice || devicesAt) {
      return error(start) << "a maximal sharding needs exactly one device";
    }
    devices = "maximal device=" + std::to_string(*maximalDevice);
  } else if (!kind.empty()) {
    if (devicesAt || maximalDevice) {
      return error(devicesAt ? devicesAt : start) << "a " << kind << " sharding has no devices";
    }
    devices = kind.str();
  } else if (devicesAt) {
    Lexer::State end = lexer.save();
    lexer.restore(tiles);
    devices = "devices=";
    if (failed(parseTiles(devices, subgroups.size() + lastReplicate))) {
      return failure();
    }
    lexer.restore(end);
  } else {
    return error(start) << "sharding needs devices= or one of replicated, manual, maximal, "
                           "unknown, unreduced";
  }
  text += "{" + devices;
  if (lastDims) {
    text += " last_tile_dims={" + llvm::join(subgroups, ", ") + "}";
  }
  if (lastReplicate) {
    text += " last_tile_dim_replicate";
  }
  text += share + (metadata.empty() ? "" : " metadata=" + metadata) + "}";
  lexer.advance();
  return success();
}

/// `[2,2]0,2,1,3` or `[2,2]<=[4]`. With `subgroups` >= 0 also checks counts.
Parser::Result Parser::parseTiles(std::string &text, int64_t subgroups) {
  const char *start = position();
  SmallVector<int64_t> tile;
  if (failed(parseIntegers(tile, Tok::LSquare, Tok::RSquare, "in devices="))) {
    return failure();
  }
  text += joinIntegers(tile, "[", "]");
  int64_t listed = 0;
  if (consumeIf(Tok::LessEqual)) {
    text += "<=";
    if (failed(parseIota(text, listed))) {
      return failure();
    }
  } else {
    do {
      int64_t device;
      if (failed(parseInteger(device, "in devices="))) {
        return failure();
      }
      text += (listed++ ? "," : "") + std::to_string(device);
    } while (consumeIf(Tok::Comma));
  }
  if (subgroups < 0) {
    return success();
  }
  int64_t tiles = 1;
  for (int64_t size : tile) {
    if (size <= 0 || llvm::MulOverflow(tiles, size, tiles)) {
      return error(start) << "sharding: bad tile dimension " << size;
    }
  }
  if (tiles != listed) {
    return error(start) << "sharding has " << tiles << " tiles and " << listed << " devices";
  }
  if (listed <= 1) {
    return error(start) << "a tiled sharding needs more than one device";
  }
  if (subgroups > int64_t(tile.size())) {
    return error(start) << "sharding has " << subgroups << " subgroups and only " << tile.size()
                        << " tile dimensions";
  }
  return success();
}

/// `{md}` or `{{md}, {md}}`
Parser::Result Parser::parseShardingMetadata(std::string &text) {
  if (!at(Tok::LBrace)) {
    return unexpected("'{'", "in the metadata of a sharding");
  }
  if (lexer.peekChar() != '{') {
    return parseMetadata(text);
  }
  lexer.advance();
  text += "{";
  bool first = true;
  do {
    text += first ? "" : ", ";
    first = false;
    if (failed(parseMetadata(text))) {
      return failure();
    }
  } while (consumeIf(Tok::Comma));
  text += "}";
  return expect(Tok::RBrace, "',' or '}'", "in the metadata of a sharding");
}

/// `mesh['x'=2,'y'=4]`, its device ids, or `maximal_mesh[device_id=0]`.
Parser::Result Parser::parseMesh(std::string &text) {
  bool maximal = atWord("maximal_mesh");
  lexer.advance();
  if (failed(expect(Tok::LSquare, "'['", "in a mesh"))) {
    return failure();
  }
  if (maximal) {
    int64_t device;
    if (!consumeIfAttrName("device_id")) {
      return unexpected("device_id=", "in a mesh");
    }
    if (failed(parseInteger(device, "in a mesh"))) {
      return failure();
    }
    text += "maximal_mesh[device_id=" + std::to_string(device) + "]";
    return expect(Tok::RSquare, "']'", "in a mesh");
  }
  text += "mesh[";
  meshAxes.clear();
  meshSizes.clear();
  usedAxes.clear();
  int64_t meshDevices = 1;
  if (!at(Tok::RSquare)) {
    do {
      std::string name;
      int64_t size;
      const char *nameAt = position();
      if (failed(parseString(name, "as the name of an axis")) ||
          failed(expect(Tok::Equal, "'='", "in a mesh"))) {
        return failure();
      }
      const char *sizeAt = position();
      if (failed(parseInteger(size, "as the size of an axis"))) {
        return failure();
      }
      if (size < 1 || llvm::MulOverflow(meshDevices, size, meshDevices)) {
        return error(sizeAt) << "mesh: bad size of an axis, " << size;
      }
      if (failed(checkDevices(sizeAt, meshDevices))) {
        return failure();
      }
      if (llvm::is_contained(meshAxes, name)) {
        return error(nameAt) << "the mesh has two axes '" << name << "'";
      }
      text += (meshAxes.empty() ? "" : ",") + quoteName(name) + "=" + std::to_string(size);
      meshAxes.push_back(std::move(name));
      meshSizes.push_back(size);
    } while (consumeIf(Tok::Comma));
  }
  text += "]";
  if (failed(expect(Tok::RSquare, "',' or ']'", "in a mesh"))) {
    return failure();
  }
  Lexer::State state = lexer.save();
  if (!consumeIf(Tok::Comma) || !consumeIfAttrName("device_ids")) {
    lexer.restore(state);
    return success();
  }
  text += ", device_ids=(";
  const char *start = position();
  if (failed(expect(Tok::LParen, "'('", "in device_ids"))) {
    return failure();
  }
  int64_t count = 0;
  if (at(Tok::LSquare)) {
    if (failed(parseIota(text, count))) {
      return failure();
    }
  } else if (!at(Tok::RParen)) {
    std::set<int64_t> seen;
    do {
      int64_t device;
      const char *deviceAt = position();
      if (failed(parseInteger(device, "in device_ids"))) {
        return failure();
      }
      if (device < 0 || !seen.insert(device).second) {
        return error(deviceAt) << "mesh: device " << device
                               << (device < 0 ? " is negative" : " is listed twice");
      }
      text += (count++ ? "," : "") + std::to_string(device);
    } while (consumeIf(Tok::Comma));
  }
  if (count != meshDevices) {
    return error(start) << "the mesh has " << meshDevices << " positions and " << count
                        << " devices";
  }
  text += ")";
  return expect(Tok::RParen, "',' or ')'", "in device_ids");
}

/// Notes that a sharding uses a part of an axis; an error if it cannot, or if it has before.
Parser::Result Parser::useAxis(const char *start, AxisPart part) {
  StringRef name = meshAxes[part.axis];
  int64_t whole = meshSizes[part.axis], end;
  if (part.before < 1 || part.size < 1 || llvm::MulOverflow(part.before, part.size, end) ||
      whole % end != 0) {
    return error(start) << "axis '" << name << "' of size " << whole << " has no part ("
                        << part.before << ")" << part.size;
  }
  for (const AxisPart &used : usedAxes) {
    if (used.axis == part.axis && used.before < end && part.before < used.before * used.size) {
      return error(start) << "axis '" << name << "' is used twice";
    }
  }
  if (part.size > 1) {
    usedAxes.push_back(part);
  }
  return success();
}

/// `'x'` or `'x':(1)2`
Parser::Result Parser::parseAxis(std::string &text) {
  const char *start = position();
  std::string name;
  if (failed(parseString(name, "as an axis"))) {
    return failure();
  }
  unsigned index = llvm::find(meshAxes, name) - meshAxes.begin();
  if (index == meshAxes.size() &&
      (StringRef(name).getAsInteger(10, index) || index >= meshAxes.size())) {
    NearestName nearest(name);
    llvm::for_each(meshAxes, [&](StringRef known) { nearest.consider(known); });
    return error(start) << "the mesh has no axis '" << name << "'" << nearest.suggestion();
  }
  text += quoteName(name);
  if (!consumeIf(Tok::Colon)) {
    return useAxis(start, {index, 1, meshSizes[index]});
  }
  int64_t before, size;
  if (failed(expect(Tok::LParen, "'('", "in a part of an axis")) ||
      failed(parseInteger(before, "in a part of an axis")) ||
      failed(expect(Tok::RParen, "')'", "in a part of an axis")) ||
      failed(parseInteger(size, "in a part of an axis"))) {
    return failure();
  }
  text += ":(" + std::to_string(before) + ")" + std::to_string(size);
  return useAxis(start, {index, before, size});
}

/// `{'x','y'}`; with `allowOpen`, `?` may come last.
Parser::Result Parser::parseAxes(std::string &text, Tok open, Tok close, bool allowOpen) {
  if (failed(expect(open, "'{'", "before axes"))) {
    return failure();
  }
  text += "{";
  if (!at(close)) {
    bool first = true;
    do {
      text += first ? "" : ", ";
      first = false;
      if (allowOpen && consumeIf(Tok::Question)) {
        text += "?";
        break;
      }
      if (failed(parseAxis(text))) {
        return failure();
      }
    } while (consumeIf(Tok::Comma));
  }
  text += "}";
  return expect(close, "',' or '}'", "after axes");
}

/// A named sharding after its `{`.
Parser::Result Parser::parseMeshSharding(std::string &text) {
  text += "{";
  if (failed(parseMesh(text))) {
    return failure();
  }
  std::string metadata;
  bool first = true;
  while (!at(Tok::RBrace)) {
    bool comma = consumeIf(Tok::Comma);
    if (!first && !comma) {
      return unexpected("',' or '}'", "in a sharding");
    }
    first = false;
    const char *itemAt = position();
    if (consumeIfAttrName("metadata")) {
      if (!metadata.empty()) {
        return error(itemAt) << "sharding: metadata= is given twice";
      }
      if (failed(parseShardingMetadata(metadata))) {
        return failure();
      }
      continue;
    }
    text += ", ";
    if (at(Tok::LSquare)) { // one list of axes per dimension
      lexer.advance();
      text += "[";
      if (!at(Tok::RSquare)) {
        bool firstDimension = true;
        do {
          text += firstDimension ? "" : ", ";
          firstDimension = false;
          if (failed(parseAxes(text, Tok::LBrace, Tok::RBrace, /*allowOpen=*/true))) {
            return failure();
          }
        } while (consumeIf(Tok::Comma));
      }
      text += "]";
      if (failed(expect(Tok::RSquare, "',' or ']'", "in a sharding"))) {
        return failure();
      }
      continue;
    }
    StringRef word = token().text;
    bool assigned = at(Tok::AttrName);
    if (word != "replicated" && word != "manual" && word != "unreduced") {
      return unexpected("dimensions, replicated, manual or unreduced", "in a sharding");
    }
    lexer.advance();
    text += word;
    if (!assigned) {
      continue;
    }
    text += "=";
    bool reduces = word == "unreduced" && (atWord("sum") || atWord("max") || atWord("min"));
    if (reduces) {
      text += token().text;
      lexer.advance();
    }
    if ((!reduces || at(Tok::LBrace)) &&
        failed(parseAxes(text, Tok::LBrace, Tok::RBrace, /*allowOpen=*/false))) {
      return failure();
    }
  }
  lexer.advance();
  text += (metadata.empty() ? "" : ", metadata=" + metadata) + "}";
  return success();
}
