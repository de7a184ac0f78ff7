# Flags for every target. The LLVM packages are built without exceptions, and so is Mantissa.
separate_arguments(MP_LLVM_DEFINITIONS NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${MP_LLVM_DEFINITIONS})
# Programs as well as libraries are -fPIC, so that they share precompiled headers.
add_compile_options(-fPIC)
if(PROJECT_IS_TOP_LEVEL)
  add_compile_options(-Wall -Wextra -Wno-unused-parameter)
endif()
add_compile_options(-fno-exceptions $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden> -ffunction-sections)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options(-Wno-nullability-completeness)
endif()
# Results are exact: the host compiler must not contract either.
add_compile_options(-ffp-contract=off)

find_program(MP_LLD NAMES ld.lld-22 ld.lld)
if(MP_LLD)
  add_link_options(-fuse-ld=lld)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # g++ looks for `ld.lld` in its own folders only.
    add_link_options(-B${MP_LLVM_ROOT}/bin)
  endif()
endif()
find_program(MP_CCACHE ccache)
if(MP_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/ccache-launcher.sh ${PROJECT_SOURCE_DIR} ${MP_CCACHE})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # ccache handles precompiled headers only if their time stamps do not count. The text of the header, which CMake
    # also includes, has absolute paths.
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
    set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Winvalid-pch -Xclang -include-pch -Xclang <PCH_FILE>)
  endif()
endif()

set(MP_SANITIZE "" CACHE STRING "sanitizers, as -fsanitize= takes them")
if(MP_SANITIZE)
  add_compile_options(-fsanitize=${MP_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MP_SANITIZE})
endif()
