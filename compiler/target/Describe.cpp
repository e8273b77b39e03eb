//===- Describe.cpp - What an object says of itself -----------------------===//
//
// In: the module's signature and facts about the compilation. Out: the constant structs
// of runtime/abi/hlo/rt.h (hlo_buffer_desc, hlo_module_desc), whose layouts are asserted in
// generated.h, and PREFIX_describe, which returns the latter.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/Entry.h"
#include "runtime/abi/hlo/generated.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace {
/// Makes constants of one module; equal strings and arrays are shared by LLVM's linker
/// sections, not here.
class DescriptionBuilder {
public:
  explicit DescriptionBuilder(Module &module)
      : module(module), b(module.getContext()), pointer(b.getPtrTy()) {}

  Constant *string(StringRef text) {
    return global(ConstantDataArray::getString(module.getContext(), text));
  }
  Constant *numbers(ArrayRef<int64_t> values) {
    if (values.empty()) {
      return null();
    }
    SmallVector<uint64_t> bits(values.begin(), values.end());
    return global(ConstantDataArray::get(module.getContext(), bits));
  }
  Constant *buffers(ArrayRef<hlo::Leaf> leaves);
  Constant *names(ArrayRef<std::string> list);
  Constant *null() { return ConstantPointerNull::get(b.getPtrTy()); }
  Constant *i32(uint32_t value) { return b.getInt32(value); }
  Constant *i64(uint64_t value) { return b.getInt64(value); }
  GlobalVariable *global(Constant *value) {
    auto *variable = new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                        GlobalValue::PrivateLinkage, value);
    variable->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    return variable;
  }
  Constant *record(ArrayRef<Constant *> fields) {
    return ConstantStruct::getAnon(module.getContext(), fields);
  }

private:
  Module &module;
  IRBuilder<> b;
  Type *pointer;
};
} // namespace

Constant *DescriptionBuilder::buffers(ArrayRef<hlo::Leaf> leaves) {
  if (leaves.empty()) {
    return null();
  }
  SmallVector<Constant *> records;
  for (const hlo::Leaf &leaf : leaves) {
    records.push_back(record({string(leaf.name), numbers(leaf.dims), numbers(leaf.minorToMajor),
                              i64(leaf.bytes), i32(leaf.type), i32(leaf.dims.size()),
                              i32(leaf.align), i32(leaf.alias), i64(0)}));
  }
  return global(ConstantArray::get(ArrayType::get(records[0]->getType(), records.size()), records));
}

Constant *DescriptionBuilder::names(ArrayRef<std::string> list) {
  if (list.empty()) {
    return null();
  }
  SmallVector<Constant *> pointers;
  for (const std::string &name : list) {
    pointers.push_back(string(name));
  }
  pointers.push_back(null());
  return global(ConstantArray::get(ArrayType::get(pointer, pointers.size()), pointers));
}

void hlo::buildDescription(const Signature &signature, const Description &description,
                           const Target &target, Module &module) {
  DescriptionBuilder d(module);
  IRBuilder<> b(module.getContext());
  const std::string &prefix = signature.prefix;
  auto *runType = FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy(), b.getPtrTy()}, false);
  auto *run = cast<Function>(module.getOrInsertFunction(prefix + "_run_buffers", runType).getCallee());
  constexpr uint32_t defaultMxcsr = 0x1f80;
  Constant *fields = d.record(
      {d.i32(sizeof(hlo_module_desc)), d.i32(HLO_ABI), d.string(prefix),
       d.string(description.version), d.string(description.flags),
       d.string(target.triple + " " + target.cpu), d.string(description.sha256),
       d.i64(signature.hash), d.i64(description.arenaBytes), d.i64(0), d.i64(0),
       d.i32(signature.inputs.size()), d.i32(signature.outputs.size()), d.i32(0), d.i32(1),
       d.i32(description.arenaAlign), d.i32(defaultMxcsr), d.i64(cpuFeatureBits(target)),
       d.buffers(signature.inputs), d.buffers(signature.outputs), d.null(),
       d.names(description.customCalls), run, d.i32(signature.replicas),
       d.i32(signature.partitions), d.i32(description.needs), d.i32(0)});
  GlobalVariable *global = d.global(fields);
  global->setName(prefix + "_desc");
  global->setLinkage(GlobalValue::InternalLinkage);
  auto *describe = Function::Create(FunctionType::get(b.getPtrTy(), false),
                                    GlobalValue::ExternalLinkage, prefix + "_describe", module);
  b.SetInsertPoint(BasicBlock::Create(module.getContext(), "", describe));
  b.CreateRet(global);
}
