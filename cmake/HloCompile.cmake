# hlo_add_library(<target> [STATIC|SHARED|OBJECT] HLO <file>...
#                 [NAME <id>...] [TARGET <triple>] [CPU <name> | DISPATCH <level>...] [FEATURES <+a|-b>...] [HEADER <file.h>]
#                 [CXX_HEADER] [NAMESPACE <a::b>] [MAX_ARENA <bytes>] [RUNTIME Hlo::rt|Hlo::rt_shared|NONE] [CUSTOM_CALLS <library>...]
#                 [IMMUTABLE_PARAMS <parameter>... | ALL_BUT <parameter>... | ALL] [OPTIONS <flag>...])
#
# A library of compiled HLO modules. Each FILE.hlo becomes an object and FILE.h; whoever links <target> can include
# the headers and gets the runtime. The headers are the target's FILE_SET HEADERS, so install(TARGETS <target> FILE_SET
# HEADERS) installs them. Objects are made again when the module, the compiler or an @file of OPTIONS changes.
#
#   OBJECT    no archive: the objects go into every program and shared library that links the target. Their names are
#             $<TARGET_PROPERTY:target,HLO_OBJECTS>, for rules of your own. The target cannot be exported
#   NAME      prefixes of the exported symbols, one for each file (default: the files' names without .hlo). Two files of
#             one library cannot have the same; two libraries that do, linked into one program, are a link error
#   TARGET    the triple; by default that of the toolchain file, or this machine's. Objects for another architecture than
#             the toolchain's can be archived and installed: give RUNTIME NONE, since this package's libraries are for the
#             toolchain
#   CPU       the target CPU: host, or a name such as x86-64-v4 (default: x86-64-v3, on aarch64 generic)
#   DISPATCH  CPU levels, from the least to the most (x86-64-v2 x86-64-v3 x86-64-v4; armv8-a armv8.2-a+dotprod+fp16):
#             the library has code for each, and a call runs the highest that its CPU supports
#   FEATURES  CPU features on top of those
#   HEADER    name of the header (default: FILE.h); for one file only
#   CXX_HEADER  also a header for C++17, with the name of the header and suffix .hpp; in namespace NAMESPACE
#   MAX_ARENA an error if a call needs more scratch memory; 65536, 64K, 16M
#   RUNTIME   what users of the target link: the archive Hlo::rt (default), the shared library Hlo::rt_shared, or NONE, for
#             a program that has a runtime already; the headers of the runtime are found in any case
#   CUSTOM_CALLS  libraries with functions that the modules call, e.g. Hlo::lapack; all of a static one is linked, since
#             the modules' references are weak
#   IMMUTABLE_PARAMS  numbers or names of parameters whose bytes never change (after ALL_BUT: of all others); the object
#             then has a function NAME_prepare. For one file only
#   OPTIONS   further flags of hlo-compile, as they are
#
# The function may be called any number of times, also with one file under several names. It needs the variable
# HloCompile_COMPILER, or a target hlo-compile, and the targets Hlo::rt and Hlo::headers; find_package(HloCompile) provides
# them. HloCompile_HOST_COMPILER takes precedence: a hlo-compile that runs here, where the package's is the target's.
# Needs CMake 3.23.

include_guard()

# Rules of DEPFILE are relative to the folder of the command; the project that includes this file may be older.
cmake_policy(SET CMP0116 NEW)

function(hlo_add_library target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "STATIC;SHARED;OBJECT;CXX_HEADER" "TARGET;CPU;HEADER;NAMESPACE;MAX_ARENA;RUNTIME"
    "HLO;NAME;DISPATCH;FEATURES;CUSTOM_CALLS;IMMUTABLE_PARAMS;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "hlo_add_library(${target}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_HLO)
    message(FATAL_ERROR "hlo_add_library(${target}): HLO needs at least one file")
  endif()
  set(type STATIC)
  set(types 0)
  foreach(candidate STATIC SHARED OBJECT)
    if(ARG_${candidate})
      set(type ${candidate})
      math(EXPR types "${types} + 1")
    endif()
  endforeach()
  if(types GREATER 1)
    message(FATAL_ERROR "hlo_add_library(${target}): STATIC, SHARED and OBJECT exclude each other")
  endif()
  foreach(keyword TARGET CPU HEADER NAMESPACE MAX_ARENA RUNTIME)
    if(keyword IN_LIST ARG_KEYWORDS_MISSING_VALUES)
      message(FATAL_ERROR "hlo_add_library(${target}): ${keyword} needs a value")
    endif()
  endforeach()
  if(NOT ARG_RUNTIME)
    set(ARG_RUNTIME Hlo::rt)
  elseif(ARG_RUNTIME STREQUAL "NONE")
    set(ARG_RUNTIME Hlo::headers)
  endif()
  if(NOT TARGET ${ARG_RUNTIME})
    message(FATAL_ERROR "hlo_add_library(${target}): RUNTIME: there is no target ${ARG_RUNTIME}; "
                        "there are Hlo::rt, Hlo::rt_shared where it was built, and NONE")
  endif()
  list(LENGTH ARG_HLO count)
  if(count GREATER 1 AND ARG_HEADER)
    message(FATAL_ERROR "hlo_add_library(${target}): HEADER is for one file, HLO has ${count}")
  endif()
  list(LENGTH ARG_NAME names)
  if(names AND NOT names EQUAL count)
    message(FATAL_ERROR "hlo_add_library(${target}): NAME has ${names} names, HLO has ${count} files")
  endif()

  if(count GREATER 1 AND ARG_IMMUTABLE_PARAMS)
    message(FATAL_ERROR "hlo_add_library(${target}): IMMUTABLE_PARAMS is for one file, HLO has ${count}")
  endif()

  set(flags ${ARG_OPTIONS})
  if(ARG_IMMUTABLE_PARAMS)
    string(REPLACE ";" "," parameters "${ARG_IMMUTABLE_PARAMS}")
    string(REGEX REPLACE "^ALL_BUT," "all-but:" parameters "${parameters}")
    string(REGEX REPLACE "^ALL$" "all" parameters "${parameters}")
    list(APPEND flags "--immutable-params=${parameters}")
  endif()
  if(NOT ARG_TARGET)
    set(ARG_TARGET "${HloCompile_TARGET}")
  endif()
  if(ARG_TARGET)
    list(APPEND flags "--target=${ARG_TARGET}")
  endif()
  if(ARG_CPU)
    list(APPEND flags "--cpu=${ARG_CPU}")
  endif()
  if(ARG_DISPATCH)
    if(ARG_CPU)
      message(FATAL_ERROR "hlo_add_library(${target}): CPU and DISPATCH exclude each other")
    endif()
    string(REPLACE ";" "," levels "${ARG_DISPATCH}")
    list(APPEND flags "--dispatch=${levels}")
  endif()
  if(ARG_NAMESPACE AND NOT ARG_CXX_HEADER)
    message(FATAL_ERROR "hlo_add_library(${target}): NAMESPACE is for CXX_HEADER")
  elseif(ARG_NAMESPACE)
    list(APPEND flags "--namespace=${ARG_NAMESPACE}")
  endif()
  if(ARG_MAX_ARENA)
    list(APPEND flags "--max-arena=${ARG_MAX_ARENA}")
  endif()
  if(ARG_FEATURES)
    string(REPLACE ";" "," features "${ARG_FEATURES}")
    list(APPEND flags "--features=${features}")
  endif()
  if(HloCompile_HOST_COMPILER)
    set(compiler "${HloCompile_HOST_COMPILER}")
    set(compiler_dependency "${HloCompile_HOST_COMPILER}")
  elseif(TARGET hlo-compile)
    set(compiler "$<TARGET_FILE:hlo-compile>")
    set(compiler_dependency hlo-compile)
  else()
    set(compiler "${HloCompile_COMPILER}")
    set(compiler_dependency "${HloCompile_COMPILER}")
  endif()

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.hlo")
  file(MAKE_DIRECTORY "${folder}")
  set(objects "")
  set(headers "")
  set(prefixes "")
  set(number 0)
  foreach(file IN LISTS ARG_HLO)
    get_filename_component(source "${file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    get_filename_component(stem "${file}" NAME_WLE)
    set(name "${stem}")
    if(ARG_NAME)
      list(GET ARG_NAME ${number} name)
    endif()
    math(EXPR number "${number} + 1")
    string(MAKE_C_IDENTIFIER "${name}" prefix)
    list(FIND prefixes "${prefix}" earlier)
    if(NOT earlier EQUAL -1)
      list(GET ARG_HLO ${earlier} other)
      message(FATAL_ERROR "hlo_add_library(${target}): ${other} and ${file} would both have the prefix ${prefix}; "
                          "give them names: NAME <id> <id>")
    endif()
    list(APPEND prefixes "${prefix}")
    set(object "${folder}/${stem}.o")
    set(header "${folder}/${stem}.h")
    if(ARG_HEADER)
      set(header "${folder}/${ARG_HEADER}")
    endif()
    if("${object}" IN_LIST objects)
      # Two files of one name in different folders, with prefixes of their own.
      set(object "${folder}/${prefix}.o")
      set(header "${folder}/${prefix}.h")
    endif()
    set(cxx_header "")
    set(cxx_flag "")
    if(ARG_CXX_HEADER)
      string(REGEX REPLACE "[.]h$" "" cxx_header "${header}")
      string(APPEND cxx_header ".hpp")
      set(cxx_flag "--cxx-header=${cxx_header}")
    endif()
    add_custom_command(
      OUTPUT "${object}" "${header}" ${cxx_header}
      COMMAND "${compiler}" "${source}" -o "${object}" "--header=${header}" ${cxx_flag} "--name=${name}" -MD -MF "${object}.d" ${flags}
      DEPENDS "${source}" "${compiler_dependency}"
      DEPFILE "${object}.d"
      COMMENT "Compiling ${stem}.hlo"
      VERBATIM)
    list(APPEND objects "${object}")
    list(APPEND headers "${header}" ${cxx_header})
  endforeach()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)

  # scope: of what users of the target link. A shared library contains its handlers; otherwise they go into the program.
  set(scope PUBLIC)
  set(handlers PUBLIC)
  if(type STREQUAL "OBJECT")
    # CMake leaves objects that it has not compiled out of an OBJECT library's TARGET_OBJECTS, without a word.
    set(scope INTERFACE)
    set(handlers INTERFACE)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${objects})
    set_target_properties(${target} PROPERTIES HLO_OBJECTS "${objects}")
    # Users in other folders have no rule for the objects.
    add_custom_target(${target}.objects DEPENDS ${objects} ${headers})
    add_dependencies(${target} ${target}.objects)
  else()
    add_library(${target} ${type} ${objects})
    # The objects need a linker only; a project without C has that of another language.
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    set(language C)
    if(NOT "C" IN_LIST languages)
      set(language CXX)
    endif()
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE ${language})
    if(type STREQUAL "SHARED")
      set(handlers PRIVATE)
    endif()
  endif()
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS "${folder}" FILES ${headers})

  foreach(library IN LISTS ARG_CUSTOM_CALLS)
    if(NOT TARGET ${library})
      message(FATAL_ERROR "hlo_add_library(${target}): CUSTOM_CALLS: there is no target ${library}")
    endif()
    get_target_property(kind ${library} TYPE)
    if(kind STREQUAL "OBJECT_LIBRARY")
      message(FATAL_ERROR "hlo_add_library(${target}): CUSTOM_CALLS: ${library} is an OBJECT library, which a program "
                          "gets only if it links it itself; make it STATIC")
    elseif(kind STREQUAL "STATIC_LIBRARY")
      get_target_property(original ${library} ALIASED_TARGET)
      if(NOT original)
        set(original ${library})
      endif()
      # TARGET_NAME: the name has a namespace once the target is exported.
      target_link_options(${target} ${handlers}
        "LINKER:--whole-archive,$<TARGET_FILE:$<TARGET_NAME:${original}>>,--no-whole-archive")
    endif()
    target_link_libraries(${target} ${handlers} ${library}) # for its own libraries, and to build it first
  endforeach()
  target_link_libraries(${target} ${scope} ${ARG_RUNTIME})
endfunction()
