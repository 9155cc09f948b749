# SPDX-License-Identifier: MIT
# What events cost, measured before, during and after a recording.
add_library(monitor_calibration STATIC
  ${CMAKE_CURRENT_LIST_DIR}/calibration.cpp
  ${CMAKE_CURRENT_LIST_DIR}/calibration_phases.cpp
  ${CMAKE_CURRENT_LIST_DIR}/factor_fit.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kept_calibration.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kept_factors.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine_key.cpp
  ${CMAKE_CURRENT_LIST_DIR}/own_file.cpp
  ${CMAKE_CURRENT_LIST_DIR}/phase_estimate.cpp
  ${CMAKE_CURRENT_LIST_DIR}/phase_events.cpp
  ${CMAKE_CURRENT_LIST_DIR}/preflight.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tree_progress.cpp
  ${CMAKE_CURRENT_LIST_DIR}/witness.cpp
  ${CMAKE_CURRENT_LIST_DIR}/workloads.cpp)
target_link_libraries(monitor_calibration PUBLIC monitor_rings monitor_card PRIVATE Threads::Threads)
target_compile_definitions(monitor_calibration PRIVATE MONITOR_VERSION="${PROJECT_VERSION}")
