//===- TransposedReads.cpp - Operands read along another dimension --------===//
//
// In: the region of a loop kernel. Out: the operands, or slices of operands, whose minor dimension
// is not read along the results' minor dimension, and the dimension along which it is read. A value
// that is read in several ways (x and its transpose) is duplicated first, one copy per way: values
// that are only moved cost nothing twice.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/loops/Regions.h"
#include <numeric>

using namespace mlir;

namespace hlo::codegen {

/// Most copies of values made for one region. A chain of values that are each read in two ways
/// doubles its copies at every link, so without a limit code would grow exponentially; 64 are six
/// such links.
static constexpr int kMaxCopies = 64;

/// Maps dims through a reshape that only adds or drops dimensions of size 1.
static RootDims throughReshape(const RootDims &dims, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  RootDims source(from.size(), kNoRootDim);
  size_t j = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 1) {
      continue;
    }
    while (j < to.size() && to[j] == 1) {
      ++j;
    }
    if (j == to.size() || to[j] != from[i]) {
      return RootDims(from.size(), kNoRootDim);
    }
    source[i] = dims[j++];
  }
  return source;
}

/// The dims of operand `number` of an op whose result has `dims`.
static RootDims dimsOfOperand(Operation *op, unsigned number, const RootDims &dims) {
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(number));
  RootDims source(shape.size(), kNoRootDim);
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    for (auto [i, d] : llvm::enumerate(broadcast.getDimensions())) {
      source[i] = dims[d];
    }
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [i, d] : llvm::enumerate(transpose.getDimensions())) {
      source[d] = dims[i];
    }
  } else if (isa<ReshapeOp, BitcastOp>(op)) {
    source = throughReshape(dims, shape, shapeOf(op->getResult(0)));
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    size_t kept = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (!llvm::is_contained(reduce.getDimensions(), static_cast<int64_t>(d))) {
        source[d] = dims[kept++];
      }
    }
  } else if ((isElementwise(op) || isa<CopyOp>(op)) && shape.size() == dims.size()) {
    source = dims;
  }
  return source;
}

DenseMap<Value, RootDims> separateReads(KernelBuilder &kernel) {
  Block &body = kernel.body();
  DenseMap<Value, RootDims> dims;
  int copies = 0;
  auto dimsOfUse = [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<ReturnOp>(user)) {
      RootDims identity(shapeOf(use.get()).size());
      std::iota(identity.begin(), identity.end(), 0);
      return identity;
    }
    return dimsOfOperand(user, use.getOperandNumber(), dims.lookup(user->getResult(0)));
  };
  // Groups the uses of each value by how they read it; `copy` makes a copy for each way after the
  // first.
  auto separate = [&](Value v, function_ref<Value()> copy) {
    SmallVector<std::pair<RootDims, SmallVector<OpOperand *>>> ways;
    for (OpOperand &use : v.getUses()) {
      RootDims read = dimsOfUse(use);
      auto way = llvm::find_if(ways, [&](auto &known) { return known.first == read; });
      if (way == ways.end()) {
        ways.push_back({read, {&use}});
      } else {
        way->second.push_back(&use);
      }
    }
    if (ways.empty()) {
      return;
    }
    if (copies + static_cast<int>(ways.size()) > kMaxCopies) {
      dims[v] = ways.size() == 1 ? ways[0].first : RootDims(shapeOf(v).size(), kNoRootDim);
      return;
    }
    dims[v] = ways[0].first;
    for (auto &way : llvm::drop_begin(ways)) {
      Value again = copy();
      ++copies;
      dims[again] = way.first;
      for (OpOperand *use : way.second) {
        use->set(again);
      }
    }
  };
  for (Operation *op = &body.back(); op; op = op->getPrevNode()) {
    if (isa<ReturnOp, ConstantOp>(op)) {
      continue;
    }
    if (op->getNumResults() != 1) {
      for (Value v : op->getResults()) {
        dims[v] = RootDims(shapeOf(v).size(), kNoRootDim);
      }
      continue;
    }
    // A copy is inserted before its original, where this walk reaches it next, with the dims of its
    // uses known.
    separate(op->getResult(0), [&] {
      OpBuilder builder(op);
      return builder.clone(*op)->getResult(0);
    });
  }
  for (unsigned n = 0, count = body.getNumArguments(); n < count; ++n) {
    separate(body.getArgument(n), [&] {
      Value original = body.getArgument(n);
      kernel.operandPtrs.insert(kernel.operandPtrs.end(), Value(kernel.operandPtrs[n]));
      return Value(body.addArgument(original.getType(), original.getLoc()));
    });
  }
  return dims;
}

/// How the value, an argument or a slice of one, is read; nothing if not transposed, or not by
/// single dimensions of the results.
static std::optional<std::pair<int64_t, TransposedRead>>
transposedRead(Value value, const RootDims &dims, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> own = shapeOf(value);
  auto slice = value.getDefiningOp<SliceOp>();
  auto argument = dyn_cast<BlockArgument>(slice ? slice.getOperand() : value);
  if (!argument) {
    return std::nullopt;
  }
  SmallVector<int64_t> strides = rowMajorStrides(shapeOf(argument));
  int64_t offset = 0;
  for (size_t d = 0; slice && d < own.size(); ++d) {
    offset += slice.getStartIndices()[d] * strides[d];
    strides[d] *= slice.getStrides()[d];
  }
  TransposedRead read{value, argument, offset, 0, SmallVector<int64_t>(shape.size(), 0)};
  int64_t minor = static_cast<int64_t>(shape.size()) - 1, row = kNoRootDim;
  for (size_t d = 0; d < own.size(); ++d) {
    if (own[d] == 1) {
      continue;
    }
    if (dims[d] == kNoRootDim || read.rootStride[dims[d]] != 0) {
      return std::nullopt;
    }
    read.rootStride[dims[d]] = strides[d];
    if (strides[d] == 1) {
      row = dims[d];
      read.tileRow = d;
    } else if (dims[d] == minor) {
      read.minorStride = strides[d];
      read.tileMinor = d;
    }
  }
  if (row == kNoRootDim || row == minor || read.minorStride == 0) {
    return std::nullopt;
  }
  return std::pair(row, read);
}

std::optional<TilePlan> planTiles(KernelBuilder &kernel, ArrayRef<int64_t> shape) {
  if (shape.size() < 2 || !llvm::any_of(kernel.body(), llvm::IsaPred<TransposeOp>)) {
    return std::nullopt;
  }
  for (Value root : kernel.body().getTerminator()->getOperands()) {
    if (shapeOf(root) != shape) {
      return std::nullopt;
    }
  }
  DenseMap<Value, RootDims> dims = separateReads(kernel);
  SmallVector<std::pair<int64_t, TransposedRead>> reads;
  SmallVector<Value> values(kernel.body().getArguments());
  for (SliceOp slice : kernel.body().getOps<SliceOp>()) {
    values.push_back(slice);
  }
  for (Value value : values) {
    if (value.use_empty() || !dims.contains(value)) {
      continue;
    }
    if (auto read = transposedRead(value, dims[value], shape)) {
      reads.push_back(*read);
    }
  }
  if (reads.empty()) {
    return std::nullopt;
  }
  auto largest = llvm::max_element(reads, [](auto &a, auto &b) {
    return arrayType(a.second.value).getNumElements() < arrayType(b.second.value).getNumElements();
  });
  TilePlan plan{largest->first, {}};
  for (auto &[row, read] : reads) {
    if (row == plan.row) {
      plan.reads.push_back(read);
    }
  }
  return plan;
}

} // namespace hlo::codegen
