//===- Emulator.cpp - Tiles of AMX on machines without them ---------------===//
//
// In: SIGILL at an AMX instruction. Out: its effect on the thread's tiles, registers and memory;
// execution continues behind it. For tests only: it takes a microsecond or more per instruction.
//
// Follows Intel's "Architecture Instruction Set Extensions" and "Software Developer's Manual":
// palette 1. Instructions that raise #UD or #GP there end the program here, with a message on
// stderr. tdpbf16ps sums the first and the second products of pairs separately, by fused
// multiply-adds that round to nearest even and treat subnormals as zeros, as operands and as
// results.
//
//===----------------------------------------------------------------------===//
#include "test/amx/Emulator.h"

#include <array>
#include <atomic>
#include <cpuid.h>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <immintrin.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace {
constexpr int kTiles = 8, kRows = 16, kRowBytes = 64, kLanes = 16;

struct Tile {
  int rows, bytes; ///< as configured; 0: not
  alignas(64) uint8_t row[kRows][kRowBytes];

  void clearFrom(int first) {
    for (int r = first; r < kRows; ++r) {
      std::memset(row[r], 0, kRowBytes);
    }
  }
};

/// The memory operand of ldtilecfg.
struct Configuration {
  uint8_t palette, startRow, reserved[14];
  uint16_t rowBytes[kTiles], noRowBytes[8];
  uint8_t rows[kTiles], noRows[8];
};
static_assert(sizeof(Configuration) == 64);

struct State {
  bool configured;
  Configuration configuration;
  Tile tiles[kTiles];
};
thread_local State state;

/// An instruction with a VEX prefix of three bytes.
struct Instruction {
  int prefix;         ///< 0: none, 1: 66, 2: F3, 3: F2
  int opcode, source; ///< source: the register in the prefix
  int reg, rm;        ///< of ModRM; rm -1: memory
  int length;
  uintptr_t address; ///< of memory, without the index
  bool hasSib;
  int64_t index; ///< scaled
};

std::atomic<uint64_t> products, loads, stores;

void complain(const char *what) {
  const char head[] = "amx emulator: ";
  (void)!write(2, head, sizeof(head) - 1);
  (void)!write(2, what, std::strlen(what));
  (void)!write(2, "\n", 1);
}

constexpr int kRegisters[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15};

/// False if the bytes are not an instruction with such a prefix, map 0F38, W0 and 128 bits.
bool decode(const uint8_t *code, const greg_t *registers, Instruction &in) {
  if (code[0] != 0xc4 || (code[1] & 0x1f) != 2 || (code[2] & 0x84) != 0) {
    return false;
  }
  int extendReg = code[1] & 0x80 ? 0 : 8, extendIndex = code[1] & 0x40 ? 0 : 8;
  int extendBase = code[1] & 0x20 ? 0 : 8;
  in.prefix = code[2] & 3;
  in.source = ~(code[2] >> 3) & 15;
  in.opcode = code[3];
  int mode = code[4] >> 6, rm = code[4] & 7;
  in.reg = ((code[4] >> 3) & 7) | extendReg;
  in.hasSib = false;
  in.index = 0;
  const uint8_t *next = code + 5;
  if (mode == 3) {
    in.rm = rm | extendBase;
    in.length = 5;
    return true;
  }
  in.rm = -1;
  uint64_t address = 0;
  bool absolute = false, fromEnd = false;
  auto valueOf = [&](int number) { return static_cast<uint64_t>(registers[kRegisters[number]]); };
  if (rm == 4) {
    int sib = *next++, index = ((sib >> 3) & 7) | extendIndex, base = (sib & 7) | extendBase;
    in.hasSib = true;
    in.index = index == 4 ? 0 : static_cast<int64_t>(valueOf(index) << (sib >> 6));
    absolute = mode == 0 && (sib & 7) == 5;
    address = absolute ? 0 : valueOf(base);
  } else if (mode == 0 && rm == 5) {
    absolute = fromEnd = true;
  } else {
    address = valueOf(rm | extendBase);
  }
  if (mode == 1) {
    address += static_cast<int64_t>(static_cast<int8_t>(*next++));
  } else if (mode == 2 || absolute) {
    int32_t displacement;
    std::memcpy(&displacement, next, 4);
    next += 4;
    address += static_cast<int64_t>(displacement);
  }
  in.length = static_cast<int>(next - code);
  in.address = address + (fromEnd ? reinterpret_cast<uintptr_t>(next) : 0);
  return true;
}

void release() {
  state.configured = false;
  std::memset(&state.configuration, 0, sizeof(Configuration));
  for (Tile &tile : state.tiles) {
    tile.rows = tile.bytes = 0;
    tile.clearFrom(0);
  }
}

bool loadConfiguration(const void *from) {
  Configuration c;
  std::memcpy(&c, from, sizeof(c));
  if (c.palette == 0) {
    release();
    return true;
  }
  bool good = c.palette == 1;
  for (uint8_t byte : c.reserved) {
    good &= byte == 0;
  }
  for (int t = 0; t < kTiles; ++t) {
    good &= c.noRowBytes[t] == 0 && c.noRows[t] == 0;
    good &= c.rows[t] <= kRows && c.rowBytes[t] <= kRowBytes &&
            (c.rows[t] == 0) == (c.rowBytes[t] == 0);
  }
  if (!good) {
    complain("ldtilecfg: not a configuration of palette 1");
    return false;
  }
  release();
  state.configured = true;
  state.configuration = c;
  for (int t = 0; t < kTiles; ++t) {
    state.tiles[t].rows = c.rows[t];
    state.tiles[t].bytes = c.rowBytes[t];
  }
  return true;
}

Tile *tileNumbered(int number) {
  if (!state.configured || number >= kTiles || state.tiles[number].rows == 0) {
    complain("a tile that is not configured");
    return nullptr;
  }
  return &state.tiles[number];
}

bool moveTile(const Instruction &in, bool isStore) {
  Tile *tile = tileNumbered(in.reg);
  if (!tile || !in.hasSib) {
    complain("tileload or tilestore: no such tile, or no base and stride");
    return false;
  }
  ++(isStore ? stores : loads);
  int first = state.configuration.startRow;
  for (int r = first; r < tile->rows; ++r) {
    auto *memory = reinterpret_cast<uint8_t *>(in.address + in.index * r);
    if (isStore) {
      std::memcpy(memory, tile->row[r], tile->bytes);
    } else {
      std::memset(tile->row[r], 0, kRowBytes);
      std::memcpy(tile->row[r], memory, tile->bytes);
    }
  }
  if (!isStore) {
    tile->clearFrom(tile->rows);
  }
  state.configuration.startRow = 0;
  return true;
}

float fromBf16(const uint8_t *bytes) {
  uint16_t high;
  std::memcpy(&high, bytes, 2);
  uint32_t bits = static_cast<uint32_t>(high) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

__attribute__((target("avx2,fma"))) void multiplyBf16(Tile &c, const Tile &a, const Tile &b) {
  unsigned before = _mm_getcsr();
  _mm_setcsr(0x9fc0); // exceptions masked, to the nearest, subnormals are zeros
  int lanes = c.bytes / 4;
  float rhs[kRows][2][kLanes] = {};
  for (int k = 0; k < b.rows; ++k) {
    for (int n = 0; n < lanes; ++n) {
      rhs[k][0][n] = fromBf16(b.row[k] + 4 * n);
      rhs[k][1][n] = fromBf16(b.row[k] + 4 * n + 2);
    }
  }
  for (int m = 0; m < c.rows; ++m) {
    float sums[2][kLanes] = {};
    for (int k = 0; k < a.bytes / 4; ++k) {
      for (int j = 0; j < 2; ++j) {
        float lhs = fromBf16(a.row[m] + 4 * k + 2 * j);
        for (int n = 0; n < kLanes; ++n) {
          sums[j][n] = __builtin_fmaf(lhs, rhs[k][j][n], sums[j][n]);
        }
      }
    }
    for (int n = 0; n < lanes; ++n) {
      float sum;
      std::memcpy(&sum, c.row[m] + 4 * n, 4);
      volatile float pair = sums[0][n] + sums[1][n];
      sum += pair;
      std::memcpy(c.row[m] + 4 * n, &sum, 4);
    }
  }
  _mm_setcsr(before);
}

void multiplyBytes(Tile &c, const Tile &a, const Tile &b, bool signedA, bool signedB) {
  auto widen = [](uint8_t byte, bool isSigned) -> int32_t {
    return isSigned ? static_cast<int8_t>(byte) : byte;
  };
  for (int m = 0; m < c.rows; ++m) {
    uint32_t sums[kLanes];
    std::memcpy(sums, c.row[m], sizeof(sums));
    for (int k = 0; k < a.bytes; ++k) {
      int32_t lhs = widen(a.row[m][k], signedA);
      const uint8_t *rhs = b.row[k / 4] + k % 4;
      for (int n = 0; n < c.bytes / 4; ++n) {
        sums[n] += static_cast<uint32_t>(lhs * widen(rhs[4 * n], signedB));
      }
    }
    std::memcpy(c.row[m], sums, sizeof(sums));
  }
}

bool multiply(const Instruction &in) {
  Tile *c = tileNumbered(in.reg), *a = tileNumbered(in.rm), *b = tileNumbered(in.source);
  if (!c || !a || !b || c == a || c == b || a == b) {
    complain("a product of tiles that are not three");
    return false;
  }
  if (c->bytes % 4 != 0 || a->bytes % 4 != 0 || b->bytes % 4 != 0 || a->rows != c->rows ||
      a->bytes / 4 != b->rows || b->bytes != c->bytes) {
    complain("a product of tiles whose shapes do not fit");
    return false;
  }
  ++products;
  if (in.opcode == 0x5c) {
    multiplyBf16(*c, *a, *b);
  } else {
    // none: u u, 66: u s, F3: s u, F2: s s
    multiplyBytes(*c, *a, *b, in.prefix >= 2, (in.prefix & 1) != 0);
  }
  c->clearFrom(c->rows);
  return true;
}

/// False if the instruction is not an AMX one, or one that the CPU would refuse.
bool execute(const Instruction &in) {
  bool memory = in.rm < 0;
  if (in.opcode == 0x49 && memory && in.reg == 0 && in.prefix == 0) {
    return loadConfiguration(reinterpret_cast<const void *>(in.address + in.index));
  }
  if (in.opcode == 0x49 && memory && in.reg == 0 && in.prefix == 1) {
    std::memcpy(reinterpret_cast<void *>(in.address + in.index), &state.configuration, 64);
    return true;
  }
  if (in.opcode == 0x49 && !memory && in.prefix == 0 && in.reg == 0 && in.rm == 0) {
    release();
    return true;
  }
  if (in.opcode == 0x49 && !memory && in.prefix == 3 && in.rm == 0) {
    Tile *tile = tileNumbered(in.reg);
    if (tile) {
      tile->clearFrom(0);
    }
    return tile != nullptr;
  }
  if (in.opcode == 0x4b && memory && in.prefix != 0) {
    return moveTile(in, /*isStore=*/in.prefix == 2);
  }
  if (!memory && ((in.opcode == 0x5c && in.prefix == 2) || in.opcode == 0x5e)) {
    return multiply(in);
  }
  return false;
}

struct sigaction previous;

void onIllegalInstruction(int, siginfo_t *, void *context) {
  auto *registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  Instruction in;
  if (decode(reinterpret_cast<const uint8_t *>(registers[REG_RIP]), registers, in) && execute(in)) {
    registers[REG_RIP] += in.length;
    return;
  }
  // The instruction faults again, for the previous handler.
  sigaction(SIGILL, &previous, nullptr);
}
} // namespace

bool hlo::testing::hasNativeAmx() {
  unsigned eax, ebx, ecx, edx = 0;
  constexpr unsigned wanted = 1u << 22 | 1u << 24 | 1u << 25; // bf16, tiles, int8
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || (edx & wanted) != wanted) {
    return false;
  }
  return syscall(SYS_arch_prctl, /*ARCH_REQ_XCOMP_PERM*/ 0x1023, /*XFEATURE_XTILEDATA*/ 18) == 0;
}

void hlo::testing::enableAmx() {
  static const bool enabled = [] {
    if (!hasNativeAmx()) {
      struct sigaction action = {};
      action.sa_sigaction = onIllegalInstruction;
      action.sa_flags = SA_SIGINFO;
      sigaction(SIGILL, &action, &previous);
    }
    return true;
  }();
  (void)enabled;
}

bool hlo::testing::tilesInUse() { return state.configured; }

hlo::testing::AmxCounts hlo::testing::amxCounts() { return {products, loads, stores}; }
