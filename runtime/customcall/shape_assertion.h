/*===- shape_assertion.h - Assertions on sizes ---------------------------------===*/
#ifndef RUNTIME_CUSTOMCALL_SHAPE_ASSERTION_H
#define RUNTIME_CUSTOMCALL_SHAPE_ASSERTION_H

#include <hlo/sites.h>

#include "runtime/core/frame.h"

/** Fails with the site's text unless operand 0 is true. No operand may be a token. */
hlo_status hlo_assert_sizes(hlo_frame *frame, const hlo_call_site *site, void *const *buffers);

#endif
