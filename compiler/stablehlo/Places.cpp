//===- Places.cpp - Where ops stand in the text, and where they come from -===//
//
// MLIR's parser takes `loc(...)` for an op's location where the text has one. Errors must show the
// text, so the parser's record of positions becomes the location:
//
//   loc("jit(f)/sin"(callsite(...)))   becomes   fused<loc("jit(f)/sin"(...))>[model.mlir:12:5]
//
// The metadata of the fused location is what the text says. It goes to the instruction's name and
// to HLO's metadata, where profiles look for Python lines.
//
//===----------------------------------------------------------------------===//
#include "compiler/stablehlo/Places.h"
#include "compiler/parser/AttributeText.h"
#include "compiler/support/FileKind.h"

using namespace mlir;
using namespace hlo;
using namespace hlo::stable;
using llvm::StringRef;

namespace {
/// Frames of one location that are looked at; texts may chain them without end.
constexpr unsigned kMostFrames = 512;

/// Lines and columns of positions.
class Lines {
public:
  Lines(StringRef text, StringAttr file) : text(text), file(file) {
    starts.push_back(0);
    for (size_t at = text.find('\n'); at != StringRef::npos; at = text.find('\n', at + 1)) {
      starts.push_back(at + 1);
    }
  }

  FileLineColLoc at(llvm::SMLoc position) const {
    size_t offset = position.getPointer() - text.data();
    auto after = std::upper_bound(starts.begin(), starts.end(), offset);
    return FileLineColLoc::get(file, after - starts.begin(), offset - *(after - 1) + 1);
  }

private:
  StringRef text;
  StringAttr file;
  std::vector<size_t> starts;
};
} // namespace

/// The text's own location beside the place; a location of MLIR's parser alone says nothing more.
static Location beside(FileLineColLoc place, Location own) {
  if (isa<UnknownLoc, FileLineColRange>(own)) {
    return place;
  }
  return FusedLoc::get({Location(place)}, own, place.getContext());
}

void hlo::stable::locateInText(ModuleOp module, const AsmParserState &state,
                               const llvm::SourceMgr &sources, StringRef fileName) {
  StringRef text = sources.getMemoryBuffer(sources.getMainFileID())->getBuffer();
  Lines lines(text, StringAttr::get(module.getContext(), fileName));
  for (const AsmParserState::OperationDefinition &definition : state.getOpDefs()) {
    definition.op->setLoc(beside(lines.at(definition.loc.Start), definition.op->getLoc()));
  }
  for (const AsmParserState::BlockDefinition &definition : state.getBlockDefs()) {
    for (auto [argument, known] :
         llvm::zip(definition.block->getArguments(), definition.arguments)) {
      if (!known.loc.isValid()) {
        continue;
      }
      Location own = argument.getLoc();
      if (!isa<NameLoc>(own)) {
        // `%arg0` stands for the name that the text does not give.
        StringRef spelled(known.loc.Start.getPointer(),
                          known.loc.End.getPointer() - known.loc.Start.getPointer());
        own = NameLoc::get(StringAttr::get(module.getContext(), spelled.ltrim('%')));
      }
      argument.setLoc(beside(lines.at(known.loc.Start), own));
    }
  }
}

Location hlo::stable::placeOf(Location location) {
  auto fused = dyn_cast<FusedLoc>(location);
  return fused && !fused.getLocations().empty() ? fused.getLocations().front() : location;
}

/// The frame that a location stands for: the innermost one outside installed packages, else the
/// innermost of all.
static void findSource(Location location, Origin &origin) {
  SmallVector<Location> rest{location};
  for (unsigned seen = 0; !rest.empty() && seen < kMostFrames; ++seen) {
    Location at = rest.pop_back_val();
    if (auto name = dyn_cast<NameLoc>(at)) {
      rest.push_back(name.getChildLoc());
    } else if (auto call = dyn_cast<CallSiteLoc>(at)) {
      rest.push_back(call.getCaller());
      rest.push_back(call.getCallee());
    } else if (auto fused = dyn_cast<FusedLoc>(at)) {
      for (Location part : llvm::reverse(fused.getLocations())) {
        rest.push_back(part);
      }
    } else if (auto file = dyn_cast<FileLineColRange>(at)) {
      StringRef name = file.getFilename().getValue();
      bool isOwn = !isInstalledPackage(name);
      if (isOwn || origin.file.empty()) {
        origin.file = name.str();
        origin.line = file.getStartLine();
      }
      if (isOwn) {
        return;
      }
    }
  }
}

Origin hlo::stable::originOf(Location location) {
  Origin origin;
  auto fused = dyn_cast<FusedLoc>(location);
  auto own = fused ? dyn_cast_if_present<LocationAttr>(fused.getMetadata()) : LocationAttr();
  if (!own) {
    return origin;
  }
  Location named = own;
  for (unsigned seen = 0; seen < kMostFrames; ++seen) {
    if (auto name = dyn_cast<NameLoc>(named)) {
      origin.name = name.getName().str();
      break;
    }
    auto parts = dyn_cast<FusedLoc>(named);
    if (!parts || parts.getLocations().empty()) {
      break;
    }
    named = parts.getLocations().front();
  }
  findSource(own, origin);
  return origin;
}

StringRef Origin::step() const {
  StringRef whole = name;
  whole.consume_back(":");
  return whole.rsplit('/').second.empty() ? whole : whole.rsplit('/').second;
}

std::string Origin::metadata() const {
  std::string text;
  if (!name.empty()) {
    text += "op_name=" + quotedText(name);
  }
  if (!file.empty()) {
    text += (text.empty() ? "" : " ") + ("source_file=" + quotedText(file)) +
            " source_line=" + std::to_string(line);
  }
  return text.empty() ? text : "{" + text + "}";
}
