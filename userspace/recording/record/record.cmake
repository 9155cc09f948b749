# SPDX-License-Identifier: MIT
# The recording: drain -> pool -> writer, clock, accounting.
find_path(BOOST_INCLUDE boost/lockfree/spsc_queue.hpp REQUIRED)

set(SYSCALL_NAMES ${CMAKE_BINARY_DIR}/generated/syscall_names.h)
set(TARGET_COMPILER ${CMAKE_C_COMPILER})
if(CMAKE_C_COMPILER_TARGET) # of a clang that compiles for another machine
  list(APPEND TARGET_COMPILER --target=${CMAKE_C_COMPILER_TARGET} --sysroot=${CMAKE_SYSROOT})
endif()
add_custom_command(
  OUTPUT ${SYSCALL_NAMES}
  COMMAND ${CMAKE_COMMAND} "-DCOMPILER=${TARGET_COMPILER}" -DOUTPUT=${SYSCALL_NAMES} -P
          ${CMAKE_CURRENT_LIST_DIR}/syscall_names.cmake
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/syscall_names.cmake
  VERBATIM)

add_library(monitor_record STATIC
  ${CMAKE_CURRENT_LIST_DIR}/begun_snapshots.cpp
  ${CMAKE_CURRENT_LIST_DIR}/blocks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/buffers.cpp
  ${CMAKE_CURRENT_LIST_DIR}/calibration_phases.cpp
  ${CMAKE_CURRENT_LIST_DIR}/card_options.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cgroup_names.cpp
  ${CMAKE_CURRENT_LIST_DIR}/class_counts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/clock.cpp
  ${CMAKE_CURRENT_LIST_DIR}/command.cpp
  ${CMAKE_CURRENT_LIST_DIR}/confine.cpp
  ${CMAKE_CURRENT_LIST_DIR}/control_stream.cpp
  ${CMAKE_CURRENT_LIST_DIR}/counted_periods.cpp
  ${CMAKE_CURRENT_LIST_DIR}/counter_classes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/counters.cpp
  ${CMAKE_CURRENT_LIST_DIR}/directory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/drain.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ending.cpp
  ${CMAKE_CURRENT_LIST_DIR}/event_counts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/event_times.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flight.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flight_recorder.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flight_rings.cpp
  ${CMAKE_CURRENT_LIST_DIR}/function_budget.cpp
  ${CMAKE_CURRENT_LIST_DIR}/failure.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernel_counts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/lives.cpp
  ${CMAKE_CURRENT_LIST_DIR}/matched_events.cpp
  ${CMAKE_CURRENT_LIST_DIR}/metadata.cpp
  ${CMAKE_CURRENT_LIST_DIR}/online_cpus.cpp
  ${CMAKE_CURRENT_LIST_DIR}/period_ages.cpp
  ${CMAKE_CURRENT_LIST_DIR}/period_files.cpp
  ${CMAKE_CURRENT_LIST_DIR}/phase_estimate.cpp
  ${CMAKE_CURRENT_LIST_DIR}/phase_events.cpp
  ${CMAKE_CURRENT_LIST_DIR}/proc_tasks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ratio_pairs.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recorded_functions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recording.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recording_end.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recording_file.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recording_start.cpp
  ${CMAKE_CURRENT_LIST_DIR}/snapshot.cpp
  ${CMAKE_CURRENT_LIST_DIR}/snapshot_requests.cpp
  ${CMAKE_CURRENT_LIST_DIR}/state_streams.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stack_choice.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tree_progress.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trigger_acts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trigger_runner.cpp
  ${CMAKE_CURRENT_LIST_DIR}/triggers.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_reads.cpp
  ${CMAKE_CURRENT_LIST_DIR}/writer.cpp
  ${SYSCALL_NAMES})
target_include_directories(monitor_record PRIVATE ${CMAKE_BINARY_DIR}/generated ${BOOST_INCLUDE})
target_link_libraries(monitor_record PUBLIC monitor_functions monitor_stacks monitor_user_card monitor_card monitor_pmu nlohmann_json::nlohmann_json compiled_fmt Threads::Threads)
