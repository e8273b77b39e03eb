//===- LeafText.h - An array in generated headers -------------------------===//
#ifndef COMPILER_TARGET_HEADER_LEAFTEXT_H
#define COMPILER_TARGET_HEADER_LEAFTEXT_H

#include "compiler/target/Signature.h"

namespace hlo {

/// The C type of one element, of <stdint.h> or <hlo/rt.h>; "uint8_t" for types that are packed.
llvm::StringRef cType(hlo_type type);

/// For a comment, what an array is: "f32[4,8]{1,0}, row-major, 128 bytes, may be the same buffer
/// as x". A shard names its array: "f32[2,8]{1,0}, row-major, 64 bytes, shard of f32[4,8] by [{x},
/// {}]". For the size of a bounded dimension: "true size of dimension 0 of x, 0 to 3". `use`: of
/// the inputs of a module with a prepare function, else empty.
std::string leafText(const Leaf &leaf, bool isInput, const Signature &all,
                     llvm::ArrayRef<uint8_t> use);

} // namespace hlo

#endif
