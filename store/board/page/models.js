// Models: how often they are right, how fast they are, and what it costs.
pages.models = {
  title: 'Models',
  draw(main, state) {
    const models = [...groups(candidates.filter(c => c.origin === 'model'), c => c.by)].map(([name, list]) => this.summary(name, list));
    main.append(h('h2', {}, 'Models'));
    if (!models.length) return main.append(note('No model has written a candidate in this store.', 'warn'));
    const p = Number(state.p) > 0 ? Number(state.p) : 1;
    main.append(h('div', {class: 'bar'}, h('label', {}, 'p ', h('input', {name: 'p', size: 5, value: p, on: {change: event => go(state, {p: event.target.value})}})),
      h('span', {class: 'soft'}, `fast_p: the share of candidates that are correct and more than p times as fast as ${everyVersus}. Models that met other tasks or devices are not comparable.`)));
    this.curve(main, models, p);
    const estimate = (m, k) => { const list = m.tasks.filter(t => t.n >= k); return list.length ? list.reduce((sum, t) => sum + passAt(t.n, t.right, k), 0) / list.length : null; };
    main.append(table(models, [
      {name: 'model', value: m => m.name}, {name: 'candidates', num: true, value: m => m.n}, {name: 'tasks', num: true, value: m => m.tasks.length}, {name: 'compiled', num: true, value: m => m.compiled / m.n, cell: m => percent(m.compiled / m.n)},
      {name: 'correct', num: true, value: m => m.right / m.n, cell: m => percent(m.right / m.n)}, {name: `fast_${p}`, num: true, cell: m => percent(share(m, p, false))}, {name: `surely`, num: true, cell: m => percent(share(m, p, true))},
      {name: 'pass@1', num: true, cell: m => percent(estimate(m, 1))}, {name: 'pass@5', num: true, cell: m => percent(estimate(m, 5))},
      {name: 'best', num: true, value: m => m.best, cell: m => m.best ? `${speed(m.best)} (${digits(m.low)}\u2013${digits(m.high)})` : none},
      ...(models.some(m => known(m.dollars)) ? [{name: 'cost', num: true, cell: m => dollars(m.dollars)}, {name: 'a correct one', num: true, cell: m => m.right ? dollars(m.dollars === null ? null : m.dollars / m.right) : none},
      {name: 'one over 1x', num: true, cell: m => m.faster ? dollars(m.dollars === null ? null : m.dollars / m.faster) : none}] : [])],
      {sort: state.sort ?? '', onSort: sort => go(state, {sort})}));
    main.append(note(`Surely: as fast_p, counted by the lower end of the interval. Best: the geometric mean over tasks of the best kernel. A correct one, one over 1x: the cost of each correct kernel, and of each that is faster than ${everyVersus}. pass@k: the chance that one of k candidates of a task is correct, the mean over tasks with k candidates or more. The interval of a mean is the mean of the intervals\u2019 ends.`));
    this.costs(main, models.filter(m => m.dollars > 0 && m.best));
  },
  summary(name, list) {
    const right = list.filter(c => c.verdict === 'correct'), failedEarly = way[0][1].concat(way[1][1], 'not_judged');
    const tasks = [...groups(list, c => c.task)].map(([task, all]) => ({task, n: all.length, right: all.filter(c => c.verdict === 'correct').length, best: all.filter(c => c.verdict === 'correct' && value(c).speedup > 0).map(value).sort((a, b) => b.speedup - a.speedup)[0]}));
    const best = tasks.map(t => t.best).filter(Boolean);
    return {name, list, n: list.length, right: right.length, tasks, compiled: list.filter(c => !failedEarly.includes(c.verdict)).length, dollars: list.every(c => known(c.dollars)) ? list.reduce((sum, c) => sum + c.dollars, 0) : null,
      faster: right.filter(c => value(c).speedup > 1).length, best: geomean(best.map(v => v.speedup)), low: geomean(best.map(v => v.speedup_low ?? v.speedup)), high: geomean(best.map(v => v.speedup_high ?? v.speedup))};
  },
  curve(main, models, pinned) {
    const width = Math.min(1000, roomFor(main)), height = 340, left = 60, tint = hues(models.map(m => m.name));
    const most = Math.max(2, ...models.flatMap(m => m.list.map(c => value(c).speedup ?? 0))), ps = Array.from({length: 200}, (_, i) => 0.1 * (most * 11) ** (i / 199));
    const frame = chart(main, 'fast_p by p. Line: by the speedup; dashes: by the lower end of its interval.', width, height, svg => {
      const x = d3.scaleLog().domain([0.1, most * 1.1]).range([left, width - 20]), y = d3.scaleLinear().domain([0, 1]).range([height - 46, 24]);
      axis(svg, y, 'left', left, width - 20 - left, 'share of candidates', d3.format('.0%'), false);
      axis(svg, x, 'bottom', height - 44, 0, 'p', v => plain(v) + 'x');
      for (const m of models) for (const sure of [false, true]) svg.append('path').attr('fill', 'none').attr('stroke', tint(m.name)).attr('stroke-width', sure ? 1.5 : 2).attr('stroke-dasharray', sure ? '5 4' : null)
        .attr('d', d3.line().x(p => x(p)).y(p => y(share(m, p, sure)))(ps));
      svg.append('line').attr('x1', x(pinned)).attr('x2', x(pinned)).attr('y1', 24).attr('y2', height - 46).attr('stroke', 'var(--ink)').attr('stroke-dasharray', '2 3');
    });
    if (frame) frame.append(legend(models.map(m => [`${m.name}: ${percent(share(m, pinned, false))} at p = ${pinned}`, tint(m.name)])));
  },
  costs(main, models) {
    if (!models.length) return main.append(note('No price is known for these models, so there is no chart of cost and speed.'));
    main.append(h('h3', {}, 'Cost and best speedup'));
    whiskers(main, 'Best speedup, geometric mean over tasks, by what the model\u2019s calls cost', [...models].sort((a, b) => a.dollars - b.dollars).map(m => ({label: `${m.name}: ${dollars(m.dollars)}`, low: m.low, mid: m.best, high: m.high, tip: `${m.name}: ${dollars(m.dollars)}, ${speed(m.best)}`})));
  },
};
const share = (m, p, sure) => m.list.filter(c => c.verdict === 'correct' && (sure ? value(c).speedup_low ?? value(c).speedup : value(c).speedup) > p).length / m.n;
const passAt = (n, right, k) => { let miss = 1; for (let i = 0; i < k; ++i) miss *= Math.max(0, n - right - i) / (n - i); return 1 - miss; };
