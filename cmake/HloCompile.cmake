# hlo_add_library(<target> [STATIC|SHARED] HLO <file>...
#                 [NAME <id>...] [TARGET <triple>] [CPU <name> | DISPATCH <level>...] [FEATURES <+a|-b>...] [HEADER <file.h>] [CUSTOM_CALLS <library>...]
#                 [IMMUTABLE_PARAMS <parameter>... | ALL_BUT <parameter>... | ALL] [OPTIONS <flag>...])
#
# A library of compiled HLO modules. Each FILE.hlo becomes an object and FILE.h; whoever links <target> can include
# the headers and gets the runtime.
#
#   NAME      prefixes of the exported symbols, one for each file (default: the files' names without .hlo). Two files of
#             one library cannot have the same; two libraries that do, linked into one program, are a link error
#   TARGET    the triple; by default that of the toolchain file, or this machine's
#   CPU       the target CPU: host, or a name such as x86-64-v4 (default: x86-64-v3, on aarch64 generic)
#   DISPATCH  CPU levels, from the least to the most (x86-64-v2 x86-64-v3 x86-64-v4; armv8-a armv8.2-a+dotprod+fp16):
#             the library has code for each, and a call runs the highest that its CPU supports
#   FEATURES  CPU features on top of those
#   HEADER    name of the header (default: FILE.h); for one file only
#   CUSTOM_CALLS  libraries with functions that the modules call, e.g. Hlo::lapack; all of a static one is linked, since
#             the modules' references are weak
#   IMMUTABLE_PARAMS  numbers or names of parameters whose bytes never change (after ALL_BUT: of all others); the object
#             then has a function NAME_prepare. For one file only
#   OPTIONS   further flags of hlo-compile, as they are
#
# The function may be called any number of times, also with one file under several names. It needs the variable
# HloCompile_COMPILER, or a target hlo-compile, and the target Hlo::rt; find_package(HloCompile) provides them.
# HloCompile_HOST_COMPILER takes precedence: a hlo-compile that runs here, where the package's is the target's.

include_guard()

function(hlo_add_library target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "STATIC;SHARED" "TARGET;CPU;HEADER" "HLO;NAME;DISPATCH;FEATURES;CUSTOM_CALLS;IMMUTABLE_PARAMS;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "hlo_add_library(${target}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_HLO)
    message(FATAL_ERROR "hlo_add_library(${target}): HLO needs at least one file")
  endif()
  if(ARG_STATIC AND ARG_SHARED)
    message(FATAL_ERROR "hlo_add_library(${target}): STATIC and SHARED exclude each other")
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
    add_custom_command(
      OUTPUT "${object}" "${header}"
      COMMAND "${compiler}" "${source}" -o "${object}" "--header=${header}" "--name=${name}" ${flags}
      DEPENDS "${source}" "${compiler_dependency}"
      COMMENT "Compiling ${stem}.hlo"
      VERBATIM)
    list(APPEND objects "${object}")
    list(APPEND headers "${header}")
  endforeach()
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)

  set(type STATIC)
  if(ARG_SHARED)
    set(type SHARED)
  endif()
  add_library(${target} ${type} ${objects} ${headers})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${folder}>")
  foreach(library IN LISTS ARG_CUSTOM_CALLS)
    if(NOT TARGET ${library})
      message(FATAL_ERROR "hlo_add_library(${target}): CUSTOM_CALLS: there is no target ${library}")
    endif()
    get_target_property(kind ${library} TYPE)
    if(kind STREQUAL "STATIC_LIBRARY")
      target_link_libraries(${target} PUBLIC
        "-Wl,--whole-archive,$<TARGET_FILE:${library}>,--no-whole-archive")
    endif()
    target_link_libraries(${target} PUBLIC ${library}) # for its own libraries, and to build it first
  endforeach()
  target_link_libraries(${target} PUBLIC Hlo::rt)
endfunction()
