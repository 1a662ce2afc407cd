// Shapes: where a kernel is fast and where it is not.
pages.shapes = {
  title: 'Shapes',
  draw(main, state) {
    const b = boardAt(state);
    if (!b) return nothing(main);
    const of = groups(board.shapes, s => s.candidate_id),
          rows = b.rows.filter(p => of.has(p.candidate_id)).slice(0, 30);
    const shapes = [...new Set(rows.flatMap(p => of.get(p.candidate_id).map(s => s.shape)))];
    main.append(h('h2', {}, b.name), h('div', {class: 'bar'}, chooseBoard(state)));
    if (!shapes.length) return main.append(note('No times per shape are stored for this board.', 'warn'));
    main.append(note(`First kernels of the board (${rows.length}) at its search shapes (${
      shapes
        .length}), as their evaluations measured them. The last column is the speedup when judged: their geometric mean. A final measures its finalists again.`));
    const cell = (p, shape) => of.get(p.candidate_id).find(s => s.shape === shape);
    this.heat(main, rows, shapes, cell);
    main.append(table(rows, [
      {name: 'rank', num: true, cell: rank}, {name: 'kernel', cell: p => toCandidate(p.candidate_id)},
      {name: 'by', value: p => author(p)}, ...shapes.map(s => ({
        name: s,
        num: true,
        cell: p => {
          const k = cell(p, s);
          return k ? `${speedOf(k)} (${bounds(k)})` : none;
        }
      })),
      {name: 'when judged', num: true, cell: p => speedOf(byId.get(p.candidate_id) ?? {})}
    ]));
    for (const shape of shapes) {
      main.append(h('h3', {}, shape));
      whiskers(main, `Speedup at ${shape}`, rows.slice(0, 12).filter(p => cell(p, shape)).map(p => {
        const k = cell(p, shape);
        return {
          ...whiskerRow(p),
          low: k.speedup_low,
          mid: k.speedup,
          high: k.speedup_high,
          tip: `#${p.candidate_id}: ${speedOf(k)} (${bounds(k)}), ${time(k.median_ns)}`
        };
      }),
        {lines: [{at: 1, text: rows[0].speedup_versus}]});
    }
  },
  heat(main, rows, shapes, cell) {
    const room = roomFor(main), left = isNarrow(room) ? 124 : 230, step = 22,
          wide = Math.max(68, Math.min(190, (room - left - 10) / (shapes.length + 1))), top = 44,
          width = Math.max(room, left + 10 + wide * (shapes.length + 1));
    const frame =
      chart(main, `Speedup by kernel and shape: blue is faster than ${rows[0].speedup_versus}, orange slower`, width,
        top + step * rows.length + 8, (svg, tell) => {
          const all = rows.flatMap(p => shapes.map(s => cell(p, s)?.speedup)).filter(known),
                reach = Math.max(1.05, ...all.map(v => Math.max(v, 1 / v)));
          const columns = [...shapes, null],
                number = (p, s) => s === null ? byId.get(p.candidate_id)?.speedup : cell(p, s)?.speedup;
          const tint = v => v >= 1 ? 'var(--cool)' : 'var(--warm)',
                depth = v => 0.08 + 0.72 * Math.abs(Math.log(v)) / Math.log(reach);
          columns.forEach((s, i) => svg.append('text')
                                      .text(s === null ? 'when judged' : fitted(s, wide))
                                      .attr('x', left + wide * (i + .5))
                                      .attr('y', top - 10)
                                      .attr('text-anchor', 'middle')
                                      .append('title')
                                      .text(s ?? ''));
          const row = svg.selectAll('a')
                        .data(rows)
                        .join('a')
                        .attr('href', p => link({page: 'candidate', id: p.candidate_id}))
                        .attr('transform', (p, i) => `translate(0,${top + step * i})`);
          row.append('text')
            .attr('x', left - 10)
            .attr('y', 15)
            .attr('text-anchor', 'end')
            .attr('class', 'ink')
            .text(p => fitted(whiskerRow(p)[isNarrow(room) ? 'short' : 'label'], left - 14));
          columns.forEach((s, i) => {
            const box = row.filter(p => known(number(p, s)));
            box.append('rect')
              .attr('x', left + wide * i + 1)
              .attr('y', 1)
              .attr('width', wide - 2)
              .attr('height', step - 2)
              .attr('rx', 3)
              .attr('fill', p => tint(number(p, s)))
              .attr('fill-opacity', p => depth(number(p, s)) * .75)
              .on('mouseenter', function() {
                const p = d3.select(this).datum(), k = s && cell(p, s);
                tell(`#${p.candidate_id} ${s ?? 'when judged'}: ${speed(number(p, s))}${
                  k ? ` (${bounds(k)}), ${time(k.median_ns)}` : ''}`);
              });
            box.append('text')
              .attr('x', left + wide * (i + .5))
              .attr('y', 15)
              .attr('text-anchor', 'middle')
              .attr('class', 'ink')
              .attr('pointer-events', 'none')
              .text(p => speed(number(p, s)));
          });
        });
    if (width > room) frame?.classList.add('whole-width');
  },
};
