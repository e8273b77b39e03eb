//===- VerifySharding.cpp - Shardings against shapes ----------------------===//
//
// A sharding is the text that the parser has checked by itself (`hlo.sharding`): {replicated},
// {devices=[2,1]<=[2]}, a list of these for a tuple, or a mesh form. Here it is compared with the
// shape: one entry per leaf, tiles of the array's rank, each device once; a mesh form has as many
// dimensions.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/Shapes.h"
#include "dialect/hlo/TextAttrs.h"
#include "dialect/hlo/verify/VerifyModule.h"

#include <set>

using namespace mlir;

namespace hlo {

/// The elements of a tuple's sharding `{{a}, {b}}`; the whole text if it is a single sharding.
static SmallVector<StringRef> splitTuple(StringRef text, bool &isTuple) {
  isTuple = text.starts_with("{{");
  if (!isTuple) {
    return {text};
  }
  SmallVector<StringRef> bodies;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (size_t end = quotedEnd(text.drop_front(i)); end != StringRef::npos) {
      i += end;
    } else if (text[i] == '{' && ++depth == 2) {
      start = i;
    } else if (text[i] == '}' && depth-- == 2) {
      bodies.push_back(text.slice(start, i + 1));
    }
  }
  return bodies;
}

/// The leaves of a shape as shardings count them: an empty tuple is one.
static void shardedLeaves(Type type, SmallVectorImpl<Type> &leaves) {
  auto tuple = dyn_cast<TupleType>(type);
  if (!tuple || tuple.size() == 0) {
    leaves.push_back(type);
    return;
  }
  for (Type element : tuple.getTypes()) {
    shardedLeaves(element, leaves);
  }
}

/// Reads `a,b,c` up to the first other character.
static IntegerList readIntegers(StringRef &text) {
  IntegerList values;
  int64_t value = 0;
  while (!text.consumeInteger(10, value)) {
    values.push_back(value);
    if (!text.consume_front(",")) {
      break;
    }
  }
  return values;
}

/// The number of trailing tile dimensions that enumerate subgroups.
static int64_t subgroupCount(StringRef body) {
  StringRef kinds = body.split("last_tile_dims={").second.split('}').first;
  if (!kinds.empty()) {
    return kinds.count(',') + 1;
  }
  return body.contains("last_tile_dim_replicate") ? 1 : 0;
}

/// Checks one tiled sharding against a leaf.
static LogicalResult verifyTiles(Location loc, StringRef body, Type leaf) {
  StringRef rest = body.split("devices=[").second;
  RankedTensorType array = asArray(leaf);
  if (rest.empty() || !array) {
    return success();
  }
  IntegerList tiles = readIntegers(rest);
  int64_t dataRank = static_cast<int64_t>(tiles.size()) - subgroupCount(body);
  if (dataRank != array.getRank()) {
    return mlir::emitError(loc) << "sharding: tiles have rank " << dataRank << ", the array is "
                                << hloText(array) << " [module_c21]";
  }
  rest.consume_front("]");
  if (rest.starts_with("<=")) {
    return success();
  }
  std::set<int64_t> seen;
  for (int64_t device : readIntegers(rest)) {
    if (device < 0 || !seen.insert(device).second) {
      return mlir::emitError(loc) << "sharding: device " << device
                                  << (device < 0 ? " is negative" : " is listed twice")
                                  << " [module_c22]";
    }
  }
  return success();
}

/// Checks one sharding over a mesh, `{mesh['x'=2], [{'x'}, {}]}`, against a leaf.
static LogicalResult verifyMesh(Location loc, StringRef body, Type leaf) {
  RankedTensorType array = asArray(leaf);
  StringRef rest = body.split("mesh[").second.split(']').second;
  rest.consume_front(",");
  rest = rest.ltrim();
  if (!array || !rest.consume_front("[")) {
    return success();
  }
  int64_t dimensions = static_cast<int64_t>(rest.split(']').first.count('{'));
  if (dimensions == array.getRank()) {
    return success();
  }
  return mlir::emitError(loc) << "sharding: names " << dimensions << " dimensions, the array is "
                              << hloText(array) << " [module_c21]";
}

static LogicalResult verifyLeaf(Location loc, StringRef text, Type leaf) {
  std::string body = withoutStrings(text);
  return StringRef(body).contains("mesh[") ? verifyMesh(loc, body, leaf)
                                           : verifyTiles(loc, body, leaf);
}

static LogicalResult verifySharding(Location loc, StringRef text, Type type) {
  bool isTuple = false;
  SmallVector<StringRef> bodies = splitTuple(text, isTuple);
  SmallVector<Type> leaves;
  shardedLeaves(type, leaves);
  if (!isTuple) {
    return isa<TupleType>(type) ? success() : verifyLeaf(loc, text, type);
  }
  if (bodies.size() != leaves.size()) {
    return mlir::emitError(loc) << "sharding: has " << bodies.size() << " entries, the shape "
                                << hloText(type) << " has " << leaves.size()
                                << " leaves [module_c23]";
  }
  bool good = true;
  for (auto [body, leaf] : llvm::zip(bodies, leaves)) {
    good &= succeeded(verifyLeaf(loc, body, leaf));
  }
  return success(good);
}

LogicalResult verifyShardings(ModuleOp module) {
  bool good = true;
  module->walk([&](Operation *op) {
    auto text = op->getAttrOfType<StringAttr>("hlo.sharding");
    if (text && op->getNumResults() == 1) {
      good &= succeeded(verifySharding(op->getLoc(), text.getValue(), op->getResult(0).getType()));
    }
  });
  for (auto computation : module.getOps<ComputationOp>()) {
    for (BlockArgument argument : computation.getBody().getArguments()) {
      auto text = computation.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "hlo.sharding");
      if (text) {
        good &= succeeded(verifySharding(argument.getLoc(), text.getValue(), argument.getType()));
      }
    }
  }
  return success(good);
}

} // namespace hlo
