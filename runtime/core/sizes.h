/*===- sizes.h - The sizes of a call -------------------------------------------===*/
#ifndef RUNTIME_CORE_SIZES_H
#define RUNTIME_CORE_SIZES_H

#include <hlo/rt.h>

/** The sizes of a call: of all inputs by their pointers, or as a list of numbers. */
typedef struct hlo_sizes {
  const hlo_module_desc *desc;
  const void *const *inputs; /**< pointers of all inputs; null: see `values` */
  const int64_t *values;     /**< of the inputs that are sizes, in order */
  uint32_t first;            /**< of these inputs */
} hlo_sizes;

hlo_sizes hlo_sizes_of_inputs(const hlo_module_desc *desc, const void *const *inputs);
hlo_sizes hlo_sizes_of_values(const hlo_module_desc *desc, const int64_t *values);

/** What input number `input`, a size, is; limited to 0 to the bound. */
int64_t hlo_size_value(const hlo_sizes *sizes, uint32_t input);

/** hlo_input_dims and hlo_output_dims. */
int hlo_leaf_dims(const hlo_sizes *sizes, const hlo_buffer_desc *leaf, int is_input,
                  uint32_t number, int64_t *dims);

/** The version that serves a call, if desc->size_versions is not null. */
uint32_t hlo_size_version(const hlo_sizes *sizes);

#endif
