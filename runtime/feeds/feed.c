/*===- feed.c - Infeed, outfeed, send and recv ----------------------------------===*\
 *
 * Called by generated code: passes one item to the caller's hlo_feed, and adds the instruction's
 * name to its errors.
 *
 *===-------------------------------------------------------------------------===*/
#include <hlo/sites.h>

#include "runtime/core/fields.h"
#include "runtime/core/fp.h"
#include "runtime/core/text.h"

static void add_reason(hlo_frame *frame, const hlo_feed_site *site, hlo_status status,
                       const char *reason) {
  hlo_text text = hlo_text_of_call(frame->call);
  hlo_text_add(&text, frame->desc->name);
  hlo_text_add(&text, ": ");
  hlo_text_add(&text, site->op.opcode);
  hlo_text_add(&text, " ");
  hlo_text_add(&text, site->op.name);
  hlo_text_add(&text, ": ");
  hlo_text_add(&text, reason[0] != '\0' ? reason : "the caller's feed failed with ");
  if (reason[0] == '\0') {
    hlo_text_add(&text, hlo_status_name(status));
  }
}

/* The channel in decimal, for feeds without move_item. */
static const char *decimal(int64_t value, char out[24]) {
  hlo_text text = hlo_text_begin(out, 24);
  if (value < 0) {
    hlo_text_add(&text, "-");
  }
  hlo_text_number(&text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
  return out;
}

hlo_status hlo_rt_feed(hlo_frame *frame, const hlo_feed_site *site, void *const *leaves) {
  const hlo_call *call = frame->call;
  const hlo_feed *feed = site->kind == HLO_SITE_INFEED    ? HLO_FIELD(call, infeed)
                         : site->kind == HLO_SITE_OUTFEED ? HLO_FIELD(call, outfeed)
                         : site->kind == HLO_SITE_SEND    ? HLO_FIELD(call, host_send)
                                                          : HLO_FIELD(call, host_recv);
  const hlo_status stop = hlo_rt_poll(frame);
  if (stop != HLO_OK) {
    return stop;
  }
  if (site->count == 0) { /* the empty tuple */
    return HLO_OK;
  }
  char reason[256] = "";
  const uint32_t inside = hlo_fp_get(); /* callbacks run under the caller's mode */
  hlo_fp_set(frame->saved_fp);
  hlo_status status = HLO_ERR_MISSING;
  if (HLO_FIELD(feed, move_item) != NULL) {
    const hlo_feed_item item = {sizeof(hlo_feed_item),
                                site->count,
                                site->op.buffer_stride,
                                0,
                                site->config,
                                site->channel,
                                site->op.buffers,
                                site->bytes,
                                leaves,
                                reason,
                                sizeof(reason),
                                HLO_FIELD(call, cancel),
                                HLO_FIELD(call, deadline_ns)};
    status = feed->move_item(feed->user, &item);
  } else if (HLO_FIELD(feed, move) != NULL) {
    char channel[24];
    const char *config =
        site->kind >= HLO_SITE_SEND ? decimal(site->channel, channel) : site->config;
    status = feed->move(feed->user, config, leaves, site->bytes, site->count);
  }
  hlo_fp_set(inside);
  if (status != HLO_OK) {
    reason[sizeof(reason) - 1] = '\0';
    add_reason(frame, site, status, reason);
  }
  return status;
}
