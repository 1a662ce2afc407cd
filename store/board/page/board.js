// Board: one group of comparable kernels, as `winnow leaderboard` ranks them.
pages.board = {
  title: 'Board',
  draw(main, state) {
    const b = boardAt(state);
    if (!b) return nothing(main);
    const words = (state.filter ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    const text =
      p => [author(p), p.run, p.digest, p.candidate_id, parameters(p.parameters), p.unranked].join(' ').toLowerCase();
    const rows = b.rows.filter(p => words.every(w => text(p).includes(w)));
    main.append(h('h2', {}, b.name),
      h('div', {class: 'bar'}, chooseBoard(state), h('label', {}, 'Filter ', h('input', {
        name: 'filter',
        type: 'search',
        value: state.filter ?? '',
        placeholder: 'model, run, digest, BLOCK=128',
        on: {change: event => go(state, {filter: event.target.value})}
      })),
        h('span', {class: 'soft'}, `${rows.length} of ${b.rows.length} kernels`)));
    main.append(note(`Revision ${shortDigest(b.first.task_digest)} of the task, evaluator ${
      b.first.evaluator_version}. Search shapes: ${b.first.shapes.join('; ') || 'not stored'}.`));
    for (const text of [b.first.task_note, b.first.task_proof].filter(Boolean))
      main.append(note(text[0].toUpperCase() + text.slice(1) + '.', 'warn'));
    if (b.first.task_flags.length) main.append(note(`Flags of the task: ${b.first.task_flags.join('; ')}.`));
    main.append(h('h3', {}, 'Which kernel to ship'), answers(b));
    const lines = [
      {at: 1, text: b.first.speedup_versus}, ...this.libraries(b).filter(l => l.relative_time).map(l => ({
        at: 1 / l.relative_time,
        text: `${l.name} ${l.version}`
      }))
    ];
    whiskers(main,
      'Speedup with its 95 % interval; an open circle has no interval, an arrow stands for a place further out. Point at a row, or click for its samples.',
      rows.slice(0, 40).map(p => whiskerRow(p,
                              p.rank === null          ? 'var(--grey)'
                                : p.origin === 'model' ? hue(0)
                                                       : hue(3))),
      {lines});
    if (rows.length > 40) main.append(note(`The chart has the first 40 of ${rows.length} rows; the table has all.`));
    const all = this.columns(b), columns = filled(b.rows, all),
          empty = all.filter(c => !columns.includes(c)).map(c => c.name);
    main.append(table(rows, columns, {id: 'board-rows', sort: state.sort ?? '', onSort: sort => go(state, {sort})}));
    if (empty.length) main.append(note(`No row has a value for: ${empty.join(', ')}.`));
    main.append(...leftOut(leftOutOf(b.first)));
    const notes = this.libraries(b);
    for (const s of board.gpu_spreads.filter(s => ofBoard(s, b)))
      main.append(note(`${
        s.note}: a smaller difference of two times can come from the GPUs. Compare speedups, which have both times from one GPU.`));
    if (notes.length)
      main.append(h('h3', {}, 'Libraries and frameworks'), table(notes, [
        {name: 'name', value: l => `${l.name} ${l.version}`},
        {name: 'speedup', num: true, cell: l => l.relative_time ? speed(1 / l.relative_time) : 'not measured'},
        {name: 'shapes', num: true, value: l => l.shapes}, {name: 'agrees', value: l => l.agrees ? 'yes' : 'no'},
        {name: 'note', value: l => l.note || none}
      ]));
  },
  libraries: b => board.baselines.filter(l => ofBoard(l, b)),
  columns(b) {
    const leader = b.rows[0], c = p => byId.get(p.candidate_id);
    return [
      {name: 'rank', num: true, value: p => p.rank, cell: rank},
      {name: 'kernel', value: p => p.candidate_id, cell: p => toCandidate(p.candidate_id)}, {name: 'by', value: author},
      {
        name: 'vs best',
        num: true,
        value: p => p.versus_best,
        cell: p => known(p.versus_best) ? speed(p.versus_best) : none
      },
      {name: 'of light', num: true, value: p => p.of_light, cell: p => percent(p.of_light)},
      {name: 'speedup', num: true, value: p => p.speedup, cell: p => speedOf(p)},
      {name: '95 % interval', num: true, value: p => p.speedup_low, cell: bounds},
      {name: 'time', num: true, value: p => p.score_ns, cell: p => time(p.score_ns)},
      {name: 'held out', num: true, value: p => p.held_out_speedup ?? p.held_out_note, cell: p => heldOut(p) ?? none},
      {name: 'flag', wide: true, value: p => p.fitted}, {
        name: 'race with leader',
        wide: true,
        value: p => raceOf(c(p), byId.get(leader.candidate_id))?.ratio,
        cell: p => p === leader
          ? 'leader'
          : [raceText(raceOf(c(p), byId.get(leader.candidate_id))), p.unranked].filter(Boolean).join('; ') || none
      },
      {
        name: 'registers',
        num: true,
        value: p => c(p)?.registers,
        cell: p => known(c(p)?.registers) ? c(p).registers + (c(p).spills ? ` +${c(p).spills} B spilled` : '') : none
      },
      {name: 'lines', num: true, value: p => p.lines},
      {name: 'cost', num: true, value: p => p.dollars, cell: p => p.origin === 'model' ? dollars(p.dollars) : none},
      {name: 'parameters', wide: true, value: p => parameters(p.parameters)}, {
        name: 'findings',
        wide: true,
        value: p => p.findings.length,
        cell: p => p.findings.map(f => f.detail ?? f.kind).join('; ') || none
      }
    ];
  },
};
const ofBoard =
  (fact, b) => ['task', 'task_digest', 'device_name', 'evaluator_version'].every(name => fact[name] === b.first[name]);
const profileOf = new Map(board.profiles.map(p => [p.candidate_id, p.shapes ?? []]));
const racesOf = groups(board.races.flatMap(r => [[r.kernel, r], [r.rival, r]]), e => e[0]);
const racesAt = c => (racesOf.get(c.kernel) ??
  []).map(e => e[1]).filter(r => r.task_id === c.task_id && r.device_name === c.device_name); // the newest first
/// The newest race of two candidates, seen from the first: ratio above 1, the first is faster.
function raceOf(a, b) {
  if (!a?.kernel || !b?.kernel || a.kernel === b.kernel) return null;
  const found = racesAt(a).find(r => r.kernel === b.kernel || r.rival === b.kernel);
  return found ? seenFrom(a.kernel, found) : null;
}
function seenFrom(kernel, found) {
  if (found.kernel === kernel) return found;
  const turned = {faster: 'slower', slower: 'faster', 'not shown to be faster': 'not shown to be slower'};
  return {
    ...found,
    kernel: found.rival,
    rival: found.kernel,
    verdict: turned[found.verdict] ?? found.verdict,
    ratio: known(found.ratio) ? 1 / found.ratio : null,
    ratio_low: found.ratio_high > 0 ? 1 / found.ratio_high : null,
    ratio_high: found.ratio_low > 0 ? 1 / found.ratio_low : null
  };
}
/// A bound that is not 1 does not read as 1.
const raceBound = x => {
  let text = fourDigits(x);
  for (let d = 4; x !== 1 && text === (1).toFixed(d - 1) && d < 10; ++d) text = x.toFixed(d);
  return text;
};
const raceText = r => r &&
  `${r.verdict} ${known(r.ratio) ? fourDigits(r.ratio) + 'x' : '(ratio not known)'}` +
    (r.ratio_high > 0 ? ` (99 %: ${raceBound(r.ratio_low)}\u2013${raceBound(r.ratio_high)})` : '') +
    `, ${r.source === 'final' ? 'in the final' : r.source}`;
