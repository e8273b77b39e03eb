# Build helpers of this project.
#
#   hlo_compiler_library(NAME [SRCS file...] [DEPS lib...] [TABLEGEN target...])
#     A static library of the compiler: C++20, no exceptions, and one precompiled
#     header shared by all.
#   hlo_compiler_executable(NAME SRCS file... [DEPS lib...])
#     A tool, with LLVM's and MLIR's archives linked in (HLO_STATIC_LLVM).
#   hlo_order_functions(NAME TOOLS tool... PROGRAM program MODULES file...)
#     Links the tools so that the functions called by a compilation are adjacent. PROGRAM compiles the
#     modules to find these functions.
#   hlo_unit_test(FOLDER [DEPS lib...])
#     A program of tests, with the shared libMLIR and libLLVM.

include_guard()

option(HLO_ASSERTIONS "Keep assertions in optimized builds" OFF)
option(HLO_STATIC_LLVM "Link LLVM's and MLIR's archives into the tools" ON)

# The dynamic linker needs 18 ms for the shared libLLVM and libMLIR, most of it for the 300000 places that
# it relocates and the 2000 pages that this touches: as much as compiling a small module takes. With the
# archives, at fixed addresses, a tool starts in 3 ms. The linker copies only the used members, in 3 s.
# The imported targets of Debian's packages name the shared libraries, so the archives are named as files.
set(HLO_LLVM_LIBRARIES MLIR LLVM)
set(HLO_LLVM_LINK_OPTIONS)
if(HLO_STATIC_LLVM)
  file(GLOB archives "${LLVM_LIBRARY_DIR}/libMLIR*.a" "${LLVM_LIBRARY_DIR}/libLLVM*.a")
  list(FILTER archives EXCLUDE REGEX "CAPI")
  # The archive: libhlo_compiler.so and the tools then need nothing that a bare system lacks.
  find_library(HLO_ZSTD NAMES libzstd.a zstd)
  if(archives AND HLO_ZSTD)
    set(HLO_LLVM_LIBRARIES ${archives} "${HLO_ZSTD}" ZLIB::ZLIB ${CMAKE_DL_LIBS} pthread m)
    set(HLO_LLVM_LINK_OPTIONS -no-pie LINKER:--gc-sections -static-libstdc++ -static-libgcc)
  else()
    message(STATUS "No archives of LLVM or no libzstd: the tools use the shared libraries and start more slowly")
  endif()
endif()

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
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
endfunction()

function(hlo_compiler_executable name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  hlo_compiler_target(${name})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} ${HLO_LLVM_LIBRARIES})
  target_link_options(${name} PRIVATE ${HLO_LLVM_LINK_OPTIONS})
endfunction()

# hlo_order_functions(NAME TOOLS tool... PROGRAM program MODULES file...): compiling a small module calls
# 18000 of the 79000 functions, each for the first time in its process. If they are adjacent, fewer pages
# are touched and a compilation takes 20 ms instead of 23. The list, NAME.txt, is made once, by PROGRAM,
# which is linked without the list; the linker ignores names that a later version lacks.
function(hlo_order_functions name)
  cmake_parse_arguments(ARG "" "PROGRAM" "TOOLS;MODULES" ${ARGN})
  find_package(Python3 COMPONENTS Interpreter)
  if(NOT HLO_LLVM_LINK_OPTIONS OR NOT Python3_FOUND)
    return()
  endif()
  set(script "${PROJECT_SOURCE_DIR}/cmake/link_order.py")
  add_library(called-functions MODULE "${PROJECT_SOURCE_DIR}/cmake/called_functions.c")
  target_link_libraries(called-functions PRIVATE ${CMAKE_DL_LIBS})
  set(order "${CMAKE_CURRENT_BINARY_DIR}/${name}.txt")
  add_custom_command(OUTPUT "${order}"
    COMMAND "${Python3_EXECUTABLE}" "${script}" --program "$<TARGET_FILE:${ARG_PROGRAM}>"
            --recorder "$<TARGET_FILE:called-functions>" --llvm-tools "${LLVM_TOOLS_BINARY_DIR}" --output "${order}" ${ARG_MODULES}
    DEPENDS "${script}" called-functions ${ARG_MODULES} COMMENT "Listing the functions that compilations call" VERBATIM)
  add_custom_target(${name} DEPENDS "${order}")
  add_dependencies(${name} ${ARG_PROGRAM})
  foreach(tool ${ARG_TOOLS})
    add_dependencies(${tool} ${name})
    target_link_options(${tool} PRIVATE "LINKER:--symbol-ordering-file=${order},--no-warn-symbol-ordering")
    set_property(TARGET ${tool} APPEND PROPERTY LINK_DEPENDS "${order}")
  endforeach()
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
  set_tests_properties(unit-${folder} PROPERTIES LABELS unit TIMEOUT 900)
endfunction()
