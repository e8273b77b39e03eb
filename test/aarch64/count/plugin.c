/*===- plugin.c - How often a program executes each of its instructions ----===*\
 *
 *   qemu-aarch64 -plugin libcount.so,out=FILE PROGRAM
 *
 * At the program's end FILE has a line "ADDRESS COUNT" for each instruction that was executed, in
 * hexadecimal and decimal. Debian's qemu-user 7.2 loads plugins but no package has their header, so
 * the functions of version 1 of the interface that are used here are declared below
 * (docs/devel/tcg-plugins.rst of QEMU).
 *
 *===-------------------------------------------------------------------------===*/
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { ADD_U64 = 0 }; /* QEMU_PLUGIN_INLINE_ADD_U64 */

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*callback)(qemu_plugin_id_t,
                                                            struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *instruction, int operation,
                                                void *counter, uint64_t value);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t, void *),
                                    void *user);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

/* Counters by address: a hash table with chains, which only grows. Programs have one thread. */
typedef struct Counter {
  uint64_t address, count;
  struct Counter *next;
} Counter;

enum { BUCKETS = 1 << 16 };
static Counter *buckets[BUCKETS];
static const char *out;

static Counter *counter_of(uint64_t address) {
  Counter **bucket = &buckets[(address >> 2) % BUCKETS];
  for (Counter *each = *bucket; each; each = each->next) {
    if (each->address == address) {
      return each;
    }
  }
  Counter *made = calloc(1, sizeof(*made));
  if (!made) {
    abort();
  }
  made->address = address;
  made->next = *bucket;
  return *bucket = made;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
  (void)id;
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
    Counter *counter = counter_of(qemu_plugin_insn_vaddr(instruction));
    qemu_plugin_register_vcpu_insn_exec_inline(instruction, ADD_U64, &counter->count, 1);
  }
}

static void ended(qemu_plugin_id_t id, void *user) {
  (void)id;
  (void)user;
  FILE *file = fopen(out, "w");
  for (size_t i = 0; file && i < BUCKETS; ++i) {
    for (const Counter *each = buckets[i]; each; each = each->next) {
      fprintf(file, "%" PRIx64 " %" PRIu64 "\n", each->address, each->count);
    }
  }
  if (!file || fclose(file) != 0) {
    fprintf(stderr, "plugin.c: cannot write %s\n", out);
  }
}

__attribute__((visibility("default"))) int
qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
  (void)info;
  for (int i = 0; i < argc; ++i) {
    if (strncmp(argv[i], "out=", 4) == 0) {
      out = argv[i] + 4;
    }
  }
  if (!out) {
    fprintf(stderr, "plugin.c: expected out=FILE\n");
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}
