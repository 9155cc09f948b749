// SPDX-License-Identifier: MIT
// For builds without protozero: reports that formats based on protocol buffers are missing.
#include "base/error.h"
#include "perfetto.h"
#include "pprof.h"

namespace monitor::exporting {
namespace {

[[noreturn]] void say_left_out(const char *format)
{
	throw Error(std::string("this build has no `monitor convert --to ") + format +
		    "`: it needs a build with protozero (libprotozero-dev)");
}

} // namespace

Converted write_perfetto(trace::Trace &, const analyze::RecordingInfo &, const PerfettoOptions &, Output &)
{
	say_left_out("perfetto");
}

void write_pprof(const report::Profile &, const ProfileOrigin &, Output &)
{
	say_left_out("pprof");
}

} // namespace monitor::exporting
