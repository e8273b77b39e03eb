/* For symbols.test: the headers alone. */
#include <hlo/builder_c.h>
