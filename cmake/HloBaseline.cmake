# HLO_BASELINE_FLAGS: flags for libraries that are shipped to unknown machines. Their code runs on
# every CPU of the architecture that is built for, whatever the compiler's own default is.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(HLO_BASELINE_FLAGS -march=x86-64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(HLO_BASELINE_FLAGS -march=armv8-a)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "riscv64")
  set(HLO_BASELINE_FLAGS -march=rv64gc -mabi=lp64d)
else()
  message(FATAL_ERROR "the runtime does not know the architecture ${CMAKE_SYSTEM_PROCESSOR}; it knows x86_64, aarch64 and riscv64")
endif()
