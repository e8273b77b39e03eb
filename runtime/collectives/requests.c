/*===- requests.c - Exchanges in two parts, between threads -------------------------===*\
 *
 * Each rank has a list of its requests that are not complete, in the order in which they began. A
 * message is a pair of flags, out[] of the sender and in[] of the receiver; a share is a flag of
 * its member:
 *
 *   Pending -> Claimed -> Done      or Done from the start: there is no such message
 *
 * One lock guards all lists and flags. It is not held while bytes are copied or reduced: whoever
 * claims a message or a share marks the requests concerned as busy, so that they are not given up
 * meanwhile. A request leaves its list when its last message or share is done. So the first request
 * of a tag in a peer's list that has something pending for this rank is the one that belongs to
 * this rank's request: an earlier one would have this message done.
 *
 *===-------------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "requests.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "collective.h"

enum { Pending, Claimed, Done };

/* At the start of a request's work memory. */
typedef struct Work {
  hlo_comm_request *request;
  struct Work *next;
  int32_t rank;
  int32_t left;        /* messages, or shares of all members, that are not done */
  int32_t busy;        /* those that are being executed and touch this request's memory */
  int32_t next_member; /* where the search for something to do goes on */
  unsigned char listed, matched, dead, share;
  unsigned char *in, *out;          /* per member */
  const hlo_comm_request **members; /* of shares: all requests, once matched */
} Work;
_Static_assert(sizeof(Work) <= 256, "HLO_COMM_WORK_BYTES");

struct hlo_requests {
  pthread_mutex_t lock;
  void (*changed)(void *user, int32_t rank);
  void *user;
  Work *first[]; /* of each rank */
};

size_t hlo_requests_bytes(int32_t count) {
  return sizeof(hlo_requests) + (size_t)count * sizeof(Work *);
}

void hlo_requests_init(hlo_requests *requests, void (*changed)(void *user, int32_t rank),
                       void *user) {
  pthread_mutex_init(&requests->lock, NULL);
  requests->changed = changed;
  requests->user = user;
}

void hlo_requests_destroy(hlo_requests *requests) { pthread_mutex_destroy(&requests->lock); }

static Work *work_of(const hlo_comm_request *request) { return request->work; }

static int has_message(const hlo_comm_part *parts, uint32_t count) {
  for (uint32_t j = 0; j < count; ++j) {
    if (parts[j].count > 0) {
      return 1;
    }
  }
  return 0;
}

/* The rank's number among the members of a request; -1: it is none. Mostly the same on all. */
static int32_t member_of(const Work *work, int32_t rank, int32_t guess) {
  const hlo_comm_step *step = work->request->step;
  if (guess < step->num_members && step->members[guess] == rank) {
    return guess;
  }
  for (int32_t m = 0; m < step->num_members; ++m) {
    if (step->members[m] == rank) {
      return m;
    }
  }
  return -1;
}

/* Takes the request out of its list. */
static void unlist(hlo_requests *requests, Work *work) {
  Work **at = &requests->first[work->rank];
  while (*at != work) {
    at = &(*at)->next;
  }
  *at = work->next;
  work->listed = 0;
}

/* One message or share of the request is done. Returns whether it was the last one. */
static int count_done(hlo_requests *requests, Work *work) {
  --work->busy;
  if (--work->left > 0 || !work->listed) {
    return 0;
  }
  unlist(requests, work);
  return 1;
}

/* The peer's request that has a message for or from `own`, or shares with it. */
static Work *find_peer(hlo_requests *requests, const Work *own, int32_t m, int32_t *self) {
  const hlo_comm_step *step = own->request->step;
  for (Work *work = requests->first[step->members[m]]; work != NULL; work = work->next) {
    if (work->request->step->tag != step->tag) {
      continue;
    }
    const int32_t i = member_of(work, own->rank, step->self);
    if (i < 0) {
      continue;
    }
    *self = i;
    if (own->request->share != NULL) {
      if (work->request->share != NULL && !work->matched) {
        return work;
      }
    } else if (work->request->share == NULL &&
               ((own->in[m] == Pending && work->out[i] == Pending) ||
                (own->out[m] == Pending && work->in[i] == Pending))) {
      return work;
    }
  }
  return NULL;
}

/* Copies the messages from member `from` of `to`, whose member `m` it is. */
static void copy_messages(const Work *from, int32_t to, const Work *target, int32_t m) {
  const uint32_t parts = target->request->parts;
  for (uint32_t j = 0; j < parts; ++j) {
    const hlo_comm_part *part = &target->request->receive[(uint32_t)m * parts + j];
    if (part->count > 0) {
      hlo_copy_part(part, &from->request->send[(uint32_t)to * parts + j]);
    }
  }
}

static int agree(const Work *from, int32_t to, const Work *target, int32_t m) {
  const uint32_t parts = target->request->parts;
  if (from->request->parts != parts) {
    return 0;
  }
  for (uint32_t j = 0; j < parts; ++j) {
    const hlo_comm_part *a = &from->request->send[(uint32_t)to * parts + j];
    const hlo_comm_part *b = &target->request->receive[(uint32_t)m * parts + j];
    if (a->count != b->count || (a->count > 0 && a->bytes != b->bytes)) {
      return 0;
    }
  }
  return 1;
}

/* Executes the messages between two requests in one direction. The lock is held before and after,
 * not in between. */
static void execute_messages(hlo_requests *requests, Work *from, int32_t to, Work *target,
                             int32_t m) {
  from->out[to] = target->in[m] = Claimed;
  ++from->busy;
  ++target->busy;
  pthread_mutex_unlock(&requests->lock);
  copy_messages(from, to, target, m);
  pthread_mutex_lock(&requests->lock);
  from->out[to] = target->in[m] = Done;
  const int32_t ranks[2] = {from->rank, target->rank};
  const int ended[2] = {count_done(requests, from), count_done(requests, target)};
  for (int i = 0; i < 2; ++i) {
    if (ended[i]) {
      requests->changed(requests->user, ranks[i]);
    }
  }
}

static int progress_messages(hlo_requests *requests, Work *own, int32_t *peer) {
  const hlo_comm_step *step = own->request->step;
  for (int32_t k = 0; k < step->num_members; ++k) {
    const int32_t m = own->next_member;
    own->next_member = m + 1 < step->num_members ? m + 1 : 0;
    if (m == step->self || (own->in[m] != Pending && own->out[m] != Pending)) {
      continue;
    }
    int32_t self = 0;
    Work *work = find_peer(requests, own, m, &self);
    if (work == NULL) {
      continue;
    }
    const int receives = own->in[m] == Pending && work->out[self] == Pending;
    if (receives ? !agree(work, self, own, m) : !agree(own, m, work, self)) {
      *peer = step->members[m];
      return HLO_REQUEST_MISMATCH;
    }
    own->next_member = m; /* perhaps there is the other direction */
    if (receives) {
      execute_messages(requests, work, self, own, m);
    } else {
      execute_messages(requests, own, m, work, self);
    }
    return HLO_REQUEST_PROGRESSED;
  }
  return HLO_REQUEST_WAITS;
}

/* Finds the requests of all members, and tells all of them. */
static int match(hlo_requests *requests, Work *own) {
  const int32_t n = own->request->step->num_members, self = own->request->step->self;
  for (int32_t m = 0; m < n; ++m) {
    int32_t place = 0;
    const Work *work = m == self ? own : find_peer(requests, own, m, &place);
    if (work == NULL) {
      return 0;
    }
    own->members[m] = work->request;
  }
  for (int32_t m = 0; m < n; ++m) {
    Work *work = work_of(own->members[m]);
    work->matched = 1;
    if (work != own) {
      memcpy(work->members, own->members, (size_t)n * sizeof *own->members);
    }
  }
  return 1;
}

static int progress_shares(hlo_requests *requests, Work *own) {
  if (own->dead || (!own->matched && !match(requests, own))) {
    return HLO_REQUEST_WAITS;
  }
  const hlo_comm_request *request = own->request;
  const int32_t n = request->step->num_members;
  for (int32_t k = 0; k < n; ++k) {
    const int32_t i = (request->step->self + k) % n;
    Work *share = work_of(own->members[i]);
    if (share->share != Pending) {
      continue;
    }
    share->share = Claimed;
    for (int32_t m = 0; m < n; ++m) {
      ++work_of(own->members[m])->busy;
    }
    pthread_mutex_unlock(&requests->lock);
    request->share(own->members, i);
    pthread_mutex_lock(&requests->lock);
    share->share = Done;
    for (int32_t m = 0; m < n; ++m) {
      Work *work = work_of(own->members[m]);
      const int32_t rank = work->rank;
      if (count_done(requests, work)) {
        requests->changed(requests->user, rank);
      }
    }
    return HLO_REQUEST_PROGRESSED;
  }
  return HLO_REQUEST_WAITS;
}

/* The first request of the tag in the rank's own list. */
static Work *first_of_tag(hlo_requests *requests, const Work *own) {
  Work *work = requests->first[own->rank];
  while (work->request->step->tag != own->request->step->tag) {
    work = work->next;
  }
  return work;
}

/* Of requests of one tag, the first one goes first. */
static int progress(hlo_requests *requests, const Work *own, int32_t *peer) {
  Work *work = first_of_tag(requests, own);
  return work->request->share != NULL ? progress_shares(requests, work)
                                      : progress_messages(requests, work, peer);
}

void hlo_requests_begin(hlo_requests *requests, int32_t rank, hlo_comm_request *request) {
  const hlo_comm_step *step = request->step;
  const size_t n = (size_t)step->num_members;
  Work *work = request->work;
  memset(work, 0, sizeof *work + 16 * n);
  work->request = request;
  work->rank = rank;
  work->members = (const hlo_comm_request **)(void *)(work + 1);
  work->in = (unsigned char *)(work->members + n);
  work->out = work->in + n;
  if (request->share != NULL) {
    work->left = step->num_members;
  } else {
    for (int32_t m = 0; m < step->num_members; ++m) {
      const uint32_t first = (uint32_t)m * request->parts;
      const int other = m != step->self;
      work->in[m] = other && has_message(request->receive + first, request->parts) ? Pending : Done;
      work->out[m] = other && has_message(request->send + first, request->parts) ? Pending : Done;
      work->left += (work->in[m] == Pending) + (work->out[m] == Pending);
    }
  }
  if (work->left == 0) {
    return;
  }
  pthread_mutex_lock(&requests->lock);
  Work **last = &requests->first[rank];
  while (*last != NULL) {
    last = &(*last)->next;
  }
  *last = work;
  work->listed = 1;
  pthread_mutex_unlock(&requests->lock);
  for (size_t m = 0; m < n; ++m) {
    requests->changed(requests->user, step->members[m]);
  }
}

int hlo_requests_progress(hlo_requests *requests, hlo_comm_request *request, int32_t *peer) {
  Work *work = request->work;
  pthread_mutex_lock(&requests->lock);
  int state = work->left == 0 ? HLO_REQUEST_COMPLETE
              : work->listed  ? progress(requests, work, peer)
                              : HLO_REQUEST_WAITS;
  if (state == HLO_REQUEST_PROGRESSED && work->left == 0) {
    state = HLO_REQUEST_COMPLETE;
  }
  pthread_mutex_unlock(&requests->lock);
  return state;
}

int hlo_requests_help(hlo_requests *requests, int32_t rank) {
  int32_t peer;
  int found = 0;
  pthread_mutex_lock(&requests->lock);
  for (Work *work = requests->first[rank]; work != NULL; work = work->next) {
    /* If something was executed, the request may be gone. */
    found = progress(requests, work, &peer) == HLO_REQUEST_PROGRESSED;
    if (found) {
      break;
    }
  }
  pthread_mutex_unlock(&requests->lock);
  return found;
}

int hlo_requests_waits_for(hlo_requests *requests, const hlo_comm_request *request, int32_t m) {
  const Work *work = request->work;
  int32_t place;
  pthread_mutex_lock(&requests->lock);
  const int waits = m != request->step->self && !work->matched && work->left > 0 &&
                    (request->share != NULL ? find_peer(requests, work, m, &place) == NULL
                                            : work->in[m] != Done || work->out[m] != Done);
  pthread_mutex_unlock(&requests->lock);
  return waits;
}

void hlo_requests_withdraw(hlo_requests *requests, int32_t rank) {
  pthread_mutex_lock(&requests->lock);
  while (requests->first[rank] != NULL) {
    Work *work = requests->first[rank];
    /* No share may be claimed from now on, since it would read this request. */
    if (work->matched && !work->dead) {
      for (int32_t m = 0; m < work->request->step->num_members; ++m) {
        work_of(work->members[m])->dead = 1;
      }
    }
    unlist(requests, work);
    while (work->busy > 0) {
      pthread_mutex_unlock(&requests->lock);
      sched_yield();
      pthread_mutex_lock(&requests->lock);
    }
  }
  pthread_mutex_unlock(&requests->lock);
}
