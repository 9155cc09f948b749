// SPDX-License-Identifier: MIT
#include "spool.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/fleet/durable_file.h"
#include "base/fleet/names.h"
#include "base/json.h"

namespace monitor::fleet {
namespace {

namespace fs = std::filesystem;

// What a trace takes on the disk, and when it changed last.
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

// Complete is also what will never be stored.
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
		Entry found{run, directory_ + '/' + run, 0, 0, is_running_(run), true, 0, {}};
		measure(found.directory, found.bytes, found.changed_ns);
		found.parts = trace_parts(found.directory);
		for (const TracePart &part : found.parts) {
			const auto account = std::ranges::find(accounts, part.directory, &ForwardingAccount::directory);
			found.is_complete = found.is_complete && account != accounts.end() && is_stored(*account);
			if (account != accounts.end())
				found.missing_blocks +=
				    account->recorded - std::min(account->recorded, account->stored);
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

void Spool::step()
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
			if (account_.bytes <= account_.max_bytes || entry.is_running || entry.is_complete != stored)
				continue;
			remove(entry);
		}
	if (account_.bytes > account_.max_bytes && !is_told_full_)
		report_(
		    fmt::format("the spool {} has {} MiB, more than its limit: only recordings that run are left in it",
				directory_, account_.bytes >> 20));
	is_told_full_ = account_.bytes > account_.max_bytes;
}

void Spool::remove(const Entry &entry)
{
	for (const TracePart &part : entry.parts)
		forwarding_.remove(part.directory);
	std::error_code error;
	// hidden first: what is half removed is no trace any more
	const std::string removed = directory_ + "/.removed";
	fs::remove_all(removed, error);
	fs::rename(entry.directory, removed, error);
	if (error) {
		report_(fmt::format("cannot remove {}: {}", entry.directory, error.message()));
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
	save_dropped();
	report_(fmt::format(
	    "the spool {} is full: the recording {} was dropped, {} of its blocks were not stored elsewhere",
	    directory_, entry.run, entry.missing_blocks));
}

void Spool::save_dropped() const
{
	replace_file_durably(directory_ + "/.forwarded/.dropped",
			     json_dump(nlohmann::ordered_json{{"removed", account_.removed},
							      {"dropped", account_.dropped},
							      {"dropped_blocks", account_.dropped_blocks}}) +
				 '\n',
			     0600);
}

void Spool::load_dropped()
{
	const auto json = parse_json(read_text(directory_ + "/.forwarded/.dropped", 4096));
	for (const auto &[name, to] : {std::pair("removed", &account_.removed), std::pair("dropped", &account_.dropped),
				       std::pair("dropped_blocks", &account_.dropped_blocks)})
		if (json.is_object() && json.contains(name) && json[name].is_number_unsigned())
			*to = json[name].get<std::uint64_t>();
}

} // namespace monitor::fleet
