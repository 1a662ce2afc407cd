// Charts, drawn with D3: whiskers on a log axis, samples, legends. Without D3 the tables say it all.
const hasD3 = typeof d3 !== 'undefined';
const hue = i => i < 8 ? `var(--s${i})` : 'var(--grey)';
const hues = names => {
  const order = [...new Set(names)];
  return name => hue(order.indexOf(name));
};
/// One colour for each verdict on all pages; green, the third, is for none of the failures.
const verdictHues = () => {
  const [first = '', ...rest] =
    [...new Set([...byId.values()].map(c => c.verdict))].filter(v => v !== 'correct').sort();
  return hues(['correct', first, '', ...rest]);
};
/// A chart of this size in a frame; draw(svg) fills it. Below it is the line that a mark under the pointer explains.
function chart(main, label, width, height, draw) {
  if (!hasD3 && !main.querySelector('.no-d3'))
    main.append(h('p', {class: 'warn no-d3'}, 'This page was made without D3, so it has tables and no charts.'));
  if (!hasD3) return null;
  const svg = d3.create('svg')
                .attr('viewBox', `0 0 ${width} ${height}`)
                .attr('width', width)
                .attr('height', height)
                .attr('role', 'img')
                .attr('aria-label', visible(label)),
        tip = h('div', {class: 'tip'}, label);
  draw(svg, text => { tip.textContent = visible(text ?? label); });
  const save = h('button', {
    class: 'plain svg',
    title: 'Download this chart as an SVG file',
    on: {click: () => download(label + '.svg', 'image/svg+xml', svgText(svg.node()))}
  },
    'SVG');
  return main.appendChild(h('figure', {}, svg.node(), save, tip));
}
/// The chart as a file that needs no style sheet: colours and fonts are those that the page shows now.
function svgText(svg) {
  const copy = d3.select(svg.cloneNode(true)), shown = [svg, ...svg.querySelectorAll('*')];
  copy.selectAll('a').attr('href', null); // it leads to a place of this page
  for (const name of ['fill', 'stroke', 'font-family', 'font-size'])
    [copy.node(), ...copy.node().querySelectorAll('*')].forEach(
      (node, i) => node.setAttribute(name, getComputedStyle(shown[i]).getPropertyValue(name)));
  copy.insert('rect', '*')
    .attr('width', '100%')
    .attr('height', '100%')
    .attr('fill', getComputedStyle(svg.parentNode).backgroundColor);
  return new XMLSerializer().serializeToString(copy.node());
}
const roomFor = main => Math.max(300, Math.min(1180, (main.clientWidth || 1000) - 20)), isNarrow = width => width < 560;
/// A log scale that holds the values, with some room.
function logScale(values, range, around = null) {
  const list = values.filter(v => known(v) && v > 0).concat(around ?? []),
        [low, high] = list.length ? [Math.min(...list), Math.max(...list)] : [1, 1],
        room = Math.max(1.03, Math.pow(high / low, 0.04));
  return d3.scaleLog().domain([low / room, high * room]).range(range).clamp(true);
}
/// Ticks that do not overlap: powers and round steps between them, or evenly spaced ones in a narrow range.
function logTicks(scale, most) {
  const [low, high] = scale.domain();
  if (high / low < 4) return d3.scaleLinear().domain([low, high]).ticks(Math.min(most, 6));
  for (const steps of [[1, 2, 5], [1, 3], [1]]) {
    const inside = d3.range(Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)) + 1)
                     .flatMap(p => steps.map(s => s * 10 ** p))
                     .filter(v => v >= low && v <= high);
    if (inside.length <= most) return inside;
  }
  return scale.ticks(most).filter((v, i, all) => i % Math.ceil(all.length / most) === 0);
}
const whole = d => String(d);
const plain = x => x >= 1000 ? d3.format('.3~s')(x) : String(Number(x.toPrecision(3)));
function axis(svg, scale, side, at, length, title, format = plain, log = true) {
  const span = Math.abs(scale.range()[1] - scale.range()[0]),
        most = Math.max(2,
          Math.floor(span /
            (side !== 'bottom' ? 34
                : span < 260   ? 45
                               : 70)));
  const make = side === 'bottom' ? d3.axisBottom(scale) : d3.axisLeft(scale),
        ticks = (log ? logTicks(scale, most) : scale.ticks(most)).filter(t => format !== whole || Number.isInteger(t));
  svg.append('g')
    .attr('class', 'grid')
    .attr('transform', side === 'bottom' ? `translate(0,${at})` : `translate(${at},0)`)
    .call(make.tickValues(ticks).tickSize(-length).tickFormat(format).tickPadding(6))
    .call(g => g.select('.domain').remove());
  const [x, y, anchor] =
    side === 'bottom' ? [scale.range()[1], at + 34, 'end'] : [at - 34, Math.min(...scale.range()) - 8, 'start'];
  svg.append('text').text(title).attr('font-size', 12).attr('x', x).attr('y', y).attr('text-anchor', anchor);
}
/// The text, cut to so many pixels.
function fitted(text, room) {
  const shown = visible(text), letters = Math.floor(room / 7.7);
  return shown.length > letters ? shown.slice(0, letters - 1) + '\u2026' : shown;
}
/// Rows {label, short, low, mid, high, color, href, tip} as whiskers below each other. lines: {at, text}. share: of values from 0 to 1, not of speedups.
function whiskers(main, label, rows, {
  lines = [],
  title = `speedup against ${lines.find(l => l.at === 1)?.text ?? everyVersus}`,
  href = r => r.href,
  whole = false,
  share = false
} = {}) {
  if (!rows.length) return null;
  const width = roomFor(main), narrow = isNarrow(width),
        left = narrow ? 124 : Math.min(310, Math.max(170, width * 0.27)), right = narrow ? 62 : 170, step = 20,
        marks = lines.filter(l => known(l.at) && l.at > 0);
  const top = 12 + 15 * marks.length, bottom = top + step * rows.length;
  return chart(main, label, width, bottom + 42, (svg, tell) => {
    // Slow rows would squeeze the whiskers of the fast ones, so a row far below stands at the edge, with an arrow.
    const best = Math.max(...rows.map(r => r.mid)), fast = rows.filter(r => r.mid > best / 3),
          near = whole || fast.length < 2 ? rows : fast;
    const ends = near.flatMap(r => [r.low ?? r.mid, r.mid, r.high ?? r.mid]), reach = near === rows ? Infinity : 2;
    const x = share
      ? d3.scaleLinear([0, 1], [left, width - right])
      : logScale(ends, [left, width - right],
          marks.map(l => l.at).filter(at => at > Math.min(...ends) / reach && at < Math.max(...ends) * reach));
    const [lowest, highest] = x.domain(),
                   arrow = (at, text) => at < lowest ? '\u25c2 ' + text
      : at > highest                                 ? text + ' \u25b8'
                                                     : text;
    axis(svg, x, 'bottom', bottom, bottom - top, title, v => plain(v) + (share ? '' : 'x'), !share);
    marks.forEach((l, i) => {
      const at = x(l.at), end = at > width * 0.55;
      svg.append('line')
        .attr('x1', at)
        .attr('x2', at)
        .attr('y1', 14 + 15 * i)
        .attr('y2', bottom)
        .attr('stroke', 'var(--mute)')
        .attr('stroke-dasharray', '3 3');
      svg.append('text')
        .text(visible(arrow(l.at, l.text)))
        .attr('x', at + (end ? -4 : 4))
        .attr('y', 14 + 15 * i)
        .attr('text-anchor', end ? 'end' : 'start');
    });
    const row = svg.selectAll('a.row')
                  .data(rows)
                  .join('a')
                  .attr('class', 'row')
                  .attr('href', href)
                  .attr('transform', (r, i) => `translate(0,${top + step * i + step / 2})`)
                  .on('mouseenter', function() { tell(d3.select(this).datum().tip); })
                  .on('mouseleave', () => tell());
    row.append('rect')
      .attr('x', 0)
      .attr('y', -step / 2)
      .attr('width', width)
      .attr('height', step)
      .attr('fill', 'transparent');
    row.append('text')
      .attr('x', left - 10)
      .attr('y', 4)
      .attr('text-anchor', 'end')
      .attr('class', 'ink')
      .text(r => fitted(narrow ? r.short ?? r.label : r.label, left - 14));
    row.filter(r => known(r.low) && r.mid >= lowest)
      .append('path')
      .attr('stroke', r => r.color ?? hue(0))
      .attr('stroke-width', 2)
      .attr('fill', 'none')
      .attr('d', r => `M${x(r.low)},-4V4M${x(r.low)},0H${x(r.high)}M${x(r.high)},-4V4`);
    row.filter(r => r.mid < lowest)
      .append('path')
      .attr('d', `M${left - 4},0l8,-5v10z`)
      .attr('fill', r => r.color ?? hue(0));
    row.filter(r => r.mid >= lowest)
      .append('circle')
      .attr('cx', r => x(r.mid))
      .attr('r', 3.5)
      .attr('fill', r => known(r.low) ? r.color ?? hue(0) : 'var(--card)')
      .attr('stroke', r => r.color ?? hue(0))
      .attr('stroke-width', 1.5);
    row.append('text')
      .attr('x', width - 4)
      .attr('y', 4)
      .attr('text-anchor', 'end')
      .text(r => (share ? digits(r.mid) : speed(r.mid, {speedup_low: r.low, speedup_high: r.high})) +
          (!narrow && known(r.low) && r.high > 0 ? ` (${digits(r.low)}\u2013${digits(r.high)})` : ''));
  });
}
/// The colors of a board: a baseline has its own.
const hueOf = names => {
  const of = hues(names.filter(n => n !== 'baseline'));
  return name => name === 'baseline' ? hue(3) : of(name);
};
/// series: {name, values} in order of measurement. Drift and two groups of times are seen here.
function strip(main, label, series) {
  const all = series.filter(s => s.values?.length),
        middle = median((all.find(s => s.name === 'candidate') ?? all[0])?.values ?? [1]);
  const shown =
    all.filter(s => s.name !== 'baseline' || median(s.values) < 4 * middle); // a slow one would flatten the others
  if (!shown.length) return null;
  const width = Math.min(1000, roomFor(main)), height = 206, left = 70, tint = hueOf(all.map(s => s.name));
  const frame = chart(main, label, width, height, (svg, tell) => {
    const y = logScale(shown.flatMap(s => s.values), [height - 46, 24]),
          x = d3.scaleLinear().domain([0, Math.max(1, ...shown.map(s => s.values.length - 1))]).range([
            left + 12, width - 24
          ]);
    axis(svg, y, 'left', left, width - 16 - left, 'time', v => time(v).replace(/\.?0+ /, ' '));
    axis(svg, x, 'bottom', height - 40, 0, 'order of measurement', whole, false);
    const step = (x(1) - x(0)) / (shown.length + 1);
    shown.forEach((s, k) => {
      svg.append('g')
        .selectAll('circle')
        .data(s.values)
        .join('circle')
        .attr('cx', (v, i) => x(i) + Math.min(step, 8) * (k - (shown.length - 1) / 2))
        .attr('cy', v => y(v))
        .attr('r', 3)
        .attr('fill', tint(s.name))
        .attr('fill-opacity', .75)
        .on('mouseenter', function() { tell(`${s.name}: ${time(d3.select(this).datum())}`); })
        .on('mouseleave', () => tell());
      svg.append('line')
        .attr('x1', left)
        .attr('x2', width - 16)
        .attr('y1', y(median(s.values)))
        .attr('y2', y(median(s.values)))
        .attr('stroke', tint(s.name))
        .attr('stroke-opacity', .6);
    });
  });
  if (frame)
    frame.append(
      legend(all.map(s => [`${s.name}: median ${time(median(s.values))} of ${counted(s.values.length, 'sample')}` +
                         (shown.includes(s) ? '' : ', above the chart'),
                       shown.includes(s) ? tint(s.name) : 'none'])));
  return frame;
}
const legend = entries =>
  h('div', {class: 'legend'}, entries.map(([text, color]) => h('span', {}, swatch(color), text)));
const swatch = color => !hasD3
  ? ''
  : d3.create('svg')
      .attr('width', 10)
      .attr('height', 10)
      .call(s => s.append('rect').attr('width', 10).attr('height', 10).attr('rx', 2).attr('fill', color))
      .node();
const whiskerRow = (p, color) => ({
  label: `${rank(p)}  ${author(p)} #${p.candidate_id}`,
  short: `${rank(p)}  #${p.candidate_id} ${author(p)}`,
  low: p.speedup_low,
  mid: p.speedup,
  high: p.speedup_high,
  color,
  href: link({page: 'candidate', id: p.candidate_id}),
  tip: `#${p.candidate_id}: ${speedOf(p)} (${bounds(p)}), ${time(p.score_ns)}, rank ${rank(p)}${
    p.unranked ? ', ' + p.unranked : ''}; a click shows the samples`
});
