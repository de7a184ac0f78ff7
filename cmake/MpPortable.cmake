# What is linked from archives, and so needs nothing but the C library on the machine that it runs on: the portable
# program, which is all tools in one file, and the Python module (api/python). CUDA's libraries and oneDNN are opened at
# run time, as everywhere.
option(MP_PORTABLE "build the portable package and nothing else" OFF)
option(MP_PYTHON "build the Python module too; pyproject.toml sets it" OFF)
# libpng calls zlib, so it stands before it.
set(MP_ARCHIVES "")
foreach(archive libpng.a libturbojpeg.a libutf8proc.a libpcre2-8.a libz.a)
  find_library(MP_ARCHIVE_${archive} ${archive})
  list(APPEND MP_ARCHIVES ${MP_ARCHIVE_${archive}})
endforeach()
set(MP_HAS_ARCHIVES ON)
if(MP_ARCHIVES MATCHES NOTFOUND)
  set(MP_HAS_ARCHIVES OFF)
endif()

# The linker takes only the members of LLVM's and MLIR's archives that are
# referred to, so all archives are offered; their CMake targets would bring shared
# libraries along.
file(GLOB MP_LLVM_ARCHIVES ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
if((MP_PORTABLE OR MP_PYTHON) AND NOT (MP_HAS_ARCHIVES AND MP_LLVM_ARCHIVES))
  message(FATAL_ERROR "missing dependencies:\n  static zlib, libpng, libjpeg-turbo, utf8proc, PCRE2, LLVM and MLIR: "
    "apt-get install zlib1g-dev libpng-dev libturbojpeg0-dev libutf8proc-dev libpcre2-dev llvm-22-dev libmlir-22-dev")
endif()

# mp_link_archives(<target> <object library>...): links their objects and those of
# every folder that compiles and runs, and the archives.
function(mp_link_archives name)
  foreach(objects ${ARGN} MpSupport MpProgram MpDialect MpPasses MpCodegen MpRuntime)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
  target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/support/archives/NoZstd.cpp)
  target_link_libraries(${name} PRIVATE ${MP_LLVM_ARCHIVES} ${MP_ARCHIVES} Threads::Threads ${CMAKE_DL_LIBS} m)
  # Each function of the archives is a section of its own, so functions that nothing reaches are left out.
  target_link_options(${name} PRIVATE -static-libstdc++ -Wl,--gc-sections,--icf=all,--strip-all,--as-needed)
endfunction()

# mp_add_portable(<name> <object library>... SOURCES <source>...): the program, and
# the target package-portable. It is linked from the objects of the other targets.
function(mp_add_portable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" SOURCES)
  if(NOT MP_HAS_ARCHIVES OR NOT MP_LLVM_ARCHIVES OR MP_SANITIZE) # the archives are not instrumented
    return()
  endif()
  set(optional "")
  set(all ALL)
  if(NOT MP_PORTABLE)
    set(optional EXCLUDE_FROM_ALL)
    set(all "")
  endif()
  add_executable(${name} ${optional} ${arg_SOURCES})
  mp_link_archives(${name} ${arg_UNPARSED_ARGUMENTS} MpPrecision MpDsl)
  target_link_options(${name} PRIVATE -static-libgcc -no-pie)

  add_custom_target(package-portable ${all}
    COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D PROGRAM=$<TARGET_FILE:${name}>
      -D VERSION=${PROJECT_VERSION} -D OUT=${PROJECT_BINARY_DIR}/package -P ${PROJECT_SOURCE_DIR}/cmake/PackagePortable.cmake
    DEPENDS ${name} VERBATIM COMMENT "Packing the portable program")
endfunction()
