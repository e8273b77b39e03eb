/*===- cpus.c - Number of CPUs available to the process ------------------------===*\
 *
 * The minimum of the affinity mask and the CPU quotas of the process's cgroup and the groups above
 * it, rounded up. Both versions of cgroups, at their usual mount point; files that cannot be read
 * set no limit.
 *
 *===-------------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include <fcntl.h>
#include <hlo/pool.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

/* The start of a small file as a string; empty if it cannot be read. */
static void read_file(const char *path, char *out, size_t capacity) {
  size_t length = 0;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    ssize_t got;
    while (length + 1 < capacity && (got = read(fd, out + length, capacity - 1 - length)) > 0) {
      length += (size_t)got;
    }
    close(fd);
  }
  out[length] = '\0';
}

/* Parses a decimal number at *p and moves *p behind it; -1 if there is none ("max"). */
static int64_t parse_number(const char **p) {
  while (**p == ' ') {
    ++*p;
  }
  if (**p < '0' || **p > '9') {
    return -1;
  }
  int64_t value = 0;
  for (; **p >= '0' && **p <= '9' && value < INT64_MAX / 16; ++*p) {
    value = value * 10 + (**p - '0');
  }
  return value;
}

static int64_t read_number(const char *folder, const char *name) {
  char path[1100], text[64];
  if (strlen(folder) + strlen(name) + 2 > sizeof(path)) {
    return -1;
  }
  strcpy(path, folder);
  strcat(path, "/");
  strcat(path, name);
  read_file(path, text, sizeof(text));
  const char *p = text;
  return parse_number(&p);
}

/* Number of CPUs for `quota` of `period` microseconds, rounded up; INT64_MAX: no limit. */
static int64_t quota_cpus(int64_t quota, int64_t period) {
  return quota > 0 && period > 0 ? (quota + period - 1) / period : INT64_MAX;
}

static int64_t folder_limit(const char *folder, int version) {
  if (version == 1) {
    return quota_cpus(read_number(folder, "cpu.cfs_quota_us"),
                      read_number(folder, "cpu.cfs_period_us"));
  }
  char path[1100], text[64];
  if (strlen(folder) + sizeof("/cpu.max") > sizeof(path)) {
    return INT64_MAX;
  }
  strcpy(path, folder);
  strcat(path, "/cpu.max");
  read_file(path, text, sizeof(text));
  const char *p = text;
  const int64_t quota = parse_number(&p);
  return quota < 0 ? INT64_MAX : quota_cpus(quota, parse_number(&p));
}

/* The least limit of `group` below `mount` and of the groups above it. */
static int64_t group_limit(const char *mount, const char *group, size_t length, int version) {
  char folder[1024];
  const size_t root = strlen(mount);
  if (root + length + 1 > sizeof(folder)) {
    length = 0;
  }
  memcpy(folder, mount, root);
  memcpy(folder + root, group, length);
  int64_t least = INT64_MAX;
  for (size_t end = root + length;; --end) {
    if (end == root || folder[end] == '/' || end == root + length) {
      folder[end] = '\0';
      const int64_t limit = folder_limit(folder, version);
      least = limit < least ? limit : least;
    }
    if (end == root) {
      return least;
    }
  }
}

/* True if the comma-separated list of `length` characters contains the controller "cpu". */
static int lists_cpu(const char *list, size_t length) {
  for (size_t i = 0; i + 3 <= length; ++i) {
    if ((i == 0 || list[i - 1] == ',') && memcmp(list + i, "cpu", 3) == 0 &&
        (i + 3 == length || list[i + 3] == ',')) {
      return 1;
    }
  }
  return 0;
}

static int64_t cgroup_limit(void) {
  char groups[4096];
  read_file("/proc/self/cgroup", groups, sizeof(groups));
  int64_t least = INT64_MAX;
  for (const char *line = groups; *line != '\0';) {
    /* Line format: hierarchy:controllers:/path */
    const size_t length = strcspn(line, "\n");
    const char *controllers = memchr(line, ':', length);
    const char *path = controllers
                           ? memchr(controllers + 1, ':', (size_t)(line + length - controllers - 1))
                           : NULL;
    if (path != NULL) {
      const size_t listed = (size_t)(path - controllers - 1);
      const size_t path_length = (size_t)(line + length - path - 1);
      int64_t limit = INT64_MAX;
      if (listed == 0) {
        limit = group_limit("/sys/fs/cgroup", path + 1, path_length, 2);
      } else if (lists_cpu(controllers + 1, listed)) {
        limit = group_limit("/sys/fs/cgroup/cpu", path + 1, path_length, 1);
      }
      least = limit < least ? limit : least;
    }
    line += length + (line[length] == '\n');
  }
  return least;
}

uint32_t hlo_pool_cpus(void) {
  int64_t cpus = 1;
  /* The call fails on machines with more than cpu_set_t's 1024 CPUs: then use the online CPUs. */
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    cpus = CPU_COUNT(&set);
  } else {
    cpus = sysconf(_SC_NPROCESSORS_ONLN);
  }
  const int64_t limit = cgroup_limit();
  cpus = limit < cpus ? limit : cpus;
  return cpus < 1 ? 1 : (uint32_t)cpus;
}
