/*===- caller.c - Calls a module of another architecture -----------------------===*\
 *
 *   caller MODULES.so SYMBOL BYTES_OF_LHS BYTES_OF_RHS BYTES_OF_RESULT
 *
 * Reads operands from standard input and writes the status, an int32, and the result, until the
 * input ends. Runs under an emulator; Caller.cpp starts it.
 *
 *===-------------------------------------------------------------------------===*/
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc != 6) {
    fputs("caller is started by accuracy\n", stderr);
    return 2;
  }
  void *library = dlopen(argv[1], RTLD_NOW);
  void *symbol = library ? dlsym(library, argv[2]) : NULL;
  if (!symbol) {
    fprintf(stderr, "caller: %s\n", dlerror());
    return 1;
  }
  int (*run)(const void *, const void *const *, void *const *);
  memcpy(&run, &symbol, sizeof(symbol));
  size_t bytes[3];
  char *arrays[3];
  for (int i = 0; i < 3; ++i) {
    bytes[i] = strtoul(argv[3 + i], NULL, 10);
    arrays[i] = aligned_alloc(64, (bytes[i] + 64) / 64 * 64);
    if (!arrays[i]) {
      return 1;
    }
  }
  while (fread(arrays[0], 1, bytes[0], stdin) == bytes[0] &&
         fread(arrays[1], 1, bytes[1], stdin) == bytes[1]) {
    const void *inputs[] = {arrays[0], arrays[1]};
    void *outputs[] = {arrays[2]};
    const int32_t status = run(NULL, inputs, outputs);
    fwrite(&status, sizeof(status), 1, stdout);
    if (status == 0) {
      fwrite(arrays[2], 1, bytes[2], stdout);
    }
    fflush(stdout);
  }
  return 0;
}
