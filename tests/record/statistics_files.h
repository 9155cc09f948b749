// SPDX-License-Identifier: MIT
// The files that record --statistics makes of hand-made streams. Used by test_live_statistics.cpp and
// test_live_statistics_activities.cpp.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "answers/live/live_statistics.h"
#include "live_folding.h"

namespace statistics_files {

using namespace monitor;

// A tick is a millisecond: periods are whole milliseconds, and threads are given up ten times a second.
inline std::string description_of(const std::string &all)
{
	std::string text = samples::description_text(all);
	const std::string hz = "freq = 1000000000";
	return text.replace(text.find(hz), hz.size(), "freq = 1000");
}

inline const std::string statistics_events =
    samples::event_block(EDC_ID_STATISTICS_PERIOD, "statistics_period",
			 "x16_t flags; u64_t end; u64_t lost; u64_t late; u64_t recorder_ns;") +
    samples::event_block(EDC_ID_STATISTICS_EVENTS, "statistics_events", "u16_t event_id; u64_t number;") +
    samples::event_block(EDC_ID_STATISTICS_CPU, "statistics_cpu",
			 "u16_t cpu; u64_t user; u64_t kernel; u64_t irq; u64_t softirq; u64_t unattributed; "
			 "u64_t unknown; u64_t thread_unknown;") +
    samples::event_block(EDC_ID_STATISTICS_THREAD, "statistics_thread",
			 "x16_t flags; s32_t pid; s32_t tgid; text_t comm[16]; u64_t started; u64_t cgroup; "
			 "u64_t waiting; u64_t blocked;") +
    samples::event_block(EDC_ID_STATISTICS_USAGE, "statistics_usage",
			 "u16_t reserved; u64_t user; u64_t kernel; u64_t irq; u64_t softirq; u64_t unattributed; "
			 "u64_t unknown;") +
    samples::event_block(EDC_ID_STATISTICS_COUNTS, "statistics_counts",
			 "u16_t reserved; u32_t voluntary; u32_t involuntary; u32_t migrations; u32_t syscalls; "
			 "u32_t minor_faults; u32_t major_faults;") +
    samples::event_block(EDC_ID_STATISTICS_THROTTLED, "statistics_throttled", "u16_t reserved; u64_t throttled;") +
    samples::event_block(EDC_ID_STATISTICS_CALLS, "statistics_calls",
			 "u12_t id; abi_t abi; u32_t thread_row; u32_t reserved; u64_t number; u64_t failed; u64_t "
			 "total; u64_t longest;") +
    samples::event_block(
	EDC_ID_STATISTICS_SLEEPS, "statistics_sleeps",
	"u12_t id; abi_t abi; u32_t thread_row; u32_t waker_row; u32_t waker_irq; u32_t reserved; u64_t number; "
	"u64_t total; u64_t longest;") +
    samples::event_block(EDC_ID_STATISTICS_CALLS_OTHER_ABI, "statistics_calls",
			 "u12_t id; abi_t abi; u32_t thread_row; u32_t reserved; u64_t number; u64_t failed; u64_t "
			 "total; u64_t longest;") +
    samples::event_block(
	EDC_ID_STATISTICS_SLEEPS_OTHER_ABI, "statistics_sleeps",
	"u12_t id; abi_t abi; u32_t thread_row; u32_t waker_row; u32_t waker_irq; u32_t reserved; u64_t number; "
	"u64_t total; u64_t longest;") +
    samples::event_block(EDC_ID_STATISTICS_BUCKETS, "statistics_buckets",
			 "u16_t first; u32_t number0; u32_t number1; u32_t number2; u32_t number3;") +
    samples::event_block(EDC_ID_STATISTICS_ACTIVITIES, "statistics_activities",
			 "u16_t activity; u32_t thread_row; u16_t caller; u16_t reserved; u64_t number; u64_t left; "
			 "u64_t total; u64_t exclusive; u64_t longest;") +
    samples::event_block(EDC_ID_STATISTICS_INCLUSIVE, "statistics_inclusive",
			 "u16_t reserved; u64_t inclusive; u64_t cpu; u64_t waiting; u64_t blocked;") +
    samples::event_block(EDC_ID_STATISTICS_OPEN, "statistics_open",
			 "u16_t reserved; u64_t number; u64_t begins; u64_t ends;") +
    samples::event_block(EDC_ID_STATISTICS_TRANSFERS, "statistics_transfers",
			 "u16_t reserved; u64_t number; u64_t total; u64_t longest;");

// Writes the statistics of what streams hold into a directory, as record does.
inline void write_statistics(
    const std::string &directory, std::vector<samples::StreamWriter> &streams, const std::string &events,
    record::StatisticsOptions options, std::uint64_t begin, std::uint64_t end, std::mt19937 &random,
    const std::function<void()> &on_period = [] {})
{
	std::filesystem::create_directory(directory + "/.monitor");
	const std::string text = description_of(events + statistics_events);
	live::LiveStatistics statistics(options);
	record::LiveStart start = live_folding::start_at(begin, "");
	start.description = text;
	start.directory = directory;
	start.uuid = samples::uuid;
	start.has_more_classes = true;
	// Periods of this time come faster than a disk takes them.
	std::ptrdiff_t periods = 0;
	start.describe = [&] {
		const auto is_period = [](const auto &entry) {
			return entry.path().filename().string().starts_with("statistics_");
		};
		const auto written = [&] {
			return std::ranges::count_if(std::filesystem::directory_iterator(directory), is_period);
		};
		for (int tries = 0; written() < periods && tries < 10'000; ++tries)
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		++periods;
		on_period();
		return text;
	};
	start.name_cgroups = [] {};
	statistics.start(start);
	live_folding::Taker taker{statistics};
	std::string why;
	const auto description = trace::read_description(text, why);
	live_feed::Feed feed(streams, *description);
	for (std::uint64_t now = 0; now < end; now += 1 + random() % 300) {
		REQUIRE(feed.offer(taker, now));
		REQUIRE(statistics.advance(now));
	}
	statistics.set_window_end(end);
	REQUIRE(feed.offer(taker, ~std::uint64_t(0)));
	CHECK(statistics.finish().late == 0);
	std::ofstream(directory + "/.monitor/recording.json")
	    << live_folding::start_at(begin, "",
				      R"(, "state": "complete", "statistics": {"period_ns": 1, "keep_ns": 0})")
		   .recording;
}

} // namespace statistics_files
