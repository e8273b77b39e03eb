/*===- fields.h - Reading structs of another version --------------------------===*/
#ifndef RUNTIME_CORE_FIELDS_H
#define RUNTIME_CORE_FIELDS_H

/** True if `object` (may be null) is of a version that has `field`. */
#define HLO_HAS_FIELD(object, field) \
  ((object) != NULL &&               \
   (object)->struct_size >= offsetof(__typeof__(*(object)), field) + sizeof((object)->field))

/** The field, or zero if the object's version does not have it. */
#define HLO_FIELD(object, field) (HLO_HAS_FIELD(object, field) ? (object)->field : 0)

#endif
