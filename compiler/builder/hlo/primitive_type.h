//===- hlo/primitive_type.h - Element types --------------------*- C++ -*-===//
//
// Part of the C++ builder. Licensed under Apache-2.0 WITH LLVM-exception.
//
//===----------------------------------------------------------------------===//
#ifndef HLO_PRIMITIVE_TYPE_H
#define HLO_PRIMITIVE_TYPE_H

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include <complex>
#include <cstdint>
#include <hlo/rt.h>
#include <type_traits>

namespace hlo {

/// The type of an array's elements, or the kind of a shape that is no array. The numbers of element
/// types are those of hlo_type.
enum PrimitiveType : int {
  PRIMITIVE_TYPE_INVALID = HLO_INVALID_TYPE,
  PRED = HLO_PRED,
  S1 = HLO_S1,
  S2 = HLO_S2,
  S4 = HLO_S4,
  S8 = HLO_S8,
  S16 = HLO_S16,
  S32 = HLO_S32,
  S64 = HLO_S64,
  U1 = HLO_U1,
  U2 = HLO_U2,
  U4 = HLO_U4,
  U8 = HLO_U8,
  U16 = HLO_U16,
  U32 = HLO_U32,
  U64 = HLO_U64,
  F16 = HLO_F16,
  BF16 = HLO_BF16,
  F32 = HLO_F32,
  F64 = HLO_F64,
  C64 = HLO_C64,
  C128 = HLO_C128,
  F8E5M2 = HLO_F8E5M2,
  F8E4M3 = HLO_F8E4M3,
  F8E4M3FN = HLO_F8E4M3FN,
  F8E4M3B11FNUZ = HLO_F8E4M3B11FNUZ,
  F8E5M2FNUZ = HLO_F8E5M2FNUZ,
  F8E4M3FNUZ = HLO_F8E4M3FNUZ,
  F8E3M4 = HLO_F8E3M4,
  F8E8M0FNU = HLO_F8E8M0FNU,
  F4E2M1FN = HLO_F4E2M1FN,
  F6E2M3FN = HLO_F6E2M3FN,
  F6E3M2FN = HLO_F6E3M2FN,
  TUPLE = 1000,
  OPAQUE_TYPE,
  TOKEN
};

namespace primitive_util {

/// HLO's spelling: "f32", "pred", "tuple". "invalid" for other numbers.
absl::string_view LowercasePrimitiveTypeName(PrimitiveType type);
/// The type of this spelling, in any case; InvalidArgument if there is none.
absl::StatusOr<PrimitiveType> StringToPrimitiveType(absl::string_view name);

/// Whether arrays can have elements of this type.
bool IsArrayType(PrimitiveType type);
bool IsFloatingPointType(PrimitiveType type);
bool IsComplexType(PrimitiveType type);
bool IsSignedIntegralType(PrimitiveType type);
bool IsUnsignedIntegralType(PrimitiveType type);
/// Signed or unsigned, without PRED.
bool IsIntegralType(PrimitiveType type);

/// Bits of a value: 1 of PRED and S1, 64 of C64. 0 for types that arrays cannot have.
int BitWidth(PrimitiveType type);
/// Bytes of an element of a Literal: one for types of less than a byte. 0 for types that arrays
/// cannot have.
int ByteWidth(PrimitiveType type);
/// The type of the parts of a complex one.
PrimitiveType ComplexComponentType(PrimitiveType type);

/// The value of the lowest bits of `bits` in a floating type of at most 16 bits.
float DecodeFloat(PrimitiveType type, std::uint16_t bits);
/// `value` in a floating type of at most 16 bits, rounded to nearest, ties to even. Too large
/// values become infinity, or, where a type has none, NaN, or its largest value.
std::uint16_t EncodeFloat(PrimitiveType type, double value);

} // namespace primitive_util

/// A floating number of at most 16 bits. Computes as float, rounds when stored.
template <PrimitiveType Type> struct SmallFloat {
  using Bits = std::conditional_t<Type == F16 || Type == BF16, std::uint16_t, std::uint8_t>;

  SmallFloat() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  explicit SmallFloat(T value)
      : bits(static_cast<Bits>(primitive_util::EncodeFloat(Type, static_cast<double>(value)))) {}
  static SmallFloat FromBits(Bits bits) {
    SmallFloat number;
    number.bits = bits;
    return number;
  }
  operator float() const { return primitive_util::DecodeFloat(Type, bits); }

  Bits bits = 0;
};

/// An integer of less than a byte; only the low bits count.
template <PrimitiveType Type> struct SmallInt {
  static constexpr int width = Type == S1 || Type == U1 ? 1 : Type == S2 || Type == U2 ? 2 : 4;
  static constexpr bool isSigned = Type == S1 || Type == S2 || Type == S4;

  SmallInt() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  explicit SmallInt(T value)
      : bits(static_cast<std::uint8_t>(static_cast<int>(value) & ((1 << width) - 1))) {}
  operator int() const {
    return isSigned && (bits >> (width - 1) & 1) ? bits - (1 << width) : bits;
  }

  std::uint8_t bits = 0;
};

using half = SmallFloat<F16>;
using bfloat16 = SmallFloat<BF16>;
using float8_e5m2 = SmallFloat<F8E5M2>;
using float8_e4m3 = SmallFloat<F8E4M3>;
using float8_e4m3fn = SmallFloat<F8E4M3FN>;
using float8_e4m3b11fnuz = SmallFloat<F8E4M3B11FNUZ>;
using float8_e5m2fnuz = SmallFloat<F8E5M2FNUZ>;
using float8_e4m3fnuz = SmallFloat<F8E4M3FNUZ>;
using float8_e3m4 = SmallFloat<F8E3M4>;
using float8_e8m0fnu = SmallFloat<F8E8M0FNU>;
using float4_e2m1fn = SmallFloat<F4E2M1FN>;
using float6_e2m3fn = SmallFloat<F6E2M3FN>;
using float6_e3m2fn = SmallFloat<F6E3M2FN>;
using s1 = SmallInt<S1>;
using s2 = SmallInt<S2>;
using s4 = SmallInt<S4>;
using u1 = SmallInt<U1>;
using u2 = SmallInt<U2>;
using u4 = SmallInt<U4>;
using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

namespace primitive_util {
template <typename T> struct NativeType {
  // `long` and `long long` are two types of one size on most machines.
  static constexpr PrimitiveType value = !std::is_integral_v<T> ? PRIMITIVE_TYPE_INVALID
                                         : std::is_signed_v<T>  ? (sizeof(T) == 1   ? S8
                                                                   : sizeof(T) == 2 ? S16
                                                                   : sizeof(T) == 4 ? S32
                                                                                    : S64)
                                                                : (sizeof(T) == 1   ? U8
                                                                   : sizeof(T) == 2 ? U16
                                                                   : sizeof(T) == 4 ? U32
                                                                                    : U64);
};
template <> struct NativeType<bool> {
  static constexpr PrimitiveType value = PRED;
};
template <> struct NativeType<float> {
  static constexpr PrimitiveType value = F32;
};
template <> struct NativeType<double> {
  static constexpr PrimitiveType value = F64;
};
template <> struct NativeType<complex64> {
  static constexpr PrimitiveType value = C64;
};
template <> struct NativeType<complex128> {
  static constexpr PrimitiveType value = C128;
};
template <PrimitiveType Type> struct NativeType<SmallFloat<Type>> {
  static constexpr PrimitiveType value = Type;
};
template <PrimitiveType Type> struct NativeType<SmallInt<Type>> {
  static constexpr PrimitiveType value = Type;
};

/// The element type of a C++ type: F32 of float, PRED of bool, S64 of int64_t, BF16 of bfloat16.
template <typename T> constexpr PrimitiveType NativeToPrimitiveType() {
  static_assert(NativeType<T>::value != PRIMITIVE_TYPE_INVALID, "no HLO element type");
  return NativeType<T>::value;
}
} // namespace primitive_util

} // namespace hlo

#endif
