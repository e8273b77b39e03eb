//===- Ranks.cpp - Runs ops of integers on all partitions -----------------===//
#include "Ranks.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::spmd;

void forEachIndex(ArrayRef<int64_t> shape,
                  llvm::function_ref<void(int64_t, ArrayRef<int64_t>)> body) {
  int64_t count = 1;
  for (int64_t size : shape) {
    count *= size;
  }
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    body(i, index);
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim]) {
        break;
      }
      index[dim] = 0;
    }
  }
}

static int64_t offsetOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> index) {
  int64_t offset = 0;
  for (auto [size, i] : llvm::zip(shape, index)) {
    offset = offset * size + i;
  }
  return offset;
}

Elements elementsOfShard(ArrayRef<int64_t> shape, const Sharding &sharding, const Mesh &mesh,
                         int64_t position) {
  SmallVector<int64_t> local = shardShape(shape, sharding, mesh);
  Elements result;
  forEachIndex(local, [&](int64_t, ArrayRef<int64_t> index) {
    SmallVector<int64_t> global(index);
    bool isPadding = false;
    for (auto [dim, i] : llvm::enumerate(global)) {
      i += mesh.shardAt(position, sharding.dims[dim]) * local[dim];
      isPadding |= i >= shape[dim];
    }
    result.push_back(isPadding ? -1 : offsetOf(shape, global));
  });
  return result;
}

std::string text(ArrayRef<int64_t> shape) {
  std::string result;
  for (int64_t size : shape) {
    result += (result.empty() ? "" : ",") + std::to_string(size);
  }
  return "[" + result + "]";
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// "{{0,1},{2,3}}" as lists.
static std::vector<std::vector<int64_t>> listsOf(StringRef text) {
  std::vector<std::vector<int64_t>> lists;
  SmallVector<StringRef> parts;
  text.split(parts, '{', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    std::vector<int64_t> &list = lists.emplace_back();
    SmallVector<StringRef> numbers;
    part.take_until([](char c) { return c == '}'; }).split(numbers, ',');
    for (StringRef number : numbers) {
      int64_t value = 0;
      if (!number.trim().getAsInteger(10, value)) {
        list.push_back(value);
      }
    }
  }
  return lists;
}

bool Ranks::run(Block &block) {
  for (Operation &op : block) {
    if (!run(&op)) {
      return false;
    }
  }
  return true;
}

bool Ranks::run(Operation *op) {
  Value result = op->getResult(0);
  ArrayRef<int64_t> shape = shapeOf(result);
  std::vector<Elements> out(partitions);
  auto in = [&](int i, int64_t partition) -> Elements & {
    return values[op->getOperand(i)][partition];
  };
  // The element of operand 0 that goes to an index of the result.
  auto move = [&](auto source) {
    for (int64_t p = 0; p < partitions; ++p) {
      forEachIndex(shape, [&](int64_t, ArrayRef<int64_t> index) {
        SmallVector<int64_t> from = source(p, index);
        out[p].push_back(in(0, p)[offsetOf(shapeOf(op->getOperand(0)), from)]);
      });
    }
  };
  auto each = [&](auto compute) {
    for (int64_t p = 0; p < partitions; ++p) {
      for (size_t i = 0; i < in(0, p).size(); ++i) {
        out[p].push_back(compute(in(0, p)[i], in(1, p)[i]));
      }
    }
  };
  bool known = true;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ConstantOp constant) {
        auto dense = cast<DenseElementsAttr>(constant.getValue());
        for (Elements &elements : out) {
          for (APInt value : dense.getValues<APInt>()) {
            elements.push_back(value.getSExtValue());
          }
        }
      })
      .Case([&](PartitionIdOp) {
        for (int64_t p = 0; p < partitions; ++p) {
          out[p] = {p};
        }
      })
      .Case<ConvertOp, ReshapeOp, CopyOp>([&](auto) {
        for (int64_t p = 0; p < partitions; ++p) {
          out[p] = in(0, p);
        }
      })
      .Case([&](AddOp) { each([](int64_t a, int64_t b) { return a + b; }); })
      .Case([&](MultiplyOp) { each([](int64_t a, int64_t b) { return a * b; }); })
      .Case([&](DivideOp) { each([](int64_t a, int64_t b) { return a / b; }); })
      .Case([&](RemainderOp) { each([](int64_t a, int64_t b) { return a % b; }); })
      .Case([&](IotaOp iota) {
        for (Elements &elements : out) {
          forEachIndex(shape, [&](int64_t, ArrayRef<int64_t> index) {
            elements.push_back(index[iota.getIotaDimension()]);
          });
        }
      })
      .Case([&](TransposeOp transpose) {
        move([&](int64_t, ArrayRef<int64_t> index) {
          SmallVector<int64_t> from(index.size());
          for (auto [to, dim] : llvm::enumerate(transpose.getDimensions())) {
            from[dim] = index[to];
          }
          return from;
        });
      })
      .Case([&](BroadcastOp broadcast) {
        move([&](int64_t, ArrayRef<int64_t> index) {
          SmallVector<int64_t> from;
          for (int64_t dim : broadcast.getDimensions()) {
            from.push_back(index[dim]);
          }
          return from;
        });
      })
      .Case([&](SliceOp slice) {
        move([&](int64_t, ArrayRef<int64_t> index) {
          SmallVector<int64_t> from(index);
          for (auto [dim, i] : llvm::enumerate(from)) {
            i = slice.getStartIndices()[dim] + i * slice.getStrides()[dim];
          }
          return from;
        });
      })
      .Case([&](DynamicSliceOp slice) {
        move([&](int64_t p, ArrayRef<int64_t> index) {
          SmallVector<int64_t> from(index);
          for (auto [dim, i] : llvm::enumerate(from)) {
            int64_t most = shapeOf(slice.getOperand())[dim] - shape[dim];
            i += std::clamp<int64_t>(in(1 + dim, p)[0], 0, most);
          }
          return from;
        });
      })
      .Case([&](DynamicUpdateSliceOp update) {
        ArrayRef<int64_t> part = shapeOf(update.getUpdate());
        for (int64_t p = 0; p < partitions; ++p) {
          out[p] = in(0, p);
          forEachIndex(part, [&](int64_t i, ArrayRef<int64_t> index) {
            SmallVector<int64_t> to(index);
            for (auto [dim, each] : llvm::enumerate(to)) {
              each += std::clamp<int64_t>(in(2 + dim, p)[0], 0, shape[dim] - part[dim]);
            }
            out[p][offsetOf(shape, to)] = in(1, p)[i];
          });
        }
      })
      .Case([&](PadOp pad) {
        ArrayRef<int64_t> inner = shapeOf(pad.getOperand());
        for (int64_t p = 0; p < partitions; ++p) {
          forEachIndex(shape, [&](int64_t, ArrayRef<int64_t> index) {
            SmallVector<int64_t> from(index);
            bool isPadding = false;
            for (auto [dim, i] : llvm::enumerate(from)) {
              i -= pad.getPaddingLow()[dim];
              int64_t step = pad.getPaddingInterior()[dim] + 1;
              isPadding |= i < 0 || i % step != 0 || i / step >= inner[dim];
              i /= step;
            }
            out[p].push_back(isPadding ? in(1, p)[0] : in(0, p)[offsetOf(inner, from)]);
          });
        }
      })
      .Case([&](AllReduceOp reduce) {
        for (const std::vector<int64_t> &group : listsOf(*reduce.getReplicaGroups())) {
          Elements sum(in(0, group[0]).size(), 0);
          for (int64_t member : group) {
            for (auto [total, element] : llvm::zip(sum, in(0, member))) {
              total += element;
            }
          }
          for (int64_t member : group) {
            out[member] = sum;
          }
          int64_t members = group.size(), bytes = 4 * static_cast<int64_t>(sum.size());
          sent += 2 * (members - 1) * bytes / members * members;
        }
      })
      .Case([&](AllGatherOp gather) {
        auto dim = op->getAttrOfType<IntegerAttr>("all_gather_dimension");
        dim = dim ? dim : op->getAttrOfType<IntegerAttr>("dimension");
        int64_t d = dim.getInt();
        ArrayRef<int64_t> part = shapeOf(op->getOperand(0));
        for (const auto &group : listsOf(*gather.getReplicaGroups())) {
          sent += (group.size() - 1) * in(0, group[0]).size() * 4 * group.size();
          for (int64_t p : group) {
            forEachIndex(shape, [&](int64_t, ArrayRef<int64_t> index) {
              SmallVector<int64_t> from(index);
              from[d] %= part[d];
              out[p].push_back(in(0, group[index[d] / part[d]])[offsetOf(part, from)]);
            });
          }
        }
      })
      .Case([&](AllToAllOp exchange) {
        int64_t d = *exchange.getDimension();
        for (const auto &group : listsOf(*exchange.getReplicaGroups())) {
          int64_t part = shape[d] / group.size();
          sent += (group.size() - 1) * in(0, group[0]).size() * 4;
          for (auto [me, p] : llvm::enumerate(group)) {
            forEachIndex(shape, [&](int64_t, ArrayRef<int64_t> index) {
              SmallVector<int64_t> from(index);
              from[d] = me * part + index[d] % part;
              out[p].push_back(in(0, group[index[d] / part])[offsetOf(shape, from)]);
            });
          }
        }
      })
      .Case([&](CollectivePermuteOp permute) {
        for (Elements &elements : out) {
          elements.assign(in(0, 0).size(), 0);
        }
        std::vector<bool> isSource(partitions), isTarget(partitions);
        for (const auto &pair : listsOf(permute.getSourceTargetPairs())) {
          known &= !isSource[pair[0]] && !isTarget[pair[1]];
          isSource[pair[0]] = isTarget[pair[1]] = true;
          out[pair[1]] = in(0, pair[0]);
        }
        sent += in(0, 0).size() * 4 * partitions;
      })
      .Default([&](Operation *) { known = false; });
  values[result] = std::move(out);
  return known;
}
