# SPDX-License-Identifier: MIT
# What is known of many events: frequencies, activities by tables, values. Needs nothing of the record side.
find_package(Threads REQUIRED)
add_library(monitor_statistics STATIC
  ${CMAKE_CURRENT_LIST_DIR}/frequencies.cpp
  ${CMAKE_CURRENT_LIST_DIR}/partitions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/survey.cpp)
target_link_libraries(monitor_statistics PUBLIC monitor_activities Threads::Threads)
target_link_libraries(monitor_statistics PRIVATE compiled_fmt)
