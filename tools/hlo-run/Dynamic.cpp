//===- Dynamic.cpp - Arrays with bounded dimensions -----------------------===//
//
// A program's buffer has the shape of the bounds; a file has only the true elements. The
// intermediate form is a dense array of the true sizes, in the buffer's order of dimensions.
//
// Where a program has names for sizes, a size leaf is the value of a name, and the dimensions of
// each array are expressions over the names: hlo_buffer_desc.sizes.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/Dynamic.h"
#include "compiler/support/SizeExpr.h"
#include "tools/hlo-run/Error.h"
#include "tools/hlo-run/arrays/Npz.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>
#include <cstring>

using namespace llvm;
using namespace hlo::run;

namespace {
/// Calls `copy(offset in bounds, offset in dims, items)` for each run of elements that is
/// contiguous in arrays of both shapes.
void forEachRun(ArrayRef<int64_t> bounds, ArrayRef<int64_t> dims, ArrayRef<int64_t> order,
                function_ref<void(int64_t, int64_t, int64_t)> copy) {
  if (is_contained(dims, 0)) {
    return;
  }
  if (dims.empty()) {
    return copy(0, 0, 1);
  }
  int64_t run = dims[order[0]];
  SmallVector<int64_t> index(dims.size(), 0);
  int64_t inDims = 0;
  while (true) {
    int64_t inBounds = 0;
    for (int64_t d : reverse(order)) {
      inBounds = inBounds * bounds[d] + index[d];
    }
    copy(inBounds, inDims, run);
    inDims += run;
    size_t next = 1;
    while (next < order.size() && ++index[order[next]] == dims[order[next]]) {
      index[order[next++]] = 0;
    }
    if (next == order.size()) {
      return;
    }
  }
}

TrueLeaf makeTrueLeaf(const hlo_buffer_desc &leaf, ArrayRef<int64_t> dims) {
  TrueLeaf cut;
  cut.leaf = leaf;
  cut.dims.assign(dims.begin(), dims.end());
  cut.leaf.dims = cut.dims.data();
  cut.leaf.bytes = static_cast<uint64_t>(countOf(cut.leaf)) * hlo_type_bytes(leaf.type);
  return cut;
}
} // namespace

/// The expressions of a leaf's dimensions; empty if it has none.
static std::vector<hlo::SizeExpr> sizesOf(const hlo_buffer_desc &leaf) {
  std::vector<hlo::SizeExpr> all;
  StringRef text = leaf.sizes ? leaf.sizes : "";
  text.consume_front("[");
  text.consume_back("]");
  while (!text.empty()) {
    size_t end = 0;
    for (int depth = 0; end < text.size() && (depth || text[end] != ','); ++end) {
      depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    }
    std::optional<hlo::SizeExpr> size = hlo::SizeExpr::parse(text.take_front(end));
    all.push_back(size ? *size : hlo::SizeExpr::unknown());
    text = text.drop_front(std::min(end + 1, text.size()));
  }
  return all.size() == dimsOf(leaf).size() ? all : std::vector<hlo::SizeExpr>();
}

/// The values of the names, from the size leaves.
static StringMap<int64_t> symbolsOf(ArrayRef<hlo_buffer_desc> leaves,
                                    function_ref<const char *(uint32_t)> buffer) {
  StringMap<int64_t> symbols;
  for (auto [i, leaf] : enumerate(leaves)) {
    if (!isSize(leaf)) {
      continue;
    }
    std::vector<hlo::SizeExpr> sizes = sizesOf(leaves[leaf.size_of - 1]);
    std::optional<StringRef> name = sizes.empty() ? std::nullopt : sizes[leaf.size_dim].asSymbol();
    if (name) {
      std::memcpy(&symbols[*name], buffer(i), sizeof(int64_t));
    }
  }
  return symbols;
}

/// The value of a size, in the symbols.
static std::optional<int64_t> evaluate(const hlo::SizeExpr &size,
                                       const StringMap<int64_t> &symbols) {
  return size.evaluate([&](StringRef name) {
    auto found = symbols.find(name);
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  });
}

bool hlo::run::isBounded(ArrayRef<hlo_buffer_desc> leaves, uint32_t index) {
  return leaves[index].sizes || any_of(leaves, [&](const hlo_buffer_desc &leaf) {
           return leaf.size_of == static_cast<int32_t>(index) + 1;
         });
}

Expected<TrueLeaf> hlo::run::cutToSize(ArrayRef<hlo_buffer_desc> leaves, uint32_t index,
                                       function_ref<const char *(uint32_t)> buffer) {
  const hlo_buffer_desc &leaf = leaves[index];
  SmallVector<int64_t> dims(dimsOf(leaf));
  for (auto [i, other] : enumerate(leaves)) {
    if (other.size_of == static_cast<int32_t>(index) + 1) {
      std::memcpy(&dims[other.size_dim], buffer(i), sizeof(int64_t));
    }
  }
  if (std::vector<hlo::SizeExpr> sizes = sizesOf(leaf); !sizes.empty()) {
    StringMap<int64_t> symbols = symbolsOf(leaves, buffer);
    for (auto [dim, size] : enumerate(sizes)) {
      dims[dim] = std::clamp<int64_t>(evaluate(size, symbols).value_or(dims[dim]), 0, dims[dim]);
    }
  }
  TrueLeaf cut = makeTrueLeaf(leaf, dims);
  if (hlo_is_dense(&leaf) || ArrayRef<int64_t>(dims) == dimsOf(leaf)) {
    cut.data = buffer(index);
    return std::move(cut);
  }
  cut.memory = Memory(cut.leaf.bytes);
  if (!cut.memory) {
    return makeError(ExitRun, "not enough memory: " + Twine(cut.leaf.bytes) + " bytes");
  }
  size_t item = hlo_type_bytes(leaf.type);
  forEachRun(dimsOf(leaf), dims, orderOf(leaf), [&](int64_t from, int64_t to, int64_t items) {
    std::memcpy(cut.memory.data() + to * item, buffer(index) + from * item, items * item);
  });
  cut.data = cut.memory.data();
  return std::move(cut);
}

Error hlo::run::loadBounded(const ZipReader &archive, StringRef name,
                            ArrayRef<hlo_buffer_desc> leaves, uint32_t index,
                            function_ref<char *(uint32_t)> buffer) {
  const hlo_buffer_desc &leaf = leaves[index];
  Expected<SmallVector<int64_t>> shape = readShape(archive, name, leaf);
  if (!shape) {
    return shape.takeError();
  }
  SmallVector<int64_t> dims(dimsOf(leaf));
  auto tooLong = [&](int64_t dim) {
    return makeError(ExitInput, archive.getPath() + ": " + name + ": dimension " + Twine(dim) +
                                    " is " + Twine((*shape)[dim]) + ", the program's " + leaf.name +
                                    " has at most " + Twine(dimsOf(leaf)[dim]));
  };
  if (shape->size() == dims.size()) { // loadLeaf reports the error otherwise
    for (auto [i, other] : enumerate(leaves)) {
      if (other.size_of != static_cast<int32_t>(index) + 1) {
        continue;
      }
      int64_t size = (*shape)[other.size_dim];
      if (size > dims[other.size_dim]) {
        return tooLong(other.size_dim);
      }
      dims[other.size_dim] = size;
      std::memcpy(buffer(i), &size, sizeof(size));
    }
    std::vector<hlo::SizeExpr> sizes = sizesOf(leaf);
    StringMap<int64_t> symbols = sizes.empty() ? StringMap<int64_t>() : symbolsOf(leaves, buffer);
    for (auto [dim, size] : enumerate(sizes)) {
      std::optional<int64_t> expected = evaluate(size, symbols);
      if (expected && *expected != (*shape)[dim]) {
        std::string text;
        for (const std::string &symbol : size.symbols()) {
          text += (text.empty() ? ": " : ", ") + symbol + " = " +
                  std::to_string(symbols.lookup(symbol));
        }
        return makeError(ExitInput, archive.getPath() + ": " + name + ": dimension " + Twine(dim) +
                                        " is " + Twine((*shape)[dim]) + ", the program's " +
                                        leaf.name + " has " + size.text() + " = " +
                                        Twine(*expected) + text);
      }
      if ((*shape)[dim] > dims[dim]) {
        return tooLong(dim);
      }
      dims[dim] = (*shape)[dim];
    }
  }
  TrueLeaf cut = makeTrueLeaf(leaf, dims);
  cut.memory = Memory(cut.leaf.bytes);
  if (!cut.memory) {
    return makeError(ExitInput, "not enough memory: " + Twine(cut.leaf.bytes) + " bytes");
  }
  if (Error e = loadLeaf(archive, name, cut.leaf, cut.memory.data())) {
    return e;
  }
  std::memset(buffer(index), 0xff, leaf.bytes);
  size_t item = hlo_type_bytes(leaf.type);
  ArrayRef<int64_t> form = hlo_is_dense(&leaf) ? ArrayRef<int64_t>(dims) : dimsOf(leaf);
  forEachRun(form, dims, orderOf(leaf), [&](int64_t to, int64_t from, int64_t items) {
    std::memcpy(buffer(index) + to * item, cut.memory.data() + from * item, items * item);
  });
  normalize(leaf.type, MutableArrayRef(buffer(index), static_cast<size_t>(leaf.bytes)));
  return Error::success();
}

Error hlo::run::readSizes(const ZipReader &archive, ArrayRef<std::string> names,
                          ArrayRef<hlo_buffer_desc> leaves, function_ref<char *(uint32_t)> buffer) {
  for (auto [i, leaf] : enumerate(leaves)) {
    if (!isSize(leaf) || !leaves[leaf.size_of - 1].sizes) {
      continue;
    }
    const hlo_buffer_desc &array = leaves[leaf.size_of - 1];
    Expected<SmallVector<int64_t>> shape = readShape(archive, names[leaf.size_of - 1], array);
    if (!shape) {
      return shape.takeError();
    }
    if (shape->size() == dimsOf(array).size()) { // loadLeaf reports the error otherwise
      std::memcpy(buffer(i), &(*shape)[leaf.size_dim], sizeof(int64_t));
    }
  }
  return Error::success();
}

void hlo::run::setSizesToBounds(ArrayRef<hlo_buffer_desc> leaves,
                                function_ref<char *(uint32_t)> buffer) {
  for (auto [i, leaf] : enumerate(leaves)) {
    if (isSize(leaf)) {
      std::memcpy(buffer(i), &leaves[leaf.size_of - 1].dims[leaf.size_dim], sizeof(int64_t));
    }
  }
}
