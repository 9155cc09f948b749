// SPDX-License-Identifier: MIT
#include "session.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/encoding.h"
#include "base/error.h"
#include "base/own_cpu_time.h"
#include "card_options.h"
#include "monitor/function_table.h"
#include "online_cpus.h"
#include "recording/card/preflight_checks.h"
#include "recording/counting/counter_classes.h"
#include "recording/recorder/confine.h"
#include "recording/recorder/directory.h"
#include "recording/recorder/process_numbers.h"
#include "recording/recorder/recorders.h"

namespace monitor::record {
namespace {

constexpr unsigned first_slope_ms = 20;
constexpr std::size_t other_files = 32; // opened occasionally, besides streams
constexpr std::chrono::milliseconds cgroup_budget_at_start(1);

std::vector<std::string> stream_names(const card::BpfCard *card)
{
	std::vector<std::string> names{"recorder"};
	for (unsigned cpu = 0; card && cpu < card->cpus(); ++cpu)
		for (unsigned level = 0; level < card->rings(); ++level)
			names.push_back(level ? fmt::format("kernel_cpu{}_level{}", cpu, level)
					      : fmt::format("kernel_cpu{}", cpu));
	return names;
}

} // namespace

Session::Session(Options options, Listener listener)
    : options_(std::move(options)), listener_(std::move(listener)), user_(invoking_user()),
      ending_(options_.duration_s), uuid_(random_uuid())
{
}

void Session::expect_possible() const
{
	if (::geteuid() != 0 && options_.everyone)
		throw Error(
		    "--user needs root, because it records the events of every user's programs: run it with sudo");
	if (::geteuid() != 0 && !options_.user_only)
		throw Error("recording needs root: run it with sudo (reading a trace and --user-only do not)");
	if (options_.user_only && !card::has_invariant_tsc())
		throw Error(
		    "--user-only needs a time stamp counter of constant rate on all CPUs, which this machine lacks");
	if (!in_first_pid_namespace() && (options_.filtering() || !options_.command.empty()))
		throw Error("in a container with its own process numbers, no process can be selected: leave out -p and "
			    "the command, or start the container with the host's process numbers (--pid=host)");
	if (!in_first_pid_namespace() && options_.matching &&
	    std::ranges::any_of(options_.matching->request.triggers,
				[](const NamedTrigger &trigger) { return trigger.does(TriggerAct::Kind::signal); }))
		throw Error(
		    "in a container with its own process numbers, a trigger knows no process that it could signal: "
		    "leave out signal, or start the container with the host's process numbers (--pid=host)");
}

// Gives up the default samples of the command.
void Session::give_up_samples(const std::string &why)
{
	options_.stacks = {};
	why_no_samples_ = why;
}

void Session::start()
{
	expect_possible();
	if (const std::string why = why_no_samples(options_); !why.empty())
		give_up_samples(why);
	make_directory();
	try {
		start_parts();
	} catch (...) {
		// Frees a descriptor: removing the directory needs some, which may have run out.
		announcement_.reset();
		stop_threads();
		if (writer_)
			writer_->finish();
		drain_.reset();
		flight_.reset();
		users_.reset();
		command_.reset();
		directory_lock_.reset();
		std::optional<AsUser> as; // never remove a user's path as root
		if (!privileges_dropped_)
			as.emplace(user_);
		remove_directory();
		throw;
	}
	if (!why_no_samples_.empty())
		notify("no stacks of the command: " + why_no_samples_);
}

void Session::start_parts()
{
	if (options_.flight)
		requests_ = std::make_unique<SnapshotRequests>(
		    user_.uid, std::filesystem::absolute(result_.directory).string(), card::has_invariant_tsc());
	announcement_ = announce_recorder();
	add_other_recorders(file_, other_recorders());
	open_user_card();
	description_ = std::make_unique<Description>(options_, uuid_, functions_, lives_ ? &*lives_ : nullptr,
						     result_.directory, users_.get());
	if (!options_.functions.empty()) {
		functions_.find(options_, users_ && !options_.command.empty(), user_);
		for (const std::string &note : functions::notes(functions_.found().left_out))
			notify("--functions: " + note);
	}
	expect_readable_programs();
	prepare_matching();
	if (matched_)
		acts_ = std::make_unique<TriggerActs>(options_.matching->request.triggers,
						      std::filesystem::absolute(result_.directory).string(), user_,
						      users_.get());
	if (!options_.command.empty())
		command_ = std::make_unique<Command>(options_.command, user_, environment_of_command());
	add_origin(file_, options_, command_ ? command_->pid() : 0, user_.name, uuid_);
	if (options_.user_only)
		measure_clock();
	else
		load_card();
	if (card_)
		cgroups_.collect(); // slow, so before the probes are attached; but after the card reports new groups
	if (options_.everyone && !(users_ && users_->other_recorder()))
		find_programs();
	try {
		if (options_.stacks.any())
			prepare_stacks();
	} catch (const Error &error) {
		if (!options_.stacks.of_command)
			throw;
		card_->stop_stack_timers();
		give_up_samples(error.what());
	}
	if (card_)
		prepare_late_cpus();
	raise_file_limit();
	drop_privileges(user_);
	file_.confined = confine_to(result_.directory);
	privileges_dropped_ = true;
	if (stacks_)
		stacks_->start(result_.directory + "/.monitor");
	if (options_.calibrates_in_phases)
		phases_ = std::make_unique<CalibrationPhases>(*card_, steering_->invariant_tsc(), command_->pid(),
							      failure_, [this] { threads_->list_after_phase(); });
	if (options_.flight)
		start_flight();
	else
		start_recording();
	if (triggers_)
		perform_actions(); // actions of triggers at the start
	if (command_)
		result_.exec_error = command_->go();
	if (phases_ && !result_.exec_error)
		phases_->start();
	if (!result_.exec_error)
		remove_replaced_trace(result_.directory);
	if (listener_.on_start && !result_.exec_error)
		listener_.on_start(result_.directory);
}

// After a failed start: restores the earlier state.
void Session::remove_directory() const
{
	if (lives_)
		lives_->restore(result_.directory);
	else
		remove_trace_directory(result_.directory);
}

void Session::make_directory()
{
	AsUser as(user_);
	result_.directory = options_.output;
	if (options_.output.empty()) {
		directory_lock_ = make_default_directory(options_.command, result_.directory);
	} else if (options_.statistics && !options_.force && has_statistics(options_.output)) {
		directory_lock_ = continue_in(options_.output, *options_.statistics, lives_.emplace());
		uuid_ = lives_->uuid;
		cgroups_.set_earlier(*lives_);
		notify(fmt::format("{} has the statistics of {} before: this one goes on there", options_.output,
				   lives_->lives.size() == 1 ? std::string("a recording")
							     : fmt::format("{} recordings", lives_->lives.size())));
	} else {
		directory_lock_ = make_trace_directory(options_.output, options_.force);
	}
}

// Instrumented programs post the TSC, so their events fit into the trace only if the TSC is its clock.
void Session::open_user_card()
{
	if (options_.statistics && options_.statistics->counts_only) // counts only the kernel's events
		return;
	if (!card::has_invariant_tsc() || (options_.command.empty() && !options_.user_only && !options_.everyone))
		return;
	card::UserCardOptions options;
	options.uuid = uuid_;
	options.cpus = static_cast<unsigned>(::get_nprocs_conf());
	options.user = user_.uid;
	options.everyone = options_.everyone;
	options.device = options_.everyone && options_.card != "bpf";
	options.name_processes = options_.user_only;
	options.memory = buffering::user_memory(options_.buffer_bytes);
	if (options_.counting)
		options.counters = options_.counting->user_reads.counters;
	if (options_.budget)
		options.functions = EDC_MAX_FUNCTIONS;
	if (options_.matching)
		options.make_matcher = [this](const auto &classes) { return matched_->make(classes); };
	users_ = std::make_unique<card::UserCard>(options);
	if (!users_->other_recorder())
		return;
	const std::string who =
	    fmt::format("process {} already records the events of all instrumented programs", users_->other_recorder());
	if (options_.user_only && options_.command.empty())
		throw Error(who + "; only one process can");
	notify(who + (options_.command.empty() ? ": this recording does without them"
					       : ": this recording has those of its own command only"));
}

// Users may learn about the functions only of programs that they can read. Names without a slash are system libraries.
void Session::expect_readable_programs() const
{
	if (!options_.counting)
		return;
	for (const card::ResetEvent &event : options_.counting->resets)
		if (event.path.find('/') != std::string::npos && !open_as(user_, event.path))
			throw Error(errno, fmt::format("--reset-on {}: cannot read {}", event.name, event.path));
}

// Called before anything slow or visible.
void Session::prepare_matching()
{
	if (!options_.matching)
		return;
	matched_ = std::make_unique<MatchedEvents>(
	    options_, [this](const auto &classes) { return description_->text_with(classes); },
	    [this](const std::string &note) { notify(note); });
	matched_->expect_decidable(users_ != nullptr);
}

std::vector<std::string> Session::environment_of_command() const
{
	AsUser as(user_);
	std::vector<std::string> environment = functions_.environment(result_.directory);
	if (users_)
		environment.push_back(EDC_ENVIRONMENT "=" + users_->socket_name());
	return environment;
}

// Without a kernel card only the recorder reads the clock.
void Session::measure_clock()
{
	buffers_ = buffering::divide_buffers(options_.buffer_bytes, static_cast<unsigned>(::get_nprocs_conf()),
					     EDC_CARD_LEVELS);
	start_clock(own_clock_, read_sync(card::has_invariant_tsc()));
	settle_clock();
	file_.card = "user";
	start_matching();
}

void Session::load_card()
{
	const Sync first =
	    read_sync(card::has_invariant_tsc()); // loading the programs takes longer than the first measurement
	const auto cpus = static_cast<unsigned>(::get_nprocs_conf());
	if (options_.counting)
		counters_ = std::make_unique<Counters>(options_.counting->selection, cpus);
	card::CardOptions options = matched_ ? card_options(options_, cpus, uuid_, &matched_->decidable())
					     : card_options(options_, cpus, uuid_);
	options.functions = functions_.found().functions;
	options.leaves_functions_out = options_.budget.has_value();
	buffers_ = options.counts_only ? buffering::smallest_buffers(options.rings())
		   : options_.flight   ? buffering::divide_flight_buffers(options_.buffer_bytes, cpus, options.rings())
				       : buffering::divide_buffers(options_.buffer_bytes, cpus, options.rings());
	options.blocks_per_cpu = buffers_.blocks_per_cpu;
	card::CalibrationFile kept_file(calibration_key(options));
	std::optional<card::KeptCalibration> kept = kept_file.read();
	options.tp_programs = !kept || kept->tp;
	if (const pid_t holder = options.module || options_.card == "bpf" ? 0 : card::holder_of_module())
		notify(fmt::format("process {} uses the kernel module: this recording uses the BPF card", holder));
	try {
		card_ = std::make_unique<card::BpfCard>(options);
	} catch (const Error &error) {
		if (!options_.stacks.of_command)
			throw;
		give_up_samples(error.what());
		return load_card();
	}
	if (counters_)
		counters_->give_to(*card_);
	start_clock(card_->clock(), first);
	threads_.emplace(*card_, steering_->invariant_tsc(), options_.filtering());
	trials_.emplace(*card_, *steering_, file_, std::move(kept_file), std::move(kept));
	if (options_.calibrates) {
		trials_->calibrate(functions_, options_.live || options_.flight);
		if (const std::string why_not = trials_->read_factors(); !why_not.empty())
			notify(why_not);
	}
	if (!options.functions.empty()) {
		file_.functions = recorded_functions(functions_.found());
		notify(functions_.summary());
	}
	trials_->witness();
	settle_clock();
	file_.misses.start = card_->misses();
	if (options.counts_only)
		counted_ = std::make_unique<CountedPeriods>(
		    *card_, *options_.statistics, uuid_, [this] { return read_sync(steering_->invariant_tsc()); },
		    [this] { return description_->text_of_files(describe_clock(*steering_), {}); },
		    lives_ ? lives_->time_shift : 0, lives_ ? lives_->first_stream() : 0);
	card_->prepare_task_lists(4);
	start_matching();
	card_->attach(trials_->tp());
	if (options_.only_command || options_.stacks.of_command)
		card_->trace_process(command_->pid());
	if (!options_.pids.empty())
		card_->select(options_.pids);
	add_card(file_, *card_);
	if (options.triggers)
		triggers_ =
		    std::make_unique<Triggers>(options_.matching->request.triggers, *card_, matched_->decidable(),
					       *steering_, read_sync(steering_->invariant_tsc()));
	if (triggers_ && users_)
		users_->set_on_fired([this](const auto &fired) { triggers_->add(fired); });
	add_triggers(file_);
}

void Session::start_clock(edc_clock &clock, const Sync &first)
{
	steering_ = std::make_unique<ClockSteering>(clock, card::has_invariant_tsc());
	steering_->start(first, first_slope_ms);
}

// Called later, when the clock's rate is known better.
void Session::settle_clock()
{
	if (steering_->invariant_tsc())
		file_.tsc_skew.start = measure_tsc_skew();
	for (int i = 0; i < 2; ++i)
		steering_->update(read_sync(steering_->invariant_tsc()));
}

void Session::start_matching()
{
	if (!matched_)
		return;
	description_->set_clock(describe_clock(*steering_));
	matched_->start(card_.get(), *steering_, file_);
}

// Finds running instrumented programs; waits briefly, so that on large machines some are found later.
void Session::find_programs()
{
	search_ = std::make_unique<card::UserSearch>(user_);
	pollfd fds[] = {{ending_.signals_fd(), POLLIN, 0}, {search_->fd(), POLLIN, 0}};
	::poll(fds, 2, 1000);
}

void Session::prepare_stacks()
{
	const card::StackMemory memory = card_->stack_memory();
	stacks::SampledCommand sampled{
	    memory.wanted, [this](std::int32_t process) { return card_->is_traced(process); },
	    [memory, hz = options_.stacks.timer_hz] { return memory.timer_taken() * 1'000'000'000 / hz; }};
	stacks_ = std::make_unique<stacks::StackRecorder>(
	    stacks::UnwindMemory{
		memory.rows, memory.mappings, memory.spaces,
		[memory](std::int32_t process, std::int64_t space) { memory.set_space(process, space); }},
	    std::move(sampled), card_->cpus(), user_);
}

void Session::prepare_late_cpus()
{
	std::vector<card::OpenedLate> others;
	if (stacks_)
		others.push_back({"mappings",
				  stacks::SideBand::attributes(options_.stacks.of_command ? stacks::SideBand::late
											  : stacks::SideBand::at_once),
				  [this](unsigned cpu, Fd events) { stacks_->follow(cpu, std::move(events)); }});
	card_->prepare_late_cpus(user_, std::move(others));
}

void Session::start_flight()
{
	const std::vector<std::string> names = stream_names(card_.get());
	const std::size_t user_streams = users_ ? card::max_streams(card_->cpus()) : 0;
	FlightParts parts{
	    .options = *options_.flight,
	    .directory = result_.directory,
	    .kernel_streams = names,
	    .max_user_streams = user_streams,
	    .pool_blocks = buffers_.pool_blocks,
	    .card = *card_,
	    .users = users_.get(),
	    .steering = *steering_,
	    .failure = failure_,
	    .requests = *requests_,
	    .uuid = uuid_,
	    .description =
		[this](const ClockDescription &clock) {
			description_->set_clock(clock);
			return description_->text();
		},
	    .threads = [this] { return threads_->threads(); },
	    .fired = triggers_.get(),
	    .triggers = options_.matching ? options_.matching->request.triggers : std::vector<NamedTrigger>(),
	    .write_names =
		[this](const std::string &directory) {
			name_new_cgroups();
			cgroups_.write(directory);
		},
	    .write_initial_file = [this](const std::string &directory) { write_recording(file_, directory); },
	    .write_final_file = [this](const Snapshot &snapshot,
				       bool is_complete) { write_file_of(snapshot, is_complete); },
	    .on_snapshot = listener_.on_snapshot};
	flight_ = std::make_unique<Flight>(std::move(parts));
	note_start();
	if (counters_)
		file_.counting = recorded_counters(*options_.counting);
	if (users_)
		users_->start(static_cast<std::uint64_t>(steering_->frequency_hz()),
			      spare_files(names.size() + user_streams + other_files), [](const auto &) {});
	flight_->start();
}

void Session::start_streams()
{
	const auto cpus = static_cast<std::size_t>(::get_nprocs_conf());
	pool_ = std::make_unique<BlockPool>(buffers_.pool_blocks);
	control_ =
	    std::make_unique<ControlStream>(uuid_, [this](const std::byte *block) { drain_->push_control(block); });
	drain_ = std::make_unique<Drain>(card_.get(), users_.get(), *pool_, *control_, *steering_, failure_);
	std::vector<std::string> names = stream_names(card_.get());
	if (options_.states)
		states_ = std::make_unique<StateStreams>(options_, uuid_, *drain_, *control_, names);
	if (options_.live) {
		drain_->set_sink(*options_.live, names,
				 options_.kept == Kept::trace ? Drain::Written::all : Drain::Written::nothing);
		drain_->set_shown(*control_);
	}
	writer_ = std::make_unique<Writer>(result_.directory, names, users_ ? card::max_streams(cpus) : 0, *pool_,
					   failure_, steering_->read_time());
	if (card_)
		offline_.emplace(card_->cpus());
	if (!options_.statistics)
		description_->watch_clock();
	drain_->set_before_sync([this, steps = std::size_t(0)](const Sync &sync) mutable {
		const std::size_t steps_now = steering_->real_time_steps().size();
		if (steps_now != std::exchange(steps, steps_now))
			description_->note_set_clock(describe_clock(*steering_));
		if (offline_)
			for (const std::uint32_t cpu : offline_->poll())
				control_->cpu_offline(cpu, sync.time);
		if (stacks_)
			write_mappings(sync);
		if (triggers_)
			triggers_->write(*control_);
		if (threads_)
			threads_->write_listed(*control_);
	});
	if (matched_ && options_.matching->every_ns)
		drain_->set_periodic_call(
		    std::chrono::nanoseconds(options_.matching->every_ns),
		    [this](const Sync &sync) { matched_->write(*control_, sync, card_.get(), users_.get()); });
	if (phases_)
		drain_->set_on_kernel_block([this](const std::byte *block) { phases_->count_block(block); });
	drain_->set_writer(*writer_);
}

void Session::start_recording()
{
	start_streams();
	if (counted_)
		drain_->write_nothing();
	const Sync begin = steering_->last(); // before any probe was attached
	control_->sync(begin);
	drain_->sync();
	// Every probe is attached now.
	note_start();
	if (offline_)
		file_.offline_at_start = offline_->at_start();
	if (counted_)
		start_counting();
	if (counters_) {
		file_.counting = recorded_counters(*options_.counting);
		file_.counting->readings.start = counters_->read(false, steering_->invariant_tsc());
	}
	if (options_.sink()) {
		LiveStart start;
		description_->set_clock(describe_clock(*steering_));
		start.description = description_->text();
		start.begin_time = begin.time;
		start.has_more_classes = users_ != nullptr;
		if (card_)
			start.cpus = online_cpus();
		if (states_) {
			states_->start(start, file_);
		} else {
			start.recording = text_of(file_);
			start.directory = result_.directory;
			start.uuid = uuid_;
			if (lives_) {
				start.time_shift = lives_->time_shift;
				start.threads_since = lives_->threads_since;
				start.first_stream = lives_->first_stream();
				start.ages = lives_->periods;
			}
			if (stacks_)
				start.stacks_ns = [memory = card_->stack_memory()] { return memory.spent_ns(); };
			start.describe = [this] { return description_->text_of_files(describe_clock(*steering_)); };
			start.name_cgroups = [this] { cgroups_.write(result_.directory); };
			options_.live->start(start);
		}
	}
	describe();
	write_file();
	cgroups_.write(result_.directory);
	cpu_before_ns_ = own_cpu_time_ns();
	if (users_)
		users_->start(static_cast<std::uint64_t>(steering_->frequency_hz()),
			      spare_files(writer_->max_streams() + other_files),
			      [this](const auto &classes) { description_->write_again(classes); });
	if (card_) {
		file_.kernel_counts.start = read_counts_of_kernel();
		file_.cgroups.start =
		    read_cgroups(command_ ? command_->pid() : 0, cgroups_.paths(), cgroup_budget_at_start);
	}
	write_tasks(false);
	drain_->drain_now();
	if (states_ && states_->list_of_threads())
		states_->list_of_threads()->flush();
	control_->flush();
	drain_->start();
	if (options_.budget) {
		functions_.start_budget(*options_.budget, *card_, users_.get());
		file_.functions.budget.percent = 100 * *options_.budget;
	}
}

void Session::start_counting()
{
	const auto hidden = std::ranges::count_if(
	    threads_->threads(), [](const edc_task &task) { return (task.flags & EDC_THREAD_HIDDEN) != 0; });
	file_.statistics->hidden_threads = static_cast<std::uint64_t>(hidden);
	drain_->sync();
	note_start();
	counted_->start(result_.directory, steering_->last(), lives_ ? lives_->periods : PeriodFiles::Ages());
	drain_->set_periodic_call(
	    std::chrono::nanoseconds(options_.statistics->period_ns),
	    [this](const Sync &sync) { counted_->end_period(sync); }, counted_->due());
}

} // namespace monitor::record
