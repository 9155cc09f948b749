// SPDX-License-Identifier: MIT
// What one thread did in the window, row by row. Who woke it leads to that thread's story, around the moment of waking: so
// one goes back to what a delay began with.
import {modeNames} from './colours.js';
import {duration, moment} from './text.js';

const element = id => document.getElementById(id);
const names = {runs: 'runs', waits: 'waits for a CPU', sleeps: 'sleeps'};

export class Story {
	// `go(thread, ticks)` shows another thread's, around a moment. `changed`: there is another one, or none.
	constructor(source, go, changed) {
		this.source = source;
		this.go = go;
		this.changed = changed;
		this.rows = [];
		this.number = 0;
		element('story-close').addEventListener('click', () => this.close());
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
		this.thread = thread;
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
		this.changed();
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
		const lines = this.rows.map(row => {
			const line = document.createElement('tr'), ticks = row.to - row.from;
			const shares = () => Object.entries(row.modes).filter(([, part]) => part > 0).map(([mode, part]) => `${modeNames[mode]} ${Math.round(part / ticks * 100)} %`);
			const where = row.what === 'runs' ? `CPU ${row.cpu}: ${shares().join(', ')}` : row.what === 'sleeps' ? row.call ?? 'call unknown' : '';
			for (const [text, isText] of [[moment(this.source.ns(row.from), 1), false], [names[row.what], true], [duration(ticks * nsPerTick), false], [where, true]]) {
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
		const marked = lines[this.rows.findIndex(({from, to}) => from <= this.at && this.at <= to)];
		if (marked) {
			marked.className = 'found';
			marked.scrollIntoView({block: 'nearest'});
		}
	}
}
