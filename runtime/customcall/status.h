/*===- status.h - Status of untyped handlers -----------------------------------===*/
#ifndef RUNTIME_CUSTOMCALL_STATUS_H
#define RUNTIME_CUSTOMCALL_STATUS_H

#include <stddef.h>

/** The status that STATUS_RETURNING handlers get; opaque to them. It is on the stack of the call;
 * longer messages are cut. */
typedef struct XlaCustomCallStatus_ {
  int failed;
  char message[1012];
} XlaCustomCallStatus;

/** The two functions that handlers call, under XLA's names. */
void XlaCustomCallStatusSetSuccess(XlaCustomCallStatus *status);
void XlaCustomCallStatusSetFailure(XlaCustomCallStatus *status, const char *message,
                                   size_t message_len);

#endif
