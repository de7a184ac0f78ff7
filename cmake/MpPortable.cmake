# The portable program: all tools in one file that needs nothing but the C library.
# CUDA's libraries and oneDNN are opened at run time, as everywhere.
option(MP_PORTABLE "build the portable package and nothing else" OFF)
find_library(MP_ZLIB_ARCHIVE libz.a)

# The linker takes only the members of LLVM's and MLIR's archives that are
# referred to, so all archives are offered; their CMake targets would bring shared
# libraries along.
file(GLOB MP_LLVM_ARCHIVES ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)

# mp_add_portable(<name> <object library>... SOURCES <source>...): the program, and
# the target package-portable. It is linked from the objects of the other targets.
function(mp_add_portable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" SOURCES)
  if(MP_PORTABLE AND NOT (MP_ZLIB_ARCHIVE AND MP_LLVM_ARCHIVES))
    message(FATAL_ERROR "missing dependencies:\n  static zlib, LLVM and MLIR: apt-get install zlib1g-dev llvm-22-dev libmlir-22-dev")
  elseif(NOT MP_ZLIB_ARCHIVE OR NOT MP_LLVM_ARCHIVES OR MP_SANITIZE) # the archives are not instrumented
    return()
  endif()
  set(optional "")
  set(all ALL)
  if(NOT MP_PORTABLE)
    set(optional EXCLUDE_FROM_ALL)
    set(all "")
  endif()
  add_executable(${name} ${optional} ${arg_SOURCES})
  foreach(objects ${arg_UNPARSED_ARGUMENTS} MpSupport MpProgram MpDialect MpPasses MpCodegen MpRuntime MpPrecision)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
  target_link_libraries(${name} PRIVATE ${MP_LLVM_ARCHIVES} ${MP_ZLIB_ARCHIVE} Threads::Threads ${CMAKE_DL_LIBS} m)
  # Each function of the archives is a section of its own, so functions that no tool reaches are left out.
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc -no-pie
    -Wl,--gc-sections,--icf=all,--strip-all,--as-needed)

  add_custom_target(package-portable ${all}
    COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D PROGRAM=$<TARGET_FILE:${name}>
      -D VERSION=${PROJECT_VERSION} -D OUT=${PROJECT_BINARY_DIR}/package -P ${PROJECT_SOURCE_DIR}/cmake/PackagePortable.cmake
    DEPENDS ${name} VERBATIM COMMENT "Packing the portable program")
endfunction()
