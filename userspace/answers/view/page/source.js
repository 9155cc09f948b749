// SPDX-License-Identifier: MIT
// Where the page's data comes from: from `monitor view` while it runs, or out of the page itself (monitor view -o).
//
//     about                          what the picture is
//     slices(level, from, to, lanes) for each lane a Uint32Array: 6 words a slice {bin, bins, key, count, busy low, high}
//     modes(from, to, bins)          Float32Array: for each CPU, bins x about.modes.length shares
//     table(from, to, by)            {columns, rows}, or null: not in a written page
//     cases(from, to, wanted)        how long it took each time, and the longest (cases.h); wanted: {of, pid, tid, call, min, max}; or null
//     stacks(from, to)               the address of a page with flame graphs of the stacks taken then; or null
//     lines(from, to, bins)          what was counted: {columns, rows, whole, every}; or null
//     story(from, to, thread)        what the thread of this number in about.threads did: {name, tid, rows, left_out}, or null
//     scenes(from, to, steps, signal) moments, (to - from) / steps apart (scene_json.h), until the signal; not in a written page
//     has(lane)                      whether there is such a lane
//     level(ticks)                   the coarsest level whose bins are at most `ticks` wide, else the finest

export const words = 6;

class Source {
	constructor(about) {
		this.about = about;
		this.nsPerTick = 1e9 / about.frequency_hz;
		this.beginNs = about.begin_ns ?? 0; // of the picture, since the start of the trace, as `monitor list` counts
	}
	width(level) {
		return this.about.base_ticks * 4 ** level;
	}
	// A moment of the picture in ns since the start of the trace.
	ns(ticks) {
		return this.beginNs + ticks * this.nsPerTick;
	}
	has() {
		return true;
	}
	level(ticks) {
		let level = this.about.first_level;
		while (level + 1 < this.about.levels && this.width(level + 1) <= ticks)
			++level;
		return level;
	}
}

function split(buffer) {
	const all = new Uint32Array(buffer), lanes = [];
	for (let at = 0; at < all.length;) {
		const end = at + 1 + all[at] * words;
		lanes.push(all.subarray(at + 1, end));
		at = end;
	}
	return lanes;
}

export class Served extends Source {
	// Calls `early` with a source of what there is, about.reading of the whole, while the trace is being read.
	static async open(early, base = '') {
		for (;;) {
			const about = await (await Served.get(`${base}about`)).json();
			if (about.reading === undefined)
				return new Served(about, base);
			early(new Served(about, base));
			await new Promise(resolve => setTimeout(resolve, 100));
		}
	}
	// `base`: before the paths of a second trace.
	constructor(about, base) {
		super(about);
		this.base = base;
	}
	async diff(from, to, secondFrom, secondTo) {
		return (await Served.get(`diff?from=${from}&to=${to}&second_from=${secondFrom}&second_to=${secondTo}&${this.asker}`)).json();
	}
	static async get(what, signal) {
		const response = await fetch(what, {signal});
		if (!response.ok)
			throw new Error((await response.text()).trim());
		return response;
	}
	async slices(level, from, to, lanes) {
		return split(await (await Served.get(`${this.base}slices?level=${level}&from=${from}&to=${to}&lanes=${lanes}`)).arrayBuffer());
	}
	async modes(from, to, bins) {
		return new Float32Array(await (await Served.get(`${this.base}modes?from=${from}&to=${to}&bins=${bins}`)).arrayBuffer());
	}
	// The server gives up what it reads for a table or a story when this page asks for another one.
	async table(from, to, by) {
		return (await Served.get(`table?from=${from}&to=${to}&by=${by}&${this.asker}`)).json();
	}
	async lines(from, to, bins) {
		return (await Served.get(`lines?from=${from}&to=${to}&bins=${bins}&${this.asker}`)).json();
	}
	stacks(from, to) {
		return `flame?from=${from}&to=${to}&page=${this.page}`;
	}
	async story(from, to, thread) {
		return (await Served.get(`story?from=${from}&to=${to}&thread=${thread}&${this.asker}`)).json();
	}
	async cases(from, to, wanted) {
		const query = Object.entries(wanted).filter(([, value]) => value !== undefined).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`).join('');
		return (await Served.get(`cases?from=${from}&to=${to}${query}&${this.asker}`)).json();
	}
	async scenes(from, to, steps, signal) {
		return (await Served.get(`${this.base}scenes?from=${from}&to=${to}&steps=${steps}&${this.asker}`, signal)).json();
	}
	// With a number, as requests may overtake each other on their way to the server.
	get asker() {
		this.requests = (this.requests ?? 0) + 1;
		return `page=${this.page}&request=${this.requests}`;
	}
	get page() {
		return this.number ??= Math.floor(Math.random() * 2 ** 48);
	}
}

async function inflated(base64) {
	const raw = Uint8Array.from(atob(base64), character => character.charCodeAt(0));
	return new Response(new Blob([raw]).stream().pipeThrough(new DecompressionStream('deflate'))).arrayBuffer();
}

class Embedded extends Source {
	static async open(text) {
		return new Embedded(JSON.parse(new TextDecoder().decode(await inflated(text))));
	}
	constructor(data) {
		super(data.about);
		this.data = data;
		this.whole = {};
	}
	async slices(level, from, to, lanes) {
		const all = await (this.whole[level] ??= inflated(this.data.slices[level]).then(split));
		const places = lanes === 'c*' ? this.about.cpus.map((_, place) => `c${place}`) : lanes.split(',');
		return places.map(name => {
			const slices = all[this.data.lanes.indexOf(name)] ?? new Uint32Array();
			return slices.subarray(words * first(slices, at => slices[at] + slices[at + 1] > from), words * first(slices, at => slices[at] >= to));
		});
	}
	async modes(from, to, bins) {
		this.shares ??= new Float32Array(await inflated(this.data.modes));
		const kinds = this.about.modes.length, own = this.data.mode_bins, result = new Float32Array(this.about.cpus.length * bins * kinds);
		const wide = (to - from) / this.about.ticks * own / bins; // in bins of its own
		for (let cpu = 0; cpu < this.about.cpus.length; ++cpu)
			for (let bin = 0; bin < bins; ++bin) {
				const begin = from / this.about.ticks * own + bin * wide, end = begin + wide;
				for (let at = Math.floor(begin); at < Math.min(end, own); ++at) {
					const part = (Math.min(end, at + 1) - Math.max(begin, at)) / wide;
					for (let kind = 0; kind < kinds; ++kind)
						result[(cpu * bins + bin) * kinds + kind] += part * this.shares[(cpu * own + at) * kinds + kind];
				}
			}
		return result;
	}
	async table(from, to, by) {
		return from === 0 && to === this.about.ticks ? this.data.tables[by] : null;
	}
	has(lane) {
		return this.data.lanes.includes(lane);
	}
	async story() {
		return null;
	}
	async cases() {
		return null;
	}
	stacks() {
		return null;
	}
	async lines() {
		return null;
	}
}

// The number of the first slice that this holds for: they are in order.
function first(slices, holds) {
	let low = 0, high = slices.length / words;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (holds(middle * words))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

export async function open(early) {
	const embedded = document.getElementById('embedded');
	return embedded ? Embedded.open(embedded.textContent.trim()) : Served.open(early);
}
