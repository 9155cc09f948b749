// SPDX-License-Identifier: MIT
// Single events in memory and filters over them. Used by the tests of FDL.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "base/parse_error.h"
#include "reading/filter/filter.h"
#include "samples.h"

namespace samples {

// One class of each shape; `call` comes in a form with labels and one without, `ret` in two sizes.
inline const std::string filter_classes =
    event_block(256, "numbers", "s16_t small; u16_t reserved; u64_t u; s64_t s; x64_t address;") +
    event_block(257, "texts", "u16_t arg; text_t comm[16]; text_t other[8];") +
    event_block(258, "labels", "range_t state; s32_t pid; u64_t u;") +
    event_block(259, "call", "u12_t id; abi_t abi;") + event_block(260, "call", "u12_t id; abi_t abi; s64_t ret;") +
    event_block(261, "clash", "u16_t cpu; u32_t time; u32_t in; u32_t has; text_t name[8];") +
    event_block(262, "ret_small", "s16_t ret;") + event_block(263, "u", "u16_t plain; text_t state[8];") +
    event_block(264, "two words", "u16_t plain;");

// An event of a class by id, at 1.5 s of a trace that begins at tick 1000.
class FilterEvents {
public:
	static constexpr std::uint64_t begin_time = 1000;

	explicit FilterEvents(const std::string &classes = filter_classes) : description(samples::description(classes))
	{
		stream.cpu = 3;
		stream.level = 1;
		stream.name = "kernel_cpu3_1";
	}

	// Valid until the next one.
	const monitor::trace::Event &event(unsigned id, unsigned arg = 0, std::vector<std::uint64_t> words = {},
					   unsigned mode = EDC_MODE_KERNEL)
	{
		cls_ = description->by_id(id);
		bytes_ = std::move(words);
		bytes_.resize(7);
		bytes_.insert(bytes_.begin(), edc_token(id, mode, 0, arg));
		event_.cls = cls_;
		event_.data = reinterpret_cast<const std::byte *>(bytes_.data());
		event_.stream = &stream;
		event_.time = begin_time + 1'500'000'000;
		return event_;
	}
	monitor::trace::Event &last() { return event_; }

	// The first eight characters as a payload word.
	static std::uint64_t word(const std::string &text)
	{
		std::uint64_t word = 0;
		std::memcpy(&word, text.data(), std::min<std::size_t>(text.size(), sizeof word));
		return word;
	}

	monitor::filter::Filter filter(const std::string &expression) const
	{
		return {expression, *description, begin_time};
	}
	// Does it match the event made last? A class that cannot match must not.
	bool matches(const std::string &expression, const monitor::filter::Running &running = {}) const
	{
		const monitor::filter::Filter made = filter(expression);
		const bool matches = made.matches(event_, running);
		if (matches && !made.can_match(*event_.cls))
			throw std::logic_error("an event matches whose class cannot: " + expression);
		return matches;
	}
	// Those of the expressions that do not hold, and those that do: for lists of which all or none should.
	std::vector<std::string> failing(std::vector<std::string> expressions) const
	{
		std::erase_if(expressions, [&](const std::string &expression) { return matches(expression); });
		return expressions;
	}
	std::vector<std::string> holding(std::vector<std::string> expressions) const
	{
		std::erase_if(expressions, [&](const std::string &expression) { return !matches(expression); });
		return expressions;
	}
	bool can_match(const std::string &expression, unsigned id) const
	{
		return filter(expression).can_match(*description->by_id(id));
	}

	std::shared_ptr<const monitor::trace::Description> description;
	monitor::trace::StreamInfo stream;

private:
	const monitor::trace::EventClass *cls_ = nullptr;
	std::vector<std::uint64_t> bytes_;
	monitor::trace::Event event_;
};

} // namespace samples
