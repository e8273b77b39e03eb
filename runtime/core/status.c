/*===- status.c - Names of statuses and element types --------------------------===*\
 *
 * Names for the enumerations of hlo/rt.h; unknown values get a name as well.
 *
 *===-------------------------------------------------------------------------===*/
#include <hlo/rt.h>

const char *hlo_status_name(hlo_status status) {
  switch (status) {
    case HLO_ERR_NULL:
      return "HLO_ERR_NULL";
    case HLO_ERR_STRUCT:
      return "HLO_ERR_STRUCT";
    case HLO_ERR_ALIGN:
      return "HLO_ERR_ALIGN";
    case HLO_ERR_SIGNATURE:
      return "HLO_ERR_SIGNATURE";
    case HLO_ERR_ARENA:
      return "HLO_ERR_ARENA";
    case HLO_ERR_ALLOC:
      return "HLO_ERR_ALLOC";
    case HLO_ERR_CPU:
      return "HLO_ERR_CPU";
    case HLO_ERR_SIZE:
      return "HLO_ERR_SIZE";
    case HLO_ERR_MISSING:
      return "HLO_ERR_MISSING";
    case HLO_ERR_PREPARED:
      return "HLO_ERR_PREPARED";
    case HLO_ERR_VIEW:
      return "HLO_ERR_VIEW";
    case HLO_ERR_OVERLAP:
      return "HLO_ERR_OVERLAP";
    default:
      break;
  }
  switch (hlo_status_code(status)) {
    case HLO_OK:
      return "HLO_OK";
    case HLO_CANCELLED:
      return "HLO_CANCELLED";
    case HLO_INVALID_ARGUMENT:
      return "HLO_INVALID_ARGUMENT";
    case HLO_DEADLINE:
      return "HLO_DEADLINE";
    case HLO_NOT_FOUND:
      return "HLO_NOT_FOUND";
    case HLO_RESOURCE_EXHAUSTED:
      return "HLO_RESOURCE_EXHAUSTED";
    case HLO_FAILED_PRECONDITION:
      return "HLO_FAILED_PRECONDITION";
    case HLO_ABORTED:
      return "HLO_ABORTED";
    case HLO_OUT_OF_RANGE:
      return "HLO_OUT_OF_RANGE";
    case HLO_UNIMPLEMENTED:
      return "HLO_UNIMPLEMENTED";
    case HLO_INTERNAL:
      return "HLO_INTERNAL";
    case HLO_UNAVAILABLE:
      return "HLO_UNAVAILABLE";
    default:
      return "HLO_UNKNOWN";
  }
}

static const struct {
  char name[15]; /* in the entry: a pointer would need relocation at load time */
  uint8_t bytes;
} kTypes[] = {
    [HLO_INVALID_TYPE] = {"invalid", 0},
    [HLO_PRED] = {"pred", 1},
    [HLO_S1] = {"s1", 1},
    [HLO_S2] = {"s2", 1},
    [HLO_S4] = {"s4", 1},
    [HLO_S8] = {"s8", 1},
    [HLO_S16] = {"s16", 2},
    [HLO_S32] = {"s32", 4},
    [HLO_S64] = {"s64", 8},
    [HLO_U1] = {"u1", 1},
    [HLO_U2] = {"u2", 1},
    [HLO_U4] = {"u4", 1},
    [HLO_U8] = {"u8", 1},
    [HLO_U16] = {"u16", 2},
    [HLO_U32] = {"u32", 4},
    [HLO_U64] = {"u64", 8},
    [HLO_F16] = {"f16", 2},
    [HLO_BF16] = {"bf16", 2},
    [HLO_F32] = {"f32", 4},
    [HLO_F64] = {"f64", 8},
    [HLO_C64] = {"c64", 8},
    [HLO_C128] = {"c128", 16},
    [HLO_F8E5M2] = {"f8e5m2", 1},
    [HLO_F8E4M3] = {"f8e4m3", 1},
    [HLO_F8E4M3FN] = {"f8e4m3fn", 1},
    [HLO_F8E4M3B11FNUZ] = {"f8e4m3b11fnuz", 1},
    [HLO_F8E5M2FNUZ] = {"f8e5m2fnuz", 1},
    [HLO_F8E4M3FNUZ] = {"f8e4m3fnuz", 1},
    [HLO_F8E3M4] = {"f8e3m4", 1},
    [HLO_F8E8M0FNU] = {"f8e8m0fnu", 1},
    [HLO_F4E2M1FN] = {"f4e2m1fn", 1},
    [HLO_F6E2M3FN] = {"f6e2m3fn", 1},
    [HLO_F6E3M2FN] = {"f6e3m2fn", 1},
};

static int known(int32_t type) {
  return type > 0 && type < (int32_t)(sizeof(kTypes) / sizeof(kTypes[0]));
}

size_t hlo_type_bytes(int32_t type) { return known(type) ? kTypes[type].bytes : 0; }

int32_t hlo_type_bits(int32_t type) {
  switch (type) {
    case HLO_S1:
    case HLO_U1:
      return 1;
    case HLO_S2:
    case HLO_U2:
      return 2;
    case HLO_S4:
    case HLO_U4:
    case HLO_F4E2M1FN:
      return 4;
    default:
      return 8 * (int32_t)hlo_type_bytes(type);
  }
}

const char *hlo_type_name(int32_t type) { return known(type) ? kTypes[type].name : "invalid"; }
