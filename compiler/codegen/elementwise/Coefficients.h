//===- Coefficients.h - Polynomials of the elementary functions -----------===//
//
// Written by coefficients.py; do not edit. Lowest power first. The error is relative
// to the function that the polynomial is part of.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_COEFFICIENTS_H
#define COMPILER_CODEGEN_ELEMENTWISE_COEFFICIENTS_H

// clang-format off
namespace hlo::codegen::coefficients {

/// (exp(r) - 1 - r) / r^2 on |r| <= ln(2)/2. Error 2^-26.1.
inline constexpr double exp32[] = {
    0x1.0000000000000p-1,
    0x1.5554ac0000000p-3,
    0x1.5554f00000000p-5,
    0x1.122a660000000p-7,
    0x1.6d43c60000000p-10,
};
/// The same. Error 2^-61.7.
inline constexpr double exp64[] = {
    0x1.0000000000000p-1,
    0x1.5555555555559p-3,
    0x1.5555555555557p-5,
    0x1.111111110f627p-7,
    0x1.6c16c16c15761p-10,
    0x1.a01a01b0226ffp-13,
    0x1.a01a01ab2599ep-16,
    0x1.71ddf7a854c96p-19,
    0x1.27e4d10b579c8p-22,
    0x1.af60045ea779fp-26,
    0x1.1f8455015c488p-29,
};
/// 2^f on |f| <= 1/2, in f64 for results in f32. Error 2^-29.0.
inline constexpr double exp2m32[] = {
    0x1.ffffffffa70bbp-1,
    0x1.62e430d045900p-1,
    0x1.ebfbe0aa0c6b7p-3,
    0x1.c6aecc557b143p-5,
    0x1.3b29d8b558b88p-7,
    0x1.5f48c72938f34p-10,
    0x1.446c7dbc66a44p-13,
};
/// (log(1 + f) - f + f^2/2) / f^3 on [sqrt(1/2) - 1, sqrt(2) - 1]. Error 2^-27.2.
inline constexpr double log32[] = {
    0x1.5555520000000p-2,
    -0x1.0002360000000p-2,
    0x1.99a12e0000000p-3,
    -0x1.546fa80000000p-3,
    0x1.22c32c0000000p-3,
    -0x1.0d859a0000000p-3,
    0x1.05e90e0000000p-3,
    -0x1.3a060a0000000p-4,
};
/// With s = f / (2 + f), z = s^2: (log(1 + f) - 2s) / (s z). Error 2^-58.5.
inline constexpr double log64[] = {
    0x1.5555555555594p-1,
    0x1.999999997f6afp-2,
    0x1.24924942480fdp-2,
    0x1.c71c51c8bc57fp-3,
    0x1.74664b664ee85p-3,
    0x1.39a0851f12e68p-3,
    0x1.2f11403af66d5p-3,
};
/// With s = (m - 1) / (m + 1), z = s^2: log2(m) / s; for f32 powers. Error 2^-36.2.
inline constexpr double log2in64[] = {
    0x1.71547652bee2bp+1,
    0x1.ec709d127a868p-1,
    0x1.27778031728e3p-1,
    0x1.a58d62ccfde8fp-2,
    0x1.5ceb50aeb57e9p-2,
};
/// With s = f / (2 + f), z = s^2: (log(1 + f) - 2s - 2s^3/3) / (s z^2), for double-double logs. Error 2^-72.2.
inline constexpr double logTail64[] = {
    0x1.9999999999995p-2,
    0x1.2492492493153p-2,
    0x1.c71c71c563af0p-3,
    0x1.745d183e47dbap-3,
    0x1.3b135fe34dfd7p-3,
    0x1.11211756f1c14p-3,
    0x1.de2554caec662p-4,
    0x1.eb7d2c5b3eec2p-4,
};
/// (sin(r) - r) / r^3 in r^2 on |r| <= pi/4. Error 2^-32.3.
inline constexpr double sin32[] = {
    -0x1.5555560000000p-3,
    0x1.1111660000000p-7,
    -0x1.a04a700000000p-13,
    0x1.78620c0000000p-19,
};
/// (cos(r) - 1 + r^2/2) / r^4 in r^2. Error 2^-33.0.
inline constexpr double cos32[] = {
    0x1.55554a0000000p-5,
    -0x1.6c0c2c0000000p-10,
    0x1.99e9c80000000p-16,
};
/// The same. Error 2^-62.9.
inline constexpr double sin64[] = {
    -0x1.5555555555555p-3,
    0x1.111111111108ap-7,
    -0x1.a01a01a0069bep-13,
    0x1.71de3a3fc52f5p-19,
    -0x1.ae643cd6d86ffp-26,
    0x1.611463394bcdfp-33,
    -0x1.a53d7ca5a176bp-41,
};
/// The same. Error 2^-64.0.
inline constexpr double cos64[] = {
    0x1.555555555554bp-5,
    -0x1.6c16c16c15038p-10,
    0x1.a01a019c943f8p-16,
    -0x1.27e4f7f5d133fp-22,
    0x1.1ee9ded481b46p-29,
    -0x1.8fa8131cd1000p-37,
};
/// (tan(r) - r) / r^3 in r^2. Error 2^-29.2.
inline constexpr double tan32[] = {
    0x1.5555600000000p-2,
    0x1.110d940000000p-3,
    0x1.badc7a0000000p-5,
    0x1.5c9ebe0000000p-6,
    0x1.6390ce0000000p-7,
    0x1.154ba40000000p-14,
    0x1.1fa9ce0000000p-8,
};
/// The same. Error 2^-59.7.
inline constexpr double tan64[] = {
    0x1.555555555555ep-2,
    0x1.11111111105c1p-3,
    0x1.ba1ba1bac07b7p-5,
    0x1.664f485cd6760p-6,
    0x1.226e3a8bb4e41p-7,
    0x1.d6d2e6042da54p-9,
    0x1.7db1a5dfcd8ecp-10,
    0x1.34bb40844eb0fp-11,
    0x1.ff3a0477a97cbp-13,
    0x1.5e41c558386e6p-14,
    0x1.1a53347f29db9p-14,
    -0x1.afe42da1e0833p-16,
    0x1.98b86d23ab179p-15,
    -0x1.97f2198226460p-16,
    0x1.49195e390c51ap-17,
};
/// (tanh(x) - x) / x^3 in x^2 on [0, 0.625]. Error 2^-27.8.
inline constexpr double tanh32[] = {
    -0x1.5555340000000p-2,
    0x1.1107580000000p-3,
    -0x1.b841ac0000000p-5,
    0x1.52444c0000000p-6,
    -0x1.7655640000000p-8,
};
/// The same. Error 2^-64.6.
inline constexpr double tanh64[] = {
    -0x1.5555555555555p-2,
    0x1.11111111110a3p-3,
    -0x1.ba1ba1ba14f22p-5,
    0x1.664f48810c7cdp-6,
    -0x1.226e351b0144ep-7,
    0x1.d6d3c340844aep-9,
    -0x1.7da272a5d07d3p-10,
    0x1.354c5c1ecb001p-11,
    -0x1.f4abdd9b9d443p-13,
    0x1.914d5d81b9865p-14,
    -0x1.3254ada74c65ep-15,
    0x1.88a17f7d178c4p-17,
    -0x1.2c1d6a6d421bfp-19,
};
/// (atan(x) - x) / x^3 in x^2 on [0, tan(pi/8)]. Error 2^-30.4.
inline constexpr double atan32[] = {
    -0x1.55554a0000000p-2,
    0x1.9991e20000000p-3,
    -0x1.23b9980000000p-3,
    0x1.b2231a0000000p-4,
    -0x1.f2dc380000000p-5,
};
/// The same. Error 2^-59.4.
inline constexpr double atan64[] = {
    -0x1.555555555553cp-2,
    0x1.9999999995681p-3,
    -0x1.24924922a288ep-3,
    0x1.c71c70e21fa6ep-4,
    -0x1.745cf871489ddp-4,
    0x1.3b1111fcbe5bbp-4,
    -0x1.10eb6a36f0103p-4,
    0x1.df0afdf26bbc5p-5,
    -0x1.9cbfdddd3dae7p-5,
    0x1.37a6cd6602394p-5,
    -0x1.2505d7a5c5f02p-6,
};
/// (asin(x) - x) / x^3 in x^2 on [0, 1/2]. Error 2^-59.7.
inline constexpr double asin64[] = {
    0x1.5555555555576p-3,
    0x1.333333332e352p-4,
    0x1.6db6db71f943fp-5,
    0x1.f1c71a9e3a848p-6,
    0x1.6e8bdddfc24c8p-6,
    0x1.1c4a01f8e691dp-6,
    0x1.ca1df114df284p-7,
    0x1.759264eccf81bp-7,
    0x1.60f64ecb408d6p-7,
    0x1.e9ff863dabb17p-9,
    0x1.626a229ec2843p-6,
    -0x1.565752cb36dbbp-6,
    0x1.0ac63157eb818p-5,
};
/// (sinh(x) - x) / x^3 in x^2 on [0, 1]. Error 2^-62.5.
inline constexpr double sinh64[] = {
    0x1.5555555555555p-3,
    0x1.111111111117cp-7,
    0x1.a01a01a00dbc1p-13,
    0x1.71de3a6097d87p-19,
    0x1.ae644b504704ap-26,
    0x1.612aa79b667d3p-33,
    0x1.aaca9e555cf3ep-41,
    0x1.3e1e4b3ec1be7p-48,
};
/// cbrt(x) on [1, 2]. Error 2^-16.6.
inline constexpr double cbrtStart[] = {
    0x1.03fa5b8a9cf7fp-1,
    0x1.6e8b8fda433d4p-1,
    -0x1.316cd55992a59p-2,
    0x1.5c429f96d1c1dp-4,
    -0x1.559d89b229968p-7,
};
/// (erf(x) - x) / x in x^2 on [0, 1.25]. Error 2^-30.0.
inline constexpr double erfSmall32[] = {
    0x1.06eba80000000p-3,
    -0x1.8127420000000p-2,
    0x1.ce2e1a0000000p-4,
    -0x1.b816dc0000000p-6,
    0x1.55747e0000000p-8,
    -0x1.b5ca8a0000000p-11,
    0x1.b5f7920000000p-14,
    -0x1.00fc580000000p-17,
};
/// The same. Error 2^-56.2.
inline constexpr double erfSmall64[] = {
    0x1.06eba8214db69p-3,
    -0x1.812746b037a04p-2,
    0x1.ce2f21a043dabp-4,
    -0x1.b82ce312da08bp-6,
    0x1.565bcd1bb348ep-8,
    -0x1.c02db6c3b32bbp-11,
    0x1.f9a38b1c21407p-14,
    -0x1.f4dc6e5ce4e9ap-17,
    0x1.baa45b07b6b3bp-20,
    -0x1.69d47a532dd91p-23,
    0x1.6babb4099e5b2p-26,
    -0x1.02f65ca9a76d6p-27,
    0x1.4844b43e34fabp-28,
    -0x1.60f4bd3d81a54p-29,
    0x1.135b380e98ba1p-30,
    -0x1.22f2c3b99060ep-32,
    0x1.745ef00f55ea5p-35,
    -0x1.b3c05ac7a5fe8p-39,
};
/// log(1 - erf(t)) / t on [1.25, 4]. Error 2^-34.4.
inline constexpr double erfLarge32[] = {
    -0x1.20fae60000000p+0,
    -0x1.44db360000000p-1,
    -0x1.b74b500000000p-4,
    0x1.928b900000000p-6,
    -0x1.0606c00000000p-8,
    0x1.a88a4e0000000p-12,
    -0x1.3e3f540000000p-16,
};
/// log(1 - erf(t)) in t - 2, on [1.25, 6]. Error 2^-59.5.
inline constexpr double erfLarge64[] = {
    -0x1.575b329b1f516p+2,
    -0x1.1ac3258a8dc2dp+2,
    -0x1.d8f5dece92307p-1,
    -0x1.0dc3b5fb0c745p-6,
    0x1.d406b373330d8p-9,
    -0x1.7ffcfb4d734bfp-11,
    0x1.1bc3a62ea1fa9p-13,
    -0x1.5b656b39a67f9p-16,
    0x1.0604354dbe9d6p-19,
    0x1.b5442ea23fa56p-23,
    -0x1.73e0ec334b9e4p-23,
    0x1.f0cc42e6e919bp-25,
    -0x1.e0ce8cdedca4ap-27,
    0x1.59577e8204f3bp-29,
    -0x1.09989c3a0c691p-32,
    -0x1.58732ef84b0e2p-35,
    0x1.bcc4ad30934ffp-36,
    -0x1.e1119849c2d6bp-38,
    0x1.780d0755145ecp-40,
    -0x1.b60c6632a7541p-43,
    0x1.0875552e05d64p-46,
};

} // namespace hlo::codegen::coefficients

#endif
