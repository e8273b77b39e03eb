//===- Print.cpp - Arrays as text for a person ----------------------------===//
//
// In: a leaf in its own layout. Out: its logical elements, row by row. An array of up to
// `wholeElements` elements is printed in full; for a larger one, each dimension shows its first and
// last `edge` indices, and the outer dimensions of one of many dimensions their first index alone,
// so that at most `mostElements` are shown. Dimensions of size 1 beyond `mostDims` get no brackets.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/report/Print.h"
#include "tools/hlo-run/arrays/Leaf.h"
#include "tools/hlo-run/arrays/Number.h"
#include "llvm/Support/Format.h"
#include <algorithm>

using namespace llvm;
using namespace hlo::run;

namespace {
constexpr int64_t wholeElements = 64, edge = 3, mostElements = 512;
constexpr size_t mostDims = 64;
constexpr int64_t gap = -1; ///< marks omitted indices

class Printer {
public:
  Printer(raw_ostream &os, const hlo_buffer_desc &leaf, const char *buffer, unsigned indent)
      : os(os), leaf(leaf), buffer(buffer), indent(indent), whole(countOf(leaf) <= wholeElements) {
    ArrayRef<int64_t> all = dimsOf(leaf);
    SmallVector<int64_t> allStrides(all.size());
    int64_t stride = static_cast<int64_t>(hlo_type_bytes(leaf.type));
    for (int64_t d : orderOf(leaf)) {
      allStrides[d] = stride;
      stride *= all[d];
    }
    // An array with elements has at most 63 larger dimensions.
    for (auto [size, step] : zip_equal(all, allStrides)) {
      if (size != 1 || all.size() <= mostDims) {
        dims.push_back(size);
        strides.push_back(step);
      }
    }
    int64_t inner = 1;
    for (size_t dim = dims.size(); dim-- > 0;) {
      int64_t count = count_if(indices(dim), [](int64_t i) { return i != gap; });
      if (inner * count > mostElements) {
        outer = dim + 1;
        break;
      }
      inner *= count;
    }
  }

  void print() {
    if (countOf(leaf) == 0) {
      os.indent(indent) << "[]\n";
      return;
    }
    measure(0, 0);
    os.indent(indent);
    write(0, 0);
    os << "\n";
  }

private:
  /// The indices to show of a dimension.
  SmallVector<int64_t> indices(size_t dim) const {
    int64_t size = dims[dim];
    if (dim < outer && size > 1) {
      return {0, gap};
    }
    SmallVector<int64_t> indices;
    for (int64_t i = 0; i < size; ++i) {
      if (!whole && size > 2 * edge + 1 && i == edge) {
        indices.push_back(gap);
        i = size - edge;
      }
      indices.push_back(i);
    }
    return indices;
  }

  void measure(size_t dim, int64_t offset) {
    if (dim == dims.size()) {
      width = std::max(width, formatElement(leaf.type, buffer + offset).size());
      return;
    }
    for (int64_t i : indices(dim)) {
      if (i != gap) {
        measure(dim + 1, offset + i * strides[dim]);
      }
    }
  }

  void write(size_t dim, int64_t offset) {
    if (dim == dims.size()) {
      std::string text = formatElement(leaf.type, buffer + offset);
      os.indent(dims.empty() ? 0 : static_cast<unsigned>(width - text.size())) << text;
      return;
    }
    bool last = dim + 1 == dims.size();
    os << "[";
    bool first = true;
    for (int64_t i : indices(dim)) {
      if (!first && last) {
        os << " ";
      } else if (!first) {
        os << "\n";
        os.indent(indent + static_cast<unsigned>(dim) + 1);
      }
      first = false;
      if (i == gap) {
        os << "...";
      } else {
        write(dim + 1, offset + i * strides[dim]);
      }
    }
    os << "]";
  }

  raw_ostream &os;
  const hlo_buffer_desc &leaf;
  const char *buffer;
  unsigned indent;
  bool whole;
  SmallVector<int64_t> dims, strides; ///< strides in bytes
  size_t outer = 0;                   ///< dimensions that show their first index alone
  size_t width = 0;
};
} // namespace

void hlo::run::printLeaf(raw_ostream &os, const hlo_buffer_desc &leaf, const char *buffer,
                         unsigned indent) {
  Printer(os, leaf, buffer, indent).print();
}

std::string hlo::run::formatBytes(uint64_t bytes) {
  if (bytes < 1024) {
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  }
  double value = static_cast<double>(bytes);
  const char *unit = "";
  for (const char *next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (value < 1024) {
      break;
    }
    value /= 1024;
    unit = next;
  }
  std::string out;
  raw_string_ostream(out) << format("%.1f %s", value, unit);
  return out;
}
