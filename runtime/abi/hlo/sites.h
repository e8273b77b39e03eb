/*===- hlo/sites.h - Where generated code talks to the world -------------------===*\
 *
 * Custom calls, feeds and host transfers as generated code describes them: one static record per
 * call site, and one function that executes it. Like hlo/generated.h, not for callers of modules.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_SITES_H
#define HLO_SITES_H

#include <hlo/generated.h>

#ifdef __cplusplus
extern "C" {
#endif

/** hlo_buffer_desc.type of a token among a custom call's operands or results; it has no buffer. */
enum { HLO_SITE_TOKEN = -1 };

/** Bits of hlo_call_site.flags. */
enum {
  HLO_SITE_TUPLE = 1 /**< the result is a tuple: untyped handlers get an array of pointers */
};

/** One custom call. */
typedef struct hlo_call_site {
  hlo_rt_op op;         /**< `buffers` has the tokens as well, in their places */
  const char *target;   /**< custom_call_target */
  void (*symbol)(void); /**< weak reference to the target's name; null if nothing has it */
  const char *opaque;   /**< backend_config as text; never null */
  uint64_t opaque_bytes;
  const void *attributes; /**< typed FFI: an XLA_FFI_Attrs; null if there are none */
  int32_t api;            /**< HLO_API_* */
  uint32_t flags;
} hlo_call_site;

/** Calls the target's handler: the one in hlo_call.custom_calls, else `symbol`. `buffers` has one
 * pointer per buffer of the op that is not a token. An error of the handler is returned, and its
 * text becomes the call's message. */
HLO_NODISCARD hlo_status hlo_rt_custom_call(hlo_frame *frame, const hlo_call_site *site,
                                            void *const *buffers);

/** Kinds of feed. */
enum { HLO_SITE_INFEED = 0, HLO_SITE_OUTFEED = 1, HLO_SITE_SEND = 2, HLO_SITE_RECV = 3 };

/** One infeed or outfeed, or one send to or receive from the host. */
typedef struct hlo_feed_site {
  hlo_rt_op op;          /**< the leaves are its operands, or its results */
  const char *config;    /**< infeed_config, outfeed_config; never null */
  const uint64_t *bytes; /**< of each leaf */
  int64_t channel;       /**< of a send or recv */
  int32_t kind;          /**< HLO_SITE_* */
  int32_t count;         /**< leaves */
} hlo_feed_site;

/** Moves one item through the caller's hlo_feed. */
HLO_NODISCARD hlo_status hlo_rt_feed(hlo_frame *frame, const hlo_feed_site *site,
                                     void *const *leaves);

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef HLO_ASSERT_LAYOUT
/* { hlo_rt_op, ptr target, ptr symbol, ptr opaque, i64 opaque_bytes, ptr attributes, i32 api, i32
 * flags } */
HLO_ASSERT_LAYOUT(sizeof(hlo_call_site) == 96);
HLO_ASSERT_LAYOUT(offsetof(hlo_call_site, target) == 48);
HLO_ASSERT_LAYOUT(offsetof(hlo_call_site, api) == 88);
/* { hlo_rt_op, ptr config, ptr bytes, i64 channel, i32 kind, i32 count } */
HLO_ASSERT_LAYOUT(sizeof(hlo_feed_site) == 80);
HLO_ASSERT_LAYOUT(offsetof(hlo_feed_site, channel) == 64);
#endif

#endif /* HLO_SITES_H */
