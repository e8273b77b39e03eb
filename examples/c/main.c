/* Calls the compiled saxpy once: out = a * x + y. saxpy.h declares everything that it needs. */
#include <stdio.h>

#include "saxpy.h"

int main(void) {
  static float x[1000], y[1000], out[1000];
  float a = 2;
  for (int i = 0; i < 1000; ++i) {
    x[i] = i, y[i] = 1;
  }

  /* One typed pointer per array; the signature ties the header to the object. */
  saxpy_args args = SAXPY_ARGS_INIT;
  args.a = &a, args.x = x, args.y = y, args.out = out;

  /* The call: a buffer for messages; also scratch memory and threads, if the module needed them. */
  char message[256] = "";
  hlo_call call = hlo_call_init();
  call.message = message, call.message_bytes = sizeof message;

  hlo_status status = saxpy_run(&call, &args);
  if (status != HLO_OK) {
    return fprintf(stderr, "%s: %s\n", hlo_status_name(status), message), 1;
  }
  printf("out[0] = %g, out[1] = %g, out[999] = %g\n", out[0], out[1], out[999]);
  return 0;
}
