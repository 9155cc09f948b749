# SPDX-License-Identifier: MIT
# A discrete-event simulation: CPUs, their scheduler, threads.
add_library(monitor_simulation STATIC ${CMAKE_CURRENT_LIST_DIR}/machine.cpp)
target_link_libraries(monitor_simulation PUBLIC monitor_base)
