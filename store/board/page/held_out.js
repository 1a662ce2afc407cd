// Held-out: does the speed hold on shapes that the search has never seen? The shapes themselves are not in the page.
pages.heldout = {
  title: 'Held-out',
  draw(main) {
    main.append(h('h2', {}, 'On shapes that the search has never seen'));
    main.append(note('A final times the leaders at held-out shapes, too. Their sizes stay secret.'));
    const rows = places.filter(heldOut), counted = rows.filter(p => known(p.held_out_speedup)),
          devices = new Set(board.sittings.map(s => s.device_name));
    if (!rows.length)
      main.append(
        note('No board of this store has a final yet. A run that ends makes one, and winnow reverify does.', 'warn'));
    this.picture(main, counted.slice(0, 60));
    if (rows.length)
      main.append(table(rows, [
        {name: 'task', value: p => p.task}, ...(devices.size > 1 ? [{name: 'device', value: p => p.device_name}] : []),
        {name: 'rank', num: true, cell: rank}, {name: 'kernel', cell: p => toCandidate(p.candidate_id)},
        {name: 'by', value: author}, {name: 'at search shapes', num: true, cell: p => `${speedOf(p)} (${bounds(p)})`},
        {name: 'at held-out shapes', num: true, cell: heldOut}, {
          name: 'held out / search',
          num: true,
          cell: p => known(p.held_out_speedup) ? digits(p.held_out_speedup / p.speedup) : none
        },
        {name: 'flag', value: p => p.fitted}
      ]));
    const lost = board.sittings.filter(s => s.verdict !== 'correct');
    if (lost.length)
      main.append(h('h3', {}, 'Lost their place in a final'), table(lost, [
        {name: 'task', cell: s => taskOf.get(s.task_id)?.name},
        {name: 'kernel', cell: s => toCandidate(s.candidate_id)}, {name: 'verdict', value: s => s.verdict},
        {name: 'final', value: s => s.started_at.slice(0, 16).replace('T', ' ')}
      ]));
    if (board.held_out.length)
      main.append(h('h3', {}, 'Leaders of runs, judged there'), table(board.held_out, [
        {name: 'run', cell: r => runOf.get(r.run_id)?.run}, {name: 'task', cell: r => taskOf.get(r.task_id)?.name},
        {name: 'kernel', cell: r => toCandidate(r.candidate_id)}, {name: 'verdict', value: r => r.verdict},
        {name: 'speedup', num: true, cell: r => speedOf(r)}
      ]));
    const finals = [...groups(board.sittings, s => s.sitting_id).values()].map(list => ({...list[0], n: list.length}));
    if (finals.length)
      main.append(h('h3', {}, 'Finals'), table(finals, [
        {name: 'final', num: true, value: s => s.sitting_id}, {name: 'task', cell: s => taskOf.get(s.task_id)?.name},
        ...(devices.size > 1 ? [{name: 'device', value: s => s.device_name}] : []),
        {name: 'run', cell: s => runOf.get(s.run_id)?.run ?? 'all runs'},
        {name: 'started', value: s => s.started_at.slice(0, 16).replace('T', ' ')},
        {name: 'finalists', num: true, value: s => s.n}, {name: 'rounds', num: true, value: s => s.rounds},
        {name: 'seconds', num: true, cell: s => digits(s.seconds, 1)},
        {name: 'baseline\u2019s spread', num: true, cell: s => percent(s.baseline_spread)}
      ]));
  },
  picture(main, rows) {
    if (!rows.length) return;
    const width = Math.min(760, roomFor(main)), height = 460, left = 70;
    chart(main,
      'On the line, a kernel is as fast at held-out shapes as at search shapes. The bar is the 95 % interval at search shapes.',
      width, height,
      (svg, tell) => {
        const all = rows.flatMap(p => [p.speedup, p.speedup_low, p.speedup_high, p.held_out_speedup]),
              x = logScale(all, [left, width - 20]), y = logScale(all, [height - 48, 26]), [low, high] = x.domain();
        axis(svg, x, 'bottom', height - 48, height - 74, 'speedup at search shapes', v => plain(v) + 'x');
        axis(svg, y, 'left', left, width - 20 - left, 'speedup at held-out shapes', v => plain(v) + 'x');
        svg.append('line')
          .attr('x1', x(low))
          .attr('y1', y(low))
          .attr('x2', x(high))
          .attr('y2', y(high))
          .attr('stroke', 'var(--mute)')
          .attr('stroke-dasharray', '4 4');
        const tint = hues(rows.map(p => p.task));
        const mark =
          svg.append('g')
            .selectAll('a')
            .data(rows)
            .join('a')
            .attr('href', p => link({page: 'candidate', id: p.candidate_id}))
            .attr('transform', p => `translate(0,${y(p.held_out_speedup)})`)
            .on('mouseenter',
              function() {
                const p = d3.select(this).datum();
                tell(
                  `#${p.candidate_id} ${p.task}: ${speedOf(p)} (${bounds(p)}), held out ${speed(p.held_out_speedup)}`);
              })
            .on('mouseleave', () => tell());
        mark.filter(p => known(p.speedup_low))
          .append('line')
          .attr('x1', p => x(p.speedup_low))
          .attr('x2', p => x(p.speedup_high))
          .attr('stroke', p => tint(p.task))
          .attr('stroke-width', 2);
        mark.append('circle').attr('cx', p => x(p.speedup)).attr('r', 5).attr('fill', p => tint(p.task));
      })
      ?.append(legend([...new Set(rows.map(p => p.task))].map(t => [t, hues(rows.map(p => p.task))(t)])));
  },
};
