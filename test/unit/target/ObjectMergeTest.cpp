//===- ObjectMergeTest.cpp - Merging objects that LLVM made ---------------===//
//
// Objects are made from LLVM IR text and merged; the result is read back with LLVM's
// object library.
//
//===----------------------------------------------------------------------===//
#include "compiler/target/ObjectMerge.h"
#include "compiler/target/Backend.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/SourceMgr.h"
#include <gtest/gtest.h>
#include <map>

using namespace llvm;
using namespace hlo;

namespace {
std::string compileIr(StringRef text) {
  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseAssemblyString(text, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  hlo::Target target = cantFail(describeTarget("x86-64-v3"));
  std::unique_ptr<TargetMachine> machine = makeTargetMachine(target, 2);
  setTarget(*module, *machine, target);
  return generateCode(*module, *machine, CodeGenFileType::ObjectFile).str().str();
}

/// Symbols of an object: name -> "g" global, "l" local, "u" undefined.
std::map<std::string, char> symbolsOf(StringRef object) {
  std::map<std::string, char> symbols;
  auto file = object::ObjectFile::createObjectFile(MemoryBufferRef(object, "merged"));
  EXPECT_TRUE(static_cast<bool>(file)) << toString(file.takeError());
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    uint32_t flags = cantFail(symbol.getFlags());
    std::string name = cantFail(symbol.getName()).str();
    if (!name.empty() && cantFail(symbol.getType()) != object::SymbolRef::ST_Debug) {
      symbols[name] = flags & object::SymbolRef::SF_Undefined ? 'u'
                      : flags & object::SymbolRef::SF_Global  ? 'g'
                                                              : 'l';
    }
  }
  return symbols;
}

constexpr StringRef caller = R"(
  @table = external hidden constant i8
  declare hidden i32 @inner(i32)
  declare void @memset(ptr, i32, i64)
  define i32 @outer(i32 %x, ptr %p) {
    call void @memset(ptr %p, i32 1, i64 64)
    %t = load i32, ptr @table
    %y = call i32 @inner(i32 %x)
    %z = add i32 %y, %t
    ret i32 %z
  })";
constexpr StringRef callee = R"(
  define hidden float @inner(float %x) {
    %y = fmul float %x, 0x3FD3333340000000
    ret float %y
  })";
} // namespace

TEST(ObjectMerge, BindsAndHides) {
  std::string a = compileIr(caller), b = compileIr(StringRef(callee).str());
  const char bytes[] = {1, 2, 3, 4};
  hlo::ConstantData table{"table", ArrayRef(bytes)};
  std::string merged = cantFail(mergeObjects({a, b}, {table}, {"outer"}, {"memset"}));
  std::map<std::string, char> symbols = symbolsOf(merged);
  EXPECT_EQ(symbols["outer"], 'g');
  EXPECT_EQ(symbols["inner"], 'l');
  EXPECT_EQ(symbols["table"], 'l');
  EXPECT_EQ(symbols["memset"], 'u');
}

TEST(ObjectMerge, IsAFunctionOfItsArguments) {
  std::string a = compileIr(caller), b = compileIr(callee);
  const char bytes[] = {1, 2, 3, 4};
  hlo::ConstantData table{"table", ArrayRef(bytes)};
  auto merge = [&] { return cantFail(mergeObjects({a, b}, {table}, {"outer"}, {"memset"})); };
  EXPECT_EQ(merge(), merge());
}

TEST(ObjectMerge, RepeatsSplats) {
  const char element[] = {1, 2, 3, 4};
  hlo::ConstantData table{"table", ArrayRef(element), 64, /*splat=*/true, /*size=*/4000};
  std::string merged = cantFail(mergeObjects({}, {table}, {}, {}));
  auto file = cantFail(object::ObjectFile::createObjectFile(MemoryBufferRef(merged, "merged")));
  for (const object::SectionRef &section : file->sections()) {
    if (cantFail(section.getName()) == ".rodata") {
      StringRef contents = cantFail(section.getContents());
      ASSERT_EQ(contents.size(), 4000u);
      EXPECT_EQ(contents.substr(3996), StringRef(element, 4));
      EXPECT_EQ(section.getAlignment().value(), 64u);
    }
  }
}

TEST(ObjectMerge, SectionsAreAlignedAsTheirMostAlignedPart) {
  const char bytes[] = {1, 2, 3, 4};
  for (auto [first, second] : {std::pair(64, 4), std::pair(4, 64)}) {
    hlo::ConstantData one{"one", ArrayRef(bytes)}, other{"other", ArrayRef(bytes)};
    one.alignment = first;
    other.alignment = second;
    std::string merged = cantFail(mergeObjects({}, {one, other}, {}, {}));
    auto file = cantFail(object::ObjectFile::createObjectFile(MemoryBufferRef(merged, "merged")));
    unsigned found = 0;
    for (const object::SectionRef &section : file->sections()) {
      if (cantFail(section.getName()) == ".rodata") {
        ++found;
        EXPECT_EQ(section.getAlignment().value(), 64u);
      }
    }
    EXPECT_EQ(found, 1u);
  }
}

TEST(ObjectMerge, RefusesWhatItCannotBind) {
  std::string a = compileIr(caller), b = compileIr(callee);
  auto merged = mergeObjects({a, b}, {}, {"outer"}, {"memset"});
  ASSERT_FALSE(static_cast<bool>(merged));
  EXPECT_EQ(toString(merged.takeError()),
            "the code refers to 'table', which neither it nor the runtime defines");
  auto twice = mergeObjects({b, b}, {}, {}, {});
  ASSERT_FALSE(static_cast<bool>(twice));
  EXPECT_EQ(toString(twice.takeError()), "symbol 'inner' is defined twice");
}
