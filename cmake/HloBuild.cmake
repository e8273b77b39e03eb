# Build helpers of this project.
#
#   hlo_compiler_library(NAME [SRCS file...] [DEPS lib...] [TABLEGEN target...])
#     A static library of the compiler: C++20, no exceptions, the shared
#     libMLIR and libLLVM, and one precompiled header shared by all.
#   hlo_compiler_executable(NAME SRCS file... [DEPS lib...])
#   hlo_unit_test(FOLDER [DEPS lib...])

include_guard()

option(HLO_ASSERTIONS "Keep assertions in optimized builds" OFF)

set(HLO_COMPILER_FLAGS
    -fno-exceptions -Wall -Wextra -Wno-unused-parameter
    -Wno-missing-field-initializers)

# Debian's LLVM has no assertions; ours are independent of that, except for
# class layouts that depend on NDEBUG (llvm::Statistic), which we do not use.
if(HLO_ASSERTIONS)
  string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
  string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
endif()
string(REPLACE "-O3" "-O1" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

# One precompiled header for every compiler library.
add_library(HloPch OBJECT "${CMAKE_CURRENT_SOURCE_DIR}/cmake/Pch.cpp")
target_include_directories(HloPch SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_options(HloPch PRIVATE ${HLO_COMPILER_FLAGS} -Xclang -fno-pch-timestamp)
target_precompile_headers(HloPch PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/cmake/Pch.h")

function(hlo_compiler_target name)
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
  target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_options(${name} PRIVATE ${HLO_COMPILER_FLAGS} -Xclang -fno-pch-timestamp)
  target_precompile_headers(${name} REUSE_FROM HloPch)
  # The precompiled header is -fPIC; CMake would compile executables as -fPIE.
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
  endif()
endfunction()

# All .cpp files of the calling folder, unless SRCS names them. A folder without
# sources yet gives an interface library, so that dependents need no condition.
function(hlo_compiler_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS;TABLEGEN" ${ARGN})
  if(NOT ARG_SRCS)
    file(GLOB ARG_SRCS CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  endif()
  if(NOT ARG_SRCS)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
    return()
  endif()
  add_library(${name} STATIC ${ARG_SRCS})
  hlo_compiler_target(${name})
  add_dependencies(${name} HloOpsIncGen ${ARG_TABLEGEN})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} MLIR LLVM)
endfunction()

function(hlo_compiler_executable name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  hlo_compiler_target(${name})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} MLIR LLVM)
endfunction()

# hlo_unit_test(FOLDER DEPS lib...): all *.cpp of the calling folder as one
# GoogleTest program `unit-FOLDER`, registered with CTest.
function(hlo_unit_test folder)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(NOT sources)
    return()
  endif()
  add_executable(unit-${folder} ${sources})
  hlo_compiler_target(unit-${folder})
  target_link_libraries(unit-${folder} PRIVATE ${ARG_DEPS} MLIR LLVM GTest::gtest GTest::gtest_main)
  add_test(NAME unit-${folder} COMMAND unit-${folder})
endfunction()
