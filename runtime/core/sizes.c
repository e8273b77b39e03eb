/*===- sizes.c - The sizes of a call -------------------------------------------===*\
 *
 * Sizes are the last inputs, an int64_t each. The dimensions of an array are such sizes, or texts
 * over the program's names for them (hlo_buffer_desc.sizes):
 *
 *   sum     = ["-"] product (("+" | "-") product)*
 *   product = atom ("*" atom)*
 *   atom    = number | name | ("floordiv" | "mod" | "max" | "min") "(" sum "," sum ")"
 *
 * A name is the text of the dimension that its input is the size of.
 *
 *===-------------------------------------------------------------------------===*/
#include "sizes.h"

#include <string.h>

#include "fields.h"

/* Nested calls of functions in a text; the compiler writes fewer. */
#define MOST_DEPTH 24

uint32_t hlo_num_sizes(const hlo_module_desc *desc) {
  uint32_t count = 0;
  while (count < desc->num_inputs &&
         hlo_input_at(desc, desc->num_inputs - 1 - count)->size_of != 0) {
    ++count;
  }
  return count;
}

hlo_sizes hlo_sizes_of_inputs(const hlo_module_desc *desc, const void *const *inputs) {
  return (hlo_sizes){desc, inputs, NULL, desc->num_inputs - hlo_num_sizes(desc)};
}

hlo_sizes hlo_sizes_of_values(const hlo_module_desc *desc, const int64_t *values) {
  return (hlo_sizes){desc, NULL, values, desc->num_inputs - hlo_num_sizes(desc)};
}

int64_t hlo_size_value(const hlo_sizes *sizes, uint32_t input) {
  const hlo_buffer_desc *leaf = hlo_input_at(sizes->desc, input);
  const int64_t bound =
      hlo_input_at(sizes->desc, (uint32_t)leaf->size_of - 1)->dims[leaf->size_dim];
  /* A size that the call does not read may be null. */
  const int64_t *place = sizes->inputs != NULL ? (const int64_t *)sizes->inputs[input]
                                               : sizes->values + (input - sizes->first);
  const int64_t value = place != NULL ? *place : bound;
  return value < 0 ? 0 : value > bound ? bound : value;
}

/*===- Texts --------------------------------------------------------------------*/

/* The rest of a text. */
typedef struct Reader {
  const hlo_sizes *sizes;
  const char *at, *end;
  int failed; /* the text is malformed, a name is unknown, or a number does not fit */
} Reader;

static void skip_spaces(Reader *r) {
  while (r->at < r->end && *r->at == ' ') {
    ++r->at;
  }
}

static int equal(const char *a, const char *b, size_t length) {
  size_t same = 0;
  while (same < length && a[same] == b[same]) {
    ++same;
  }
  return same == length;
}

static int eat(Reader *r, const char *token) {
  skip_spaces(r);
  const size_t length = strlen(token);
  if ((size_t)(r->end - r->at) < length || !equal(r->at, token, length)) {
    return 0;
  }
  r->at += length;
  return 1;
}

/* The text of dimension `dim` in "[b, 2*b + 1, 16]"; an empty one if there is none. */
static Reader dimension_text(const hlo_sizes *sizes, const char *text, int32_t dim) {
  Reader r = {sizes, text, text, 0};
  if (text == NULL || *text != '[') {
    return r;
  }
  int depth = 0;
  for (r.at = r.end = text + 1; *r.end != '\0' && (depth > 0 || *r.end != ']'); ++r.end) {
    depth += *r.end == '(' ? 1 : *r.end == ')' ? -1 : 0;
    if (depth == 0 && *r.end == ',') {
      if (dim-- == 0) {
        return r;
      }
      r.at = r.end + 1;
    }
  }
  r.at = dim == 0 ? r.at : r.end;
  return r;
}

/* The value of a name: of the input whose dimension has it as its text. */
static int64_t value_of_name(Reader *r, const char *name, size_t length) {
  const hlo_module_desc *desc = r->sizes->desc;
  for (uint32_t i = r->sizes->first; i < desc->num_inputs; ++i) {
    const hlo_buffer_desc *leaf = hlo_input_at(desc, i);
    const hlo_buffer_desc *array = hlo_input_at(desc, (uint32_t)leaf->size_of - 1);
    Reader own = dimension_text(r->sizes, hlo_sizes_text(desc, array), leaf->size_dim);
    skip_spaces(&own);
    if ((size_t)(own.end - own.at) == length && equal(own.at, name, length)) {
      return hlo_size_value(r->sizes, i);
    }
  }
  r->failed = 1;
  return 0;
}

static int64_t floor_quotient(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t read_sum(Reader *r, int depth);

static int64_t read_atom(Reader *r, int depth) {
  static const char *const functions[] = {"floordiv(", "mod(", "max(", "min("};
  for (int f = 0; f < 4; ++f) {
    if (!eat(r, functions[f])) {
      continue;
    }
    const int64_t a = depth < MOST_DEPTH ? read_sum(r, depth + 1) : 0;
    r->failed |= depth >= MOST_DEPTH || !eat(r, ",");
    const int64_t b = r->failed ? 0 : read_sum(r, depth + 1);
    r->failed |= !eat(r, ")") || (f < 2 && b <= 0);
    if (r->failed) {
      return 0;
    }
    return f == 0   ? floor_quotient(a, b)
           : f == 1 ? a - floor_quotient(a, b) * b
           : f == 2 ? (a > b ? a : b)
                    : (a < b ? a : b);
  }
  skip_spaces(r);
  const char *name = r->at;
  int64_t number = 0;
  int is_number = 1;
  while (r->at < r->end && memchr(" *,()+-", *r->at, 7) == NULL) {
    const int digit = *r->at++ - '0';
    is_number &= digit >= 0 && digit <= 9 && !__builtin_mul_overflow(number, 10, &number) &&
                 !__builtin_add_overflow(number, digit, &number);
  }
  if (r->at == name) {
    r->failed = 1;
    return 0;
  }
  return is_number ? number : value_of_name(r, name, (size_t)(r->at - name));
}

static int64_t read_sum(Reader *r, int depth) {
  int64_t total = 0;
  int is_negative = eat(r, "-");
  do {
    int64_t product = read_atom(r, depth);
    while (!r->failed && eat(r, "*")) {
      const int64_t factor = read_atom(r, depth);
      r->failed |= __builtin_mul_overflow(product, factor, &product);
    }
    r->failed |= is_negative ? __builtin_sub_overflow(total, product, &total)
                             : __builtin_add_overflow(total, product, &total);
    skip_spaces(r);
    is_negative = r->at < r->end && *r->at == '-';
  } while (!r->failed && (eat(r, "+") || eat(r, "-")));
  return total;
}

/*===- Dimensions ---------------------------------------------------------------*/

int hlo_leaf_dims(const hlo_sizes *sizes, const hlo_buffer_desc *leaf, int is_input,
                  uint32_t number, int64_t *dims) {
  const hlo_module_desc *desc = sizes->desc;
  const char *text = hlo_sizes_text(desc, leaf);
  int known = 1;
  for (int32_t d = 0; d < leaf->rank; ++d) {
    dims[d] = leaf->dims[d];
    if (text == NULL) {
      continue;
    }
    Reader r = dimension_text(sizes, text, d);
    const int64_t value = read_sum(&r, 0);
    if (r.failed || r.at != r.end) {
      known = 0;
    } else {
      dims[d] = value < 0 ? 0 : value < dims[d] ? value : dims[d];
    }
  }
  for (uint32_t i = sizes->first; is_input && text == NULL && i < desc->num_inputs; ++i) {
    const hlo_buffer_desc *size = hlo_input_at(desc, i);
    if ((uint32_t)size->size_of == number + 1) {
      dims[size->size_dim] = hlo_size_value(sizes, i);
    }
  }
  for (uint32_t i = desc->num_outputs; !is_input && text == NULL && i-- > 0;) {
    const hlo_buffer_desc *size = hlo_output_at(desc, i);
    if (size->size_of == 0) {
      break;
    }
    known &= (uint32_t)size->size_of != number + 1;
  }
  return known;
}

void hlo_input_dims(const hlo_module_desc *desc, uint32_t input, const int64_t *sizes,
                    int64_t *dims) {
  const hlo_sizes all = hlo_sizes_of_values(desc, sizes);
  hlo_leaf_dims(&all, hlo_input_at(desc, input), /*is_input=*/1, input, dims);
}

int hlo_output_dims(const hlo_module_desc *desc, uint32_t output, const int64_t *sizes,
                    int64_t *dims) {
  const hlo_sizes all = hlo_sizes_of_values(desc, sizes);
  return hlo_leaf_dims(&all, hlo_output_at(desc, output), /*is_input=*/0, output, dims);
}

/*===- Versions -----------------------------------------------------------------*/

uint32_t hlo_size_version(const hlo_sizes *sizes) {
  const hlo_size_versions *versions = sizes->desc->size_versions;
  const int64_t *at = versions->choices;
  uint32_t first = 0;
  for (uint32_t choice = 0; choice < versions->num_choices; ++choice) {
    int fits = 1;
    for (int64_t conditions = *at++; conditions > 0; --conditions, at += 2) {
      fits &= hlo_size_value(sizes, (uint32_t)at[0]) == at[1];
    }
    uint32_t own = 0, count = 1;
    for (int64_t classes = *at++; classes > 0; --classes) {
      const int64_t inputs = *at++;
      const int64_t value = hlo_size_value(sizes, (uint32_t)at[0]);
      int same = 1;
      for (int64_t i = 1; i < inputs; ++i) {
        same &= hlo_size_value(sizes, (uint32_t)at[i]) == value;
      }
      at += inputs;
      const uint32_t intervals = (uint32_t)*at++;
      const int64_t limits = *at++;
      uint32_t interval = 0;
      if (limits > 0 && at[limits - 1] - at[0] == limits - 1) {
        /* They ascend one by one: a version for each size. */
        const int64_t above = value - at[0];
        interval = (uint32_t)(above < 0 ? 0 : above < limits ? above : limits);
      } else {
        for (int64_t i = 0; i < limits; ++i) {
          interval += value > at[i];
        }
      }
      at += limits;
      own = own * intervals + (same ? interval : intervals - 1);
      count *= intervals;
    }
    if (fits) {
      return first + own;
    }
    first += count;
  }
  return first > 0 ? first - 1 : 0; /* no choice has conditions that all calls violate */
}
