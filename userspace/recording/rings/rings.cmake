# SPDX-License-Identifier: MIT
# From the rings to the files: drain -> pool -> writer, and the clock.
find_path(BOOST_INCLUDE boost/lockfree/spsc_queue.hpp REQUIRED)

add_library(monitor_rings STATIC
  ${CMAKE_CURRENT_LIST_DIR}/blocks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/class_counts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/clock.cpp
  ${CMAKE_CURRENT_LIST_DIR}/control_stream.cpp
  ${CMAKE_CURRENT_LIST_DIR}/drain.cpp
  ${CMAKE_CURRENT_LIST_DIR}/failure.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pass_log.cpp
  ${CMAKE_CURRENT_LIST_DIR}/writer.cpp)
target_include_directories(monitor_rings PUBLIC ${BOOST_INCLUDE})
target_link_libraries(monitor_rings PUBLIC monitor_stacks monitor_user_card monitor_card PRIVATE Threads::Threads)
