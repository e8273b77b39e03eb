/* Calls a module, whose object is linked in under the name `m`, on threads of few bytes of stack.
 *   thread STACK THREADS [BOUND]
 * The stack of the calling thread is filled with a pattern before, so that what a call has used is
 * known afterwards: it may not be more than hlo_module_desc.stack_bytes, or BOUND. Below each stack
 * is a page that nobody may touch. Arrays are zero; feeds, several ranks and custom calls are not
 * supplied.
 */
#define _GNU_SOURCE
#include <hlo/rt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

const hlo_module_desc *m_describe(void);

#define PAGE 4096
#define PATTERN 0xa5

static size_t stack_bytes;

static unsigned char *make_stack(void) {
  unsigned char *memory = mmap(NULL, stack_bytes + PAGE, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, PAGE, PROT_NONE)) {
    exit(3);
  }
  memset(memory + PAGE, PATTERN, stack_bytes);
  return memory + PAGE;
}

static void free_stack(unsigned char *stack) { munmap(stack - PAGE, stack_bytes + PAGE); }

/* Bytes between the end of a stack and the lowest one that is no pattern. */
static size_t used_of(const unsigned char *stack) {
  size_t free = 0;
  while (free < stack_bytes && stack[free] == PATTERN) {
    ++free;
  }
  return stack_bytes - free;
}

static pthread_t start(void *(*function)(void *), void *arg, unsigned char *stack) {
  pthread_t thread;
  pthread_attr_t attr;
  if (pthread_attr_init(&attr) || pthread_attr_setstack(&attr, stack, stack_bytes) ||
      pthread_create(&thread, &attr, function, arg)) {
    fprintf(stderr, "cannot start a thread of %zu bytes of stack\n", stack_bytes);
    exit(3);
  }
  pthread_attr_destroy(&attr);
  return thread;
}

/* An executor that starts a thread for each share of the indices. */
typedef struct Share {
  void (*fn)(void *arg, int64_t i);
  void *arg;
  int64_t first, n, step;
} Share;

static size_t most_used;

static void *run_share(void *arg) {
  const Share *share = arg;
  for (int64_t i = share->first; i < share->n; i += share->step) {
    share->fn(share->arg, i);
  }
  return NULL;
}

static void parallel_for(void *user, void (*fn)(void *arg, int64_t i), void *arg, int64_t n) {
  const hlo_executor *exec = *(const hlo_executor **)user;
  enum { MOST = 16 };
  Share shares[MOST];
  pthread_t threads[MOST];
  unsigned char *stacks[MOST];
  const int64_t count = n < exec->num_threads ? n : exec->num_threads;
  for (int64_t k = 0; k < count; ++k) {
    shares[k] = (Share){fn, arg, k, n, count};
    stacks[k] = make_stack();
    threads[k] = start(run_share, &shares[k], stacks[k]);
  }
  for (int64_t k = 0; k < count; ++k) {
    pthread_join(threads[k], NULL);
    const size_t used = used_of(stacks[k]);
    most_used = used > most_used ? used : most_used;
    free_stack(stacks[k]);
  }
}

typedef struct Call {
  const hlo_module_desc *desc;
  hlo_call call;
  void **inputs, **outputs;
  hlo_status status;
} Call;

static void *run_call(void *arg) {
  Call *c = arg;
  c->status = c->desc->run(&c->call, (const void *const *)c->inputs, c->outputs);
  return NULL;
}

static void *do_nothing(void *arg) { return arg; }

static size_t measure(void *(*function)(void *), void *arg) {
  unsigned char *stack = make_stack();
  pthread_join(start(function, arg, stack), NULL);
  const size_t used = used_of(stack);
  free_stack(stack);
  return used;
}

/* Pages that are only read take no memory, so that models with weights of any size can be called.
 */
static void *zeros(uint64_t bytes) {
  void *memory = mmap(NULL, bytes + 64, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    exit(3);
  }
  return memory;
}

static void **buffers(const hlo_buffer_desc *descs, uint32_t count, void **inputs) {
  void **all = zeros(count * sizeof(void *));
  for (uint32_t i = 0; i < count; ++i) {
    all[i] = inputs && descs[i].alias >= 0 ? inputs[descs[i].alias] : zeros(descs[i].bytes);
  }
  return all;
}

int main(int argc, char **argv) {
  stack_bytes = strtoul(argv[1], NULL, 10);
  const hlo_module_desc *desc = m_describe();
  hlo_executor exec = {sizeof exec, (uint32_t)strtoul(argv[2], NULL, 10), NULL, parallel_for};
  const hlo_executor *self = &exec;
  exec.user = &self;
  char message[512] = "";
  Call c = {desc, hlo_call_init(), NULL, NULL, HLO_OK};
  c.inputs = buffers(desc->inputs, desc->num_inputs, NULL);
  c.outputs = buffers(desc->outputs, desc->num_outputs, c.inputs);
  c.call.arena_bytes = hlo_arena_bytes(desc, exec.num_threads);
  c.call.arena = zeros(c.call.arena_bytes);
  c.call.state = zeros(desc->state_bytes);
  c.call.exec = exec.num_threads > 1 ? &exec : NULL;
  c.call.message = message;
  c.call.message_bytes = sizeof message;
  const size_t without = measure(do_nothing, NULL), with = measure(run_call, &c);
  if (c.status != HLO_OK) {
    fprintf(stderr, "%s: %s\n", hlo_status_name(c.status), message);
    return 2;
  }
  const size_t own =
      exec.num_threads > 1 ? PAGE : 0; /* of parallel_for above, and pthread_create */
  const size_t used = with - without, tasks = most_used > without ? most_used - without : 0;
  printf("stack_bytes %llu, a call used %zu, a task %zu\n", (unsigned long long)desc->stack_bytes,
         used, tasks);
  const size_t bound = argc > 3 ? strtoul(argv[3], NULL, 10) : desc->stack_bytes;
  return used > bound + own || tasks > bound;
}
