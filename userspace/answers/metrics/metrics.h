// SPDX-License-Identifier: MIT
// The totals of `monitor serve`: adds consecutive windows of a running recording (window.h), and returns the newest
// figures. Next in the flow: families.h.
// Windows are added in the thread that drains the rings; all else may be called by any. Readers never block that
// thread: figures are immutable once they are published.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "figures.h"
#include "window.h"

namespace monitor::metrics {

class Metrics {
public:
	// `max_series`: shown per kind, besides `other`.
	Metrics(std::uint64_t window_ns, std::size_t max_series);

	const std::shared_ptr<live::LiveFold> &fold() const { return fold_; }
	void name_cgroups(CgroupPaths paths);
	// The last window had cgroups without a known path.
	bool has_unnamed_cgroups() const { return has_unnamed_cgroups_; }
	// Null before the start.
	std::shared_ptr<const Figures> newest() const;

private:
	void start();
	void add_window();
	void add_cost();
	void publish();

	const std::shared_ptr<live::LiveFold> fold_;
	std::optional<Window> window_;
	Rows rows_;
	Calls calls_;
	Figures sums_;
	std::uint64_t recorder_ns_ = 0;
	std::atomic<bool> has_unnamed_cgroups_{false};
	mutable std::mutex lock_; // protects the following
	std::shared_ptr<const CgroupPaths> paths_ = std::make_shared<const CgroupPaths>();
	std::shared_ptr<const Figures> newest_;
};

} // namespace monitor::metrics
