# hlo_cross_runtime(ARCH): the runtime and hlo-run's guest for another architecture, in lib/ARCH-linux-gnu, if its
# cross compiler ARCH-linux-gnu-gcc is there. hlo-run --target runs modules with them.
function(hlo_cross_runtime arch)
  set(name "${arch}-linux-gnu")
  find_program(HLO_CROSS_COMPILER_${arch} ${name}-gcc)
  if(NOT HLO_CROSS_COMPILER_${arch} OR CMAKE_SYSTEM_PROCESSOR STREQUAL arch)
    return()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/*" "${PROJECT_SOURCE_DIR}/tools/hlo-run/guest/*")
  set(build "${CMAKE_BINARY_DIR}/${name}")
  set(output "${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/${name}")
  add_custom_command(OUTPUT "${output}/libhlo_rt.a" "${output}/hlo-run-guest"
    COMMAND "${CMAKE_COMMAND}" -S "${PROJECT_SOURCE_DIR}" -B "${build}" -G "${CMAKE_GENERATOR}" --log-level=ERROR
            "-DCMAKE_TOOLCHAIN_FILE=${PROJECT_SOURCE_DIR}/cmake/${name}.cmake" -DHLO_RUNTIME_ONLY=ON
            -DCMAKE_BUILD_TYPE=Release -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON
            "-DCMAKE_ARCHIVE_OUTPUT_DIRECTORY=${output}" "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=${output}" > "${name}.log"
    COMMAND "${CMAKE_COMMAND}" --build "${build}" > "${name}.log"
    COMMAND "${CMAKE_COMMAND}" -E touch "${output}/libhlo_rt.a" "${output}/hlo-run-guest"
    DEPENDS ${sources} "${PROJECT_SOURCE_DIR}/cmake/${name}.cmake" "${PROJECT_SOURCE_DIR}/cmake/DebianCross.cmake" COMMENT "The runtime for ${name}" VERBATIM)
  set_property(GLOBAL APPEND PROPERTY HLO_CROSS_TARGETS ${name}) # HloInstall.cmake installs them
  add_custom_target(runtime-${name} ALL DEPENDS "${output}/libhlo_rt.a" "${output}/hlo-run-guest")
endfunction()
