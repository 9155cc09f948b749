# SPDX-License-Identifier: MIT
# Traces of several machines as one. Needs nothing of the record side.
add_library(monitor_collection STATIC
  ${CMAKE_CURRENT_LIST_DIR}/clock_exchanges.cpp
  ${CMAKE_CURRENT_LIST_DIR}/clock_lines.cpp
  ${CMAKE_CURRENT_LIST_DIR}/clock_loops.cpp
  ${CMAKE_CURRENT_LIST_DIR}/clock_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/collection.cpp
  ${CMAKE_CURRENT_LIST_DIR}/convert.cpp
  ${CMAKE_CURRENT_LIST_DIR}/event_bits.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fact_buckets.cpp
  ${CMAKE_CURRENT_LIST_DIR}/line_polygon.cpp
  ${CMAKE_CURRENT_LIST_DIR}/messages.cpp
  ${CMAKE_CURRENT_LIST_DIR}/own_clock.cpp
  ${CMAKE_CURRENT_LIST_DIR}/packet_writer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/run_clocks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/run_merge.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tsdl_text.cpp)
target_link_libraries(monitor_collection PUBLIC monitor_statistics monitor_analyze nlohmann_json::nlohmann_json)
target_link_libraries(monitor_collection PRIVATE compiled_fmt)
