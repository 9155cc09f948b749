# SPDX-License-Identifier: MIT
# Events as text and as JSON, a line each.
add_library(monitor_listing STATIC
  ${CMAKE_CURRENT_LIST_DIR}/listing.cpp)
target_link_libraries(monitor_listing PUBLIC monitor_events)
