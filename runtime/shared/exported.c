/*===- exported.c - What the headers define inline, as functions ----------------===*\
 *
 * For languages that load libhlo_rt.so and cannot compile a header. Part of the shared
 * library only.
 *
 *===-------------------------------------------------------------------------===*/
#define HLO_INLINE
/* Returns a struct that may grow, see below. */
#define hlo_call_init inline_hlo_call_init
#include <hlo/index.h>
#include <hlo/sites.h>
#undef hlo_call_init

/* The size of hlo_call when HLO_2 was frozen. A caller reserves as many bytes for the result, and
 * more if its own hlo_call is newer: then it uses hlo_call_clear(). */
typedef struct first_hlo_call {
  uint64_t words[22];
} first_hlo_call;

first_hlo_call hlo_call_init(void);
first_hlo_call hlo_call_init(void) {
  first_hlo_call call;
  hlo_call_clear((hlo_call *)&call, sizeof call);
  return call;
}
