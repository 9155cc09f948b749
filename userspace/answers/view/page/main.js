// SPDX-License-Identifier: MIT
// The page of `monitor view`: puts its parts together. The fragment of the address (#...) holds the window, what the lanes
// show, what the table is by, and whose story is shown.
import {hatched, modeColours, modeNames} from './colours.js';
import {Cases} from './cases.js';
import {Compare} from './compare.js';
import {Hosts} from './hosts.js';
import {drawKiviat} from './kiviat.js';
import {Lanes, groupKinds} from './lanes.js';
import {Lines} from './lines.js';
import {Overview} from './overview.js';
import {Scenes} from './scenes.js';
import {open} from './source.js';
import {Story} from './story.js';
import {Table} from './table.js';
import {count, duration, moment, quoted} from './text.js';

const element = id => document.getElementById(id);
const source = await open(source => {
	element('trust').textContent = `reading the trace: ${Math.round(source.about.reading * 100)} %`;
	if (source.about.cpus.length)
		new Overview(element('overview'), source, () => {}).resize();
}).catch(error => {
	element('trust').textContent = `there is nothing to see: ${error.message}`;
	element('trust').className = 'bad';
	throw error;
}), {about} = source;
element('trust').textContent = '';
const minSpan = 20 * source.width(about.first_level), tableDelay = 250;
const tableBy = ['process', 'thread', 'command', 'cgroup', 'cpu', 'calls', 'sleeps'];
const tableTitles = {calls: 'System calls that ended in this window', sleeps: 'What threads slept in, and who woke them'};

const lanes = new Lanes(element('lanes'), source, () => { dirty = true; });
const lines = about.has_counters ? new Lines(element('lines'), source, lanes) : null;
element('lines').hidden = !lines;
const overview = new Overview(element('overview'), source, setWindow);
const table = new Table(element('table'), leadOf);
const story = lanes.story = new Story(source, (thread, ticks) => {
	setWindow(ticks - lanes.span / 2, ticks + lanes.span / 2);
	story.show(thread, lanes.window, ticks - 1);
}, () => {
	dirty = true;
	updateAddress();
});
const cases = new Cases(source, ({from, to, thread}) => {
	const span = Math.max(to - from, minSpan / 4);
	setWindow(from - span / 2, to + span / 2);
	showLanes('threads');
	story.show(thread, lanes.window, (from + to) / 2);
});
const scenes = new Scenes(lanes);
const hosts = about.hosts ? new Hosts(lanes, setWindow) : null;
let compare = null, pointer = null;
let dirty = true, by = 'process', tableTimer, tableNumber = 0;
const drawTimes = [];

// By -e, so its time is unknown.
function isLeftOut(mode) {
	return about.summary.left_out?.includes(`${mode}_entry`) ?? false;
}

function showTrust() {
	const {summary} = about;
	element('command').textContent = about.command || about.directory;
	document.title = `${about.command || about.directory} - monitor view`;
	element('origin').textContent = [about.host, about.kernel, about.date, duration(about.ticks * source.nsPerTick), `${about.cpus.length} CPUs`]
		.filter(text => text).join(' · ');
	const say = (text, isBad) => {
		const span = document.createElement('span');
		span.textContent = text;
		span.className = isBad ? 'bad' : '';
		element('trust').append(span);
	};
	say(`${count(summary.tokens)} events`);
	say(summary.lost === null ? 'lost: unknown' : `${count(summary.lost)} lost`, summary.lost > 0);
	if (about.problems)
		say(`${about.problems} damaged packets were left out`, true);
	if (!summary.complete)
		say('incomplete: the recording was killed or its disk was full', true);
	if (summary.paused_ns)
		say(`paused by triggers for ${duration(summary.paused_ns)}`, true);
	say(summary.clock_bound_ns === null ? 'clock bound: unknown' : `clock bound ${summary.clock_bound_ns} ns`);
	if (summary.clocks_not_compared)
		say(`clocks of ${summary.clocks_not_compared} CPUs not compared`);
	say(summary.recorder_cpu_ns === null ? 'cost of the recorder: unknown' : `recorder ${duration(summary.recorder_cpu_ns)}`);
	say(summary.probes_cpu_ns_low === null ? 'cost of the probes: unknown'
		: `probes ${duration(summary.probes_cpu_ns_low)} to ${duration(summary.probes_cpu_ns_high)}`);
	if (summary.hidden_threads)
		say(`${summary.hidden_threads} threads hidden by the kernel`);
	element('summary').textContent = about.summary_text;
	if (about.left_out)
		say(about.left_out, true);
}

// `entries`: [what it is, its colours; none: hatched]
function legend(id, entries) {
	element(id).replaceChildren(...entries.map(([name, ...colours]) => {
		const item = document.createElement('li'), swatch = document.createElement('canvas'), context = swatch.getContext('2d');
		swatch.width = 14;
		swatch.height = 12;
		(colours.length ? colours : [hatched(context)]).forEach((colour, i, {length}) => {
			context.fillStyle = colour;
			context.fillRect(i * 14 / length, 0, 14, 12);
		});
		item.append(swatch, name);
		return item;
	}));
}

function setWindow(from, to) {
	const span = Math.min(about.ticks, Math.max(to - from, Math.min(minSpan, about.ticks)));
	const begin = Math.min(Math.max(0, from), about.ticks - span);
	lanes.window = {from: begin, to: begin + span};
	overview.show(lanes.window);
	element('window').textContent = `${moment(source.ns(begin), span * source.nsPerTick / 100)}, ${duration(span * source.nsPerTick)} long`;
	dirty = true;
	settleSoon();
}

// What is shown for a window is that of the one before until then, and says so.
function settleSoon() {
	++tableNumber;
	element('table-state').textContent = 'reading...';
	clearTimeout(tableTimer);
	tableTimer = setTimeout(settled, tableDelay);
}

function zoom(factor, at = (lanes.window.from + lanes.window.to) / 2) {
	const {from, to} = lanes.window;
	setWindow(at - (at - from) * factor, at + (to - at) * factor);
}

function move(part) {
	setWindow(lanes.window.from + lanes.span * part, lanes.window.to + lanes.span * part);
}

// What prints the table in a terminal.
function asCommand(from, to) {
	const time = ticks => (source.ns(ticks) / 1e9).toFixed(9);
	const part = from === 0 && to === about.ticks ? '' : ` --from ${time(from)} --to ${time(to)}`;
	const what = {calls: ' syscalls', sleeps: ' offcpu', process: ''}[by] ?? ` --by ${by}`;
	return `monitor report ${quoted(about.directory)}${what}${part}`;
}

// The address leads back to what is shown.
function updateAddress() {
	const shownStory = story.thread === undefined ? '' : `&thread=${story.thread}${story.at === undefined ? '' : `&at=${Math.round(story.at)}`}`;
	history.replaceState(null, '', `#from=${Math.round(lanes.window.from)}&to=${Math.round(lanes.window.to)}&lanes=${lanes.what}&by=${by}${shownStory}`);
}

// When the window has not changed for a while: the address, and what is read for it.
async function settled() {
	const from = Math.round(lanes.window.from), to = Math.round(lanes.window.to), number = ++tableNumber, isAll = from === 0 && to === about.ticks;
	updateAddress();
	if (story.thread !== undefined)
		story.show(story.thread, lanes.window);
	if (!element('stacks').hidden)
		loadStacks(from, to);
	scenes.follow();
	compare?.settled();
	let found = null, shares, why = isAll ? 'this was not recorded' : 'this page has only the whole recording\'s table: press 0';
	try {
		shares = await source.modes(from, to, 1);
		found = await source.table(from, to, by);
		await lines?.show({from, to});
	} catch (error) {
		why = error.message;
	}
	if (number !== tableNumber)
		return; // the window is another one by now
	element('as-command').textContent = asCommand(from, to);
	element('table-state').textContent = found ? '' : why;
	element('table').hidden = !found;
	element('kiviat').style.visibility = shares ? 'visible' : 'hidden';
	if (found)
		table.show(found);
	if (!shares)
		return;
	const kinds = about.modes.length;
	const mean = name => about.cpus.reduce((sum, _, cpu) => sum + shares[cpu * kinds + about.modes.indexOf(name)], 0) / about.cpus.length;
	const axes = [['user', mean('user')], ['kernel', mean('kernel')], [isLeftOut('softirq') ? 'interrupts, not softirqs' : 'interrupts', mean('irq') + mean('softirq')],
		['user or kernel', mean('unattributed')], ['unknown', mean('unknown')], ['idle', mean('idle')]];
	if (found?.threads && found.threads.waiting !== null) {
		const {ran, waiting, throttled, blocked} = found.threads, share = (part, whole) => whole ? part / whole : 0;
		axes.splice(3, 0, ['runnable', share(waiting, ran + waiting)], ['blocked', share(blocked, ran + waiting + blocked)]);
		if (throttled)
			axes.splice(4, 0, ['throttled', share(throttled, ran + waiting + throttled)]);
	}
	for (const {title, mean, isRatio} of lines?.shown ?? [])
		if (isRatio && mean !== null && mean <= 1)
			axes.push([title, mean]);
	drawKiviat(element('kiviat'), axes.map(([name, share]) => ({name, share})));
}

// Which times a row of the table is about, and which of its numbers leads to them.
function leadOf(columns, row) {
	const value = key => row[columns.findIndex(column => column.key === key)] ?? undefined;
	const name = [value('process') ?? value('thread'), value('pid') ?? value('tid')].filter(text => text !== undefined).join(' ');
	const wanted = {pid: value('pid'), tid: value('tid'), call: value('call')};
	if (by === 'calls' || by === 'sleeps')
		return {key: 'max_ns', act: () => cases.show({of: by, ...wanted}, by === 'calls' ? `${wanted.call} of ${name}` : `sleeps of ${name} in ${wanted.call}`, lanes.window)};
	if (by === 'process' || by === 'thread')
		return {key: 'waiting_ns', act: () => cases.show({of: 'waits', pid: by === 'process' ? wanted.pid : undefined, tid: wanted.tid}, `waits of ${name} for a CPU`, lanes.window)};
	return null;
}

const {activities} = about, hasActivities = activities.kinds.length > 0;
const lanesNames = ['cpus', 'threads', ...Object.keys(groupKinds), ...(hasActivities ? ['activities'] : [])];
const lanesTexts = {cpus: 'which thread each CPU ran', threads: 'where each thread ran, and when it waited for a CPU', activities: 'when each activity of each process was open, and how many at once'};

// What is in no lane.
function activitiesNote() {
	const {begins, ends, left_out: leftOut} = activities, notes = [];
	if (begins || ends)
		notes.push(`${count(begins)} begins without an end, ${count(ends)} ends without a begin: how long is unknown, they are in no lane`);
	if (leftOut)
		notes.push(`${count(leftOut)} activities are in no lane, as there would be too many`);
	return notes.join('; ');
}

function showLanes(what, only) {
	lanes.show(what, only);
	compare?.show(what);
	for (const name of lanesNames)
		element(`lanes-${name}`).ariaPressed = String(what === name);
	legend('lanes-legend', lanes.colours);
	element('lanes-note').textContent = what === 'activities' ? activitiesNote() : what === 'cpus' && lanes.rows.length < about.cpus.length
		? `the ${lanes.rows.length} of ${about.cpus.length} CPUs that were busy longest` : '';
	element('lanes').setAttribute('aria-label', lanesTexts[what] ?? 'how much of the CPUs each group of threads had');
	dirty = true;
	settleSoon();
}

// The frame is a page of its own: it zooms and searches within the stacks.
function loadStacks(from, to) {
	element('stacks-state').textContent = 'reading...';
	element('stacks-frame').src = source.stacks(from, to);
}

function showStacks(isShown) {
	if (element('stacks-button').hidden)
		return;
	element('stacks').hidden = !isShown;
	element('stacks-button').ariaPressed = String(isShown);
	if (isShown)
		loadStacks(Math.round(lanes.window.from), Math.round(lanes.window.to));
}

// From where the mouse is in the lanes, else from the window's begin.
function showScenes(isPointed) {
	if (scenes.isOpen)
		scenes.close();
	else if (!element('scenes-button').hidden)
		scenes.open(isPointed && pointer?.place === 0 && element('lanes').matches(':hover') ? Math.max(lanes.window.from, lanes.ticks(pointer.x)) : lanes.window.from);
}

function showBy(what) {
	by = what;
	element('table-title').textContent = tableTitles[what] ?? 'Who had the CPUs in this window';
	for (const button of element('by').children)
		button.ariaPressed = String(button.textContent === what);
	settleSoon();
}

function find(text) {
	lanes.find(text);
	compare?.find(text);
	table.find(text);
	dirty = true;
}

function listen() {
	const canvas = element('lanes');
	let held = null;
	canvas.addEventListener('wheel', event => {
		event.preventDefault();
		zoom(event.deltaY > 0 ? 1.25 : 0.8, lanes.ticks(event.offsetX));
	}, {passive: false});
	canvas.addEventListener('pointerdown', event => {
		canvas.setPointerCapture(event.pointerId);
		held = {x: event.offsetX, from: lanes.window.from, to: lanes.window.to, marks: event.shiftKey};
	});
	canvas.addEventListener('pointermove', event => {
		if (!held) {
			element('under').textContent = lanes.under(event.offsetX, event.offsetY);
		} else if (held.marks) {
			lanes.marked = [Math.min(held.x, event.offsetX), Math.max(held.x, event.offsetX)];
			dirty = true;
		} else {
			const shift = (held.x - event.offsetX) / (lanes.width - lanes.label) * (held.to - held.from);
			setWindow(held.from + shift, held.to + shift);
		}
	});
	canvas.addEventListener('pointerup', event => {
		const thread = held && Math.abs(event.offsetX - held.x) < 3 ? lanes.threadAt(event.offsetX, event.offsetY) : undefined;
		const group = held && !held.marks && Math.abs(event.offsetX - held.x) < 3 ? lanes.groupAt(event.offsetY) : undefined;
		if (thread !== undefined)
			story.show(thread, lanes.window, lanes.ticks(event.offsetX));
		if (group)
			showLanes('threads', new Set(group.threads));
		if (lanes.marked && lanes.marked[1] - lanes.marked[0] > 3)
			setWindow(lanes.ticks(lanes.marked[0]), lanes.ticks(lanes.marked[1]));
		held = lanes.marked = null;
		dirty = true;
	});
	for (const [place, id] of ['lanes', 'second-lanes'].entries())
		element(id).addEventListener('pointermove', event => { pointer = {place, x: event.offsetX}; });
	const keys = {
		m: () => {
			if (!compare || !pointer)
				return;
			compare.marks[pointer.place] = (pointer.place === 0 ? lanes : compare.lanes).ticks(pointer.x);
			element('align').value = 'marks';
			dirty = true;
			settleSoon();
		},
		w: () => zoom(0.7), s: () => zoom(1 / 0.7), a: () => move(-0.25), d: () => move(0.25), 0: () => setWindow(0, about.ticks),
		c: () => showLanes('cpus'), t: () => showLanes('threads'), p: () => showLanes('processes'), v: () => hasActivities && showLanes('activities'), f: () => showStacks(element('stacks').hidden), P: () => showScenes(true), '/': () => element('search').focus(), '?': () => element('help').showModal(),
	};
	addEventListener('keydown', event => {
		if (event.target.tagName === 'INPUT' && event.target.type !== 'range') {
			if (event.key === 'Escape')
				event.target.blur();
			return;
		}
		if (event.key === 'Escape')
			[story, cases, scenes].forEach(part => part.close());
		const act = keys[event.key] ?? (scenes.isOpen ? scenes.keys[event.key] : undefined);
		if (event.ctrlKey || event.altKey || event.metaKey || !act || (event.key === ' ' && event.target.tagName === 'BUTTON'))
			return;
		event.preventDefault();
		act();
	});
	const buttons = {'zoom-in': keys.w, 'zoom-out': keys.s, left: keys.a, right: keys.d, whole: keys[0], 'lanes-cpus': keys.c, 'lanes-threads': keys.t, 'lanes-processes': keys.p, 'lanes-activities': keys.v, 'stacks-button': keys.f, 'stacks-close': () => showStacks(false), 'scenes-button': () => showScenes(false), 'lanes-commands': () => showLanes('commands'), 'lanes-cgroups': () => showLanes('cgroups'), 'help-button': keys['?']};
	for (const [id, act] of Object.entries(buttons))
		element(id).addEventListener('click', act);
	element('search').addEventListener('input', event => find(event.target.value));
	for (const name of tableBy) {
		const button = document.createElement('button');
		button.textContent = name;
		button.addEventListener('click', () => showBy(name));
		element('by').append(button);
	}
	element('lanes-activities').hidden = !hasActivities;
	element('scenes-button').hidden = !source.scenes; // of a written page
	element('stacks-button').hidden = !about.has_stacks || source.stacks(0, 0) === null;
	element('stacks-frame').addEventListener('load', () => { element('stacks-state').textContent = ''; });
	const redraw = () => {
		lanes.resize();
		compare?.resize();
		overview.resize();
		lines?.draw();
		scenes.resize();
		dirty = true;
	};
	addEventListener('resize', redraw);
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
}

function frame(now) {
	scenes.frame(now);
	if (dirty) {
		dirty = false;
		const begin = performance.now();
		lanes.draw();
		compare?.follow();
		if (lanes.tiles.failed)
			element('under').textContent = `the server does not answer: ${lanes.tiles.failed}`;
		drawTimes.push(performance.now() - begin);
		if (drawTimes.length > 1000)
			drawTimes.shift();
	}
	requestAnimationFrame(frame);
}

showTrust();
legend('legend', about.modes.filter(mode => mode !== 'idle' && !isLeftOut(mode)).map(mode => [modeNames[mode], ...(modeColours[mode] ? [modeColours[mode]] : [])]));
listen();
// What the address says.
function follow() {
	const wanted = new URLSearchParams(location.hash.slice(1));
	const number = (name, otherwise) => wanted.has(name) && Number.isFinite(Number(wanted.get(name))) ? Number(wanted.get(name)) : otherwise;
	showLanes(lanesNames.includes(wanted.get('lanes')) ? wanted.get('lanes') : 'cpus');
	showBy(tableBy.includes(wanted.get('by')) ? wanted.get('by') : 'process');
	setWindow(number('from', 0), number('to', about.ticks));
	if (wanted.has('from_ns'))
		hosts?.follow(number('from_ns', 0), number('to_ns', 0), number('bound_ns', null));
	if (wanted.has('thread'))
		story.show(number('thread', -1), lanes.window, number('at', undefined));
	else
		story.close();
}

addEventListener('hashchange', follow);
follow();
await overview.resize();
requestAnimationFrame(frame);
if (about.has_second) {
	const note = document.createElement('span');
	note.textContent = 'the second trace is being read...';
	element('trust').append(note);
	try {
		compare = await Compare.open(lanes, () => { dirty = true; }, () => {
			dirty = true;
			settleSoon();
		});
		note.remove();
		showLanes(lanes.what);
	} catch (error) {
		note.textContent = `the second trace: ${error.message}`;
		note.className = 'bad';
	}
}
// For tests: whether all that the window needs is there, and how long drawing took.
globalThis.monitorView = {lanes, lines, get compare() { return compare; }, setWindow, drawTimes, story, cases, scenes,
	isReady: () => lanes.tiles.loading === 0 && !dirty && !hosts?.isAsking && element('table-state').textContent === '' && element('story-state').textContent !== 'reading...' && element('cases-state').textContent !== 'reading...' && element('scenes-state').textContent !== 'reading...'
		&& (!compare || element('second-state').textContent !== 'reading...' && compare.lanes.tiles.loading === 0)
		&& (element('stacks').hidden || element('stacks-state').textContent !== 'reading...')};
