// SPDX-License-Identifier: MIT
#include "fleet_directory.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "authority.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/fleet/fleet_keys.h"
#include "base/fleet/json_fields.h"
#include "base/fleet/names.h"
#include "base/json.h"
#include "server_configuration.h"

namespace monitor::fleet_setup {
namespace {

namespace fs = std::filesystem;

constexpr unsigned directory_version = 1, secret_mode = 0600, public_mode = 0644;
constexpr std::size_t max_fleet_hosts = 100'000, max_fleet_bytes = 16 << 20;

void make_folder(const std::string &path)
{
	if (::mkdir(path.c_str(), 0700) < 0)
		throw Error(errno, "cannot create " + path);
}

// A file that does not exist yet.
void write_new(const std::string &path, const std::string &text, unsigned mode)
{
	const Fd fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
	monitor::write_all(fd.get(), std::as_bytes(std::span(text)), path);
	if (::fsync(fd.get()) < 0)
		throw Error(errno, "cannot write " + path);
}

// As base/fleet/fleet_keys.h reads it.
void write_keys(const std::string &folder, const Certificate &own, const std::string &ca_pem,
		const std::string &operator_pem, const fleet::HubAddress &hub)
{
	make_folder(folder);
	write_new(folder + "/" + fleet::ca_file, ca_pem, public_mode);
	write_new(folder + "/" + fleet::certificate_file, own.certificate, public_mode);
	write_new(folder + "/" + fleet::certificate_key_file, own.key, secret_mode);
	write_new(folder + "/" + fleet::operator_public_file, operator_pem, public_mode);
	write_new(folder + "/" + fleet::hub_file, hub.url() + "\n", public_mode);
}

void expect_new_host(const std::string &host, const std::vector<std::string> &hosts)
{
	if (!fleet::is_host_name(host))
		throw Error(fmt::format("'{}' is not the name of a host: letters, digits, '.' and '-', as hostname(1) "
					"says it, 63 at most",
					printable(host)));
	// A file system, or a name server, may not tell them apart.
	const auto same = [&](const std::string &other) { return ::strcasecmp(other.c_str(), host.c_str()) == 0; };
	if (std::ranges::any_of(hosts, same))
		throw Error(fmt::format("host {} is there already: each has a name of its own", host));
}

} // namespace

FleetDirectory FleetDirectory::make(const std::string &path, const fleet::HubAddress &hub,
				    const std::vector<std::string> &hosts)
{
	std::error_code error;
	if (fs::exists(fs::symlink_status(path, error)))
		throw Error(fmt::format("{} exists, and keys are never written over: use another -o, or --add HOST",
					printable(path)));
	const std::string unfinished = path + ".unfinished";
	FleetDirectory made(unfinished, hub);
	make_folder(unfinished);
	try {
		const Authority authority;
		const fleet::SigningKey operator_key;
		const std::string ca_pem = authority.pem().certificate;
		for (const char *const folder : {"/ca", "/hub", "/hosts"})
			make_folder(unfinished + folder);
		write_new(unfinished + "/ca/ca.pem", ca_pem, public_mode);
		write_new(unfinished + "/ca/ca.key", authority.pem().key, secret_mode);
		const Certificate server = authority.server(hub.host);
		write_new(unfinished + "/hub/ca.pem", ca_pem, public_mode);
		write_new(unfinished + "/hub/hub.pem", server.certificate, public_mode);
		write_new(unfinished + "/hub/hub.key", server.key, secret_mode);
		write_new(unfinished + "/hub/nats.conf", server_configuration(hub), public_mode);
		write_keys(unfinished + "/operator", authority.client(fleet::operator_name), ca_pem,
			   operator_key.public_key().pem(), hub);
		write_new(unfinished + "/operator/" + fleet::operator_key_file, operator_key.pem(), secret_mode);
		for (const std::string &host : hosts)
			made.add_unlisted(host, authority, operator_key.public_key().pem());
		made.write_lists();
		if (::rename(unfinished.c_str(), path.c_str()) < 0)
			throw Error(errno, "cannot create " + path);
	} catch (const Error &) {
		fs::remove_all(unfinished, error);
		throw;
	}
	return FleetDirectory(path);
}

FleetDirectory::FleetDirectory(std::string path) : path_(std::move(path))
{
	const nlohmann::json json = parse_json(read_file(path_ + "/fleet.json", max_fleet_bytes));
	const auto hub = fleet::text_field(json, "hub", 512);
	auto hosts = fleet::texts_field(json, "hosts", max_fleet_hosts, fleet::max_host_name);
	auto removed = fleet::texts_field(json, "removed", max_fleet_hosts, fleet::max_host_name);
	if (fleet::number_field(json, "version") != directory_version || !hub || !hosts || !removed)
		throw Error(fmt::format("{}/fleet.json is not what this version of `monitor fleet init` writes",
					printable(path_)));
	hub_ = fleet::parse_hub(*hub);
	hosts_ = std::move(*hosts);
	removed_ = std::move(*removed);
}

void FleetDirectory::add_unlisted(const std::string &host, const Authority &authority, const std::string &operator_pem)
{
	expect_new_host(host, hosts_);
	if (std::ranges::find(removed_, host) != removed_.end())
		throw Error(fmt::format("host {} was removed, and its old certificate would be accepted again: give it "
					"another name, or make a new fleet",
					host));
	if (hosts_.size() >= max_fleet_hosts)
		throw Error(fmt::format("a fleet has at most {} hosts", max_fleet_hosts));
	write_keys(path_ + "/hosts/" + host, authority.client(host), authority.pem().certificate, operator_pem, hub_);
	hosts_.push_back(host);
}

void FleetDirectory::add(const std::vector<std::string> &hosts)
{
	const Authority authority({read_file(path_ + "/ca/ca.pem", fleet::max_key_file_bytes),
				   fleet::read_private_file(path_ + "/ca/ca.key")},
				  path_ + "/ca");
	const std::string operator_pem =
	    read_file(path_ + "/operator/" + fleet::operator_public_file, fleet::max_key_file_bytes);
	for (const std::string &host : hosts)
		add_unlisted(host, authority, operator_pem);
	write_lists();
}

void FleetDirectory::remove(const std::vector<std::string> &hosts)
{
	for (const std::string &host : hosts) {
		const auto found = std::ranges::find(hosts_, host);
		if (found == hosts_.end())
			throw Error(fmt::format("there is no host {} in {}", printable(host), printable(path_)));
		hosts_.erase(found);
		removed_.push_back(host);
	}
	write_lists();
}

// fleet.json last: what it names is there.
void FleetDirectory::write_lists() const
{
	std::string list;
	for (const std::string &host : hosts_)
		list += host + "\n";
	replace_file(path_ + "/hub/users.conf", users_configuration(hosts_), public_mode);
	replace_file(path_ + "/operator/" + fleet::hosts_file, list, public_mode);
	replace_file(path_ + "/fleet.json", json(), public_mode);
}

std::string FleetDirectory::json() const
{
	const nlohmann::ordered_json json = {
	    {"version", directory_version}, {"hub", hub_.url()}, {"hosts", hosts_}, {"removed", removed_}};
	return json_dump(json, 1) + "\n";
}

} // namespace monitor::fleet_setup
