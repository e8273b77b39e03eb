//===- Metadata.h - Where instructions come from --------------------------===//
//
// Metadata names a frame of the stack tables at the head of the text:
//
//   FileNames      1 "/home/me/train.py"
//   FileLocations  1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=4 end_column=9}
//   StackFrames    1 {file_location_id=1 parent_frame_id=1}
//   %c = ... metadata={op_name="jit(step)/debug_callback" stack_frame_id=1}
//
// Older texts have source_file and source_line instead.
//
//===----------------------------------------------------------------------===//
#ifndef COMPILER_DRIVER_METADATA_H
#define COMPILER_DRIVER_METADATA_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace hlo {

/// The value after `key=` in normalized text: a number, or the contents of a string; "" if absent.
llvm::StringRef fieldOf(llvm::StringRef text, llvm::StringRef key);

/// The stack tables of a module, by number; `text` outlives this.
class StackTables {
public:
  explicit StackTables(llvm::StringRef text);

  /// File and line of an instruction's metadata: of the innermost frame outside installed packages,
  /// or of the innermost frame if all are inside; "" and 0 if the metadata names none.
  std::pair<std::string, int32_t> sourceOf(llvm::StringRef metadata) const;

private:
  llvm::StringRef look(llvm::StringRef section, llvm::StringRef number) const;
  llvm::StringMap<llvm::StringMap<llvm::StringRef>> sections;
};

} // namespace hlo

#endif
