/* objects.c FILE...: loads each with hlo_jit_object and prints why not. */
#include <hlo/compiler.h>
#include <stdio.h>

static char bytes[1 << 20];

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    FILE *file = fopen(argv[i], "rb");
    if (!file) {
      return 1;
    }
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    hlo_compilation *compilation;
    hlo_status status = hlo_jit_object(bytes, size, NULL, &compilation);
    printf("%s %s\n", hlo_status_name(status), hlo_compilation_log(compilation));
    hlo_compilation_free(compilation);
  }
  return 0;
}
