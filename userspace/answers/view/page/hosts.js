// SPDX-License-Identifier: MIT
// Of a collection of several hosts: leads to the pages of the others, at the same time of the common clock (hosts.h).
import {Served} from './source.js';
import {duration} from './text.js';

const element = id => document.getElementById(id);

export class Hosts {
	constructor(lanes, setWindow) {
		Object.assign(this, {lanes, setWindow, isAsking: false});
		const {hosts, host_number: own} = lanes.source.about;
		for (const [place, {name}] of hosts.entries()) {
			const button = document.createElement('button');
			button.textContent = name;
			button.ariaPressed = String(place === own);
			button.addEventListener('click', () => this.go(place));
			element('hosts').firstElementChild.append(button);
		}
		element('hosts').hidden = false;
	}
	// What the lanes show and the table is by stays; the window is the same time, where the clocks of both are known.
	async go(place) {
		const {about} = this.lanes.source, {window} = this.lanes, fragment = new URLSearchParams(location.hash.slice(1));
		for (const name of ['from', 'to', 'thread', 'at', 'bound_ns'])
			fragment.delete(name);
		if (about.has_common && about.hosts[place].has_common) {
			const {from_ns: from, to_ns: to, bound_ns: bound} = await this.ask(`common?from=${Math.round(window.from)}&to=${Math.round(window.to)}`);
			fragment.set('from_ns', from);
			fragment.set('to_ns', to);
			fragment.set('bound_ns', bound ?? 'unknown');
		}
		location.assign(`../${place}/#${fragment}`);
	}
	// The window at this time of the common clock, which is off by at most `bound` ns; null: unknown.
	async follow(fromNs, toNs, bound) {
		const {from, to, bound_ns: own} = await this.ask(`ticks?from_ns=${fromNs}&to_ns=${toNs}`);
		if (to > from)
			this.setWindow(from, to);
		element('hosts-note').textContent = to <= from ? 'this host was not recorded at that time: this is all of its recording'
			: bound === null || own === null ? 'the same time, but how far off the clocks are is unknown' : `the same time, off by at most ${duration(bound + own)}`;
	}
	async ask(what) {
		this.isAsking = true;
		try {
			return await (await Served.get(what)).json();
		} catch (error) {
			element('hosts-note').textContent = error.message;
			throw error;
		} finally {
			this.isAsking = false;
		}
	}
}
