//===- Describe.cpp - The description in an object ------------------------===//
//
// In: the module's signature and facts about the compilation. Out: the constant structs of
// runtime/abi/hlo (hlo_buffer_desc, hlo_sharding, hlo_module_desc), whose layouts are asserted in
// generated.h, and PREFIX_describe, which returns the latter. StaticData makes other descriptions
// as well.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/ObjectMerge.h"
#include "compiler/target/StaticData.h"
#include "compiler/target/entry/Entry.h"
#include "runtime/abi/hlo/generated.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include <map>

using namespace llvm;

Constant *hlo::StaticData::string(StringRef text) {
  return global(ConstantDataArray::getString(module.getContext(), text));
}

Constant *hlo::StaticData::numbers(ArrayRef<int64_t> values) {
  if (values.empty()) {
    return null();
  }
  SmallVector<uint64_t> bits(values.begin(), values.end());
  return global(ConstantDataArray::get(module.getContext(), bits));
}

GlobalVariable *hlo::StaticData::global(Constant *value) {
  if (GlobalVariable *variable = known.lookup(value)) {
    return variable;
  }
  auto *variable = new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                      GlobalValue::PrivateLinkage, value);
  variable->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  if (shares) {
    known[value] = variable;
  }
  return variable;
}

Constant *hlo::StaticData::record(ArrayRef<Constant *> fields) {
  return ConstantStruct::getAnon(module.getContext(), fields);
}

Constant *hlo::StaticData::pointers(ArrayRef<Constant *> values) {
  if (values.empty()) {
    return null();
  }
  return global(ConstantArray::get(ArrayType::get(b.getPtrTy(), values.size()), values));
}

namespace {
/// The hlo_sharding of leaves; equal ones exist once.
class Shardings {
public:
  Shardings(hlo::StaticData &data, const hlo::MeshAxes &mesh) : data(data), mesh(mesh) {}

  /// A pointer to that of `leaf`, or null.
  Constant *get(const hlo::Leaf &leaf) {
    if (!leaf.sharding) {
      return data.null();
    }
    std::vector<int64_t> axes;
    for (const std::vector<int64_t> &list : leaf.sharding->axes) {
      axes.push_back(static_cast<int64_t>(list.size()));
      axes.insert(axes.end(), list.begin(), list.end());
    }
    Constant *&made = known[{leaf.sharding->dims, axes, leaf.sharding->devices}];
    return made ? made : made = make(*leaf.sharding, axes);
  }

private:
  Constant *make(const hlo::LeafSharding &sharding, ArrayRef<int64_t> axes) {
    if (!meshSizes) {
      SmallVector<Constant *> names;
      int64_t partitions = 1;
      for (auto [name, size] : zip_equal(mesh.names, mesh.sizes)) {
        names.push_back(data.string(name));
        partitions *= size;
      }
      meshSizes = data.numbers(mesh.sizes);
      meshNames = data.pointers(names);
      count = partitions;
    }
    return data.global(
        data.record({data.i32(sizeof(hlo_sharding)), data.i32(sharding.dims.size()),
                     data.numbers(sharding.dims), meshSizes, meshNames, data.i32(mesh.sizes.size()),
                     data.i32(count), data.numbers(axes), data.numbers(sharding.devices)}));
  }

  hlo::StaticData &data;
  const hlo::MeshAxes &mesh;
  Constant *meshSizes = nullptr, *meshNames = nullptr;
  int64_t count = 1;
  std::map<std::tuple<std::vector<int64_t>, std::vector<int64_t>, std::vector<int64_t>>, Constant *>
      known;
};
} // namespace

Constant *hlo::StaticData::buffers(ArrayRef<Leaf> leaves, const MeshAxes &mesh) {
  if (leaves.empty()) {
    return null();
  }
  Shardings shardings(*this, mesh);
  SmallVector<Constant *> records;
  for (const Leaf &leaf : leaves) {
    records.push_back(
        record({string(leaf.name), numbers(leaf.dims), numbers(leaf.minorToMajor), i64(leaf.bytes),
                i32(leaf.type), i32(leaf.dims.size()), i32(leaf.align), i32(leaf.alias),
                i32(leaf.sizeOf + 1), i32(leaf.sizeDim), string(leaf.layoutText),
                shardings.get(leaf), leaf.sizesText.empty() ? null() : string(leaf.sizesText)}));
  }
  return global(ConstantArray::get(ArrayType::get(records[0]->getType(), records.size()), records));
}

Constant *hlo::StaticData::names(ArrayRef<std::string> list) {
  if (list.empty()) {
    return null();
  }
  SmallVector<Constant *> strings;
  for (const std::string &name : list) {
    strings.push_back(string(name));
  }
  strings.push_back(null());
  return pointers(strings);
}

Constant *hlo::weakTarget(Module &module, StringRef target) {
  // Names of what the object itself defines have a dot (kernels, ".L" labels, the description).
  bool isSymbol = !target.empty() && llvm::all_of(target, [](char c) {
    return llvm::isAlnum(c) || c == '_' || c == '$';
  });
  if (!isSymbol || llvm::isDigit(target.front())) {
    return ConstantPointerNull::get(PointerType::get(module.getContext(), 0));
  }
  if (GlobalValue *known = module.getNamedValue(target)) {
    return known;
  }
  auto *type = FunctionType::get(Type::getVoidTy(module.getContext()), false);
  return Function::Create(type, GlobalValue::ExternalWeakLinkage, target, module);
}

/// The null-terminated array of hlo_custom_call, one per target.
static Constant *customCallTargets(hlo::StaticData &data, Module &module,
                                   const hlo::Description &description) {
  if (description.customCalls.empty()) {
    return data.null();
  }
  SmallVector<Constant *> records;
  for (auto [name, api] : llvm::zip_equal(description.customCalls, description.customCallApis)) {
    records.push_back(data.record({data.string(name), data.i32(api), data.i32(0),
                                   hlo::weakTarget(module, name), data.null()}));
  }
  records.push_back(data.record({data.null(), data.i32(0), data.i32(0), data.null(), data.null()}));
  return data.global(
      ConstantArray::get(ArrayType::get(records[0]->getType(), records.size()), records));
}

/// The array of hlo_op_desc.
static Constant *operationRows(hlo::StaticData &data, ArrayRef<hlo::OperationRow> rows) {
  // Rows share few files and kinds, so their strings are shared.
  StringMap<Constant *> strings;
  auto text = [&](StringRef value) {
    Constant *&known = strings[value];
    return known ? known : known = data.string(value);
  };
  auto textOrNull = [&](StringRef value) { return value.empty() ? data.null() : text(value); };
  SmallVector<Constant *> records;
  for (const hlo::OperationRow &row : rows) {
    records.push_back(data.record({text(row.name), text(row.kind), textOrNull(row.file),
                                   data.i32(row.line), data.i32(row.column), textOrNull(row.opName),
                                   textOrNull(row.sourceFile), data.i32(row.sourceLine),
                                   data.i32(0), data.i64(row.flops), data.i64(row.bytes)}));
  }
  return records.empty() ? data.null()
                         : data.global(ConstantArray::get(
                               ArrayType::get(records[0]->getType(), records.size()), records));
}

void hlo::exportHashed(Function &function, const Signature &signature) {
  if (signature.symbols != signature.prefix) {
    return;
  }
  GlobalAlias::create(function.getValueType(), 0, GlobalValue::ExternalLinkage,
                      hashedSymbol(signature, function.getName()), &function, function.getParent());
}

std::vector<std::string> hlo::exportedSymbols(const Signature &signature,
                                              const Description &description) {
  std::vector<std::string> names;
  for (StringRef suffix : {"_run_buffers", "_describe", "_prepare_buffers"}) {
    if (suffix != "_prepare_buffers" || description.prepared.bytes) {
      names.push_back(signature.prefix + suffix.str());
      names.push_back(hashedSymbol(signature, names.back()));
    }
  }
  return names;
}

/// The array of pointers to the descriptions of an object's CPU levels; null if it has none.
static Constant *levelDescriptions(hlo::StaticData &data, Module &module,
                                   const hlo::Description &description) {
  SmallVector<Constant *> levels;
  for (const std::string &symbols : description.levels) {
    auto *level = new GlobalVariable(module, Type::getInt8Ty(module.getContext()),
                                     /*isConstant=*/true, GlobalValue::ExternalLinkage,
                                     /*Initializer=*/nullptr, symbols + ".desc");
    level->setVisibility(GlobalValue::HiddenVisibility);
    levels.push_back(level);
  }
  return data.pointers(levels);
}

/// The hlo_size_versions; null if the arena does not depend on sizes.
static Constant *sizeVersions(hlo::StaticData &data, const hlo::SizeVersionsInfo &sizes) {
  if (sizes.arenaBytes.empty()) {
    return data.null();
  }
  auto list = [&](ArrayRef<uint64_t> values) {
    return data.numbers(SmallVector<int64_t>(values.begin(), values.end()));
  };
  return data.global(
      data.record({data.i32(sizeof(hlo_size_versions)), data.i32(sizes.arenaBytes.size()),
                   list(sizes.arenaBytes), list(sizes.threadBytes), data.numbers(sizes.choices),
                   data.i32(sizes.numChoices), data.i32(0)}));
}

void hlo::buildDescription(const Signature &signature, const Description &description,
                           ArrayRef<OperationRow> operations, const Target &target,
                           uint64_t cpuFeatures, Module &module) {
  // Each constant costs the code generator time, and most leaves of a long list are alike.
  constexpr size_t manyLeaves = 2048;
  StaticData d(module, signature.inputs.size() + signature.outputs.size() > manyLeaves);
  IRBuilder<> b(module.getContext());
  const std::string &prefix = signature.symbols;
  auto *runType =
      FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy(), b.getPtrTy()}, false);
  auto *run =
      cast<Function>(module.getOrInsertFunction(prefix + "_run_buffers", runType).getCallee());
  const Prepared &prepared = description.prepared;
  Constant *prepare = d.null(), *inputUse = d.null();
  if (prepared.bytes) {
    auto *type = FunctionType::get(
        b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy(), b.getPtrTy(), b.getInt64Ty()}, false);
    prepare =
        cast<Function>(module.getOrInsertFunction(prefix + "_prepare_buffers", type).getCallee());
    if (!prepared.inputUse.empty()) {
      inputUse = d.global(ConstantDataArray::get(module.getContext(), prepared.inputUse));
    }
  }
  const uint32_t fpMode =
      description.flushDenormals ? HLO_FP_FLUSH_RESULTS | HLO_FP_ZERO_INPUTS : 0;
  // The last field is only in descriptions that need it.
  Constant *versions = sizeVersions(d, description.sizes);
  const bool hasVersions = !versions->isNullValue();
  SmallVector<Constant *> fields = {
      d.i32(hasVersions ? sizeof(hlo_module_desc) : offsetof(hlo_module_desc, size_versions)),
      d.i32(HLO_ABI),
      d.string(signature.prefix),
      d.string(description.version),
      d.string(description.flags),
      d.string(target.triple + " " + target.cpuText),
      d.string(description.sha256),
      d.i64(signature.hash),
      d.i64(description.arena.bytes),
      d.i64(description.stateBytes),
      d.i64(cpuFeatures),
      d.i32(target.architecture->number),
      d.i32(fpMode),
      d.i32(description.arenaAlign),
      d.i32(description.needs),
      d.i32(signature.inputs.size()),
      d.i32(signature.outputs.size()),
      d.i32(operations.size()),
      d.i32(sizeof(hlo_buffer_desc)),
      d.i32(sizeof(hlo_op_desc)),
      d.i32(sizeof(hlo_custom_call)),
      d.buffers(signature.inputs, signature.mesh),
      d.buffers(signature.outputs, signature.mesh),
      operationRows(d, operations),
      d.names(description.customCalls),
      customCallTargets(d, module, description),
      run,
      d.i32(signature.replicas),
      d.i32(signature.partitions),
      d.i64(prepared.bytes),
      d.i64(prepared.arena.bytes),
      d.i64(prepared.id),
      inputUse,
      prepare,
      d.i64(description.arena.threadBytes),
      d.i64(prepared.arena.threadBytes),
      d.i64(0),
      d.i32(description.levels.size()),
      d.i32(description.levelNumber),
      levelDescriptions(d, module, description),
      description.levelName.empty() ? d.null() : d.string(description.levelName)};
  if (hasVersions) {
    fields.push_back(versions);
  }
  GlobalVariable *global = d.global(d.record(fields));
  global->setName(prefix + ".desc");
  if (description.levelNumber > 0) {
    global->setLinkage(GlobalValue::ExternalLinkage);
    global->setVisibility(GlobalValue::HiddenVisibility);
    return;
  }
  global->setLinkage(GlobalValue::InternalLinkage);
  auto *describe = Function::Create(FunctionType::get(b.getPtrTy(), false),
                                    GlobalValue::ExternalLinkage, prefix + "_describe", module);
  b.SetInsertPoint(BasicBlock::Create(module.getContext(), "", describe));
  b.CreateRet(global);
  exportHashed(*describe, signature);
}

void hlo::buildDispatch(const Signature &signature, const Description &description,
                        const Target &target, uint64_t cpuFeatures, Module &module) {
  buildDescription(signature, description, /*operations=*/{}, target, cpuFeatures, module);
  IRBuilder<> b(module.getContext());
  GlobalVariable *described = module.getNamedGlobal(signature.symbols + ".desc");
  auto define = [&](StringRef suffix, StringRef runtimeFunction) {
    Function *function = module.getFunction(signature.symbols + suffix.str());
    if (!function) {
      return;
    }
    // The caller's arguments, with the description behind the first.
    SmallVector<Type *> types(function->getFunctionType()->params());
    SmallVector<Value *> values(llvm::make_pointer_range(function->args()));
    types.insert(types.begin() + 1, b.getPtrTy());
    values.insert(values.begin() + 1, described);
    b.SetInsertPoint(BasicBlock::Create(module.getContext(), "", function));
    CallInst *call =
        b.CreateCall(module.getOrInsertFunction(runtimeFunction,
                                                FunctionType::get(b.getInt32Ty(), types, false)),
                     values);
    call->setTailCall();
    b.CreateRet(call);
    exportHashed(*function, signature);
  };
  define("_run_buffers", "hlo_rt_run_level");
  define("_prepare_buffers", "hlo_rt_prepare_level");
}

void hlo::setStackBytes(MutableArrayRef<char> object, const Signature &signature, uint64_t bytes) {
  setNumber(object, signature.symbols + ".desc", offsetof(hlo_module_desc, stack_bytes), bytes);
}
