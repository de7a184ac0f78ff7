# Finds the dependencies of the build. A missing or wrong one is reported
# together with the Debian package that brings it, all at once, so that one
# apt-get is enough.
set(MP_MISSING "")

macro(mp_missing what package)
  string(APPEND MP_MISSING "\n  ${what}: apt-get install ${package}")
endmacro()

# mp_require_package(<package> <version> <debian packages>): after find_package.
# Names the versions that were there but did not fit.
macro(mp_require_package package version debian)
  if(NOT ${package}_FOUND)
    set(seen "")
    if(${package}_CONSIDERED_VERSIONS)
      string(REPLACE ";" ", " seen " (found only ${${package}_CONSIDERED_VERSIONS})")
    endif()
    mp_missing("${package} ${version}${seen}" "${debian}")
  endif()
endmacro()

set(MP_LLVM_ROOT /usr/lib/llvm-22 CACHE PATH "where LLVM and MLIR 22.1 are installed")
list(APPEND CMAKE_PREFIX_PATH ${MP_LLVM_ROOT})

# MLIR's own config stops the configuration if LLVM's or its own tools are
# missing, so those are checked first.
# GLOBAL: the libraries refer to these targets, and a project that includes this one links the libraries.
find_package(LLVM 22.1 QUIET CONFIG GLOBAL)
if(LLVM_FOUND AND EXISTS ${LLVM_TOOLS_BINARY_DIR}/mlir-tblgen)
  find_package(MLIR 22.1 QUIET CONFIG GLOBAL)
endif()
mp_require_package(LLVM "22.1" "llvm-22-dev llvm-22-tools")
mp_require_package(MLIR "22.1" "libmlir-22-dev mlir-22-tools")

find_package(ZLIB QUIET GLOBAL)
if(NOT ZLIB_FOUND)
  mp_missing("zlib" "zlib1g-dev")
endif()
find_package(PNG QUIET GLOBAL)
if(NOT PNG_FOUND)
  mp_missing("libpng" "libpng-dev")
endif()
# The config file of libjpeg-turbo names files of packages that are not needed.
find_path(MP_TURBOJPEG_INCLUDE turbojpeg.h)
find_library(MP_TURBOJPEG_LIBRARY turbojpeg)
if(NOT MP_TURBOJPEG_INCLUDE OR NOT MP_TURBOJPEG_LIBRARY)
  mp_missing("libjpeg-turbo" "libturbojpeg0-dev")
endif()
find_path(MP_UTF8PROC_INCLUDE utf8proc.h)
find_library(MP_UTF8PROC_LIBRARY utf8proc)
if(NOT MP_UTF8PROC_INCLUDE OR NOT MP_UTF8PROC_LIBRARY)
  mp_missing("utf8proc" "libutf8proc-dev")
endif()
find_path(MP_PCRE2_INCLUDE pcre2.h)
find_library(MP_PCRE2_LIBRARY pcre2-8)
if(NOT MP_PCRE2_INCLUDE OR NOT MP_PCRE2_LIBRARY)
  mp_missing("PCRE2" "libpcre2-dev")
endif()
find_package(Threads REQUIRED GLOBAL)

# Training needs no tests: if their packages are missing, they are left out.
set(MP_TESTS_MISSING "")
find_package(GTest QUIET)
if(NOT GTest_FOUND)
  string(APPEND MP_TESTS_MISSING " libgtest-dev")
endif()
find_program(MP_LIT NAMES lit HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
find_program(MP_FILECHECK NAMES FileCheck HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
if(NOT MP_LIT OR NOT MP_FILECHECK)
  string(APPEND MP_TESTS_MISSING " llvm-22-tools")
endif()

if(MP_MISSING)
  message(FATAL_ERROR "missing dependencies:${MP_MISSING}\nscripts/install-deps.sh installs all of them")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
