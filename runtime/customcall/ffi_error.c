/*===- ffi_error.c - Errors and futures of typed-FFI handlers ------------------===*\
 *
 * A handler makes these through functions without a context, possibly from a thread of its own. So
 * they use the heap, like hlo_pool_create; a call whose handlers succeed at once does not touch it.
 *
 *===-------------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "ffi_error.h"

#include <hlo/rt.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct ffi_error {
  int code;
  char message[];
};

struct ffi_future {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int done;
  ffi_error *error;
};

/* Represents every error that found no memory; never freed. */
static const struct {
  int code;
  char message[40];
} kNoMemory = {HLO_RESOURCE_EXHAUSTED, "no memory for the text of an error"};

static void *take(size_t bytes) { return aligned_alloc(16, (bytes + 15) / 16 * 16); }

ffi_error *hlo_ffi_error(int code, const char *message) {
  const size_t length = message != NULL ? strlen(message) : 0;
  ffi_error *error = take(sizeof(ffi_error) + length + 1);
  if (error == NULL) {
    return (ffi_error *)(uintptr_t)&kNoMemory;
  }
  error->code = code != HLO_OK ? code : HLO_UNKNOWN;
  if (length > 0) {
    memcpy(error->message, message, length);
  }
  error->message[length] = '\0';
  return error;
}

int hlo_ffi_error_code(const ffi_error *error) { return error != NULL ? error->code : HLO_OK; }

const char *hlo_ffi_error_message(const ffi_error *error) {
  return error != NULL ? error->message : "";
}

void hlo_ffi_error_free(ffi_error *error) {
  if ((const void *)error != (const void *)&kNoMemory) {
    free(error);
  }
}

ffi_future *hlo_ffi_future_create(void) {
  ffi_future *future = take(sizeof(ffi_future));
  if (future == NULL) {
    return NULL;
  }
  future->done = 0;
  future->error = NULL;
  if (pthread_mutex_init(&future->mutex, NULL) != 0) {
    free(future);
    return NULL;
  }
  if (pthread_cond_init(&future->changed, NULL) != 0) {
    pthread_mutex_destroy(&future->mutex);
    free(future);
    return NULL;
  }
  return future;
}

void hlo_ffi_future_set(ffi_future *future, ffi_error *error) {
  pthread_mutex_lock(&future->mutex);
  if (future->done) { /* the first result counts */
    pthread_mutex_unlock(&future->mutex);
    if (error != NULL) {
      hlo_ffi_error_free(error);
    }
    return;
  }
  future->done = 1;
  future->error = error;
  pthread_cond_signal(&future->changed);
  pthread_mutex_unlock(&future->mutex);
}

ffi_error *hlo_ffi_future_wait(ffi_future *future) {
  pthread_mutex_lock(&future->mutex);
  while (!future->done) {
    pthread_cond_wait(&future->changed, &future->mutex);
  }
  ffi_error *error = future->error;
  pthread_mutex_unlock(&future->mutex);
  pthread_cond_destroy(&future->changed);
  pthread_mutex_destroy(&future->mutex);
  free(future);
  return error;
}
