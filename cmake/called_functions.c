/*===- called_functions.c - Which functions a program calls -----------------===
 *
 * In: a program linked at fixed addresses that runs with this library in LD_PRELOAD, and a file's
 * name in CALLED_FUNCTIONS. Out: the names of the functions that it calls, one a line, each once.
 *
 * The first byte of each function becomes a breakpoint. The first call of a function ends in the
 * handler of SIGTRAP, which writes the name, puts the byte back and goes on where it was: 18000
 * functions take 0.1 s.
 *
 *===--------------------------------------------------------------------------*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)

enum { BREAKPOINT = 0xcc };

struct function {
  uint64_t address;
  const char *name;
  uint8_t first; /* the byte that the breakpoint replaces */
  uint8_t called;
};

static struct function *functions;
static size_t count;
static int output;

static int by_address(const void *a, const void *b) {
  uint64_t x = ((const struct function *)a)->address, y = ((const struct function *)b)->address;
  return (x > y) - (x < y);
}

static void on_breakpoint(int signal, siginfo_t *info, void *context) {
  (void)signal;
  (void)info;
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  struct function key = {.address = (uint64_t)registers[REG_RIP] - 1};
  struct function *found = bsearch(&key, functions, count, sizeof key, by_address);
  if (!found) {
    _exit(1); /* a breakpoint of the program's own */
  }
  if (!found->called) { /* two threads may come here at once: the name is then written twice */
    found->called = 1;
    char line[4096];
    size_t length = strnlen(found->name, sizeof line - 1);
    memcpy(line, found->name, length);
    line[length] = '\n';
    if (write(output, line, length + 1) < 0) {
      _exit(1);
    }
    *(volatile uint8_t *)found->address = found->first;
  }
  registers[REG_RIP] = (greg_t)found->address;
}

/* LLVM asks for SIGTRAP too, to print a stack trace. */
int sigaction(int signal, const struct sigaction *action, struct sigaction *old) {
  static int (*next)(int, const struct sigaction *, struct sigaction *);
  if (!next) {
    next =
        (int (*)(int, const struct sigaction *, struct sigaction *))dlsym(RTLD_NEXT, "sigaction");
  }
  return next(signal, signal == SIGTRAP && functions ? NULL : action, old);
}

static const uint8_t *map_program(size_t *bytes) {
  int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) {
    return NULL;
  }
  *bytes = (size_t)status.st_size;
  void *image = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  return image == MAP_FAILED ? NULL : image;
}

/* The functions of the symbol table, by address, each address once. */
static void find_functions(const uint8_t *image) {
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + header->e_shoff);
  for (int s = 0; s < header->e_shnum; ++s) {
    if (sections[s].sh_type != SHT_SYMTAB) {
      continue;
    }
    const Elf64_Sym *symbols = (const Elf64_Sym *)(image + sections[s].sh_offset);
    const char *names = (const char *)(image + sections[sections[s].sh_link].sh_offset);
    size_t all = sections[s].sh_size / sizeof *symbols;
    functions = malloc(all * sizeof *functions);
    for (size_t n = 0; functions && n < all; ++n) {
      if (ELF64_ST_TYPE(symbols[n].st_info) == STT_FUNC && symbols[n].st_shndx != SHN_UNDEF &&
          symbols[n].st_size > 0) {
        functions[count++] =
            (struct function){.address = symbols[n].st_value, .name = names + symbols[n].st_name};
      }
    }
  }
  qsort(functions, count, sizeof *functions, by_address);
  size_t kept = 0;
  for (size_t n = 0; n < count; ++n) {
    if (kept == 0 || functions[kept - 1].address != functions[n].address) {
      functions[kept++] = functions[n];
    }
  }
  count = kept;
}

static int make_writable(const uint8_t *image) {
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
  const Elf64_Phdr *segments = (const Elf64_Phdr *)(image + header->e_phoff);
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  for (int p = 0; p < header->e_phnum; ++p) {
    if (segments[p].p_type == PT_LOAD && (segments[p].p_flags & PF_X)) {
      uint64_t begin = segments[p].p_vaddr & ~(page - 1),
               end = segments[p].p_vaddr + segments[p].p_memsz;
      if (mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        return 0;
      }
    }
  }
  return 1;
}

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("CALLED_FUNCTIONS");
  size_t bytes = 0;
  const uint8_t *image = path ? map_program(&bytes) : NULL;
  /* A program at an address of the loader's choice has type ET_DYN. */
  if (!image || ((const Elf64_Ehdr *)image)->e_type != ET_EXEC || !make_writable(image)) {
    return;
  }
  output = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  struct sigaction action = {.sa_sigaction = on_breakpoint, .sa_flags = SA_SIGINFO};
  if (output < 0 || sigaction(SIGTRAP, &action, NULL) != 0) {
    return;
  }
  find_functions(image);
  for (size_t n = 0; n < count; ++n) {
    uint8_t *first = (uint8_t *)functions[n].address;
    functions[n].first = *first;
    *first = BREAKPOINT;
  }
}

#endif
