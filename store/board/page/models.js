// Models: how often they are right, how fast they are, and what it costs.
pages.models = {
  title: 'Models',
  draw(main, state) {
    const models = [...groups(candidates.filter(c => c.origin === 'model'), c => c.by)].map(
      ([name, list]) => this.summary(name, list));
    main.append(h('h2', {}, 'Models'));
    this.suite(main);
    main.append(h('h3', {}, 'All candidates of each model'));
    if (!models.length) return main.append(note('No model has written a candidate in this store.', 'warn'));
    const p = Number(state.p) > 0 ? Number(state.p) : 1;
    main.append(h('div', {class: 'bar'},
      h('label', {}, 'p ',
        h('input', {name: 'p', size: 5, value: p, on: {change: event => go(state, {p: event.target.value})}})),
      h('span', {class: 'soft'},
        `fast_p: the share of candidates that are correct and more than p times as fast as ${
          everyVersus}. Models that met other tasks or devices are not comparable.`)));
    this.curve(main, models, p);
    main.append(table(models, [
      {name: 'model', value: m => m.name}, {name: 'candidates', num: true, value: m => m.n}, {name: 'tasks', num: true, value: m => m.tasks.size}, {name: 'compiled', num: true, value: m => m.compiled / m.n, cell: m => percent(m.compiled / m.n)},
      {name: 'correct', num: true, value: m => m.right / m.n, cell: m => percent(m.right / m.n)}, {name: `fast_${p}`, num: true, cell: m => percent(share(m, p, false))}, {name: `surely`, num: true, cell: m => percent(share(m, p, true))},
      {name: 'mean speedup', num: true, value: m => m.best, cell: m => m.best ? `${speed(m.best, {speedup_low: m.low, speedup_high: m.high})} (${bounds({speedup_low: m.low, speedup_high: m.high})}) at ${m.timed}` : none},
      ...(models.some(m => known(m.dollars)) ? [{name: 'cost of candidates', num: true, cell: m => dollars(m.dollars)}, {name: 'a correct one', num: true, cell: m => m.right ? dollars(m.dollars === null ? null : m.dollars / m.right) : none},
      {name: 'one over 1x', num: true, cell: m => m.faster ? dollars(m.dollars === null ? null : m.dollars / m.faster) : none}] : [])],
      {sort: state.sort ?? '', onSort: sort => go(state, {sort})}));
    main.append(note(
      `Surely: as fast_p, counted by the lower end of the interval. Mean speedup: the geometric mean of the best kernels\u2019 speedups when judged, over the tasks at which the model has a correct kernel; the interval says how sure their times are. All numbers here are those of the evaluations; a final measures its finalists again. A correct one, one over 1x: the cost of each correct kernel, and of each that is faster than ${
        everyVersus}.`));
    this.costs(main, models.filter(m => m.dollars > 0 && m.best));
  },
  /// The comparison of the document `winnow.suite`, whose numbers are drawn as they are.
  suite(main) {
    if (!board.suite)
      return main.append(note(
        '`winnow export html --suite NAME` adds a comparison of runs at the tasks of a suite, with intervals and pass@k.'));
    const {problems, flagged, rows, notes} = board.suite.comparison, against = board.suite.speedup_versus.join(' or ');
    main.append(h('h3', {}, `Suite ${board.suite.suite}`));
    if (!rows.length)
      return main.append(
        note('No run of this store has asked for a kernel of this suite as its tasks are now.', 'warn'));
    const share = name => ({
      name: name.replace('pass_at_', 'pass@'),
      num: true,
      value: r => r[name].value,
      cell: r => words(mean(r[name], digits))
    });
    const place = name => ({name: 'rank', num: true, cell: r => rank(r[name])});
    main.append(table(rows,
      [
        {name: 'model, strategy', value: r => r.label},
        {name: 'run', value: r => r.run + (r.status === 'finished' ? '' : ` (${r.status})`)}, share('correct'),
        place('correct'),
        {name: 'speedup', num: true, value: r => r.speedup.value, cell: r => words(mean(r.speedup, speed))},
        place('speedup'), ...['fast_1', 'fast_2', 'pass_at_1', 'pass_at_5', 'pass_at_10', 'proficiency'].map(share),
        {name: 'calls', num: true, value: r => r.calls}, {
          name: 'tokens',
          num: true,
          value: r => r.prompt_tokens + r.completion_tokens || (known(r.dollars) ? 0 : 'unknown')
        },
        {name: 'cost', num: true, cell: r => dollars(r.dollars)},
        {name: 'device s', num: true, cell: r => r.device_seconds.toFixed(1)}
      ],
      {id: 'suite-rows'}));
    main.append(note(`Means over ${problems} problems${
      flagged ? `; ${flagged} with a flag left out` : ''}: the best reply for each problem, speedups against ${
      against}. Speedups are those when judged. In brackets: the 95 % interval of a bootstrap over the problems, which says how the mean may differ at other problems. Rank: 1 + the number of rows that are surely better (p < 0.05); = is a tie. pass@k and proficiency need independent replies (best-of-n).`));
    for (const text of notes) main.append(note(text[0].toUpperCase() + text.slice(1) + '.', 'warn'));
    const marks = (name, text) => rows.filter(r => known(r[name].value)).map(r => ({
      label: `${r.run}: ${r.label}`,
      low: r[name].low,
      mid: r[name].value,
      high: r[name].high,
      tip: `${r.run}: ${mean(r[name], text)}, rank ${rank(r[name])}`
    }));
    for (const [name, title] of [['correct', 'share of the problems with a correct kernel'], ['pass_at_1', 'pass@1']])
      whiskers(main, title + ', by run', marks(name, digits), {title, share: true, href: () => null});
    whiskers(main, 'Geometric mean of the speedups, by run', marks('speedup', speed),
      {title: `speedup against ${against}`, href: () => null});
  },
  summary(name, list) {
    const right = list.filter(c => c.verdict === 'correct'), failedEarly = way[0][1].concat(way[1][1], 'not_judged');
    const mean = board.models.find(m => m.model === name);
    return {
      name,
      list,
      n: list.length,
      right: right.length,
      tasks: new Set(list.map(c => c.task)),
      compiled: list.filter(c => !failedEarly.includes(c.verdict)).length,
      dollars: list.every(c => known(c.dollars)) ? list.reduce((sum, c) => sum + c.dollars, 0) : null,
      faster: right.filter(c => c.speedup > 1).length,
      best: mean?.mean_speedup,
      low: mean?.mean_speedup_low,
      high: mean?.mean_speedup_high,
      timed: mean?.tasks
    };
  },
  curve(main, models, pinned) {
    const width = Math.min(1000, roomFor(main)), height = 340, left = 60, tint = hues(models.map(m => m.name));
    const most = Math.max(2, ...models.flatMap(m => m.list.map(c => c.speedup ?? 0))),
          ps = Array.from({length: 200}, (_, i) => 0.1 * (most * 11) ** (i / 199));
    const frame = chart(
      main, 'fast_p by p. Line: by the speedup; dashes: by the lower end of its interval.', width, height, svg => {
        const x = d3.scaleLog().domain([0.1, most * 1.1]).range([left, width - 20]),
              y = d3.scaleLinear().domain([0, 1]).range([height - 46, 24]);
        axis(svg, y, 'left', left, width - 20 - left, 'share of candidates', d3.format('.0%'), false);
        axis(svg, x, 'bottom', height - 44, 0, 'p', v => plain(v) + 'x');
        for (const m of models)
          for (const sure of [false, true])
            svg.append('path')
              .attr('fill', 'none')
              .attr('stroke', tint(m.name))
              .attr('stroke-width', sure ? 1.5 : 2)
              .attr('stroke-dasharray', sure ? '5 4' : null)
              .attr('d', d3.line().x(p => x(p)).y(p => y(share(m, p, sure)))(ps));
        svg.append('line')
          .attr('x1', x(pinned))
          .attr('x2', x(pinned))
          .attr('y1', 24)
          .attr('y2', height - 46)
          .attr('stroke', 'var(--ink)')
          .attr('stroke-dasharray', '2 3');
      });
    if (frame)
      frame.append(
        legend(models.map(m => [`${m.name}: ${percent(share(m, pinned, false))} at p = ${pinned}`, tint(m.name)])));
  },
  costs(main, models) {
    if (!models.length)
      return main.append(note('No price is known for these models, so there is no chart of cost and speed.'));
    main.append(h('h3', {}, 'Cost and mean speedup'));
    whiskers(main, 'Mean speedup when judged, over tasks, by what the model\u2019s calls cost',
      [...models].sort((a, b) => a.dollars - b.dollars).map(m => ({
        label: `${m.name}: ${dollars(m.dollars)}`,
        low: m.low,
        mid: m.best,
        high: m.high,
        tip: `${m.name}: ${dollars(m.dollars)}, ${speed(m.best)}`
      })));
  },
};
const share = (m, p, sure) =>
  m.list.filter(c => c.verdict === 'correct' && (sure ? c.speedup_low ?? c.speedup : c.speedup) > p).length / m.n;
/// A text that breaks between its words only.
const words = text =>
  text === none ? none : h('span', {}, text.split(' ').map((t, i) => [i ? ' ' : '', h('span', {class: 'whole'}, t)]));
/// A mean of the comparison with its interval.
const mean = (m, text) =>
  known(m.value) ? text(m.value) + (known(m.low) ? ` (${digits(m.low)}\u2013${digits(m.high)})` : '') : none;
