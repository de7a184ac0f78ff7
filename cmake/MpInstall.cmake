# What `cmake --install` brings, and the packages that `cpack` makes of it:
#   bin/                 the tools
#   lib/                 libMantissaRuntime.so, libMantissa.so, mantissa/MantissaPlugin.so for a stock mlir-opt,
#                        mantissa/libmantissa-mpi.so to train on several processes
#   lib/cmake/Mantissa   what find_package(Mantissa) reads
#   lib/pkgconfig        what pkg-config reads, for C programs
#   include/mantissa/    headers and .td files in their folders, and what the build has generated
#   share/               the example, the licence
include(CMakePackageConfigHelpers)
set(MP_INSTALL_CMAKE ${CMAKE_INSTALL_LIBDIR}/cmake/Mantissa)
set(MP_INSTALL_DOC ${CMAKE_INSTALL_DATAROOTDIR}/doc/mantissa)

# One export for each component of find_package.
install(TARGETS MantissaRuntime EXPORT MantissaRuntime)
install(TARGETS Mantissa EXPORT MantissaCompiler)
install(TARGETS MantissaDialect EXPORT MantissaDialect)
install(TARGETS ${MP_TOOLS} EXPORT MantissaTools)
install(TARGETS MantissaPlugin DESTINATION ${CMAKE_INSTALL_LIBDIR}/mantissa)
if(TARGET mantissa-mpi)
  # A component of its own, so that only its package depends on MPI.
  install(TARGETS mantissa-mpi DESTINATION ${CMAKE_INSTALL_LIBDIR}/mantissa COMPONENT mpi)
endif()
foreach(export Runtime Compiler Dialect Tools)
  install(EXPORT Mantissa${export} NAMESPACE Mantissa:: DESTINATION ${MP_INSTALL_CMAKE} FILE Mantissa${export}.cmake)
endforeach()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/MantissaConfig.cmake.in MantissaConfig.cmake
  INSTALL_DESTINATION ${MP_INSTALL_CMAKE}
  PATH_VARS MP_INSTALL_INCLUDE CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(MantissaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/MantissaConfig.cmake ${PROJECT_BINARY_DIR}/MantissaConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/MantissaPlugin.cmake DESTINATION ${MP_INSTALL_CMAKE})

# For C programs that are built without CMake.
file(RELATIVE_PATH MP_INSTALL_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" MP_INSTALL_UP "${MP_INSTALL_UP}")
foreach(name mantissa mantissa-runtime)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# Headers, below the folder that their #include lines start from.
foreach(folder support program dialect passes codegen runtime precision dsl)
  foreach(root ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
    if(EXISTS ${root}/${folder})
      install(DIRECTORY ${root}/${folder} DESTINATION ${MP_INSTALL_INCLUDE} FILES_MATCHING
        PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc" PATTERN "*.documented.h.inc" EXCLUDE PATTERN "*.cpp.inc" EXCLUDE PATTERN "Pch.h" EXCLUDE
        PATTERN "Kernels.inc" EXCLUDE PATTERN "Policies.inc" EXCLUDE PATTERN "LoweringHash.inc" EXCLUDE PATTERN "*.dir" EXCLUDE)
    endif()
  endforeach()
endforeach()
file(GLOB public CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/api/*.h)
install(FILES ${public} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/fashion-mnist
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/mantissa/examples)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${MP_INSTALL_DOC})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${MP_INSTALL_DOC} RENAME copyright) # Debian's name for it

if(NOT PROJECT_IS_TOP_LEVEL)
  return() # the packages are those of the project that includes this one
endif()
set(CPACK_GENERATOR DEB TXZ)
set(CPACK_PACKAGE_NAME mantissa)
set(CPACK_PACKAGE_VENDOR "The Mantissa authors")
set(CPACK_PACKAGE_CONTACT "The Mantissa authors <mantissa@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
# The portable program is packed beside it, under a name with "linux".
set(CPACK_PACKAGE_FILE_NAME mantissa-${PROJECT_VERSION}-llvm${LLVM_VERSION_MAJOR}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# The libraries of LLVM and MLIR, as dpkg-shlibdeps reads them from the files. Headers of llvm-22-dev are needed to
# build against the installed ones, and those of libmlir-22-dev for passes and ops.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "llvm-22-dev, libmlir-22-dev, mlir-22-tools, libdnnl2, dataset-fashion-mnist")
# Debian's package mantissa-mpi has the plugin for MPI, and mantissa all else; the archive has both.
if(TARGET mantissa-mpi)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME mantissa)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME mantissa-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "mantissa (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_MPI_PACKAGE_SUGGESTS openmpi-bin)
endif()
include(CPack)
