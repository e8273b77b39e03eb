/*===- exported.c - Exported copies of inline functions -------------------------===*\
 *
 * The inline functions of the headers, exported for languages that load libhlo_rt.so and cannot
 * compile a header. Only part of the shared library.
 *
 *===-------------------------------------------------------------------------===*/
#define HLO_INLINE
/* Returns a struct that may grow, see below. */
#define hlo_call_init inline_hlo_call_init
#include <hlo/index.h>
#include <hlo/shard.h>
#include <hlo/sites.h>
#undef hlo_call_init

/* The size of hlo_call when HLO_2 was frozen. The result has this size; callers with a newer
 * hlo_call use hlo_call_clear(). */
typedef struct first_hlo_call {
  uint64_t words[22];
} first_hlo_call;

first_hlo_call hlo_call_init(void);
first_hlo_call hlo_call_init(void) {
  first_hlo_call call;
  hlo_call_clear((hlo_call *)&call, sizeof call);
  return call;
}
