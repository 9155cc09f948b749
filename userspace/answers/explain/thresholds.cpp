// SPDX-License-Identifier: MIT
#include "thresholds.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/data_files.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/keyed_lines.h"
#include "base/text.h"

namespace monitor::explain {
namespace {

struct Row {
	const char *word;
	double Thresholds::*value;
};
constexpr Row rows[] = {
    {"path", &Thresholds::path},
    {"one_thread", &Thresholds::one_thread},
    {"one_thread_others", &Thresholds::one_thread_others},
    {"oversubscribed", &Thresholds::oversubscribed},
    {"long_idle_wait_ms", &Thresholds::long_idle_wait_ms},
    {"handover_rate", &Thresholds::handover_rate},
    {"handover_thread", &Thresholds::handover_thread},
    {"handover_most", &Thresholds::handover_most},
    {"handover_sleepers", &Thresholds::handover_sleepers},
    {"priority_inversion", &Thresholds::priority_inversion},
    {"process_storm_least", &Thresholds::process_storm_least},
    {"process_storm_creations", &Thresholds::process_storm_creations},
    {"process_storm_cpu", &Thresholds::process_storm_cpu},
    {"process_storm_life_ms", &Thresholds::process_storm_life_ms},
    {"call_edges", &Thresholds::call_edges},
    {"call_edges_user", &Thresholds::call_edges_user},
    {"irq_imbalance", &Thresholds::irq_imbalance},
    {"irq_imbalance_ratio", &Thresholds::irq_imbalance_ratio},
    {"steal", &Thresholds::steal},
    {"memory_reclaim", &Thresholds::memory_reclaim},
    {"measurement", &Thresholds::measurement},
    {"uncertain", &Thresholds::uncertain},
    {"machine_user", &Thresholds::machine_user},
    {"machine_saturated", &Thresholds::machine_saturated},
};

} // namespace

Thresholds parse_thresholds(std::string_view untrusted_text, const std::string &name)
{
	Thresholds thresholds;
	std::set<std::string> missing;
	for (const Row &row : rows)
		missing.insert(row.word);
	KeyedLines lines(untrusted_text, name, "path: 0.10");
	while (lines.next()) {
		const auto row = std::ranges::find(rows, lines.word(), &Row::word);
		const std::string &text = lines.value();
		double value = 0;
		const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
		if (row == std::end(rows))
			throw Error("{}: {} is not a threshold: remove the line", lines.where(),
				    readable(lines.word()));
		if (error != std::errc() || end != text.data() + text.size() || !(value > 0) || !std::isfinite(value))
			throw Error("{}: the threshold {} is a number above 0, such as 0.10, not {}", lines.where(),
				    lines.word(), readable(text));
		if (missing.erase(lines.word()) == 0)
			throw Error("{}: there are two thresholds {}: remove one", lines.where(), lines.word());
		thresholds.*row->value = value;
	}
	if (!missing.empty())
		throw Error("{} has no threshold {}: add a line such as `{}: 0.10`", name, *missing.begin(),
			    *missing.begin());
	return thresholds;
}

Thresholds load_thresholds()
{
	const std::string path = share_path("explain/rules.thresholds");
	return parse_thresholds(read_text(path, KeyedLines::max_text_bytes + 1), path);
}

} // namespace monitor::explain
