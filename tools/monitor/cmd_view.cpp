// SPDX-License-Identifier: MIT
// `monitor view`: a trace in the browser, by a server on this machine or as a file. answers/view/ makes the picture and
// the page.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <fmt/format.h>

#include "answers/view/compared.h"
#include "answers/view/hosts.h"
#include "answers/view/loading.h"
#include "answers/view/view.h"
#include "base/encoding.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/memory_bound.h"
#include "base/signals.h"
#include "commands.h"
#include "common_options.h"
#include "open.h"
#include "output_path.h"
#include "problems.h"
#include "reading/analyze/scheduling.h"

namespace monitor {
namespace {

constexpr std::size_t max_written_bytes = 8u << 20;

struct ViewArguments {
	std::vector<std::string> directories;
	std::string output, layout;
	std::uint16_t port = 0;
	bool no_browser = false, no_cache = false;
};

// A private file that redirects the browser to the URL, which on a command line all users could see.
class RedirectFile {
public:
	explicit RedirectFile(const std::string &address)
	{
		const char *runtime = std::getenv("XDG_RUNTIME_DIR");
		path_ = fmt::format("{}/monitor-view-XXXXXX.html", runtime ? runtime : "/tmp");
		const Fd file(::mkostemps(path_.data(), 5, O_CLOEXEC)); // mode 0600
		const std::string text = fmt::format(
		    "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={}\"><title>monitor view</title>\n",
		    address);
		if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
			throw Error(errno, "cannot write " + path_);
	}
	~RedirectFile() { ::unlink(path_.c_str()); }
	RedirectFile(const RedirectFile &) = delete;
	RedirectFile &operator=(const RedirectFile &) = delete;

	const std::string &path() const { return path_; }

private:
	std::string path_;
};

bool has_desktop()
{
	return ::geteuid() != 0 && (std::getenv("DISPLAY") || std::getenv("WAYLAND_DISPLAY"));
}

// Does not wait for the browser. Starts it in a session of its own, so that Ctrl-C ends only the server.
void open_browser(const std::string &path)
{
	posix_spawnattr_t attributes;
	sigset_t none;
	sigemptyset(&none);
	::posix_spawnattr_init(&attributes);
	::posix_spawnattr_setsigmask(&attributes, &none);
	::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	std::string program = "xdg-open", argument = path;
	char *arguments[] = {program.data(), argument.data(), nullptr};
	pid_t child = 0;
	const std::uint64_t bound = memory_bound();
	set_memory_bound(0); // not to be inherited by the browser
	if (const int error = ::posix_spawnp(&child, "xdg-open", nullptr, &attributes, arguments, environ))
		print_note("monitor: cannot start a browser ({}): open the address yourself\n", std::strerror(error));
	set_memory_bound(bound);
	::posix_spawnattr_destroy(&attributes);
}

void write_page(const view::Picture &picture, const std::string &path)
{
	const view::WrittenPage page = view::written_page(picture, max_written_bytes);
	std::ofstream file(path, std::ios::binary | std::ios::trunc);
	file << page.html;
	file.close();
	if (!file)
		throw Error(errno, "cannot write " + printable(path));
	print_note("monitor: {} written, {:.1f} MB{}{}\n", printable(path), static_cast<double>(page.html.size()) / 1e6,
		   page.left_out.empty() ? "" : "; ", page.left_out);
}

// Returns when it is interrupted.
void serve(const ViewArguments &arguments, const HttpServer::Answer &answer, const std::function<void()> &stop)
{
	const sigset_t end_signals = terminating_signals({SIGINT, SIGTERM, SIGHUP});
	HttpServer server(arguments.port, random_hex(128), answer);
	std::optional<RedirectFile> redirect;
	if (!arguments.no_browser && has_desktop())
		try {
			redirect.emplace(server.address());
		} catch (const Error &error) { // the URL was printed
			print_note("monitor: {}\n", error.what());
		}
	fmt::print("{}\n", server.address());
	if (std::fflush(stdout) != 0)
		throw Error(errno, "cannot print the address");
	print_note("monitor: {} until Ctrl-C; the address is for you alone\n",
		   redirect ? "a browser shows the trace" : "open this address in a browser of this machine;");
	if (redirect)
		open_browser(redirect->path());
	const std::jthread waits([&] {
		int signal = 0;
		::sigwait(&end_signals, &signal);
		stop();
		server.stop();
	});
	server.run();
}

// Serves or writes one picture or two. Returns the exit code.
template <class Shown> int show(const ViewArguments &arguments, Shown &shown)
{
	serve(
	    arguments, [&shown](const HttpRequest &request) { return shown.answer(request); },
	    [&shown] { shown.stop(); });
	if (!shown.failed().empty())
		throw Error(shown.failed());
	int exit_code = 0;
	for (const std::shared_ptr<const view::Picture> &picture : shown.pictures())
		exit_code |= picture ? print_problems(picture->problems()) : 0;
	return exit_code;
}

trace::Trace open_for_picture(const std::string &directory)
{
	trace::Trace trace = open_trace({directory});
	expect_events(trace, "a view");
	analyze::expect_scheduling(trace, analyze::recording_of(trace));
	return trace;
}

// The recordings of a collection; notes and skips those that cannot be shown. Throws Error if none can.
std::vector<view::Hosts::Recording> open_collection(const std::string &directory,
						    const std::vector<std::string> &recordings)
{
	std::vector<view::Hosts::Recording> opened;
	std::vector<std::string> warnings;
	const auto clocks = trace::read_collection(directory, warnings);
	for (const std::string &warning : warnings)
		print_note("monitor: {}\n", printable(warning));
	for (const std::string &recording : recordings)
		try {
			trace::Trace trace = open_for_picture(recording);
			std::string name = std::filesystem::path(recording).lexically_relative(directory).string();
			auto clock = view::clock_of(clocks, name, trace);
			opened.push_back({std::move(name), recording, std::move(trace), std::move(clock)});
		} catch (const Error &error) {
			print_note("monitor: {} is left out: {}\n", printable(recording), printable(error.what()));
		}
	if (opened.empty())
		throw Error("no recording in {} can be viewed", printable(directory));
	return opened;
}

// Blocks, for all threads, the signals that serve() waits for.
void block_end_signals()
{
	const sigset_t end_signals = terminating_signals({SIGINT, SIGTERM, SIGHUP});
	::pthread_sigmask(SIG_BLOCK, &end_signals, nullptr);
}

int view_collection(const ViewArguments &arguments, const std::vector<std::string> &recordings)
{
	if (!arguments.output.empty() || !arguments.layout.empty())
		throw Error(
		    "{} has the recordings of several hosts, and -o and --layout are for one: name {}, for example",
		    printable(arguments.directories.front()), printable(recordings.front()));
	auto opened = open_collection(arguments.directories.front(), recordings);
	block_end_signals();
	view::Hosts hosts(std::move(opened), !arguments.no_cache);
	return show(arguments, hosts);
}

int run_view(const ViewArguments &arguments)
{
	const std::vector<std::string> &directories = arguments.directories;
	if (directories.size() == 1)
		if (const auto recordings = trace::Trace::recordings_in(directories.front()); recordings.size() > 1)
			return view_collection(arguments, recordings);
	if (!arguments.layout.empty() && !arguments.output.empty())
		throw Error(
		    "--layout is for the animation, which a page that -o writes does not have: omit one of them");
	if (directories.size() > 1 && !arguments.output.empty())
		throw Error("-o writes a page of one trace: name one directory");
	if (!arguments.output.empty())
		expect_outside(arguments.output, directories);
	std::optional<play::Layout> layout;
	if (!arguments.layout.empty())
		layout = play::load_layout(arguments.layout);
	trace::Trace trace = open_for_picture(directories.front());
	if (!arguments.output.empty()) {
		const view::Picture picture(directories, std::move(trace), {}, {!arguments.no_cache});
		write_page(picture, arguments.output);
		return print_problems(picture.problems());
	}
	block_end_signals();
	if (directories.size() == 1) {
		view::Loading loading(directories, std::move(trace), !arguments.no_cache, std::move(layout));
		return show(arguments, loading);
	}
	trace::Trace second = open_for_picture(directories.back());
	view::Compared compared({directories.front(), std::move(trace)}, {directories.back(), std::move(second)},
				!arguments.no_cache, std::move(layout));
	return show(arguments, compared);
}

} // namespace

void add_view(CLI::App &app, int &exit_code)
{
	CLI::App *command = app.add_subcommand("view", "look at a trace in a browser");
	auto arguments = std::make_shared<ViewArguments>();
	add_option(*command, "trace", "DIR [DIR2]", arguments->directories,
		   "a trace directory, a collection of several hosts, or two traces to compare")
	    ->required()
	    ->expected(1, 2);
	add_option(*command, "-o,--output", "FILE.html", arguments->output,
		   "write the page with its data into this file, to send it to someone, and end");
	add_option(*command, "--layout", "FILE", arguments->layout,
		   "of the animation (key P): threads where this file says, with arrows; or a shipped one: pipeline");
	add_option(*command, "--port", "N", arguments->port, "listen on this port (default: one that is free)");
	command->add_flag("--no-browser", arguments->no_browser, "only print the address");
	command->add_flag("--no-cache", arguments->no_cache, "read all of the trace again, and keep nothing of it");
	command->footer("The page is served on 127.0.0.1 only, at an address that nobody can guess, until Ctrl-C.\n"
			"Exit code: 0, or 1 if parts of the trace are damaged.\n"
			"Examples:\n"
			"  monitor view DIR\n"
			"  monitor view RUN\n"
			"  monitor view BEFORE AFTER\n"
			"  monitor view DIR --layout pipeline\n"
			"  monitor view DIR -o picture.html\n"
			"  ssh -L 8080:127.0.0.1:8080 HOST monitor view --port 8080 DIR");
	command->callback([arguments, &exit_code] { exit_code = run_view(*arguments); });
}

} // namespace monitor
