// SPDX-License-Identifier: MIT
// Random expressions of FDL, and random events for them, whose values are near the expressions' constants. Used by the
// tests that compare a matcher with the offline filter: test_matcher.cpp, and tests/match for those in the kernel.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/event_matcher.h"
#include "reading/filter/filter.h"
#include "samples.h"

namespace samples {

// Classes of each shape that cards post; 1024: a program's. Task_rename gives threads their names.
inline const std::string matched_classes =
    event_block(262, "task_rename", "s16_t score; s32_t pid; s32_t tgid; text_t newcomm[16];") +
    event_block(350, "numbers", "s16_t small; u64_t u; s64_t s; x64_t address; s32_t pid; u16_t low; u16_t high;") +
    event_block(351, "texts", "u16_t arg; text_t comm[16]; text_t other[8];") +
    event_block(352, "call", "u12_t id; abi_t abi; s64_t ret;") + event_block(353, "call", "u12_t id; abi_t abi;") +
    event_block(354, "state", "range_t state; s32_t pid; u32_t u;") +
    event_block(1024, "work", "u16_t worker; s64_t n; text_t other[24];");

class RandomFilters {
public:
	static constexpr std::uint64_t begin_time = 1000;

	explicit RandomFilters(unsigned seed)
	    : description(samples::description(matched_classes)), trace_(samples::trace(streams_, matched_classes)),
	      threads_(trace_), random_(seed)
	{
		stream_.cpu = 0;
		stream_.name = "kernel_cpu0";
		for (std::int32_t tid = 1; tid < 40; ++tid)
			name_thread(tid, text());
	}

	std::string expression() { return condition(3); }
	// What a start and an end may have in common; of either, or both.
	std::string key()
	{
		static constexpr const char *const all[] = {"tid", "cpu", "pid", "u", "small", "level", "s", "low"};
		return one_of(all);
	}

	bool is_in_order = false; // the times of events

	// One event of any class, as the offline filter sees it and as a matcher does.
	struct Sample {
		const monitor::trace::Event *event;
		monitor::filter::Running running;
		unsigned id;
		__u64 value[EDC_MATCH_VALUES];
	};
	Sample sample()
	{
		static constexpr unsigned ids[] = {350, 351, 352, 353, 354, 1024};
		Sample made{};
		made.id = ids[below(std::size(ids))];
		const bool is_user = made.id >= EDC_ID_USER_FIRST;
		words_.assign(1, edc_token(made.id, is_user ? EDC_MODE_USER : EDC_MODE_KERNEL, 0, number16()));
		for (int i = 0; i < EDC_MAX_WORDS; ++i)
			words_.push_back(below(2) ? number() : text_word());
		if (made.id == 351 || made.id == 1024)
			put_text(made.id == 351 ? 1 : 2, made.id == 351 ? 16 : 24);
		event_.cls = description->by_id(made.id);
		event_.data = reinterpret_cast<const std::byte *>(words_.data());
		stream_.cpu = is_user && below(4) == 0 ? EDC_CPU_UNKNOWN : static_cast<std::uint32_t>(below(4));
		stream_.level = is_user ? EDC_LEVEL_USER : static_cast<std::uint32_t>(below(4));
		event_.stream = &stream_;
		event_.time =
		    is_in_order ? (last_time_ += below(3000)) : begin_time + below(30) * 100'000'000 + below(3) - 1;
		const auto tid = static_cast<std::int64_t>(below(40));
		made.event = &event_;
		made.running = {tid, is_user ? nullptr : &threads_};
		made.value[EDC_VALUE_ARGUMENT] = edc_token_arg(words_[0]);
		std::copy_n(words_.begin() + 1, EDC_MAX_WORDS, made.value + EDC_VALUE_WORD);
		made.value[EDC_VALUE_CPU] = stream_.cpu;
		made.value[EDC_VALUE_LEVEL] = stream_.level;
		made.value[EDC_VALUE_TID] = static_cast<std::uint64_t>(tid);
		made.value[EDC_VALUE_TIME] = event_.time;
		const monitor::trace::Threads::Info *name = threads_.name(tid, 0);
		std::memcpy(&made.value[EDC_VALUE_NAME], name->text, name->length);
		return made;
	}

	const std::unique_ptr<const monitor::trace::Description> description;

private:
	std::uint64_t last_time_ = begin_time;

	std::uint64_t below(std::uint64_t n) { return random_() % n; }

	template <std::size_t n> std::string one_of(const char *const (&all)[n]) { return all[below(n)]; }

	std::uint64_t number()
	{
		switch (below(6)) {
		case 0:
			return random_();
		case 1:
			return 0 - below(5);
		case 2:
			return (std::uint64_t(1) << below(64)) - below(2);
		case 3:
			return below(2000);
		default:
			return below(12);
		}
	}
	unsigned number16() { return static_cast<unsigned>(number() & 0xffff); }

	std::string text()
	{
		static constexpr const char *const all[] = {"",     "a",         "ab",         "abc",       "b",
							    "make", "makefiles", "abcdefgh",   "abcdefghi", "server",
							    "zz",   "abcdefg",   "abcdefghij", "\xff\xfe"};
		return one_of(all);
	}
	std::uint64_t text_word()
	{
		char bytes[8] = {};
		const std::string some = text();
		std::memcpy(bytes, some.data(), std::min<std::size_t>(some.size(), 8));
		if (below(4) == 0)
			bytes[7] = 'x'; // after the end
		std::uint64_t word;
		std::memcpy(&word, bytes, 8);
		return word;
	}
	void put_text(std::size_t word, std::size_t bytes)
	{
		std::string some = text();
		if (some.size() < bytes)
			some += '\0';
		some.resize(bytes, below(4) ? '\0' : 'y'); // what follows the end means nothing
		std::memcpy(&words_[word], some.data(), bytes);
	}

	void name_thread(std::int32_t tid, const std::string &name)
	{
		std::uint64_t words[4] = {edc_token(262, EDC_MODE_KERNEL, 0, 0), static_cast<std::uint32_t>(tid), 0, 0};
		std::memcpy(&words[2], name.empty() ? "?" : name.data(), std::max<std::size_t>(name.size(), 1));
		monitor::trace::Event event;
		event.cls = description->by_id(262);
		event.data = reinterpret_cast<const std::byte *>(words);
		event.stream = &stream_;
		threads_.after(event);
	}

	std::string constant()
	{
		const std::uint64_t value = number();
		return below(2) ? std::to_string(static_cast<std::int64_t>(value)) : std::to_string(value);
	}
	std::string quoted(const std::string &some) { return '"' + some + '"'; }
	std::string relation()
	{
		static constexpr const char *const all[] = {"==", "!=", "<", "<=", ">", ">="};
		return one_of(all);
	}

	std::string condition(int depth)
	{
		if (depth > 0 && below(3)) {
			const std::string left = "(" + condition(depth - 1), right = condition(depth - 1) + ")";
			switch (below(5)) {
			case 0:
				return "not " + left + ")";
			case 1:
			case 2:
				return left + " or " + right;
			default:
				return left + " and " + right;
			}
		}
		switch (below(9)) {
		case 0:
		case 1:
			return of_text();
		case 2:
			return of_name();
		case 3:
			return computed();
		case 4:
			return of_place();
		default:
			return of_number();
		}
	}
	std::string of_number()
	{
		static constexpr const char *const fields[] = {"small", "u",  "s",   "address", "pid", "low",
							       "high",  "id", "ret", "worker",  "n",   "arg"};
		const std::string field = one_of(fields);
		if (below(4) == 0)
			return field + (below(2) ? " in {" : " not in {") + constant() + ", " +
			       std::to_string(below(10)) + " .. " + std::to_string(10 + below(2000)) + "}";
		if (below(12) == 0)
			return "has(" + field + ")";
		return field + " " + relation() + " " + constant();
	}
	std::string computed()
	{
		static constexpr const char *const fields[] = {"u", "address", "low", "high", "id"};
		static constexpr const char *const masked[] = {"small", "pid", "s", "n", "tid"};
		static constexpr const char *const masks[] = {"1", "3", "0xf", "0x10", "0x70"};
		if (below(3) == 0)
			return one_of(masked) + " & " + one_of(masks) + " " + relation() + " " +
			       std::to_string(below(20));
		return one_of(fields) + " >> " + std::to_string(below(12)) + " & " + one_of(masks) + " " + relation() +
		       " " + std::to_string(below(20));
	}
	std::string of_text()
	{
		static constexpr const char *const fields[] = {"comm", "other", "thread"};
		const std::string field = one_of(fields);
		switch (below(4)) {
		case 0:
			return field + (below(2) ? " ~ " : " !~ ") + quoted(text() + "*");
		case 1:
			return field + (below(2) ? " in {" : " not in {") + quoted(text()) + ", " + quoted(text()) +
			       "}";
		default:
			return field + " " + relation() + " " + quoted(text());
		}
	}
	std::string of_name()
	{
		static constexpr const char *const all[] = {"name == \"call\"",
							    "name ~ \"*t*\"",
							    "name != \"numbers\"",
							    "abi == \"compat\"",
							    "abi != \"native\"",
							    "state == \"some more\"",
							    "state ~ \"*m*\"",
							    "mode == \"kernel\"",
							    "abi in {\"x32\", 0}",
							    "state in {\"zero\"}",
							    "has(thread)",
							    "has(cpu)",
							    "cpu != 7",
							    "has(other)"};
		return one_of(all);
	}
	std::string of_place()
	{
		switch (below(4)) {
		case 0:
			return "cpu " + relation() + " " + std::to_string(below(4));
		case 1:
			return "level " + relation() + " " + std::to_string(below(4));
		case 2:
			return "time " + relation() + " " + std::to_string(below(30) * 100) + "ms";
		default:
			return "tid " + relation() + " " + std::to_string(below(40));
		}
	}

	static std::vector<StreamWriter> one_stream()
	{
		std::vector<StreamWriter> streams(1, StreamWriter(0, 0));
		streams[0].open(begin_time);
		return streams;
	}

	std::vector<StreamWriter> streams_ = one_stream();
	monitor::trace::Trace trace_;
	monitor::trace::Threads threads_;
	monitor::trace::StreamInfo stream_;
	std::vector<std::uint64_t> words_;
	monitor::trace::Event event_;
	std::mt19937_64 random_;
};

} // namespace samples
