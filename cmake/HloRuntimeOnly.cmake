# The runtime, its unit tests and hlo-run's guest without the compiler (HLO_RUNTIME_ONLY): what sanitizers are run on,
# and what is built for other architectures. There no library of GoogleTest is needed.
if(CMAKE_CROSSCOMPILING)
  find_package(GTest QUIET)
else()
  find_package(GTest REQUIRED)
endif()

function(hlo_unit_test folder)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_executable(unit-${folder} ${sources})
  target_include_directories(unit-${folder} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(unit-${folder} PRIVATE ${ARG_DEPS} GTest::gtest GTest::gtest_main)
  add_test(NAME unit-${folder} COMMAND unit-${folder})
  set_tests_properties(unit-${folder} PROPERTIES LABELS unit TIMEOUT 900)
endfunction()

enable_testing()
add_subdirectory(runtime)
add_subdirectory(tools/hlo-run/guest)
if(GTest_FOUND)
  add_subdirectory(test/unit/runtime)
endif()
