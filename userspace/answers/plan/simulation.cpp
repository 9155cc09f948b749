// SPDX-License-Identifier: MIT
#include "simulation.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include "base/buffering/buffers.h"
#include "base/buffering/ring_layout.h"
#include "base/buffering/user_memory.h"
#include "monitor/ring.h"
#include "recorder_threads.h"

namespace monitor::plan {
namespace {

using simulation::any_cpu;

constexpr Nanoseconds max_after_load = 60'000'000'000;

// By program: blocks of each of its rings. Memory is divided in the order in which programs began to post, and is free
// again when one has ended.
std::map<std::string, std::uint64_t> blocks_of_programs(const Arrivals &arrivals, const Setting &setting,
							std::uint32_t cpus)
{
	struct Program {
		Nanoseconds begin = INT64_MAX, end = 0;
		std::uint64_t bytes = 0;
	};
	std::map<std::string, Program> programs;
	for (const RecordedRing &ring : arrivals.rings)
		if (!ring.is_kernel()) {
			Program &program = programs[ring.program];
			program.begin = std::min(program.begin, ring.begin);
			program.end = std::max(program.end, ring.end);
		}
	std::vector<std::pair<const std::string, Program> *> order;
	for (auto &each : programs)
		order.push_back(&each);
	std::ranges::sort(order, {}, [](const auto *each) { return each->second.begin; });
	const buffering::UserMemory memory = buffering::user_memory(setting.buffer_bytes);
	std::map<std::string, std::uint64_t> blocks;
	for (auto *each : order) {
		std::uint64_t used = 0;
		for (const auto &[name, other] : programs)
			used += other.end >= each->second.begin ? other.bytes : 0;
		blocks[each->first] = buffering::user_ring_blocks(memory, used, cpus);
		each->second.bytes = buffering::user_area_bytes(blocks[each->first], cpus);
	}
	return blocks;
}

std::vector<SimulatedRing> rings_of(const Arrivals &arrivals, const Setting &setting, const buffering::Buffers &buffers,
				    std::uint32_t cpus)
{
	const auto by_level = buffering::blocks_by_ring(buffers.blocks_per_cpu, arrivals.has_slots);
	const auto by_program = blocks_of_programs(arrivals, setting, cpus);
	std::map<std::string, std::uint32_t> programs;
	std::vector<SimulatedRing> rings;
	for (const RecordedRing &ring : arrivals.rings) {
		const std::uint64_t blocks = ring.is_kernel() ? by_level.at(ring.level) : by_program.at(ring.program);
		const std::uint32_t program =
		    ring.is_kernel()
			? 0
			: programs.try_emplace(ring.program, static_cast<std::uint32_t>(programs.size()) + 1)
			      .first->second;
		rings.push_back({RingModel(blocks), ring.cpu, ring.level, program, false});
	}
	return rings;
}

// The simulated CPU of each recorded one. A thread starts on CPU 0, and stays there while that is idle: so CPU 0 is the
// busiest, or the quietest one.
std::vector<std::uint32_t> simulated_cpus(const Arrivals &arrivals, bool beside_load)
{
	std::vector<std::uint32_t> simulated_cpu(arrivals.steps.size());
	std::iota(simulated_cpu.begin(), simulated_cpu.end(), 0u);
	std::swap(simulated_cpu[0], simulated_cpu[beside_load ? arrivals.busiest_cpu() : arrivals.quietest_cpu()]);
	return simulated_cpu;
}

std::uint64_t mask_of(std::uint32_t cpu)
{
	return std::uint64_t(1) << cpu;
}

ServiceTimes scaled_by(ServiceTimes times, double pace)
{
	for (double *each : {&times.empty_pass, &times.pass, &times.kernel_block, &times.user_block, &times.fresh_block,
			     &times.write, &times.written_block})
		*each *= pace;
	return times;
}

} // namespace

Outcome simulate(const Arrivals &arrivals, const ServiceTimes &recorded, const Setting &setting,
		 const Circumstances &circumstances)
{
	const auto cpus = static_cast<std::uint32_t>(arrivals.steps.size());
	const buffering::Buffers buffers =
	    buffering::divide_buffers(setting.buffer_bytes, cpus, arrivals.rings_of_cpu());
	const ServiceTimes times = scaled_by(recorded, circumstances.pace);
	const auto simulated_cpu = simulated_cpus(arrivals, circumstances.beside_load);
	simulation::SchedulerSettings scheduler;
	scheduler.cpus = cpus;
	scheduler.policy = circumstances.beside_load ? simulation::Policy::round_robin : simulation::Policy::fair;
	SharedState shared(arrivals, times, scheduler, buffers.pool_blocks, circumstances.seed);
	shared.rings = rings_of(arrivals, setting, buffers, cpus);
	const double disk_ns =
	    setting.disk_bytes_per_second ? EDC_BLOCK_SIZE * 1e9 / *setting.disk_bytes_per_second : -1;
	WriterModel writer(shared, disk_ns);
	DrainModel drain(shared, writer);
	const std::uint64_t mask = setting.cpu ? mask_of(simulated_cpu.at(*setting.cpu)) : any_cpu;
	drain.add(mask);
	writer.add(mask);
	std::uint32_t left = cpus;
	std::vector<std::unique_ptr<LoadModel>> loads;
	for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
		loads.push_back(
		    std::make_unique<LoadModel>(shared, drain, arrivals.steps[cpu], circumstances.load_pace, [&] {
			    if (--left == 0)
				    drain.stop();
		    }));
		shared.loads.push_back(shared.machine.add(*loads.back(), mask_of(simulated_cpu[cpu])));
	}
	for (std::uint32_t cpu = 0; cpu < cpus; ++cpu)
		loads[cpu]->start(shared.loads[cpu]);
	drain.start();
	shared.machine.run(arrivals.duration * 16 + max_after_load);
	Outcome outcome;
	for (const SimulatedRing &ring : shared.rings) {
		outcome.lost += ring.blocks.lost();
		outcome.stored += ring.blocks.stored();
	}
	outcome.posted = outcome.lost + outcome.stored;
	outcome.drain_cpu = drain.cpu_time();
	outcome.writer_cpu = writer.cpu_time();
	for (const simulation::ThreadNumber load : shared.loads)
		outcome.load_cpu += shared.machine.cpu_time(load);
	outcome.fullest = drain.fullest();
	outcome.passes = drain.passes();
	outcome.writes = writer.writes();
	outcome.end = shared.machine.now();
	return outcome;
}

} // namespace monitor::plan
