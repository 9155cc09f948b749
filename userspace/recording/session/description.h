// SPDX-License-Identifier: MIT
// The description of a recording's events, in TSDL: for readers in memory, and as the file `metadata`. It is rewritten
// when programs declare classes and when the system clock is set.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <sys/eventfd.h>

#include "base/encoding.h"
#include "base/fd.h"
#include "recorded_functions.h"
#include "recording.h"
#include "recording/periods/lives.h"
#include "recording/rings/clock.h"
#include "recording/user_card/user_card.h"

namespace monitor::record {

class Description {
public:
	using Classes = std::vector<card::UserClass>;

	// `lives`: null: no earlier lives. `users`: null: no events of programs.
	Description(const Options &options, const Uuid &uuid, const RecordedFunctions &functions,
		    const EarlierLives *lives, std::string directory, const card::UserCard *users)
	    : options_(options), uuid_(uuid), functions_(functions), lives_(lives), directory_(std::move(directory)),
	      users_(users)
	{
	}

	// Unless noted, call the following while no other thread changes the clock.
	void set_clock(const ClockDescription &clock) { clock_ = clock; }
	std::string text() const { return text(clock_, user_classes()); }
	// With the clock of the first life in the directory, if any (recording/periods/lives.h).
	std::string text_of_files(const ClockDescription &own) const { return text_of_files(own, user_classes()); }
	std::string text_of_files(const ClockDescription &own, const Classes &classes) const;
	// Writes the file. Throws Error.
	void write() const { replace_file(path(), text_of_files(clock_), 0600); }

	// Any thread:
	std::string text_with(const Classes &classes);
	// Rewrites the file with these classes of programs. The writer reports a full disk.
	void write_again(const Classes &classes);

	// note_set_clock() is called in the drain thread, which must not write the file; after watch_clock() it makes
	// fd() readable, and follow_clock() rewrites the file, so that a killed recording has the steps, too.
	void watch_clock() { clock_was_set_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }
	void note_set_clock(const ClockDescription &clock);
	int fd() const { return clock_was_set_.get(); } // -1: statistics rewrite the description with each period
	void follow_clock();

private:
	std::string text(const ClockDescription &clock, const Classes &classes) const;
	Classes user_classes() const { return users_ ? users_->classes() : Classes(); }
	std::string path() const { return directory_ + "/metadata"; }

	const Options &options_;
	const Uuid uuid_;
	const RecordedFunctions &functions_;
	const EarlierLives *const lives_;
	const std::string directory_;
	const card::UserCard *const users_;
	std::mutex lock_; // protects the following, and the file
	ClockDescription clock_;
	Fd clock_was_set_;
};

} // namespace monitor::record
