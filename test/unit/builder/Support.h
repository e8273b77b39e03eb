//===- Support.h - Building and running in tests ---------------*- C++ -*-===//
#ifndef TEST_UNIT_BUILDER_SUPPORT_H
#define TEST_UNIT_BUILDER_SUPPORT_H

#include <gtest/gtest.h>
#include <hlo/builder.h>

namespace hlo::test {

/// x, y -> operation(x, y) of scalars.
inline XlaComputation scalarFunction(PrimitiveType type, XlaOp (*operation)(XlaOp, XlaOp)) {
  XlaBuilder b("f");
  Shape scalar = ShapeUtil::MakeShape(type, {});
  XlaOp x = Parameter(&b, 0, scalar, "x"), y = Parameter(&b, 1, scalar, "y");
  auto built = b.Build(operation(x, y));
  EXPECT_TRUE(built.ok()) << built.status();
  return built.ok() ? *built : XlaComputation();
}
inline XlaComputation scalarAdd(PrimitiveType type = F32) {
  return scalarFunction(type, [](XlaOp x, XlaOp y) { return x + y; });
}

/// The module as text, verified, after it has been read from `text`.
inline std::string readBack(const std::string &text) {
  hlo_compile_options options = hlo_compile_options_init();
  options.emit = HLO_EMIT_HLO;
  hlo_compilation *compilation = nullptr;
  hlo_status status = hlo_compile_text(text.data(), text.size(), &options, &compilation);
  EXPECT_EQ(status, HLO_OK) << hlo_compilation_log(compilation) << text;
  hlo_bytes bytes = hlo_compilation_artifact(compilation, HLO_EMIT_HLO);
  std::string result(static_cast<const char *>(bytes.data), bytes.size);
  hlo_compilation_free(compilation);
  return result;
}

/// Builds, and checks that the text is read back as the same text.
inline XlaComputation finish(XlaBuilder &b, XlaOp root) {
  auto built = b.Build(root);
  EXPECT_TRUE(built.ok()) << built.status();
  if (!built.ok()) {
    return XlaComputation();
  }
  EXPECT_EQ(readBack(built->ToString()), built->ToString());
  return *built;
}

/// Builds and runs; one literal per element of a tuple result.
inline std::vector<Literal> run(XlaBuilder &b, XlaOp root,
                                const std::vector<Literal> &arguments = {},
                                const RunOptions &options = RunOptions()) {
  XlaComputation computation = finish(b, root);
  if (computation.IsNull()) {
    return {};
  }
  auto executable = Jit(computation);
  EXPECT_TRUE(executable.ok()) << executable.status() << computation.ToString();
  if (!executable.ok()) {
    return {};
  }
  auto results = executable->Run(arguments, options);
  EXPECT_TRUE(results.ok()) << results.status() << computation.ToString();
  return results.ok() ? *results : std::vector<Literal>();
}

/// The only result as text: "f32[2] {1, 2}".
inline std::string runText(XlaBuilder &b, XlaOp root, const std::vector<Literal> &arguments = {}) {
  std::vector<Literal> results = run(b, root, arguments);
  std::string text;
  for (const Literal &result : results) {
    text += (text.empty() ? "" : " ") + result.ToString();
  }
  return text;
}

} // namespace hlo::test

#endif
