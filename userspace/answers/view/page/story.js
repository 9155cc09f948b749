// SPDX-License-Identifier: MIT
// What one thread did in the window, row by row. Who woke it leads to that thread's story, around the moment of waking: so
// one goes back to what a delay began with. A row can be marked: the command below the rows then lists the thread's events of
// that time, else those of the window.
import {modeNames} from './colours.js';
import {duration, moment, quoted} from './text.js';

const element = id => document.getElementById(id);
const names = {runs: 'runs', waits: 'waits for a CPU', throttled: 'is throttled', sleeps: 'sleeps'};

export class Story {
	// `go(thread, ticks)` shows another thread's, around a moment. `changed`: there is another one, or none.
	constructor(source, go, changed) {
		this.source = source;
		this.go = go;
		this.changed = changed;
		this.rows = [];
		this.number = 0;
		element('story-close').addEventListener('click', () => this.close());
		for (const [id, text] of [['story-copy-query', () => this.asQuery()], ['story-copy-link', () => location.href]])
			element(id).addEventListener('click', () => this.copy(text()));
	}
	close() {
		++this.number;
		this.thread = undefined;
		this.rows = [];
		element('story').hidden = true;
		this.changed();
	}
	// `thread`: its number in about.threads. `at`: the row of this time is marked, and scrolled to.
	async show(thread, window, at) {
		const number = ++this.number, from = Math.floor(window.from), to = Math.ceil(window.to);
		this.at = thread === this.thread && at === undefined ? this.at : at;
		this.isWanted ||= at !== undefined; // into view: nobody moved the window
		if (thread !== this.thread)
			this.rows = [];
		this.thread = thread;
		this.window = {from, to};
		element('story').hidden = false;
		element('story-title').textContent = 'What a thread did in this window';
		element('story-state').textContent = 'reading...';
		let story = null, why = 'a written page has no stories: run monitor view DIR';
		try {
			story = await this.source.story(from, to, thread);
		} catch (error) {
			why = error.message;
		}
		if (number !== this.number)
			return;
		this.rows = story?.rows ?? [];
		if (story)
			element('story-title').textContent = `What ${story.name || '?'} ${story.tid} did in this window`;
		element('story-state').textContent = !story ? why : story.left_out ? `and ${story.left_out} times more: zoom in`
			: this.rows.length ? '' : 'it neither ran nor waited, nor was it woken';
		this.draw();
		if (this.isWanted)
			element('story').scrollIntoView({block: 'nearest'});
		this.isWanted = false;
		this.changed();
	}
	get marked() {
		return this.rows.findIndex(({from, to}) => from <= this.at && this.at <= to);
	}
	mark(at) {
		this.at = at;
		this.draw();
		this.changed();
	}
	// What lists the thread's events in the marked time, both ends included, or in the window.
	asQuery() {
		const {source} = this, row = this.rows[this.marked], tid = source.about.threads.find(({number}) => number === this.thread)?.tid;
		const [from, to] = row ? [Math.floor(source.ns(row.from)), Math.ceil(source.ns(row.to))] : [Math.floor(source.ns(this.window.from)), Math.ceil(source.ns(this.window.to)) - 1];
		return tid === undefined ? '' : `monitor query ${quoted(source.about.directory)} "SELECT time, cpu, name, fields FROM events WHERE tid = ${tid} AND time_ns BETWEEN ${from} AND ${to}"`;
	}
	async copy(text) {
		try {
			await navigator.clipboard.writeText(text);
			element('story-copied').textContent = 'copied';
		} catch { // the browser does not let it
			element('story-copied').textContent = `copy it yourself: ${text}`;
		}
	}
	draw() {
		const {nsPerTick} = this.source, head = document.createElement('tr');
		for (const title of ['at', 'what', 'for', 'where', 'woken by']) {
			const heading = document.createElement('th');
			heading.scope = 'col';
			heading.className = title === 'for' || title === 'at' ? '' : 'text';
			heading.textContent = title;
			head.append(heading);
		}
		const {marked} = this;
		const lines = this.rows.map((row, place) => {
			const line = document.createElement('tr'), ticks = row.to - row.from;
			const shares = () => Object.entries(row.modes).filter(([, part]) => part > 0).map(([mode, part]) => `${modeNames[mode]} ${Math.round(part / ticks * 100)} %`);
			const where = row.what === 'runs' ? `CPU ${row.cpu}: ${shares().join(', ')}` : row.what === 'sleeps' ? row.call ?? 'call unknown' : '';
			const at = document.createElement('td'), mark = document.createElement('button');
			mark.textContent = moment(this.source.ns(row.from), 1);
			mark.title = 'mark this time';
			mark.ariaPressed = String(place === marked);
			mark.addEventListener('click', () => this.mark(place === marked ? undefined : (row.from + row.to) / 2));
			at.append(mark);
			line.append(at);
			for (const [text, isText] of [[names[row.what], true], [duration(ticks * nsPerTick), false], [where, true]]) {
				const cell = document.createElement('td');
				cell.textContent = text;
				cell.className = isText ? 'text' : '';
				line.append(cell);
			}
			const cell = document.createElement('td');
			cell.className = 'text';
			if (row.what === 'sleeps' && row.waker_thread !== null) {
				const button = document.createElement('button');
				button.textContent = `${row.waker || '?'} ${row.waker_tid}`;
				button.addEventListener('click', () => this.go(row.waker_thread, row.to));
				cell.append(button);
			} else if (row.what === 'sleeps') {
				cell.textContent = row.is_over ? row.waker ?? 'unknown' : 'nobody yet';
			}
			line.append(cell);
			return line;
		});
		element('story-table').replaceChildren(head, ...lines);
		element('story-where').textContent = marked < 0 ? 'in this window' : 'in the marked time';
		element('story-as-query').textContent = this.asQuery();
		element('story-copied').textContent = '';
		if (marked < 0)
			return;
		lines[marked].className = 'found';
		const box = element('story-table').parentElement, heading = head.offsetHeight, {offsetTop: top, offsetHeight: height} = lines[marked];
		box.scrollTop = Math.min(Math.max(box.scrollTop, top + height - box.clientHeight), top - heading);
	}
}
