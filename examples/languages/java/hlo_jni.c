// The native methods of Model.java: loads a module's library, and passes direct buffers on.
#include <dlfcn.h>
#include <hlo/rt.h>
#include <jni.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct model {
  void *library;
  const hlo_module_desc *module;
  void *arena;
  size_t arena_bytes;
} model;

enum { kMessageBytes = 256 };

// Throws Model.Failure, unless an exception is pending already.
static void throw_failure(JNIEnv *env, hlo_status status, const char *message) {
  char text[kMessageBytes + 64];
  snprintf(text, sizeof text, "%s: %s", hlo_status_name(status), message);
  if ((*env)->ExceptionCheck(env)) {
    return;
  }
  jclass type = (*env)->FindClass(env, "Model$Failure");
  jmethodID make = type ? (*env)->GetMethodID(env, type, "<init>", "(ILjava/lang/String;)V") : NULL;
  jstring string = make ? (*env)->NewStringUTF(env, text) : NULL;
  jobject failure = string ? (*env)->NewObject(env, type, make, status, string) : NULL;
  if (failure) {
    (*env)->Throw(env, (jthrowable)failure);
  }
}

static void release(model *m) {
  if (m) {
    free(m->arena);
    if (m->library) {
      dlclose(m->library);
    }
    free(m);
  }
}

JNIEXPORT jlong JNICALL Java_Model_open(JNIEnv *env, jclass self, jstring library, jstring name) {
  (void)self;
  const char *path = library ? (*env)->GetStringUTFChars(env, library, NULL) : NULL;
  const char *prefix = name ? (*env)->GetStringUTFChars(env, name, NULL) : NULL;
  model *m = calloc(1, sizeof *m);
  hlo_status status = m && path && prefix ? HLO_OK : HLO_ERR_NULL;
  const char *message = "no name, or no memory";
  if (status == HLO_OK && !(m->library = dlopen(path, RTLD_NOW | RTLD_LOCAL))) {
    status = HLO_NOT_FOUND, message = dlerror();
  }
  if (status == HLO_OK) {
    char symbol[512];
    int length = snprintf(symbol, sizeof symbol, "%s_describe", prefix);
    union {
      void *object;
      const hlo_module_desc *(*function)(void);
    } describe = {length < (int)sizeof symbol ? dlsym(m->library, symbol) : NULL};
    m->module = describe.object ? describe.function() : NULL;
    if (!m->module || m->module->abi != HLO_ABI) {
      status = HLO_ERR_STRUCT, message = "the library has no module of this name and ABI";
    }
  }
  if (status == HLO_OK) {
    m->arena_bytes = (size_t)hlo_arena_bytes(m->module, 1);
    m->arena = m->arena_bytes ? aligned_alloc(m->module->arena_align, m->arena_bytes) : NULL;
    if (m->arena_bytes && !m->arena) {
      status = HLO_ERR_ALLOC, message = "no memory for the arena";
    }
  }
  if (status != HLO_OK) {
    throw_failure(env, status, message);
    release(m);
    m = NULL;
  }
  if (path) {
    (*env)->ReleaseStringUTFChars(env, library, path);
  }
  if (prefix) {
    (*env)->ReleaseStringUTFChars(env, name, prefix);
  }
  return (jlong)(intptr_t)m;
}

JNIEXPORT void JNICALL Java_Model_close(JNIEnv *env, jclass self, jlong handle) {
  (void)env, (void)self;
  release((model *)(intptr_t)handle);
}

// One view per buffer; null, which the runtime reports, for one that is not direct.
static hlo_view *views_of(JNIEnv *env, jobjectArray buffers, jsize count) {
  hlo_view *views = calloc((size_t)count + 1, sizeof *views);
  for (jsize i = 0; views && i < count; ++i) {
    jobject buffer = (*env)->GetObjectArrayElement(env, buffers, i);
    views[i].struct_size = sizeof *views;
    views[i].data = buffer ? (*env)->GetDirectBufferAddress(env, buffer) : NULL;
    views[i].bytes = views[i].data ? (uint64_t)(*env)->GetDirectBufferCapacity(env, buffer) : 0;
    (*env)->DeleteLocalRef(env, buffer);
  }
  return views;
}

JNIEXPORT void JNICALL Java_Model_run(JNIEnv *env, jclass self, jlong handle, jobjectArray inputs,
                                      jobjectArray outputs) {
  (void)self;
  const model *m = (const model *)(intptr_t)handle;
  jsize num_inputs = inputs ? (*env)->GetArrayLength(env, inputs) : 0;
  jsize num_outputs = outputs ? (*env)->GetArrayLength(env, outputs) : 0;
  hlo_view *in = views_of(env, inputs, num_inputs), *out = views_of(env, outputs, num_outputs);
  char message[kMessageBytes] = "";
  hlo_call call = hlo_call_init();
  call.arena = m->arena, call.arena_bytes = m->arena_bytes;
  call.message = message, call.message_bytes = sizeof message;
  hlo_status status = !in || !out ? HLO_RESOURCE_EXHAUSTED
                                  : hlo_run_checked(m->module, &call, in, (uint32_t)num_inputs, out,
                                                    (uint32_t)num_outputs);
  free(in);
  free(out);
  if (status != HLO_OK) {
    throw_failure(env, status, message);
  }
}
