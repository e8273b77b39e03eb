/*===- prepared.c - Blocks that M_prepare writes and M_run reads ---------------===*\
 *
 * A block starts with an hlo_prepared_header, which identifies its module and says whether it is
 * finished; the compiler defines the rest. M_prepare writes `complete` last, with release order,
 * and M_run reads it with acquire order: a thread that finds it set sees the whole block.
 *
 *===-------------------------------------------------------------------------===*/
#include <string.h>

#include "checks.h"
#include "fields.h"
#include "frame.h"

/* The name of the CPU level that a description is of, as a block's header has it: cut, and filled
 * with zeros; empty if its object has no levels. */
typedef struct LevelName {
  char name[sizeof(((hlo_prepared_header *)0)->level)];
} LevelName;

static LevelName name_of_level(const hlo_module_desc *desc) {
  LevelName level;
  memset(&level, 0, sizeof level);
  const char *name = HLO_FIELD(desc, level_name);
  for (size_t i = 0; name != NULL && name[i] != '\0' && i + 1 < sizeof(level.name); ++i) {
    level.name[i] = name[i];
  }
  return level;
}

static int is_of_level(const hlo_prepared_header *block, const hlo_module_desc *desc) {
  const LevelName level = name_of_level(desc);
  size_t same = 0;
  while (same < sizeof(level.name) && block->level[same] == level.name[same]) {
    ++same;
  }
  return same == sizeof(level.name);
}

hlo_status hlo_check_prepared(const hlo_module_desc *desc, const hlo_call *call, hlo_text *text) {
  const uint64_t needed = HLO_FIELD(desc, prepared_bytes);
  if (needed == 0) {
    return HLO_OK;
  }
  const hlo_prepared_header *block = HLO_FIELD(call, prepared);
  const size_t given = HLO_FIELD(call, prepared_bytes);
  const char *fault = NULL;
  if (block == NULL) {
    fault = "none was given";
  } else if (given < needed || ((uintptr_t)block & 63) != 0) {
    hlo_text_add(text, desc->name);
    hlo_text_add(text, ": prepared block: needs ");
    hlo_text_number(text, needed);
    hlo_text_add(text, " bytes (align 64), given ");
    hlo_text_number(text, given);
    hlo_text_add(text, " at ");
    hlo_text_hex(text, (uintptr_t)block);
    return HLO_ERR_PREPARED;
  } else if (block->magic != HLO_PREPARED_MAGIC) {
    fault = "it has not been written";
  } else if (block->abi != HLO_ABI) {
    hlo_text_add(text, desc->name);
    hlo_text_add(text, ": prepared block: it has abi ");
    hlo_text_number(text, block->abi);
    hlo_text_add(text, ", this runtime expects abi ");
    hlo_text_number(text, HLO_ABI);
    return HLO_ERR_PREPARED;
  } else if (!is_of_level(block, desc)) {
    hlo_text_add(text, desc->name);
    hlo_text_add(text, ": prepared block: it was written for CPU level '");
    hlo_text_add(text, block->level[sizeof(block->level) - 1] == '\0' ? block->level : "?");
    hlo_text_add(text, "', this call runs at level '");
    hlo_text_add(text, name_of_level(desc).name);
    hlo_text_add(text, "'");
    return HLO_ERR_PREPARED;
  } else if (block->id != desc->prepared_id || block->bytes != needed) {
    fault = "it is that of another module, or of another compilation of this one";
  } else if (__atomic_load_n(&block->complete, __ATOMIC_ACQUIRE) != 1) {
    fault = "it is not finished";
  }
  if (fault == NULL) {
    return HLO_OK;
  }
  hlo_text_add(text, desc->name);
  hlo_text_add(text, ": prepared block: ");
  hlo_text_add(text, fault);
  hlo_text_add(text, "; call ");
  hlo_text_add(text, desc->name);
  hlo_text_add(text, "_prepare, then set hlo_call.prepared and prepared_bytes");
  return HLO_ERR_PREPARED;
}

static hlo_status check_block(const hlo_module_desc *desc, const void *prepared, size_t bytes,
                              hlo_text *text) {
  if (prepared != NULL && bytes >= desc->prepared_bytes && ((uintptr_t)prepared & 63) == 0) {
    return HLO_OK;
  }
  hlo_text_add(text, desc->name);
  hlo_text_add(text, "_prepare: the block needs ");
  hlo_text_number(text, desc->prepared_bytes);
  hlo_text_add(text, " bytes (align 64), given ");
  if (prepared == NULL) {
    hlo_text_add(text, "none");
    return HLO_ERR_NULL;
  }
  hlo_text_number(text, bytes);
  hlo_text_add(text, " at ");
  hlo_text_hex(text, (uintptr_t)prepared);
  return bytes < desc->prepared_bytes ? HLO_ERR_PREPARED : HLO_ERR_ALIGN;
}

hlo_status hlo_rt_prepare_begin(const hlo_call *call, const hlo_module_desc *desc,
                                const void *const *inputs, void *prepared, size_t bytes,
                                hlo_frame *frame) {
  hlo_text text;
  hlo_status status = hlo_check_call(desc, call, &text);
  if (status != HLO_OK) {
    return status;
  }
  const hlo_arena_need need = hlo_arena_need_of(desc, call, /*prepares=*/1, NULL);
  if ((status = hlo_check_inputs(desc, inputs, HLO_READ_BY_PREPARE, &text)) ||
      (status = check_block(desc, prepared, bytes, &text)) ||
      (status = hlo_check_cpu(desc, &text)) ||
      (status = hlo_check_scratch(desc, call, &need, &text))) {
    return status;
  }
  if ((status = hlo_take_arena(call, desc, &need, frame))) {
    return status;
  }
  hlo_prepared_header header;
  memset(&header, 0, sizeof header);
  header.magic = HLO_PREPARED_MAGIC;
  header.abi = HLO_ABI;
  header.bytes = desc->prepared_bytes;
  header.id = desc->prepared_id;
  memcpy(header.level, name_of_level(desc).name, sizeof header.level);
  memcpy(prepared, &header, sizeof header);
  hlo_start_frame(call, desc, prepared, frame);
  return HLO_OK;
}

hlo_status hlo_rt_prepare_end(hlo_frame *frame, hlo_status status) {
  hlo_leave_frame(frame);
  if (status == HLO_OK) {
    hlo_prepared_header *header = frame->prepared;
    __atomic_store_n(&header->complete, 1, __ATOMIC_RELEASE);
  }
  return status;
}
