/*===- requests.h - Exchanges in two parts, between threads -------------------------===*\
 *
 * What the ranks of one process have begun and not finished (hlo_comm.begin). Any thread of a rank
 * can execute a message or a share as soon as those concerned have begun, so a rank that finishes
 * waits for the others' begin only, never for their finish.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef RUNTIME_COLLECTIVES_REQUESTS_H
#define RUNTIME_COLLECTIVES_REQUESTS_H

#include <hlo/rt.h>

/** The requests of all ranks. */
typedef struct hlo_requests hlo_requests;

/** Bytes of memory for the requests of `count` ranks. */
size_t hlo_requests_bytes(int32_t count);
/** Makes them in memory of so many zero bytes. `changed(user, rank)` is called when something has
 * happened that rank `rank` may wait for. */
void hlo_requests_init(hlo_requests *requests, void (*changed)(void *user, int32_t rank),
                       void *user);
void hlo_requests_destroy(hlo_requests *requests);

/** Begins a request of `rank`. */
void hlo_requests_begin(hlo_requests *requests, int32_t rank, hlo_comm_request *request);

/** The state of a request. */
enum {
  HLO_REQUEST_WAITS, /**< nothing of it can be executed now */
  HLO_REQUEST_PROGRESSED,
  HLO_REQUEST_COMPLETE,
  HLO_REQUEST_MISMATCH, /**< *peer sends or receives messages of other sizes */
};
/** Executes one message or share of the request if it can, and returns the state after it. Only for
 * the rank's own thread. */
int hlo_requests_progress(hlo_requests *requests, hlo_comm_request *request, int32_t *peer);
/** Executes one message or share of any request of the rank; false if there is none. */
int hlo_requests_help(hlo_requests *requests, int32_t rank);
/** Whether the request still waits for member `m`. */
int hlo_requests_waits_for(hlo_requests *requests, const hlo_comm_request *request, int32_t m);
/** Gives up all requests of the rank; when it returns, no thread reads or writes their memory. */
void hlo_requests_withdraw(hlo_requests *requests, int32_t rank);

#endif
