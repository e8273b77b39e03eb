/* Artifacts, errors, cancellation and progress of hlo/compiler.h. Prints what compile.test expects.
 */
#include <hlo/compiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __aarch64__
#define ARCH "aarch64"
#else
#define ARCH "x86_64"
#endif

static const char *const good = "HloModule scale\n"
                                "ENTRY e {\n"
                                "  x = f32[4] parameter(0)\n"
                                "  two = f32[] constant(2)\n"
                                "  all = f32[4] broadcast(two), dimensions={}\n"
                                "  ROOT y = f32[4] multiply(x, all)\n"
                                "}\n";

static void show(const char *what, hlo_status status, hlo_compilation *compilation) {
  printf("%s: %s prefix=%s module=%s\n", what, hlo_status_name(status),
         hlo_compilation_prefix(compilation),
         hlo_compilation_module(compilation) ? hlo_compilation_module(compilation)->name : "none");
  for (size_t i = 0; i < hlo_compilation_num_diagnostics(compilation); ++i) {
    const hlo_diagnostic *each = hlo_compilation_diagnostic(compilation, i);
    printf("  %u [%s] %s:%u:%u %s\n", each->severity, each->code, each->file, each->line,
           each->column, each->message);
  }
}

static void try_text(const char *what, const char *text, const hlo_compile_options *options) {
  hlo_compilation *compilation;
  hlo_status status = hlo_compile_text(text, strlen(text), options, &compilation);
  show(what, status, compilation);
  hlo_compilation_free(compilation);
}

static int32_t stop;
static void stop_at_emit(void *user, const char *phase, uint32_t done, uint32_t total) {
  (void)done, (void)total;
  ++*(int *)user;
  if (strcmp(phase, "emit") == 0) {
    stop = 1;
  }
}

static void count_kernels(void *user, const char *phase, uint32_t done, uint32_t total) {
  if (strcmp(phase, "optimize") == 0 && total) {
    snprintf(user, 100, "%u of %u", done, total);
  }
}

int main(void) {
  hlo_compile_options options = hlo_compile_options_init();
  options.emit =
      HLO_EMIT_OBJECT | HLO_EMIT_HEADER | HLO_EMIT_LLVM | HLO_EMIT_SIGNATURE | HLO_EMIT_CXX_HEADER;
  options.cxx_namespace = "my::models";
  options.file = "dir/scale-it.hlo";
  options.cpu = "x86-64-v2";
  hlo_compilation *compilation;
  hlo_status status = hlo_compile_text(good, strlen(good), &options, &compilation);
  show("good", status, compilation);
  const uint32_t kinds[] = {HLO_EMIT_OBJECT, HLO_EMIT_HEADER,    HLO_EMIT_LLVM,
                            HLO_EMIT_HLO,    HLO_EMIT_SIGNATURE, 4096};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    hlo_bytes bytes = hlo_compilation_artifact(compilation, kinds[i]);
    printf("artifact %u: %s\n", kinds[i], bytes.size ? "there" : "none");
  }
  const char *cxx = hlo_compilation_artifact(compilation, HLO_EMIT_CXX_HEADER).data;
  printf("namespace: %s\n", cxx && strstr(cxx, "namespace my::models") ? "there" : "none");
  hlo_bytes object = hlo_compilation_artifact(compilation, HLO_EMIT_OBJECT);

  /* An object that was made before. */
  hlo_compilation *loaded;
  status = hlo_jit_object(object.data, object.size, NULL, &loaded);
  show("object", status, loaded);
  hlo_compilation_free(compilation);
  float x[4] = {1, 2, 3, 4}, y[4] = {0};
  const void *inputs[] = {x};
  void *outputs[] = {y};
  hlo_call call = hlo_call_init();
  status = hlo_compilation_module(loaded)->run(&call, inputs, outputs);
  printf("run: %s %g %g\n", hlo_status_name(status), y[0], y[3]);
  hlo_compilation_free(loaded);
  status = hlo_jit_object("nonsense", 8, NULL, &loaded);
  show("nonsense", status, loaded);
  hlo_compilation_free(loaded);
  /* The beginning of a Mach-O file. */
  const unsigned char other[64] = {0xcf, 0xfa, 0xed, 0xfe, 7, 0, 0, 1, 3, 0, 0, 0, 1};
  status = hlo_jit_object(other, sizeof other, NULL, &loaded);
  show("other format", status, loaded);
  hlo_compilation_free(loaded);

  /* An object for another architecture. */
  options = hlo_compile_options_init();
  options.target = strcmp(ARCH, "aarch64") ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  options.emit = HLO_EMIT_OBJECT;
  status = hlo_compile_text(good, strlen(good), &options, &compilation);
  object = hlo_compilation_artifact(compilation, HLO_EMIT_OBJECT);
  hlo_status foreign = hlo_jit_object(object.data, object.size, NULL, &loaded);
  printf("compiled: %s\n", hlo_status_name(status));
  show("foreign", foreign, loaded);
  hlo_compilation_free(loaded);
  hlo_compilation_free(compilation);

  /* Errors. */
  try_text("parse", "HloModule m\nENTRY e {\n  ROOT x = f32[2] add(y, z)\n}", NULL);
  try_text("verify",
           "ENTRY e {\n  x = f32[2] parameter(0)\n  y = f32[3] parameter(1)\n"
           "  ROOT z = f32[2] add(x, y)\n}",
           NULL);
  try_text("empty", "", NULL);
  options = hlo_compile_options_init();
  options.cpu = "haswel";
  try_text("cpu", good, &options);
  options = hlo_compile_options_init();
  options.max_arena_bytes = 1;
  options.struct_size = 8;
  try_text("old", good, &options);
  options = hlo_compile_options_init();
  options.emit = 1u << 30;
  try_text("emit", good, &options);
  options = hlo_compile_options_init();
  options.reserved = 1;
  try_text("reserved", good, &options);
  options = hlo_compile_options_init();
  options.jobs = UINT32_MAX;
  try_text("jobs", good, &options);
  printf("null: %s\n", hlo_status_name(hlo_compile_text(good, strlen(good), NULL, NULL)));

  /* StableHLO, with and without a byte order mark: what stands behind the text is not read. */
  for (size_t mark = 0; mark < 2; ++mark) {
    static const char begin[] = "\xef\xbb\xbfmodule {\n"
                                "  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                                "    return %x : tensor<2xf32>\n  }\n}\n";
    char text[sizeof begin + 8];
    snprintf(text, sizeof text, "%sbehind", begin);
    options = hlo_compile_options_init();
    status = hlo_compile_text(text + 3 * mark, strlen(begin) - 3 * mark, &options, &compilation);
    show("stablehlo", status, compilation);
    hlo_compilation_free(compilation);
  }

  /* Cancellation and progress. */
  int calls = 0;
  options = hlo_compile_options_init();
  options.cancel = &stop;
  options.progress = stop_at_emit;
  options.user = &calls;
  try_text("cancelled", good, &options);
  printf("phases: %d\n", calls);
  char done[100] = "";
  options = hlo_compile_options_init();
  options.progress = count_kernels;
  options.user = done;
  try_text("progress", good, &options);
  printf("done: %s\n", done);
  printf("version: %s\n", hlo_compiler_version());

  /* Less address space than the compiler's stack: the last case, as the limit stays. */
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%lu", &pages) != 1) {
    return 1;
  }
  fclose(file);
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + (64u << 20);
  setrlimit(RLIMIT_AS, &limit);
  try_text("no stack", good, NULL);
  return 0;
}
