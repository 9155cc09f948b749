# SPDX-License-Identifier: MIT
# bash completion of `monitor`, installed as share/bash-completion/completions/monitor; or: source monitor.bash
# Subcommands, options, families, groupings and reports are asked of the program itself, so they are those of its version.

# Adds to COMPREPLY the words that begin with the part of $cur behind the last comma, and keeps what is before it.
_monitor_list() { # WORD...
	local before=
	[[ $cur == *,* ]] && before=${cur%,*},
	local word
	for word in "$@"; do
		[[ ",$before" == *",$word,"* || $word != "${cur##*,}"* ]] || COMPREPLY+=("$before$word")
	done
	[[ ${#COMPREPLY[@]} -ne 1 ]] || compopt -o nospace 2> /dev/null || true
}

# Adds directories: traces, and those with directories in them, on the way to one.
_monitor_traces() {
	local IFS=$'\n' directory
	local all=($(compgen -d -- "$cur"))
	for directory in "${all[@]}"; do
		if [[ -e $directory/metadata ]]; then
			COMPREPLY+=("$directory")
		elif [[ -n $(compgen -d -- "$directory/") ]]; then
			COMPREPLY+=("$directory/")
		fi
	done
	compopt -o filenames 2> /dev/null || true
	[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]] && compopt -o nospace 2> /dev/null
	return 0
}

# Adds the names of the reports if there is a trace before them.
_monitor_reports() {
	local word
	for word in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
		[[ -e $word ]] || continue
		COMPREPLY+=($(compgen -W "$("$program" report help 2> /dev/null | sed -n '/^help /d; s/^\([a-z]\{1,\}\) .*/\1/p')" -- "$cur"))
		break
	done
}

# Event names of the trace on the command line, else of all events.
_monitor_event_names() {
	local word
	for word in "${COMP_WORDS[@]:2}"; do
		if [[ -f $word/metadata ]]; then
			sed -n 's/^[[:space:]]*name = "\([^"]*\)";/\1/p' "$word/metadata" | sort -u
			return
		fi
	done
	"$program" events 2> /dev/null | awk '/^  [0-9]/ { print $2 }' | sort -u
}

# Adds descriptions in TDL: files, and the shipped ones.
_monitor_descriptions() {
	local IFS=$'\n' path share=$MONITOR_SHARE
	path=$(command -v "$program") && share=${share:-${path%/*}/../share/monitor}
	[[ -d $share/descriptions ]] || share=/usr/share/monitor
	COMPREPLY=($(cd "$share/descriptions" 2> /dev/null && compgen -G '*.tdl' | sed 's/\.tdl$//' | grep "^$cur") $(compgen -f -- "$cur"))
	compopt -o filenames 2> /dev/null || true
}

# Adds names in the archive: folders, with a slash at the end unless they are measurements.
_monitor_archive_names() {
	local IFS=$'\n' archive=${MONITOR_ARCHIVE:-${XDG_DATA_HOME:-$HOME/.local/share}/monitor/archive} i name
	for ((i = 1; i + 1 < ${#COMP_WORDS[@]}; ++i)); do
		[[ ${COMP_WORDS[i]} != --archive ]] || archive=${COMP_WORDS[i + 1]}
	done
	for name in $(cd "$archive" 2> /dev/null && compgen -d -- "$cur"); do
		[[ -e $archive/$name/measurement.json ]] && COMPREPLY+=("$name") || COMPREPLY+=("$name/")
	done
	compopt -o filenames 2> /dev/null || true
	[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]] && compopt -o nospace 2> /dev/null
	return 0
}

# `monitor archive VERB ...`
_monitor_archive() {
	local verb="" place=0 i
	for ((i = 2; i < COMP_CWORD; ++i)); do
		[[ ${COMP_WORDS[i]} != --archive ]] || { i=$((i + 1)) && continue; }
		[[ ${COMP_WORDS[i]} != -* ]] || continue
		[[ -n $verb ]] && place=$((place + 1)) || verb=${COMP_WORDS[i]}
	done
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$("$program" archive $verb --help-all 2> /dev/null |
			sed -n '/^Options:/,/^$/s/^  \(-[^ ]*\).*/\1/p' | tr , ' ') --archive" -- "$cur"))
	elif [[ -z $verb ]]; then
		COMPREPLY=($(compgen -W "$("$program" archive --help 2> /dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p')" -- "$cur"))
	elif [[ $verb == add && $place -eq 0 ]]; then
		_monitor_traces
	elif [[ $verb != find ]]; then
		_monitor_archive_names
	fi
}

# `monitor fleet VERB ...`
_monitor_fleet() {
	local verb="" i
	for ((i = 2; i < COMP_CWORD; ++i)); do
		[[ ${COMP_WORDS[i]} == -* ]] || { verb=${COMP_WORDS[i]} && break; }
	done
	if [[ -z $verb && $cur != -* ]]; then
		COMPREPLY=($(compgen -W "$("$program" fleet --help 2> /dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p')" -- "$cur"))
	elif [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$("$program" fleet $verb --help-all 2> /dev/null |
			sed -n '/^Options:/,/^$/s/^  \(-[^ ]*\).*/\1/p' | tr , ' ')" -- "$cur"))
	fi
}

# Hosts of the fleet, by the operator's keys.
_monitor_hosts() {
	local keys=${MONITOR_FLEET-} i
	for ((i = 1; i + 1 < ${#COMP_WORDS[@]}; ++i)); do
		[[ ${COMP_WORDS[i]} != --keys ]] || keys=${COMP_WORDS[i + 1]}
	done
	_monitor_list $(cat "$keys/hosts" 2> /dev/null)
}

_monitor_value() { # SUBCOMMAND OPTION: 0 if the option takes a value, which is completed
	case $1:$2 in
	fleet:--hosts | fleet:--cmd-on | fleet:--remove) _monitor_hosts ;;
	record:-o | record:--output | archive:--archive | fleet:-o | fleet:--output | fleet:--keys | agent:--keys | agent:--spool)
		local IFS=$'\n'
		COMPREPLY=($(compgen -d -- "$cur"))
		compopt -o filenames 2> /dev/null || true
		;;
	record:-e | record:--events | top:-e | serve:-e | fleet:-e | fleet:--events)
		_monitor_list $("$program" events 2> /dev/null | sed -n '/^sample/d; /^stack/d; /^function/d; s/^\([a-z]\{1,\}\)\( (.*)\)\{0,1\}:.*/\1/p')
		;;
	record:-m | record:--measure | top:-m | top:--measure)
		_monitor_list $("$program" events --groups 2> /dev/null | sed -n 's/^\([a-z]\{1,\}\): .*/\1/p')
		;;
	model:--check) _monitor_traces ;;
	agent:--forward | fleet:--forward) COMPREPLY=($(compgen -W "batch each on-demand" -- "$cur")) ;;
	agent:--user | agent:--allow-commands)
		COMPREPLY=($(compgen -u -- "$cur"))
		;;
	top:-p | top:--details | serve:-p)
		_monitor_list $(cd /proc && compgen -G '[0-9]*')
		;;
	top:--by)
		COMPREPLY=($(compgen -W "process thread command cgroup" -- "$cur"))
		;;
	record:-p | record:--pid)
		_monitor_list cmd $(cd /proc && compgen -G '[0-9]*')
		;;
	stat:--table)
		local IFS=$'\n' path share=$MONITOR_SHARE
		path=$(command -v "$program") && share=${share:-${path%/*}/../share/monitor}
		[[ -d $share/tables ]] || share=/usr/share/monitor
		COMPREPLY=($(cd "$share/tables" 2> /dev/null && compgen -G '*.table' | sed 's/\.table$//' | grep -v '^\(syscalls\|offcpu\)$' | grep "^$cur") $(compgen -f -- "$cur"))
		compopt -o filenames 2> /dev/null || true
		;;
	states:--tree | record:--states)
		local IFS=$'\n' path share=$MONITOR_SHARE
		path=$(command -v "$program") && share=${share:-${path%/*}/../share/monitor}
		[[ -d $share/states ]] || share=/usr/share/monitor
		COMPREPLY=($(cd "$share/states" 2> /dev/null && compgen -G '*.tree' | sed 's/\.tree$//' | grep "^$cur") $(compgen -f -- "$cur"))
		compopt -o filenames 2> /dev/null || true
		;;
	play:--layout | view:--layout)
		local IFS=$'\n' path share=$MONITOR_SHARE
		path=$(command -v "$program") && share=${share:-${path%/*}/../share/monitor}
		[[ -d $share/layouts ]] || share=/usr/share/monitor
		COMPREPLY=($(cd "$share/layouts" 2> /dev/null && compgen -G '*.layout' | sed 's/\.layout$//' | grep "^$cur") $(compgen -f -- "$cur"))
		compopt -o filenames 2> /dev/null || true
		;;
	play:--speed)
		COMPREPLY=($(compgen -W "1 1/10 1/100 1/1000 1/10000 1/100000" -- "$cur"))
		;;
	convert:--to)
		COMPREPLY=($(compgen -W "perfetto lttng speedscope folded pprof" -- "$cur"))
		;;
	convert:--by)
		COMPREPLY=($(compgen -W "cpu offcpu wait fault other" -- "$cur"))
		;;
	convert:-o | convert:--output | model:-o | model:--output | top:-o)
		local IFS=$'\n'
		COMPREPLY=($(compgen -f -- "$cur"))
		compopt -o filenames 2> /dev/null || true
		;;
	*:--svg)
		local IFS=$'\n'
		COMPREPLY=($(compgen -f -- "$cur"))
		compopt -o filenames 2> /dev/null || true
		;;
	report:--by)
		COMPREPLY=($(compgen -W "$("$program" report --help-all | sed -n 's/.*--by .*{\(.*\)}.*/\1/p' | tr , ' ')" -- "$cur"))
		;;
	diff:--by)
		_monitor_list cpu calls waits activities functions stacks sleeps
		;;
	stat:--by | stat:--key)
		_monitor_list name cpu thread process tid mode level stream
		;;
	stat:--sort)
		local shape="mean stddev min p50 p90 p99 max" columns="count per_second" suffix=_between_ns
		case " ${COMP_WORDS[*]} " in
		*" --table "* | *" --start "* | *" --pair "*) columns="count total_ns" suffix=_ns ;;
		*" --value "*) columns="count total" suffix= ;;
		esac
		COMPREPLY=($(compgen -W "$columns $(printf "%s$suffix " $shape)" -- "$cur"))
		;;
	report:--sort)
		COMPREPLY=($(compgen -W "cpu_ns waiting_ns throttled_ns blocked_ns voluntary involuntary migrations syscalls minor_faults
			major_faults count errors total_ns mean_ns p50_ns p99_ns max_ns exclusive_ns requests median_ns share_percent bound_ns order_unknown" -- "$cur"))
		;;
	list:--event)
		_monitor_list $(_monitor_event_names)
		;;
	record:--stacks | top:--stacks)
		COMPREPLY=($(compgen -W "cpu offcpu wake fault exec syscall: no" -- "$cur"))
		;;
	record:--stacks-on | top:--stacks-on)
		_monitor_list $(_monitor_event_names)
		;;
	record:--card | top:--card | serve:--card)
		COMPREPLY=($(compgen -W "auto bpf module" -- "$cur"))
		;;
	*:--tdl)
		_monitor_descriptions
		;;
	check:--rules)
		local IFS=$'\n'
		COMPREPLY=($(compgen -W $'kernel\nuser' -- "$cur") $(compgen -f -- "$cur"))
		compopt -o filenames 2> /dev/null || true
		;;
	archive:--note | archive:--figure | archive:--remove | check:--violations | record:-d | record:--duration | record:--buffer | record:--max-size | record:--note | report:--top | diff:--top | states:--match | states:--top | \
		stat:--filter | stat:--start | stat:--end | stat:--pair | stat:--value | stat:--top | stat:--threads | explain:--slowest | explain:--call | explain:--activity | explain:--key | report:--key | report:--filter | list:--filter | query:--filter | \
		record:--flight | record:--snapshots | snapshot:--before | snapshot:--after | plan:--buffer | plan:--disk | plan:--rate | plan:--pin | play:--at | play:--frames | play:--size | predict:--faster | predict:--threads | predict:--cpus | predict:--sweep | top:-d | top:--delay | top:-n | top:--top | top:--rows | top:--rate | top:--buffer | serve:--metrics | serve:-d | serve:--delay | serve:--top | serve:--buffer | record:--statistics | record:--keep | record:--sample-every | record:--rate | record:--functions | record:--budget | record:--notify-fd | *:--hub | *:--host | agent:--allow | agent:--spool-max | fleet:--add | fleet:--run | fleet:--lead | fleet:-d | fleet:--duration | fleet:--filter | fleet:--trigger | fleet:--statistics | fleet:--keep | fleet:--flight | fleet:--snapshots | fleet:--why | fleet:--max-size | fleet:--note | fleet:--hub-pid | *:--from | *:--to | *:--until | *:--cpu | *:--pid | *:--tid | *:--comm | *:--cgroup) ;;
	*)
		return 1
		;;
	esac
}

_monitor_commands() {
	"$program" --help | sed -n '/^Record:/,/^Examples:/s/^  \([a-z]\{1,\}\) .*/\1/p'
}

_monitor() {
	local program=$1 cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} subcommand="" i
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; ++i)); do
		[[ ${COMP_WORDS[i]} == -* ]] || { subcommand=${COMP_WORDS[i]} && break; }
	done
	if [[ -z $subcommand ]]; then
		local words="-h --help --help-all -v --version"
		[[ $cur == -* ]] || words="help $(_monitor_commands)"
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
		return
	fi
	# --by=thread is three words: --by, =, thread
	if [[ $cur == = ]]; then
		cur=
	elif [[ $previous == = && $COMP_CWORD -ge 2 ]]; then
		previous=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	# Behind `record ... --` comes a command with arguments of its own.
	if [[ $subcommand == record ]]; then
		for ((i = 2; i < COMP_CWORD; ++i)); do
			[[ ${COMP_WORDS[i]} == -- ]] || continue
			if declare -F _command_offset > /dev/null; then
				_command_offset $((i + 1))
			elif ((i + 1 == COMP_CWORD)); then
				COMPREPLY=($(compgen -c -- "$cur"))
			else
				COMPREPLY=($(compgen -f -- "$cur"))
			fi
			return
		done
	fi
	_monitor_value "$subcommand" "$previous" && return
	[[ $subcommand != archive ]] || { _monitor_archive && return; }
	[[ $subcommand != fleet ]] || { _monitor_fleet && return; }
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$("$program" "$subcommand" --help-all 2> /dev/null |
			sed -n '/^Options:/,/^$/s/^  \(-[^ ]*\).*/\1/p' | tr , ' ')" -- "$cur"))
		return
	fi
	case $subcommand in
	help) COMPREPLY=($(compgen -W "$(_monitor_commands)" -- "$cur")) ;;
	report)
		_monitor_reports
		_monitor_traces
		;;
	diff | explain | list | stat | states | query | info | check | view | plan | play | convert) _monitor_traces ;;
	model | predict)
		_monitor_traces
		COMPREPLY+=($(compgen -f -X '!*.model' -- "$cur"))
		;;
	snapshot) COMPREPLY=($(compgen -d -- "$cur")) ;;
	tdl)
		if [[ $previous == tdl ]]; then
			COMPREPLY=($(compgen -W "check show compile" -- "$cur"))
		else
			_monitor_descriptions
		fi
		;;
	esac
}

complete -F _monitor monitor
