//===- InferCommunication.cpp - Rules of feeds, transfers, random ---------===//
//
// Ops that communicate with the outside: their results are the written ones, as far as the operands
// allow them. Collectives are in InferCollective.cpp.
//
//===----------------------------------------------------------------------===//
#include "dialect/hlo/rules/Rule.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace hlo {

static Type unsignedScalar(RuleContext &context, unsigned width) {
  return scalarType(IntegerType::get(context.mlirContext(), width, IntegerType::Unsigned));
}

static Type token(RuleContext &context) { return TokenType::get(context.mlirContext()); }

/// The number of operands without the final token. An op without tokens in its results has been
/// flattened, and then has no token operand.
static int64_t dataOperands(RuleContext &context) {
  int64_t count = context.size();
  if (count != 0 && isa<TokenType>(context.type(count - 1))) {
    return count - 1;
  }
  Type result = context.isWritten() ? context.writtenType() : token(context);
  if (llvm::any_of(leafTypes(result), llvm::IsaPred<TokenType>)) {
    if (count == 0) {
      context.fail("c1", "the token operand is missing");
    } else {
      (void)context.failAt({count - 1}, "c1", "operand ", count - 1, " must be token[], is ",
                           context.type(count - 1));
    }
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Feeds and transfers
//===----------------------------------------------------------------------===//

static FailureOr<Type> infeed(RuleContext &context) {
  FailureOr<Type> written = context.requiredWritten();
  if (failed(written)) {
    return failure();
  }
  if (int64_t count = dataOperands(context)) {
    return context.fail("c0", "expects only a token, has ", count, " other operands");
  }
  auto tuple = dyn_cast<TupleType>(*written);
  if (context.size() == 1 && !context.isFlattened() &&
      (!tuple || tuple.size() != 2 || !isa<TokenType>(tuple.getType(1)))) {
    context.fail("c2", "the result must be (data, token[]), is ", *written);
  }
  return context.result(*written);
}

static FailureOr<Type> outfeed(RuleContext &context) {
  int64_t count = dataOperands(context);
  ValueRange data = context.all().take_front(count);
  if (auto shape = context.get<TypeAttr>("outfeed_shape")) {
    SmallVector<Type> given = leafTypes(data.getTypes());
    SmallVector<Type> expected = leafTypes(shape.getValue());
    llvm::erase_if(expected, llvm::IsaPred<TokenType>);
    llvm::erase_if(given, llvm::IsaPred<TokenType>);
    bool same =
        given.size() == expected.size() && llvm::all_of(llvm::zip(given, expected), [](auto pair) {
          return sameShape(std::get<0>(pair), std::get<1>(pair));
        });
    if (!same) {
      (void)context.failAt({0}, "c2", "outfeed_shape is ", shape.getValue(), ", the data is ",
                           count == 1 ? context.type(0)
                                      : Type(TupleType::get(context.mlirContext(), given)));
    }
  }
  bool hasToken = count != context.size();
  return context.result(hasToken ? token(context)
                                 : Type(TupleType::get(context.mlirContext(), {})));
}

static FailureOr<Type> send(RuleContext &context) {
  int64_t count = dataOperands(context);
  if (context.size() == 2 && count == 1 && !context.isFlattened()) {
    return context.result(TupleType::get(
        context.mlirContext(), {context.type(0), unsignedScalar(context, 32), token(context)}));
  }
  FailureOr<Type> written = context.requiredWritten();
  return context.hasFailed() ? FailureOr<Type>(failure()) : written;
}

static FailureOr<Type> recv(RuleContext &context) {
  FailureOr<Type> written = context.requiredWritten();
  if (failed(written)) {
    return failure();
  }
  if (int64_t count = dataOperands(context)) {
    return context.fail("c0", "expects only a token, has ", count, " other operands");
  }
  auto tuple = dyn_cast<TupleType>(*written);
  if (context.size() == 1 && !context.isFlattened() &&
      (!tuple || tuple.size() != 3 || !sameShape(tuple.getType(1), unsignedScalar(context, 32)) ||
       !isa<TokenType>(tuple.getType(2)))) {
    context.fail("c2", "the result must be (data, u32[], token[]), is ", *written);
  }
  return context.result(*written);
}

/// The state `(data, u32[], token[])` of a transfer; null once flattened.
static FailureOr<TupleType> transferState(RuleContext &context) {
  if (context.size() != 1 || !isa<TupleType>(context.type(0))) {
    if (context.isWritten() && context.size() == 1 && !context.isFlattened() &&
        llvm::any_of(leafTypes(context.writtenType()), llvm::IsaPred<TokenType>)) {
      return context.failAt({0}, "c1", "the operand must be (data, u32[], token[]), is ",
                            context.type(0));
    }
    return TupleType();
  }
  auto state = cast<TupleType>(context.type(0));
  if (state.size() != 3) {
    return context.failAt({0}, "c1", "the operand must be (data, u32[], token[]), is ",
                          context.type(0));
  }
  return state;
}

static FailureOr<Type> sendDone(RuleContext &context) {
  FailureOr<TupleType> state = transferState(context);
  if (failed(state)) {
    return failure();
  }
  return *state ? token(context) : context.requiredWritten();
}

static FailureOr<Type> recvDone(RuleContext &context) {
  FailureOr<TupleType> state = transferState(context);
  if (failed(state)) {
    return failure();
  }
  if (!*state) {
    return context.requiredWritten();
  }
  return Type(TupleType::get(context.mlirContext(), {state->getType(0), token(context)}));
}

//===----------------------------------------------------------------------===//
// Random
//===----------------------------------------------------------------------===//

static FailureOr<Type> rng(RuleContext &context) {
  if (failed(context.expectOperands(2))) {
    return failure();
  }
  RankedTensorType a = context.array(0), b = context.array(1);
  FailureOr<RankedTensorType> written = context.requiredWrittenArray();
  if (!a || !b || failed(written)) {
    return failure();
  }
  if (a.getRank() != 0 || b.getRank() != 0 || a.getElementType() != b.getElementType()) {
    return context.failAt({0, 1}, "c1", "the parameters must be two scalars of one type, are ", a,
                          " and ", b);
  }
  StringRef distribution = context.text("distribution");
  Type element = a.getElementType();
  if (distribution == "rng_normal") {
    if (!isFloat(element)) {
      (void)context.failAt({0}, "c2", "rng_normal takes floating parameters, has ", a);
    }
  } else if (distribution != "rng_uniform") {
    context.fail("c3", "distribution is '", distribution, "', must be rng_uniform or rng_normal");
  } else if (isComplex(element)) {
    (void)context.failAt({0}, "c2", "rng_uniform takes no complex parameters, has ", a);
  }
  return context.result(withElement(*written, element));
}

static FailureOr<Type> rngBitGenerator(RuleContext &context) {
  if (failed(context.expectOperands(1))) {
    return failure();
  }
  RankedTensorType state = context.array(0);
  FailureOr<Type> written = context.requiredWritten();
  if (!state || failed(written)) {
    return failure();
  }
  StringRef algorithm = context.text("algorithm");
  if (!llvm::is_contained({"rng_default", "rng_three_fry", "rng_philox"}, algorithm)) {
    context.fail("c1", "algorithm is '", algorithm,
                 "', must be rng_default, rng_three_fry or rng_philox");
  }
  // The key, then the counter: threefry counts in 64 bits, philox in 64 or 128.
  bool isWide = state.getRank() == 1 && state.getDimSize(0) == 3 && algorithm != "rng_three_fry";
  if (!isUnsigned(state.getElementType()) || elementBits(state.getElementType()) != 64 ||
      state.getRank() != 1 || (state.getDimSize(0) != 2 && !isWide)) {
    (void)context.failAt({0}, "c2", "the state must be u64[2]",
                         algorithm == "rng_three_fry" ? "" : " or u64[3]", ", is ", state);
  }
  auto tuple = dyn_cast<TupleType>(*written);
  if (!tuple || tuple.size() != 2 || !asArray(tuple.getType(1))) {
    return context.fail("c3", "the result must be (state, bits), is ", *written);
  }
  Type bits = asArray(tuple.getType(1)).getElementType();
  if (!isInteger(bits) && !isFloat(bits)) {
    context.fail("c4", "the bits are ", tuple.getType(1),
                 ", their element type must be an integer or floating");
  }
  return context.result(TupleType::get(context.mlirContext(), {Type(state), tuple.getType(1)}));
}

static FailureOr<Type> rngGetAndUpdateState(RuleContext &context) {
  if (failed(context.expectOperands(0)) || failed(context.requiredInteger("delta"))) {
    return failure();
  }
  return Type(RankedTensorType::get(
      {2}, IntegerType::get(context.mlirContext(), 64, IntegerType::Unsigned)));
}

static FailureOr<Type> deviceId(RuleContext &context) {
  if (failed(context.expectOperands(0))) {
    return failure();
  }
  return unsignedScalar(context, 32);
}

Rule communicationRule(StringRef opName) {
  return llvm::StringSwitch<Rule>(opName)
      .Case("hlo.infeed", infeed)
      .Case("hlo.outfeed", outfeed)
      .Case("hlo.send", send)
      .Case("hlo.send_done", sendDone)
      .Case("hlo.recv", recv)
      .Case("hlo.recv_done", recvDone)
      .Case("hlo.rng", rng)
      .Case("hlo.rng_bit_generator", rngBitGenerator)
      .Case("hlo.rng_get_and_update_state", rngGetAndUpdateState)
      .Cases({"hlo.partition_id", "hlo.replica_id"}, deviceId)
      .Default(nullptr);
}

} // namespace hlo
