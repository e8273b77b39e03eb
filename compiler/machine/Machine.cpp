//===- Machine.cpp - What kernels may ask of a CPU ------------------------===//
//
// Questions to a Machine's tables. Nothing here knows of any one CPU.
//
//===----------------------------------------------------------------------===//
#include "compiler/machine/Machine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace hlo {

int64_t LaneFunction::registerLanes(int64_t lanes) const {
  if (lanes == 1) {
    return alone ? 8 * leastBytes / bits : 0;
  }
  int64_t bytes = std::min<int64_t>(mostBytes, lanes * bits / 8);
  int64_t result = 8 * bytes / bits;
  bool isRegister = bytes >= leastBytes && isPowerOf2_64(bytes);
  return isRegister && lanes % result == 0 ? result : 0;
}

bool Product::takes(Number number) const {
  if (!operand.isInteger() || !number.isInteger()) {
    return number == operand;
  }
  bool losesBit =
      (signs == Signs::Signed || signs == Signs::FewUnsigned) && number.kind == Number::Unsigned;
  return number.bits + losesBit <= operand.bits;
}

const Convert *Machine::convert(Number from, Number to) const {
  const Convert *found =
      find_if(conversions, [&](const Convert &c) { return c.from == from && c.to == to; });
  return found == conversions.end() ? nullptr : found;
}

const LaneFunction *Machine::function(LaneFunction::Kind kind, int bits, int64_t lanes,
                                      double mostError) const {
  const LaneFunction *best = nullptr;
  for (const LaneFunction &f : functions) {
    bool fits =
        f.kind == kind && f.bits == bits && f.error <= mostError && f.registerLanes(lanes) != 0;
    if (fits && (!best || f.error < best->error)) {
      best = &f;
    }
  }
  return best;
}

const Lookup *Machine::lookup(int bits) const {
  const Lookup *found = find_if(lookups, [&](const Lookup &l) { return l.bits == bits; });
  return found == lookups.end() ? nullptr : found;
}

static SmallVector<const Product *, 4> fastestFirst(const Machine &machine, Number lhs, Number rhs,
                                                    Number sum, bool withFewUnsigned) {
  SmallVector<const Product *, 4> result;
  auto isFaster = [](const Product *a, const Product *b) { return a->speed() > b->speed(); };
  for (const Product &p : machine.products) {
    double widened = p.operand.isInteger() ? 1 / machine.issue.integerMultiplyAdd : 1;
    bool isAsked = withFewUnsigned || p.signs != Product::Signs::FewUnsigned;
    if (isAsked && !p.tiles && p.takes(lhs) && p.takes(rhs) && p.sum == sum &&
        p.speed() > widened) {
      result.insert(llvm::upper_bound(result, &p, isFaster), &p);
    }
  }
  return result;
}

SmallVector<const Product *, 4> Machine::vectorProducts(Number lhs, Number rhs, Number sum) const {
  return fastestFirst(*this, lhs, rhs, sum, /*withFewUnsigned=*/false);
}

SmallVector<const Product *, 4> Machine::fewBitProducts(Number lhs, Number rhs, Number sum) const {
  return fastestFirst(*this, lhs, rhs, sum,
                      lhs.kind == Number::Unsigned && rhs.kind == Number::Signed &&
                          lhs.bits < rhs.bits);
}

const Product *Machine::tileProduct(Number lhs, Number rhs, Number sum) const {
  const Product *found = find_if(products, [&](const Product &p) {
    return p.tiles && p.takes(lhs) && p.takes(rhs) && p.sum == sum;
  });
  return found == products.end() ? nullptr : found;
}

} // namespace hlo
