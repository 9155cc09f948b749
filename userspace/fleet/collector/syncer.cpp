// SPDX-License-Identifier: MIT
#include "syncer.h"

#include <cerrno>
#include <cstdio>
#include <set>

#include <unistd.h>

#include "base/durable_file.h"

namespace monitor::fleet {
namespace {

// Limits of what waits; the current round may have as many: together below the usual limit of open files.
constexpr std::size_t max_waiting_files = 256, max_waiting_messages = 16384;

} // namespace

Status status_of_error(int error_number)
{
	const bool is_taken = error_number == EISDIR || error_number == ELOOP || error_number == EEXIST;
	return is_taken ? Status::invalid : Status::later;
}

Syncer::Syncer(const std::string &run, std::function<std::uint64_t()> save,
	       std::function<void(const std::string &, const Answer &)> answer,
	       std::function<void(const std::string &, int)> failed)
    : disk_(run), save_(std::move(save)), answer_(std::move(answer)), failed_(std::move(failed)),
      thread_([this] { this->run(); })
{
}

Syncer::~Syncer()
{
	{
		const std::lock_guard lock(mutex_);
		stopping_ = true;
	}
	changed_.notify_all();
	thread_.join();
}

void Syncer::wait_for_room()
{
	std::unique_lock lock(mutex_);
	changed_.wait(lock, [&] { return waiting_.size() < max_waiting_files && messages_ < max_waiting_messages; });
}

// The first open descriptor of a file reports all later failures.
void Syncer::add(Unsynced unsynced)
{
	const std::lock_guard lock(mutex_);
	File &file = waiting_[unsynced.path];
	if (!file.file)
		file.file = std::move(unsynced.file);
	file.is_new |= unsynced.is_new;
	file.target = std::move(unsynced.target);
	file.waiting.push_back({std::move(unsynced.reply), std::move(unsynced.answer), unsynced.trace});
	++messages_;
	changed_.notify_all();
}

void Syncer::run()
{
	for (;;) {
		Round round;
		{
			std::unique_lock lock(mutex_);
			changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
			if (waiting_.empty())
				return;
			round.swap(waiting_);
			messages_ = 0;
			changed_.notify_all();
		}
		sync(round);
	}
}

void Syncer::sync(Round &round)
{
	const std::uint64_t saved = save_();
	sync_content(round);
	sync_directory_entries(round);
	for (const auto &[path, file] : round) {
		if (file.error && !file.target.empty())
			::unlink(path.c_str());
		else if (file.error)
			failed_(path, file.error);
		answer(file, saved);
	}
}

void Syncer::sync_content(Round &round)
{
	std::vector<DiskFile> files;
	for (const auto &[path, file] : round)
		files.push_back({file.file->get()});
	disk_.sync(files);
	auto synced = files.begin();
	for (auto &[path, file] : round) {
		file.error = (synced++)->error;
		if (file.error == 0 && !file.target.empty() && ::rename(path.c_str(), file.target.c_str()) < 0)
			file.error = errno;
	}
}

// Syncs each directory once.
void Syncer::sync_directory_entries(Round &round)
{
	const auto directory_in = [](const std::string &path, const File &file) {
		return directory_of(file.target.empty() ? path : file.target);
	};
	std::set<std::string> directories;
	for (const auto &[path, file] : round)
		if (file.error == 0 && (file.is_new || !file.target.empty()))
			directories.insert(directory_in(path, file));
	const std::map<std::string, int> failed = sync_directories(disk_, directories);
	if (failed.empty())
		return;
	for (auto &[path, file] : round)
		if (const auto found = failed.find(directory_in(path, file)); file.error == 0 && found != failed.end())
			file.error = found->second;
}

void Syncer::answer(const File &file, std::uint64_t saved) const
{
	for (const Waiting &waiting : file.waiting) {
		Answer answer = waiting.answer;
		if (file.error || waiting.trace > saved) {
			answer.status = file.error ? status_of_error(file.error) : Status::later;
			answer.conflicts = 0;
			answer.why = "the collector's disk reports an error";
		}
		answer_(waiting.reply, answer);
	}
}

} // namespace monitor::fleet
