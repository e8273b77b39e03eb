# Three Debian packages: `cpack -G DEB` in the build folder, once everything is built.
#
#   hlo-compile          the programs, and hlo_add_library for CMake
#   libhlo-rt-dev        the runtime of all targets with its headers, LAPACK's and MPI's functions
#   libhlo-compiler-dev  libhlo_compiler.so and the builder, with their headers
#
# This machine's programs and libraries are stripped. dpkg-shlibdeps finds the packages of the libraries that they load; for
# libhlo-rt-dev HloPackageCheck.cmake calls it, since it fails on the other targets' libraries.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hlo-compile)
set(CPACK_PACKAGE_CONTACT "hlo-compile maintainers <maintainers@hlo-compile.invalid>")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz) # two thirds of the size of gzip; -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip takes a tenth of the time
set(CPACK_THREADS 0)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/HloPackageCheck.cmake")
set(CPACK_POST_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/HloPackageSize.cmake")
set(CPACK_HLO_PARTS_FILE "${PROJECT_BINARY_DIR}/install/HloParts.cmake")

set(CPACK_COMPONENTS_ALL Compiler Library Builder Runtime Lapack Mpi)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENT_COMPILER_GROUP tools)
set(CPACK_COMPONENT_LIBRARY_GROUP library)
set(CPACK_COMPONENT_BUILDER_GROUP library)
set(CPACK_COMPONENT_RUNTIME_GROUP runtime)
set(CPACK_COMPONENT_LAPACK_GROUP runtime)
set(CPACK_COMPONENT_MPI_GROUP runtime)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME hlo-compile)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "libhlo-rt-dev (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "ahead-of-time compiler from HLO to native objects
hlo-compile compiles a module of HLO, the graph language of XLA and JAX, to an
object and a C header; hlo-run runs a module, hlo-opt runs single passes.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libhlo-rt-dev)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "hlo-compile (= ${PROJECT_VERSION}), liblapack-dev, libblas-dev, libopenmpi-dev")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "runtime of compiled HLO modules
What programs link to call objects of hlo-compile: libhlo_rt as an archive and
as a shared library, its headers, the functions for LAPACK and MPI.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libhlo-compiler-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
# Abseil's releases are not compatible with each other.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS
  "libhlo-rt-dev (= ${PROJECT_VERSION}), libabsl-dev (>= 20220623), libabsl-dev (<< 20220624)")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "compiler of HLO modules as a library
libhlo_compiler compiles HLO in process, to objects or to functions in memory,
with a C interface; libhlo_builder makes HLO from C++.")
foreach(package Compiler|hlo-compile Runtime|libhlo-rt-dev Library|libhlo-compiler-dev)
  string(REPLACE "|" ";" package "${package}")
  list(POP_FRONT package component name)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/${name}" RENAME copyright
    COMPONENT ${component})
endforeach()
include(CPack)
