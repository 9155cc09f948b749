# SPDX-License-Identifier: MIT
# `monitor fleet init`: keys, certificates and the configurations of the hub and of relays.
add_library(monitor_fleet_setup STATIC
  ${CMAKE_CURRENT_LIST_DIR}/authority.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fleet_directory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/key_folders.cpp
  ${CMAKE_CURRENT_LIST_DIR}/server_configuration.cpp)
target_link_libraries(monitor_fleet_setup PUBLIC monitor_fleet_control PRIVATE compiled_fmt OpenSSL::Crypto)
