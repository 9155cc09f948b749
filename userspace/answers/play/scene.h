// SPDX-License-Identifier: MIT
// A scene: the state of the machine at one moment of a trace. Made from the fold by player.cpp for each frame that is
// drawn; drawn by machine_picture.cpp and layout_picture.cpp.
//
// Invariant: what the fold does not know is unknown here, above all while a loss is being passed, never idle.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement.h"
#include "reading/analyze/thread_fold.h"
#include "recent.h"

namespace monitor::play {

// Steps of the past that a scene remembers: the moments before it, one step apart.
constexpr unsigned past_steps = 60;

struct PastStep {
	std::int32_t tid = -1; // 0: idle, -1: unknown
	char letter = '?';     // the thread's
};

struct SceneThread {
	std::int32_t tid = 0, tgid = 0;
	std::string name, process;
	analyze::State state = analyze::State::unknown;
	std::optional<std::uint32_t> cpu; // running: there; ready: in the run queue of
	std::uint64_t since = 0;          // of ready, throttled and blocked
	std::string call;                 // that it runs or sleeps in; "": none, or unknown
	bool is_hidden = false;           // by the kernel: its state is not known
};

struct SceneCpu {
	std::uint32_t number = 0;
	enum class What : std::uint8_t { unknown, idle, thread, offline } what = What::unknown;
	bool is_in_loss = false; // why it is unknown
	std::int32_t tid = -1;
	std::string name; // of the thread
	analyze::Mode mode = analyze::Mode::unknown;
	std::string interrupt;           // that it handles; "": none
	std::string call;                // the system call that the thread runs in
	std::vector<std::int32_t> ready; // the threads in its run queue, the longest waiting first
	std::vector<PastStep> past;      // the oldest first; the last step is the scene's own moment
};

struct Scene {
	std::uint64_t time = 0, step = 0; // ticks
	std::vector<SceneCpu> cpus;
	std::vector<SceneThread> threads;   // by tid, without idle threads
	std::vector<std::int32_t> unplaced; // ready, in the run queue of an unknown CPU
	std::vector<WakeUp> wake_ups;       // the newest first
	std::vector<Posted> posted;         // the newest first
	bool wakings_are_known = true;      // they were recorded

	const SceneThread *find(std::int32_t tid) const;
};

// Who has a CPU now.
PastStep now_on(const analyze::ThreadFold &fold, const analyze::Cpu &cpu);
// Without the past.
Scene scene_of(const analyze::ThreadFold &fold, const Placement &placement, const Recent &recent, std::uint64_t time);

} // namespace monitor::play
