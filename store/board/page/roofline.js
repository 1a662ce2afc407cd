// Roofline: how much of the device a kernel uses (Williams, Waterman and Patterson, 2009).
pages.roofline = {
  title: 'Roofline',
  draw(main, state) {
    const b = boardAt(state);
    if (!b) return nothing(main);
    main.append(h('h2', {}, b.name), h('div', {class: 'bar'}, chooseBoard(state)));
    const points = b.rows.flatMap(
      p => (profileOf.get(p.candidate_id) ?? [])
             .filter(s => s.speed_of_light?.operations > 0 && s.speed_of_light.bytes > 0 && s.time_ns > 0)
             .map(s => ({
               p,
               s,
               light: s.speed_of_light,
               x: s.speed_of_light.operations / s.speed_of_light.bytes,
               y: s.speed_of_light.operations / s.time_ns * 1e9
             })));
    if (!points.length)
      return main.append(note(b.first.device === 'cpu'
          ? 'A CPU is not profiled, so this page is empty: Winnow runs CUDA C++ on fibers there, and its speed says little about a roof.'
          : 'No kernel of this board has a profile. The search profiles correct kernels on devices with counters.',
        'warn'));
    main.append(note(
      'Operations and bytes are those that the task needs, not those that a kernel does. The roofs are what Winnow\u2019s own kernels reached on this device.'));
    this.picture(main, points);
    main.append(table(points, [
      {name: 'kernel', cell: q => toCandidate(q.p.candidate_id)}, {name: 'by', value: q => author(q.p)},
      {name: 'shape', value: q => q.s.shape}, {name: 'of light', num: true, cell: q => percent(q.light.fraction)},
      {name: 'bound', value: q => q.light.bound}, {name: 'time', num: true, cell: q => time(q.s.time_ns)},
      {name: 'at best', num: true, cell: q => time(q.light.least_ns)},
      {name: 'operations a byte', num: true, cell: q => count(Number(q.x.toPrecision(3)))},
      {name: 'operations a second', num: true, cell: q => hasD3 ? d3.format('.3~s')(q.y) : q.y.toExponential(2)}
    ]));
  },
  picture(main, points) {
    const width = roomFor(main), height = 460, left = 76, shapes = [...new Set(points.map(q => q.s.shape))],
          tint = hues(shapes);
    const stored = board.ceilings.filter(c => c.device_name === points[0].p.device_name).at(-1)?.content,
          kinds = new Set(points.map(q => q.light.rate_kind));
    const peaks = stored?.rates
      ? Object.entries(stored.rates).filter(e => kinds.has(e[0])).map(([kind, rate]) => ({kind, rate}))
      : [...groups(points.filter(q => q.light.rate > 0), q => q.light.rate_kind)].map(
          ([kind, list]) => ({kind, rate: Math.max(...list.map(q => q.light.rate))}));
    const copies = stored?.bandwidth?.length
      ? [...groups(stored.bandwidth, w => w.level)].map(
          ([level, list]) => ({level, rate: Math.max(...list.map(w => w.bytes_per_second))}))
      : [...groups(points.filter(q => q.light.copy_ns > 0), q => q.light.copy_level)].map(
          ([level, list]) => ({level, rate: Math.max(...list.map(q => q.light.bytes / q.light.copy_ns * 1e9))}));
    const frame = chart(main,
      'Rate by intensity. Diagonals: bandwidth of a copy; horizontals: peak rates. A click shows the kernel.', width,
      height, (svg, tell) => {
        const ridges = peaks.flatMap(p => copies.map(c => p.rate / c.rate)),
              x = logScale([...points.map(q => q.x), ...ridges].flatMap(v => [v / 2, v * 2]), [left, width - 20]);
        const y = logScale([...points.map(q => q.y), ...peaks.flatMap(p => [p.rate / 8, p.rate * 1.6])],
          [height - 48, 28]); // room for the diagonals
        axis(svg, x, 'bottom', height - 48, height - 76, 'operations a byte');
        axis(svg, y, 'left', left, width - 20 - left, 'operations a second', d3.format('.2~s'));
        const [x0, x1] = x.domain(), [y0, y1] = y.domain(), roof = Math.max(...peaks.map(p => p.rate), 0) || y1;
        // Levels of about one speed share a line, and their names stand along it.
        for (const alike of groups(copies, c => copies.find(o => Math.abs(o.rate / c.rate - 1) < 0.15)).values()) {
          const rates = alike.map(c => c.rate), rate = Math.max(...rates), least = Math.min(...rates),
                from = Math.max(x0, y0 / rate), to = Math.min(x1, roof / rate);
          if (from >= to) continue;
          const [left, low, right, high] = [x(from), y(from * rate), x(to), y(to * rate)];
          svg.append('line')
            .attr('x1', left)
            .attr('x2', right)
            .attr('y1', low)
            .attr('y2', high)
            .attr('stroke', 'var(--mute)')
            .attr('stroke-width', 1.5);
          svg.append('text')
            .text(`${alike.map(c => c.level).join('; ')} ${
              least < 0.95 * rate ? d3.formatPrefix('.2~', rate)(least).slice(0, -1) + ' to '
                                  : ''}${d3.format('.3~s')(rate)}B/s`)
            .attr('class', 'ink')
            .attr('x', 8)
            .attr('y', -5)
            .attr(
              'transform', `translate(${left},${low}) rotate(${Math.atan2(high - low, right - left) * 180 / Math.PI})`);
        }
        peaks.forEach((p, i) => {
          const from = copies.length ? Math.max(x0, p.rate / Math.max(...copies.map(c => c.rate))) : x0;
          svg.append('line')
            .attr('x1', x(from))
            .attr('x2', x(x1))
            .attr('y1', y(p.rate))
            .attr('y2', y(p.rate))
            .attr('stroke', 'var(--mute)')
            .attr('stroke-width', 1.5);
          svg.append('text')
            .text(`${p.kind} ${d3.format('.3~s')(p.rate)}op/s`)
            .attr('x', x(x1))
            .attr('y', y(p.rate) - 6 - 15 * i)
            .attr('text-anchor', 'end')
            .attr('class', 'ink');
        });
        svg.append('g')
          .selectAll('a')
          .data(points)
          .join('a')
          .attr('href', q => link({page: 'candidate', id: q.p.candidate_id}))
          .on('mouseenter',
            function() {
              const q = d3.select(this).datum();
              tell(`#${q.p.candidate_id} at ${q.s.shape}: ${percent(q.light.fraction)} of the speed of light, bound: ${
                q.light.bound}`);
            })
          .on('mouseleave', () => tell())
          .append('circle')
          .attr('cx', q => x(q.x))
          .attr('cy', q => y(q.y))
          .attr('r', 5)
          .attr('fill', q => tint(q.s.shape))
          .attr('fill-opacity', .8);
      });
    const above =
      points.some(q => q.light.rate_kind === 'f32' && peaks.some(p => p.kind === 'f32' && q.y > 1.03 * p.rate));
    if (above)
      main.append(note(
        'A kernel above the f32 roof splits its factors for the tensor cores, or does less than the stated operations.'));
    if (frame) frame.append(legend(shapes.map(s => [s, tint(s)])));
  },
};
