// Verdicts: what became of the candidates, and how far they came.
const way = [
  ['reply and plan', ['bad_reply', 'bad_plan']], ['compile', ['compile_error', 'unsupported', 'over_limit']],
  ['run', ['launch_error', 'timeout', 'crashed', 'out_of_bounds', 'modified_input']],
  ['compare', ['wrong', 'unwritten_output', 'low_precision', 'unstable']], ['time', ['implausible']],
  ['hidden shapes', ['wrong_unseen']]
];
pages.verdicts = {
  title: 'Verdicts',
  draw(main, state) {
    const models = [...new Set(candidates.map(c => c.by))], tasks = [...new Set(candidates.map(c => c.task))].sort();
    main.append(h('h2', {}, 'What became of the candidates'),
      h('div', {class: 'bar'}, choice('By', 'by', [['', 'all'], ...models.map(m => [m])], state),
        choice('Task', 'task', [['', 'all'], ...tasks.map(t => [t])], state),
        choice('Verdict', 'verdict',
          [['', 'all'], ...[...new Set(candidates.map(c => c.verdict))].sort().map(v => [v])], state)));
    const rows = candidates.filter(c => (!state.by || c.by === state.by) && (!state.task || c.task === state.task));
    this.bars(main, rows);
    this.funnel(main, rows);
    main.append(h('h3', {}, 'Candidates'));
    main.append(table(rows.filter(c => !state.verdict || c.verdict === state.verdict),
      [
        {name: 'kernel', value: c => c.candidate_id, cell: c => toCandidate(c.candidate_id)},
        {name: 'task', value: c => c.task}, {name: 'by', value: c => c.by}, {name: 'verdict', value: c => c.verdict},
        {name: 'stage', value: c => c.stage}, {
          name: 'speedup',
          num: true,
          value: c => c.speedup,
          cell: c => c.verdict === 'correct' ? `${speedOf(c)} (${bounds(c)})` : none
        },
        {name: 'detail', wide: true, value: c => c.detail}
      ],
      {id: 'candidate-rows', sort: state.sort ?? '', onSort: sort => go(state, {sort})}));
  },
  bars(main, rows) {
    const several = new Set(rows.map(c => c.by)).size > 1;
    const bars = [...groups(rows, c => several ? `${c.task}, ${c.by}` : c.task)]
                   .map(([name, list]) => ({name, list, counts: groups(list, c => c.verdict)}))
                   .sort((a, b) => a.name.localeCompare(b.name))
                   .slice(0, 60);
    const verdicts = [...new Set(rows.map(c => c.verdict))].sort(
            (a, b) => (b === 'correct') - (a === 'correct') || a.localeCompare(b)),
          tint = verdictHues();
    if (!bars.length) return;
    const width = roomFor(main), left = Math.min(280, width * (isNarrow(width) ? .42 : .3)), step = 22;
    const frame =
      chart(main, 'Candidates by verdict. A click lists them.', width, step * bars.length + 50, (svg, tell) => {
        const x = d3.scaleLinear().domain([0, Math.max(...bars.map(b => b.list.length))]).range([left, width - 20]);
        axis(svg, x, 'bottom', step * bars.length + 4, step * bars.length, 'candidates', whole, false);
        bars.forEach((bar, i) => {
          svg.append('text')
            .text(fitted(bar.name, left - 12))
            .attr('x', left - 8)
            .attr('y', step * i + 16)
            .attr('text-anchor', 'end')
            .attr('class', 'ink');
          let at = 0;
          for (const v of verdicts.filter(name => bar.counts.has(name))) {
            const n = bar.counts.get(v).length, c = bar.list[0];
            svg.append('a')
              .attr('href', link({page: 'verdicts', task: c.task, by: c.by, verdict: v}))
              .append('rect')
              .attr('x', x(at) + 1)
              .attr('y', step * i + 3)
              .attr('width', Math.max(1, x(at + n) - x(at) - 2))
              .attr('height', step - 6)
              .attr('rx', 2)
              .attr('fill', tint(v))
              .on('mouseenter', () => tell(`${bar.name}: ${n} ${v}`))
              .on('mouseleave', () => tell());
            at += n;
          }
        });
      });
    if (frame) frame.append(legend(verdicts.map(v => [`${v}: ${rows.filter(c => c.verdict === v).length}`, tint(v)])));
  },
  funnel(main, rows) {
    const judged = rows.filter(c => c.origin !== 'baseline' && c.verdict !== 'not_judged');
    let left = judged.length;
    const steps = [{name: 'judged', left, lost: '', loses: 0}];
    for (const [name, verdicts] of way) {
      const lost = judged.filter(c => verdicts.includes(c.verdict));
      left -= lost.length;
      steps.push({
        name: name === 'hidden shapes' ? 'right on hidden shapes' : 'passed: ' + name,
        left,
        loses: lost.length,
        lost: [...groups(lost, c => c.verdict)].map(([v, list]) => `${list.length} ${v}`).join(', ')
      });
    }
    const other = left - judged.filter(c => c.verdict === 'correct').length;
    if (other) steps.push({name: 'correct', left: left - other, loses: other, lost: 'other verdicts'});
    main.append(h('h3', {}, 'How far candidates came (without baselines)'), table(steps, [
      {name: 'step', value: s => s.name}, {name: 'left', num: true, value: s => s.left},
      {name: 'share', num: true, cell: s => judged.length ? percent(s.left / judged.length) : none},
      {name: 'lost here', cell: s => s.lost || none}
    ]));
  },
};
