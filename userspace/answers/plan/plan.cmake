# SPDX-License-Identifier: MIT
# What a recording would lose and cost with other settings.
add_library(monitor_plan STATIC
  ${CMAKE_CURRENT_LIST_DIR}/arrival_reader.cpp
  ${CMAKE_CURRENT_LIST_DIR}/arrivals.cpp
  ${CMAKE_CURRENT_LIST_DIR}/factorial.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fit.cpp
  ${CMAKE_CURRENT_LIST_DIR}/plan.cpp
  ${CMAKE_CURRENT_LIST_DIR}/plan_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recorder_threads.cpp
  ${CMAKE_CURRENT_LIST_DIR}/service_times.cpp
  ${CMAKE_CURRENT_LIST_DIR}/simulation.cpp)
target_link_libraries(monitor_plan PUBLIC monitor_simulation monitor_report PRIVATE compiled_fmt)
