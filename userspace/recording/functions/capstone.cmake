# SPDX-License-Identifier: MIT
# The disassembler. Without it functions cannot be recorded, which `record --functions` says. Also for the fuzzer of
# exit_search.cpp, which is built without the recorder.
include_guard(GLOBAL)
add_library(capstone_if_present INTERFACE)
find_library(CAPSTONE_LIBRARY capstone)
find_path(CAPSTONE_HEADERS capstone/capstone.h)
if(CAPSTONE_LIBRARY AND CAPSTONE_HEADERS)
  target_compile_definitions(capstone_if_present INTERFACE MONITOR_HAS_CAPSTONE)
  target_link_libraries(capstone_if_present INTERFACE capstone)
endif()
