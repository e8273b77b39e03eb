//===- ComplexFunctions.h - Elementary functions of complex numbers -------===//
//
// Principal branches; cuts as in C's Annex G. Arguments and results are parts in f64.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_CODEGEN_ELEMENTWISE_FUNCTIONS_COMPLEXFUNCTIONS_H
#define COMPILER_CODEGEN_ELEMENTWISE_FUNCTIONS_COMPLEXFUNCTIONS_H

#include "compiler/codegen/elementwise/functions/Functions.h"

namespace hlo::codegen {

struct Complex {
  Num re, im;
};

Complex choose(Num condition, Complex a, Complex b);
/// a / b without spurious overflow; parts f32 or f64.
Complex divide(Complex a, Complex b);

Complex complexExp(Complex z);
Complex complexExpm1(Complex z);
Complex complexLog(Complex z);
Complex complexLog1p(Complex z);
/// `ofFloats`: both parts were widened from f32.
Complex complexLogistic(Complex z, bool ofFloats = false);
Complex complexPower(Complex z, Complex w);
Complex complexSqrt(Complex z, bool ofFloats = false);
Complex complexRsqrt(Complex z);
Complex complexSin(Complex z);
Complex complexCos(Complex z);
Complex complexTan(Complex z);
Complex complexTanh(Complex z);
Complex complexSinh(Complex z);
Complex complexCosh(Complex z);
Complex complexAsin(Complex z);
Complex complexAcos(Complex z);
Complex complexAsinh(Complex z);
Complex complexAcosh(Complex z);
Complex complexAtanh(Complex z);
Complex complexAtan2(Complex y, Complex x);

} // namespace hlo::codegen

#endif
