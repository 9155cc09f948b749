// SPDX-License-Identifier: MIT
#include "run_directory.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/durable_file.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "block_writer.h"

namespace monitor::fleet {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json account_of(const Uuid &uuid, const std::string &part, const StoredTrace &trace)
{
	return {{"uuid", uuid_digits(uuid)},       {"part", part},
		{"directory", trace.directory},    {"blocks", trace.blocks()},
		{"streams", trace.streams.size()}, {"descriptions", trace.descriptions.size()}};
}

constexpr std::pair<const char *, std::uint64_t StoredHost::*> host_numbers[] = {
    {"batches", &StoredHost::batches},     {"repeated", &StoredHost::repeated},
    {"conflicts", &StoredHost::conflicts}, {"conflicts_kept", &StoredHost::conflicts_kept},
    {"sessions", &StoredHost::sessions},   {"last_seen_ns", &StoredHost::last_seen_ns}};

void ensure_directory(const std::string &path)
{
	if (::mkdir(path.c_str(), 0700) == 0)
		return;
	const int error = errno;
	struct stat status;
	if (error != EEXIST || ::lstat(path.c_str(), &status) < 0 || !S_ISDIR(status.st_mode))
		throw Error(error, "cannot make the directory " + path);
}

} // namespace

std::uint64_t StoredTrace::blocks() const
{
	return std::accumulate(streams.begin(), streams.end(), std::uint64_t(0),
			       [](std::uint64_t sum, const auto &stream) { return sum + stream.second.blocks; });
}

std::uint64_t StoredTrace::size() const
{
	return std::accumulate(streams.begin(), streams.end(), std::uint64_t(0),
			       [](std::uint64_t sum, const auto &stream) { return sum + stream.second.size; });
}

RunDirectory::RunDirectory(const std::string &path, const std::string &run, const Shard &shard)
    : path_(path), run_(run), shard_(shard), instance_(std::stoull(random_hex(64), nullptr, 16))
{
	while (path_.size() > 1 && path_.back() == '/')
		path_.pop_back();
	std::error_code error;
	const bool is_run = fs::is_regular_file(path_ + "/.monitor/fleet.json", error);
	if (!is_run && fs::exists(path_, error) && !(fs::is_directory(path_, error) && fs::is_empty(path_, error)))
		throw Error(path_ + " exists and is not a run of a fleet; name another directory with -o");
	fs::create_directories(path_, error);
	if (!fs::is_directory(path_, error))
		throw Error(error.value(), "cannot make the directory " + path_);
	if (!is_run)
		::chmod(path_.c_str(), 0700);
	lock_ = open_file(path_, O_RDONLY | O_DIRECTORY);
	if (::flock(lock_.get(), LOCK_EX | LOCK_NB) < 0)
		throw Error("another collector writes " + path_ + ": end it, or name another directory with -o");
	ensure_directory(path_ + "/.monitor");
	for (const char *const name : {"incoming", "conflicts", "clocks"})
		ensure_directory(path_ + "/.monitor/" + name);
	sync_directory(path_ + "/.monitor");
	sync_directory(path_);
	for (const fs::directory_entry &left : fs::directory_iterator(path_ + "/.monitor/incoming", error))
		fs::remove(left.path(), error); // of a killed collector: the hosts send them again
	if (is_run)
		load();
	else
		store_ = std::stoull(random_hex(64), nullptr, 16);
	unsynced_directories_.clear(); // of accounted traces, which were synced before
	write(accounts());
}

// Syncs even if it exists: a killed collector may not have.
void RunDirectory::make_directory(const std::string &path)
{
	ensure_directory(path);
	unsynced_directories_.insert(directory_of(path));
}

void RunDirectory::load()
{
	const std::string file = path_ + "/.monitor/fleet.json";
	const auto json = parse_json(read_file(file, 256u << 20));
	if (json.is_object() && json.contains("merged"))
		throw Error(path_ + " was made of the shards of a run: collect into these, and merge them again");
	const std::string store = text_field(json, "store").value_or("");
	if (store.size() != 16 || store.find_first_not_of("0123456789abcdef") != std::string::npos ||
	    !json.contains("hosts") || !json["hosts"].is_array())
		throw Error(file + " is damaged: name another directory with -o");
	const std::string shard = json.contains("shard") ? text_field(json, "shard").value_or("") : shard_text({});
	if (shard != shard_text(shard_))
		throw Error("{} is shard {} of its run, not {}: name another directory with -o", path_,
			    printable(shard), shard_text(shard_));
	store_ = std::stoull(store, nullptr, 16);
	const std::string run = text_field(json, "run").value_or("");
	if (run_.empty())
		run_ = run;
	else if (!run.empty() && run != run_)
		throw Error("{} is the run {}, not {}: name another directory with -o", path_, run, run_);
	if (json.contains("cost"))
		cost = json["cost"];
	for (const auto &host : json["hosts"])
		if (const std::string name = text_field(host, "host").value_or(""); is_host_name(name))
			load_host(name, host);
}

void RunDirectory::load_host(const std::string &name, const nlohmann::json &json)
{
	StoredHost &stored = hosts_[name];
	for (const auto &[member, number] : host_numbers)
		stored.*number = number_field(json, member).value_or(0);
	for (const auto &[why, number] : object_field(json, "refused").items())
		if (number.is_number_unsigned())
			stored.refused[why] = number.get<std::uint64_t>();
	for (const auto &trace : array_field(json, "traces")) {
		Uuid uuid;
		std::string why;
		const std::string part = text_field(trace, "part").value_or("");
		if (parse_uuid(text_field(trace, "uuid").value_or(""), uuid) && (part.empty() || is_stream_name(part)))
			add(name, uuid, part, why);
	}
}

StoredTrace *RunDirectory::find_or_add(const std::string &name, const Uuid &uuid, const std::string &part,
				       std::string &why)
{
	StoredHost &host = hosts_[name];
	const auto found = host.traces.find({uuid, part});
	if (found != host.traces.end())
		return &found->second;
	if (host.uuids.empty())
		set_unaccounted_aside(name);
	return add(name, uuid, part, why);
}

// A collector killed between writing a host's first trace and saving the accounts leaves blocks of an unknown trace.
// None was acknowledged, so the host still has them; they must not be compared with those of another trace.
void RunDirectory::set_unaccounted_aside(const std::string &name)
{
	const std::string from = path_ + '/' + name, aside = path_ + "/.monitor/unaccounted";
	std::error_code error;
	if (!fs::is_directory(fs::symlink_status(from, error)) || fs::is_empty(from, error))
		return;
	make_directory(aside);
	const std::string to = aside + '/' + name + '-' + random_hex(64);
	if (::rename(from.c_str(), to.c_str()) < 0)
		throw Error(errno, "cannot move " + from);
	notice_ = fmt::format(
	    "{} is of no trace in the accounts, and was acknowledged to nobody: it is moved to {}, and may be removed",
	    from, to);
}

StoredTrace *RunDirectory::add(const std::string &name, const Uuid &uuid, const std::string &part, std::string &why)
{
	StoredHost &host = hosts_[name];
	if (host.traces.size() >= max_traces_of_host) {
		why = fmt::format("the host has {} traces in this run already", max_traces_of_host);
		return nullptr;
	}
	auto known = std::ranges::find(host.uuids, uuid);
	const bool is_first = known == host.uuids.begin();
	std::string directory = name;
	make_directory(path_ + '/' + directory);
	if (!is_first)
		make_directory(path_ + '/' + (directory += '/' + uuid_digits(uuid)));
	if (!part.empty())
		make_directory(path_ + '/' + (directory += '/' + part));
	make_directory(path_ + '/' + directory + "/.monitor");
	if (known == host.uuids.end())
		host.uuids.push_back(uuid);
	StoredTrace &stored = host.traces[{uuid, part}];
	stored.directory = directory;
	stored.number = ++traces_;
	read_stored(stored);
	return &stored;
}

// Finds what an earlier collector stored there.
void RunDirectory::read_stored(StoredTrace &stored) const
{
	std::error_code error;
	const fs::path root = fs::path(path_) / stored.directory;
	for (const fs::directory_entry &entry : fs::directory_iterator(root, error))
		if (const std::string name = entry.path().filename();
		    entry.symlink_status(error).type() == fs::file_type::regular && is_stream_name(name))
			stored.streams[name] = {entry.file_size(error) / block_bytes, count_blocks(entry.path())};
	for (const fs::directory_entry &entry : fs::directory_iterator(root / ".monitor", error))
		stored.descriptions[".monitor/" + entry.path().filename().string()] = entry.file_size(error);
	if (fs::is_regular_file(root / "metadata", error))
		stored.descriptions["metadata"] = fs::file_size(root / "metadata", error);
}

Json RunDirectory::accounts() const
{
	Json hosts = Json::array();
	for (const auto &[name, host] : hosts_) {
		Json traces = Json::array();
		std::uint64_t blocks = 0;
		// In order of arrival, as the first one's directory is the host's.
		for (const Uuid &uuid : host.uuids)
			for (auto trace = host.traces.lower_bound({uuid, ""});
			     trace != host.traces.end() && trace->first.first == uuid; ++trace) {
				traces.push_back(account_of(trace->first.first, trace->first.second, trace->second));
				blocks += trace->second.blocks();
			}
		Json &json =
		    hosts.emplace_back(Json{{"host", name}, {"blocks", blocks}, {"bytes", blocks * block_bytes}});
		for (const auto &[member, number] : host_numbers)
			json[member] = host.*number;
		json["refused"] = Json::object();
		for (const auto &[why, number] : host.refused)
			json["refused"][why] = number;
		json["traces"] = std::move(traces);
	}
	Json all = {{"version", 1},
		    {"run", run_},
		    {"shard", shard_text(shard_)},
		    {"store", fmt::format("{:016x}", store_)},
		    {"hosts", std::move(hosts)}};
	if (!cost.is_null())
		all["cost"] = cost;
	return all;
}

void RunDirectory::write(const Json &accounts)
{
	replace_file_durably(path_ + "/.monitor/fleet.json", json_dump(accounts, 1) + '\n', 0600);
	write_collection(accounts);
}

// Only adds missing hosts: fleet/clocks writes the clocks.
void RunDirectory::write_collection(const Json &accounts)
{
	const auto has_traces = [](const Json &host) { return !host["traces"].empty(); };
	const auto wanted = static_cast<std::size_t>(std::ranges::count_if(accounts["hosts"], has_traces));
	if (hosts_in_collection_ == wanted && hosts_in_collection_ > 0)
		return;
	const std::string file = path_ + "/.monitor/collection.json";
	Json json = parse_json<Json>(read_text(file, 256u << 20));
	if (!json.is_object() || !json.contains("parts") || !json["parts"].is_array())
		json = Json{{"parts", Json::array()}};
	std::map<std::string, bool> listed;
	for (const Json &part : json["parts"])
		if (const auto directory = text_field(part, "directory"))
			listed[*directory] = true;
	bool is_changed = listed.empty() && accounts["hosts"].empty();
	for (const Json &host : accounts["hosts"]) {
		const auto name = host["host"].get<std::string>();
		if (!has_traces(host) || listed.contains(name))
			continue;
		json["parts"].push_back({{"directory", name},
					 {"source", name},
					 {"shift_ns", 0},
					 {"bound_ns", nullptr},
					 {"how", "unchanged"}});
		is_changed = true;
	}
	if (is_changed)
		replace_file_durably(file, json_dump(json, 1) + '\n', 0600);
	hosts_in_collection_ = wanted;
}

} // namespace monitor::fleet
