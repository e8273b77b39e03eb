/*===- mpi.c - Exchanges between processes, over MPI -----------------------------===*\
 *
 * Each part is one non-blocking message of a derived type (runs at a distance), so nothing is
 * packed here. The process polls for completion, and between polls checks what may end the
 * exchange: its call's cancellation and deadline, the time-out, and a message with another
 * process's error. The first error is kept; every later exchange fails with it.
 *
 * Messages of different instructions have different MPI tags (of few bits), so processes at
 * different instructions do not take each other's messages: they time out. A process that has
 * waited too long asks the members with missing messages whether they are at the same instruction.
 * A member that answers is waiting itself, and is not blamed.
 *
 * An exchange in two parts (hlo_comm.begin, finish) has its messages under way in between; MPI
 * moves them when it can, at the latest in the next exchange. If an exchange fails, all that have
 * begun fail with it.
 *
 * An exchange that fails returns when MPI no longer reads or writes its buffers. Receives are
 * cancelled and waited for: one whose message has begun to arrive completes with it. Then the
 * process announces that it receives nothing more (SETTLED), so that its senders know that the rest
 * of their messages will never be read. A process that still waits for the rest of a message
 * announces that (PENDING), and its sender stays until everything is sent. A process that announces
 * neither is not in an exchange, and has posted no receive.
 *
 *===-------------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include <hlo/comm_mpi.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* MPI promises tags up to 32767. */
#define FAILURE_TAG 32767
#define QUESTION_TAG 32766
#define ANSWER_TAG 32765
#define SETTLED_TAG 32764 /* the sender receives nothing more */
#define PENDING_TAG 32763 /* the sender still waits for the rest of a message */
#define TAGS 32749

/* Longest time that a timed-out process waits for answers to its question. */
#define ASK_NS INT64_C(1000000000)

/* Longest time that a failed process waits for the announcements of its receivers. */
#define SETTLE_NS INT64_C(2000000000)

/* Failure message to the other processes. */
typedef struct Failure {
  int32_t status, rank;
  char text[504];
} Failure;

/* Messages under way: of each member `parts` times a receive and a send. */
typedef struct Pending {
  struct Pending *next;
  const hlo_comm_step *step;
  MPI_Request *requests; /* receive and send of message j with member m: from 2 * (m * parts + j) */
  int parts;
} Pending;

struct hlo_mpi {
  hlo_comm comm;
  MPI_Comm group;
  MPI_Datatype mebibyte;
  int rank, size;
  int failed;
  Failure failure;      /* the first one seen */
  MPI_Request *told;    /* messages about it, one for each process */
  unsigned char *heard; /* of each process, once failed: SETTLED, PENDING */
  unsigned char *here;  /* of each member, once timed out: it is at the same instruction */
  /* Of an exchange: two for each member, which is a process, so 2 * size at most. */
  MPI_Request *requests;
  Pending *pending;  /* all that has begun and not finished */
  int settled;       /* this process has said so */
  uint64_t question; /* the instruction at which this process asks who else is there */
};

/* Exchanges of one instruction differ in the low bits of their tags. */
static uint64_t instruction_of(const hlo_comm_step *step) { return step->tag >> 20; }

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Records an error of this process and tells all others. */
static void fail_all(hlo_mpi *mpi, hlo_status status, const char *text) {
  if (mpi->failed) {
    return;
  }
  mpi->failed = 1;
  mpi->failure.status = status;
  mpi->failure.rank = mpi->rank;
  snprintf(mpi->failure.text, sizeof mpi->failure.text, "%s", text);
  for (int r = 0; r < mpi->size; ++r) {
    if (r != mpi->rank) {
      MPI_Isend(&mpi->failure, sizeof(Failure), MPI_BYTE, r, FAILURE_TAG, mpi->group,
                &mpi->told[r]);
    }
  }
}

/* Checks for an error message of another process. */
static void look_for_failure(hlo_mpi *mpi) {
  int there = 0;
  MPI_Status from;
  if (mpi->failed ||
      MPI_Iprobe(MPI_ANY_SOURCE, FAILURE_TAG, mpi->group, &there, &from) != MPI_SUCCESS || !there) {
    return;
  }
  MPI_Recv(&mpi->failure, sizeof(Failure), MPI_BYTE, from.MPI_SOURCE, FAILURE_TAG, mpi->group,
           MPI_STATUS_IGNORE);
  mpi->failure.text[sizeof mpi->failure.text - 1] = 0;
  if (mpi->failure.status == HLO_OK) {
    mpi->failure.status = HLO_ABORTED;
  }
  mpi->failed = 1;
}

/* Answers processes that ask whether this one is at the step's instruction. */
static void answer_questions(hlo_mpi *mpi, const hlo_comm_step *step) {
  int there = 0;
  MPI_Status from;
  while (MPI_Iprobe(MPI_ANY_SOURCE, QUESTION_TAG, mpi->group, &there, &from) == MPI_SUCCESS &&
         there) {
    uint64_t instruction = 0;
    MPI_Request sent;
    if (MPI_Recv(&instruction, sizeof instruction, MPI_BYTE, from.MPI_SOURCE, QUESTION_TAG,
                 mpi->group, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
        instruction == instruction_of(step) &&
        MPI_Isend(NULL, 0, MPI_BYTE, from.MPI_SOURCE, ANSWER_TAG, mpi->group, &sent) ==
            MPI_SUCCESS) {
      MPI_Request_free(&sent);
    }
  }
}

static hlo_status give_error(hlo_mpi *mpi, const hlo_comm_step *step) {
  if (step->message != NULL && step->message_bytes > 0) {
    snprintf(step->message, step->message_bytes, "%s: %s", step->module, mpi->failure.text);
  }
  /* To the other processes a cancelled call is an error of its process. */
  const int others = mpi->failure.rank != mpi->rank;
  return others && mpi->failure.status == HLO_CANCELLED ? HLO_ABORTED : mpi->failure.status;
}

/* A type of `bytes` bytes. More than an int can count: a multiple of a mebibyte, and a rest. */
static int make_run(const hlo_mpi *mpi, uint64_t bytes, MPI_Datatype *type) {
  const uint64_t unit = 1 << 20;
  if (bytes <= unit * 1024) {
    return MPI_Type_contiguous((int)bytes, MPI_BYTE, type);
  }
  const int counts[2] = {(int)(bytes / unit), (int)(bytes % unit)};
  const MPI_Aint places[2] = {0, (MPI_Aint)(bytes / unit * unit)};
  const MPI_Datatype types[2] = {mpi->mebibyte, MPI_BYTE};
  return MPI_Type_create_struct(2, counts, places, types, type);
}

/* `count` times `run`. More than an int can count: large blocks, and a rest. */
static int make_repeated(uint64_t count, uint64_t stride, MPI_Datatype run, MPI_Datatype *type) {
  const uint64_t many = 1 << 30;
  if (count <= many) {
    return MPI_Type_create_hvector((int)count, 1, (MPI_Aint)stride, run, type);
  }
  const uint64_t blocks = count / many;
  MPI_Datatype block, parts[2];
  int error = MPI_Type_create_hvector((int)many, 1, (MPI_Aint)stride, run, &block);
  if (error != MPI_SUCCESS) {
    return error;
  }
  error = MPI_Type_create_hvector((int)blocks, 1, (MPI_Aint)(stride * many), block, &parts[0]);
  MPI_Type_free(&block);
  if (error != MPI_SUCCESS) {
    return error;
  }
  error = MPI_Type_create_hvector((int)(count % many), 1, (MPI_Aint)stride, run, &parts[1]);
  if (error == MPI_SUCCESS) {
    const int counts[2] = {1, 1};
    const MPI_Aint places[2] = {0, (MPI_Aint)(stride * many * blocks)};
    error = MPI_Type_create_struct(2, counts, places, parts, type);
    MPI_Type_free(&parts[1]);
  }
  MPI_Type_free(&parts[0]);
  return error;
}

static int make_type(const hlo_mpi *mpi, const hlo_comm_part *part, MPI_Datatype *type) {
  MPI_Datatype run;
  int error = make_run(mpi, part->bytes, &run);
  if (error == MPI_SUCCESS) {
    error = make_repeated(part->count, part->stride, run, type);
    MPI_Type_free(&run);
  }
  return error == MPI_SUCCESS ? MPI_Type_commit(type) : error;
}

/* Starts message `part` of the exchange: receives it, or sends it. */
static int start_message(hlo_mpi *mpi, int receives, const hlo_comm_part *part, int peer, int tag,
                         MPI_Request *request) {
  MPI_Datatype type = MPI_BYTE;
  uint64_t bytes = part->bytes;
  int error = MPI_SUCCESS;
  const int simple = (part->count == 1 || part->stride == part->bytes) &&
                     !__builtin_mul_overflow(bytes, part->count, &bytes) && bytes <= 1 << 30;
  const int count = simple ? (int)bytes : 1;
  if (!simple) {
    error = make_type(mpi, part, &type);
  }
  if (error == MPI_SUCCESS) {
    error = receives ? MPI_Irecv(part->data, count, type, peer, tag, mpi->group, request)
                     : MPI_Isend(part->data, count, type, peer, tag, mpi->group, request);
  }
  if (!simple && type != MPI_BYTE) {
    MPI_Type_free(&type);
  }
  return error;
}

/* Starts the messages. */
static int start_all(hlo_mpi *mpi, const Pending *pending, const hlo_comm_part *send,
                     const hlo_comm_part *receive) {
  const hlo_comm_step *step = pending->step;
  const int parts = pending->parts;
  const int tag = (int)((step->tag ^ step->tag >> 20) % TAGS);
  int error = MPI_SUCCESS;
  for (int32_t pass = 0; pass < 2; ++pass) {
    for (int32_t m = 0; m < step->num_members && error == MPI_SUCCESS; ++m) {
      /* Receives first; starting with a different member on each rank, so that not all send to the
       * same one. */
      const int32_t member = (step->self + m) % step->num_members;
      if (member == step->self) {
        continue;
      }
      for (int j = 0; j < parts && error == MPI_SUCCESS; ++j) {
        const int at = member * parts + j;
        const hlo_comm_part *part = pass == 0 ? &receive[at] : &send[at];
        if (part->count > 0) {
          error = start_message(mpi, pass == 0, part, step->members[member], tag,
                                &pending->requests[2 * at + pass]);
        }
      }
    }
  }
  return error;
}

static int is_missing(const Pending *pending, int32_t member) {
  const MPI_Request *of = &pending->requests[2 * member * pending->parts];
  for (int i = 0; i < 2 * pending->parts; ++i) {
    if (of[i] != MPI_REQUEST_NULL) {
      return 1;
    }
  }
  return 0;
}

/* Asks the members whose messages are missing whether they are at this instruction, and sets `here`
 * of those that answer within `most_ns`. */
static void ask_missing(hlo_mpi *mpi, const Pending *pending, int64_t most_ns) {
  const hlo_comm_step *step = pending->step;
  int asked = 0;
  memset(mpi->here, 0, (size_t)mpi->size);
  mpi->question = instruction_of(step);
  for (int32_t m = 0; m < step->num_members; ++m) {
    MPI_Request sent;
    if (is_missing(pending, m) &&
        MPI_Isend(&mpi->question, sizeof mpi->question, MPI_BYTE, step->members[m], QUESTION_TAG,
                  mpi->group, &sent) == MPI_SUCCESS) {
      MPI_Request_free(&sent);
      ++asked;
    }
  }
  const int64_t end = now_ns() + most_ns;
  while (asked > 0 && !mpi->failed && now_ns() < end) {
    int there = 0;
    MPI_Status from;
    if (MPI_Iprobe(MPI_ANY_SOURCE, ANSWER_TAG, mpi->group, &there, &from) == MPI_SUCCESS && there) {
      MPI_Recv(NULL, 0, MPI_BYTE, from.MPI_SOURCE, ANSWER_TAG, mpi->group, MPI_STATUS_IGNORE);
      --asked;
      for (int32_t m = 0; m < step->num_members; ++m) {
        mpi->here[m] |= step->members[m] == from.MPI_SOURCE;
      }
    }
    answer_questions(mpi, step);
    look_for_failure(mpi);
    sched_yield();
  }
}

/* Names the members whose messages are missing; of those, only the ones that are not at this
 * instruction, if there are any. */
static void report_timeout(hlo_mpi *mpi, const Pending *pending, int64_t waited_ns) {
  const hlo_comm_step *step = pending->step;
  ask_missing(mpi, pending, waited_ns / 10 < ASK_NS ? waited_ns / 10 : ASK_NS);
  char text[480];
  int length = snprintf(text, sizeof text, "%s %%%s: waited %lld ms for rank", step->opcode,
                        step->name, (long long)(waited_ns / 1000000));
  int named = 0;
  for (int strict = 1; strict >= 0 && named == 0; --strict) {
    for (int32_t m = 0; m < step->num_members && length < 400; ++m) {
      if (is_missing(pending, m) && !(strict && mpi->here[m])) {
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%d",
                           named++ ? ", " : " ", step->members[m]);
      }
    }
  }
  snprintf(text + length, sizeof text - (size_t)length, ", which %s absent",
           named == 1 ? "is" : "are");
  fail_all(mpi, HLO_DEADLINE, text);
}

static void look_at_call(hlo_mpi *mpi, const Pending *pending, int64_t now, int64_t waited_ns) {
  const hlo_comm_step *step = pending->step;
  const int64_t most = mpi->comm.timeout_ns;
  if (step->cancel != NULL && __atomic_load_n(step->cancel, __ATOMIC_RELAXED) != 0) {
    char text[480];
    snprintf(text, sizeof text, "%s %%%s: the call of rank %d was cancelled", step->opcode,
             step->name, mpi->rank);
    fail_all(mpi, HLO_CANCELLED, text);
  } else if ((step->deadline_ns != 0 && now >= step->deadline_ns) ||
             (most > 0 && waited_ns >= most)) {
    report_timeout(mpi, pending, waited_ns);
  }
}

/* Announces to all others that this process receives nothing more, or still does. */
static void say(hlo_mpi *mpi, int tag) {
  for (int r = 0; r < mpi->size; ++r) {
    MPI_Request sent;
    if (r != mpi->rank && MPI_Isend(NULL, 0, MPI_BYTE, r, tag, mpi->group, &sent) == MPI_SUCCESS) {
      MPI_Request_free(&sent);
    }
  }
}

static void say_settled(hlo_mpi *mpi) {
  if (!mpi->settled) {
    mpi->settled = 1;
    say(mpi, SETTLED_TAG);
  }
}

static void listen(hlo_mpi *mpi) {
  const int tags[2] = {PENDING_TAG, SETTLED_TAG}; /* a process sends PENDING before SETTLED */
  for (int i = 0; i < 2; ++i) {
    int there = 0;
    MPI_Status from;
    while (MPI_Iprobe(MPI_ANY_SOURCE, tags[i], mpi->group, &there, &from) == MPI_SUCCESS && there &&
           MPI_Recv(NULL, 0, MPI_BYTE, from.MPI_SOURCE, tags[i], mpi->group, MPI_STATUS_IGNORE) ==
               MPI_SUCCESS) {
      mpi->heard[from.MPI_SOURCE] |= (unsigned char)(1 << i);
    }
  }
}

/* True if the request is not complete. An error completes it as well. */
static int is_active(MPI_Request *request) {
  int done = *request == MPI_REQUEST_NULL;
  if (!done && MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
    *request = MPI_REQUEST_NULL;
    done = 1;
  }
  return !done;
}

static int count_of(const Pending *pending) { return pending->step->num_members * pending->parts; }

/* Receives that are not complete. */
static int active_receives(const hlo_mpi *mpi) {
  int active = 0;
  for (const Pending *pending = mpi->pending; pending != NULL; pending = pending->next) {
    for (int i = 0; i < count_of(pending); ++i) {
      active += is_active(&pending->requests[2 * i]);
    }
  }
  return active;
}

/* Sends that are not complete and whose receivers may still read them; `late`: only those that have
 * said so. The others are given up. */
static int active_sends(const hlo_mpi *mpi, int late) {
  int active = 0;
  for (const Pending *pending = mpi->pending; pending != NULL; pending = pending->next) {
    for (int i = 0; i < count_of(pending); ++i) {
      MPI_Request *request = &pending->requests[2 * i + 1];
      if (!is_active(request)) {
        continue;
      }
      const int heard = mpi->heard[pending->step->members[i / pending->parts]];
      if ((heard & 2) || (!(heard & 1) && late)) {
        MPI_Request_free(request); /* nobody will read the message */
      } else {
        ++active;
      }
    }
  }
  return active;
}

/* Ends all messages under way after a failure; see the top of this file. */
static void settle(hlo_mpi *mpi, const hlo_comm_step *step) {
  for (const Pending *pending = mpi->pending; pending != NULL; pending = pending->next) {
    for (int i = 0; i < count_of(pending); ++i) {
      if (pending->requests[2 * i] != MPI_REQUEST_NULL) {
        MPI_Cancel(&pending->requests[2 * i]);
      }
    }
  }
  const int64_t end = now_ns() + SETTLE_NS;
  for (int left = 1, waits = 0; left > 0;) {
    const int receives = active_receives(mpi);
    if (receives == 0) {
      say_settled(mpi);
    } else if (!waits) {
      waits = 1;
      say(mpi, PENDING_TAG);
    }
    listen(mpi);
    left = receives + active_sends(mpi, now_ns() >= end);
    if (left > 0) {
      if (step != NULL) {
        answer_questions(mpi, step);
      }
      sched_yield();
    }
  }
  mpi->pending = NULL;
}

static void remove_pending(hlo_mpi *mpi, const Pending *pending) {
  Pending **at = &mpi->pending;
  while (*at != pending) {
    at = &(*at)->next;
  }
  *at = pending->next;
}

static void fail_with(hlo_mpi *mpi, const hlo_comm_step *step, int error) {
  char text[480], what[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(error, what, &length);
  snprintf(text, sizeof text, "%s %%%s: MPI: %.*s", step->opcode, step->name, length, what);
  fail_all(mpi, HLO_UNAVAILABLE, text);
}

/* Starts the messages of an exchange. */
static hlo_status start_exchange(hlo_mpi *mpi, Pending *pending, const hlo_comm_part *send,
                                 const hlo_comm_part *receive) {
  look_for_failure(mpi);
  for (int i = 0; i < 2 * count_of(pending); ++i) {
    pending->requests[i] = MPI_REQUEST_NULL;
  }
  pending->next = mpi->pending;
  mpi->pending = pending;
  int error = mpi->failed ? MPI_SUCCESS : start_all(mpi, pending, send, receive);
  if (error != MPI_SUCCESS) {
    fail_with(mpi, pending->step, error);
  }
  if (mpi->failed) {
    settle(mpi, pending->step);
    return give_error(mpi, pending->step);
  }
  return HLO_OK;
}

/* Lets MPI go on, and sets *done if all messages of the exchange are complete. */
static int test_messages(const Pending *pending, int *done) {
  int error = MPI_SUCCESS;
  *done = 1;
  for (int i = 0; i < 2 * count_of(pending) && error == MPI_SUCCESS; ++i) {
    int ended = 1;
    if (pending->requests[i] != MPI_REQUEST_NULL) {
      error = MPI_Test(&pending->requests[i], &ended, MPI_STATUS_IGNORE);
    }
    *done &= ended;
  }
  return error;
}

/* Waits for the end of an exchange. */
static hlo_status finish_exchange(hlo_mpi *mpi, const Pending *pending) {
  const hlo_comm_step *step = pending->step;
  if (mpi->failed) { /* and settled, if this exchange has begun before that */
    if (mpi->pending != NULL) {
      settle(mpi, step);
    }
    return give_error(mpi, step);
  }
  const int64_t start = now_ns();
  int error = MPI_SUCCESS, done = 0;
  for (unsigned polls = 0; !mpi->failed; ++polls) {
    error = test_messages(pending, &done);
    if (done || error != MPI_SUCCESS) {
      break;
    }
    if (polls % 64 == 63) {
      const int64_t now = now_ns();
      look_for_failure(mpi);
      answer_questions(mpi, step);
      look_at_call(mpi, pending, now, now - start);
      sched_yield(); /* there may be more ranks than CPUs */
    }
  }
  if (error != MPI_SUCCESS) {
    fail_with(mpi, step, error);
  } else if (done && !mpi->failed) {
    remove_pending(mpi, pending);
    return HLO_OK;
  }
  settle(mpi, step);
  return give_error(mpi, step);
}

static hlo_status exchange(void *user, const hlo_comm_step *step, const hlo_comm_part *send,
                           const hlo_comm_part *receive) {
  hlo_mpi *mpi = user;
  Pending pending = {.step = step, .requests = mpi->requests, .parts = 1};
  const hlo_status status = start_exchange(mpi, &pending, send, receive);
  return status == HLO_OK ? finish_exchange(mpi, &pending) : status;
}

_Static_assert(sizeof(Pending) <= 256 && sizeof(MPI_Request) <= 8, "HLO_COMM_WORK_BYTES");

static hlo_status begin(void *user, hlo_comm_request *request) {
  Pending *pending = request->work;
  *pending = (Pending){.step = request->step,
                       .requests = (MPI_Request *)(void *)((char *)request->work + 256),
                       .parts = (int)request->parts};
  return start_exchange(user, pending, request->send, request->receive);
}

static hlo_status finish(void *user, hlo_comm_request *request) {
  return finish_exchange(user, request->work);
}

static void leave(void *user, hlo_status status, const char *message) {
  hlo_mpi *mpi = user;
  char text[480];
  snprintf(text, sizeof text, "rank %d failed with %s: %s", mpi->rank, hlo_status_name(status),
           message);
  fail_all(mpi, HLO_ABORTED, text);
  settle(mpi, NULL);
}

hlo_mpi *hlo_mpi_create(const void *communicator, int32_t num_partitions, int64_t timeout_ns) {
  const MPI_Comm base = communicator != NULL ? *(const MPI_Comm *)communicator : MPI_COMM_WORLD;
  hlo_mpi *mpi = calloc(1, sizeof *mpi);
  if (mpi == NULL) {
    return NULL;
  }
  mpi->group = MPI_COMM_NULL;
  mpi->mebibyte = MPI_DATATYPE_NULL;
  if (MPI_Comm_dup(base, &mpi->group) != MPI_SUCCESS ||
      MPI_Comm_set_errhandler(mpi->group, MPI_ERRORS_RETURN) != MPI_SUCCESS ||
      MPI_Comm_rank(mpi->group, &mpi->rank) != MPI_SUCCESS ||
      MPI_Comm_size(mpi->group, &mpi->size) != MPI_SUCCESS || num_partitions < 1 ||
      mpi->size % num_partitions != 0 ||
      MPI_Type_contiguous(1 << 20, MPI_BYTE, &mpi->mebibyte) != MPI_SUCCESS ||
      (mpi->told = malloc((size_t)mpi->size * sizeof *mpi->told)) == NULL ||
      (mpi->heard = calloc((size_t)mpi->size, 1)) == NULL ||
      (mpi->here = malloc((size_t)mpi->size)) == NULL ||
      (mpi->requests = malloc((size_t)mpi->size * 2 * sizeof *mpi->requests)) == NULL) {
    hlo_mpi_destroy(mpi);
    return NULL;
  }
  for (int r = 0; r < mpi->size; ++r) {
    mpi->told[r] = MPI_REQUEST_NULL;
  }
  mpi->comm = (hlo_comm){.struct_size = sizeof(hlo_comm),
                         .user = mpi,
                         .replica = mpi->rank / num_partitions,
                         .partition = mpi->rank % num_partitions,
                         .num_replicas = mpi->size / num_partitions,
                         .num_partitions = num_partitions,
                         .timeout_ns = timeout_ns,
                         .exchange = exchange,
                         .leave = leave,
                         .begin = begin,
                         .finish = finish};
  return mpi;
}

void hlo_mpi_destroy(hlo_mpi *mpi) {
  if (mpi == NULL) {
    return;
  }
  int untold = 0;
  if (mpi->told != NULL && mpi->failed) {
    /* These small messages have normally left, whether or not they were received. The text of a
     * message that has not left is kept. */
    for (int r = 0; r < mpi->size; ++r) {
      if (is_active(&mpi->told[r])) {
        MPI_Request_free(&mpi->told[r]);
        untold = 1;
      }
    }
  }
  free(mpi->told);
  free(mpi->heard);
  free(mpi->here);
  free(mpi->requests);
  if (mpi->mebibyte != MPI_DATATYPE_NULL) {
    MPI_Type_free(&mpi->mebibyte);
  }
  if (mpi->group != MPI_COMM_NULL) {
    MPI_Comm_free(&mpi->group);
  }
  if (!untold) {
    free(mpi);
  }
}

const hlo_comm *hlo_mpi_comm(const hlo_mpi *mpi) { return &mpi->comm; }
