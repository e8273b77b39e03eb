/* threads.c THREADS TIMES: every thread compiles the same texts TIMES times, and each object must
 * be equal to that of the first thread. Prints how many compilations there were. */
#include <hlo/compiler.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const texts[] = {
    "ENTRY e { x = f32[64] parameter(0) y = f32[64] exponential(x) ROOT z = f32[64] add(x, y) }",
    "ENTRY e { x = f32[8,16] parameter(0) y = f32[16,4] parameter(1) ROOT z = f32[8,4] dot(x, y), "
    "lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
    "lt { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = pred[] compare(a, b), "
    "direction=LT }\nENTRY e { x = s32[100] parameter(0) ROOT z = s32[100] sort(x), "
    "dimensions={0}, to_apply=lt }",
    "ENTRY e { x = f32[2] parameter(0) ROOT z = f32[3] add(x, x) }"};
enum { TEXTS = sizeof texts / sizeof *texts };
static hlo_compilation *expected[TEXTS];
static hlo_status statuses[TEXTS];
static int times;
static atomic_int different;

static hlo_status compile(int i, hlo_compilation **result) {
  hlo_compile_options options = hlo_compile_options_init();
  options.jobs = 1 + i % 2;
  options.emit = HLO_EMIT_OBJECT;
  return hlo_compile_text(texts[i], strlen(texts[i]), &options, result);
}

static void *work(void *unused) {
  (void)unused;
  for (int n = 0; n < times; ++n) {
    int i = n % TEXTS;
    hlo_compilation *result;
    hlo_status status = compile(i, &result);
    hlo_bytes a = hlo_compilation_artifact(result, HLO_EMIT_OBJECT);
    hlo_bytes b = hlo_compilation_artifact(expected[i], HLO_EMIT_OBJECT);
    different += status != statuses[i] || a.size != b.size ||
                 (a.size && memcmp(a.data, b.data, a.size)) ||
                 strcmp(hlo_compilation_log(result), hlo_compilation_log(expected[i]));
    hlo_compilation_free(result);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 8;
  times = argc > 2 ? atoi(argv[2]) : 8;
  pthread_t threads[64];
  if (count < 1 || count > 64) {
    return 2;
  }
  for (int i = 0; i < TEXTS; ++i) {
    statuses[i] = compile(i, &expected[i]);
  }
  for (int t = 0; t < count; ++t) {
    if (pthread_create(&threads[t], NULL, work, NULL)) {
      return 2;
    }
  }
  for (int t = 0; t < count; ++t) {
    pthread_join(threads[t], NULL);
  }
  for (int i = 0; i < TEXTS; ++i) {
    hlo_compilation_free(expected[i]);
  }
  printf("%d compilations, %d different\n", count * times, different);
  return different != 0;
}
