# What `cmake --install` gives, and the CMake and pkg-config packages. The build folder offers the CMake package as well
# (-DHloCompile_DIR=build). Components:
#
#   Compiler  hlo-compile, hlo-run, hlo-opt, and hlo_add_library for CMake
#   Library   libhlo_compiler.so with its headers, for pkg-config hlo-compiler
#   Builder   libhlo_builder.a with its headers, over Library
#   Runtime   libhlo_rt of this machine and of the other targets, headers, pkg-config hlo-runtime, HloCompileConfig.cmake:
#             all other components need it
#   Lapack    libhlo_lapack
#   Mpi       libhlo_comm_mpi, and libhlo_run_mpi for hlo-run --mpi
#
# What is not built is not installed, and named at the end. HloPackages.cmake makes packages of the same components.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# hlo_install_target(COMPONENT TARGET): installs a target that this configuration has.
function(hlo_install_target component target)
  if(NOT TARGET ${target})
    return()
  endif()
  install(TARGETS ${target}
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT ${component} OPTIONAL
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component} NAMELINK_COMPONENT ${component} OPTIONAL
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component} OPTIONAL)
  set_property(GLOBAL APPEND PROPERTY HLO_PARTS "${component}|$<TARGET_FILE:${target}>")
endfunction()

# hlo_install_files_with(TARGET COMPONENT FOLDER file...): installs files, or headers of a folder, if the target is built.
function(hlo_install_files_with target component folder)
  if(TARGET ${target})
    list(JOIN ARGN "\" \"" files)
    install(CODE "if(EXISTS \"$<TARGET_FILE:${target}>\")
  file(INSTALL \"${files}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${folder}\" FILES_MATCHING REGEX \"[.](h|hpp|inc|pc)$\")
endif()" COMPONENT ${component})
  endif()
endfunction()

set_target_properties(hlo-compile PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
hlo_install_target(Compiler hlo-compile)
# The other programs are links, which need not have been made in the build folder.
install(CODE "foreach(program hlo-run hlo-opt)
  if(EXISTS \"$<TARGET_FILE:hlo-compile>\")
    file(CREATE_LINK hlo-compile \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/\${program}\" SYMBOLIC)
  endif()
endforeach()" COMPONENT Compiler)
hlo_install_target(Library hlo_compiler)
hlo_install_target(Builder hlo_builder)
hlo_install_target(Runtime hlo_rt)
hlo_install_target(Runtime hlo_rt_shared)
hlo_install_target(Lapack hlo_lapack)
hlo_install_target(Lapack hlo_lapack_shared)
hlo_install_target(Mpi hlo_comm_mpi)
hlo_install_target(Mpi hlo_run_mpi)
# Other targets: where hlo-run and the CMake package look, whatever folder the build machine's own libraries go to.
get_property(cross_targets GLOBAL PROPERTY HLO_CROSS_TARGETS)
foreach(name ${cross_targets})
  set(folder "${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/${name}")
  install(PROGRAMS "${folder}/hlo-run-guest" DESTINATION "lib/${name}" COMPONENT Runtime OPTIONAL)
  install(FILES "${folder}/libhlo_rt.a" "${folder}/libhlo_rt.so.2" DESTINATION "lib/${name}" COMPONENT Runtime OPTIONAL)
  set_property(GLOBAL APPEND PROPERTY HLO_PARTS "Runtime|${folder}/libhlo_rt.a")
endforeach()

set(headers "${PROJECT_SOURCE_DIR}/runtime/abi/hlo")
install(DIRECTORY "${headers}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT Runtime
  PATTERN "lapack.h" EXCLUDE PATTERN "comm_mpi.h" EXCLUDE)
hlo_install_files_with(hlo_lapack Lapack "${CMAKE_INSTALL_INCLUDEDIR}/hlo" "${headers}/lapack.h")
hlo_install_files_with(hlo_comm_mpi Mpi "${CMAKE_INSTALL_INCLUDEDIR}/hlo" "${headers}/comm_mpi.h")
hlo_install_files_with(hlo_compiler Library "${CMAKE_INSTALL_INCLUDEDIR}/hlo"
  "${PROJECT_SOURCE_DIR}/compiler/api/hlo/compiler.h" "${PROJECT_SOURCE_DIR}/compiler/api/hlo/builder_c.h")
hlo_install_files_with(hlo_builder Builder "${CMAKE_INSTALL_INCLUDEDIR}" "${PROJECT_SOURCE_DIR}/compiler/builder/hlo")

# The libraries of Abseil that libhlo_builder.a refers to.
set(HLO_BUILDER_DEPENDENCIES "")
if(TARGET hlo_builder)
  get_target_property(libraries hlo_builder LINK_LIBRARIES)
  list(FILTER libraries INCLUDE REGEX "^absl::")
  set(HLO_BUILDER_DEPENDENCIES "${libraries}")
endif()

set(hlo_package "${CMAKE_INSTALL_LIBDIR}/cmake/HloCompile")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/HloCompileConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)

# hlo_configure_package(OUTPUT DESTINATION [INSTALL_PREFIX folder]): HloCompileConfig.cmake for HLO_PROGRAMS, HLO_LIBRARIES,
# HLO_INCLUDE, HLO_API_INCLUDE, HLO_BUILDER_INCLUDE and HLO_MODULE, relative to the prefix.
function(hlo_configure_package output destination)
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/HloCompileConfig.cmake.in" "${output}"
    INSTALL_DESTINATION "${destination}" ${ARGN}
    PATH_VARS HLO_PROGRAMS HLO_LIBRARIES HLO_INCLUDE HLO_API_INCLUDE HLO_BUILDER_INCLUDE HLO_MODULE)
endfunction()

# From the build folder.
set(HLO_PROGRAMS "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
set(HLO_LIBRARIES "${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}")
set(HLO_INCLUDE "${PROJECT_SOURCE_DIR}/runtime/abi")
set(HLO_API_INCLUDE "${PROJECT_SOURCE_DIR}/compiler/api")
set(HLO_BUILDER_INCLUDE "${PROJECT_SOURCE_DIR}/compiler/builder")
set(HLO_MODULE "${PROJECT_SOURCE_DIR}/cmake/HloCompile.cmake")
hlo_configure_package("${PROJECT_BINARY_DIR}/HloCompileConfig.cmake" "${PROJECT_BINARY_DIR}"
  INSTALL_PREFIX "${PROJECT_BINARY_DIR}")

# From an installation.
set(HLO_PROGRAMS "${CMAKE_INSTALL_BINDIR}")
set(HLO_LIBRARIES "${CMAKE_INSTALL_LIBDIR}")
set(HLO_INCLUDE "${CMAKE_INSTALL_INCLUDEDIR}")
set(HLO_API_INCLUDE "${CMAKE_INSTALL_INCLUDEDIR}")
set(HLO_BUILDER_INCLUDE "${CMAKE_INSTALL_INCLUDEDIR}")
set(HLO_MODULE "${hlo_package}/HloCompile.cmake")
hlo_configure_package("${PROJECT_BINARY_DIR}/install/HloCompileConfig.cmake" "${hlo_package}")
install(FILES "${PROJECT_BINARY_DIR}/install/HloCompileConfig.cmake" "${PROJECT_BINARY_DIR}/HloCompileConfigVersion.cmake"
  DESTINATION "${hlo_package}" COMPONENT Runtime)
install(FILES "${PROJECT_SOURCE_DIR}/cmake/HloCompile.cmake" DESTINATION "${hlo_package}" COMPONENT Compiler)

# pkg-config: paths relative to the file, so that the installation can be moved.
file(RELATIVE_PATH HLO_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" HLO_PC_PREFIX "${HLO_PC_PREFIX}")
configure_file(cmake/hlo-runtime.pc.in install/hlo-runtime.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/install/hlo-runtime.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT Runtime)
configure_file(cmake/hlo-compiler.pc.in install/hlo-compiler.pc @ONLY)
hlo_install_files_with(hlo_compiler Library "${CMAKE_INSTALL_LIBDIR}/pkgconfig" "${PROJECT_BINARY_DIR}/install/hlo-compiler.pc")

include(HloPackages)

# HloParts.cmake: HLO_PARTS, a list of component|file, for the message of what is not built, which comes last.
get_property(parts GLOBAL PROPERTY HLO_PARTS)
file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/install/HloParts.cmake" CONTENT "set(HLO_PARTS \"${parts}\")\n")
install(CODE "set(HLO_PARTS_FILE \"${PROJECT_BINARY_DIR}/install/HloParts.cmake\")" ALL_COMPONENTS)
install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/HloMissingParts.cmake" ALL_COMPONENTS)
