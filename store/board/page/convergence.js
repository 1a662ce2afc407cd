// Convergence: the best kernel so far, by what was spent for it.
const spendings = [
  ['calls', 'calls'], ['seconds', 'seconds of the run'], ['tokens', 'tokens'], ['dollars', 'dollars'],
  ['evaluations', 'evaluations']
];
pages.convergence = {
  title: 'Convergence',
  draw(main, state) {
    const b = boardAt(state), unit = spendings.find(s => s[0] === state.x) ?? spendings[0];
    if (!b) return nothing(main);
    main.append(h('h2', {}, b.name),
      h('div', {class: 'bar'}, chooseBoard(state), choice('By', 'x', spendings, {...state, x: unit[0]})));
    const lines = [...groups(candidates.filter(c => inBoard(b, c) && c.origin === 'model'),
                     c => `${c.by}, run ${runOf.get(c.run_id)?.run ?? '?'}`)]
                    .map(([name, list]) => ({name, ...this.steps(list, unit[0])}))
                    .filter(l => l.steps.length);
    const most = Math.max(0, ...lines.filter(l => l.known).map(l => l.end));
    for (const l of lines) l.area = this.area(l.steps, most);
    main.append(note(
      'Best so far by the speedups when judged, with their 95 % intervals as a band. A final measures its finalists again, so the board may have other numbers. Area: the mean of log2(speedup) up to the end of the longest line; a fast start counts.'));
    if (!lines.length) return main.append(note('No model has a timed kernel here.', 'warn'));
    const unknown = lines.filter(l => !l.known);
    for (const l of unknown) main.append(note(`${l.name}: ${unit[1]} are not known, so it has no line.`, 'warn'));
    this.picture(main, lines.filter(l => l.known), unit[1], most);
    main.append(table(lines, [
      {name: 'line', value: l => l.name}, {name: unit[1], num: true, cell: l => l.known ? count(l.end) : 'unknown'},
      {name: 'first speedup', num: true, cell: l => speedOf(l.steps[0])},
      {name: 'best', num: true, cell: l => toCandidate(l.steps.at(-1).id, speedOf(l.steps.at(-1)))},
      {name: '95 % interval', num: true, cell: l => bounds(l.steps.at(-1))},
      {name: 'area', num: true, cell: l => l.known ? digits(l.area) : none}
    ]));
  },
  /// The improvements {at, speedup, low, high, id} of one line, by when they were evaluated.
  steps(list, unit) {
    const sorted = [...list].sort((x, y) => (x.elapsed_seconds ?? 0) - (y.elapsed_seconds ?? 0) ||
        (x.evaluated_at ?? '').localeCompare(y.evaluated_at ?? '') || x.candidate_id - y.candidate_id);
    const steps = [];
    let at = 0, all = true;
    for (const c of sorted) {
      const cost = {
        calls: 1,
        evaluations: 1,
        seconds: 0,
        tokens: known(c.prompt_tokens) ? c.prompt_tokens + c.completion_tokens : null,
        dollars: c.dollars
      }[unit];
      all = all && known(unit === 'seconds' ? c.elapsed_seconds : cost);
      at = unit === 'seconds' ? c.elapsed_seconds ?? at : at + (cost ?? 0);
      if (c.speedup > 0 && c.verdict === 'correct' && (!steps.length || c.speedup > steps.at(-1).speedup))
        steps.push(
          {at, speedup: c.speedup, speedup_low: c.speedup_low, speedup_high: c.speedup_high, id: c.candidate_id});
    }
    return {steps, end: at, known: all && at > 0};
  },
  area(steps, end) {
    let sum = 0;
    steps.forEach((s, i) => { sum += Math.log2(s.speedup) * ((steps[i + 1]?.at ?? end) - s.at); });
    return end > 0 ? sum / end : 0;
  },
  picture(main, lines, title, most) {
    if (!lines.length) return;
    const width = roomFor(main), height = 400, left = 64, tint = hues(lines.map(l => l.name));
    const frame = chart(main, `Best speedup so far, by ${title}`, width, height, (svg, tell) => {
      const x = d3.scaleLinear().domain([0, most]).range([left, width - 20]),
            y = logScale(lines.flatMap(l => l.steps.flatMap(s => [s.speedup, s.speedup_low, s.speedup_high])),
              [height - 46, 26], [1]);
      axis(svg, y, 'left', left, width - 20 - left, 'speedup', v => plain(v) + 'x');
      axis(svg, x, 'bottom', height - 44, 0, title, ['calls', 'evaluations'].includes(title) ? whole : plain, false);
      for (const l of lines) {
        const points = [...l.steps, {...l.steps.at(-1), at: Math.max(l.end, l.steps.at(-1).at)}];
        svg.append('path')
          .datum(points)
          .attr('fill', tint(l.name))
          .attr('fill-opacity', .15)
          .attr('d',
            d3.area()
              .curve(d3.curveStepAfter)
              .x(s => x(s.at))
              .y0(s => y(s.speedup_low ?? s.speedup))
              .y1(s => y(s.speedup_high ?? s.speedup)));
        svg.append('path')
          .datum(points)
          .attr('fill', 'none')
          .attr('stroke', tint(l.name))
          .attr('stroke-width', 2)
          .attr('d', d3.line().curve(d3.curveStepAfter).x(s => x(s.at)).y(s => y(s.speedup)));
        svg.append('g')
          .selectAll('a')
          .data(l.steps)
          .join('a')
          .attr('href', s => link({page: 'candidate', id: s.id}))
          .on('mouseenter',
            function() {
              const s = d3.select(this).datum();
              tell(`#${s.id}: ${speedOf(s)} (${bounds(s)}), after ${plain(s.at)} ${title}`);
            })
          .on('mouseleave', () => tell())
          .append('circle')
          .attr('cx', s => x(s.at))
          .attr('cy', s => y(s.speedup))
          .attr('r', 4)
          .attr('fill', tint(l.name));
      }
    });
    if (frame) frame.append(legend(lines.map(l => [`${l.name}: area ${digits(l.area)}`, tint(l.name)])));
  },
};
