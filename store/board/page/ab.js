// A/B: two candidates side by side.
pages.ab = {
  title: 'A/B',
  async draw(main, state) {
    const rows = boardAt(state)?.rows ?? [];
    const a = byId.get(Number(state.a ?? rows[0]?.candidate_id)),
          b = byId.get(Number(state.b ?? rows[1]?.candidate_id));
    main.append(h('h2', {}, 'Two kernels side by side'), this.form(state, a, b));
    if (!a || !b) return main.append(note('Name two candidates that this page has.', 'warn'));
    if (a.task !== b.task || a.device_name !== b.device_name)
      main.append(note('These two are of different tasks or devices, so their speeds cannot be compared.', 'warn'));
    const race = raceOf(a, b);
    main.append(h('p', {},
      race
        ? `They raced: ${raceText(race)} (time of B / time of A), on ${race.raced_at.slice(0, 10)}.`
        : 'They never took turns. The intervals below come from different times, so only a race (winnow race) tells which is faster.'));
    const both = [['A', a, hue(0)], ['B', b, hue(1)]], {where, place} = likeWithLike(a, b);
    whiskers(main, `Speedup of both ${where}, with 95 % intervals`,
      both
        .map(([name, c, color]) => ({
          ...whiskerRow({...c, ...place(c), model: c.by, rank: null}, color),
          label: `${name}: #${c.candidate_id} ${c.by}`
        }))
        .filter(r => r.mid > 0),
      {lines: [{at: 1, text: versusOf(a)}]});
    const results = await Promise.all(both.map(([, c]) => part('results', c.candidate_id)));
    if (areOnTwoGpus(a, b, results))
      main.append(note(
        'A and B were judged on different GPUs of one model, so a part of the difference of their times comes from the GPUs. Compare the speedups.',
        'warn'));
    this.table(main, a, b, results, where, place);
    await this.samples(main, both, results);
    const texts = await Promise.all(both.map(([, c]) => part('kernels', c.candidate_id)));
    main.append(h('h3', {}, 'From B to A'),
      texts[0] === null || texts[1] === null ? note('The kernel file of one of them is not in this page.')
                                             : diffView(texts[1], texts[0]));
  },
  form: (state, a, b) => h('form', {
    class: 'bar',
    on: {
      submit: event => {
        event.preventDefault();
        const f = event.target.elements;
        go({page: 'ab'}, {a: f.a.value.trim(), b: f.b.value.trim()});
      }
    }
  },
    h('label', {}, 'A ', h('input', {name: 'a', size: 6, value: a?.candidate_id ?? state.a ?? ''})),
    h('label', {}, 'B ', h('input', {name: 'b', size: 6, value: b?.candidate_id ?? state.b ?? ''})),
    h('button', {class: 'plain'}, 'Compare'), a ? toCandidate(a.candidate_id, 'open A') : null,
    b ? toCandidate(b.candidate_id, 'open B') : null),
  table(main, a, b, [one, two], where, place) {
    const timed = r => (r?.cases ?? []).filter(k => k.median_ns > 0),
          pairs = timed(one).map(k => [k, timed(two).find(o => o.shape === k.shape)]);
    const change = (x, y) => known(x) && known(y) && y > 0
      ? `${x / y >= 1 ? '+' : '\u2212'}${digits(Math.abs(100 * (x / y - 1)), 1)} %`
      : none;
    const counters = c =>
      Object.assign({}, ...(profileOf.get(c.candidate_id) ?? []).slice(0, 1).map(s => s.counters?.counters ?? {}));
    const [ca, cb] = [counters(a), counters(b)];
    const lines = [
      [`speedup ${where}`, place(a).speedup, place(b).speedup, speed],
      [`time ${where}`, place(a).score_ns, place(b).score_ns, time],
      ...pairs.map(([k, o]) => [`time when judged at ${k.shape}`, k.median_ns, o?.median_ns, time]),
      ['registers', a.registers, b.registers, x => x ?? none], ['spilled bytes', a.spills, b.spills, x => x ?? none],
      ['lines', a.lines, b.lines, x => x ?? none],
      ...Object.keys(ca).map(name => [name + ' (first shape)', ca[name]?.value, cb[name]?.value,
                               x => count(known(x) ? Number(x.toPrecision(4)) : null)])
    ];
    main.append(table(lines,
                  [
                    {name: '', value: l => l[0]},
                    {name: 'A', num: true, cell: l => l[3](l[1])},
                    {name: 'B', num: true, cell: l => l[3](l[2])},
                    {name: 'A against B', num: true, cell: l => change(l[1], l[2])},
                  ]),
      h('p', {}, `Parameters: A ${parameters(a.parameters) || none}; B ${parameters(b.parameters) || none}.`));
  },
  async samples(main, both, results) {
    const [sa, sb] = await Promise.all(both.map(([, c]) => part('samples', c.candidate_id)));
    if (!sa || !sb) return main.append(note('The samples of one of them are not in this page. The store has them.'));
    for (const k of results[0].cases.filter(x => x.median_ns > 0)) {
      const o = results[1].cases.find(x => x.shape === k.shape && x.median_ns > 0);
      if (!o) continue;
      main.append(h('h3', {}, `Samples at ${k.shape}, from two evaluations`));
      strip(
        main, k.shape, [{name: 'A', values: sa[k.case_id]?.candidate}, {name: 'B', values: sb[o.case_id]?.candidate}]);
    }
  },
};
/// The numbers of both from the final, or else those of both evaluations.
const likeWithLike = (...both) => both.every(c => inFinal(placeOf.get(c.candidate_id)))
  ? {where: 'in the final', place: c => placeOf.get(c.candidate_id)}
  : {where: 'when judged', place: c => c};
const areOnTwoGpus = (a, b, [one, two]) =>
  a.device_name === b.device_name && one?.device_uuid && two?.device_uuid && one.device_uuid !== two.device_uuid;
