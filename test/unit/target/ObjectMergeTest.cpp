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
std::string compileIr(StringRef text, bool ownSections = false) {
  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseAssemblyString(text, diagnostic, context);
  EXPECT_TRUE(module) << diagnostic.getMessage().str();
  hlo::Target target = cantFail(describeTarget("x86-64-v3"));
  std::unique_ptr<TargetMachine> machine = makeTargetMachine(target, 2, ownSections);
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

TEST(ObjectMerge, FoldsEqualSections) {
  // `scale` and `apply` are equal in both objects, `apply` because it calls equal functions and
  // reads equal constants; `other` differs by a number, `calls` by what it calls.
  auto text = [](StringRef level, int number) {
    std::string body = R"(
      @table.L = external hidden constant i8
      @floats.L = internal constant [2 x float] [float 1.5, float 2.5]
      declare void @memset(ptr, i32, i64)
      define hidden float @scale.L(float %x) noinline {
        %y = fmul float %x, 0x3FD3333340000000
        ret float %y
      }
      define hidden float @apply.L(float %x, ptr %p, i64 %i) {
        call void @memset(ptr %p, i32 1, i64 64)
        %t = load float, ptr @table.L
        %q = getelementptr float, ptr @floats.L, i64 %i
        %f = load float, ptr %q
        %s = call float @scale.L(float %t)
        %r = fadd float %s, %f
        ret float %r
      }
      define hidden i32 @other.L(i32 %x) noinline {
        %y = add i32 %x, NUMBER
        ret i32 %y
      }
      define hidden i32 @calls.L(i32 %x) {
        %y = call i32 @other.L(i32 %x)
        %z = mul i32 %y, 3
        ret i32 %z
      })";
    for (size_t at; (at = body.find(".L")) != std::string::npos;) {
      body.replace(at, 2, ("_" + level).str());
    }
    body.replace(body.find("NUMBER"), 6, std::to_string(number));
    return body;
  };
  std::string a = compileIr(text("a", 4), /*ownSections=*/true),
              b = compileIr(text("b", 5), /*ownSections=*/true);
  const char bytes[] = {1, 2, 3, 4};
  hlo::ConstantData table{"table_a", ArrayRef(bytes)};
  table.otherNames.push_back("table_b");
  auto places = [&](bool fold) {
    std::string merged = cantFail(mergeObjects({a, b}, {table}, {}, {"memset"}, fold));
    auto file = cantFail(object::ObjectFile::createObjectFile(MemoryBufferRef(merged, "merged")));
    std::map<std::string, uint64_t> places;
    for (const object::SymbolRef &symbol : file->symbols()) {
      places[cantFail(symbol.getName()).str()] = cantFail(symbol.getValue());
    }
    places["size"] = merged.size();
    return places;
  };
  auto folded = places(true), plain = places(false);
  for (const char *name : {"scale", "apply", "other", "calls", "table", "floats"}) {
    std::string inA = std::string(name) + "_a", inB = std::string(name) + "_b";
    bool equal = StringRef(name) != "other" && StringRef(name) != "calls";
    EXPECT_EQ(folded[inA] == folded[inB], equal) << name;
    EXPECT_EQ(plain[inA] == plain[inB], StringRef(name) == "table") << name;
  }
  EXPECT_LT(folded["size"], plain["size"]);
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
