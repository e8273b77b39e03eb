//===- RandomModule.cpp - Fused modules made by chance --------------------===//
#include "test/unit/planner/RandomModule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace hlo::test;

static std::string joined(const std::vector<std::string> &parts) {
  return llvm::join(parts.begin(), parts.end(), ", ");
}

std::string RandomModule::randomType() {
  // Values of 4 KiB and more may be guests in outputs.
  static const char *const types[] = {"tensor<16xf32>",   "tensor<16xf32>",   "tensor<100xf32>",
                                      "tensor<1024xf32>", "tensor<1024xf32>", "tensor<3000xf32>",
                                      "tensor<si32>",     "tensor<i1>",       "tensor<0xf32>"};
  return types[below(chance(95) ? 8 : 9)];
}

void RandomModule::addKernel(Body &body, const Types &results) {
  Types operands, operandTypes, arguments, inPlace, mayAlias;
  unsigned count = 1 + below(4);
  for (unsigned i = 0; i < count; ++i) {
    Value operand = pick(body);
    operands.push_back(operand.name);
    operandTypes.push_back(operand.type);
    arguments.push_back("%arg" + std::to_string(i) + ": " + operand.type);
  }
  std::string constants;
  Types returned;
  for (unsigned r = 0; r < results.size(); ++r) {
    std::string element = results[r].find("f32") != std::string::npos ? "0.0"
                          : results[r] == "tensor<i1>"                ? "false"
                                                                      : "0";
    returned.push_back("%root" + std::to_string(r));
    constants += "      " + returned.back() + " = hlo.constant {value = dense<" + element +
                 "> : " + results[r] + "} : " + results[r] + "\n";
    // Either the result needs an operand's bytes (in_place), or it may share some operands' buffers
    // (may_alias).
    bool wantsBytes = chance(25);
    for (unsigned o = 0; o < count; ++o) {
      if (operandTypes[o] != results[r]) {
        continue;
      }
      std::string pair = std::to_string(r) + ", " + std::to_string(o);
      if (wantsBytes && inPlace.size() <= r) {
        inPlace.push_back(pair);
        break;
      }
      if (!wantsBytes && chance(60)) {
        mayAlias.push_back(pair);
      }
    }
  }
  std::string name = "%v" + std::to_string(body.next++);
  std::string suffix = results.size() > 1 ? ":" + std::to_string(results.size()) : "";
  body.text += "    " + name + suffix + " = hlo.fusion " + joined(operands) + " {\n    ^bb0(" +
               joined(arguments) + "):\n" + constants + "      hlo.return " + joined(returned) +
               " : " + joined(results) +
               "\n    } {strategy = \"loop\", tag = " + std::to_string(below(6)) + " : i64";
  if (!inPlace.empty()) {
    body.text += ", in_place = array<i64: " + joined(inPlace) + ">";
  }
  if (!mayAlias.empty()) {
    body.text += ", may_alias = array<i64: " + joined(mayAlias) + ">";
  }
  body.text += "} : (" + joined(operandTypes) + ") -> (" + joined(results) + ")\n";
  for (unsigned r = 0; r < results.size(); ++r) {
    body.values.push_back({results.size() > 1 ? name + "#" + std::to_string(r) : name, results[r]});
  }
}

std::string RandomModule::valueOf(Body &body, const std::string &type) {
  std::vector<std::string> candidates;
  for (const Value &value : body.values) {
    if (value.type == type) {
      candidates.push_back(value.name);
    }
  }
  if (candidates.empty() || chance(25)) {
    addKernel(body, {type});
    return body.values.back().name;
  }
  return candidates[below(candidates.size())];
}

void RandomModule::addLoop(Body &body) {
  Loop loop;
  if (!loops.empty() && chance(20)) {
    loop = loops[below(loops.size())];
  } else {
    unsigned carries = 1 + below(4);
    for (unsigned i = 0; i < carries; ++i) {
      loop.types.push_back(randomType());
    }
    loop.condition = addComputation(body.depth + 1, loop.types, {"tensor<i1>"});
    loop.body = addComputation(body.depth + 1, loop.types, loop.types);
    loops.push_back(loop);
  }
  Types operands;
  for (const std::string &type : loop.types) {
    operands.push_back(valueOf(body, type));
  }
  std::string name = "%v" + std::to_string(body.next++);
  body.text += "    " + name + ":" + std::to_string(loop.types.size()) + " = hlo.while " +
               joined(operands) + " {condition = @" + loop.condition + ", body = @" + loop.body +
               (chance(30) ? ", known_trip_count = " + std::to_string(below(4)) + " : i64" : "") +
               "} : (" + joined(loop.types) + ") -> (" + joined(loop.types) + ")\n";
  for (unsigned r = 0; r < loop.types.size(); ++r) {
    body.values.push_back({name + "#" + std::to_string(r), loop.types[r]});
  }
}

void RandomModule::addConditional(Body &body) {
  bool predicated = chance(50);
  unsigned branches = predicated ? 2 : 1 + below(3);
  Types results, operands, operandTypes, computationNames, counts;
  for (unsigned i = 0, count = 1 + below(3); i < count; ++i) {
    results.push_back(randomType());
  }
  operandTypes.push_back(predicated ? "tensor<i1>" : "tensor<si32>");
  operands.push_back(valueOf(body, operandTypes.back()));
  for (unsigned branch = 0; branch < branches; ++branch) {
    Types arguments;
    for (unsigned i = 0, count = 1 + below(3); i < count; ++i) {
      arguments.push_back(chance(60) ? results[below(results.size())] : randomType());
      operandTypes.push_back(arguments.back());
      operands.push_back(valueOf(body, arguments.back()));
    }
    counts.push_back(std::to_string(arguments.size()));
    computationNames.push_back("@" + addComputation(body.depth + 1, arguments, results));
  }
  std::string name = "%v" + std::to_string(body.next++);
  body.text += "    " + name + ":" + std::to_string(results.size()) + " = hlo.conditional " +
               joined(operands) + " {branch_computations = [" + joined(computationNames) +
               "], branch_operand_counts = array<i64: " + joined(counts) + ">" +
               (predicated ? ", predicated" : "") + "} : (" + joined(operandTypes) + ") -> (" +
               joined(results) + ")\n";
  for (unsigned r = 0; r < results.size(); ++r) {
    body.values.push_back({name + "#" + std::to_string(r), results[r]});
  }
}

void RandomModule::addOp(Body &body) {
  unsigned kind = below(100);
  if (kind < 10 && body.depth < 3) {
    return addLoop(body);
  }
  if (kind < 18 && body.depth < 3) {
    return addConditional(body);
  }
  std::string name = "%v" + std::to_string(body.next);
  if (kind < 24) {
    Value operand = pick(body);
    std::string op = chance(50) ? "hlo.bitcast " : "hlo.copy ";
    body.text += "    " + name + " = " + op + operand.name + " : (" + operand.type + ") -> " +
                 operand.type + "\n";
    body.values.push_back({name, operand.type});
    ++body.next;
    return;
  }
  if (kind < 28) {
    body.text += "    " + name + " = hlo.constant {value = dense<" + std::to_string(below(3)) +
                 ".0> : tensor<16xf32>} : tensor<16xf32>\n";
    body.values.push_back({name, "tensor<16xf32>"});
    ++body.next;
    return;
  }
  Types results{randomType()};
  while (chance(20)) {
    results.push_back(randomType());
  }
  addKernel(body, results);
}

std::string RandomModule::addComputation(unsigned depth, const Types &arguments,
                                         const Types &results, bool entry) {
  std::string name = entry ? "main" : "computation" + std::to_string(names++);
  Body body;
  body.depth = depth;
  Types parameters;
  for (unsigned i = 0; i < arguments.size(); ++i) {
    body.values.push_back({"%p" + std::to_string(i), arguments[i]});
    parameters.push_back(body.values.back().name + ": " + arguments[i]);
  }
  for (unsigned i = 0, count = below(entry ? 24 : 6); i < count; ++i) {
    addOp(body);
  }
  Types returned;
  for (const std::string &type : results) {
    returned.push_back(valueOf(body, type));
  }
  computations += "  hlo.computation @" + name + "(" + joined(parameters) + ") -> (" +
                  joined(results) + ") " + (entry ? "attributes {entry} " : "") + "{\n" +
                  body.text + "    hlo.return " + joined(returned) + " : " + joined(results) +
                  "\n  }\n";
  return name;
}

std::string RandomModule::write() {
  computations.clear();
  Types arguments, results;
  for (unsigned i = 0, count = 1 + below(4); i < count; ++i) {
    arguments.push_back(randomType());
  }
  for (unsigned i = 0, count = 1 + below(4); i < count; ++i) {
    results.push_back(randomType());
  }
  addComputation(0, arguments, results, true);
  Types pairs;
  std::vector<bool> given(results.size());
  for (unsigned input = 0; input < arguments.size(); ++input) {
    for (unsigned output = 0; output < results.size(); ++output) {
      if (!given[output] && arguments[input] == results[output] && chance(50)) {
        given[output] = true;
        pairs.push_back(std::to_string(output) + ", " + std::to_string(input));
        break;
      }
    }
  }
  std::string attributes =
      pairs.empty() ? "" : "attributes {hlo.leaf_alias = array<i64: " + joined(pairs) + ">} ";
  return "module " + attributes + "{\n" + computations + "}\n";
}
