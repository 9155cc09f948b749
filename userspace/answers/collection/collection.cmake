# SPDX-License-Identifier: MIT
# Traces of several machines as one. Needs nothing of the record side.
add_library(monitor_collection STATIC
  ${CMAKE_CURRENT_LIST_DIR}/clock_lines.cpp
  ${CMAKE_CURRENT_LIST_DIR}/clock_sample_buckets.cpp
  ${CMAKE_CURRENT_LIST_DIR}/clock_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/collection.cpp
  ${CMAKE_CURRENT_LIST_DIR}/convert.cpp
  ${CMAKE_CURRENT_LIST_DIR}/event_bits.cpp
  ${CMAKE_CURRENT_LIST_DIR}/feasible_lines.cpp
  ${CMAKE_CURRENT_LIST_DIR}/messages.cpp
  ${CMAKE_CURRENT_LIST_DIR}/packet_writer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tsdl_text.cpp)
target_link_libraries(monitor_collection PUBLIC monitor_statistics nlohmann_json::nlohmann_json PRIVATE compiled_fmt)
