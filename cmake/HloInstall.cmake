# What `cmake --install` gives: tools, runtime, headers, and the CMake package, which the build folder offers as well
# (-DHloCompile_DIR=build).

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set_target_properties(hlo-compile hlo-run PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS hlo-compile hlo-run RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(TARGETS hlo_rt hlo_rt_shared ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(TARGET hlo_lapack)
  install(TARGETS hlo_lapack hlo_lapack_shared ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
if(TARGET hlo_comm_mpi)
  install(TARGETS hlo_comm_mpi ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/runtime/abi/hlo" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

set(hlo_package "${CMAKE_INSTALL_LIBDIR}/cmake/HloCompile")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/HloCompileConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)

# From the build folder.
set(HLO_COMPILER "${PROJECT_BINARY_DIR}/bin/hlo-compile")
set(HLO_RUNTIME "${PROJECT_BINARY_DIR}/lib/libhlo_rt.a")
set(HLO_INCLUDE "${PROJECT_SOURCE_DIR}/runtime/abi")
set(HLO_MODULE "${PROJECT_SOURCE_DIR}/cmake/HloCompile.cmake")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/HloCompileConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/HloCompileConfig.cmake"
  INSTALL_DESTINATION "${PROJECT_BINARY_DIR}" INSTALL_PREFIX "${PROJECT_BINARY_DIR}"
  PATH_VARS HLO_COMPILER HLO_RUNTIME HLO_INCLUDE HLO_MODULE)

# From an installation.
set(HLO_COMPILER "${CMAKE_INSTALL_BINDIR}/hlo-compile")
set(HLO_RUNTIME "${CMAKE_INSTALL_LIBDIR}/libhlo_rt.a")
set(HLO_INCLUDE "${CMAKE_INSTALL_INCLUDEDIR}")
set(HLO_MODULE "${hlo_package}/HloCompile.cmake")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/HloCompileConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/install/HloCompileConfig.cmake"
  INSTALL_DESTINATION "${hlo_package}"
  PATH_VARS HLO_COMPILER HLO_RUNTIME HLO_INCLUDE HLO_MODULE)
install(FILES "${PROJECT_BINARY_DIR}/install/HloCompileConfig.cmake"
  "${PROJECT_BINARY_DIR}/HloCompileConfigVersion.cmake" "${PROJECT_SOURCE_DIR}/cmake/HloCompile.cmake"
  DESTINATION "${hlo_package}")
