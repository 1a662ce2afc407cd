'use strict';
// What all pages share: the data, elements, texts, the state in the fragment, and tables.
const pages = {}; // name -> {title, draw(main, state)}; each file of a page adds its own
const objects = table => table.rows.map(row => Object.fromEntries(table.columns.map((name, i) => [name, row[i]])));
const board = JSON.parse(document.getElementById('board').textContent);
const places = objects(board.leaderboard); // the rows of `winnow leaderboard --json`
const candidates = objects(board.candidates);
const byId = new Map(candidates.map(c => [c.candidate_id, c]));
const taskOf = new Map(board.tasks.map(t => [t.task_id, t]));
const runOf = new Map(board.runs.map(r => [r.run_id, r]));
const placeOf = new Map(places.map(p => [p.candidate_id, p])),
      inFinal = p => Boolean(p) && p.flag === ''; // inFinal: its numbers come from a final
/// What the speedup of a candidate is against: a task may have another baseline on a CPU.
const versusOf = c => [...places, ...board.not_ranked]
                        .find(p => p.task === c.task && (c.device_name === null || p.device_name === c.device_name))
                        ?.speedup_versus ??
  'the baseline';
const everyVersus = [...new Set(places.map(p => p.speedup_versus))].sort().reverse().join(' or ') || 'baseline.cu';
const byKernel = new Map(candidates.filter(c => c.kernel).map(c => [c.kernel, c]).reverse());
for (const c of candidates) Object.assign(c, {task: taskOf.get(c.task_id)?.name ?? '?', by: c.author});
const author = c => c.author; // store/author.h
// Marks that change the direction of a text, and other invisible ones, are shown by their numbers.
const hiddenMarks = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u2028\u2029]/g;
const markName = c => '\u27e8U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0') + '\u27e9';
const visible = text => String(text).replace(hiddenMarks, markName);
/// An element with attributes and children. Texts become text nodes, so nothing in them is markup.
function h(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key === 'on')
      for (const [event, work] of Object.entries(value)) node.addEventListener(event, work);
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(key, visible(value === true ? '' : value));
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined) node.append(child instanceof Node ? child : visible(child));
  return node;
}
// ---- numbers as `winnow leaderboard` shows them: docs/numbers.md says what each is ----
const none = '\u2013', count = x => known(x) ? x.toLocaleString('en', {maximumSignificantDigits: 15}) : none;
const counted = (n, word) => `${count(n)} ${word}${n === 1 ? '' : 's'}`;
const known = x => x !== null && x !== undefined && Number.isFinite(x);
/// As base/text/number_text.h: `decimals` decimals, or two significant digits of a number that would have fewer, so that nothing but 0 reads as 0.
const digits = (x, decimals = 2) => !(Math.abs(x) <= 1e15) ? x > 0 ? '>1e15'
    : x < 0                                                        ? '<-1e15'
                                                                   : '?'
  : x < 0                                                  ? '-' + digits(-x, decimals)
  : !(x > 0) || x >= 0.95 * 10 ** (1 - decimals)           ? x.toFixed(decimals)
  : x < 1e-6                                               ? '<0.000001'
             : x.toFixed(1 - Math.floor(Math.log10(x))).replace(/0+$/, '');
const fourDigits = x => digits(x, x < 9.9995 ? 3 : x < 99.995 ? 2 : x < 999.95 ? 1 : 0);
const about = x => {
  if (!(x <= 1e15)) return digits(x);
  const rounded = Number(x.toPrecision(1));
  return '~' + (rounded < 1 ? digits(rounded, 0) : rounded.toFixed(0));
};
/// A speedup whose interval spans more than a factor of 100 is not sure: it has one digit.
const isUnsure = r => known(r?.speedup_low) && known(r.speedup_high) && r.speedup_high > 100 * r.speedup_low;
const speed = (x, r) => known(x) && x > 0 ? (isUnsure(r) ? about(x) : digits(x)) + 'x' : 'not measured',
      speedOf = r => speed(r.speedup, r);
const bounds = r => known(r.speedup_low) && r.speedup_high > 0
  ? `${digits(r.speedup_low)}\u2013${digits(r.speedup_high)}`
  : 'no interval';
const units = [[1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s'], [0, 'ns']];
const time = ns => {
  if (!known(ns) || ns <= 0) return none;
  const [size, unit] = units.find(u => ns >= u[0]);
  return fourDigits(ns / (size || 1)) + ' ' + unit;
};
const percent = x => known(x) ? digits(100 * x, x < 0.1 ? 1 : 0) + ' %' : none;
const dollars = x => known(x) ? '$' + digits(x, 4) : 'unknown';
const rank = p => !p || p.rank === null ? none : (p.tied ? '=' : '') + p.rank;
const parameters = p => p && typeof p === 'object' ? Object.entries(p).map(e => e.join('=')).join(' ') : '';
const groups = (list, key) => list.reduce((map, x) => map.set(key(x), [...(map.get(key(x)) ?? []), x]), new Map());
const median = list => {
  const s = [...list].sort((a, b) => a - b), m = s.length >> 1;
  return s.length % 2 ? s[m] : (s[m - 1] + s[m]) / 2;
};
const shortDigest = d => (d ?? '').slice(0, 8);
// ---- the state: #/page?name=value&... ----
function readState() {
  const [page, query] = location.hash.replace(/^#\/?/, '').split('?');
  return {page: pages[page] ? page : 'overview', ...Object.fromEntries(new URLSearchParams(query ?? ''))};
}
function link(state) {
  const {page, ...rest} = state,
               query = new URLSearchParams(
                 Object.entries(rest).filter(e => e[1] !== '' && e[1] !== null && e[1] !== undefined))
                         .toString();
  return '#/' + page + (query ? '?' + query : '');
}
const go = (state, change) => { location.hash = link({...state, ...change}); };
const toCandidate = (id, text) => h('a', {href: link({page: 'candidate', id})}, text ?? '#' + id);
// ---- the parts that are unpacked on demand ----
const unpacked = new Map();
async function unpack(index) {
  if (!unpacked.has(index)) {
    if (typeof DecompressionStream === 'undefined')
      throw new Error(
        'This browser has no DecompressionStream, so kernels and samples stay packed. A browser from 2023 or later shows them.');
    const bytes = Uint8Array.from(atob(document.getElementById('chunk-' + index).textContent), c => c.charCodeAt(0)),
          stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    unpacked.set(index, JSON.parse(await new Response(stream).text()));
  }
  return unpacked.get(index);
}
/// What the document has of a candidate in a part; null: nothing.
async function part(name, id) {
  for (const [i, chunk] of board.chunks.entries()) {
    const value = chunk.part === name && chunk.first <= id && id <= chunk.last ? (await unpack(i))[id] : undefined;
    if (value !== undefined) return value;
  }
  return null;
}
// ---- tables and controls ----
const rowsShown = 200;
/// The columns in which some row has a value. Columns without `value` stay.
const filled = (rows, columns) =>
  columns.filter(c => !c.value || rows.some(row => ![null, undefined, '', 0].includes(c.value(row))));
/// The attributes and the content of a cell.
const labelled = (c, shown) => [{
  class: [c.num ? 'num'
      : c.wide  ? 'wide'
                : '',
    [none, ''].includes(shown) ? 'none' : '']
           .join(' ')
           .trim() ||
    null,
  'data-name': c.name
},
  shown];
/// columns: {name, value(row), cell(row), num, wide}. `sort`: the name of a column, with - for falling.
function table(rows, columns, {sort = '', onSort = null, now = null, id = null, limit = rowsShown} = {}) {
  const falling = sort.startsWith('-'), by = sort ? columns.find(c => c.name === sort.replace(/^-/, '')) : null,
        sorted = by ? [...rows].sort((a, b) => compare(by.value(a), by.value(b), falling)) : rows;
  const head = columns.map(
    c => h('th', {class: c.num ? 'num' : null, 'aria-sort': by === c ? (falling ? 'descending' : 'ascending') : null},
      onSort && c.value
        ? h('button', {tabindex: 0, on: {click: () => onSort((by === c) !== falling ? '-' + c.name : c.name)}},
            c.name + (by === c ? (falling ? ' \u2193' : ' \u2191') : ''))
        : c.name));
  const body = h('tbody', {},
    sorted.slice(0, limit).map(
      row => h('tr', {class: now?.(row) ? 'now' : null},
        columns.map(c => h('td', ...labelled(c, c.cell ? c.cell(row) : c.value(row) ?? none))))));
  const kind = [
    columns.length > 4 ? 'cards' : '', columns.length > 12 ? 'dense' : ''
  ].join(' ').trim(); // cards: on a narrow page each row is a card
  const box =
    h('div', {class: 'scroll'}, h('table', {id, class: kind || null}, h('thead', {}, h('tr', {}, head)), body));
  if (sorted.length <= limit) return box;
  const all = h('button', {
    class: 'plain',
    on: {click: () => whole.replaceWith(table(rows, columns, {sort, onSort, now, id, limit: Infinity}))}
  },
    `Show all ${sorted.length}`);
  const whole = h('div', {}, box, h('p', {class: 'soft'}, `The first ${limit} of ${sorted.length} rows. `, all));
  return whole;
}
const missing = x => x === null || x === undefined || x === '';
function compare(a, b, falling) {
  if (missing(a) || missing(b)) return missing(a) - missing(b); // these come last
  const order = typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));
  return falling ? -order : order;
}
const choice = (label, name, values, state) => h('label', {}, label + ' ',
  h('select', {name, on: {change: event => go(state, {[name]: event.target.value})}}, values.map(([value,
    text]) => h('option', {value, selected: String(value) === String(state[name] ?? '')}, text ?? value))));
const note = (text, type = 'soft') => h('p', {class: type}, text);
const facts = list =>
  h('dl', {}, list.filter(f => f[1] !== null && f[1] !== undefined && f[1] !== '').map(([name,
    value]) => [h('dt', {}, name), h('dd', {}, value)]));
// ---- boards: the kernels that may be compared ----
const boardKey = p => [p.task, p.device, p.device_name, p.task_digest, p.evaluator_version].join('\u0000');
const boards = [...groups(places, boardKey).values()].map(
  (rows, i) => ({key: String(i), rows, first: rows[0], name: `${rows[0].task} on ${rows[0].device_name}`}));
for (const b of boards) {
  const twins = boards.filter(o => o.name === b.name || o.full === b.name);
  b.full = b.name;
  if (twins.length > 1)
    b.name += ` (revision ${shortDigest(b.first.task_digest)}, evaluator ${b.first.evaluator_version})`;
  if (b.first.task_note) b.name += ' (old)';
}
const boardAt = state => boards.find(b => b.key === state.board) ?? boards[0];
const chooseBoard = state =>
  choice('Board', 'board', boards.map(b => [b.key, b.name]), {...state, board: boardAt(state)?.key});
const nothing = main => main.append(
  note('No kernel of this store is correct and timed yet, so this page is empty. The page Verdicts says why.', 'warn'));
const inBoard = (b, c) => c.task === b.first.task &&
  (c.device_name === null || c.device_name === b.first.device_name) &&
  (taskOf.get(c.task_id)?.digest === b.first.task_digest);
