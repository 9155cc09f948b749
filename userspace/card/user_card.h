// SPDX-License-Identifier: MIT
// The recorder's side of the user card: gives each instrumented process its own memory with a ring per CPU, and takes
// what it writes there. Protocol and memory: include/monitor/user_ring.h.
//
// Two threads: the card's own answers processes and watches for their end; the drain thread calls drain(). They share
// the list of processes under a lock that is held briefly. Next in the flow: record/drain.cpp.
// Every byte that comes from a process is untrusted: copied, checked, rewritten (user_block.h); what fails the check is
// counted and reported, and no other process is affected.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/fd.h"
#include "monitor/card.h"
#include "user_bells.h"
#include "user_block.h"
#include "user_classes.h"
#include "user_memory.h"
#include "user_merge.h"
#include "user_module.h"

namespace monitor::card {

struct UserCardOptions {
	std::array<std::uint8_t, 16> uuid{};
	unsigned cpus = 0;
	uid_t user = 0;                         // whose processes may have rings; root's always may
	bool everyone = false;                  // all processes of the machine, through EDC_SOCKET_PATH
	bool device = false;                    // and through the kernel module, if it is loaded
	bool name_processes = false;            // for take_arrived()
	UserMemory memory;                      // of the rings that the recorder gives
	std::vector<edc_user_counter> counters; // that programs read at the boundaries of activities
};

// Rings that have their own stream; those of later processes are merged, one stream per CPU.
inline constexpr std::size_t max_own_streams = 64;

// What a process reports that it lost: only the process can count it.
struct UserClaim {
	pid_t process = 0;
	std::uint64_t discarded = 0; // discarded by its full rings
	std::uint64_t early = 0;     // before it had rings
	bool possible = true;        // false: it reports more than all CPUs can post, which is not in the numbers

	std::uint64_t lost() const { return discarded + early; }
};
inline constexpr std::size_t max_claims_kept = 16; // the largest ones

struct UserCounts {
	std::uint64_t processes = 0; // that got rings
	std::uint64_t by_device = 0; // of these, from the kernel module
	std::uint64_t refused = 0;   // that got none
	std::uint64_t tokens = 0;    // that were taken, without `thread` tokens
	std::uint64_t discarded = 0; // by full rings, as the processes report, and holes of the shared ones
	std::uint64_t early = 0;     // before the rings existed, as the processes report; or of refused classes
	std::uint64_t claims = 0;    // processes that report lost events
	std::vector<UserClaim> claim;
	std::uint64_t damaged = 0; // blocks with an error in them
	std::uint64_t classes = 0, classes_refused = 0;
	std::string damage;      // the first error, and whose it was
	std::string why_refused; // the first class
};

class UserCard {
public:
	// Opens a listening socket with its own name, and with `everyone` the well-known one. Throws Error.
	explicit UserCard(const UserCardOptions &options);
	~UserCard();

	// For EDC_ENVIRONMENT of the command.
	const std::string &socket_name() const { return name_; }

	// Starts to answer. `ticks_per_second`: of the trace clock. `free_descriptors`: how many it may use. `on_class`
	// is called in the card's thread when there are new classes, at most a few times a second.
	void start(std::uint64_t ticks_per_second, std::size_t free_descriptors,
		   std::function<void(const std::vector<UserClass> &)> on_class);
	// Called when a process got rings, and when a ring became half full: the drain thread should run. In threads
	// of the card.
	void set_on_arrival(std::function<void()> on_arrival) { on_arrival_ = std::move(on_arrival); }
	// No process gets rings any more, and those that have rings from the recorder are notified that it is over.
	void stop();

	// Drain thread: takes every closed block; with `last` the open ones too. `make_stream(name)` numbers a stream,
	// `push(stream, block)` is false if the pool is full: then the block waits. Returns the highest fill of any
	// ring, in thousandths rounded up.
	using MakeStream = std::function<std::uint32_t(const std::string &name)>;
	using Push = std::function<bool(std::uint32_t stream, const std::byte *block)>;
	unsigned drain(bool last, const MakeStream &make_stream, const Push &push);

	// Drain thread: whether there are processes whose bells cannot be heard.
	bool must_poll() const { return must_poll_; }

	// After the last drain(): whether all rings are empty.
	bool all_taken() const;

	// The processes that got rings since the last call, with their names, if name_processes is set: for traces
	// without the kernel's events, which also name them.
	std::vector<edc_task> take_arrived();

	std::vector<UserClass> classes() const;
	UserCounts counts() const;

private:
	struct Ring;
	struct Process;
	struct Look;
	using Clock = std::chrono::steady_clock;
	struct Answer {
		Fd caller;
		edc_welcome welcome;
		std::vector<std::uint16_t> ids;
		Fd memory;
	};

	void serve_always();
	void serve();
	int wait_ms() const;
	void see_ended(std::span<const pollfd> polls);
	void take_caller(int listener);
	void greet(Fd caller);
	bool is_trusted(uid_t user) const;
	bool may_have_area(const ucred &who) const;
	std::uint64_t ring_blocks_for(const Process &asking) const;
	void give_area(const ucred &who, Answer &answer);
	std::vector<std::uint16_t> ids_of(const ucred &who, std::string_view texts, std::uint32_t classes);
	bool has_undescribed(const std::vector<std::uint16_t> &ids) const;
	void describe();
	int make_area(Process &process);
	void adopt_arrived();
	void adopt(const edc_device_process &told);
	void learn_classes();
	void refuse_class(std::uint16_t id, unsigned words);
	void add_words(std::size_t known_before);
	Look look_at(const Process &process, Ring &ring);
	unsigned drain_process(Process &process, bool last, std::uint64_t &all_left, const MakeStream &make_stream,
			       const Push &push);
	unsigned drain_ring(Process &process, Ring &ring, bool last, std::uint64_t &left, const MakeStream &make_stream,
			    const Push &push);
	void mind_bell(Process &process, bool needed);
	void wait_for_bells();
	std::uint64_t longer(std::uint64_t pause) const;
	std::size_t waiting_bytes() const;
	void pack_merged(bool last, std::uint64_t before_look, const Push &push);
	bool take(const Process &process, Ring &ring, std::uint64_t content_bytes, const MakeStream &make_stream,
		  const Push &push);
	unsigned merge_ring(const Process &process, Ring &ring, bool last, const MakeStream &make_stream);
	void merge_block(const Process &process, Ring &ring, std::uint64_t content_bytes,
			 const std::function<void()> &learn);
	unsigned share_ring(Process &process, bool last, const MakeStream &make_stream);
	std::function<void()> learning(const Process &process);
	static void copy_block(const Process &process, const Ring &ring, std::array<std::byte, EDC_BLOCK_SIZE> &block);
	static std::uint64_t content_of(const std::array<std::byte, EDC_BLOCK_SIZE> &block);
	bool tell_last_loss(Ring &ring, const Push &push);
	bool forget(const Process &process);
	std::uint64_t max_possible_discarded() const;
	UserClaim claim_of(const Process &process) const;
	void add_counts(const Process &process, UserCounts &counts) const;
	void damage(const Process &process, const std::string &what);

	UserCardOptions options_;
	std::string name_;
	std::uint64_t ticks_per_second_ = 0; // also how long a claim in a shared ring is waited for
	std::vector<Fd> listeners_;
	std::unique_ptr<UserModule> module_; // null: none
	Fd stop_, described_late_;           // the second: the drain thread met new classes
	std::function<void(const std::vector<UserClass> &)> on_class_;
	std::function<void()> on_arrival_;
	std::vector<Fd> callers_;                       // from here to max_areas_: the card's thread only
	std::vector<Answer> answers_;                   // that wait for the description of their classes
	bool undescribed_ = false;                      // there are classes that the description lacks
	Clock::time_point describe_at_{}, listen_at_{}; // not earlier
	std::size_t max_areas_ = 0;
	mutable std::mutex lock_; // of all members below
	UserClasses classes_;
	std::size_t described_ = 0;   // of them
	std::uint64_t last_look_ = 0; // processes that have rings by then are known
	std::uint64_t began_ = 0;     // in ticks
	bool started_ = false;        // processes that had rings before are known
	WordsById words_;
	WordsById device_words_; // the same, plus refused classes that the module gave ids to
	std::vector<std::unique_ptr<Process>> processes_;
	std::uint64_t area_bytes_ = 0; // of those that the recorder gave
	bool must_poll_ = false;
	std::size_t first_process_ = 0;            // of the next pass
	std::vector<std::uint32_t *> quiet_bells_; // of this pass
	std::vector<std::uint32_t *> heard_bells_; // that are waited for
	bool rung_was_found_ = false;              // in this pass
	bool hidden_ring_ = false;                 // a bell was rung, and no process was found that rang it
	std::uint64_t hidden_pause_ = 0, bells_from_ = 0;
	std::size_t merged_bytes_ = 0; // that wait to be packed
	std::vector<edc_task> arrived_;
	std::map<pid_t, unsigned> cards_;                   // how many a process had
	std::vector<std::unique_ptr<MergedStream>> merged_; // by CPU
	std::vector<std::uint64_t> merged_before_;          // by CPU: earlier events are complete in this pass
	std::unique_ptr<MergedStream> shared_;              // of all shared rings
	UserCounts counts_;
	std::thread thread_;
	UserBells bells_; // last: its thread uses on_arrival_
};

} // namespace monitor::card
