//===- Instruction.cpp - An instruction to be added -----------------------===//
#include "compiler/builder/Instruction.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include <charconv>
#include <cmath>

namespace hlo::detail {

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string listText(Numbers numbers) {
  return absl::StrCat("{", absl::StrJoin(numbers, ","), "}");
}

std::string listsText(Groups groups) {
  return absl::StrCat("{",
                      absl::StrJoin(groups, ",",
                                    [](std::string *out, const ReplicaGroup &group) {
                                      *out += listText(group.replica_ids());
                                    }),
                      "}");
}

std::string quoted(absl::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      // Always three digits: what follows may be a digit too.
      absl::StrAppendFormat(&result, "\\%03o", static_cast<unsigned>(byte));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

template <typename T> static std::string shortest(T value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-inf" : "inf";
  }
  char buffer[64];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

std::string numberText(double value) { return shortest(value); }
std::string numberText(float value) { return shortest(value); }

//===----------------------------------------------------------------------===//
// Instruction
//===----------------------------------------------------------------------===//

static XlaBuilder *builderOf(Ops operands, XlaBuilder *builder) {
  for (std::size_t i = 0; !builder && i < operands.size(); ++i) {
    builder = operands[i].builder();
  }
  return builder;
}

Instruction::Instruction(absl::string_view opcode, Ops operands, SourceLocation at,
                         XlaBuilder *builder)
    : builder(builderOf(operands, builder)), at(at), opcode(opcode),
      given(operands.begin(), operands.end()), shapes(operands.size()) {}

bool Instruction::ready() const {
  if (!builder || *hlo_builder_error(builder->handle())) {
    return false;
  }
  for (XlaOp op : given) {
    if (!op.valid() || op.builder() != builder) {
      return false;
    }
  }
  return true;
}

const Shape *Instruction::shapeOf(int i) {
  if (!ready()) {
    return nullptr;
  }
  std::unique_ptr<Shape> &known = shapes[i];
  if (!known) {
    absl::StatusOr<Shape> shape = builder->GetShape(given[i]);
    if (!shape.ok()) {
      fail("operand ", i, ": ", shape.status().message());
      return nullptr;
    }
    known = std::make_unique<Shape>(*std::move(shape));
  }
  return known.get();
}

const Shape *Instruction::arrayOf(int i) {
  const Shape *shape = shapeOf(i);
  if (shape && !shape->IsArray()) {
    fail("operand ", i, " must be an array, is ", shape->ToString());
    return nullptr;
  }
  return shape;
}

Instruction &Instruction::operand(XlaOp op) {
  given.push_back(op);
  shapes.emplace_back();
  return *this;
}

Instruction &Instruction::operands(Ops ops) {
  for (XlaOp op : ops) {
    operand(op);
  }
  return *this;
}

Instruction &Instruction::attribute(absl::string_view name, std::string value) {
  attributes.push_back({std::string(name), std::move(value), {}});
  return *this;
}

Instruction &Instruction::computation(absl::string_view name, const XlaComputation &called) {
  const XlaComputation *one = &called;
  return computations(name, absl::MakeConstSpan(&one, 1));
}

Instruction &Instruction::computations(absl::string_view name,
                                       absl::Span<const XlaComputation *const> called) {
  attributes.push_back({std::string(name), "", {}});
  for (const XlaComputation *computation : called) {
    if (!computation || computation->IsNull()) {
      fail("computation '", name, "' is null");
      return *this;
    }
    attributes.back().called.push_back(computation->handle());
  }
  return *this;
}

Instruction &Instruction::frontend(const std::string &key, std::string value) {
  frontendAttributes[key] = std::move(value);
  return *this;
}

Instruction &Instruction::shape(const Shape &result) {
  resultShape = result.ToString(/*print_layout=*/true);
  return *this;
}

XlaOp Instruction::failWith(std::string message) {
  return builder ? builder->ReportError(absl::InvalidArgumentError(message), at) : XlaOp();
}

XlaOp Instruction::add() {
  if (!builder) {
    return XlaOp();
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    XlaOp op = given[i];
    if (op.builder() && op.builder() != builder) {
      return fail("operand ", i, " is a value of the builder '", op.builder()->name(),
                  "', not of '", builder->name(), "'");
    }
    if (!op.valid()) {
      return fail("operand ", i, " is not a value");
    }
  }
  return builder->add(*this);
}

XlaOp Instruction::transfer(std::int64_t channel, bool isHostTransfer) {
  number("channel_id", channel);
  if (isHostTransfer) {
    boolean("is_host_transfer", true);
  }
  XlaOp context = add();
  if (context.valid()) {
    builder->transfers[context.handle()] = {channel, isHostTransfer};
  }
  return context;
}

XlaOp Instruction::transferDone() {
  if (ready()) {
    auto begun = builder->transfers.find(given[0].handle());
    if (begun == builder->transfers.end()) {
      return fail("operand 0 is not the context of a transfer");
    }
    number("channel_id", begun->second.first);
    if (begun->second.second) {
      boolean("is_host_transfer", true);
    }
  }
  return add();
}

static XlaOp &chainOf(Instruction::Chain chain, XlaOp &infeed, XlaOp &outfeed, XlaOp &send,
                      XlaOp &recv) {
  switch (chain) {
  case Instruction::Chain::infeed: return infeed;
  case Instruction::Chain::outfeed: return outfeed;
  case Instruction::Chain::send: return send;
  case Instruction::Chain::recv: break;
  }
  return recv;
}

XlaOp Instruction::token(XlaBuilder *builder, Chain chain, SourceLocation at) {
  XlaOp &last = chainOf(chain, builder->infeedToken, builder->outfeedToken, builder->sendToken,
                        builder->recvToken);
  return last.valid() ? last : last = CreateToken(builder, at);
}

void Instruction::setToken(XlaBuilder *builder, Chain chain, XlaOp token) {
  chainOf(chain, builder->infeedToken, builder->outfeedToken, builder->sendToken,
          builder->recvToken) = token;
}

XlaOp element(XlaOp tuple, std::int64_t i, SourceLocation at) {
  return GetTupleElement(tuple, i, at);
}

//===----------------------------------------------------------------------===//
// Computations of scalars
//===----------------------------------------------------------------------===//

XlaComputation scalarBinary(absl::string_view opcode, PrimitiveType type) {
  XlaBuilder builder{std::string(opcode)};
  Shape scalar = ShapeUtil::MakeScalarShape(type);
  XlaOp x = Parameter(&builder, 0, scalar, "x"), y = Parameter(&builder, 1, scalar, "y");
  Instruction(opcode, {x, y}, SourceLocation::current()).add();
  absl::StatusOr<XlaComputation> built = builder.Build();
  return built.ok() ? *std::move(built) : XlaComputation();
}

XlaComputation scalarLess(absl::Span<const PrimitiveType> types) {
  XlaBuilder builder("less");
  std::vector<XlaOp> parameters;
  for (PrimitiveType type : types) {
    for (const char *side : {"a", "b"}) {
      auto number = static_cast<std::int64_t>(parameters.size());
      parameters.push_back(Parameter(&builder, number, ShapeUtil::MakeScalarShape(type),
                                     absl::StrCat(side, number / 2)));
    }
  }
  absl::StatusOr<XlaComputation> built = builder.Build(LtTotalOrder(parameters[0], parameters[1]));
  return built.ok() ? *std::move(built) : XlaComputation();
}

} // namespace hlo::detail
