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

/** True after hlo_cpu_request has asked the operating system once: another request would take as
 * long (it reads CPUID, tens of microseconds in a virtual machine), for the same answer. */
int hlo_cpu_was_requested(void);

#endif
