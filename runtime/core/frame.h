/*===- frame.h - Begin and end of a call ---------------------------------------===*/
#ifndef RUNTIME_CORE_FRAME_H
#define RUNTIME_CORE_FRAME_H

#include <hlo/generated.h>

#include "sizes.h"

/** The arena that a call of M_run or of M_prepare needs. */
typedef struct hlo_arena_need {
  uint64_t plan, slot; /**< bytes needed once, and per thread */
  uint32_t threads;
  uint64_t bytes; /**< total; UINT64_MAX if it exceeds 64 bits */
} hlo_arena_need;

/** `sizes`: of the call; null: the sizes that need least. */
hlo_arena_need hlo_arena_need_of(const hlo_module_desc *desc, const hlo_call *call, int prepares,
                                 const hlo_sizes *sizes);
/** The same for the sizes of a call with these inputs, which have been checked. */
hlo_arena_need hlo_arena_need_for(const hlo_module_desc *desc, const hlo_call *call, int prepares,
                                  const void *const *inputs);

/** Gives the frame its arena and slots: the caller's arena, which has been checked, or memory from
 * call->alloc. */
hlo_status hlo_take_arena(const hlo_call *call, const hlo_module_desc *desc,
                          const hlo_arena_need *need, hlo_frame *frame);
/** Fills in the rest of the frame and sets the floating-point mode; nothing can fail after it. */
void hlo_start_frame(const hlo_call *call, const hlo_module_desc *desc, void *prepared,
                     hlo_frame *frame);
/** Restores the caller's mode and frees the memory from hlo_take_arena. */
void hlo_leave_frame(hlo_frame *frame);
/** Tells the other ranks not to wait for a call that has failed. */
void hlo_tell_peers(const hlo_call *call, hlo_status status);
/** Does so for a call that has not begun, if the call's header is valid; returns `status`. */
hlo_status hlo_refuse(const hlo_call *call, hlo_status status);

#endif
