# SPDX-License-Identifier: MIT
# A discrete-event simulation of CPUs, their scheduler and threads; the replay of models on it; and the distributions of
# models that are series-parallel graphs.
add_library(monitor_simulation STATIC
  ${CMAKE_CURRENT_LIST_DIR}/durations.cpp
  ${CMAKE_CURRENT_LIST_DIR}/grid_distribution.cpp
  ${CMAKE_CURRENT_LIST_DIR}/iterations.cpp
  ${CMAKE_CURRENT_LIST_DIR}/loads.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine.cpp
  ${CMAKE_CURRENT_LIST_DIR}/operations.cpp
  ${CMAKE_CURRENT_LIST_DIR}/program.cpp
  ${CMAKE_CURRENT_LIST_DIR}/replay.cpp
  ${CMAKE_CURRENT_LIST_DIR}/replayer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/series_parallel.cpp)
target_link_libraries(monitor_simulation PUBLIC monitor_model PRIVATE compiled_fmt)
