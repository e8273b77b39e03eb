//===- Header.h - The C header of a compiled module -----------------------===//
#ifndef COMPILER_TARGET_HEADER_HEADER_H
#define COMPILER_TARGET_HEADER_HEADER_H

#include "compiler/target/Signature.h"

namespace hlo {

/// The header's contents besides the signature.
struct HeaderInfo {
  std::string source;  ///< the HLO file's name without folders
  std::string sha256;  ///< of the HLO text
  std::string version; ///< of the compiler
  ArenaSize arena;     ///< of run
  uint64_t arenaAlign = 64;
  uint32_t needs = 0;                   ///< set of HLO_NEEDS_*
  std::vector<std::string> customCalls; ///< targets
  uint64_t stateBytes = 0;              ///< of hlo_call.state
  Prepared prepared;
  std::string target; ///< triple and CPU
};

/// The header's text: valid as C99, C11, C++11 and later, without warnings.
std::string makeHeader(const Signature &signature, const HeaderInfo &info);

} // namespace hlo

#endif
