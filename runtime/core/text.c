/*===- text.c - Error texts without stdio and without a heap ------------------===*\
 *
 * See text.h. Every function keeps the buffer NUL-terminated, so that a text may be read at any
 * time.
 *
 *===-------------------------------------------------------------------------===*/
#include "text.h"

#include "fields.h"

hlo_text hlo_text_begin(char *out, size_t capacity) {
  hlo_text text = {out, out ? capacity : 0, 0};
  if (text.capacity > 0) {
    out[0] = '\0';
  }
  return text;
}

hlo_text hlo_text_of_call(const hlo_call *call) {
  if (!HLO_HAS_FIELD(call, message_bytes)) {
    return hlo_text_begin(NULL, 0);
  }
  return hlo_text_begin(call->message, call->message_bytes);
}

void hlo_text_add(hlo_text *text, const char *string) {
  while (*string != '\0' && text->length + 1 < text->capacity) {
    text->out[text->length++] = *string++;
  }
  if (text->capacity > 0) {
    text->out[text->length] = '\0';
  }
}

void hlo_text_number(hlo_text *text, uint64_t value) {
  char digits[21];
  char *first = digits + sizeof(digits) - 1;
  *first = '\0';
  do {
    *--first = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  hlo_text_add(text, first);
}

void hlo_text_hex(hlo_text *text, uint64_t value) {
  char digits[19];
  char *first = digits + sizeof(digits) - 1;
  *first = '\0';
  do {
    *--first = "0123456789abcdef"[value % 16];
    value /= 16;
  } while (value != 0);
  *--first = 'x';
  *--first = '0';
  hlo_text_add(text, first);
}
