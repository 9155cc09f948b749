# SPDX-License-Identifier: MIT
# The recording: drain -> pool -> writer, clock, accounting.
find_path(BOOST_INCLUDE boost/lockfree/spsc_queue.hpp REQUIRED)

set(SYSCALL_NAMES ${CMAKE_BINARY_DIR}/generated/syscall_names.h)
add_custom_command(
  OUTPUT ${SYSCALL_NAMES}
  COMMAND ${CMAKE_COMMAND} -DCOMPILER=${CMAKE_C_COMPILER} -DOUTPUT=${SYSCALL_NAMES} -P
          ${CMAKE_CURRENT_LIST_DIR}/syscall_names.cmake
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/syscall_names.cmake)

add_library(
  monitor_record STATIC
  record/blocks.cpp
  record/buffers.cpp
  record/card_options.cpp
  record/cgroup_names.cpp
  record/clock.cpp
  record/command.cpp
  record/confine.cpp
  record/control_stream.cpp
  record/counter_classes.cpp
  record/counters.cpp
  record/directory.cpp
  record/drain.cpp
  record/ending.cpp
  record/failure.cpp
  record/kernel_counts.cpp
  record/metadata.cpp
  record/proc_tasks.cpp
  record/ratio_pairs.cpp
  record/recording.cpp
  record/recording_file.cpp
  record/user.cpp
  record/user_reads.cpp
  record/writer.cpp
  ${SYSCALL_NAMES})
target_include_directories(monitor_record PRIVATE ${CMAKE_BINARY_DIR}/generated ${BOOST_INCLUDE})
target_link_libraries(monitor_record PUBLIC monitor_card monitor_pmu nlohmann_json::nlohmann_json fmt::fmt-header-only Threads::Threads)
