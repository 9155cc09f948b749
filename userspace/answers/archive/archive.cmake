# SPDX-License-Identifier: MIT
# Measurements kept as plain folders, and the history of their figures.
add_library(monitor_archive STATIC
  ${CMAKE_CURRENT_LIST_DIR}/adding.cpp
  ${CMAKE_CURRENT_LIST_DIR}/condition.cpp
  ${CMAKE_CURRENT_LIST_DIR}/entry.cpp
  ${CMAKE_CURRENT_LIST_DIR}/entry_reader.cpp
  ${CMAKE_CURRENT_LIST_DIR}/figure.cpp
  ${CMAKE_CURRENT_LIST_DIR}/folder.cpp
  ${CMAKE_CURRENT_LIST_DIR}/listing.cpp
  ${CMAKE_CURRENT_LIST_DIR}/name.cpp
  ${CMAKE_CURRENT_LIST_DIR}/measurement_tables.cpp)
target_link_libraries(monitor_archive PUBLIC monitor_filter monitor_activities monitor_plot PRIVATE Threads::Threads)
