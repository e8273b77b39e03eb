// Constants that code could not reach are an error, before any memory is spent on them.
// RUN: sh -c 'hlo-compile --start-from=emit %s -o %t.o; echo code $?' 2>&1 | FileCheck %s
// CHECK: too-many-constants.mlir:[[#@LINE+6]]:3: error: constants of 2300000000 bytes up to this one: an object can hold 2013265920; pass large arrays as parameters
// CHECK: code {{[1-9]}}

#layout = {inputs = [], outputs = [{name = "", type = tensor<4xui8>, index = array<i64>}]}
module @m attributes {hlo.entry_layout = #layout, hlo.leaf_alias = array<i64>} {
  cpurt.global @small = dense<2> : tensor<1500000000xui8>
  cpurt.global @large = dense<2> : tensor<800000000xui8>
  cpurt.entry @main attributes {arena_align = 64 : i64, arena_bytes = 0 : i64} {
    %out = cpurt.output 0
    %c = cpurt.constant @large
    cpurt.copy %out, %c {bytes = 4 : i64}
    cpurt.return
  }
}
