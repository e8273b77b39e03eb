/*===- guest.c - Calls a module of this architecture for hlo-run ---------------===*\
 *
 *   hlo-run-guest describe MODULE.so PREFIX
 *   hlo-run-guest run MODULE.so PREFIX THREADS TIMEOUT_NS REPLICAS PARTITIONS [CUSTOM_CALLS.so ...]
 *
 * In: a compiled module, linked with the runtime into a shared library, and from file 3 on
 * one socket per rank (wire.h), to describe the module one alone. Out: nothing but what goes over
the sockets; a module that cannot
 * be loaded is told on stderr, with exit status 1. Ends when the sockets are closed.
 *
 * C and the runtime alone, so that it is built for any architecture that has a C library.
 *
\*===-------------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <hlo/pool.h>
#include <hlo/ranks.h>
#include <hlo/rt.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "wire.h"

/* A connection that breaks means that hlo-run has ended, and so does this program. */
static void send_bytes(int fd, const void *bytes, size_t size) {
  for (const char *at = bytes; size > 0;) {
    const ssize_t sent = write(fd, at, size);
    if (sent <= 0) {
      _exit(1);
    }
    at += sent;
    size -= (size_t)sent;
  }
}

static void receive_bytes(int fd, void *bytes, size_t size) {
  for (char *at = bytes; size > 0;) {
    const ssize_t got = read(fd, at, size);
    if (got <= 0) {
      _exit(0);
    }
    at += got;
    size -= (size_t)got;
  }
}

static void send_u8(int fd, uint8_t value) { send_bytes(fd, &value, sizeof(value)); }
static void send_u32(int fd, uint32_t value) { send_bytes(fd, &value, sizeof(value)); }
static void send_u64(int fd, uint64_t value) { send_bytes(fd, &value, sizeof(value)); }

static void send_text(int fd, const char *text) {
  const uint32_t length = text ? (uint32_t)strlen(text) : UINT32_MAX;
  send_u32(fd, length);
  send_bytes(fd, text, text ? length : 0);
}

static uint8_t receive_u8(int fd) {
  uint8_t value;
  receive_bytes(fd, &value, sizeof(value));
  return value;
}
static uint32_t receive_u32(int fd) {
  uint32_t value;
  receive_bytes(fd, &value, sizeof(value));
  return value;
}
static uint64_t receive_u64(int fd) {
  uint64_t value;
  receive_bytes(fd, &value, sizeof(value));
  return value;
}

/* A text into a buffer, cut at its end. */
static void receive_text(int fd, char *buffer, size_t size) {
  const uint32_t length = receive_u32(fd);
  for (uint32_t i = 0; length != UINT32_MAX && i < length; ++i) {
    const char c = (char)receive_u8(fd);
    if (i + 1 < size) {
      buffer[i] = c;
      buffer[i + 1] = 0;
    }
  }
}

static void *allocate(size_t bytes, size_t align) {
  void *memory = NULL;
  if (posix_memalign(&memory, align < 64 ? 64 : align, bytes ? bytes : 1) != 0) {
    fprintf(stderr, "hlo-run-guest: not enough memory: %zu bytes\n", bytes);
    _exit(1);
  }
  memset(memory, 0, bytes);
  return memory;
}

static void send_leaf(int fd, const hlo_buffer_desc *leaf, const char *sizes) {
  send_text(fd, leaf->name);
  send_text(fd, leaf->layout);
  send_u32(fd, (uint32_t)leaf->rank);
  send_bytes(fd, leaf->dims, 8 * (size_t)leaf->rank);
  send_u8(fd, leaf->minor_to_major != NULL);
  send_bytes(fd, leaf->minor_to_major, leaf->minor_to_major ? 8 * (size_t)leaf->rank : 0);
  send_u64(fd, leaf->bytes);
  send_u32(fd, (uint32_t)leaf->type);
  send_u32(fd, leaf->align);
  send_u32(fd, (uint32_t)leaf->alias);
  send_u32(fd, (uint32_t)leaf->size_of);
  send_u32(fd, (uint32_t)leaf->size_dim);
  send_text(fd, sizes);
}

static void send_description(int fd, const hlo_module_desc *desc) {
  send_text(fd, desc->name);
  send_text(fd, desc->target);
  send_u64(fd, desc->arena_bytes);
  send_u64(fd, desc->thread_arena_bytes);
  send_u64(fd, desc->state_bytes);
  send_u64(fd, desc->prepared_bytes);
  send_u64(fd, desc->prepare_arena_bytes);
  send_u64(fd, desc->prepare_thread_arena_bytes);
  send_u64(fd, desc->stack_bytes);
  send_u32(fd, desc->arena_align);
  send_u32(fd, desc->needs);
  send_u32(fd, desc->num_replicas);
  send_u32(fd, desc->num_partitions);
  send_u32(fd, desc->num_inputs);
  send_u32(fd, desc->num_outputs);
  send_u32(fd, desc->num_ops);
  for (uint32_t i = 0; i < desc->num_inputs; ++i) {
    send_leaf(fd, hlo_input_at(desc, i), hlo_sizes_text(desc, hlo_input_at(desc, i)));
  }
  for (uint32_t i = 0; i < desc->num_outputs; ++i) {
    send_leaf(fd, hlo_output_at(desc, i), hlo_sizes_text(desc, hlo_output_at(desc, i)));
  }
  for (uint32_t i = 0; i < desc->num_ops; ++i) {
    const hlo_op_desc *op = hlo_op_at(desc, i);
    send_text(fd, op->name);
    send_text(fd, op->kind);
    send_text(fd, op->file);
    send_text(fd, op->op_name);
    send_text(fd, op->source_file);
    send_u32(fd, (uint32_t)op->line);
    send_u32(fd, (uint32_t)op->column);
    send_u32(fd, (uint32_t)op->source_line);
    send_u64(fd, op->flops);
    send_u64(fd, op->bytes);
  }
}

/*===- One rank --------------------------------------------------------------------*/

typedef struct Rank Rank;

typedef struct Feed {
  hlo_feed callbacks;
  Rank *rank;
  uint8_t which;
} Feed;

struct Rank {
  int fd;
  const hlo_module_desc *desc;
  const hlo_custom_calls *custom_calls;
  const hlo_comm *comm;
  uint32_t threads;
  int32_t cpu_level; /* hlo_call.cpu_level */
  Feed feeds[4];
};

static hlo_status move_item(void *user, const hlo_feed_item *item) {
  const Feed *feed = user;
  const int fd = feed->rank->fd;
  const int gives = feed->which == HLO_WIRE_OUTFEED || feed->which == HLO_WIRE_HOST_SEND;
  send_u8(fd, HLO_WIRE_FEED);
  send_u8(fd, feed->which);
  send_u64(fd, (uint64_t)item->channel);
  send_text(fd, item->config);
  send_u32(fd, (uint32_t)item->count);
  for (int32_t i = 0; i < item->count; ++i) {
    send_leaf(fd, hlo_feed_leaf_at(item, (uint32_t)i), NULL);
    send_u64(fd, item->bytes[i]);
    if (gives) {
      send_bytes(fd, item->leaves[i], item->bytes[i]);
    }
  }
  const hlo_status status = (hlo_status)receive_u32(fd);
  receive_text(fd, item->message, item->message_bytes);
  for (int32_t i = 0; status == HLO_OK && !gives && i < item->count; ++i) {
    receive_bytes(fd, item->leaves[i], item->bytes[i]);
  }
  return status;
}

static void *scratch(void *user, size_t bytes, size_t align) {
  (void)user;
  void *memory = NULL;
  return posix_memalign(&memory, align < 64 ? 64 : align, bytes) == 0 ? memory : NULL;
}
static void release(void *user, void *memory, size_t bytes) {
  (void)user;
  (void)bytes;
  free(memory);
}

static hlo_view view_of(const hlo_buffer_desc *leaf, void *data) {
  /* The dimensions of a dense buffer are those of a call. */
  const int64_t *dims = hlo_is_dense(leaf) ? NULL : leaf->dims;
  return (hlo_view){sizeof(hlo_view),     leaf->type, data, leaf->bytes, dims,
                    leaf->minor_to_major, leaf->rank, 0};
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Serves one rank until hlo-run ends. */
_Noreturn static void *serve(void *user) {
  Rank *rank = user;
  const hlo_module_desc *desc = rank->desc;
  const int fd = rank->fd;
  hlo_pool *pool = rank->threads > 1 ? hlo_pool_create(rank->threads) : NULL;
  const uint64_t run_arena = hlo_arena_bytes(desc, rank->threads);
  const uint64_t prepare_arena = hlo_prepare_arena_bytes(desc, rank->threads);
  const size_t arena_bytes = run_arena > prepare_arena ? run_arena : prepare_arena;
  void *arena = allocate(arena_bytes, desc->arena_align);
  void *state = allocate(desc->state_bytes, 16);
  void *prepared = allocate(desc->prepared_bytes, 64);
  hlo_view *inputs = allocate(sizeof(*inputs) * desc->num_inputs, 64);
  hlo_view *outputs = allocate(sizeof(*outputs) * desc->num_outputs, 64);
  for (uint32_t i = 0; i < desc->num_inputs; ++i) {
    const hlo_buffer_desc *leaf = hlo_input_at(desc, i);
    inputs[i] = view_of(leaf, allocate(leaf->bytes, leaf->align));
  }
  for (uint32_t i = 0; i < desc->num_outputs; ++i) {
    const hlo_buffer_desc *leaf = hlo_output_at(desc, i);
    const int shares = leaf->alias >= 0 && inputs[leaf->alias].bytes == leaf->bytes;
    outputs[i] =
        view_of(leaf, shares ? inputs[leaf->alias].data : allocate(leaf->bytes, leaf->align));
  }
  hlo_profile *profile = allocate(sizeof(*profile) * desc->num_ops, 64);
  const hlo_allocator allocator = {sizeof(hlo_allocator), 0, NULL, scratch, release};
  char message[1024];
  for (;;) {
    const uint8_t kind = receive_u8(fd);
    const uint8_t first = receive_u8(fd);
    hlo_call call = hlo_call_init();
    call.deadline_ns = (int64_t)receive_u64(fd);
    call.rng_seed = receive_u64(fd);
    call.cpu_level = rank->cpu_level;
    const uint8_t wants_profile = receive_u8(fd), given = receive_u8(fd);
    for (uint32_t i = 0; i < desc->num_inputs; ++i) {
      receive_bytes(fd, inputs[i].data, inputs[i].bytes);
    }
    if (first && kind == HLO_WIRE_RUN) {
      memset(state, 0, desc->state_bytes);
    }
    memset(message, 0, sizeof(message));
    memset(profile, 0, sizeof(*profile) * desc->num_ops);
    call.arena = arena;
    call.arena_bytes = arena_bytes;
    call.exec = pool ? hlo_pool_executor(pool) : NULL;
    call.state = desc->state_bytes ? state : NULL;
    call.alloc = &allocator;
    call.custom_calls = rank->custom_calls;
    call.comm = rank->comm;
    const hlo_feed **const feeds[] = {&call.infeed, &call.outfeed, &call.host_send,
                                      &call.host_recv};
    for (int i = 0; i < 4; ++i) {
      *feeds[i] = given >> i & 1 ? &rank->feeds[i].callbacks : NULL;
    }
    call.message = message;
    call.message_bytes = sizeof(message);
    call.profile = wants_profile ? profile : NULL;
    call.profile_count = desc->num_ops;
    call.profile_stride = sizeof(hlo_profile);
    call.prepared = desc->prepared_bytes ? prepared : NULL;
    call.prepared_bytes = desc->prepared_bytes;
    hlo_status status =
        kind == HLO_WIRE_RUN ? hlo_check(desc, &call, message, sizeof(message)) : HLO_OK;
    if (status != HLO_OK && rank->comm) {
      rank->comm->leave(rank->comm->user, status, message);
    }
    const int64_t start = now_ns();
    if (status == HLO_OK) {
      status = kind == HLO_WIRE_RUN ? hlo_run_checked(desc, &call, inputs, desc->num_inputs,
                                                      outputs, desc->num_outputs)
                                    : hlo_prepare_checked(desc, &call, inputs, desc->num_inputs,
                                                          prepared, desc->prepared_bytes);
    }
    const int64_t ns = now_ns() - start;
    send_u8(fd, HLO_WIRE_DONE);
    send_u32(fd, (uint32_t)status);
    send_text(fd, message);
    send_u64(fd, (uint64_t)ns);
    if (status != HLO_OK || kind != HLO_WIRE_RUN) {
      continue;
    }
    for (uint32_t i = 0; i < desc->num_outputs; ++i) {
      send_bytes(fd, outputs[i].data, outputs[i].bytes);
    }
    for (uint32_t i = 0; wants_profile && i < desc->num_ops; ++i) {
      send_u64(fd, profile[i].calls);
      send_u64(fd, profile[i].ns);
      send_u64(fd, profile[i].bytes);
    }
  }
}

/*===- The module -------------------------------------------------------------------*/

/* The function that one of the libraries itself defines, not one that it links; or null. */
static void *find_handler(void *const *libraries, int count, const char *name) {
  for (int i = 0; i < count; ++i) {
    void *symbol = dlsym(libraries[i], name);
    struct link_map *own = NULL, *owner = NULL;
    Dl_info info;
    if (symbol && dlinfo(libraries[i], RTLD_DI_LINKMAP, &own) == 0 &&
        dladdr1(symbol, &info, (void **)&owner, RTLD_DL_LINKMAP) != 0 && own == owner) {
      return symbol;
    }
  }
  return NULL;
}

static void *open_library(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "hlo-run-guest: %s\n", dlerror());
    exit(1);
  }
  return library;
}

static hlo_custom_calls find_handlers(const hlo_module_desc *desc, char **paths, int count) {
  void **libraries = allocate(sizeof(void *) * (size_t)count, 64);
  for (int i = 0; i < count; ++i) {
    libraries[i] = open_library(paths[i]);
  }
  uint32_t targets = 0, found = 0;
  while (desc->custom_call_targets && hlo_custom_call_target_at(desc, targets)->name) {
    ++targets;
  }
  hlo_custom_call *entries = allocate(sizeof(*entries) * targets, 64);
  for (uint32_t i = 0; i < targets; ++i) {
    const hlo_custom_call *target = hlo_custom_call_target_at(desc, i);
    void *symbol = find_handler(libraries, count, target->name);
    /* The description is sorted, and lists a target once per api version. */
    if (symbol && (found == 0 || strcmp(entries[found - 1].name, target->name) != 0)) {
      entries[found] = *target;
      memcpy(&entries[found].fn, &symbol, sizeof(symbol));
      ++found;
    }
  }
  return (hlo_custom_calls){sizeof(hlo_custom_calls), found, sizeof(*entries), 0, entries};
}

/* The description of the module, at the CPU level that calls with `cpu_level` run at if it has
 * several and this CPU supports it. */
static const hlo_module_desc *load_module(const char *path, const char *prefix, int32_t cpu_level) {
  void *module = open_library(path);
  char name[4096];
  snprintf(name, sizeof(name), "%s_describe", prefix);
  void *symbol = dlsym(module, name);
  if (!symbol) {
    fprintf(stderr, "hlo-run-guest: %s has no %s\n", path, name);
    exit(1);
  }
  const hlo_module_desc *(*describe)(void);
  memcpy(&describe, &symbol, sizeof(symbol));
  const hlo_module_desc *module_desc = describe();
  hlo_call call = hlo_call_init();
  call.cpu_level = cpu_level;
  const hlo_module_desc *level = hlo_level(module_desc, &call);
  if (!level || level == module_desc) {
    return module_desc; /* if there is no such level, a run says so */
  }
  static hlo_module_desc chosen;
  chosen = *level;
  chosen.run = module_desc->run;
  chosen.prepare = module_desc->prepare;
  return &chosen;
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "describe") == 0) {
    send_description(HLO_WIRE_FIRST_SOCKET, load_module(argv[2], argv[3], atoi(argv[4])));
    return 0;
  }
  if (argc < 9 || strcmp(argv[1], "run") != 0) {
    fprintf(stderr, "hlo-run-guest: is started by hlo-run --target\n");
    return 2;
  }
  const int32_t cpu_level = atoi(argv[4]);
  const hlo_module_desc *desc = load_module(argv[2], argv[3], cpu_level);
  const uint32_t threads = (uint32_t)strtoul(argv[5], NULL, 10);
  const int64_t timeout = strtoll(argv[6], NULL, 10);
  const int32_t replicas = atoi(argv[7]), partitions = atoi(argv[8]);
  const hlo_custom_calls custom_calls = find_handlers(desc, argv + 9, argc - 9);
  const int32_t count = replicas * partitions;
  hlo_ranks *ranks = count > 1 ? hlo_ranks_create(replicas, partitions, timeout) : NULL;
  Rank *all = allocate(sizeof(*all) * (size_t)count, 64);
  for (int32_t i = 0; i < count; ++i) {
    Rank *rank = &all[i];
    rank->fd = HLO_WIRE_FIRST_SOCKET + i;
    rank->desc = desc;
    rank->custom_calls = &custom_calls;
    rank->comm = ranks ? hlo_ranks_comm(ranks, i) : NULL;
    rank->threads = threads;
    rank->cpu_level = cpu_level;
    for (uint8_t k = 0; k < 4; ++k) {
      rank->feeds[k] = (Feed){{sizeof(hlo_feed), 0, &rank->feeds[k], NULL, move_item}, rank, k};
    }
    pthread_t thread;
    if ((count > 1 && !ranks) || (i > 0 && pthread_create(&thread, NULL, serve, rank) != 0)) {
      fprintf(stderr, "hlo-run-guest: cannot make %d ranks\n", count);
      return 1;
    }
  }
  serve(&all[0]);
}
