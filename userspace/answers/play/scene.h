// SPDX-License-Identifier: MIT
// A scene: the state of the machine at one moment of a trace. Made from the fold for each frame.
// Invariant: what the fold does not know is unknown, especially during a loss, never idle.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement.h"
#include "reading/analyze/thread_fold.h"
#include "recent.h"

namespace monitor::play {

// Number of past moments in a scene, one step apart.
constexpr unsigned past_steps = 60;

struct PastStep {
	std::int32_t tid = -1; // 0: idle, -1: unknown
	char letter = '?';     // of the thread
};

struct SceneThread {
	std::int32_t tid = 0, tgid = 0;
	std::string name, process;
	analyze::State state = analyze::State::unknown;
	std::optional<std::uint32_t> cpu; // running: its CPU; ready: whose run queue it is in
	std::uint64_t since = 0;          // start of the state ready, throttled or blocked
	std::string call;                 // in which it runs or sleeps; "": none, or unknown
	bool is_hidden = false;           // hidden by the kernel: its state is unknown
};

struct SceneCpu {
	std::uint32_t number = 0;
	enum class What : std::uint8_t { unknown, idle, thread, offline } what = What::unknown;
	bool is_in_loss = false; // the reason that it is unknown
	std::int32_t tid = -1;
	std::string name; // of the thread
	analyze::Mode mode = analyze::Mode::unknown;
	std::string interrupt;           // being handled; "": none
	std::string call;                // the system call that the thread runs in
	std::vector<std::int32_t> ready; // its run queue, longest waiting first
	std::vector<PastStep> past;      // oldest first; the last step is the scene's own moment
};

struct Scene {
	std::uint64_t time = 0, step = 0; // ticks
	std::vector<SceneCpu> cpus;
	std::vector<SceneThread> threads;   // by tid, without idle threads
	std::vector<std::int32_t> unplaced; // ready, but the CPU is unknown
	std::vector<WakeUp> wake_ups;       // the newest first
	std::vector<Posted> posted;         // the newest first
	bool wakings_are_known = true;      // wake-ups were recorded

	const SceneThread *find(std::int32_t tid) const;
};

// The CPU's thread now.
PastStep now_on(const analyze::ThreadFold &fold, const analyze::Cpu &cpu);
// All but the past.
Scene scene_of(const analyze::ThreadFold &fold, const Placement &placement, const Recent &recent, std::uint64_t time);

} // namespace monitor::play
