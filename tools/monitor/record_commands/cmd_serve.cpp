// SPDX-License-Identifier: MIT
// `monitor serve`: metrics of this machine for Prometheus: a recording that writes nothing, its sums
// (answers/metrics/), and a local HTTP server (base/http.h).
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "answers/metrics/metrics.h"
#include "answers/metrics/newest_text.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/http.h"
#include "commands.h"
#include "common_options.h"
#include "live_recording.h"
#include "problems.h"

namespace monitor {
namespace {

constexpr std::size_t max_series = 1000, default_series = 20;
constexpr auto name_check_interval = std::chrono::seconds(1);

struct ServeArguments {
	LiveOptions live;
	std::string metrics = "127.0.0.1:9464";
	std::size_t series = default_series;
};

// The port of ADDRESS:PORT. Throws Error for another address than this machine's own.
std::uint16_t port_of(const std::string &where)
{
	const std::size_t colon = std::min(where.rfind(':'), where.size());
	const std::string address = where.substr(0, colon), port = where.substr(std::min(colon + 1, where.size()));
	char *end;
	const long number = std::strtol(port.c_str(), &end, 10);
	if (port.empty() || port.find_first_not_of("0123456789") != std::string::npos || port.size() > 5 ||
	    number > 65535)
		throw Error("--metrics: '{}' is not an address and a port, such as 127.0.0.1:9464", printable(where));
	if (address != "127.0.0.1" && address != "localhost")
		throw Error("--metrics {}: figures are served on 127.0.0.1 only, because whoever asks gets them; for "
			    "others run a proxy that asks who they are (see man monitor-serve)",
			    printable(where));
	return static_cast<std::uint16_t>(number);
}

HttpResponse answer(const HttpRequest &request, metrics::NewestText &newest, const LiveRecording &running)
{
	const std::string plain = "text/plain; charset=utf-8";
	if (request.path == "/")
		return {200, plain, "monitor serve: the metrics are at /metrics\n"};
	if (request.path != "/metrics")
		return {404, plain, "there is only /metrics\n"};
	const metrics::Format format = metrics::preferred_format(request.accept);
	const auto text = newest.in(format, {MONITOR_VERSION, running.lost()});
	if (!text)
		return {503, plain, "the recording has not started yet\n"};
	return {200, metrics::content_type(format), *text};
}

// A thread that looks up names of cgroups, for its lifetime.
class Naming {
public:
	Naming(metrics::Metrics &metrics, const LiveRecording &running)
	    : naming_(running, [&metrics](CgroupNaming::Paths paths) { metrics.name_cgroups(std::move(paths)); }),
	      thread_([this, &metrics](const std::stop_token &stop) { look_up_names(metrics, stop); })
	{
	}

private:
	void look_up_names(const metrics::Metrics &metrics, const std::stop_token &stop)
	{
		std::mutex lock;
		std::unique_lock held(lock);
		std::condition_variable_any none; // never notified; `stop` ends the wait
		while (!none.wait_for(held, stop, name_check_interval, [] { return false; }) && !stop.stop_requested())
			if (metrics.has_unnamed_cgroups())
				naming_.look_up_if_due();
	}

	CgroupNaming naming_;
	std::jthread thread_;
};

// Returns the exit code.
int run_serve(const ServeArguments &arguments)
{
	metrics::Metrics metrics(arguments.live.window_ns(), arguments.series);
	record::Options options = arguments.live.record_options("serve");
	options.live = metrics.fold();
	metrics::NewestText newest(metrics);
	const LiveRecording *live_recording = nullptr;
	// Before the recording drops the privilege to listen.
	HttpServer server(port_of(arguments.metrics), "",
			  [&](const HttpRequest &request) { return answer(request, newest, *live_recording); });
	LiveRecording running(std::move(options), [&server] { server.stop(); });
	live_recording = &running;
	fmt::print("{}metrics\n", server.address());
	if (std::fflush(stdout) != 0)
		throw Error(errno, "cannot print the address");
	print_note("monitor: Prometheus can ask this address, on this machine, until Ctrl-C\n");
	{
		const Naming naming(metrics, running);
		server.run();
		running.stop();
	}
	if (running.result().failed) {
		print_error(running.result().end_reason);
		return exit_monitor_failed;
	}
	return 0;
}

} // namespace

void add_serve(CLI::App &app, int &exit_code)
{
	CLI::App *command = app.add_subcommand("serve", "count for Prometheus what the machine does");
	auto arguments = std::make_shared<ServeArguments>();
	add_option(*command, "--metrics", "ADDR:PORT", arguments->metrics,
		   "answer at http://ADDR:PORT/metrics (default: 127.0.0.1:9464; port 0: any)");
	add_option(*command, "-d,--delay", "TIME", arguments->live.delay,
		   "figures are brought up to date this often (default: 1s)");
	add_option(*command, "--top", "N", arguments->series,
		   fmt::format("rows, and calls, with series of their own (default: {})", default_series))
	    ->check(CLI::Range(std::size_t{1}, max_series));
	add_option(*command, "-p", "PID|NAME,...", arguments->live.selection,
		   "only these processes and their descendants, by number or name");
	add_option(*command, "-e", "FAMILY,...", arguments->live.families,
		   "event families, or default or light, as of monitor record");
	command->add_option("--card", arguments->live.card, "bpf, module; auto: as of monitor record")
	    ->check(CLI::IsMember({"auto", "bpf", "module"}));
	add_option(*command, "--buffer", "SIZE", arguments->live.buffer, "memory for the rings, as of monitor record");
	command->add_flag("--no-calibration", arguments->live.no_calibration, "do not measure what an event costs");
	command->footer(
	    "Counters and histograms of CPU time, waits, run-queue latency and system calls by cgroup and command,\n"
	    "as OpenMetrics, or as text for an older Prometheus. Nothing is written. The most important N have\n"
	    "series of their own, the others are `other`. Loopback only: for other machines run a proxy.\n"
	    "Exit code: 0, 125 if the recording failed.\n"
	    "Examples:\n"
	    "  sudo monitor serve\n"
	    "  sudo monitor serve --metrics 127.0.0.1:9500 --top 50\n"
	    "  sudo monitor serve -e sched            without system calls and faults: it costs least\n"
	    "  curl http://127.0.0.1:9464/metrics\n"
	    "  sudo systemctl enable --now monitor-serve");
	command->callback([arguments, &exit_code] { exit_code = run_serve(*arguments); });
}

} // namespace monitor
