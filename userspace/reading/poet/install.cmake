# SPDX-License-Identifier: MIT
# What a program needs to be built with POET: headers, library, pkg-config and CMake packages. Component `poet`, so that
# `cmake --install BUILD --component poet` needs nothing else to be built. All of it may be moved to another prefix.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

target_include_directories(poet INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS poet EXPORT poet-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT poet
        NAMELINK_COMPONENT poet)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/poet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT poet
        FILES_MATCHING PATTERN *.hpp)

file(RELATIVE_PATH POET_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_SOURCE_DIR}/share/poet.pc.in ${CMAKE_BINARY_DIR}/generated/poet.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/poet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT poet)

set(poet_package ${CMAKE_INSTALL_LIBDIR}/cmake/poet)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/poet-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(EXPORT poet-targets NAMESPACE poet:: DESTINATION ${poet_package} COMPONENT poet)
install(FILES ${CMAKE_SOURCE_DIR}/share/cmake/poet-config.cmake
              ${CMAKE_BINARY_DIR}/generated/poet-config-version.cmake DESTINATION ${poet_package} COMPONENT poet)
