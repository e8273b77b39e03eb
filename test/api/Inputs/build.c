/* hlo/builder_c.h: a module with a called computation; names; errors. Prints what build.test
 * expects. */
#include <hlo/builder_c.h>
#include <stdio.h>
#include <string.h>

static hlo_value add2(hlo_builder *b, const char *opcode, hlo_value x, hlo_value y) {
  hlo_value operands[] = {x, y};
  hlo_instruction instruction = hlo_instruction_init(opcode, operands, 2);
  instruction.file = "user.c";
  instruction.line = 7;
  return hlo_builder_add(b, &instruction);
}

static hlo_value with(hlo_builder *b, const char *opcode, hlo_value x, const char *shape,
                      const char *name, const char *value) {
  hlo_instruction instruction = hlo_instruction_init(opcode, &x, 1);
  hlo_attribute attribute = {name, value, NULL, 0};
  instruction.shape = shape;
  instruction.attributes = &attribute;
  instruction.num_attributes = name ? 1 : 0;
  return hlo_builder_add(b, &instruction);
}

static void failed(const char *what, hlo_builder *b) {
  printf("%s: %s\n", what, hlo_builder_error(b));
  hlo_builder_free(b);
}

static hlo_builder *two(const char *x, const char *y) {
  hlo_builder *b = hlo_builder_create("two");
  hlo_builder_parameter(b, 0, x, "x", "user.c", 3);
  hlo_builder_parameter(b, 1, y, "y", "user.c", 4);
  return b;
}

/* Builds; whether the text of the computation is read back. */
static hlo_computation *read_back(const char *what, hlo_builder *b) {
  hlo_computation *computation = hlo_builder_build(b, HLO_NO_VALUE);
  if (!computation) {
    failed(what, b);
    return NULL;
  }
  hlo_builder_free(b);
  hlo_compile_options options = hlo_compile_options_init();
  options.flags = HLO_COMPILE_CHECK_ONLY;
  hlo_compilation *compilation;
  hlo_status status = hlo_compile_computation(computation, &options, &compilation);
  printf("%s: %s\n", what, hlo_status_name(status));
  hlo_compilation_free(compilation);
  return computation;
}

/* negate-start and negate-done, for which the builder makes a computation. */
static hlo_value negate_async(hlo_builder *b, hlo_value x) {
  hlo_value start = with(b, "negate-start", x, "((f32[2]), f32[2])", NULL, NULL);
  return with(b, "negate-done", start, "f32[2]", NULL, NULL);
}

static hlo_builder *tuples(int levels) {
  hlo_builder *b = two("f32[2]", "f32[2]");
  hlo_value x = 0;
  for (int i = 0; i < levels; ++i) {
    x = with(b, "tuple", x, NULL, NULL, NULL);
  }
  return b;
}

int main(void) {
  /* Names that are no names of the format, and equal ones. */
  hlo_builder *b = two("s32[]", "s32[]");
  hlo_computation *sum = hlo_builder_build(b, add2(b, "add", 0, 1));
  hlo_builder_free(b);

  b = hlo_builder_create("1 odd: name");
  hlo_value x = hlo_builder_parameter(b, 0, "s32[2,3]", "x", NULL, 0);
  int32_t zero = 0;
  hlo_value reduce[] = {x, hlo_builder_constant(b, "s32[]", &zero, sizeof zero, "x", NULL, 0)};
  hlo_attribute attributes[] = {{"dimensions", "{1}", NULL, 0},
                                {"to_apply", NULL, (const hlo_computation *const *)&sum, 1}};
  hlo_instruction instruction = hlo_instruction_init("reduce", reduce, 2);
  instruction.attributes = attributes;
  instruction.num_attributes = 2;
  instruction.name = "ROOT";
  hlo_value rows = hlo_builder_add(b, &instruction);
  printf("shape %s\n", hlo_builder_shape(b, rows));
  with(b, "convert", rows, NULL, NULL, NULL); /* refused: its shape does not follow */
  failed("no shape", b);

  b = hlo_builder_create("1 odd: name");
  x = hlo_builder_parameter(b, 0, "s32[2,3]", "x", NULL, 0);
  reduce[0] = x;
  reduce[1] = hlo_builder_constant(b, "s32[]", &zero, sizeof zero, "x", NULL, 0);
  rows = hlo_builder_add(b, &instruction);
  hlo_value again = hlo_builder_add(b, &instruction);
  unsigned char flags[] = {1, 0};
  hlo_value mask = hlo_builder_constant(b, "pred[2]", flags, 2, NULL, NULL, 0);
  unsigned char nibbles[] = {0xff, 3};
  hlo_value small = hlo_builder_constant(b, "s4[2]", nibbles, 2, NULL, NULL, 0);
  hlo_value wide = with(b, "convert", small, "s32[2]", NULL, NULL);
  hlo_value three[] = {mask, add2(b, "add", rows, again), wide};
  hlo_instruction select = hlo_instruction_init("select", three, 3);
  hlo_value chosen = hlo_builder_add(b, &select);
  hlo_value sliced = with(b, "slice", chosen, NULL, "slice", "{[0:2:1]}");
  hlo_computation *computation = hlo_builder_build(b, sliced);
  if (!computation) {
    failed("unexpected", b);
    return 1;
  }
  hlo_builder_free(b);
  hlo_bytes text = hlo_computation_text(computation);
  printf("%s\n%s\n", (const char *)text.data, hlo_computation_signature(computation));

  /* The text is read back as the same module. */
  hlo_compile_options options = hlo_compile_options_init();
  options.emit = HLO_EMIT_HLO;
  hlo_compilation *compilation;
  hlo_status status = hlo_compile_computation(computation, &options, &compilation);
  hlo_bytes again_text = hlo_compilation_artifact(compilation, HLO_EMIT_HLO);
  printf("round trip: %s %s\n", hlo_status_name(status),
         again_text.size == text.size && !memcmp(again_text.data, text.data, text.size)
             ? "equal"
             : "different");
  hlo_compilation_free(compilation);
  status = hlo_jit_computation(computation, NULL, &compilation);
  int32_t in[] = {1, 2, 3, 4, 5, 6}, out[2] = {0};
  const void *inputs[] = {in};
  void *outputs[] = {out};
  hlo_call call = hlo_call_init();
  if (status == HLO_OK) {
    status = hlo_compilation_module(compilation)->run(&call, inputs, outputs);
  }
  printf("run: %s %d %d\n", hlo_status_name(status), out[0], out[1]);
  hlo_compilation_free(compilation);
  hlo_computation_free(computation);
  status = hlo_jit_computation(NULL, NULL, &compilation);
  printf("null: %s %s", hlo_status_name(status), hlo_compilation_log(compilation));
  hlo_compilation_free(compilation);

  /* Errors, each with its place. */
  b = two("f32[2]", "f32[3]");
  add2(b, "add", 0, 1);
  printf("later values: %d\n", (int)add2(b, "add", 0, 0));
  failed("shapes", b);
  b = two("f32[2]", "f32[3]");
  add2(b, "ad", 0, 1);
  failed("opcode", b);
  b = two("f32[2]", "f32[3]");
  add2(b, "", 0, 1);
  failed("no opcode", b);
  b = two("f32[2", "f32[3]");
  failed("shape text", b);
  b = two("f32[2]", "f32[2]");
  add2(b, "add", 0, 17);
  failed("operand", b);
  b = two("f32[2]", "f32[2]");
  with(b, "transpose", 0, NULL, "dimensions", "{0}, metadata={op_name=\"x\"}");
  failed("two attributes", b);
  b = two("f32[2]", "f32[2]");
  with(b, "transpose", 0, NULL, "dimensions", "{0}\n}\nENTRY f {");
  failed("injected", b);
  b = two("f32[2]", "f32[2]");
  hlo_builder_parameter(b, 3, "f32[]", NULL, "user.c", 9);
  hlo_builder_build(b, 0);
  failed("gap", b);
  b = hlo_builder_create(NULL);
  hlo_builder_build(b, HLO_NO_VALUE);
  failed("empty", b);
  b = two("f32[2]", "f32[2]");
  float few[1] = {0};
  hlo_builder_constant(b, "f32[2]", few, sizeof few, NULL, "user.c", 5);
  failed("constant", b);
  b = two("f32[2]", "f32[2]");
  hlo_attribute annotation[] = {{"sharding", "{replicated}", NULL, 0},
                                {"metadata", "{op_name=\"weights\"}", NULL, 0}};
  printf("annotate: %d", hlo_builder_annotate(b, 1, annotation, 2, "user.c", 6));
  computation = hlo_builder_build(b, add2(b, "add", 0, 1));
  const char *annotated =
      computation ? strstr(hlo_computation_text(computation).data, "%y = ") : "";
  printf(" %.*s\n", (int)strcspn(annotated, "\n"), annotated);
  hlo_computation_free(computation);
  hlo_builder_free(b);
  b = two("f32[2]", "f32[2]");
  annotation[0].name = "dimensions";
  annotation[0].value = "{0}";
  hlo_builder_annotate(b, 1, annotation, 1, "user.c", 6);
  failed("annotation", b);
  b = two("f32[2]", "f32[2]");
  printf("alias: %d\n",
         hlo_builder_module_attribute(b, "input_output_alias", "{ {}: (0, {}, may-alias) }"));
  computation = hlo_builder_build(b, add2(b, "add", 0, 1));
  printf("alias: %s\n", computation && strstr((const char *)hlo_computation_text(computation).data,
                                              "input_output_alias")
                            ? "kept"
                            : hlo_builder_error(b));
  printf("built twice: %s\n", hlo_builder_build(b, 0) ? "accepted" : hlo_builder_error(b));
  hlo_computation_free(computation);
  hlo_builder_free(b);
  hlo_computation_free(sum);

  /* Names that the builder makes, of a computation that is called, and its own. */
  b = two("f32[2]", "f32[2]");
  negate_async(b, 0);
  hlo_computation *called = read_back("called", b);
  b = hlo_builder_create("async_wrapped.1");
  x = negate_async(b, hlo_builder_parameter(b, 0, "f32[2]", NULL, NULL, 0));
  hlo_value arguments[] = {x, x};
  hlo_attribute callee = {"to_apply", NULL, (const hlo_computation *const *)&called, 1};
  hlo_instruction call_it = hlo_instruction_init("call", arguments, 2);
  call_it.attributes = &callee;
  call_it.num_attributes = 1;
  negate_async(b, negate_async(b, hlo_builder_add(b, &call_it)));
  hlo_computation_free(read_back("made names", b));
  hlo_computation_free(called);

  /* What the builder takes, the parser reads. */
  hlo_computation_free(read_back("tuples", tuples(500)));
  read_back("deeper tuples", tuples(501));
  return 0;
}
