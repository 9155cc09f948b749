// SPDX-License-Identifier: MIT
#include "description.h"

#include <unistd.h>

#include "base/error.h"
#include "base/ranges.h"
#include "metadata.h"
#include "recording/counting/counter_classes.h"

namespace monitor::record {

std::string Description::text(const ClockDescription &clock, const Classes &classes) const
{
	const MatcherRequest request = options_.matching ? options_.matching->request : MatcherRequest();
	const auto names = [](const auto &all) {
		return list_of<std::string>(all, [](const auto &one) { return one.name; });
	};
	return metadata(uuid_, clock, counter_classes(options_.counting), classes, names(functions_.found().functions),
			names(request.counts), names(request.times), names(request.triggers),
			options_.states ? options_.states->state_names() : std::vector<std::string>());
}

std::string Description::text_with(const Classes &classes)
{
	const std::lock_guard guard(lock_);
	return text(clock_, classes);
}

std::string Description::text_of_files(const ClockDescription &own, const Classes &classes) const
{
	return text(lives_ ? lives_->shifted(own) : own, classes);
}

void Description::write_again(const Classes &classes)
{
	const std::lock_guard guard(lock_);
	if (BlockSink *const sink = options_.sink())
		sink->describe(text(clock_, classes));
	try {
		replace_file(path(), text_of_files(clock_, classes), 0600);
	} catch (const Error &) {
	}
}

void Description::note_set_clock(const ClockDescription &clock)
{
	{
		const std::lock_guard guard(lock_);
		clock_ = clock;
		if (BlockSink *const sink = options_.sink())
			sink->describe(text());
	}
	const std::uint64_t one = 1;
	if (clock_was_set_)
		static_cast<void>(::write(clock_was_set_.get(), &one, sizeof one));
}

void Description::follow_clock()
{
	std::uint64_t times;
	if (clock_was_set_ && ::read(clock_was_set_.get(), &times, sizeof times) > 0)
		write_again(user_classes());
}

} // namespace monitor::record
