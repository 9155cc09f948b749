// SPDX-License-Identifier: MIT
#include "snapshot_commands.h"

#include <fmt/format.h>

#include "snapshot_answer.h"

namespace monitor::agent {
std::string SnapshotCommands::ask(pid_t recorder, const fleet::ControlMessage &message)
{
	if (pending_.size() >= max_waiting)
		return fmt::format("{} snapshots of this run are asked for already", max_waiting);
	record::SnapshotRequest request;
	request.why = message.why.empty() ? "the operator" : "the operator: " + message.why;
	pending_.push_back(
	    {message.nonce, message.run, message.issued_ns, record::SnapshotQuestion(recorder, request)});
	return "";
}

void SnapshotCommands::add_fds(std::vector<pollfd> &to) const
{
	for (const Pending &each : pending_)
		to.push_back({each.question.fd(), POLLIN, 0});
}

std::vector<fleet::CommandAnswer> SnapshotCommands::take()
{
	std::vector<fleet::CommandAnswer> answers;
	for (auto each = pending_.begin(); each != pending_.end();) {
		const auto reply = each->question.take();
		if (!reply) {
			++each;
			continue;
		}
		fleet::CommandAnswer answer = snapshot_answer(*reply, each->issued_ns);
		answer.nonce = each->nonce;
		answer.run = each->run;
		answers.push_back(std::move(answer));
		each = pending_.erase(each);
	}
	return answers;
}

} // namespace monitor::agent
