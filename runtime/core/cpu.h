/*===- cpu.h - CPU features that need a permission -----------------------------===*\
 *
 * What the runtime asks of core/cpu.c beyond <hlo/cpu.h>.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef RUNTIME_CORE_CPU_H
#define RUNTIME_CORE_CPU_H

#include <hlo/cpu.h>

/** Those of `features`, of this architecture, that the operating system grants only on request. */
uint64_t hlo_cpu_on_request(uint64_t features);

#endif
