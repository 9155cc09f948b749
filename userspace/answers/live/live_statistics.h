// SPDX-License-Identifier: MIT
// Statistics instead of a trace (record --statistics): for a running recording a file per period, with its sums. Memory
// does not grow with time; of the files, the oldest are removed.
// drain.cpp -> take() -> LiveFold -> on_window(): PeriodSums, period_records.cpp -> PeriodFiles
// Runs in the thread that drains the rings, except for the writing. Next in the flow:
// reading/analyze/statistics_replay.cpp. Invariant: the sums over a period's rows are all that was seen in it; a period
// with losses is marked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>

#include "live_fold.h"
#include "period_sums.h"
#include "recording/periods/period_files.h"

namespace monitor::live {

class LiveStatistics final : public record::BlockSink {
public:
	explicit LiveStatistics(record::StatisticsOptions options);

	void start(const record::LiveStart &start) override;
	void describe(const std::string &description) override { fold_.describe(description); }
	bool take(record::StreamNumber stream, const std::string &name, const std::byte *block) override
	{
		return fold_.take(stream, name, block);
	}
	void lose(record::StreamNumber stream) override { fold_.lose(stream); }
	bool advance(std::uint64_t time) override { return fold_.advance(time); }
	void set_window_end(std::uint64_t time) override { fold_.set_window_end(time); }
	record::LiveEnd finish() override;

private:
	void end_period();
	bool has_new_cgroups();

	const record::StatisticsOptions options_;
	LiveFold fold_;
	record::LiveStart start_;
	std::optional<PeriodSums> sums_;
	std::optional<record::PeriodFiles> files_;
	std::uint32_t number_ = 0; // of the next period
	std::uint64_t recorder_ns_ = 0, late_ = 0;
	std::unordered_set<std::uint64_t> cgroups_; // seen so far
};

} // namespace monitor::live
