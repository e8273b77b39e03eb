/*===- SampleModule.c - What the compiler would make of a small module ---------===*\
 *
 *   out0[i] = in0[i] / 2 + table[i % 4]     f32[1000], may share in0's buffer
 *   out1    = number of threads              s32[]
 *
 * with an arena of 4000 bytes. in1 = s32[] tells what to do: 0 as above, 1 fail, 2 loop until
 * stopped.
 *
 *===-------------------------------------------------------------------------===*/
#include <hlo/generated.h>

static const int64_t dims[] = {1000}, order[] = {0};
static const float table[4] = {1, 2, 3, 4};

static const hlo_buffer_desc inputs[] = {
    {"values", dims, order, 4000, HLO_F32, 1, 4, 0, 0},
    {"what", 0, 0, 4, HLO_S32, 0, 4, -1, 0},
};
static const hlo_buffer_desc outputs[] = {
    {"out0", dims, order, 4000, HLO_F32, 1, 4, 0, 0},
    {"out1", 0, 0, 4, HLO_S32, 0, 4, -1, 0},
};

typedef struct Args {
  const float *in;
  float *out;
} Args;

static void halves(void *arg, int64_t first, int64_t last) {
  const Args *args = arg;
  for (int64_t i = first; i < last; ++i) {
    args->out[i] = 0.5f * args->in[i];
  }
}

static void add(void *arg, int64_t first, int64_t last) {
  const Args *args = arg;
  for (int64_t i = first; i < last; ++i) {
    args->out[i] = args->in[i] + table[i % 4];
  }
}

static const hlo_module_desc desc;

hlo_status sample_run_buffers(const hlo_call *call, const void *const *in, void *const *out) {
  hlo_frame frame;
  hlo_status status = hlo_rt_begin(call, &desc, in, out, &frame);
  if (status) {
    return status;
  }
  const int32_t what = *(const int32_t *)in[1];
  if (what == 1) {
    status = hlo_rt_fail(&frame, HLO_OUT_OF_RANGE, "told to fail");
  }
  while (what == 2 && !status) {
    status = hlo_rt_poll(&frame);
  }
  Args first = {in[0], frame.arena}, second = {frame.arena, out[0]};
  if (!status) {
    status = hlo_rt_parallel_for(&frame, halves, &first, 1000);
  }
  if (!status) {
    status = hlo_rt_parallel_for(&frame, add, &second, 1000);
  }
  *(int32_t *)out[1] = (int32_t)frame.threads;
  return hlo_rt_end(&frame, status);
}

static const hlo_module_desc desc = {
    .struct_size = sizeof(hlo_module_desc),
    .abi = HLO_ABI,
    .name = "sample",
    .compiler_version = "",
    .flags = "",
    .target = "x86_64",
    .source_sha256 = "",
    .arena_bytes = 4000,
    .num_inputs = 2,
    .num_outputs = 2,
    .buffer_stride = sizeof(hlo_buffer_desc),
    .arena_align = 64,
    .arch = HLO_ARCH_X86_64,
    .inputs = inputs,
    .outputs = outputs,
    .run = sample_run_buffers,
    .num_replicas = 1,
    .num_partitions = 1,
};

const hlo_module_desc *sample_describe(void);
const hlo_module_desc *sample_describe(void) { return &desc; }
