// SPDX-License-Identifier: MIT
#include "recording.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/error.h"
#include "base/own_cpu_time.h"
#include "blocks.h"
#include "buffers.h"
#include "calibration_phases.h"
#include "card_options.h"
#include "cgroup_names.h"
#include "clock.h"
#include "command.h"
#include "confine.h"
#include "control_stream.h"
#include "counted_periods.h"
#include "counters.h"
#include "directory.h"
#include "drain.h"
#include "ending.h"
#include "flight.h"
#include "kernel_counts.h"
#include "matched_events.h"
#include "metadata.h"
#include "monitor/function_table.h"
#include "online_cpus.h"
#include "proc_tasks.h"
#include "recorded_functions.h"
#include "recording/card/bpf_card.h"
#include "recording/card/calibration.h"
#include "recording/card/preflight.h"
#include "recording/card/preflight_checks.h"
#include "recording/card/witness.h"
#include "recording/stacks/stack_recorder.h"
#include "recording/user_card/user_card.h"
#include "recording/user_card/user_search.h"
#include "recording_file.h"
#include "state_streams.h"
#include "trigger_acts.h"
#include "triggers.h"
#include "user.h"
#include "writer.h"

namespace monitor::record {
namespace {

constexpr unsigned first_slope_ms = 20;
constexpr std::size_t other_files = 32; // that a recording opens from time to time, besides streams

std::array<std::uint8_t, 16> random_uuid()
{
	std::array<std::uint8_t, 16> uuid;
	std::random_device device;
	for (std::uint8_t &byte : uuid)
		byte = static_cast<std::uint8_t>(device());
	uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0f) | 0x40);
	uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3f) | 0x80);
	return uuid;
}

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

class Recording::Parts {
public:
	Parts(Options options, Listener listener)
	    : options_(std::move(options)), listener_(std::move(listener)), user_(invoking_user()),
	      ending_(options_.duration_s)
	{
	}

	~Parts() { stop_threads(); }

	void start();
	Result wait();
	void stop(const std::string &reason) { ending_.stop(reason); }

private:
	BlockSink *sink() const { return options_.states ? options_.states.get() : options_.live.get(); }
	void stop_threads();
	void expect_possible() const;
	void start_parts();
	void start_recording();
	void make_directory();
	void open_user_card();
	void find_functions();
	std::string description(const ClockDescription &clock, const std::vector<card::UserClass> &classes) const;
	std::string description(const std::vector<card::UserClass> &classes) const
	{
		return description(clock_, classes);
	}
	void prepare_matching();
	void start_matching();
	std::vector<std::string> environment_of_command() const;
	void calibrate();
	void tell(const std::string &note) const;
	void keep_budget();
	void load_card();
	void prepare_stacks();
	void write_mappings(const Sync &sync);
	void start_clock(edc_clock &clock);
	void settle_clock();
	void measure_clock();
	void write_description();
	void describe_again(const std::vector<card::UserClass> &classes);
	void find_programs();
	void start_streams();
	void start_flight();
	std::vector<edc_task> threads();
	std::vector<card::UserClass> user_classes() const;
	void end_flight();
	void act();
	void list_after_pause();
	void list_after_phase();
	void prepare_phases();
	void write_listed();
	void add_triggers(RecordingFile &file) const;
	void write_tasks(bool at_end);
	void start_counting();
	void read_counts_of_kernel(const char *when);
	void wait_for_end();
	void end_recording();
	void calibrate_again();
	void fail(const std::string &why);
	void release_command();
	Progress progress() const;

	const Options options_;
	const Listener listener_;
	User user_;
	Result result_;
	Ending ending_;
	RecordingFile file_;
	CgroupNames cgroups_;
	Buffers buffers_;
	std::unique_ptr<Command> command_;
	RecordedFunctions functions_;
	std::unique_ptr<MatchedEvents> matched_; // --filter, --count, --time
	std::unique_ptr<card::BpfCard> card_;
	card::CalibrationOptions calibration_;
	std::unique_ptr<card::UserCard> users_;
	std::unique_ptr<card::UserSearch> search_;
	std::unique_ptr<stacks::StackRecorder> stacks_;
	std::unique_ptr<Counters> counters_;
	edc_clock own_clock_{}; // used without a BPF card, whose memory has one
	ClockDescription clock_;
	std::unique_ptr<ClockSteering> steering_;
	Failure failure_;
	std::unique_ptr<BlockPool> pool_;
	std::unique_ptr<ControlStream> control_;
	std::unique_ptr<Drain> drain_;
	std::unique_ptr<StateStreams> states_;    // --states
	std::unique_ptr<CountedPeriods> counted_; // --count-only
	std::unique_ptr<Writer> writer_;
	std::unique_ptr<SnapshotRequests> requests_; // --flight
	std::unique_ptr<Flight> flight_;
	std::unique_ptr<Triggers> triggers_;        // --trigger
	std::unique_ptr<CalibrationPhases> phases_; // --calibrate
	std::unique_ptr<TriggerActs> acts_;
	Fd announcement_;
	std::string ended_by_;     // "": no trigger
	std::uint64_t pauses_ = 0; // after which threads were listed
	std::mutex listed_lock_;   // of:
	std::vector<edc_task> listed_;
	std::array<std::uint8_t, 16> uuid_ = random_uuid();
	std::uint64_t cpu_before_ns_ = 0;
	bool dropped_ = false;
};

void Recording::Parts::make_directory()
{
	AsUser as(user_);
	result_.directory = options_.output.empty() ? default_directory_name(options_.command) : options_.output;
	make_trace_directory(result_.directory, options_.force);
}

// Instrumented programs post the TSC, so their events fit into the trace only if the TSC is its clock.
void Recording::Parts::open_user_card()
{
	if (options_.statistics && options_.statistics->counts_only) // of the kernel's
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
	options.memory = user_memory(options_.buffer_bytes);
	if (options_.counting)
		options.counters = options_.counting->user_reads.counters;
	if (options_.budget)
		options.functions = EDC_MAX_FUNCTIONS;
	if (options_.matching)
		options.make_matcher = [this](const auto &classes) { return matched_->make(classes); };
	users_ = std::make_unique<card::UserCard>(options);
	if (!users_->holder())
		return;
	const std::string who =
	    fmt::format("process {} already records the events of all instrumented programs", users_->holder());
	if (options_.user_only && options_.command.empty())
		throw Error(who + "; only one process can");
	tell(who + (options_.command.empty() ? ": this recording does without them"
					     : ": this recording has those of its own command only"));
}

void Recording::Parts::start_clock(edc_clock &clock)
{
	steering_ = std::make_unique<ClockSteering>(clock, card::has_invariant_tsc());
	steering_->start(first_slope_ms);
}

// Called some time later, when the slope is known better.
void Recording::Parts::settle_clock()
{
	if (steering_->invariant_tsc())
		file_.skew("start", measure_tsc_skew());
	for (int i = 0; i < 2; ++i)
		steering_->update(read_sync(steering_->invariant_tsc()));
}

// Without a kernel card only the recorder itself reads the clock.
void Recording::Parts::measure_clock()
{
	buffers_ = divide_buffers(options_.buffer_bytes, static_cast<unsigned>(::get_nprocs_conf()), EDC_CARD_LEVELS);
	start_clock(own_clock_);
	settle_clock();
	file_.no_card();
	start_matching();
}

void Recording::Parts::find_functions()
{
	const bool may_patch = users_ && !options_.command.empty();
	functions_.find(options_, may_patch, [this] { drop_privileges(user_); });
	for (const std::string &note : functions::notes(functions_.found().left_out))
		tell("--functions: " + note);
}

std::vector<std::string> Recording::Parts::environment_of_command() const
{
	AsUser as(user_);
	std::vector<std::string> environment = functions_.environment(result_.directory);
	if (users_)
		environment.push_back(EDC_ENVIRONMENT "=" + users_->socket_name());
	return environment;
}

void Recording::Parts::calibrate()
{
	card::Calibration measured = card::calibrate(*card_, calibration_);
	functions_.calibrated(measured);
	file_.calibration("start", measured);
}

void Recording::Parts::keep_budget()
{
	const std::vector<LeftOutFunction> left_out = functions_.too_expensive();
	for (const LeftOutFunction &function : left_out) {
		file_.left_out_by_budget(function, functions_.name(function.number),
					 read_sync(steering_->invariant_tsc()).time);
		functions_.leave_out(function.number);
	}
	if (!left_out.empty())
		file_.write(result_.directory); // also if the recorder should be killed
}

void Recording::Parts::tell(const std::string &note) const
{
	if (listener_.on_note)
		listener_.on_note(note);
}

void Recording::Parts::load_card()
{
	const auto cpus = static_cast<unsigned>(::get_nprocs_conf());
	if (options_.counting)
		counters_ = std::make_unique<Counters>(options_.counting->selection, cpus);
	card::CardOptions options =
	    matched_ ? card_options(options_, cpus, uuid_, matched_->needed_families(), &matched_->decidable())
		     : card_options(options_, cpus, uuid_);
	options.functions = functions_.found().functions;
	options.leaves_functions_out = options_.budget.has_value();
	buffers_ = options.counts_only ? smallest_buffers(options.rings())
		   : options_.flight   ? divide_flight_buffers(options_.buffer_bytes, cpus, options.rings())
				       : divide_buffers(options_.buffer_bytes, cpus, options.rings());
	options.blocks_per_cpu = buffers_.blocks_per_cpu;
	if (const pid_t holder = options.module || options_.card == "bpf" ? 0 : card::holder_of_module())
		tell(fmt::format("process {} uses the kernel module: this recording uses the BPF card", holder));
	card_ = std::make_unique<card::BpfCard>(options);
	if (counters_)
		counters_->give_to(*card_);
	start_clock(card_->clock());
	const card::Preflight test = card::preflight(*card_);
	file_.preflight(test);
	calibration_ = {test.tp, options.filtering, true, steering_->frequency_hz() / 1e9};
	if (options_.calibrates)
		calibrate();
	if (!options.functions.empty()) {
		file_.functions(functions_.found());
		tell(functions_.summary());
	}
	file_.witness("start", card::witness_calls(*card_, test.tp, options.filtering));
	settle_clock();
	file_.misses("start", card_->misses());
	if (options.counts_only)
		counted_ = std::make_unique<CountedPeriods>(
		    *card_, *options_.statistics, uuid_, [this] { return read_sync(steering_->invariant_tsc()); },
		    [this] { return description(describe_clock(*steering_), {}); });
	card_->prepare_task_passes(2);
	start_matching();
	card_->attach(test.tp);
	if (options_.only_command)
		card_->trace_process(command_->pid());
	if (!options_.pids.empty())
		card_->select(options_.pids);
	file_.card(*card_, options.families);
	if (options.triggers)
		triggers_ =
		    std::make_unique<Triggers>(options_.matching->request.triggers, *card_, matched_->decidable(),
					       *steering_, read_sync(steering_->invariant_tsc()));
	if (triggers_ && users_)
		users_->set_on_fired([this](const auto &fired) { triggers_->add(fired); });
	add_triggers(file_);
}

void Recording::Parts::prepare_stacks()
{
	const card::StackMemory memory = card_->stack_memory();
	stacks_ = std::make_unique<stacks::StackRecorder>(
	    stacks::UnwindMemory{
		memory.rows, memory.mappings, memory.spaces,
		[memory](std::int32_t process, std::int64_t space) { memory.set_space(process, space); }},
	    card_->cpus(), [this] { drop_privileges(user_, stacks::Opener::capabilities()); });
}

// Runs in the drain thread.
void Recording::Parts::write_mappings(const Sync &sync)
{
	const double ticks_in_ns = steering_->frequency_hz() / 1e9;
	for (const stacks::MappingChange &change : stacks_->take_changes()) {
		const double ago_ns =
		    change.monotonic_ns
			? static_cast<double>(static_cast<std::int64_t>(sync.monotonic_ns - change.monotonic_ns))
			: 0;
		const std::int64_t ago = std::llround(ago_ns * ticks_in_ns);
		control_->mapping(change, sync.time,
				  change.monotonic_ns ? sync.time - static_cast<std::uint64_t>(ago) : 0);
	}
}

std::string Recording::Parts::description(const ClockDescription &clock,
					  const std::vector<card::UserClass> &classes) const
{
	const MatcherRequest request = options_.matching ? options_.matching->request : MatcherRequest();
	const auto names = [](const auto &all) {
		std::vector<std::string> of_all;
		for (const auto &one : all)
			of_all.push_back(one.name);
		return of_all;
	};
	return metadata(uuid_, clock, counter_classes(options_.counting), classes, functions_.found().names(),
			names(request.counts), names(request.times), names(request.triggers),
			options_.states ? options_.states->state_names() : std::vector<std::string>());
}

// Before anything slow or visible is done.
void Recording::Parts::prepare_matching()
{
	if (!options_.matching)
		return;
	matched_ = std::make_unique<MatchedEvents>(
	    options_, [this](const auto &classes) { return description(classes); },
	    [this](const std::string &note) { tell(note); });
	matched_->expect_decidable(users_ != nullptr);
}

void Recording::Parts::start_matching()
{
	if (!matched_)
		return;
	clock_ = describe_clock(*steering_);
	matched_->start(card_.get(), *steering_, file_);
}

void Recording::Parts::write_description()
{
	clock_ = describe_clock(*steering_);
	replace_file(result_.directory + "/metadata", description(user_classes()), 0600);
}

// Runs in the user card's thread whenever there are new classes. The writer reports a full disk.
void Recording::Parts::describe_again(const std::vector<card::UserClass> &classes)
{
	if (flight_)
		return; // each snapshot describes what it knows
	const std::string text = description(classes);
	if (BlockSink *const sink = this->sink())
		sink->describe(text);
	try {
		replace_file(result_.directory + "/metadata", text, 0600);
	} catch (const Error &) {
	}
}

void Recording::Parts::start_streams()
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
	writer_ =
	    std::make_unique<Writer>(result_.directory, names, users_ ? card::max_streams(cpus) : 0, *pool_, failure_);
	drain_->set_before_sync([this](const Sync &sync) {
		if (stacks_)
			write_mappings(sync);
		if (triggers_)
			triggers_->write(*control_);
		write_listed();
	});
	if (matched_ && options_.matching->every_ns)
		drain_->set_every(std::chrono::nanoseconds(options_.matching->every_ns), [this](const Sync &sync) {
			matched_->write(*control_, sync, card_.get(), users_.get());
		});
	if (phases_)
		drain_->set_on_kernel_block([this](const std::byte *block) { phases_->block(block); });
	drain_->set_make_stream([this](const std::string &name) { return writer_->add_stream(name); });
}

void Recording::Parts::start_flight()
{
	const std::vector<std::string> names = stream_names(card_.get());
	const std::size_t user_streams = users_ ? card::max_streams(card_->cpus()) : 0;
	FlightParts parts{.options = *options_.flight,
			  .directory = result_.directory,
			  .kernel_streams = names,
			  .max_user_streams = user_streams,
			  .pool_blocks = buffers_.pool_blocks,
			  .card = *card_,
			  .users = users_.get(),
			  .steering = *steering_,
			  .failure = failure_,
			  .requests = *requests_,
			  .file = file_,
			  .uuid = uuid_,
			  .description =
			      [this](const ClockDescription &clock) {
				      clock_ = clock;
				      return description(user_classes());
			      },
			  .threads = [this] { return threads(); },
			  .write_fired =
			      [this](ControlStream &to) {
				      if (triggers_)
					      triggers_->write(to);
			      },
			  .triggers =
			      options_.matching ? options_.matching->request.triggers : std::vector<NamedTrigger>(),
			  .add_triggers = [this](RecordingFile &file) { add_triggers(file); },
			  .write_names =
			      [this](const std::string &directory) {
				      cgroups_.collect();
				      cgroups_.write(directory);
			      },
			  .on_snapshot =
			      [this](const std::string &sentence) {
				      if (listener_.on_snapshot)
					      listener_.on_snapshot(sentence);
			      }};
	flight_ = std::make_unique<Flight>(std::move(parts));
	file_.start(steering_->last());
	if (counters_)
		file_.counting(*options_.counting);
	if (users_)
		users_->start(static_cast<std::uint64_t>(steering_->frequency_hz()),
			      spare_files(names.size() + user_streams + other_files), [](const auto &) {});
	flight_->start();
}

// All that there are; those that the kernel hides from BPF have a flag.
std::vector<edc_task> Recording::Parts::threads()
{
	std::vector<edc_task> tasks = card_->list_tasks();
	if (!card::in_first_pid_namespace())
		return tasks; // /proc has other numbers
	const std::vector<edc_task> hidden =
	    tasks_only_in_proc(tasks, read_sync(steering_->invariant_tsc()).time, options_.filtering());
	tasks.insert(tasks.end(), hidden.begin(), hidden.end());
	return tasks;
}

std::vector<card::UserClass> Recording::Parts::user_classes() const
{
	return users_ ? users_->classes() : std::vector<card::UserClass>();
}

// Finds programs that already run. Most are found in a moment; on a machine with very many, some are found later.
void Recording::Parts::find_programs()
{
	search_ =
	    std::make_unique<card::UserSearch>([this] { drop_privileges(user_, card::UserSearch::capabilities()); });
	pollfd fds[] = {{ending_.signals_fd(), POLLIN, 0}, {search_->fd(), POLLIN, 0}};
	::poll(fds, 2, 1000);
}

void Recording::Parts::write_tasks(bool at_end)
{
	if (!card_ || counted_ || (options_.matching && !options_.matching->request.keeps_tokens))
		return;
	ControlStream *const listed = states_ ? states_->list_of_threads() : nullptr;
	ControlStream &to = listed ? *listed : *control_;
	for (const edc_task &task : threads()) {
		to.thread_state(task, at_end);
		if (!(task.flags & EDC_THREAD_HIDDEN)) // else they are unknown
			to.thread_counts(task, at_end);
	}
}

Progress Recording::Parts::progress() const
{
	Progress now;
	if (users_)
		now.tokens += users_->counts().tokens; // the losses that programs report are added at the end
	for (unsigned cpu = 0; card_ && cpu < card_->cpus(); ++cpu) {
		const edc_cpu &area = card_->area(cpu);
		for (unsigned slot = 0; slot < EDC_CARD_CLASSES; ++slot) {
			now.lost += area.too_deep[slot];
			for (const edc_level &level : area.level) {
				now.lost += level.discarded[slot];
				now.tokens += level.seen[slot] - level.discarded[slot] - level.filtered[slot];
			}
		}
	}
	now.bytes = writer_->bytes();
	const Sync sync = read_sync(steering_->invariant_tsc());
	now.seconds = static_cast<double>(sync.monotonic_ns - file_.start_monotonic_ns()) / 1e9;
	return now;
}

void Recording::Parts::start_counting()
{
	const auto hidden = std::ranges::count_if(
	    threads(), [](const edc_task &task) { return (task.flags & EDC_THREAD_HIDDEN) != 0; });
	file_.hidden_threads(static_cast<std::uint64_t>(hidden));
	drain_->write_nothing();
	drain_->sync();
	file_.start(steering_->last());
	counted_->start(result_.directory, steering_->last());
	drain_->set_every(
	    std::chrono::nanoseconds(options_.statistics->period_ns),
	    [this](const Sync &sync) { counted_->end_period(sync); }, counted_->due());
}

void Recording::Parts::read_counts_of_kernel(const char *when)
{
	const std::optional<ClassCounts> before = counted_ ? std::optional(counted_->read()) : std::nullopt;
	file_.kernel_counts(when, read_kernel_counts(steering_->invariant_tsc()));
	if (before)
		file_.counted_around(when, *before, counted_->read());
}

// Threads that were created while nothing was stored have no names: after each pause those there are are listed again.
void Recording::Parts::list_after_pause()
{
	const std::uint64_t pauses = triggers_->pauses().number;
	if (pauses == pauses_ || !drain_)
		return;
	const std::lock_guard guard(listed_lock_);
	if (!listed_.empty())
		return; // the next time: at most one list for each time that the drain writes
	pauses_ = pauses;
	listed_ = threads();
}

// The same of those created while no probe was attached. In the thread of the phases.
void Recording::Parts::list_after_phase()
{
	std::vector<edc_task> all = threads();
	const std::lock_guard guard(listed_lock_);
	listed_ = std::move(all);
}

void Recording::Parts::prepare_phases()
{
	phases_ = std::make_unique<CalibrationPhases>(*card_, steering_->invariant_tsc(), command_->pid(), failure_,
						      [this] { list_after_phase(); });
}

// In the drain thread.
void Recording::Parts::write_listed()
{
	const std::lock_guard guard(listed_lock_);
	for (edc_task &thread : listed_) {
		thread.flags |= EDC_THREAD_LATER; // its state is that of this moment only
		control_->thread_state(thread, false);
	}
	listed_.clear();
}

// What triggers that fired have the recorder do.
void Recording::Parts::act()
{
	acts_->collect();
	list_after_pause();
	for (const Firing &firing : triggers_->take()) {
		const NamedTrigger &trigger = triggers_->of(firing);
		if (!firing.is_unnoted)
			acts_->act(firing);
		if (flight_)
			flight_->fired(firing, trigger);
		else if (trigger.ends() && ended_by_.empty())
			ended_by_ = fmt::format("the trigger {} fired", trigger.name);
	}
}

void Recording::Parts::add_triggers(RecordingFile &file) const
{
	if (triggers_)
		file.triggers(options_.matching->request.triggers, *triggers_, acts_->accounts(),
			      users_ ? std::optional(users_->counts()) : std::nullopt);
}

void Recording::Parts::wait_for_end()
{
	const int look_ms = flight_ && triggers_      ? 1000
			    : flight_                 ? -1
			    : options_.max_bytes      ? 20
			    : functions_.has_budget() ? 50
			    : listener_.on_progress   ? 500
						      : -1;
	auto next_progress = std::chrono::steady_clock::now();
	const auto look = [&]() -> std::string {
		if (failure_.reported()) {
			result_.failed = true;
			return failure_.text();
		}
		if (triggers_)
			act();
		if (!ended_by_.empty())
			return ended_by_;
		if (flight_)
			return flight_->serve();
		if (functions_.has_budget())
			keep_budget();
		if (options_.max_bytes && writer_->bytes() >= *options_.max_bytes)
			return "the trace reached its --max-size";
		if (listener_.on_progress && std::chrono::steady_clock::now() >= next_progress) {
			listener_.on_progress(progress());
			next_progress += std::chrono::milliseconds(500);
		}
		return "";
	};
	std::vector<pollfd> fds = flight_ ? flight_->fds() : std::vector<pollfd>();
	if (triggers_) {
		std::ranges::copy(triggers_->fds(), std::back_inserter(fds));
		fds.push_back({acts_->fd(), POLLIN, 0});
	}
	result_.end_reason = ending_.wait(command_.get(), failure_, look_ms, look, fds);
}

void Recording::Parts::end_flight()
{
	if (triggers_) {
		flight_->look_at_programs();
		act();
	}
	flight_->end(result_.end_reason);
	RecordingFile file = file_;
	add_triggers(file);
	result_.triggers = file.text();
	if (users_)
		users_->stop();
	card_->detach();
	result_.snapshots = flight_->snapshots();
	result_.incomplete = flight_->incomplete();
	result_.left_out = flight_->left_out();
}

void Recording::Parts::end_recording()
{
	if (phases_)
		phases_->stop();
	drain_->stop();
	drain_->look();
	if (triggers_) { // the recorder's later tokens are of later times
		act();
		triggers_->write(*control_);
		triggers_->stop();
	}
	if (users_)
		users_->stop();
	if (stacks_)
		stacks_->stop();
	if (card_)
		read_counts_of_kernel("end");
	write_tasks(true);
	drain_->look();
	if (counters_)
		file_.counter_readings("end", counters_->read(true, steering_->invariant_tsc()));
	drain_->sync();
	const Sync end = steering_->last();
	if (counted_)
		counted_->end(end);
	const std::uint64_t cpu_ns = own_cpu_time_ns() - cpu_before_ns_;
	if (triggers_)
		triggers_->end_pause(end);
	if (BlockSink *const sink = this->sink())
		sink->set_window_end(end.time);
	if (card_)
		card_->detach();
	drain_->sync(); // no token is later than this one
	if (steering_->invariant_tsc())
		file_.skew("end", measure_tsc_skew());
	drain_->drain_rest(
	    [this] {
		    if (matched_)
			    matched_->write(*control_, steering_->last(), card_.get(), users_.get());
		    if (triggers_)
			    triggers_->write(*control_, steering_->last().time);
	    },
	    [this] {
		    if (states_)
			    states_->end(file_, [this](const std::string &note) { tell(note); });
		    else
			    options_.live->finish();
	    });
	if (counted_) {
		counted_->finish();
		file_.period_reads(counted_->reads());
	}
	writer_->finish();
	if (failure_.reported())
		fail(failure_.text());
	if (phases_)
		file_.phases(phases_->finish(progress().lost));
	if (card_)
		cgroups_.collect();
	if (card_)
		file_.card_counts(*card_);
	if (stacks_)
		file_.stacks(options_.stacks, card_->stack_memory(), stacks_->counts());
	if (users_)
		file_.user_card(users_->counts(), search_ ? search_->missed() : 0);
	if (matched_)
		matched_->end(end, card_.get(), users_.get(), file_);
	if (triggers_)
		act();
	add_triggers(file_);
	file_.recorder(cpu_ns, end, *writer_, drain_->worst_fill(),
		       control_->tokens() + (states_ ? states_->tokens() : 0));
	calibrate_again();
	file_.other_recorders(card::other_recorders());
	file_.end(result_.end_reason, command_ ? command_->poll() : std::nullopt, !result_.failed);
	try {
		if (options_.kept == Kept::nothing)
			return remove_trace_directory(result_.directory);
		write_description();
		cgroups_.write(result_.directory);
		file_.write(result_.directory);
	} catch (const Error &error) { // the disk is full: the files of the start remain and say `incomplete`
		fail(error.what());
	}
}

// The tokens and counts of the recording have been read: the rings are free.
void Recording::Parts::calibrate_again()
{
	if (!card_)
		return;
	calibration_.probes = false; // attaching to a function needs a privilege that was given up
	try {
		if (options_.calibrates)
			file_.calibration("end", card::calibrate(*card_, calibration_));
	} catch (const Error &error) { // so does attaching tp tracepoints
		file_.no_calibration("end", error.what());
	}
	file_.witness("end", card::witness_calls(*card_, calibration_.tp, calibration_.filtering));
}

void Recording::Parts::fail(const std::string &why)
{
	result_.failed = true;
	result_.end_reason = why;
}

// The recording ended before its command: terminate it if the duration elapsed, then wait for it.
void Recording::Parts::release_command()
{
	if (!command_ || command_->poll())
		return;
	if (ending_.ends_command())
		command_->signal(SIGTERM);
	ending_.wait_for(*command_);
}

// Their threads use each other's objects: they are stopped before any of these is destroyed.
void Recording::Parts::stop_threads()
{
	if (phases_)
		phases_->stop();
	if (users_)
		users_->stop();
	if (stacks_)
		stacks_->stop();
	if (drain_)
		drain_->stop();
	if (flight_)
		flight_->stop();
}

void Recording::Parts::expect_possible() const
{
	if (::geteuid() != 0 && options_.everyone)
		throw Error(
		    "--user needs root, because it records the events of every user's programs: run it with sudo");
	if (::geteuid() != 0 && !options_.user_only)
		throw Error("recording needs root: run it with sudo (reading a trace and --user-only do not)");
	if (options_.user_only && !card::has_invariant_tsc())
		throw Error(
		    "--user-only needs a time stamp counter of constant rate on all CPUs, which this machine lacks");
	if (!card::in_first_pid_namespace() && (options_.filtering() || !options_.command.empty()))
		throw Error(
		    "in a container with its own process numbers, no process can be selected: leave out -p and the "
		    "command, or start the container with the host's process numbers (--pid=host)");
}

void Recording::Parts::start()
{
	expect_possible();
	make_directory();
	try {
		start_parts();
	} catch (...) {
		// Removing the directory needs descriptors, which may be what was missing.
		announcement_.reset();
		stop_threads();
		if (writer_)
			writer_->finish();
		drain_.reset();
		flight_.reset();
		users_.reset();
		command_.reset();
		std::optional<AsUser> as; // never remove as root what a user's path names
		if (!dropped_)
			as.emplace(user_);
		remove_trace_directory(result_.directory);
		throw;
	}
}

void Recording::Parts::start_parts()
{
	if (options_.flight)
		requests_ = std::make_unique<SnapshotRequests>(
		    user_.uid, std::filesystem::absolute(result_.directory).string(), card::has_invariant_tsc());
	announcement_ = card::announce_recorder();
	file_.other_recorders(card::other_recorders());
	open_user_card();
	if (!options_.functions.empty())
		find_functions();
	prepare_matching();
	if (matched_)
		acts_ = std::make_unique<TriggerActs>(options_.matching->request.triggers,
						      std::filesystem::absolute(result_.directory).string(), user_,
						      [this](unsigned id) -> std::optional<card::UserClass> {
							      for (const card::UserClass &of : user_classes())
								      if (of.id == id)
									      return of;
							      return std::nullopt;
						      });
	if (!options_.command.empty())
		command_ = std::make_unique<Command>(options_.command, user_, environment_of_command());
	if (!options_.user_only)
		cgroups_.collect(); // this is slow, so before any probe is attached
	file_.recording(options_, command_ ? command_->pid() : 0, user_.name, uuid_);
	if (options_.user_only)
		measure_clock();
	else
		load_card();
	if (options_.everyone && !(users_ && users_->holder()))
		find_programs();
	if (options_.stacks.any())
		prepare_stacks();
	raise_file_limit();
	drop_privileges(user_);
	file_.confined(confine_to(result_.directory));
	dropped_ = true;
	if (stacks_)
		stacks_->start(result_.directory + "/.monitor");
	if (options_.calibrates_in_phases)
		prepare_phases();
	if (options_.flight)
		start_flight();
	else
		start_recording();
	if (triggers_)
		act(); // at start
	if (command_)
		result_.exec_error = command_->go();
	if (phases_ && !result_.exec_error)
		phases_->start();
	if (!result_.exec_error)
		remove_replaced_trace(result_.directory);
	if (listener_.on_start && !result_.exec_error)
		listener_.on_start(result_.directory);
}

void Recording::Parts::start_recording()
{
	start_streams();
	control_->sync(steering_->first());
	drain_->sync();
	// From here on every probe is attached.
	file_.start(steering_->last());
	if (counted_)
		start_counting();
	if (counters_) {
		file_.counting(*options_.counting);
		file_.counter_readings("start", counters_->read(false, steering_->invariant_tsc()));
	}
	if (sink()) {
		LiveStart start;
		clock_ = describe_clock(*steering_);
		start.description = description(user_classes());
		start.begin_time = steering_->first().time;
		start.has_more_classes = users_ != nullptr;
		if (card_)
			start.cpus = online_cpus();
		if (states_) {
			states_->start(start, file_);
		} else {
			start.recording = file_.text();
			start.directory = result_.directory;
			start.uuid = uuid_;
			if (stacks_)
				start.stacks_ns = [memory = card_->stack_memory()] { return memory.spent_ns(); };
			start.describe = [this] { return description(describe_clock(*steering_), user_classes()); };
			start.name_cgroups = [this] {
				cgroups_.collect();
				cgroups_.write(result_.directory);
			};
			options_.live->start(start);
		}
	}
	write_description();
	file_.write(result_.directory);
	cgroups_.write(result_.directory);
	cpu_before_ns_ = own_cpu_time_ns();
	if (users_)
		users_->start(static_cast<std::uint64_t>(steering_->frequency_hz()),
			      spare_files(writer_->max_streams() + other_files),
			      [this](const std::vector<card::UserClass> &classes) { describe_again(classes); });
	if (card_)
		read_counts_of_kernel("start");
	write_tasks(false);
	drain_->look();
	if (states_ && states_->list_of_threads())
		states_->list_of_threads()->flush();
	control_->flush();
	drain_->start();
	if (options_.budget) {
		functions_.start_budget(*options_.budget, *card_, users_.get());
		file_.budget(*options_.budget);
	}
}

Result Recording::Parts::wait()
{
	if (result_.exec_error) {
		stop_threads();
		if (card_)
			card_->detach();
		if (writer_)
			writer_->finish();
		remove_trace_directory(result_.directory);
		result_.command_exit = command_->wait();
		return result_;
	}
	wait_for_end();
	if (flight_)
		end_flight();
	else
		end_recording();
	release_command();
	if (command_)
		result_.command_exit = command_->poll();
	return result_;
}

Recording::Recording(Options options, Listener listener)
    : parts_(std::make_unique<Parts>(std::move(options), std::move(listener)))
{
}

Recording::~Recording() = default;

void Recording::start()
{
	parts_->start();
}

Result Recording::wait()
{
	return parts_->wait();
}

void Recording::stop(const std::string &reason)
{
	parts_->stop(reason);
}

} // namespace monitor::record
