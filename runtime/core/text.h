/*===- text.h - Error texts without stdio and without a heap ------------------===*\
 *
 * Appends to the caller's buffer, which is always NUL-terminated; text that does not fit is cut. A
 * null buffer is allowed: the text is dropped.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef RUNTIME_CORE_TEXT_H
#define RUNTIME_CORE_TEXT_H

#include <hlo/rt.h>

typedef struct hlo_text {
  char *out;       /* null if capacity is 0 */
  size_t capacity; /* with the final NUL */
  size_t length;   /* written so far, without the final NUL */
} hlo_text;

/* Whatever appends to a text is the path of an error: the compiler moves such code behind the rest
 * of its function, so that the checks of a call that succeeds are in few lines of the cache. */
#define HLO_ERROR_PATH __attribute__((cold))

/** An empty text in `out`. */
hlo_text hlo_text_begin(char *out, size_t capacity);
/** An empty text in the message buffer of `call`, which may be null. */
hlo_text hlo_text_of_call(const hlo_call *call);
void hlo_text_add(hlo_text *text, const char *string) HLO_ERROR_PATH;
void hlo_text_number(hlo_text *text, uint64_t value) HLO_ERROR_PATH;
void hlo_text_hex(hlo_text *text, uint64_t value) HLO_ERROR_PATH;

#endif
