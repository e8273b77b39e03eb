/*===- hlo/builder_c.h - Building HLO modules from C ---------------------------===*\
 *
 * Computations instruction by instruction, without text: the interface below hlo/builder.h and
 * bindings of other languages. Part of libhlo_compiler.so. Plain C99. Licensed under Apache-2.0
 * WITH LLVM-exception.
 *
 * An instruction is an opcode, operands, attributes and, where it does not follow from these, a
 * result shape. Opcodes, attributes and shapes are those of the HLO text format; attributes' values
 * and shapes are written as in it. The rules that infer and check shapes are the parser's.
 *
 *   hlo_builder *b = hlo_builder_create("square_sum");
 *   hlo_value x = hlo_builder_parameter(b, 0, "f32[8]", "x", NULL, 0);
 *   hlo_value operands[2] = {x, x};
 *   hlo_instruction multiply = hlo_instruction_init("multiply", operands, 2);
 *   hlo_value y = hlo_builder_add(b, &multiply);
 *   ...
 *   hlo_computation *computation = hlo_builder_build(b, y);
 *
 * Errors: the first one of a builder is kept, with its place; values made from it are HLO_NO_VALUE,
 * and hlo_builder_build returns null. Threads: a builder belongs to one thread at a time; a
 * computation is only read, and may be shared. Functions of the builder run on the caller's stack;
 * shapes and attributes that nest to the limit take up to 2 MiB of it.
 *
 *===-------------------------------------------------------------------------===*/
#ifndef HLO_BUILDER_C_H
#define HLO_BUILDER_C_H

#include <hlo/compiler.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A computation in work. */
typedef struct hlo_builder hlo_builder;
/** A finished module: an entry computation and those that it calls. */
typedef struct hlo_computation hlo_computation;
/** The result of an instruction; means something to the builder that made it only. */
typedef int64_t hlo_value;
/** The value of an instruction that has an error. */
#define HLO_NO_VALUE ((hlo_value) - 1)

/** One attribute of an instruction. */
typedef struct hlo_attribute {
  const char *name;  /**< as in text: "dimensions", "to_apply", "metadata", ... */
  const char *value; /**< as in text, "{0,1}"; ignored if there are computations */
  /** The called computations, for attributes that name some: one for to_apply, condition, body,
   * select, scatter, calls, true_computation, ...; any number for branch_computations and
   * called_computations. Each is copied into the builder's module, once. */
  const hlo_computation *const *computations;
  size_t num_computations;
} hlo_attribute;

/** An instruction to add. Everything that it refers to is read during the call only. */
typedef struct hlo_instruction {
  uint32_t struct_size;
  uint32_t line;      /**< place of the caller, for messages; 0: none */
  const char *file;   /**< null: none */
  const char *opcode; /**< "add", "all-reduce", "all-reduce-start", ... */
  const hlo_value *operands;
  size_t num_operands;
  const char *shape; /**< the result's; null: it is inferred */
  const hlo_attribute *attributes;
  size_t num_attributes;
  const char *name; /**< of the instruction; made unique; null: the opcode */
} hlo_instruction;

/** An instruction without attributes, whose shape is inferred. */
HLO_INLINE hlo_instruction hlo_instruction_init(const char *opcode, const hlo_value *operands,
                                                size_t num_operands) {
  hlo_instruction instruction;
  memset(&instruction, 0, sizeof instruction);
  instruction.struct_size = (uint32_t)sizeof instruction;
  instruction.opcode = opcode;
  instruction.operands = operands;
  instruction.num_operands = num_operands;
  return instruction;
}

/** A builder of a computation and module `name` (null: "module"). A name that is none of the text
 * format is made one. Free it with hlo_builder_free. */
HLO_EXPORT hlo_builder *hlo_builder_create(const char *name);
/** Computations that were built stay. Null is ignored. */
HLO_EXPORT void hlo_builder_free(hlo_builder *builder);

/** Parameter `number` of the shape written in `shape`; numbers are used once and without gaps.
 * `name` may be null. `file`, `line`: place of the caller, for messages; null and 0 for none. */
HLO_EXPORT hlo_value hlo_builder_parameter(hlo_builder *builder, int64_t number, const char *shape,
                                           const char *name, const char *file, uint32_t line);

/** A constant: `bytes` bytes of elements of the array `shape`, row-major and dense, in the layout
 * of hlo_type's elements; types of less than a byte take a byte each. The data is copied. */
HLO_EXPORT hlo_value hlo_builder_constant(hlo_builder *builder, const char *shape, const void *data,
                                          size_t bytes, const char *name, const char *file,
                                          uint32_t line);

/** Adds an instruction behind those that there are. Its value, or HLO_NO_VALUE after an error. */
HLO_EXPORT hlo_value hlo_builder_add(hlo_builder *builder, const hlo_instruction *instruction);

/** Gives a value attributes that every opcode has, as metadata, sharding and frontend_attributes:
 * for parameters and constants, which are not added by hlo_builder_add. A later value replaces an
 * earlier one. 1, or 0 after an error. */
HLO_EXPORT int hlo_builder_annotate(hlo_builder *builder, hlo_value value,
                                    const hlo_attribute *attributes, size_t num_attributes,
                                    const char *file, uint32_t line);

/** An attribute of the module's header (as "input_output_alias"), its value as in text. 1, or 0
 * after an error. */
HLO_EXPORT int hlo_builder_module_attribute(hlo_builder *builder, const char *name,
                                            const char *value);

/** The shape of a value as text, with layout only where it is not row-major: "f32[2,3]". Belongs to
 * the builder. Null for HLO_NO_VALUE, and once the computation is built. */
HLO_EXPORT const char *hlo_builder_shape(hlo_builder *builder, hlo_value value);

/** Reports an error of the caller's own at this place, as if an instruction had it. */
HLO_EXPORT void hlo_builder_fail(hlo_builder *builder, const char *file, uint32_t line,
                                 const char *message);

/** The first error, "file:line: error: dot: ... [dot_c3]", with notes on lines of their own; "" if
 * there is none. Belongs to the builder. */
HLO_EXPORT const char *hlo_builder_error(const hlo_builder *builder);

/** Verifies the module and finishes it. `root`: its result; HLO_NO_VALUE: the instruction that was
 * added last. Null after an error, which hlo_builder_error has. Afterwards the builder can only be
 * asked for its error, and freed. Free the computation, which does not need the builder, with
 * hlo_computation_free. */
HLO_EXPORT hlo_computation *hlo_builder_build(hlo_builder *builder, hlo_value root);
/** Builders that copied the computation do not need it any more. Null is ignored. */
HLO_EXPORT void hlo_computation_free(hlo_computation *computation);

/** The module as HLO text, which the parser reads back as the same module. Belongs to the
 * computation. */
HLO_EXPORT hlo_bytes hlo_computation_text(const hlo_computation *computation);

/** The types of parameters and result: "(x: f32[8]) -> f32[]". Belongs to the computation. */
HLO_EXPORT const char *hlo_computation_signature(const hlo_computation *computation);

/** As hlo_compile_text and hlo_jit_text of the computation's text. HLO_ERR_NULL for a null
 * computation. */
HLO_EXPORT HLO_NODISCARD hlo_status hlo_compile_computation(const hlo_computation *computation,
                                                            const hlo_compile_options *options,
                                                            hlo_compilation **result);
HLO_EXPORT HLO_NODISCARD hlo_status hlo_jit_computation(const hlo_computation *computation,
                                                        const hlo_compile_options *options,
                                                        hlo_compilation **result);

#ifdef __cplusplus
}
#endif

#endif
