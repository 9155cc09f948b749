// SPDX-License-Identifier: MIT
#include "syncer.h"

#include <cerrno>
#include <map>

#include <fcntl.h>
#include <unistd.h>

#include "base/fleet/durable_file.h"

namespace monitor::fleet {
namespace {

constexpr std::size_t max_waiting = 512;

int sync_path(const Unsynced &unsynced)
{
	if (::fdatasync(unsynced.file->get()) < 0)
		return errno;
	if (!unsynced.is_new)
		return 0;
	const Fd directory(::open(directory_of(unsynced.path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	return directory && ::fsync(directory.get()) == 0 ? 0 : errno;
}

} // namespace

Syncer::Syncer(std::function<void(const std::string &, const Answer &)> answer,
	       std::function<void(const std::string &, int)> failed)
    : answer_(std::move(answer)), failed_(std::move(failed)), thread_([this] { run(); })
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

void Syncer::add(Unsynced unsynced)
{
	std::unique_lock lock(mutex_);
	changed_.wait(lock, [&] { return waiting_.size() < max_waiting; });
	waiting_.push_back(std::move(unsynced));
	changed_.notify_all();
}

void Syncer::run()
{
	std::vector<Unsynced> round;
	for (;;) {
		{
			std::unique_lock lock(mutex_);
			changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
			if (waiting_.empty())
				return;
			round.clear();
			round.swap(waiting_);
			changed_.notify_all();
		}
		sync(round);
	}
}

// The last one of each path is synced; that it is new may be said by any.
void Syncer::sync(std::vector<Unsynced> &round)
{
	std::map<std::string, int> errors;
	std::map<std::string, bool> is_new;
	for (const Unsynced &each : round)
		is_new[each.path] |= each.is_new;
	for (Unsynced &each : round) {
		const auto [error, is_first] = errors.try_emplace(each.path, 0);
		if (!is_first)
			continue;
		each.is_new = is_new[each.path];
		error->second = sync_path(each);
		if (error->second)
			failed_(each.path, error->second);
	}
	for (Unsynced &each : round) {
		if (errors[each.path]) {
			each.answer.status = Status::later;
			each.answer.conflicts = 0;
			each.answer.why = "the collector's disk reports an error";
		}
		answer_(each.reply, each.answer);
	}
}

} // namespace monitor::fleet
