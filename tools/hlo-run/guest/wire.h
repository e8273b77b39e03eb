//===- wire.h - What hlo-run and its guest say to each other --------------===//
//
// hlo-run --target=... compiles for another architecture, and the guest, a program of that
// architecture under an emulator, loads the module and calls it. Each rank has a socket of its own.
// Numbers are little-endian and unaligned, a text is its length (u32) and its bytes; an absent
// text has the length UINT32_MAX. Both sides are built from one tree, so there are no versions.
//
//   guest -> hlo-run, after `describe`: the module's description (send_description), and the end
//   hlo-run -> guest: HLO_WIRE_RUN or HLO_WIRE_PREPARE, u8 first, i64 deadline_ns, u64 rng_seed,
//                     u8 profile, u8 set of 1 << which for the feeds there are, the bytes of each
//                     input (of a size that the description says)
//   guest -> hlo-run: any number of HLO_WIRE_FEED: u8 which, i64 channel, text config, u32 leaves,
//                     for each leaf its description and u64 bytes, then, if the module gives them,
//                     the bytes themselves
//   hlo-run -> guest:   i32 status, text message, and the bytes of the leaves if the module takes
//                     them and the status is 0
//   guest -> hlo-run: HLO_WIRE_DONE: i32 status, text message, u64 ns; after a run without error
//                     the bytes of each output; with a profile, u64 calls, ns, bytes of each
//                     operation
//
//===----------------------------------------------------------------------===//
#ifndef TOOLS_HLO_RUN_GUEST_WIRE_H
#define TOOLS_HLO_RUN_GUEST_WIRE_H

enum { HLO_WIRE_RUN = 1, HLO_WIRE_PREPARE, HLO_WIRE_FEED, HLO_WIRE_DONE };

/* `which` of a feed. */
enum { HLO_WIRE_INFEED, HLO_WIRE_OUTFEED, HLO_WIRE_HOST_SEND, HLO_WIRE_HOST_RECV };

/* The socket of rank 0; the others follow. */
enum { HLO_WIRE_FIRST_SOCKET = 3 };

#endif
