//===- Tiles.cpp - The matrix registers of AMX ----------------------------===//
//
// Eight registers ("tiles") of 16 rows of 64 bytes. A product adds to 16 x 16 sums the products
// of 16 rows of the lhs and 16 groups along k of the rhs. Tiles are named by number, so that no
// register allocator is involved: LLVM neither spills nor configures them.
//
// A product takes 16 cycles: Sapphire Rapids does 512 multiply-adds of bf16, or 1024 of bytes,
// per cycle (Intel's announced peak of 1024 and 2048 operations), and a product is 16 x 16 x 32
// or 16 x 16 x 64 of them. startCycles is an estimate: 16 to clear a tile and 16 to store it, a
// row per cycle. callCycles is what products of 32 x 32 x 32 take beside the rest on a Sapphire
// Rapids (test/performance/NOTES.md, "Matrix registers"). LLVM 22's model has no figures for tiles.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/x86/Capabilities.h"
#include "compiler/machine/x86/Intrinsics.h"

using namespace mlir;

namespace hlo::x86 {

static constexpr double kProductCycles = 16;

/// A tile's number as an intrinsic's operand.
static Value numberOf(Emitter &e, int64_t tile) {
  return LLVM::ConstantOp::create(e.b, e.loc, e.b.getI8Type(), e.b.getI8IntegerAttr(tile));
}

static void describe(Emitter &e, ArrayRef<Tiles::Shape> shapes, Value memory) {
  std::array<char, 64> bytes{};
  bytes[0] = 1; // palette 1: eight tiles of 16 rows of 64 bytes
  for (auto [tile, shape] : llvm::enumerate(shapes)) {
    bytes[16 + 2 * tile] = static_cast<char>(shape.rowBytes);
    bytes[48 + tile] = static_cast<char>(shape.rows);
  }
  auto type = VectorType::get({64}, e.b.getI8Type());
  Value vector = arith::ConstantOp::create(
      e.b, e.loc, DenseElementsAttr::getFromRawBuffer(type, ArrayRef(bytes)));
  LLVM::StoreOp::create(e.b, e.loc, vector, memory, /*alignment=*/64);
}

static constexpr StringLiteral kConfigure = "ldtilecfg";

static void configure(Emitter &e, Value memory) { call(e, kConfigure, {memory}); }

static void release(Emitter &e) { call(e, "tilerelease", {}); }

static void zero(Emitter &e, int64_t tile) { call(e, "tilezero", {numberOf(e, tile)}); }

static void move(Emitter &e, StringRef name, int64_t tile, Value address, int64_t stride) {
  Value apart = arith::ConstantOp::create(e.b, e.loc, e.b.getI64IntegerAttr(stride));
  call(e, name, {numberOf(e, tile), address, apart});
}

static void load(Emitter &e, int64_t tile, Value address, int64_t stride) {
  move(e, "tileloadd64", tile, address, stride);
}

static void store(Emitter &e, int64_t tile, Value address, int64_t stride) {
  move(e, "tilestored64", tile, address, stride);
}

static bool areUsedBy(Operation *function) {
  return function
      ->walk([](LLVM::CallIntrinsicOp call) {
        // Every kernel that uses tiles configures them.
        return call.getIntrin() == ("llvm.x86." + kConfigure).str() ? WalkResult::interrupt()
                                                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

static constexpr Tiles kTiles{.count = 8,
                              .rows = 16,
                              .rowBytes = 64,
                              .configBytes = 64,
                              .startCycles = 32,
                              .callCycles = 500,
                              .latency = 52,
                              .describe = describe,
                              .configure = configure,
                              .release = release,
                              .zero = zero,
                              .load = load,
                              .store = store,
                              .areUsedBy = areUsedBy};

static void multiplyTiles(Emitter &e, const Product &self, std::array<int64_t, 3> tiles,
                          bool lhsUnsigned, bool rhsUnsigned) {
  std::string name = "tdpbf16ps";
  if (self.operand.isInteger()) {
    name = std::string("tdpb") + (lhsUnsigned ? "u" : "s") + (rhsUnsigned ? "u" : "s") + "d";
  }
  call(e, name, {numberOf(e, tiles[0]), numberOf(e, tiles[1]), numberOf(e, tiles[2])});
}

void addBf16Tiles(Machine &machine) {
  machine.products.push_back({.operand = kBf16,
                              .sum = kF32,
                              .group = 2,
                              .cost = kProductCycles,
                              .tiles = &kTiles,
                              .multiplyTiles = multiplyTiles});
}

void addByteTiles(Machine &machine) {
  machine.products.push_back({.operand = {Number::Signed, 8},
                              .sum = kS32,
                              .group = 4,
                              .signs = Product::Signs::Any,
                              .cost = kProductCycles,
                              .tiles = &kTiles,
                              .multiplyTiles = multiplyTiles});
}

} // namespace hlo::x86
