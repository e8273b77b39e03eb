// Arrays of booleans in hexadecimal: a byte for each element, as newer versions of MLIR write them, or eight in a byte.
// RUN: hlo-opt --split-input-file --verify-diagnostics --mlir-print-elementsattrs-with-hex-if-larger=-1 %s | FileCheck %s

// CHECK: stablehlo.constant dense<[false, true, true, false, false, false, true, false, true, false]> : tensor<10xi1>
%0 = stablehlo.constant dense<"0x00010100000001000100"> : tensor<10xi1>
// CHECK{LITERAL}: stablehlo.constant {some.name} dense<[[true, false], [false, true]]> : tensor<2x2xi1>
%1 = stablehlo.constant {some.name} dense<"0x01000001"> : tensor<2x2xi1>
// CHECK: stablehlo.constant dense<[false, true, true, false, false, false, true, false, true, false]> : tensor<10xi1>
%2 = stablehlo.constant dense<"0x4601"> : tensor<10xi1>
// CHECK: stablehlo.constant dense<true> : tensor<1xi1>
%3 = stablehlo.constant dense<"0x01"> : tensor<1xi1>

// -----
// expected-error@+1 {{expected 3 bytes that are 0 or 1}}
%0 = stablehlo.constant dense<"0x000201"> : tensor<3xi1>

// -----
// expected-error@+1 {{expected hexadecimal digits of an array of i1}}
%0 = stablehlo.constant dense<"0x00010g"> : tensor<3xi1>
