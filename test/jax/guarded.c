/* Calls a module with random sizes. Every buffer, and the arena, lies between inaccessible pages
 * and has the size that the description says for this call; what is accessible beside it must not
 * change.
 *
 *   guarded MODULE.so NAME CALLS SEED
 *
 * A size is 0, 1, the bound, one more, negative, or anything in between. Calls with sizes outside
 * of their bounds must fail with HLO_ERR_SIZE; others succeed, or fail with an assertion of the
 * program. Prints the number of calls, of those that succeeded and of those that failed otherwise;
 * the exit code is 1 if one did something else. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <hlo/rt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, MOST_LEAVES = 64, MOST_RANK = 16, FILL = 0xa5 };

typedef struct Place {
  char *pages;
  size_t room; /* accessible bytes, behind the first page */
  char *data;
  size_t bytes;
} Place;

static uint64_t state;

static uint64_t draw(uint64_t below) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (state >> 33) % below;
}

static void reserve(Place *place, uint64_t bytes) {
  place->room = (bytes + PAGE) / PAGE * PAGE + PAGE;
  place->pages = mmap(NULL, place->room + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place->pages == MAP_FAILED ||
      mprotect(place->pages + PAGE, place->room, PROT_READ | PROT_WRITE)) {
    exit((fputs("no memory\n", stderr), 2));
  }
}

/* Puts `bytes` bytes at one end of the accessible pages; the rest of the pages that they touch is
 * filled. */
static void put(Place *place, size_t bytes, int at_end) {
  char *begin = place->pages + PAGE;
  place->data = at_end ? begin + place->room - bytes : begin;
  place->bytes = bytes;
  if (at_end) {
    memset(begin + place->room - bytes - PAGE, FILL, PAGE);
  } else {
    memset(begin + bytes, FILL, PAGE);
  }
}

static int is_intact(const Place *place, int at_end) {
  const unsigned char *beside =
      (const unsigned char *)(at_end ? place->data - PAGE : place->data + place->bytes);
  size_t same = 0;
  while (same < PAGE && beside[same] == FILL) {
    ++same;
  }
  return same == PAGE;
}

static void fill(const hlo_buffer_desc *leaf, void *data, size_t bytes) {
  size_t i;
  if (leaf->type == HLO_F32) {
    for (i = 0; i < bytes / 4; ++i) {
      ((float *)data)[i] = (float)((double)draw(129) - 64) / 16;
    }
    return;
  }
  memset(data, 0, bytes);
  for (i = 0; i < bytes; i += (size_t)hlo_type_bytes(leaf->type)) {
    ((char *)data)[i] = leaf->type == HLO_PRED || leaf->type >= HLO_F16 ? 0 : (char)draw(2);
  }
}

static size_t bytes_of(const hlo_buffer_desc *leaf, const int64_t *dims) {
  size_t bytes = (size_t)hlo_type_bytes(leaf->type);
  int32_t d;
  for (d = 0; d < leaf->rank; ++d) {
    bytes *= (size_t)dims[d];
  }
  return bytes;
}

static int64_t random_size(int64_t bound) {
  const int64_t special[] = {0, 1, bound, bound - 1, bound + 1, -1, INT64_MIN, INT64_MAX};
  const uint64_t kind = draw(16);
  return kind < 4    ? special[kind]
         : kind == 4 ? special[4 + draw(4)]
                     : (int64_t)draw((uint64_t)bound + 1);
}

int main(int argc, char **argv) {
  void *library = argc == 5 ? dlopen(argv[1], RTLD_NOW) : NULL;
  char symbol[300], message[300] = "";
  static Place inputs[MOST_LEAVES], outputs[MOST_LEAVES], arena;
  const void *in[MOST_LEAVES];
  void *out[MOST_LEAVES];
  int64_t sizes[MOST_LEAVES], dims[MOST_RANK];
  long calls, done, good = 0, refused = 0, wrong = 0;
  uint32_t i;
  if (library == NULL) {
    fprintf(stderr, "%s\n", argc == 5 ? dlerror() : "four arguments");
    return 2;
  }
  snprintf(symbol, sizeof symbol, "%s_describe", argv[2]);
  const hlo_module_desc *(*describe)(void) =
      (const hlo_module_desc *(*)(void))dlsym(library, symbol);
  if (describe == NULL) {
    fprintf(stderr, "%s is missing\n", symbol);
    return 2;
  }
  const hlo_module_desc *desc = describe();
  const uint32_t count = hlo_num_sizes(desc), first = desc->num_inputs - count;
  calls = atol(argv[3]);
  state = strtoull(argv[4], NULL, 10) + 1;
  if (desc->num_inputs > MOST_LEAVES || desc->num_outputs > MOST_LEAVES) {
    return 2;
  }
  for (i = 0; i < desc->num_inputs; ++i) {
    reserve(&inputs[i], hlo_input_at(desc, i)->bytes);
  }
  for (i = 0; i < desc->num_outputs; ++i) {
    reserve(&outputs[i], hlo_output_at(desc, i)->bytes);
  }
  reserve(&arena, hlo_arena_bytes(desc, 1));
  for (done = 0; done < calls; ++done) {
    const int at_end = (int)draw(2);
    int outside = 0, bad;
    hlo_call call = hlo_call_init();
    hlo_status status;
    for (i = 0; i < count; ++i) {
      const hlo_buffer_desc *size = hlo_input_at(desc, first + i);
      const int64_t bound = hlo_input_at(desc, (uint32_t)size->size_of - 1)->dims[size->size_dim];
      sizes[i] = random_size(bound);
      outside |= sizes[i] < 0 || sizes[i] > bound;
    }
    for (i = 0; i < desc->num_inputs; ++i) {
      const hlo_buffer_desc *leaf = hlo_input_at(desc, i);
      hlo_input_dims(desc, i, sizes, dims);
      put(&inputs[i], hlo_is_dense(leaf) ? bytes_of(leaf, dims) : (size_t)leaf->bytes, at_end);
      if (i >= first) {
        memcpy(inputs[i].data, &sizes[i - first], 8);
      } else {
        fill(leaf, inputs[i].data, inputs[i].bytes);
      }
      in[i] = inputs[i].data;
    }
    for (i = 0; i < desc->num_outputs; ++i) {
      const hlo_buffer_desc *leaf = hlo_output_at(desc, i);
      const int known = hlo_output_dims(desc, i, sizes, dims);
      put(&outputs[i], hlo_is_dense(leaf) && known ? bytes_of(leaf, dims) : (size_t)leaf->bytes,
          at_end);
      out[i] = outputs[i].data;
    }
    put(&arena, hlo_sized_arena_bytes(desc, 1, sizes), at_end);
    call.arena = arena.data;
    call.arena_bytes = arena.bytes;
    call.message = message;
    call.message_bytes = sizeof message;
    status = desc->run(&call, in, out);
    bad = outside ? status != HLO_ERR_SIZE : status != HLO_OK && status != HLO_ERR_SIZE;
    for (i = 0; i < desc->num_inputs; ++i) {
      bad |= !is_intact(&inputs[i], at_end);
    }
    for (i = 0; i < desc->num_outputs; ++i) {
      bad |= !is_intact(&outputs[i], at_end);
    }
    bad |= !is_intact(&arena, at_end);
    good += status == HLO_OK;
    refused += status != HLO_OK;
    wrong += bad;
    if (bad) {
      fprintf(stderr, "%s:", argv[2]);
      for (i = 0; i < count; ++i) {
        fprintf(stderr, " %s=%lld", hlo_input_at(desc, first + i)->name, (long long)sizes[i]);
      }
      fprintf(stderr, ", buffers at the %s: %s %s\n", at_end ? "end" : "start",
              hlo_status_name(status), status != HLO_OK ? message : "");
    }
  }
  printf("%ld calls, %ld succeeded, %ld were refused, %ld wrong\n", calls, good, refused, wrong);
  return wrong != 0;
}
