/* Objects that are no modules, by CASE. */
#include <hlo/rt.h>

#if CASE == 1 /* data where the function should be */
int m_describe = 1;
#elif CASE == 2 /* of another version of hlo/rt.h */
static const hlo_module_desc desc = {.struct_size = sizeof desc, .abi = HLO_ABI + 1, .name = "m"};
const hlo_module_desc *m_describe(void) { return &desc; }
#else           /* nothing */
const hlo_module_desc *m_describe(void) { return 0; }
#endif
