// SPDX-License-Identifier: MIT
/*
 * A program that drives a recording itself, as an agent does: `driven DIRECTORY CALLS [COMMAND ...]`. Another thread
 * makes CALLS system calls while the main thread waits for the end, then stops the recording. Prints "tid=N" of that
 * thread, "stopped=REASON".
 */
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include <sys/syscall.h>
#include <unistd.h>

#include "recording/session/recording.h"

int main(int argc, char **argv)
try {
	if (argc < 3)
		return 2;
	monitor::record::Options options;
	options.output = argv[1];
	options.force = true;
	options.calibrates = false;
	options.command.assign(argv + 3, argv + argc);
	monitor::record::Recording recording(options, {});
	recording.start();
	std::thread worker([&] {
		std::printf("tid=%ld\n", ::syscall(SYS_gettid));
		for (int i = std::atoi(argv[2]); i > 0; --i)
			::syscall(SYS_getppid);
		recording.stop("the test has seen enough");
	});
	const monitor::record::Result result = recording.wait();
	worker.join();
	std::printf("stopped=%s\ncommand=%d\n", result.end_reason.c_str(), result.command_exit.value_or(-1));
	return result.failed;
} catch (const std::exception &error) {
	std::fprintf(stderr, "driven: %s\n", error.what());
	return 1;
}
