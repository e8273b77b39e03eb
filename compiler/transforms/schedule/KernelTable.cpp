//===- KernelTable.cpp - Equal kernels exist once -------------------------===//
//
// A model of 32 equal layers has 32 copies of each fusion. Each fusion is encoded as a list of
// words: for every op in order its opcode, attributes, the numbers of its operands (values are
// numbered in order of appearance) and its result types. Two fusions are equal iff their lists are;
// the hash alone never decides.
//
// A reduction refers to its computation by name, and a model has a copy of `add` for every
// reduction. So computations are numbered in the same way first, and the number replaces the name.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/schedule/KernelTable.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::schedule;

/// True for attributes that say where an op comes from, not what it computes.
static bool isInformational(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"metadata", "frontend_attributes", "sharding", "origin", "statistics"}, true)
      .Cases({"control_predecessors", "parameter_replication", "sym_name"}, true)
      .Default(false);
}

static uintptr_t word(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

void KernelTable::appendAttribute(Attribute attribute, Words &words) {
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute)) {
    ComputationOp callee = graph.lookup(symbol);
    words.push_back(callee ? classOf(callee) : word(attribute.getAsOpaquePointer()));
    return;
  }
  auto list = dyn_cast<ArrayAttr>(attribute);
  if (list && llvm::any_of(list, llvm::IsaPred<FlatSymbolRefAttr>)) {
    words.push_back(list.size());
    for (Attribute item : list) {
      appendAttribute(item, words);
    }
    return;
  }
  words.push_back(word(attribute.getAsOpaquePointer()));
}

void KernelTable::appendRegion(Region &region, DenseMap<Value, unsigned> &numbers, Words &words) {
  words.push_back(region.getBlocks().size());
  for (Block &block : region) {
    words.push_back(block.getNumArguments());
    for (BlockArgument argument : block.getArguments()) {
      numbers.try_emplace(argument, numbers.size());
      words.push_back(word(argument.getType().getAsOpaquePointer()));
    }
    words.push_back(block.getOperations().size());
    for (Operation &op : block) {
      appendOp(op, numbers, words);
    }
  }
}

void KernelTable::appendOp(Operation &op, DenseMap<Value, unsigned> &numbers, Words &words) {
  words.push_back(word(op.getName().getAsOpaquePointer()));
  words.push_back(op.getNumOperands());
  for (Value operand : op.getOperands()) {
    words.push_back(numbers.lookup(operand));
  }
  size_t count = words.size();
  words.push_back(0);
  for (NamedAttribute attribute : op.getAttrs()) {
    if (!isInformational(attribute.getName())) {
      ++words[count];
      words.push_back(word(attribute.getName().getAsOpaquePointer()));
      appendAttribute(attribute.getValue(), words);
    }
  }
  words.push_back(op.getNumResults());
  for (Value result : op.getResults()) {
    numbers.try_emplace(result, numbers.size());
    words.push_back(word(result.getType().getAsOpaquePointer()));
  }
  for (Region &region : op.getRegions()) {
    appendRegion(region, numbers, words);
  }
}

unsigned KernelTable::classOf(ComputationOp computation) {
  auto it = numberOf.find(computation);
  if (it != numberOf.end()) {
    return it->second;
  }
  Words words;
  DenseMap<Value, unsigned> numbers;
  appendRegion(computation.getBody(), numbers, words);
  unsigned number =
      computationNumbers.try_emplace(std::move(words), computationNumbers.size()).first->second;
  numberOf[computation] = number;
  return number;
}

unsigned KernelTable::add(FusionOp fusion) {
  auto it = numberOf.find(fusion);
  if (it != numberOf.end()) {
    return it->second;
  }
  Words words;
  DenseMap<Value, unsigned> numbers;
  // Operands are encoded by the types of the region's arguments only: whether two operands are the
  // same value does not change the kernel.
  for (Value operand : fusion->getOperands()) {
    words.push_back(word(operand.getType().getAsOpaquePointer()));
  }
  for (NamedAttribute attribute : fusion->getAttrs()) {
    if (!isInformational(attribute.getName())) {
      words.push_back(word(attribute.getName().getAsOpaquePointer()));
      appendAttribute(attribute.getValue(), words);
    }
  }
  for (Type type : fusion->getResultTypes()) {
    words.push_back(word(type.getAsOpaquePointer()));
  }
  appendRegion(fusion.getBody(), numbers, words);
  auto [entry, isNew] = kernelNumbers.try_emplace(std::move(words), firsts.size());
  if (isNew) {
    firsts.push_back(fusion);
  }
  numberOf[fusion] = entry->second;
  return entry->second;
}

std::string KernelTable::name(unsigned number) const {
  FusionOp fusion = firsts[number];
  std::string name = "k" + std::to_string(number);
  if (std::optional<StringRef> strategy = fusion.getStrategy()) {
    name += "_" + strategy->str();
  }
  Operation *terminator = fusion.getBody().front().getTerminator();
  if (terminator->getNumOperands()) {
    Operation *root = terminator->getOperand(0).getDefiningOp();
    name += "_" + (root ? root->getName().stripDialect().str() : "argument");
  }
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
