// SPDX-License-Identifier: MIT
// A second trace below the first, with a window as long as the first one's, and what changed from one to the other. `align`
// says which moments of both belong together: their starts, the first time that the command ran, the first time that a
// thread ran that is searched for, or two marks (key m over the lanes).
import {Lanes} from './lanes.js';
import {Served} from './source.js';
import {Table} from './table.js';
import {moment} from './text.js';

const element = id => document.getElementById(id);
const columns = [['kind', 'text'], ['command', 'text'], ['thread', 'text'], ['what', 'text'], ['before_ns', 'ns', 'before'], ['after_ns', 'ns', 'after'],
	['difference_ns', 'difference', 'difference'], ['ratio', 'ratio'], ['share_percent', 'percent', 'share %']].map(([key, unit, title = key]) => ({key, unit, title}));

export class Compare {
	// `redraw`: something has arrived; `settle`: the windows are others.
	static async open(lanes, redraw, settle) {
		return new Compare(lanes, await Served.open(() => {}, 'second/'), redraw, settle);
	}
	constructor(lanes, source, redraw, settle) {
		Object.assign(this, {first: lanes, source, number: 0, marks: [0, 0]});
		element('second').hidden = false;
		this.lanes = new Lanes(element('second-lanes'), source, redraw);
		this.table = new Table(element('second-table'));
		element('second-title').textContent = source.about.command || source.about.directory;
		element('align').addEventListener('change', settle);
		const recorded = [lanes.source, source].every(({about}) => about.threads.some(thread => thread.recorded));
		element('align').value = recorded ? 'command' : 'start';
	}
	show(what) {
		this.lanes.show(what);
	}
	find(text) {
		this.lanes.find(text);
	}
	resize() {
		this.lanes.resize();
	}
	// Ticks of the moment that the lanes are aligned at.
	moment(lanes, mark) {
		const {about} = lanes.source, first = wanted => Math.min(...about.threads.filter(wanted).map(thread => thread.first));
		const ticks = {start: () => 0, command: () => first(thread => thread.recorded), marks: () => mark,
			found: () => first((_, place) => lanes.found?.has(place) ?? false)}[element('align').value]();
		return Number.isFinite(ticks) ? ticks : 0;
	}
	follow() {
		const [here, there] = [this.first, this.lanes].map((lanes, i) => this.moment(lanes, this.marks[i]));
		const scale = this.first.source.nsPerTick / this.source.nsPerTick, {window} = this.first;
		this.lanes.window = {from: (window.from - here) * scale + there, to: (window.to - here) * scale + there};
		this.lanes.draw();
		element('second-window').textContent = `from ${moment(this.source.ns(this.lanes.window.from), this.first.span * this.first.source.nsPerTick / 100)}`;
	}
	// What changed in these windows; of the second one as far as there is something.
	async settled() {
		const number = ++this.number, {about} = this.source;
		const [from, to] = [this.lanes.window.from, this.lanes.window.to].map(ticks => Math.round(Math.min(Math.max(0, ticks), about.ticks)));
		const window = this.first.window, isAll = window.from <= 0 && window.to >= this.first.source.about.ticks;
		element('second-state').textContent = 'reading...';
		let found = null, why = '';
		try { // all of the first is compared with all of the second
			found = await this.first.source.diff(Math.round(window.from), Math.round(window.to), isAll ? 0 : from, isAll ? about.ticks : to);
		} catch (error) {
			why = error.message;
		}
		if (number !== this.number)
			return;
		element('second-state').textContent = [why, ...found?.notes ?? []].filter(text => text).join('; ');
		element('second-table').hidden = !found;
		if (found)
			this.table.show({columns, rows: found.rows.filter(row => row.leads).map(row => columns.map(({key}) => row[key]))});
	}
}
