# SPDX-License-Identifier: MIT
# Tables, CSV and JSON of what the analyses found.
add_library(monitor_report STATIC report/grouping.cpp report/measurements_table.cpp report/activities_table.cpp report/row_writer.cpp
                                  report/samples_table.cpp report/segments_table.cpp report/statistics_table.cpp report/summary.cpp
                                  report/table.cpp report/usage_report.cpp)
target_link_libraries(monitor_report PUBLIC monitor_analyze monitor_statistics nlohmann_json::nlohmann_json fmt::fmt-header-only)
