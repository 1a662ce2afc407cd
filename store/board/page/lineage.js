// Lineage: which kernel came from which. The axes are the order of candidates and the speed.
pages.lineage = {
  title: 'Lineage',
  draw(main, state) {
    const b = boardAt(state);
    if (!b) return nothing(main);
    const all = candidates.filter(c => inBoard(b, c)).sort((x, y) => x.candidate_id - y.candidate_id);
    main.append(h('h2', {}, b.name), h('div', {class: 'bar'}, chooseBoard(state)));
    const path = this.path(b.first.candidate_id);
    this.picture(main, all, path);
    main.append(h('h3', {}, 'The way to the leader'));
    main.append(table([...path].map(id => byId.get(id)).reverse(), [
      {name: 'kernel', cell: c => toCandidate(c.candidate_id)}, {name: 'by', value: c => c.by},
      {name: 'verdict', value: c => c.verdict}, {name: 'speedup', num: true, cell: c => speedOf(c)},
      {name: '95 % interval', num: true, cell: c => bounds(c)}, {
        name: 'changes',
        cell: c => c.parents?.length ? h('a', {href: link({page: 'candidate', id: c.candidate_id, diff: c.parents[0]})},
                                         `against #${c.parents[0]}`)
                                     : 'the first'
      }
    ]));
  },
  path(id) {
    const path = new Set();
    for (let c = byId.get(id); c && !path.has(c.candidate_id); c = byId.get(c.parents?.[0])) path.add(c.candidate_id);
    return path;
  },
  picture(main, all, path) {
    const timed = all.filter(c => c.speedup > 0),
          failed = all.filter(c => c.verdict !== 'correct' && c.verdict !== 'not_judged');
    const kinds = [...new Set(failed.map(c => c.verdict))].sort(), tint = verdictHues();
    const width = roomFor(main), left = 64, top = 26, floor = 380, height = floor + 62,
          order = new Map(all.map((c, i) => [c.candidate_id, i + 1]));
    const frame = chart(main,
      'Each circle is a kernel with its interval, each tick below a failure. A line leads to the parent; the way to the leader is bold. A click shows the change.',
      width, height, (svg, tell) => {
        const x = d3.scaleLinear().domain([0, all.length + 1]).range([left, width - 16]);
        const most = 4 * Math.max(...timed.map(c => c.speedup)); // so that no wide interval squeezes the others
        const y = logScale(
          timed.flatMap(c => [c.speedup, c.speedup_low, Math.min(most, c.speedup_high ?? 0)]), [floor - 12, top], [1]);
        axis(svg, y, 'left', left, width - 16 - left, 'speedup', v => plain(v) + 'x');
        axis(svg, x, 'bottom', floor + 20, 0, 'order of candidates', whole, false);
        const at = c => [x(order.get(c.candidate_id)), c.speedup > 0 ? y(c.speedup) : floor],
              drawn = new Set([...timed, ...failed]), line = d3.line();
        const edges =
          [...drawn].flatMap(c => (c.parents ?? []).map(id => [byId.get(id), c])).filter(e => drawn.has(e[0]));
        svg.append('g')
          .selectAll('path')
          .data(edges)
          .join('path')
          .attr('d', e => line(e.map(at)))
          .attr('fill', 'none')
          .attr('stroke', 'var(--grey)')
          .attr('stroke-opacity', .45);
        svg.append('path')
          .attr('d', line([...path].map(id => byId.get(id)).filter(c => drawn.has(c)).map(at)))
          .attr('fill', 'none')
          .attr('stroke', 'var(--ink)')
          .attr('stroke-width', 2.5);
        const href = c => link({page: 'candidate', id: c.candidate_id, diff: c.parents?.[0]});
        const told = c => `#${c.candidate_id} ${c.by}: ${c.verdict}${
          c.speedup > 0 ? `, ${speedOf(c)} (${bounds(c)})` : ': ' + (c.detail ?? '')}`;
        const mark = list => svg.append('g')
                               .selectAll('a')
                               .data(list)
                               .join('a')
                               .attr('href', href)
                               .attr('transform', c => `translate(${at(c)})`)
                               .on('mouseenter', function() { tell(told(d3.select(this).datum())); })
                               .on('mouseleave', () => tell());
        const dots = mark(timed);
        dots.filter(c => known(c.speedup_low))
          .append('line')
          .attr('y1', c => y(c.speedup_low) - y(c.speedup))
          .attr('y2', c => y(c.speedup_high) - y(c.speedup))
          .attr('stroke', hue(0))
          .attr('stroke-width', 1.5);
        dots.append('circle')
          .attr('r', all.length > 400 ? 2.5 : 5)
          .attr('fill', c => path.has(c.candidate_id) ? 'var(--ink)' : hue(0));
        mark(failed)
          .append('rect')
          .attr('x', -1.5)
          .attr('width', 3)
          .attr('height', 14)
          .attr('fill', c => tint(c.verdict));
      });
    if (frame && kinds.length) frame.append(legend(kinds.map(k => [k, tint(k)])));
  },
};
