//===- FakeModule.h - A module description made by hand -------------------===//
#ifndef TEST_UNIT_RUNTIME_FAKEMODULE_H
#define TEST_UNIT_RUNTIME_FAKEMODULE_H

#include <hlo/generated.h>
#include <string>

/// A module with two f32 inputs and one output, all [4], that needs 256 bytes of arena.
struct FakeModule {
  int64_t dims[1] = {4}, order[1] = {0};
  hlo_buffer_desc inputs[2] = {leaf("lhs"), leaf("rhs")};
  hlo_buffer_desc outputs[1] = {leaf("sum")};
  hlo_module_desc desc = {};

  alignas(64) float in0[4] = {1, 2, 3, 4};
  alignas(64) float in1[4] = {5, 6, 7, 8};
  alignas(64) float out0[4] = {};
  alignas(64) char arena[256];
  const void *ins[2] = {in0, in1};
  void *outs[1] = {out0};
  char message[512] = "";
  hlo_call call = hlo_call_init();
  hlo_frame frame;

  FakeModule() {
    desc.struct_size = sizeof(hlo_module_desc);
    desc.abi = HLO_ABI;
    desc.name = "fake";
    desc.target = "x86_64 fake-cpu";
    desc.arena_bytes = 256;
    desc.arena_align = 64;
    desc.arch = HLO_ARCH_X86_64;
    desc.buffer_stride = sizeof(hlo_buffer_desc);
    desc.num_inputs = 2;
    desc.num_outputs = 1;
    desc.inputs = inputs;
    desc.outputs = outputs;
    desc.num_replicas = desc.num_partitions = 1;
    call.arena = arena;
    call.arena_bytes = sizeof(arena);
    call.message = message;
    call.message_bytes = sizeof(message);
  }
  FakeModule(const FakeModule &) = delete;

  hlo_status begin() { return hlo_rt_begin(&call, &desc, ins, outs, &frame); }

  /// begin() and, if that worked, end().
  hlo_status beginAndEnd() {
    hlo_status status = begin();
    return status ? status : hlo_rt_end(&frame, HLO_OK);
  }

private:
  hlo_buffer_desc leaf(const char *name) {
    hlo_buffer_desc d = {};
    d.name = name;
    d.dims = dims;
    d.minor_to_major = order;
    d.bytes = 16;
    d.type = HLO_F32;
    d.rank = 1;
    d.align = 4;
    d.alias = -1;
    return d;
  }
};

#endif
