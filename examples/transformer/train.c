/* Training with any model of this form: init gives the state, step takes and gives it in place,
 * with a batch in and a loss out. The shapes and the shardings are in the modules' descriptions, so
 * one program serves one device and any mesh. */
#include "train.h"

#include <hlo/pool.h>
#include <hlo/shard.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "init.h"
#include "step.h"

enum { MAX_LEAVES = 256 };

/* A module, how it is called, and its buffers. */
typedef struct Program {
  const hlo_module_desc *desc;
  hlo_call call;
  void *inputs[MAX_LEAVES], *outputs[MAX_LEAVES];
  char message[512];
} Program;

int parse_options(int argc, char **argv, Options *options) {
  *options = (Options){.steps = 100, .threads = 1};
  for (int i = 1; i < argc; ++i) {
    char *value = strchr(argv[i], '=');
    const size_t name = value ? (size_t)(value++ - argv[i]) : 0;
#define IS(text) (name == strlen(text) && strncmp(argv[i], text, name) == 0)
    if (IS("--steps")) {
      options->steps = atoi(value);
    } else if (IS("--threads")) {
      options->threads = atoi(value);
    } else if (IS("--load")) {
      options->load = value;
    } else if (IS("--save")) {
      options->save = value;
    } else if (IS("--losses")) {
      options->losses = value;
    } else if (IS("--compare")) {
      options->compare = value;
    } else if (argv[i][0] != '-' && options->text == NULL) {
      options->text = argv[i];
    } else {
      options->text = NULL;
      break;
    }
#undef IS
  }
  if (options->text == NULL || options->steps < 1 || options->threads < 1) {
    fprintf(stderr,
            "usage: %s TEXT [--steps=N] [--threads=N] [--load=FOLDER] [--save=FOLDER]"
            " [--losses=FILE] [--compare=FILE]\n",
            argv[0]);
    return 0;
  }
  return 1;
}

static void *allocate(uint64_t bytes) { return aligned_alloc(64, (bytes + 64) / 64 * 64); }

/* Sets up calls of a module on this rank; 0 if there is no memory. */
static int prepare(Program *program, const hlo_module_desc *desc, const hlo_comm *comm,
                   const hlo_executor *exec) {
  memset(program, 0, sizeof *program);
  program->desc = desc;
  program->call = hlo_call_init();
  program->call.exec = exec;
  program->call.comm = comm;
  program->call.message = program->message;
  program->call.message_bytes = sizeof program->message;
  program->call.arena_bytes = hlo_arena_bytes(desc, exec ? exec->num_threads : 1);
  program->call.arena = allocate(program->call.arena_bytes);
  return program->call.arena != NULL && desc->num_inputs <= MAX_LEAVES &&
         desc->num_outputs <= MAX_LEAVES;
}

static int run(Program *program) {
  const hlo_status status =
      program->desc->run(&program->call, (const void *const *)program->inputs, program->outputs);
  if (status != HLO_OK) {
    fprintf(stderr, "%s: %s\n", hlo_status_name(status), program->message);
  }
  return status == HLO_OK;
}

/* The file's bytes; null with a message if there are not more than `least`. */
static unsigned char *read_text(const char *name, int64_t least, int64_t *size) {
  FILE *file = fopen(name, "rb");
  unsigned char *text = NULL;
  *size = -1;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (*size = ftell(file)) > least) {
    rewind(file);
    text = malloc((size_t)*size);
    if (text != NULL && fread(text, 1, (size_t)*size, file) != (size_t)*size) {
      free(text);
      text = NULL;
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  if (text == NULL) {
    fprintf(stderr, "%s: no file of more than %" PRId64 " bytes\n", name, least);
  }
  return text;
}

/* The whole batch of a step, the same on all ranks: sequences from places in the text that their
 * number determines (model.py: batch). */
static void make_batch(const unsigned char *text, int64_t size, int64_t step, const int64_t *dims,
                       unsigned char *batch) {
  for (int64_t b = 0; b < dims[0]; ++b) {
    const uint32_t hash = (uint32_t)(step * dims[0] + b) * 2654435761u;
    memcpy(batch + b * dims[1], text + hash % (uint32_t)(size - dims[1] + 1), (size_t)dims[1]);
  }
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Prints the largest relative difference from the losses of another run; 0 if that is over 1e-4, or
 * if the run has none of these steps. */
static int compare(const char *name, const float *losses, int first, int steps) {
  FILE *file = fopen(name, "r");
  double worst = 0, loss;
  int step, equal_steps = 0;
  while (file != NULL && fscanf(file, "%d %lf", &step, &loss) == 2) {
    if (step >= first && step - first < steps) {
      const double difference = fabs(losses[step - first] - loss) / fabs(loss);
      worst = difference <= worst ? worst : difference; /* NaN stays */
      ++equal_steps;
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  printf("largest relative difference from %s in %d steps: %.1e\n", name, equal_steps, worst);
  return equal_steps == steps && worst <= 1e-4;
}

/* What rank 0 tells of the run. */
static int report(const Options *options, const char *what, const float *losses, int first,
                  double tokens_per_second) {
  const int steps = options->steps;
  int ok = 1;
  printf("%s: steps %d to %d, loss %.4f -> %.4f, %.0f tokens/s\n", what, first, first + steps - 1,
         losses[0], losses[steps - 1], tokens_per_second);
  FILE *file = options->losses ? fopen(options->losses, "w") : NULL;
  for (int i = 0; i < steps && file != NULL; ++i) {
    fprintf(file, "%d %.9g\n", first + i, losses[i]);
  }
  if (options->losses != NULL && (file == NULL || fclose(file) != 0)) {
    perror(options->losses);
    ok = 0;
  }
  return (options->compare == NULL || compare(options->compare, losses, first, steps)) && ok;
}

/* Allocates the buffers of `step` and fills the state, from a checkpoint or with `init`. The
 * state's leaves are the inputs that share their buffers with results, in the order of init's
 * results. Sets `counter`, the leaf that counts steps, and `batch`, the input that is no state. */
static int make_state(const Options *options, Program *init, Program *step, int32_t rank,
                      const int32_t **counter, uint32_t *batch) {
  uint32_t seed = 1, leaves = 0;
  for (uint32_t i = 0; i < step->desc->num_inputs; ++i) {
    const hlo_buffer_desc *leaf = hlo_input_at(step->desc, i);
    step->inputs[i] = allocate(hlo_shard_bytes(leaf));
    if (step->inputs[i] == NULL) {
      return 0;
    }
    if (leaf->alias < 0) {
      *batch = i;
      continue;
    }
    if (leaves == init->desc->num_outputs ||
        hlo_output_at(init->desc, leaves)->bytes != leaf->bytes) {
      return fprintf(stderr, "init.hlo and step.hlo are of different models\n"), 0;
    }
    step->outputs[leaf->alias] = init->outputs[leaves++] = step->inputs[i];
    if (strcmp(leaf->name, "state__step__") == 0) {
      *counter = step->inputs[i];
    }
    if (options->load != NULL && !checkpoint_load(options->load, leaf, rank, step->inputs[i])) {
      return 0;
    }
  }
  init->inputs[0] = &seed;
  return options->load != NULL || run(init);
}

static int save_state(const Options *options, const Program *step, int32_t rank) {
  int ok = 1;
  for (uint32_t i = 0; options->save != NULL && ok && i < step->desc->num_inputs; ++i) {
    const hlo_buffer_desc *leaf = hlo_input_at(step->desc, i);
    ok = leaf->alias < 0 || checkpoint_save(options->save, leaf, rank, step->inputs[i]);
  }
  return ok;
}

/* All steps of one rank. */
static int run_steps(const Options *options, Program *step, int32_t rank, const int32_t *counter,
                     uint32_t batch_input, const char *what) {
  const hlo_buffer_desc *leaf = hlo_input_at(step->desc, batch_input);
  const int64_t *dims = leaf->sharding ? leaf->sharding->dims : leaf->dims;
  const int first = *counter;
  int64_t size;
  unsigned char *text = read_text(options->text, dims[1], &size);
  unsigned char *batch = malloc((size_t)(dims[0] * dims[1]));
  float *losses = calloc((size_t)options->steps, sizeof *losses);
  int ok = text != NULL && batch != NULL && losses != NULL;
  double start = seconds();
  for (int i = 0; i < options->steps && ok; ++i) {
    make_batch(text, size, first + i, dims, batch);
    step->outputs[step->desc->num_outputs - 1] = &losses[i];
    ok = hlo_shard_take(leaf, rank, batch, step->inputs[batch_input]) == HLO_OK && run(step);
    if (i == 0 && options->steps > 1) {
      start = seconds(); /* the first step also pages memory in, and waits for ranks to start */
    }
    if (rank == 0 && ok && (i % 10 == 9 || i == 0)) {
      printf("step %d: loss %.4f\n", first + i, losses[i]);
      fflush(stdout);
    }
  }
  if (ok && rank == 0) {
    const int timed = options->steps > 1 ? options->steps - 1 : 1;
    const double tokens = (double)timed * (double)(dims[0] * (dims[1] - 1));
    ok = report(options, what, losses, first, tokens / (seconds() - start));
  }
  free(losses);
  free(batch);
  free(text);
  return ok;
}

int train(const Options *options, const hlo_comm *comm, const char *what) {
  Program init, step;
  const int32_t rank = comm ? comm->replica * comm->num_partitions + comm->partition : 0;
  const int32_t *counter = NULL;
  uint32_t batch = 0;
  hlo_pool *pool = options->threads > 1 ? hlo_pool_create((uint32_t)options->threads) : NULL;
  const hlo_executor *exec = pool ? hlo_pool_executor(pool) : NULL;
  const int ready =
      prepare(&init, init_describe(), comm, exec) & prepare(&step, step_describe(), comm, exec);
  const int ok = ready && make_state(options, &init, &step, rank, &counter, &batch) &&
                 counter != NULL && run_steps(options, &step, rank, counter, batch, what) &&
                 save_state(options, &step, rank);
  for (uint32_t i = 0; i < step.desc->num_inputs; ++i) {
    free(step.inputs[i]);
  }
  free(init.call.arena);
  free(step.call.arena);
  hlo_pool_destroy(pool);
  return !ok;
}
