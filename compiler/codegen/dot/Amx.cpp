//===- Amx.cpp - Tiles of AMX in place of a register tile -----------------===//
//
// In: rows of the lhs, contiguous along k (in memory, or a PackK buffer), a panel of the rhs
// packed as groups along k (Groups.cpp), a piece of k. Out: the sums of 32 rows x 32
// columns at most, in the result or in a buffer, by one loop over k that loads two
// tiles of each side and multiplies each with each:
//
//   tmm0..3  sums, 16 rows x 16 columns each, tmm(2i + j) for rows i and columns j
//   tmm4, 5  rows, 16 of 64 bytes along k
//   tmm6, 7  columns: 16 groups along k, of 16 columns each
//
// Tiles are named by number, so that no allocator has a say: LLVM neither spills nor
// configures them. A remainder of rows or columns uses as many whole tiles as it needs, where its
// operands and sums are in buffers that have room. Where they are not, it has tiles of its
// exact shape, which are configured around it. Along k, what is no multiple of a tile is filled up
// by zeros, on both sides: a NaN that happens to be in the buffer would otherwise meet the other
// side's zero.
//
// Multiplying bf16 takes subnormals for zeros, in the operands and in the sums.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/dot/BlockedEmitter.h"
#include "compiler/codegen/loops/Lanes.h"

using namespace mlir;

namespace hlo::codegen {

/// Rows of a tile, and 32-bit lanes of a row.
static constexpr int64_t kTile = 16;

void BlockedEmitter::callTile(StringRef name, ArrayRef<Value> arguments) {
  LLVM::CallIntrinsicOp::create(e.b, e.loc, e.b.getStringAttr("llvm.x86." + name.str()), arguments);
}

/// The number of a tile, as the intrinsics take it.
static Value tileNumber(Emission &e, int64_t number) {
  return LLVM::ConstantOp::create(e.b, e.loc, e.b.getI8Type(), e.b.getI8IntegerAttr(number));
}

int64_t BlockedEmitter::columnsOf(const Panel &panel) const {
  return panel.tail ? c.nSize() % plan.columns() : plan.columns();
}

/// What ldtilecfg reads, for sums of rows x columns.
static Value tileShapes(Emission &e, int64_t rows, int64_t columns, int64_t groups) {
  std::array<char, 64> bytes{};
  bytes[0] = 1; // the palette: eight tiles of 16 rows of 64 bytes
  auto shape = [&](int64_t tile, int64_t tileRows, int64_t lanes) {
    if (tileRows > 0 && lanes > 0) {
      bytes[16 + 2 * tile] = static_cast<char>(4 * lanes);
      bytes[48 + tile] = static_cast<char>(tileRows);
    }
  };
  for (int64_t i = 0; i < 2; ++i) {
    int64_t tileRows = std::clamp<int64_t>(rows - i * kTile, 0, kTile);
    int64_t tileColumns = std::clamp<int64_t>(columns - i * kTile, 0, kTile);
    for (int64_t j = 0; j < 2; ++j) {
      shape(2 * i + j, tileRows, std::clamp<int64_t>(columns - j * kTile, 0, kTile));
    }
    shape(4 + i, tileRows, groups);
    shape(6 + i, tileColumns == 0 ? 0 : groups, tileColumns);
  }
  auto type = VectorType::get({64}, e.b.getI8Type());
  Value vector = arith::ConstantOp::create(
      e.b, e.loc, DenseElementsAttr::getFromRawBuffer(type, ArrayRef(bytes)));
  Value buffer = stackBuffer(e, 64);
  LLVM::StoreOp::create(e.b, e.loc, vector, buffer, /*alignment=*/64);
  return buffer;
}

void BlockedEmitter::configureTiles() {
  int64_t tail = c.nSize() % plan.columns();
  SmallVector<int64_t> columns;
  if (c.nSize() >= plan.columns()) {
    columns.push_back(plan.columns());
  }
  if (tail > 0) {
    columns.push_back(tail);
  }
  for (int64_t rows : {plan.rows, plan.rowTail}) {
    for (int64_t width : columns) {
      if (rows > 0 && (amxShapes.empty() || needsAmxShape(rows, width))) {
        amxShapes.push_back({rows, width, tileShapes(e, rows, width, plan.tileGroups)});
      }
    }
  }
  callTile("ldtilecfg", {amxShapes.front().memory});
}

bool BlockedEmitter::needsAmxShape(int64_t rows, int64_t columns) const {
  bool rests = plan.sumsInResult && plan.kBlocks > 1;
  const AmxShape &usual = amxShapes.front();
  return (rows != usual.rows && rows % kTile != 0 && (rests || plan.lhs == LhsForm::Direct)) ||
         (columns != usual.columns && columns % kTile != 0 && rests);
}

void BlockedEmitter::releaseTiles() { callTile("tilerelease", {}); }

/// The instruction that multiplies a tile of the lhs and one of the rhs.
static std::string amxProduct(const Contraction &c, KGroup group) {
  if (group == KGroup::Bf16Pair) {
    return "tdpbf16ps";
  }
  auto sign = [](const ContractionSide &side) {
    return isUnsignedElement(side.narrowInteger) ? "u" : "s";
  };
  return std::string("tdpb") + sign(c.lhs) + sign(c.rhs) + "d";
}

void BlockedEmitter::emitAmxTile(const Block &block, const KBlock &k, const Panel &panel, Value m,
                                 int64_t rows) {
  int64_t columns = columnsOf(panel), down = llvm::divideCeil(rows, kTile);
  int64_t across = llvm::divideCeil(columns, kTile);
  const AmxShape &usual = amxShapes.front();
  const AmxShape *own = llvm::find_if(
      amxShapes, [&](const AmxShape &s) { return s.rows == rows && s.columns == columns; });
  bool isExact = own != amxShapes.end();
  if (isExact && own != &usual) {
    callTile("ldtilecfg", {own->memory});
  }

  Value lhs;
  int64_t lhsRow = plan.lhsRow * plan.partBytes;
  if (plan.lhs == LhsForm::Direct) {
    int64_t bytes = storageBytes(c.lhs.strided->storage());
    lhsRow = *linearStride(c.m, c.lhs.freeStrides) * bytes;
    lhs = addBytes(e, c.lhs.address(e, block.batch, {}, {}), mulI(e, m, lhsRow));
    lhs = addBytes(e, lhs, mulI(e, k.first, bytes));
  } else {
    lhs = bufferAddress(lhsBuffer, mulI(e, subI(e, m, block.packed0), plan.lhsRow));
  }
  Value rhs = bufferAddress(rhsBuffer, panelStart(block, panel));
  int64_t rhsRow = plan.columns() * plan.partBytes;
  bool isWhole = isExact || (rows % kTile == 0 && columns % kTile == 0);
  bool ends = plan.kBlocks == 1 && !(plan.sumsInResult && isWhole);
  int64_t sumRow = (ends                ? plan.columns()
                    : plan.sumsInResult ? *linearStride(c.m, c.outM)
                                        : plan.nBlock) *
                   plan.partBytes;
  Value sums = ends ? sumBuffer : sumAddress(block, m, panel.n);

  // Tile number `tile` of 16 rows i and 16 columns j of an array.
  auto move = [&](StringRef name, int64_t tile, Value base, int64_t i, int64_t j, int64_t row) {
    Value at = addBytes(e, base, constI64(e, kTile * (i * row + j * plan.partBytes)));
    callTile(name, {tileNumber(e, tile), at, constI64(e, row)});
  };
  auto forSums = [&](function_ref<void(int64_t, int64_t)> body) {
    for (int64_t i = 0; i < down; ++i) {
      for (int64_t j = 0; j < across; ++j) {
        body(i, j);
      }
    }
  };
  auto clear = [&] {
    forSums([&](int64_t i, int64_t j) { callTile("tilezero", {tileNumber(e, 2 * i + j)}); });
  };
  if (plan.kBlocks == 1) {
    clear();
  } else {
    Value isLater = compareI(e, arith::CmpIPredicate::ne, k.number, 0);
    auto branch = scf::IfOp::create(e.b, e.loc, isLater, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(branch.thenBlock());
    forSums([&](int64_t i, int64_t j) { move("tileloadd64", 2 * i + j, sums, i, j, sumRow); });
    e.b.setInsertionPointToStart(branch.elseBlock());
    clear();
  }
  std::string product = amxProduct(c, plan.group);
  Value steps = divI(e, addI(e, groupsOf(k.length), plan.tileGroups - 1), plan.tileGroups);
  emitFor(e, constI64(e, 0), steps, 1, [&](Value step) {
    Value a = addBytes(e, lhs, mulI(e, step, plan.tileGroups * plan.partBytes));
    Value b = addBytes(e, rhs, mulI(e, step, plan.tileGroups * rhsRow));
    for (int64_t i = 0; i < down; ++i) {
      move("tileloadd64", 4 + i, a, i, 0, lhsRow);
      for (int64_t j = 0; j < across; ++j) {
        if (i == 0) {
          move("tileloadd64", 6 + j, b, 0, j, rhsRow);
        }
        callTile(product, {tileNumber(e, 2 * i + j), tileNumber(e, 4 + i), tileNumber(e, 6 + j)});
      }
    }
  });
  forSums([&](int64_t i, int64_t j) { move("tilestored64", 2 * i + j, sums, i, j, sumRow); });
  if (ends) {
    finishRows(block, panel, m, constI64(e, rows), sumBuffer, plan.columns());
  }
  if (isExact && own != &usual) {
    callTile("ldtilecfg", {usual.memory});
  }
}

void BlockedEmitter::packAmxRows(const Block &block, const KBlock &k, Value from, Value to) {
  // Squares of 16 rows x 16 groups are read by lanes along the rows, and transposed.
  int64_t step = kTile * plan.kStep(), size = c.k.back();
  int64_t lastGroup = (size - 1) / plan.kStep() * plan.kStep();
  forEachK(k, step, [&](ArrayRef<Index> kIndex, Value local, Value) {
    SmallVector<Index> at(kIndex);
    Value first = at.back().base, group = divI(e, local, plan.kStep());
    emitFor(e, constI64(e, 0), subI(e, to, from), kTile, [&](Value row) {
      Index lane(addI(e, from, row), 1, kTile);
      Value mask;
      if (c.mSize() % kTile != 0) {
        mask = compareI(e, arith::CmpIPredicate::slt, laneIndices(e, lane, kTile), c.mSize());
      }
      SmallVector<Index> m = splitIndex(e, lane, c.m, kTile);
      SmallVector<Value> square;
      for (int64_t j = 0; j < kTile; ++j) {
        // What stands after the end of k is written again, or filled up.
        Value place = addI(e, first, j * plan.kStep());
        at.back() = Index(size % step == 0 ? place : minI(e, place, lastGroup));
        square.push_back(readGroup(c.lhs, block, m, at, kTile, mask, /*flip=*/false).re);
      }
      square = transposeSquare(e, square);
      Value start = addI(e, mulI(e, row, plan.lhsRow), group);
      for (int64_t i = 0; i < kTile; ++i) {
        storeBuffer(bufferAddress(lhsBuffer, start, i * plan.lhsRow), Elem(square[i]), 0);
      }
    });
  });
}

Value BlockedEmitter::readColumnGroups(const Block &block, ArrayRef<Index> column,
                                       ArrayRef<Index> k, Value mask) {
  int64_t elements = plan.lanes * plan.kStep();
  Elem value = zeroUnless(e, c.element, mask, c.rhs.read(block.batch, column, k, elements, mask));
  return vector::BitCastOp::create(e.b, e.loc, laneType(computeType(part), plan.lanes),
                                   narrowLanes(value.re));
}

void BlockedEmitter::fillRowEnds(const KBlock &k, Value rows) {
  Value end = groupsOf(k.length), zeros = zeroElem(e, c.element, kTile).re;
  emitFor(e, constI64(e, 0), rows, 1, [&](Value row) {
    Value at = addI(e, mulI(e, row, plan.lhsRow), end);
    storeBuffer(bufferAddress(lhsBuffer, at), Elem(zeros), 0);
  });
}

void BlockedEmitter::fillPanelEnds(const Block &block, const KBlock &k) {
  Value end = groupsOf(k.length), zeros = zeroElem(e, c.element, plan.lanes).re;
  Value tiles = divI(e, addI(e, end, plan.tileGroups - 1), plan.tileGroups);
  forEachPanel(block, [&](const Panel &panel) {
    emitFor(e, end, mulI(e, tiles, plan.tileGroups), 1, [&](Value group) {
      Value at = addI(e, panelStart(block, panel), mulI(e, group, plan.columns()));
      for (int64_t v = 0; v < panel.vectors; ++v) {
        storeBuffer(bufferAddress(rhsBuffer, at, v * plan.lanes), Elem(zeros), 0);
      }
    });
  });
}

} // namespace hlo::codegen
