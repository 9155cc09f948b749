// SPDX-License-Identifier: MIT
// The description of a recording's events, in TSDL: for readers in memory, and as the file `metadata`. It has
// the clock as far as it is known; it is written again when programs bring classes, and when the clock was set.
#pragma once

#include <cstdint>
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

	// `lives`: null if the directory has no earlier ones. `users`: null: programs post no events.
	Description(const Options &options, const Uuid &uuid, const RecordedFunctions &functions,
		    const EarlierLives *lives, std::string directory, const card::UserCard *users)
	    : options_(options), uuid_(uuid), functions_(functions), lives_(lives), directory_(std::move(directory)),
	      users_(users)
	{
	}

	// Unless said otherwise, what follows is called while no other thread changes the clock.
	void set_clock(const ClockDescription &clock) { clock_ = clock; }
	std::string text() const { return text(clock_, user_classes()); }
	// With the clock of the first life in the directory, if there were some (recording/periods/lives.h).
	std::string text_of_files(const ClockDescription &own) const { return text_of_files(own, user_classes()); }
	std::string text_of_files(const ClockDescription &own, const Classes &classes) const;
	// The file. Throws Error.
	void write() const { replace_file(path(), text_of_files(clock_), 0600); }

	// Any thread:
	std::string text_with(const Classes &classes);
	// The classes of programs are these. The writer reports a full disk.
	void write_again(const Classes &classes);

	// note_set_clock(): in the drain thread, which writes no such files; after watch_clock() fd() is readable then,
	// and follow_clock() writes the file again. The description of a recording that is killed has the steps, too.
	void watch_clock() { clock_was_set_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }
	void note_set_clock(const ClockDescription &clock);
	int fd() const { return clock_was_set_.get(); } // -1: statistics write theirs with each period
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
	std::mutex lock_; // of the following, and of the file while there are several threads
	ClockDescription clock_;
	Fd clock_was_set_;
};

} // namespace monitor::record
