/* Compiles a text in this process and calls it: out = a * x + y. */
#include <hlo/compiler.h>
#include <hlo/pool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] = "HloModule saxpy\n"
                           "ENTRY saxpy {\n"
                           "  a = f32[] parameter(0)\n"
                           "  x = f32[1000] parameter(1)\n"
                           "  y = f32[1000] parameter(2)\n"
                           "  scale = f32[1000] broadcast(a), dimensions={}\n"
                           "  product = f32[1000] multiply(scale, x)\n"
                           "  ROOT out = f32[1000] add(product, y)\n"
                           "}\n";

int main(void) {
  hlo_compilation *compilation;
  hlo_status status = hlo_jit_text(text, strlen(text), NULL, &compilation);
  if (status != HLO_OK) {
    fputs(hlo_compilation_log(compilation), stderr); /* module.hlo:7:3: error: ... */
    hlo_compilation_free(compilation);
    return 1;
  }
  const hlo_module_desc *module = hlo_compilation_module(compilation);
  for (uint32_t i = 0; i < module->num_inputs; ++i) {
    printf("input %u: %s, %llu bytes\n", i, hlo_input_at(module, i)->name,
           (unsigned long long)hlo_input_at(module, i)->bytes);
  }

  float a = 2, x[1000], y[1000], out[1000];
  for (int i = 0; i < 1000; ++i) {
    x[i] = (float)i;
    y[i] = 1;
  }
  const void *inputs[] = {&a, x, y};
  void *outputs[] = {out};

  hlo_pool *pool = hlo_pool_create(2);
  size_t arena_bytes = hlo_arena_bytes(module, 2);
  char message[200] = "";
  hlo_call call = hlo_call_init();
  call.exec = hlo_pool_executor(pool);
  call.arena = arena_bytes ? aligned_alloc(module->arena_align, arena_bytes) : NULL;
  call.arena_bytes = arena_bytes;
  call.message = message;
  call.message_bytes = sizeof message;
  status = module->run(&call, inputs, outputs);
  if (status != HLO_OK) {
    fprintf(stderr, "%s: %s\n", hlo_status_name(status), message);
  } else {
    printf("out[0] = %g, out[999] = %g\n", out[0], out[999]);
  }
  free(call.arena);
  hlo_pool_destroy(pool);
  hlo_compilation_free(compilation);
  return status != HLO_OK;
}
