//===- RealFunctions.cpp - References of real functions -------------------===//
//
// One line per opcode: its value in double and in __float128, the range where most samples are, and
// the greatest error that f32 and f64 may have. f16 and bf16 must be rounded correctly.
//
//===----------------------------------------------------------------------===//
#include "Reference.h"
#include <cmath>

namespace accuracy {

namespace {
// One name for both precisions.
#define BOTH(NAME)                                                                                 \
  double NAME(double x) { return std::NAME(x); }                                                   \
  Quad NAME(Quad x) { return NAME##q(x); }
BOTH(exp)
BOTH(expm1)
BOTH(log)
BOTH(log1p)
BOTH(sin)
BOTH(cos)
BOTH(tan)
BOTH(sinh)
BOTH(cosh)
BOTH(tanh)
BOTH(asin)
BOTH(acos)
BOTH(asinh)
BOTH(acosh)
BOTH(atanh)
BOTH(sqrt)
BOTH(cbrt)
BOTH(erf)
#undef BOTH

double pow(double x, double y) { return std::pow(x, y); }
Quad pow(Quad x, Quad y) { return powq(x, y); }
double atan2(double y, double x) { return std::atan2(y, x); }
Quad atan2(Quad y, Quad x) { return atan2q(y, x); }
double fmod(double x, double y) { return std::fmod(x, y); }
Quad fmod(Quad x, Quad y) { return fmodq(x, y); }

template <typename T> T logistic(T x) { return 1 / (1 + exp(-x)); }
template <typename T> T rsqrt(T x) { return 1 / sqrt(x); }
} // namespace

#define UNARY(OPCODE, FUNCTION, LOW, HIGH, BOUND, BOUND_DOUBLE)                                    \
  {OPCODE,                                                                                         \
   1,                                                                                              \
   [](double x, double) -> double { return FUNCTION(x); },                                         \
   [](Quad x, Quad) -> Quad { return FUNCTION(x); },                                               \
   {LOW, HIGH},                                                                                    \
   {0, 0},                                                                                         \
   BOUND,                                                                                          \
   BOUND_DOUBLE}
#define BINARY(OPCODE, FUNCTION, LOW, HIGH, LOW_Y, HIGH_Y, BOUND, BOUND_DOUBLE)                    \
  {OPCODE,                                                                                         \
   2,                                                                                              \
   [](double x, double y) -> double { return FUNCTION(x, y); },                                    \
   [](Quad x, Quad y) -> Quad { return FUNCTION(x, y); },                                          \
   {LOW, HIGH},                                                                                    \
   {LOW_Y, HIGH_Y},                                                                                \
   BOUND,                                                                                          \
   BOUND_DOUBLE}

const RealFunction realFunctions[] = {
    UNARY("exponential", exp, -110, 90, 2, 2),
    UNARY("exponential-minus-one", expm1, -50, 90, 2, 2),
    UNARY("log", log, 0.1, 10, 2, 2),
    UNARY("log-plus-one", log1p, -1, 10, 2, 2),
    UNARY("logistic", logistic, -110, 30, 2, 2),
    UNARY("sine", sin, -1000, 1000, 2, 2),
    UNARY("cosine", cos, -1000, 1000, 2, 2),
    UNARY("tan", tan, -1000, 1000, 2, 2),
    UNARY("sinh", sinh, -100, 100, 2, 2),
    UNARY("cosh", cosh, -100, 100, 2, 2),
    UNARY("tanh", tanh, -12, 12, 2, 2),
    UNARY("asin", asin, -1, 1, 2, 2),
    UNARY("acos", acos, -1, 1, 2, 2),
    UNARY("asinh", asinh, -10, 10, 2, 2),
    UNARY("acosh", acosh, 1, 10, 2, 2),
    UNARY("atanh", atanh, -1, 1, 2, 2),
    UNARY("erf", erf, -6, 6, 2, 2),
    UNARY("sqrt", sqrt, 0, 100, 0.5, 0.5),
    UNARY("rsqrt", rsqrt, 0, 100, 2, 2),
    UNARY("cbrt", cbrt, -100, 100, 1, 1),
    BINARY("power", pow, 0, 10, -30, 30, 2, 2),
    BINARY("atan2", atan2, -10, 10, -10, 10, 2, 2),
    BINARY("remainder", fmod, -1000, 1000, -10, 10, 0, 0),
    BINARY(
        "divide", [](auto x, auto y) { return x / y; }, -10, 10, -10, 10, 0.5, 0.5),
    BINARY(
        "add", [](auto x, auto y) { return x + y; }, -10, 10, -10, 10, 0.5, 0.5),
    BINARY(
        "subtract", [](auto x, auto y) { return x - y; }, -10, 10, -10, 10, 0.5, 0.5),
    BINARY(
        "multiply", [](auto x, auto y) { return x * y; }, -10, 10, -10, 10, 0.5, 0.5),
};
const int realFunctionCount = sizeof(realFunctions) / sizeof(realFunctions[0]);

} // namespace accuracy
