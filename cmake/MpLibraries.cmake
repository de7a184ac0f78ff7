# The public targets, under the same names in a build and in an installed tree:
#   Mantissa::runtime   libMantissaRuntime.so  runs Programs; neither it nor its headers need MLIR
#   Mantissa::compiler  libMantissa.so         makes Programs; its headers (codegen/Compile.h) need no MLIR
#   Mantissa::dialect                          the compiler with MLIR's headers, for passes and ops
#   Mantissa::c, Mantissa::c-runtime           the first two for C; an installed tree gives them no part of C++
include(GNUInstallDirs)
set(MP_INSTALL_INCLUDE ${CMAKE_INSTALL_INCLUDEDIR}/mantissa)

# Before 1.0 a minor version may break the ABI.
set(MP_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# mp_install_rpath(<target> <its folder>): in an installed tree, the libraries are found from the target's own place.
# Debian keeps libMLIR.so outside of the loader's folders, in that of LLVM.
function(mp_install_rpath target folder)
  file(RELATIVE_PATH up /prefix/${folder} /prefix/${CMAKE_INSTALL_LIBDIR})
  string(REGEX REPLACE "/$" "" up "$ORIGIN/${up}")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${up};${LLVM_LIBRARY_DIR}")
endfunction()

function(mp_add_library name public)
  list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  add_library(${name} SHARED ${ARGN})
  add_library(Mantissa::${public} ALIAS ${name})
  set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${MP_SOVERSION} EXPORT_NAME ${public})
  mp_install_rpath(${name} ${CMAKE_INSTALL_LIBDIR})
  if(NOT MP_SANITIZE)
    # No library may use what another one brings only by chance.
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

# mp_add_libraries(RUNTIME <object library>... COMPILER <object library>...)
function(mp_add_libraries)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "RUNTIME;COMPILER")
  mp_add_library(MantissaRuntime runtime ${arg_RUNTIME})
  target_link_libraries(MantissaRuntime PUBLIC LLVM Threads::Threads PRIVATE ZLIB::ZLIB PNG::PNG ${MP_TURBOJPEG_LIBRARY}
    ${MP_UTF8PROC_LIBRARY} ${MP_PCRE2_LIBRARY} ${CMAKE_DL_LIBS})
  target_compile_features(MantissaRuntime INTERFACE cxx_std_20)
  separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  list(TRANSFORM definitions REPLACE "^-D" "")
  target_compile_definitions(MantissaRuntime INTERFACE "$<BUILD_INTERFACE:${definitions}>")
  target_include_directories(MantissaRuntime INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR};${PROJECT_SOURCE_DIR}/api;${PROJECT_BINARY_DIR}>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR};${MP_INSTALL_INCLUDE}>")
  # The config file of the installed tree adds LLVM's folders of the machine that it is on.
  target_include_directories(MantissaRuntime SYSTEM INTERFACE "$<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}>")

  mp_add_library(Mantissa compiler ${arg_COMPILER})
  target_link_libraries(Mantissa PUBLIC MantissaRuntime PRIVATE MLIR)
  add_dependencies(Mantissa MpDialectIncGen MpPassesIncGen)

  add_library(MantissaC INTERFACE)
  target_link_libraries(MantissaC INTERFACE Mantissa)
  add_library(Mantissa::c ALIAS MantissaC)
  add_library(MantissaCRuntime INTERFACE)
  target_link_libraries(MantissaCRuntime INTERFACE MantissaRuntime)
  add_library(Mantissa::c-runtime ALIAS MantissaCRuntime)

  add_library(MantissaDialect INTERFACE)
  add_library(Mantissa::dialect ALIAS MantissaDialect)
  set_target_properties(MantissaDialect PROPERTIES EXPORT_NAME dialect)
  target_link_libraries(MantissaDialect INTERFACE Mantissa MLIR)
  target_include_directories(MantissaDialect SYSTEM INTERFACE "$<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS}>")
endfunction()
