/*===- levels.c - The CPU level at which a call runs ----------------------------===*\
 *
 * An object may hold a module several times, for CPUs of different levels. Which one runs follows
 * from the CPU's features, one word that cpu.c reads once and that all modules share, so the choice
 * costs a comparison per level and nothing is stored.
 *
 *===-------------------------------------------------------------------------===*/
#include <hlo/generated.h>
#include <stddef.h>

#include "checks.h"
#include "cpu.h"
#include "fields.h"
#include "frame.h"

/* True if this CPU has all features of a level. What the operating system grants only on request is
 * requested once. */
static int is_supported(const hlo_module_desc *level) {
  if (level->arch != hlo_cpu_arch()) {
    return 0;
  }
  const uint64_t missing = level->cpu_features & ~hlo_cpu_detect();
  if (missing == 0) {
    return 1;
  }
  return (missing & ~hlo_cpu_on_request(missing)) == 0 && !hlo_cpu_was_requested() &&
         hlo_cpu_request(missing) == missing;
}

/* The level that a call with a valid header runs at, the description itself if it has none; null
 * after a message. */
static const hlo_module_desc *find_level(const hlo_module_desc *desc, const hlo_call *call,
                                         hlo_text *text) {
  const uint32_t count = HLO_FIELD(desc, num_levels);
  if (count == 0) {
    return desc;
  }
  const int32_t asked = HLO_FIELD(call, cpu_level);
  if (asked < 0 || (uint32_t)asked > count) {
    hlo_text_add(text, desc->name);
    hlo_text_add(text, ": hlo_call.cpu_level is not one of the module's CPU levels, 1 to ");
    hlo_text_number(text, count);
    for (uint32_t i = 0; i < count; ++i) {
      hlo_text_add(text, i == 0 ? " (" : ", ");
      hlo_text_add(text, desc->levels[i]->level_name);
    }
    hlo_text_add(text, ")");
    return NULL;
  }
  if (asked > 0) {
    const hlo_module_desc *level = desc->levels[asked - 1];
    return hlo_check_cpu(level, text) == HLO_OK ? level : NULL;
  }
  for (uint32_t i = count; i > 0; --i) {
    if (is_supported(desc->levels[i - 1])) {
      return desc->levels[i - 1];
    }
  }
  /* Says what the CPU lacks for the least level. */
  return hlo_check_cpu(desc->levels[0], text) == HLO_OK ? desc->levels[0] : NULL;
}

/* The level that a call runs at; null and an error after a message. */
static hlo_status choose_level(const hlo_call *call, const hlo_module_desc *desc,
                               const hlo_module_desc **level) {
  hlo_text text;
  *level = NULL;
  const hlo_status status = hlo_check_call(desc, call, &text);
  if (status != HLO_OK) {
    return status;
  }
  *level = find_level(desc, call, &text);
  return *level != NULL ? HLO_OK : HLO_ERR_CPU;
}

const hlo_module_desc *hlo_level(const hlo_module_desc *desc, const hlo_call *call) {
  const hlo_module_desc *level;
  return choose_level(call, desc, &level) == HLO_OK ? level : NULL;
}

hlo_status hlo_rt_run_level(const hlo_call *call, const hlo_module_desc *desc,
                            const void *const *inputs, void *const *outputs) {
  const hlo_module_desc *level;
  const hlo_status status = choose_level(call, desc, &level);
  return status == HLO_OK ? level->run(call, inputs, outputs) : hlo_refuse(call, status);
}

hlo_status hlo_rt_prepare_level(const hlo_call *call, const hlo_module_desc *desc,
                                const void *const *inputs, void *prepared, size_t bytes) {
  const hlo_module_desc *level;
  const hlo_status status = choose_level(call, desc, &level);
  return status == HLO_OK ? level->prepare(call, inputs, prepared, bytes) : status;
}
