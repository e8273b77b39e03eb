//===- Metadata.cpp - Where instructions come from ------------------------===//
//
// In: the text of a module's stack tables and of an instruction's metadata. Out: the file and line
// of the program that made the instruction.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Metadata.h"
#include "compiler/support/FileKind.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using llvm::StringRef;
using namespace hlo;

StringRef hlo::fieldOf(StringRef text, StringRef key) {
  size_t at = text.find((key + "=").str());
  if (at == StringRef::npos || (at > 0 && text[at - 1] != ' ' && text[at - 1] != '{')) {
    return "";
  }
  StringRef value = text.substr(at + key.size() + 1);
  if (value.consume_front("\"")) {
    return value.take_until([](char c) { return c == '"'; });
  }
  return value.take_while([](char c) { return llvm::isDigit(c); });
}

StackTables::StackTables(StringRef text) {
  llvm::StringMap<StringRef> *section = nullptr;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    if (!llvm::isDigit(line.empty() ? ' ' : line.front())) {
      section = &sections[line];
    } else if (section) {
      auto [number, value] = line.split(' ');
      (*section)[number] = value;
    }
  }
}

StringRef StackTables::look(StringRef section, StringRef number) const {
  auto table = sections.find(section);
  return table == sections.end() ? StringRef() : table->second.lookup(number);
}

std::pair<std::string, int32_t> StackTables::sourceOf(StringRef metadata) const {
  std::pair<std::string, int32_t> innermost{"", 0};
  auto lineOf = [](StringRef text) {
    int32_t line = 0;
    return text.getAsInteger(10, line) ? 0 : line;
  };
  llvm::StringSet<> seen;
  StringRef frame = fieldOf(metadata, "stack_frame_id");
  while (seen.insert(frame).second) {
    StringRef entry = look("StackFrames", frame);
    StringRef location = look("FileLocations", fieldOf(entry, "file_location_id"));
    StringRef file = look("FileNames", fieldOf(location, "file_name_id")).trim('"');
    if (file.empty()) {
      break;
    }
    std::pair<std::string, int32_t> place(file.str(), lineOf(fieldOf(location, "line")));
    if (!isInstalledPackage(file)) {
      return place;
    }
    innermost = innermost.first.empty() ? place : innermost;
    frame = fieldOf(entry, "parent_frame_id");
  }
  if (innermost.first.empty()) {
    innermost = {fieldOf(metadata, "source_file").str(), lineOf(fieldOf(metadata, "source_line"))};
  }
  return innermost;
}
