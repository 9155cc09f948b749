// SPDX-License-Identifier: MIT
#include "control.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "fetch_request.h"
#include "forward.h"
#include "names.h"

namespace monitor::fleet {
namespace {

constexpr std::size_t max_kind_bytes = 16, max_run_bytes = 64;
constexpr std::size_t max_command_words = 256, max_word_bytes = 16384, max_why_bytes = 256;
constexpr std::uint64_t max_transit_ns = 500'000'000; // longest transit of a command from the operator to a host

bool is_nonce(const std::string &text)
{
	return text.size() == nonce_digits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_one_line(const std::string &text)
{
	return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; });
}

// Parses the fields for the forwarding policy and the window. Returns the reason of a refusal, as the end of a message;
// "": well-formed.
std::string parse_window(const nlohmann::json &text, ControlMessage &message)
{
	message.forward = text_field(text, "forward", max_kind_bytes).value_or("");
	message.store = text_field(text, "store", max_kind_bytes).value_or("");
	message.from_ns = number_field(text, "from_ns").value_or(0);
	message.to_ns = number_field(text, "to_ns").value_or(0);
	if (!message.forward.empty() && !parse_forward(message.forward))
		return "its --forward is none that this version of monitor knows";
	if (!parse_hex64(message.store) || (message.to_ns && message.to_ns < message.from_ns))
		return "the window that it asks for is none";
	return "";
}

// Returns the reason of a refusal, as the end of a message; "": well-formed.
std::string parse_message(const nlohmann::json &text, ControlMessage &message)
{
	const auto kind = text_field(text, "kind", max_kind_bytes), nonce = text_field(text, "nonce", nonce_digits),
		   run = text_field(text, "run", max_run_bytes);
	const auto issued = number_field(text, "issued_ns"), expires = number_field(text, "expires_ns");
	auto hosts = texts_field(text, "hosts", max_addressed_hosts, max_host_name);
	if (!kind || !nonce || !is_nonce(*nonce) || !issued || !expires || !hosts ||
	    !std::ranges::all_of(*hosts, [](const std::string &host) { return is_host_name(host); }))
		return "it lacks a field that every command has, or one is malformed";
	if (!run || !is_run_name(*run))
		return "the name of its run is not one: letters, digits, '.', '_' and '-', 64 at most, and a letter, a "
		       "digit or '_' first";
	message.kind = *kind;
	message.nonce = *nonce;
	message.run = *run;
	message.issued_ns = *issued;
	message.expires_ns = *expires;
	message.hosts = std::move(*hosts);
	message.start_ns = number_field(text, "start_ns").value_or(0);
	if (std::string problem = parse_window(text, message); !problem.empty())
		return problem;
	const nlohmann::json *options = json_field(text, "options");
	message.options = options ? *options : nlohmann::json::object();
	if (json_field(text, "command")) {
		auto command = texts_field(text, "command", max_command_words, max_word_bytes);
		if (!command)
			return "its command is not a list of words, or is too long";
		message.command = std::move(*command);
	}
	message.snapshot_all = flag_field(text, "snapshot_all");
	if (json_field(text, "why")) {
		const auto why = text_field(text, "why", max_why_bytes);
		if (!why || !is_one_line(*why))
			return "what it is for is not a line of at most 256 bytes";
		message.why = *why;
	}
	return message.options.is_object() ? "" : "its options are not an object";
}

// The fields that every version has, so that the operator receives the refusal.
void parse_address(const nlohmann::json &text, std::string_view host, CheckedControl &checked)
{
	auto nonce = text_field(text, "nonce", nonce_digits), run = text_field(text, "run", max_run_bytes);
	const auto hosts = texts_field(text, "hosts", max_addressed_hosts, max_host_name);
	if (!nonce || !is_nonce(*nonce) || !run || !is_run_name(*run) || !hosts)
		return;
	checked.is_authentic = true;
	checked.is_for_others = std::ranges::find(*hosts, host) == hosts->end();
	checked.message.nonce = std::move(*nonce);
	checked.message.run = std::move(*run);
}

std::string time_problem(const ControlMessage &message, std::uint64_t now_ns)
{
	const auto seconds = [](std::uint64_t ns) { return ns / 1'000'000'000; };
	if (message.expires_ns <= message.issued_ns || message.expires_ns - message.issued_ns > max_validity_ns)
		return fmt::format(
		    "a command is valid for an hour at most, this one for {} s",
		    message.expires_ns > message.issued_ns ? seconds(message.expires_ns - message.issued_ns) : 0);
	if (now_ns >= message.expires_ns)
		return fmt::format("it expired {} s ago by this host's clock", seconds(now_ns - message.expires_ns));
	if (message.issued_ns > now_ns && message.issued_ns - now_ns > max_early_ns)
		return fmt::format("it was issued {} s in the future by this host's clock: set the clocks",
				   seconds(message.issued_ns - now_ns));
	if (message.start_ns &&
	    (message.start_ns < message.issued_ns || message.start_ns - message.issued_ns > max_lead_ns))
		return "its start is before it was issued, or more than 10 minutes after";
	return "";
}

} // namespace

std::string signed_control(const ControlMessage &message, const SigningKey &key)
{
	nlohmann::ordered_json text = {
	    {"version", control_version},      {"kind", message.kind}, {"hosts", message.hosts},
	    {"nonce", message.nonce},          {"run", message.run},   {"issued_ns", message.issued_ns},
	    {"expires_ns", message.expires_ns}};
	if (message.start_ns)
		text["start_ns"] = message.start_ns;
	if (!message.options.empty())
		text["options"] = message.options;
	if (!message.command.empty())
		text["command"] = message.command;
	if (message.snapshot_all)
		text["snapshot_all"] = true;
	if (!message.why.empty())
		text["why"] = message.why;
	for (const auto &[name, value] : {std::pair("forward", &message.forward), std::pair("store", &message.store)})
		if (!value->empty())
			text[name] = *value;
	for (const auto &[name, value] : {std::pair("from_ns", message.from_ns), std::pair("to_ns", message.to_ns)})
		if (value)
			text[name] = value;
	const std::string bytes = json_dump(text);
	const nlohmann::ordered_json envelope = {{"message", bytes}, {"signature", to_base64(key.sign(bytes))}};
	std::string sealed = json_dump(envelope);
	if (sealed.size() > max_envelope_bytes)
		throw Error("the command has {} bytes, at most {} can be sent: shorten its filter, triggers or command",
			    sealed.size(), max_envelope_bytes);
	return sealed;
}

CheckedControl check_control(std::string_view untrusted_envelope, const PublicKey &key, std::string_view host,
			     std::uint64_t now_ns)
{
	CheckedControl checked;
	const auto refused = [&](std::string why) {
		checked.refusal = std::move(why);
		return checked;
	};
	if (untrusted_envelope.size() > max_envelope_bytes)
		return refused(
		    fmt::format("it has {} bytes, at most {} are read", untrusted_envelope.size(), max_envelope_bytes));
	const nlohmann::json envelope = parse_json(std::string(untrusted_envelope));
	const auto untrusted_text = text_field(envelope, "message", max_envelope_bytes),
		   base64 = text_field(envelope, "signature", 2 * signature_bytes);
	const auto signature = base64 ? from_base64(*base64) : std::nullopt;
	if (!untrusted_text || !signature)
		return refused("it is not signed: no message and signature in it");
	if (!key.verifies(*untrusted_text, *signature))
		return refused("the signature is not the operator's: was the key of another fleet copied here?");
	const nlohmann::json text = parse_json(*untrusted_text);
	if (number_field(text, "version") != control_version) {
		parse_address(text, host, checked);
		return refused(fmt::format("it is not of version {}: use the same version of monitor on all hosts",
					   control_version));
	}
	if (std::string problem = parse_message(text, checked.message); !problem.empty())
		return refused(std::move(problem));
	checked.is_authentic = true;
	checked.is_for_others = std::ranges::find(checked.message.hosts, host) == checked.message.hosts.end();
	if (checked.is_for_others)
		return refused("it is for other hosts");
	return refused(time_problem(checked.message, now_ns));
}

std::uint64_t start_delay_ns(const ControlMessage &message, std::uint64_t now_ns)
{
	if (message.start_ns <= message.issued_ns)
		return 0;
	const std::uint64_t lead = message.start_ns - message.issued_ns;
	const std::uint64_t by_clock = message.start_ns > now_ns ? message.start_ns - now_ns : 0;
	return std::clamp(by_clock, lead - std::min(lead, max_transit_ns), lead);
}

} // namespace monitor::fleet
