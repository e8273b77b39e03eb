/*===- status.c - XlaCustomCallStatusSetSuccess and ...SetFailure ---------------===*\
 *
 * An archive member of its own, with hidden symbols: it is linked only into programs whose handlers
 * refer to it, and does not clash with functions of the same names in another library of the
 * process.
 *
 *===-------------------------------------------------------------------------===*/
#include "status.h"

#include <string.h>

void XlaCustomCallStatusSetSuccess(XlaCustomCallStatus *status) { status->failed = 0; }

void XlaCustomCallStatusSetFailure(XlaCustomCallStatus *status, const char *message,
                                   size_t message_len) {
  /* As with XLA, a message may end before message_len. */
  const char *end = message_len > 0 ? memchr(message, '\0', message_len) : NULL;
  size_t length = end != NULL ? (size_t)(end - message) : message_len;
  if (length > sizeof(status->message) - 1) {
    length = sizeof(status->message) - 1;
  }
  if (length > 0) {
    memcpy(status->message, message, length);
  }
  status->message[length] = '\0';
  status->failed = 1;
}
