# SPDX-License-Identifier: MIT
# find_package(poet), then target_link_libraries(app PRIVATE poet::poet): the headers, libpoet.so, and C++20.
include(${CMAKE_CURRENT_LIST_DIR}/poet-targets.cmake)
