// The planned program as LLVM IR: frame, direct calls for kernels of one task, the runtime for more, loops that
// poll, branches, copies.
// RUN: hlo-compile --name-from=module -O0 --start-from=emit %s --emit=llvm | FileCheck %s

#layout = {inputs = [{name = "x", type = tensor<64xf32>, parameter = 0, index = array<i64>}],
           outputs = [{name = "", type = tensor<64xf32>, index = array<i64>}]}
module @prog attributes {hlo.entry_layout = #layout, hlo.leaf_alias = array<i64: 0, 0>} {
  cpurt.global @two = dense<2.0> : tensor<64xf32>
  cpurt.kernel @small {
  ^bb0(%a: tensor<64xf32>):
    %0 = hlo.fusion %a {
    ^bb0(%x: tensor<64xf32>):
      %1 = hlo.add %x, %x : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      hlo.return %1 : tensor<64xf32>
    } {strategy = "loop"} : (tensor<64xf32>) -> tensor<64xf32>
    cpurt.yield %0 : tensor<64xf32>
  }
  cpurt.kernel @large {
  ^bb0(%a: tensor<4194304xf32>):
    %0 = hlo.fusion %a {
    ^bb0(%x: tensor<4194304xf32>):
      %1 = hlo.tanh %x : (tensor<4194304xf32>) -> tensor<4194304xf32>
      hlo.return %1 : tensor<4194304xf32>
    } {strategy = "loop"} : (tensor<4194304xf32>) -> tensor<4194304xf32>
    cpurt.yield %0 : tensor<4194304xf32>
  }

  // CHECK: @prog.two = hidden constant
  // CHECK: @prog.desc = internal unnamed_addr constant
  // CHECK-LABEL: define i32 @prog_run_buffers(ptr %0, ptr %1, ptr %2)
  // CHECK: [[FRAME:%.*]] = alloca [256 x i8], align 16
  // CHECK: [[BEGUN:%.*]] = call i32 @hlo_rt_begin(ptr %0, ptr @prog.desc, ptr %1, ptr %2, ptr [[FRAME]])
  // CHECK: refused:
  // CHECK-NEXT: ret i32 [[BEGUN]]
  cpurt.entry @main attributes {arena_align = 64 : i64, arena_bytes = 16777600 : i64} {
    %in = cpurt.input 0
    %out = cpurt.output 0
    %two = cpurt.constant @two
    %big = cpurt.arena 128, 16777216
    %pred = cpurt.arena 0, 1
    %sel = cpurt.arena 64, 4
    // CHECK: [[WATCH:%.*]] = load i32
    // CHECK: [[PROFILE:%.*]] = load ptr
    // CHECK: [[IN:%.*]] = load ptr
    // CHECK: [[OUT:%.*]] = load ptr
    // CHECK: call void @prog.small(ptr [[IN]], ptr [[OUT]], i64 0, i64 1)
    // A caller who wants a profile has the time counted, in a block behind all others.
    // CHECK-NEXT: [[COUNTS:%.*]] = icmp ne ptr [[PROFILE]], null
    // CHECK-NEXT: br i1 [[COUNTS]], label %[[COUNT:count[0-9]*]], label %{{.*}}, !prof
    cpurt.launch @small(%in, %out)
    // CHECK: call void @prog.small(ptr @prog.two
    cpurt.launch @small(%two, %out)
    // CHECK: [[RAN:%.*]] = call i32 @hlo_rt_parallel_for(ptr [[FRAME]], ptr @task.2, ptr %arguments, i64 {{[0-9]+}})
    // CHECK: [[BAD:%.*]] = icmp ne i32 [[RAN]], 0
    // CHECK: br i1 [[BAD]], label %end
    cpurt.launch @large(%big, %big)
    // Four small kernels in a row: one branch, and their launches without counts.
    // CHECK: br i1 %{{.*}}, label %[[COUNTED:counted[0-9]*]], label %plain, !prof
    // CHECK: plain:
    // CHECK-NOT: br
    // CHECK-COUNT-4: call void @prog.small
    // CHECK-NEXT: br label %[[BEHIND:.*]]
    // CHECK: {{^}}[[BEHIND]]:
    cpurt.launch @small(%in, %out)
    cpurt.launch @small(%two, %out)
    cpurt.launch @small(%in, %out)
    cpurt.launch @small(%two, %out)
    cpurt.copy %out, %two {bytes = 256 : i64}
    // A loop asks whether to stop only if the caller could ever want to.
    // CHECK: while:
    // CHECK: icmp ne i32 [[WATCH]], 0
    // CHECK-NEXT: br i1 %{{.*}}, label %[[POLL:poll[0-9]*]], label
    // CHECK: load i8
    cpurt.while {
      cpurt.launch @small(%in, %out)
      cpurt.condition %pred
    } do {
      cpurt.launch @small(%in, %out)
      cpurt.yield
    }
    // A known trip count: a counter instead of the condition.
    // CHECK: for:
    // CHECK: phi i64 [ 7, %{{.*}} ]
    // CHECK: call void @prog.small
    // CHECK-NOT: call void @prog.small
    // CHECK: sub i64
    cpurt.while attributes {trip_count = 7 : i64} {
    } do {
      cpurt.launch @small(%in, %out)
      cpurt.yield
    }
    // CHECK: switch i32 %{{.*}}, label %[[LAST:.*]] [
    // CHECK-NEXT: i32 0, label
    // CHECK-NEXT: i32 1, label
    // CHECK-NEXT: ]
    cpurt.case %sel {
      cpurt.copy %out, %two {bytes = 256 : i64}
      cpurt.yield
    }, {
      cpurt.yield
    }, {
      cpurt.copy %out, %in {bytes = 256 : i64, may_be_same}
      cpurt.yield
    }
    // CHECK: [[STATUS:%.*]] = phi i32
    // CHECK: call i32 @hlo_rt_end(ptr [[FRAME]], i32 %status)
    // Rare blocks. Row 2 of the profile is the first behind the entry's and the copies'.
    // CHECK: {{^}}[[COUNT]]:
    // CHECK-NEXT: call void @hlo_rt_count(ptr [[FRAME]], i32 2, i64 512)
    // CHECK: {{^}}[[COUNTED]]:
    // CHECK-COUNT-4: call void @hlo_rt_count(ptr [[FRAME]], i32 2, i64 512)
    // CHECK-NEXT: br label %[[BEHIND]]
    // CHECK: {{^}}[[POLL]]:
    // CHECK-NEXT: call i32 @hlo_rt_poll(ptr [[FRAME]])
    cpurt.return
  }
  // CHECK-LABEL: define ptr @prog_describe()
  // CHECK: ret ptr @prog.desc
  // CHECK-LABEL: define internal void @task.2(ptr %0, i64 %1, i64 %2)
  // CHECK: tail call void %{{.*}}(ptr %{{.*}}, ptr %{{.*}}, i64 %1, i64 %2)
}
