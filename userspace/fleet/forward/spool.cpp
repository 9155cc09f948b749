// SPDX-License-Identifier: MIT
#include "spool.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/durable_file.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "fleet/wire/names.h"

namespace monitor::fleet {
namespace {

namespace fs = std::filesystem;

// A trace whose progress is unknown for this long stays unknown.
constexpr auto unknown_timeout = std::chrono::seconds(10);

// The size of a trace on the disk, and its last change.
void measure(const std::string &directory, std::uint64_t &bytes, std::int64_t &changed_ns)
{
	std::error_code error;
	for (fs::recursive_directory_iterator entry(directory, error), end; !error && entry != end;
	     entry.increment(error)) {
		struct stat status;
		if (::lstat(entry->path().c_str(), &status) < 0 || !S_ISREG(status.st_mode))
			continue;
		bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
		changed_ns =
		    std::max(changed_ns, std::int64_t(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec);
	}
}

// Blocks of a trace whose progress is unknown.
std::uint64_t blocks_in(const std::string &directory)
{
	std::uint64_t blocks = 0;
	std::error_code error;
	for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
		struct stat status;
		if (is_stream_name(entry->path().filename().string()) && ::lstat(entry->path().c_str(), &status) == 0 &&
		    S_ISREG(status.st_mode))
			blocks += static_cast<std::uint64_t>(status.st_size) / block_bytes;
	}
	return blocks;
}

// Blocks that can never be stored do not count as missing.
bool is_stored(const ForwardingAccount &account)
{
	return account.is_complete && account.refused + account.vanished + account.refused_files == 0;
}

} // namespace

Spool::Spool(const std::string &directory, std::uint64_t max_bytes, Forwarding &forwarding,
	     std::function<bool(const std::string &)> is_running, std::function<void(const std::string &)> report,
	     std::function<Forward(const std::string &)> forward)
    : directory_(directory), forwarding_(forwarding), is_running_(std::move(is_running)), report_(std::move(report)),
      forward_(std::move(forward))
{
	account_.max_bytes = max_bytes;
	std::error_code error;
	fs::create_directories(directory_ + "/.forwarded", error);
	if (error)
		throw Error(error.value(), "cannot make the spool " + directory_);
	fs::remove_all(directory_ + "/.removed", error); // of a killed agent
	load_dropped();
}

std::vector<Spool::Entry> Spool::entries() const
{
	const std::vector<ForwardingAccount> accounts = forwarding_.accounts();
	std::vector<Entry> entries;
	std::error_code error;
	for (fs::directory_iterator entry(directory_, error), end; !error && entry != end; entry.increment(error)) {
		const std::string run = entry->path().filename();
		std::error_code ignored;
		if (!is_run_name(run) || entry->symlink_status(ignored).type() != fs::file_type::directory)
			continue;
		Entry found{run, directory_ + '/' + run, 0, 0, is_running_(run), true, true, 0, {}};
		measure(found.directory, found.bytes, found.changed_ns);
		found.parts = trace_parts(found.directory);
		for (const TracePart &part : found.parts) {
			const auto account = std::ranges::find(accounts, part.directory, &ForwardingAccount::directory);
			found.is_complete = found.is_complete && account != accounts.end() && is_stored(*account);
			const bool is_known = account != accounts.end() && account->is_known;
			found.is_known = found.is_known && is_known;
			found.missing_blocks += is_known
						    ? account->recorded - std::min(account->recorded, account->stored)
						    : blocks_in(part.directory);
		}
		entries.push_back(std::move(found));
	}
	if (error)
		throw Error(error.value(), "cannot list the spool " + directory_);
	std::ranges::sort(entries, {}, &Entry::changed_ns);
	return entries;
}

std::string Spool::progress_file(const Entry &entry, const TracePart &part) const
{
	return directory_ + "/.forwarded/" + entry.run + (part.part.empty() ? "" : '~' + part.part);
}

void Spool::step(std::chrono::steady_clock::time_point now)
{
	std::vector<Entry> all = entries();
	account_.bytes = 0;
	for (const Entry &entry : all) {
		for (const TracePart &part : entry.parts) {
			TailOptions options;
			options.run = entry.run;
			options.part = part.part;
			options.progress_file = progress_file(entry, part);
			if (forward_)
				options.forward = forward_(entry.run);
			forwarding_.add(part.directory, options);
			if (!entry.is_running)
				forwarding_.set_ended(part.directory);
		}
		account_.bytes += entry.bytes;
	}
	for (const bool stored : {true, false})
		for (const Entry &entry : all) {
			if (account_.bytes <= account_.max_bytes || entry.is_complete != stored ||
			    !may_remove(entry, now))
				continue;
			remove(entry);
		}
	std::erase_if(unknown_since_, [&](const auto &each) {
		return std::ranges::none_of(
		    all, [&](const Entry &entry) { return entry.run == each.first && !entry.is_known; });
	});
	if (!unknown_since_.empty())
		return;
	if (account_.bytes > account_.max_bytes && !is_full_reported_)
		report_(
		    fmt::format("the spool {} has {} MiB, more than its limit: only recordings that run are left in it",
				directory_, account_.bytes >> 20));
	is_full_reported_ = account_.bytes > account_.max_bytes;
}

bool Spool::may_remove(const Entry &entry, std::chrono::steady_clock::time_point now)
{
	if (entry.is_running || entry.is_known)
		return !entry.is_running;
	const auto [since, is_first] = unknown_since_.try_emplace(entry.run, now);
	return !is_first && now - since->second > unknown_timeout;
}

void Spool::remove(const Entry &entry)
{
	for (const TracePart &part : entry.parts)
		forwarding_.remove(part.directory);
	std::error_code error;
	// Renamed first, so that no half removed trace is visible.
	const std::string removed = directory_ + "/.removed";
	fs::remove_all(removed, error);
	try {
		if (!entry.is_complete)
			save_dropped(&entry);
	} catch (const Error &) { // on a full disk, removing makes space
	}
	fs::rename(entry.directory, removed, error);
	if (error) {
		report_(fmt::format("cannot remove {}: {}", entry.directory, error.message()));
		if (!entry.is_complete)
			save_dropped(nullptr); // else it would count as dropped after it was stored and removed
		return;
	}
	fs::remove_all(removed, error);
	for (const TracePart &part : entry.parts)
		fs::remove(progress_file(entry, part), error);
	account_.bytes -= std::min(account_.bytes, entry.bytes);
	if (entry.is_complete) {
		++account_.removed;
		return;
	}
	++account_.dropped;
	account_.dropped_blocks += entry.missing_blocks;
	save_dropped(nullptr);
	report_(fmt::format(
	    "the spool {} is full: the recording {} was dropped, {} of its blocks were not stored elsewhere",
	    directory_, entry.run, entry.missing_blocks));
}

// Saved before the removal, but `being_removed` only counts once it is gone: so it counts exactly once, even if this
// process is killed meanwhile.
void Spool::save_dropped(const Entry *being_removed) const
{
	nlohmann::ordered_json json = {
	    {"removed", account_.removed}, {"dropped", account_.dropped}, {"dropped_blocks", account_.dropped_blocks}};
	if (being_removed) {
		json["going"] = being_removed->run;
		json["going_blocks"] = being_removed->missing_blocks;
	}
	replace_file_durably(directory_ + "/.forwarded/.dropped", json_dump(json) + '\n', 0600);
}

void Spool::load_dropped()
{
	const auto json = parse_json(read_text(directory_ + "/.forwarded/.dropped", 4096));
	account_.removed = number_field(json, "removed").value_or(0);
	account_.dropped = number_field(json, "dropped").value_or(0);
	account_.dropped_blocks = number_field(json, "dropped_blocks").value_or(0);
	std::error_code error;
	const auto going = text_field(json, "going");
	if (!going || !is_run_name(*going) || fs::exists(directory_ + '/' + *going, error))
		return;
	++account_.dropped;
	account_.dropped_blocks += number_field(json, "going_blocks").value_or(0);
	try {
		save_dropped(nullptr);
	} catch (const Error &) { // on a full disk, the next start counts it
	}
}

} // namespace monitor::fleet
