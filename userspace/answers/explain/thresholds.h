// SPDX-License-Identifier: MIT
// From which figures on the rules claim something; share/explain/rules.thresholds has them and the reasons.
#pragma once

#include <string>
#include <string_view>

namespace monitor::explain {

// Shares are 0 to 1.
struct Thresholds {
	double path = 0;
	double one_thread = 0, one_thread_others = 0;
	double oversubscribed = 0;
	double long_idle_wait_ms = 0;
	double handover_rate = 0, handover_thread = 0, handover_most = 0, handover_sleepers = 0;
	double priority_inversion = 0;
	double process_storm_least = 0, process_storm_creations = 0, process_storm_cpu = 0, process_storm_life_ms = 0;
	double call_edges = 0, call_edges_user = 0;
	double irq_imbalance = 0, irq_imbalance_ratio = 0;
	double steal = 0;
	double memory_reclaim = 0;
	double measurement = 0;
	double uncertain = 0;
	double machine_user = 0, machine_saturated = 0;
};

// Throws Error: a line is not a threshold, or a threshold is missing.
Thresholds parse_thresholds(std::string_view untrusted_text, const std::string &name);
// The shipped ones. Throws Error.
Thresholds load_thresholds();

} // namespace monitor::explain
