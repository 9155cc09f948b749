// SPDX-License-Identifier: MIT
#include "scene.h"

#include <algorithm>

namespace monitor::play {
namespace {

using analyze::Mode;
using analyze::State;

// A hidden thread may have been replaced unseen.
bool is_runner_known(const analyze::Cpu &cpu)
{
	return cpu.current && !cpu.current->hidden;
}

bool is_idle(const analyze::ThreadFold &fold, const analyze::Cpu &cpu)
{
	return cpu.current->tid == 0 && fold.mode_on(cpu) == Mode::kernel;
}

SceneThread thread_of(const analyze::ThreadFold &fold, const Placement &placement, const analyze::Thread &thread)
{
	SceneThread made;
	made.tid = thread.tid;
	made.tgid = thread.tgid;
	made.name = name_of(thread);
	made.process = name_of(fold.leader(thread));
	made.is_hidden = thread.hidden;
	if (!fold.is_known(thread) || thread.hidden)
		return made;
	made.state = thread.state;
	made.since = thread.since;
	if (thread.state == State::running)
		made.cpu = thread.cpu;
	else if (thread.state == State::runnable)
		made.cpu = placement.cpu_of(thread.tid);
	if (thread.syscall != EDC_NO_SYSCALL && thread.state != State::dead)
		made.call = fold.kinds().syscall_label(thread.syscall);
	return made;
}

SceneCpu cpu_of(const analyze::ThreadFold &fold, const analyze::Cpu &cpu, std::uint64_t time)
{
	SceneCpu made;
	made.number = cpu.number;
	made.is_in_loss = time < cpu.gap_until;
	if (cpu.is_offline)
		made.what = SceneCpu::What::offline;
	if (!is_runner_known(cpu))
		return made;
	made.what = is_idle(fold, cpu) ? SceneCpu::What::idle : SceneCpu::What::thread;
	made.tid = cpu.current->tid;
	made.name = name_of(*cpu.current);
	made.mode = fold.mode_on(cpu);
	if (!cpu.interrupts.empty())
		made.interrupt =
		    fold.kinds().interrupt_label(cpu.interrupts.back() >> 16, cpu.interrupts.back() & 0xffff);
	if (cpu.current->syscall != EDC_NO_SYSCALL)
		made.call = fold.kinds().syscall_label(cpu.current->syscall);
	return made;
}

void fill_run_queues(Scene &scene)
{
	std::vector<const SceneThread *> ready;
	for (const SceneThread &thread : scene.threads)
		if (thread.state == State::runnable)
			ready.push_back(&thread);
	std::ranges::stable_sort(ready, {}, &SceneThread::since);
	for (const SceneThread *thread : ready)
		(thread->cpu && *thread->cpu < scene.cpus.size() ? scene.cpus[*thread->cpu].ready : scene.unplaced)
		    .push_back(thread->tid);
}

} // namespace

const SceneThread *Scene::find(std::int32_t tid) const
{
	const auto found = std::ranges::lower_bound(threads, tid, {}, &SceneThread::tid);
	return found != threads.end() && found->tid == tid ? &*found : nullptr;
}

PastStep now_on(const analyze::ThreadFold &fold, const analyze::Cpu &cpu)
{
	if (!is_runner_known(cpu))
		return {};
	if (is_idle(fold, cpu))
		return {0, '.'};
	if (cpu.current->tid == 0)
		return {0, '!'}; // an interrupt while idle
	const char first = name_of(*cpu.current).front();
	const bool is_clear = first > ' ' && first < 0x7f && first != '.' && first != '!' && first != '?';
	return {cpu.current->tid, is_clear ? first : '#'};
}

Scene scene_of(const analyze::ThreadFold &fold, const Placement &placement, const Recent &recent, std::uint64_t time)
{
	Scene scene;
	scene.time = time;
	for (const analyze::Cpu &cpu : fold.cpus())
		scene.cpus.push_back(cpu_of(fold, cpu, time));
	for (const analyze::Thread &thread : fold.threads())
		if (thread.tid != 0 && fold.thread(thread.tid) == &thread) // its number was not reused
			scene.threads.push_back(thread_of(fold, placement, thread));
	std::ranges::sort(scene.threads, {}, &SceneThread::tid);
	fill_run_queues(scene);
	scene.wake_ups.assign(recent.wake_ups().rbegin(), recent.wake_ups().rend());
	scene.posted.assign(recent.posted().rbegin(), recent.posted().rend());
	return scene;
}

} // namespace monitor::play
