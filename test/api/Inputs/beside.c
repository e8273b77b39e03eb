/* beside.c LIBRARY: compiles and runs a module in a process that has loaded another LLVM, before
 * and after it is used. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <hlo/compiler.h>
#include <stdio.h>
#include <string.h>

static const char *const text =
    "ENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] exponential(x) }";

static int run(void) {
  hlo_compilation *compilation;
  hlo_status status = hlo_jit_text(text, strlen(text), NULL, &compilation);
  float x[4] = {0, 0, 0, 0}, y[4] = {0};
  const void *inputs[] = {x};
  void *outputs[] = {y};
  hlo_call call = hlo_call_init();
  if (status == HLO_OK) {
    status = hlo_compilation_module(compilation)->run(&call, inputs, outputs);
  }
  printf("%s %g\n", hlo_status_name(status), y[3]);
  hlo_compilation_free(compilation);
  return status != HLO_OK;
}

int main(int argc, char **argv) {
  int failed = run();
  void *other = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  if (!other) {
    printf("cannot load the other LLVM: %s\n", dlerror());
    return 1;
  }
  /* Something of it that uses its global state. */
  void *(*create)(void) = NULL;
  void (*dispose)(void *) = NULL;
  *(void **)&create = dlsym(other, "LLVMContextCreate");
  *(void **)&dispose = dlsym(other, "LLVMContextDispose");
  void *context = create ? create() : NULL;
  printf("the other LLVM: %s\n", context ? "works" : "does not work");
  failed |= run();
  if (context) {
    dispose(context);
  }
  return failed || !context;
}
