/*===- checks.c - Checks before a module runs ----------------------------------===*\
 *
 * See checks.h. The conditions are cheap enough for every call; texts are made only if one fails.
 *
 *===-------------------------------------------------------------------------===*/
#include "checks.h"

#include <string.h>

#include "cpu.h"
#include "fields.h"
#include "fp.h"
#include "frame.h"

/* The size of the description and of its elements in the first version of the ABI, which newer
 * runtimes accept too. */
#define LEAST_DESC_BYTES (offsetof(hlo_module_desc, prepare) + sizeof(void *))
#define LEAST_BUFFER_BYTES (offsetof(hlo_buffer_desc, layout) + sizeof(void *))
#define LEAST_OP_BYTES (offsetof(hlo_op_desc, bytes) + sizeof(uint64_t))
#define LEAST_CUSTOM_CALL_BYTES (offsetof(hlo_custom_call, user) + sizeof(void *))
#define LEAST_PROFILE_BYTES (offsetof(hlo_profile, ticks) + sizeof(uint64_t))

/* What is wrong with the strides of the description's arrays; null if they are valid. */
static const char *stride_fault(const hlo_module_desc *desc) {
  if ((desc->inputs != NULL || desc->outputs != NULL) && desc->buffer_stride < LEAST_BUFFER_BYTES) {
    return "buffer_stride";
  }
  if (desc->ops != NULL && desc->op_stride < LEAST_OP_BYTES) {
    return "op_stride";
  }
  if (desc->custom_call_targets != NULL && desc->custom_call_stride < LEAST_CUSTOM_CALL_BYTES) {
    return "custom_call_stride";
  }
  return NULL;
}

/* Which function of the call's services is null; null if none is. Feeds and comm are checked where
 * they are needed. */
static const char *null_function(const hlo_call *call) {
  const hlo_executor *exec = HLO_FIELD(call, exec);
  if (HLO_HAS_FIELD(exec, parallel_for) && exec->parallel_for == NULL) {
    return "hlo_executor.parallel_for";
  }
  const hlo_allocator *alloc = HLO_FIELD(call, alloc);
  if (HLO_HAS_FIELD(alloc, free) && (alloc->alloc == NULL || alloc->free == NULL)) {
    return alloc->alloc == NULL ? "hlo_allocator.alloc" : "hlo_allocator.free";
  }
  return NULL;
}

hlo_status hlo_check_structs(const hlo_module_desc *desc, const hlo_call *call, hlo_text *text) {
  if (desc == NULL) {
    hlo_text_add(text, "no module description");
    return HLO_ERR_NULL;
  }
  if (desc->struct_size < LEAST_DESC_BYTES || desc->abi != HLO_ABI) {
    hlo_text_add(text, "module has abi ");
    hlo_text_number(text, desc->abi);
    hlo_text_add(text, " and a description of ");
    hlo_text_number(text, desc->struct_size);
    hlo_text_add(text, " bytes, this runtime expects abi ");
    hlo_text_number(text, HLO_ABI);
    hlo_text_add(text, " and at least ");
    hlo_text_number(text, LEAST_DESC_BYTES);
    hlo_text_add(text, " bytes");
    return HLO_ERR_STRUCT;
  }
  const char *stride = stride_fault(desc);
  if (stride != NULL) {
    hlo_text_add(text, desc->name);
    hlo_text_add(text, ": the description's ");
    hlo_text_add(text, stride);
    hlo_text_add(text, " is less than the size of an element");
    return HLO_ERR_STRUCT;
  }
  if (desc->fp_mode & ~(uint32_t)HLO_FP_KNOWN) {
    hlo_text_add(text, desc->name);
    hlo_text_add(text, ": fp_mode ");
    hlo_text_hex(text, desc->fp_mode);
    hlo_text_add(text, " is unknown to this runtime");
    return HLO_ERR_STRUCT;
  }
  if (call == NULL) {
    return HLO_OK;
  }
  if (call->struct_size < offsetof(hlo_call, arena) || call->abi != HLO_ABI) {
    hlo_text_add(text, desc->name);
    hlo_text_add(text, ": hlo_call has abi ");
    hlo_text_number(text, call->abi);
    hlo_text_add(text, " and struct_size ");
    hlo_text_number(text, call->struct_size);
    hlo_text_add(text, ", expected abi ");
    hlo_text_number(text, HLO_ABI);
    hlo_text_add(text, " and struct_size ");
    hlo_text_number(text, sizeof(hlo_call));
    hlo_text_add(text, " (use hlo_call_init)");
    return HLO_ERR_STRUCT;
  }
  const char *function = null_function(call);
  if (function != NULL) {
    hlo_text_add(text, desc->name);
    hlo_text_add(text, ": ");
    hlo_text_add(text, function);
    hlo_text_add(text, " is null");
    return HLO_ERR_NULL;
  }
  if (HLO_FIELD(call, profile) != NULL && (HLO_FIELD(call, profile_count) < desc->num_ops ||
                                           HLO_FIELD(call, profile_stride) < LEAST_PROFILE_BYTES)) {
    hlo_text_add(text, desc->name);
    hlo_text_add(text, ": hlo_call.profile: needs ");
    hlo_text_number(text, desc->num_ops);
    hlo_text_add(text, " entries ");
    hlo_text_number(text, LEAST_PROFILE_BYTES);
    hlo_text_add(text, " bytes apart, given ");
    hlo_text_number(text, HLO_FIELD(call, profile_count));
    hlo_text_add(text, " entries ");
    hlo_text_number(text, HLO_FIELD(call, profile_stride));
    hlo_text_add(text, " bytes apart");
    return HLO_ERR_STRUCT;
  }
  const hlo_custom_calls *table = HLO_FIELD(call, custom_calls);
  if (table != NULL && (!HLO_HAS_FIELD(table, entries) ||
                        (table->count > 0 && table->entry_stride < LEAST_CUSTOM_CALL_BYTES))) {
    hlo_text_add(text, desc->name);
    hlo_text_add(text, ": hlo_custom_calls has struct_size ");
    hlo_text_number(text, table->struct_size);
    hlo_text_add(text, " and entry_stride ");
    hlo_text_number(text, HLO_FIELD(table, entry_stride));
    hlo_text_add(text, ", expected ");
    hlo_text_number(text, sizeof(hlo_custom_calls));
    hlo_text_add(text, " and ");
    hlo_text_number(text, sizeof(hlo_custom_call));
    return HLO_ERR_STRUCT;
  }
  return HLO_OK;
}

hlo_status hlo_check_call(const hlo_module_desc *desc, const hlo_call *call, hlo_text *text) {
  *text = (hlo_text){NULL, 0, 0};
  if (call != NULL && call->struct_size == 0) {
    /* Perhaps the caller forgot hlo_call_init. The call's version is unknown, but the message is at
     * this place in all versions of the struct. */
    *text = hlo_text_begin(call->message, call->message_bytes);
  } else if (call != NULL) {
    *text = hlo_text_of_call(call);
  }
  return hlo_check_structs(desc, call, text);
}

hlo_status hlo_check_cpu(const hlo_module_desc *desc, hlo_text *text) {
  if (desc->arch != hlo_cpu_arch()) {
    hlo_text_add(text, desc->name);
    hlo_text_add(text, ": compiled for another architecture (");
    hlo_text_add(text, desc->target);
    hlo_text_add(text, ")");
    return HLO_ERR_CPU;
  }
  uint64_t missing = desc->cpu_features & ~hlo_cpu_detect();
  if (missing == 0) {
    return HLO_OK;
  }
  missing &= ~hlo_cpu_request(missing);
  if (missing == 0) {
    return HLO_OK;
  }
  const uint64_t refused = hlo_cpu_on_request(missing);
  hlo_text_add(text, desc->name);
  hlo_text_add(text, ": this CPU lacks ");
  for (const char *separator = ""; missing != 0; missing &= missing - 1, separator = ", ") {
    const char *name = hlo_cpu_feature_name(desc->arch, missing);
    hlo_text_add(text, separator);
    hlo_text_add(text, name ? name : "a feature unknown to this runtime");
  }
  hlo_text_add(text, ", for which the module was compiled (");
  hlo_text_add(text, desc->target);
  hlo_text_add(text, refused ? "), or its operating system does not permit them" : ")");
  return HLO_ERR_CPU;
}

const hlo_custom_call *hlo_find_custom_call(const hlo_custom_calls *table, const char *name) {
  if (!HLO_HAS_FIELD(table, entries) || table->entries == NULL) {
    return NULL;
  }
  uint32_t low = 0, high = table->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const hlo_custom_call *entry = hlo_custom_call_at(table, middle);
    const int order = strcmp(entry->name, name);
    if (order == 0) {
      return entry;
    }
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NULL;
}

/* Why the module cannot call `target`; null if it can. */
static const char *custom_call_fault(const hlo_custom_calls *table, const char *name,
                                     const hlo_custom_call *target) {
  const hlo_custom_call *given = hlo_find_custom_call(table, name);
  if (given == NULL) {
    given = target;
  }
  if (given == NULL || given->fn == NULL) {
    return "no custom call target named ";
  }
  return target != NULL && given->api != target->api ? "another api version is called of target "
                                                     : NULL;
}

hlo_status hlo_check_services(const hlo_module_desc *desc, const hlo_call *call, hlo_text *text) {
  if (desc->needs == 0 && desc->custom_calls == NULL) {
    return HLO_OK;
  }
  const char *separator = "";
  hlo_status status = HLO_OK;
#define NEED(condition, what)                            \
  if (condition) {                                       \
    hlo_text_add(text, status ? separator : desc->name); \
    hlo_text_add(text, status ? "" : ": ");              \
    hlo_text_add(text, "hlo_call has no ");              \
    hlo_text_add(text, what);                            \
    status = HLO_ERR_MISSING;                            \
    separator = "; ";                                    \
  }
  NEED((desc->needs & HLO_NEEDS_INFEED) && !HLO_FIELD(call, infeed), "infeed")
  NEED((desc->needs & HLO_NEEDS_OUTFEED) && !HLO_FIELD(call, outfeed), "outfeed")
  NEED((desc->needs & HLO_NEEDS_COMM) && !HLO_FIELD(call, comm), "comm")
  const hlo_comm *comm = HLO_FIELD(call, comm);
  NEED((desc->needs & HLO_NEEDS_COMM) && comm && !HLO_FIELD(comm, exchange), "comm with exchange")
  NEED((desc->needs & HLO_NEEDS_STATE) && !HLO_FIELD(call, state), "state")
  NEED((desc->needs & HLO_NEEDS_HOST_SEND) && !HLO_FIELD(call, host_send), "host_send")
  NEED((desc->needs & HLO_NEEDS_HOST_RECV) && !HLO_FIELD(call, host_recv), "host_recv")
#undef NEED
  if ((desc->needs & HLO_NEEDS_COMM) && comm &&
      (comm->num_replicas != (int32_t)desc->num_replicas ||
       comm->num_partitions != (int32_t)desc->num_partitions)) {
    hlo_text_add(text, status ? separator : desc->name);
    hlo_text_add(text, status ? "" : ": ");
    hlo_text_add(text, "compiled for ");
    hlo_text_number(text, desc->num_replicas);
    hlo_text_add(text, " replicas and ");
    hlo_text_number(text, desc->num_partitions);
    hlo_text_add(text, " partitions, hlo_comm has ");
    hlo_text_number(text, (uint64_t)comm->num_replicas);
    hlo_text_add(text, " and ");
    hlo_text_number(text, (uint64_t)comm->num_partitions);
    status = HLO_ERR_MISSING;
    separator = "; ";
  }
  const hlo_custom_calls *table = HLO_FIELD(call, custom_calls);
  const char *const *names = desc->custom_calls;
  for (uint32_t i = 0; names != NULL && names[i] != NULL; ++i) {
    const hlo_custom_call *target =
        desc->custom_call_targets != NULL ? hlo_custom_call_target_at(desc, i) : NULL;
    const char *fault = custom_call_fault(table, names[i], target);
    if (fault != NULL) {
      hlo_text_add(text, status ? separator : desc->name);
      hlo_text_add(text, status ? "" : ": ");
      hlo_text_add(text, fault);
      hlo_text_add(text, names[i]);
      status = HLO_ERR_MISSING;
      separator = "; ";
    }
  }
  return status;
}

/* Asks each typed-FFI handler for its version; missing handlers have been reported. */
static hlo_status check_versions(const hlo_module_desc *desc, const hlo_call *call,
                                 hlo_text *text) {
  const hlo_custom_calls *table = HLO_FIELD(call, custom_calls);
  hlo_status status = HLO_OK;
  for (uint32_t i = 0; hlo_ffi_version != NULL && desc->custom_call_targets != NULL; ++i) {
    const hlo_custom_call *target = hlo_custom_call_target_at(desc, i);
    if (target->name == NULL) {
      break;
    }
    const hlo_custom_call *given = hlo_find_custom_call(table, target->name);
    const hlo_custom_call *handler = given != NULL ? given : target;
    int major = 0, minor = 0;
    if (target->api != HLO_API_TYPED_FFI || handler->api != target->api || handler->fn == NULL ||
        hlo_ffi_version(handler->fn, &major, &minor) == HLO_OK) {
      continue;
    }
    hlo_text_add(text, status ? "; " : desc->name);
    hlo_text_add(text, status ? "" : ": ");
    hlo_text_add(text, "custom call target ");
    hlo_text_add(text, target->name);
    hlo_text_add(text, " is for version ");
    hlo_text_number(text, (uint64_t)major);
    hlo_text_add(text, ".");
    hlo_text_number(text, (uint64_t)minor);
    hlo_text_add(text, " of the typed FFI, this runtime has 0.1 to 0.4");
    status = HLO_ERR_MISSING;
  }
  return status;
}

hlo_status hlo_check_scratch(const hlo_module_desc *desc, const hlo_call *call,
                             const hlo_arena_need *need, hlo_text *text) {
  if (need->bytes == 0) {
    return HLO_OK;
  }
  void *arena = HLO_FIELD(call, arena);
  const size_t given = HLO_FIELD(call, arena_bytes);
  const int aligned = ((uintptr_t)arena & (desc->arena_align - 1)) == 0;
  if (arena != NULL && given >= need->bytes && aligned) {
    return HLO_OK;
  }
  const hlo_allocator *alloc = HLO_FIELD(call, alloc);
  if (arena == NULL && HLO_HAS_FIELD(alloc, free)) {
    return HLO_OK;
  }
  hlo_text_add(text, desc->name);
  hlo_text_add(text, ": arena: needs ");
  hlo_text_number(text, need->bytes);
  hlo_text_add(text, " bytes ");
  if (need->slot > 0 && need->threads > 1) {
    hlo_text_add(text, "for ");
    hlo_text_number(text, need->threads);
    hlo_text_add(text, " threads ");
  }
  hlo_text_add(text, "(align ");
  hlo_text_number(text, desc->arena_align);
  hlo_text_add(text, "), given ");
  if (arena == NULL) {
    hlo_text_add(text, "neither arena nor alloc");
  } else {
    hlo_text_number(text, given);
    if (!aligned) {
      hlo_text_add(text, " at ");
      hlo_text_hex(text, (uintptr_t)arena);
    }
  }
  return HLO_ERR_ARENA;
}

static void add_buffer(hlo_text *text, const char *what, uint32_t index, const char *name) {
  hlo_text_add(text, what);
  hlo_text_add(text, " ");
  hlo_text_number(text, index);
  hlo_text_add(text, " (");
  hlo_text_add(text, name);
  hlo_text_add(text, ")");
}

/* Checks an input that is the true size of a bounded dimension. */
static hlo_status check_size(const hlo_module_desc *desc, uint32_t i, const void *buffer,
                             hlo_text *text) {
  const hlo_buffer_desc *leaf = hlo_input_at(desc, i);
  const int64_t size = *(const int64_t *)buffer;
  const int64_t bound = hlo_input_at(desc, (uint32_t)leaf->size_of - 1)->dims[leaf->size_dim];
  if (size >= 0 && size <= bound) {
    return HLO_OK;
  }
  hlo_text_add(text, desc->name);
  hlo_text_add(text, ": ");
  add_buffer(text, "input", i, leaf->name);
  hlo_text_add(text, " is ");
  hlo_text_add(text, size < 0 ? "-" : "");
  hlo_text_number(text, size < 0 ? -(uint64_t)size : (uint64_t)size);
  hlo_text_add(text, ", expected 0 to ");
  hlo_text_number(text, (uint64_t)bound);
  return HLO_ERR_SIZE;
}

/* Checks one side; `what` is "input" or "output". If `use` is not null, buffers without the bit
 * `reader` in it are skipped. */
static hlo_status check_side(const hlo_module_desc *desc, const hlo_buffer_desc *leaves,
                             uint32_t count, const void *const *buffers, const char *what,
                             const uint8_t *use, uint8_t reader, hlo_text *text) {
  if (count > 0 && buffers == NULL) {
    hlo_text_add(text, desc->name);
    hlo_text_add(text, ": the array of ");
    hlo_text_add(text, what);
    hlo_text_add(text, "s is null, it needs ");
    hlo_text_number(text, count);
    hlo_text_add(text, " pointers");
    return HLO_ERR_NULL;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (use != NULL && !(use[i] & reader)) {
      continue;
    }
    const hlo_buffer_desc *leaf = hlo_element_at(leaves, desc->buffer_stride, i);
    if (buffers[i] == NULL && leaf->bytes > 0) {
      hlo_text_add(text, desc->name);
      hlo_text_add(text, ": ");
      add_buffer(text, what, i, leaf->name);
      hlo_text_add(text, " is null, it needs ");
      hlo_text_number(text, leaf->bytes);
      hlo_text_add(text, " bytes");
      return HLO_ERR_NULL;
    }
    if ((uintptr_t)buffers[i] & (leaf->align - 1)) {
      hlo_text_add(text, desc->name);
      hlo_text_add(text, ": ");
      add_buffer(text, what, i, leaf->name);
      hlo_text_add(text, " is at ");
      hlo_text_hex(text, (uintptr_t)buffers[i]);
      hlo_text_add(text, ", which is not aligned to ");
      hlo_text_number(text, leaf->align);
      return HLO_ERR_ALIGN;
    }
  }
  return HLO_OK;
}

hlo_status hlo_check_inputs(const hlo_module_desc *desc, const void *const *inputs, uint8_t reader,
                            hlo_text *text) {
  const uint8_t *use = HLO_FIELD(desc, input_use);
  hlo_status status =
      check_side(desc, desc->inputs, desc->num_inputs, inputs, "input", use, reader, text);
  for (uint32_t i = 0; status == HLO_OK && i < desc->num_inputs; ++i) {
    if (hlo_input_at(desc, i)->size_of != 0 && (use == NULL || (use[i] & reader))) {
      status = check_size(desc, i, inputs[i], text);
    }
  }
  return status;
}

hlo_status hlo_check_buffers(const hlo_module_desc *desc, const void *const *inputs,
                             const void *const *outputs, hlo_text *text) {
  const hlo_status status = hlo_check_inputs(desc, inputs, HLO_READ_BY_RUN, text);
  return status != HLO_OK
             ? status
             : check_side(desc, desc->outputs, desc->num_outputs, outputs, "output", NULL, 0, text);
}

hlo_status hlo_check(const hlo_module_desc *desc, const hlo_call *call, char *message,
                     size_t message_bytes) {
  hlo_text text = hlo_text_begin(message, message_bytes);
  hlo_status first = hlo_check_structs(desc, call, &text);
  if (first != HLO_OK) {
    return first;
  }
  const hlo_arena_need need = hlo_arena_need_of(desc, call, /*prepares=*/0, NULL);
  for (int which = 0; which < 5; ++which) {
    hlo_text part = text;
    if (first != HLO_OK) {
      hlo_text_add(&part, "; ");
    }
    const hlo_status status = which == 0   ? hlo_check_cpu(desc, &part)
                              : which == 1 ? hlo_check_services(desc, call, &part)
                              : which == 2 ? check_versions(desc, call, &part)
                              : which == 3 ? hlo_check_prepared(desc, call, &part)
                                           : hlo_check_scratch(desc, call, &need, &part);
    if (status != HLO_OK) {
      first = first != HLO_OK ? first : status;
      text = part;
    } else {
      hlo_text_add(&text, ""); /* takes back the separator */
    }
  }
  return first;
}
