//===- Builder.cpp - XlaBuilder, XlaComputation ---------------------------===//
//
// A thin layer over hlo_builder_*: the C API infers and checks shapes, and keeps the first
// error with its place.
//
//===----------------------------------------------------------------------===//
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "compiler/builder/Instruction.h"
#include <hlo/builder.h>

namespace hlo {

using detail::Instruction;

//===----------------------------------------------------------------------===//
// XlaComputation
//===----------------------------------------------------------------------===//

XlaComputation::XlaComputation(std::string name, hlo_computation *computation)
    : title(std::move(name)), module(computation, hlo_computation_free) {}

std::string XlaComputation::ToString() const {
  hlo_bytes text = hlo_computation_text(module.get());
  return text.size ? std::string(static_cast<const char *>(text.data), text.size) : std::string();
}

std::string XlaComputation::signature() const { return hlo_computation_signature(module.get()); }

/// The end of the shape or of the name that `text` begins with: the first of `stops` outside of
/// brackets.
static std::size_t endOf(absl::string_view text, absl::string_view stops) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (depth == 0 && absl::StrContains(stops, text.substr(i, 1))) {
      return i;
    }
    depth += absl::StrContains("([{", text.substr(i, 1));
    depth -= absl::StrContains(")]}", text.substr(i, 1));
  }
  return text.size();
}

absl::StatusOr<ProgramShape> XlaComputation::GetProgramShape() const {
  if (!module) {
    return absl::FailedPreconditionError("there is no computation");
  }
  // "(x: f32[8], f32[2,2]) -> f32[]"
  std::string whole = signature();
  absl::string_view text = whole;
  ProgramShape program;
  text.remove_prefix(1);
  while (!text.empty() && text[0] != ')') {
    absl::string_view one = text.substr(0, endOf(text, ",)"));
    text.remove_prefix(one.size());
    absl::ConsumePrefix(&text, ",");
    std::size_t colon = endOf(one, ":");
    bool hasName = colon != one.size();
    auto shape = ShapeUtil::ParseShapeString(
        absl::StripAsciiWhitespace(hasName ? one.substr(colon + 1) : one));
    if (!shape.ok()) {
      return shape.status();
    }
    program.AddParameter(*std::move(shape),
                         hasName ? std::string(absl::StripAsciiWhitespace(one.substr(0, colon)))
                                 : std::string());
  }
  absl::ConsumePrefix(&text, ")");
  text = absl::StripLeadingAsciiWhitespace(text);
  absl::ConsumePrefix(&text, "->");
  auto result = ShapeUtil::ParseShapeString(absl::StripAsciiWhitespace(text));
  if (!result.ok()) {
    return result.status();
  }
  program.set_result(*std::move(result));
  return program;
}

//===----------------------------------------------------------------------===//
// XlaBuilder
//===----------------------------------------------------------------------===//

XlaBuilder::XlaBuilder(const std::string &computation_name)
    : title(computation_name), builder(hlo_builder_create(computation_name.c_str())) {}

XlaBuilder::~XlaBuilder() { hlo_builder_free(builder); }

std::unique_ptr<XlaBuilder> XlaBuilder::CreateSubBuilder(const std::string &computation_name) {
  return std::make_unique<XlaBuilder>(computation_name);
}

absl::Status XlaBuilder::first_error() const {
  absl::string_view error = hlo_builder_error(builder);
  return error.empty()                                  ? absl::OkStatus()
         : absl::StrContains(error, "internal error: ") ? absl::InternalError(error)
                                                        : absl::InvalidArgumentError(error);
}

XlaOp XlaBuilder::ReportError(const absl::Status &error, SourceLocation at) {
  if (!error.ok()) {
    hlo_builder_fail(builder, at.file_name(), at.line(), std::string(error.message()).c_str());
  }
  return XlaOp(this, HLO_NO_VALUE);
}

XlaOp XlaBuilder::ReportErrorOrReturn(const absl::StatusOr<XlaOp> &op, SourceLocation at) {
  return op.ok() ? *op : ReportError(op.status(), at);
}

absl::StatusOr<Shape> XlaBuilder::GetShape(XlaOp op) const {
  if (op.builder() != this || !op.valid()) {
    absl::Status error = first_error();
    return !error.ok() ? error
                       : absl::InvalidArgumentError(
                             absl::StrCat("the value is not one of the builder '", title, "'"));
  }
  const char *text = hlo_builder_shape(builder, op.handle());
  if (!text) {
    return absl::FailedPreconditionError(
        absl::StrCat("the computation '", title, "' has been built already"));
  }
  return ShapeUtil::ParseShapeString(text);
}

absl::StatusOr<ProgramShape> XlaBuilder::GetProgramShape(XlaOp root) const {
  absl::StatusOr<Shape> result = GetShape(root);
  if (!result.ok()) {
    return result.status();
  }
  ProgramShape program;
  for (const auto &[number, parameter] : parameters) {
    program.AddParameter(parameter.first, parameter.second);
  }
  program.set_result(*std::move(result));
  return program;
}

//===----------------------------------------------------------------------===//
// Adding instructions
//===----------------------------------------------------------------------===//

/// `{key="value",...}`, or the key that the text format cannot write.
static absl::StatusOr<std::string> frontendText(const FrontendAttributes &attributes) {
  std::string text = "{";
  for (const auto &[key, value] : attributes) {
    bool isName = !key.empty() && (absl::ascii_isalpha(key[0]) || key[0] == '_');
    for (char c : key) {
      isName &= absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-';
    }
    if (!isName) {
      return absl::InvalidArgumentError(absl::StrCat(
          "frontend attribute '", key, "': names have letters, digits, '_', '.' and '-'"));
    }
    absl::StrAppend(&text, text.size() > 1 ? "," : "", key, "=", detail::quoted(value));
  }
  return text + "}";
}

static std::string metadataText(const OpMetadata &metadata) {
  std::string text = "{";
  auto add = [&](absl::string_view name, const std::string &value) {
    if (!value.empty()) {
      absl::StrAppend(&text, text.size() > 1 ? " " : "", name, "=", value);
    }
  };
  auto quoted = [](const std::string &value) {
    return value.empty() ? value : detail::quoted(value);
  };
  add("op_type", quoted(metadata.op_type));
  add("op_name", quoted(metadata.op_name));
  add("source_file", quoted(metadata.source_file));
  add("source_line", metadata.source_line ? absl::StrCat(metadata.source_line) : std::string());
  return text + "}";
}

/// What SetOpMetadata and the others have set, as attributes; `more` are the instruction's own.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>>
XlaBuilder::commonAttributes(const FrontendAttributes &more) const {
  std::vector<std::pair<std::string, std::string>> attributes;
  FrontendAttributes all = frontendAttributes;
  for (const auto &[key, value] : more) {
    all[key] = value;
  }
  if (!all.empty()) {
    absl::StatusOr<std::string> text = frontendText(all);
    if (!text.ok()) {
      return text.status();
    }
    attributes.emplace_back("frontend_attributes", *std::move(text));
  }
  if (!sharding.empty()) {
    attributes.emplace_back("sharding", sharding);
  }
  if (std::string text = metadataText(metadata); text != "{}") {
    attributes.emplace_back("metadata", std::move(text));
  }
  return attributes;
}

/// The parameter or constant `value`, which has been made without attributes.
XlaOp XlaBuilder::annotated(hlo_value value, SourceLocation at) {
  auto common = commonAttributes({});
  if (!common.ok()) {
    return ReportError(common.status(), at);
  }
  std::vector<hlo_attribute> attributes;
  for (const auto &[name, text] : *common) {
    attributes.push_back({name.c_str(), text.c_str(), nullptr, 0});
  }
  bool isGood =
      value != HLO_NO_VALUE &&
      (attributes.empty() || hlo_builder_annotate(builder, value, attributes.data(),
                                                  attributes.size(), at.file_name(), at.line()));
  return XlaOp(this, isGood ? value : HLO_NO_VALUE);
}

XlaOp XlaBuilder::add(Instruction &instruction) {
  if (*hlo_builder_error(builder)) {
    return XlaOp(this, HLO_NO_VALUE);
  }
  auto common = commonAttributes(instruction.frontendAttributes);
  if (!common.ok()) {
    return ReportError(common.status(), instruction.at);
  }
  for (auto &[name, value] : *common) {
    instruction.attribute(name, std::move(value));
  }
  std::vector<hlo_value> operands;
  for (XlaOp op : instruction.given) {
    operands.push_back(op.handle());
  }
  std::vector<hlo_attribute> attributes;
  for (const auto &attribute : instruction.attributes) {
    attributes.push_back({attribute.name.c_str(), attribute.value.c_str(), attribute.called.data(),
                          attribute.called.size()});
  }
  std::string name = std::exchange(nextName, "");
  hlo_instruction given =
      hlo_instruction_init(instruction.opcode.c_str(), operands.data(), operands.size());
  given.file = instruction.at.file_name();
  given.line = instruction.at.line();
  given.shape = instruction.resultShape.empty() ? nullptr : instruction.resultShape.c_str();
  given.attributes = attributes.data();
  given.num_attributes = attributes.size();
  given.name = name.empty() ? nullptr : name.c_str();
  return XlaOp(this, hlo_builder_add(builder, &given));
}

XlaOp Parameter(XlaBuilder *builder, std::int64_t parameter_number, const Shape &shape,
                absl::string_view name, SourceLocation at) {
  return builder ? builder->addParameter(parameter_number, shape, std::string(name), at) : XlaOp();
}

XlaOp XlaBuilder::addParameter(std::int64_t number, const Shape &shape, const std::string &name,
                               SourceLocation at) {
  if (*hlo_builder_error(builder)) {
    return XlaOp(this, HLO_NO_VALUE);
  }
  if (absl::Status status = ShapeUtil::ValidateShape(shape); !status.ok()) {
    return ReportError(absl::InvalidArgumentError(absl::StrCat("parameter: ", status.message())),
                       at);
  }
  std::string text = shape.ToString(/*print_layout=*/true);
  hlo_value value =
      hlo_builder_parameter(builder, number, text.c_str(), name.empty() ? nullptr : name.c_str(),
                            at.file_name(), at.line());
  parameters[number] = {shape, name};
  return annotated(value, at);
}

XlaOp XlaBuilder::addConstant(const Literal &literal, SourceLocation at) {
  if (*hlo_builder_error(builder)) {
    return XlaOp(this, HLO_NO_VALUE);
  }
  if (literal.IsTuple()) {
    std::vector<XlaOp> elements;
    for (const Literal &element : literal.tuple_elements()) {
      elements.push_back(addConstant(element, at));
    }
    return hlo::Tuple(this, elements, at);
  }
  std::string name = std::exchange(nextName, "");
  std::string text = literal.shape().ToString();
  hlo_value value =
      hlo_builder_constant(builder, text.c_str(), literal.untyped_data(), literal.size_bytes(),
                           name.empty() ? nullptr : name.c_str(), at.file_name(), at.line());
  return annotated(value, at);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

void XlaBuilder::SetOpMetadata(OpMetadata given) { metadata = std::move(given); }
void XlaBuilder::ClearOpMetadata() { metadata = OpMetadata(); }
void XlaBuilder::SetFrontendAttributes(FrontendAttributes attributes) {
  frontendAttributes = std::move(attributes);
}
void XlaBuilder::ClearFrontendAttributes() { frontendAttributes.clear(); }
void XlaBuilder::SetSharding(const std::string &given) { sharding = given; }
void XlaBuilder::ClearSharding() { sharding.clear(); }
void XlaBuilder::SetNextName(const std::string &name) { nextName = name; }

void XlaBuilder::SetUpAlias(const ShapeIndex &output_index, std::int64_t param_number,
                            const ShapeIndex &param_index, bool must) {
  aliases.push_back(absl::StrCat(detail::listText(output_index), ": (", param_number, ", ",
                                 detail::listText(param_index), ", ",
                                 must ? "must-alias" : "may-alias", ")"));
}

void XlaBuilder::AddBufferDonor(std::int64_t param_number, const ShapeIndex &param_index) {
  donors.push_back(absl::StrCat("(", param_number, ", ", detail::listText(param_index), ")"));
}

void XlaBuilder::SetReplicaCount(std::int64_t count) { replicas = count; }
void XlaBuilder::SetNumPartitions(std::int64_t count) { partitions = count; }

ConvolutionDimensionNumbers XlaBuilder::CreateDefaultConvDimensionNumbers(int num_spatial_dims) {
  ConvolutionDimensionNumbers numbers;
  numbers.set_input_batch_dimension(kConvBatchDimension)
      .set_input_feature_dimension(kConvFeatureDimension)
      .set_output_batch_dimension(kConvBatchDimension)
      .set_output_feature_dimension(kConvFeatureDimension)
      .set_kernel_output_feature_dimension(0)
      .set_kernel_input_feature_dimension(1);
  for (int i = 0; i < num_spatial_dims; ++i) {
    numbers.add_input_spatial_dimensions(i + 2)
        .add_kernel_spatial_dimensions(i + 2)
        .add_output_spatial_dimensions(i + 2);
  }
  return numbers;
}

XlaOp XlaBuilder::ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, Span window_strides, Pairs padding,
                                         Span lhs_dilation, Span rhs_dilation, SourceLocation at) {
  return hlo::ConvGeneralDilated(
      lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation,
      CreateDefaultConvDimensionNumbers(static_cast<int>(padding.size())), 1, 1, nullptr,
      std::nullopt, std::nullopt, at);
}

//===----------------------------------------------------------------------===//
// Build
//===----------------------------------------------------------------------===//

absl::StatusOr<XlaComputation> XlaBuilder::Build(SourceLocation at) {
  return finish(HLO_NO_VALUE, at);
}

absl::StatusOr<XlaComputation> XlaBuilder::Build(XlaOp root, SourceLocation at) {
  if (root.builder() != this || !root.valid()) {
    ReportError(absl::InvalidArgumentError(
                    absl::StrCat("Build: the root is not a value of the builder '", title, "'")),
                at);
  }
  return finish(root.handle(), at);
}

absl::StatusOr<XlaComputation> XlaBuilder::finish(hlo_value root, SourceLocation at) {
  auto set = [&](const char *name, const std::string &value) {
    if (!*hlo_builder_error(builder) &&
        !hlo_builder_module_attribute(builder, name, value.c_str())) {
      ReportError(absl::InvalidArgumentError(absl::StrCat(name, ": ", value)), at);
    }
  };
  if (!aliases.empty()) {
    set("input_output_alias", absl::StrCat("{ ", absl::StrJoin(aliases, ", "), " }"));
  }
  if (!donors.empty()) {
    set("buffer_donor", absl::StrCat("{ ", absl::StrJoin(donors, ", "), " }"));
  }
  if (replicas != 1) {
    set("replica_count", absl::StrCat(replicas));
  }
  if (partitions != 1) {
    set("num_partitions", absl::StrCat(partitions));
  }
  hlo_computation *computation = hlo_builder_build(builder, root);
  if (!computation) {
    // An error of the computation as a whole has no place of its own.
    absl::Status error = first_error();
    bool hasPlace = !absl::StartsWith(error.message(), "error: ");
    return hasPlace ? error
                    : absl::Status(error.code(), absl::StrCat(at.file_name(), ":", at.line(), ": ",
                                                              error.message()));
  }
  return XlaComputation(title, computation);
}

} // namespace hlo
