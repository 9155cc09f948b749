// SPDX-License-Identifier: MIT
// `monitor fleet init`: makes the keys of a fleet, and says what to copy where. answers/fleet_setup/ does the work.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "answers/fleet_setup/fleet_directory.h"
#include "base/error.h"
#include "base/escape.h"
#include "cmd_fleet.h"

namespace monitor {
namespace {

constexpr std::size_t shown_hosts = 4;

struct InitArguments {
	std::string output = "fleet", hub;
	std::vector<std::string> hosts, added, removed;
};

void print_steps_of_hosts(const std::string &directory, const std::vector<std::string> &hosts)
{
	for (std::size_t i = 0; i < hosts.size() && i < shown_hosts; ++i)
		fmt::print("  scp -rp {}/hosts/{} root@{}:/etc/monitor/fleet\n"
			   "  ssh root@{} systemctl enable --now monitor-agent\n",
			   directory, hosts[i], hosts[i], hosts[i]);
	if (hosts.size() > shown_hosts)
		fmt::print("  ... and {} more, likewise\n", hosts.size() - shown_hosts);
}

void print_steps(const fleet_setup::FleetDirectory &made, const std::string &directory)
{
	fmt::print("keys and certificates of {} {} and the hub {} are in {}\n"
		   "Who has {}/ca can add hosts, who has {}/operator can command them: keep both secret.\n\n"
		   "1. the hub, with nats-server and monitor (/etc/monitor must exist):\n"
		   "  scp -rp {}/hub root@{}:/etc/monitor/hub\n"
		   "  ssh root@{} chown -R nats: /etc/monitor/hub\n"
		   "  ssh root@{} systemctl enable --now monitor-hub\n"
		   "  (or, without systemd: cd {}/hub && nats-server -c nats.conf)\n"
		   "2. each host, with monitor:\n",
		   made.hosts().size(), made.hosts().size() == 1 ? "host" : "hosts", made.hub().host_and_port(),
		   directory, directory, directory, directory, made.hub().host, made.hub().host, made.hub().host,
		   directory);
	print_steps_of_hosts(directory, made.hosts());
	fmt::print("3. here:\n"
		   "  export MONITOR_FLEET={}/operator\n"
		   "  monitor fleet status\n"
		   "  monitor fleet record --run first -d 10\n",
		   directory);
}

void print_reload(const fleet_setup::FleetDirectory &directory, const std::string &path)
{
	const std::string &hub = directory.hub().host;
	fmt::print("the hub loads the new list of hosts, without cutting off the others, after\n"
		   "  scp -p {}/hub/users.conf root@{}:/etc/monitor/hub/users.conf\n"
		   "  ssh root@{} systemctl reload monitor-hub\n"
		   "  (or, without systemd: kill -HUP the nats-server)\n",
		   path, hub, hub);
}

int change(const InitArguments &arguments, const std::string &path)
{
	if (!arguments.hub.empty() || !arguments.hosts.empty())
		throw Error(
		    "--add and --remove change a fleet that exists: leave out --hub, and give each host its own "
		    "--add or --remove");
	fleet_setup::FleetDirectory directory(arguments.output);
	if (!arguments.added.empty())
		directory.add(arguments.added);
	if (!arguments.removed.empty())
		directory.remove(arguments.removed);
	if (!arguments.added.empty()) {
		fmt::print("new hosts, with monitor:\n");
		print_steps_of_hosts(path, arguments.added);
	}
	print_reload(directory, path);
	if (!arguments.removed.empty())
		fmt::print("Until then {} can still connect. A connection that stands ends with the reload.\n",
			   fmt::join(arguments.removed, ", "));
	return 0;
}

int run_init(const InitArguments &arguments)
{
	const std::string path = printable(arguments.output);
	if (!arguments.added.empty() || !arguments.removed.empty())
		return change(arguments, path);
	if (arguments.hub.empty())
		throw Error("--hub is missing: the name or address under which hosts reach the hub");
	const std::string hub =
	    arguments.hub.find("://") == std::string::npos ? "tls://" + arguments.hub : arguments.hub;
	if (!hub.starts_with("tls://"))
		throw Error("--hub: the hub of a fleet speaks TLS: give HOST[:PORT]");
	print_steps(fleet_setup::FleetDirectory::make(arguments.output, fleet::parse_hub(hub), arguments.hosts), path);
	return 0;
}

} // namespace

void add_fleet_init(CLI::App &fleet, int &exit_code)
{
	CLI::App *init = fleet.add_subcommand("init", "make the keys and certificates of a fleet");
	auto arguments = std::make_shared<InitArguments>();
	init->add_option("-o,--output", arguments->output, "the directory for them (default: fleet)")
	    ->option_text("DIR");
	init->add_option("--hub", arguments->hub, "where hosts reach the hub (port: 4222)")->option_text("HOST[:PORT]");
	init->add_option("--add", arguments->added, "add this host to a fleet that exists")
	    ->option_text("HOST")
	    ->allow_extra_args(false);
	init->add_option("--remove", arguments->removed, "remove this host: the hub refuses its certificate then")
	    ->option_text("HOST")
	    ->allow_extra_args(false);
	init->add_option("hosts", arguments->hosts, "the hosts, as hostname(1) says on each")->option_text("HOST...");
	init->footer("Nothing is ever written over. It prints what to copy where.\n"
		     "Examples:\n"
		     "  monitor fleet init --hub hub.example.org web1 web2 db1\n"
		     "  monitor fleet init -o fleet --add web3\n"
		     "  monitor fleet init -o fleet --remove web1");
	init->callback([arguments, &exit_code] { exit_code = run_init(*arguments); });
}

} // namespace monitor
