// Candidate: one kernel with everything that is known of it.
pages.candidate = {
  title: 'Candidate',
  async draw(main, state) {
    const c = byId.get(Number(state.id)) ?? byId.get(places[0]?.candidate_id) ?? candidates[0];
    if (!c) return nothing(main);
    if (state.id && String(c.candidate_id) !== state.id)
      main.append(note(`This page has no candidate ${state.id}. This is candidate ${c.candidate_id}.`, 'warn'));
    main.append(h('h2', {}, `#${c.candidate_id} ${c.task}, by ${c.by}`), this.chooser(c));
    const p = placeOf.get(c.candidate_id);
    main.append(h('div', {class: 'cols'}, this.facts(c, p), this.family(c, p)));
    if (c.speedup > 0)
      main.append(note(
        'Speedups and times are geometric means over the search shapes. Each measurement is of another hour: compare kernels by a race or a final.'));
    this.heldOut(main, p);
    const result = await part('results', c.candidate_id);
    if (result) {
      const judge = judgeText(result);
      if (judge) main.append(h('p', {}, `Judged on ${judge}.`));
      await this.measured(main, c, result);
    }
    await this.source(main, c, state);
    if (result?.log) main.append(h('h3', {}, 'Compiler log'), h('pre', {}, result.log));
    if (board.with_prompts) await this.conversation(main, c);
  },
  chooser: c => h('form', {
    class: 'bar',
    on: {
      submit: event => {
        event.preventDefault();
        go({page: 'candidate'}, {id: event.target.elements.id.value.trim()});
      }
    }
  },
    h('label', {}, 'Candidate ', h('input', {name: 'id', inputmode: 'numeric', size: 7, value: c.candidate_id})),
    h('button', {class: 'plain'}, 'Open')),
  facts(c, p) {
    const over = r => `${speedOf(r)} over ${versusOf(c)}, 95 %: ${bounds(r)}`;
    const proof = (p ?? board.not_ranked.find(k => k.candidate_id === c.candidate_id))?.task_proof;
    return facts([
      ['Task', proof ? h('span', {class: 'unsure'}, proof) : null],
      [
        'Verdict',
        h('span', {class: c.verdict === 'correct' ? null : 'bad'},
          c.verdict + (c.stage && c.verdict !== 'correct' ? `, at stage ${c.stage}` : ''))
      ],
      ['Why', c.verdict === 'correct' ? null : c.detail],
      [
        'Rank',
        p ? rank(p) + (p.unranked ? ` (${p.unranked})` : '') + (p.tied ? ', shared: no race tells them apart' : '') +
            (p.rank !== null && p.flag ? '; no final yet, so the order is provisional' : '')
                                  : none
      ],
      ['Speedup in the final', inFinal(p) ? over(p) : null], ['Speedup when judged', c.speedup > 0 ? over(c) : null],
      ['At held-out shapes', heldOut(p)], ['Flag', p?.fitted],
      ['Time in the final', inFinal(p) ? time(p.score_ns) : null],
      ['Time when judged', c.score_ns > 0 ? time(c.score_ns) : null], ['Parameters', parameters(c.parameters) || none],
      [
        'Device',
        c.device_name ? `${c.device_name}, isolation ${c.isolation}, evaluator ${c.evaluator_version}`
                      : 'not evaluated yet'
      ],
      ['Not ranked', board.not_ranked.find(k => k.candidate_id === c.candidate_id)?.reason],
      [
        'Take it',
        board.summaries.filter(s => s.leader === c.candidate_id && c.origin !== 'baseline')
          .slice(0, 1)
          .map(s => command(s.export_command))[0]
      ]
    ]);
  },
  family(c) {
    const leader = boards.find(b => b.rows.includes(placeOf.get(c.candidate_id)))?.first,
          children = candidates.filter(o => (o.parents ?? []).includes(c.candidate_id)).slice(0, 30),
          links = ids => ids.flatMap((id, i) => [i ? ', ' : '', withAuthor(id)]), comparisons = [
            c.parents?.length
              ? h('a', {href: link({page: 'ab', a: c.candidate_id, b: c.parents[0]})}, 'with its parent')
              : null,
            leader && leader.candidate_id !== c.candidate_id
              ? h('a', {href: link({page: 'ab', a: c.candidate_id, b: leader.candidate_id})}, 'with the leader')
              : null
          ].filter(Boolean);
    return facts([
      ['Run', `${runOf.get(c.run_id)?.run ?? '?'}${c.call_key ? ', call ' + c.call_key : ''}`],
      ['Made', c.created_at ? c.created_at.slice(0, 19).replace('T', ' ') + ' UTC' : null],
      ['File', shortDigest(c.digest)],
      ['Tokens', c.completion_tokens > 0 ? `${count(c.prompt_tokens)} in, ${count(c.completion_tokens)} out` : null],
      ['Cost', c.origin === 'model' ? dollars(c.dollars) : null],
      ['Builds on', c.parents?.length ? h('span', {}, links(c.parents)) : 'nothing'],
      ['Used by', children.length ? h('span', {}, links(children.map(o => o.candidate_id))) : 'nobody'],
      ['Compare', comparisons.length ? h('span', {}, comparisons.flatMap((a, i) => [i ? ', ' : '', a])) : null],
      ...this.races(c),
      ...board.measurements.filter(m => m.candidate_id === c.candidate_id)
        .map(m => [`By winnow ${m.asked_by}`,
               `${speedOf(m)}, 95 %: ${bounds(m)}; time ${time(m.score_ns)}; on ${m.started_at.slice(0, 10)}`])
    ]);
  },
  /// The newest race of each source and rival: two sources are two measurements.
  races:
    c => [...groups(racesAt(c).map(r => seenFrom(c.kernel, r)), r => r.source + r.rival).values()].slice(0, 12).map(
      ([r]) => ['Race',
        h('span', {}, 'against ',
          byKernel.get(r.rival) ? withAuthor(byKernel.get(r.rival).candidate_id)
                                : `the kernel ${shortDigest(r.rival)}, which is no candidate here`,
          `: ${raceText(r)}`)]),
  heldOut(main, p) {
    for (const counts of [true, false]) {
      const shapes = p?.held_out.filter(s => s.counts === counts);
      if (shapes?.length)
        main.append(h('h3', {}, `Held-out shapes that ${counts ? '' : 'do not '}count`), table(shapes, [
          {name: 'shape', value: s => s.shape}, {name: 'time', num: true, cell: s => time(s.median_ns)},
          {name: p.speedup_versus, num: true, cell: s => time(s.baseline_median_ns)},
          {name: 'speedup', num: true, cell: s => speed(s.speedup)},
          {name: 'speed / at search shapes', num: true, cell: s => digits(s.share)},
          {name: 'beside', value: s => s.beside_alternative ? p.best_alternative : p.speedup_versus}
        ]));
    }
  },
  async measured(main, c, result) {
    if (result.detail && c.verdict !== 'correct' && result.detail.length > (c.detail ?? '').length)
      main.append(h('h3', {}, 'Why, in full'), h('pre', {}, result.detail));
    const timed = result.cases.filter(k => k.median_ns > 0);
    if (timed.length) {
      main.append(h('h3', {}, 'At each search shape'));
      whiskers(main, 'Speedup at each search shape', timed.map(k => ({
        label: k.shape,
        low: k.speedup_low,
        mid: k.speedup,
        high: k.speedup_high,
        tip: `${k.shape}: ${speedOf(k)} (${bounds(k)})`,
        href: null
      })),
        {lines: [{at: 1, text: versusOf(c)}]});
      main.append(table(timed, caseColumns(versusOf(c))));
      const samples = await part('samples', c.candidate_id);
      main.append(h('h3', {}, 'Samples, in the order of measurement'));
      if (!samples) main.append(note('The samples are not in this page. The store has them.'));
      for (const k of samples ? timed : []) {
        main.append(h('p', {}, k.shape + conditions(k.conditions)));
        const series = Object.entries(samples[k.case_id] ?? {}).map(([name, values]) => ({name, values}));
        strip(main, `Times at ${k.shape}`, series);
        main.append(h('details', {}, h('summary', {}, 'The numbers, in ns'),
          h('pre', {}, series.map(s => s.name + ': ' + s.values.join(' ')).join('\n'))));
      }
    }
    this.checks(main, result);
    const shapes = profileOf.get(c.candidate_id);
    if (shapes?.length)
      main.append(h('h3', {},
                    `Speed of light and counters, from ${
                      board.measurements.some(m => m.candidate_id === c.candidate_id && m.asked_by === 'profile')
                        ? 'winnow profile'
                        : 'when it was judged'}`),
        table(shapes, lightColumns));
    const kernels = result.kernels ?? [];
    if (kernels.length)
      main.append(h('h3', {}, 'Compiled code'),
        note([result.compiler, result.architecture, ...(result.features ?? [])].filter(Boolean).join(', ')),
        table(kernels, [
          {name: 'kernel', value: k => k.kernel}, {name: 'registers', num: true, value: k => k.registers},
          {name: 'spilled bytes', num: true, cell: k => `${k.spill_store_bytes} stored, ${k.spill_load_bytes} loaded`},
          {name: 'stack', num: true, value: k => k.stack_bytes},
          {name: 'static shared', num: true, value: k => k.static_shared_bytes}
        ]));
    for (const f of result.findings ?? [])
      main.append(note(`Finding in the machine code: ${f.kind}: ${f.detail}`, 'warn'));
    for (const text of result.notes ?? []) main.append(note('Note: ' + text));
  },
  checks(main, result) {
    const failed = result.cases.filter(k => k.verdict !== 'correct'),
          tiny = result.cases.filter(k => k.shape_set === 'tiny');
    main.append(h('h3', {}, 'Checks'), note([
      `tiny shapes: ${tiny.filter(k => k.verdict === 'correct').length} of ${tiny.length} correct`,
      ...result.hidden.map(k => `${k.shape_set} shapes (hidden): ${k.cases} ${k.verdict}`)
    ].join('; ') + '.'));
    if (failed.length)
      main.append(table(failed, [
        {name: 'shape', value: k => k.shape}, {name: 'stage', value: k => k.stage},
        {name: 'verdict', value: k => k.verdict}, {name: 'detail', wide: true, value: k => k.detail}, {
          name: 'pattern',
          value: k => k.mismatch
            ? `${k.mismatch.tensor}: ${k.mismatch.wrong} of ${k.mismatch.total} wrong, ${k.mismatch.pattern}`
            : none
        }
      ]));
  },
  async source(main, c, state) {
    const text = await part('kernels', c.candidate_id);
    main.append(h('h3', {}, 'Kernel file'));
    if (text === null)
      return main.append(note(c.verdict === 'bad_reply' || c.verdict === 'not_judged'
          ? 'The reply has no kernel file that was judged.'
          : 'The kernel file is not in this page. The store has it.'));
    main.append(h('div', {class: 'bar'}, downloadKernel(c),
      h('span', {class: 'soft'},
        parameters(c.parameters)
          ? 'The parameters in the file have the values of its author; winnow export kernel writes those of the board.'
          : '')));
    const other = byId.get(Number(state.diff)), others = [
      c.parents?.[0] && [c.parents[0], `its parent, #${c.parents[0]}`],
      ...(c.parents ?? []).slice(1).map(id => [id, `#${id}`])
    ].filter(Boolean);
    if (others.length)
      main.append(
        h('div', {class: 'bar'}, choice('Show the difference to', 'diff', [['', 'nothing'], ...others], state)));
    main.append(other ? diffView(await part('kernels', other.candidate_id) ?? '', text) : codeView(text));
  },
  async conversation(main, c) {
    const talk = await part('conversations', c.candidate_id);
    for (const m of talk?.messages ?? [])
      main.append(h('details', {}, h('summary', {}, `Prompt: ${m.role}`), h('pre', {}, m.text)));
    if (talk) main.append(h('details', {}, h('summary', {}, 'Reply'), h('pre', {}, talk.reply)));
  },
};
/// A link with the author's name: a bare number says little.
const withAuthor = id => toCandidate(id, `#${id}${byId.get(id) ? ' by ' + byId.get(id).by : ''}`);
const whyStopped = {
  budget: 'the time for it was spent',
  max_samples: 'there were enough samples',
  converged: 'the interval was narrow enough'
};
const conditions = k => k ? ': ' +
    [
      k.stopped_by && 'stopped because ' + (whyStopped[k.stopped_by] ?? k.stopped_by),
      k.median_clock_mhz && Math.round(k.median_clock_mhz) + ' MHz', k.temperature_c && k.temperature_c + ' \u00b0C',
      k.power_w && Math.round(k.power_w) + ' W',
      k.outliers && k.outliers + (k.outliers === 1 ? ' outlier' : ' outliers'), k.drift && `drift ${percent(k.drift)}`,
      k.bimodal && 'two groups of times', k.discarded && k.discarded + ' discarded', ...(k.throttle_reasons ?? [])
    ].filter(Boolean)
      .join(', ')
                          : '';
const caseColumns =
  versus => [{name: 'shape', value: k => k.shape}, {name: 'time', num: true, cell: k => time(k.median_ns)}, {
    name: '95 % interval',
    num: true,
    cell: k => known(k.median_low_ns) ? `${time(k.median_low_ns)} \u2013 ${time(k.median_high_ns)}` : 'no interval'
  },
    {name: versus, num: true, cell: k => time(k.baseline_median_ns)},
    {name: 'speedup', num: true, cell: k => speedOf(k)}, {name: '95 %', num: true, cell: bounds},
    {name: 'error / limit', num: true, cell: k => known(k.max_error_ratio) ? k.max_error_ratio.toPrecision(3) : none}];
const lightColumns = [
  {name: 'shape', value: s => s.shape}, {name: 'of light', num: true, cell: s => percent(s.speed_of_light?.fraction)},
  {name: 'bound', cell: s => s.speed_of_light?.bound ?? s.no_speed_of_light ?? none}, {
    name: 'limited by',
    wide: true,
    cell: s => (s.limiters ?? []).map(l => `${l.limiter}: ${l.because}`).join('; ') || none
  },
  {
    name: 'counters',
    wide: true,
    cell: s => Object.entries(s.counters?.counters ?? {})
                 .filter(e => known(e[1]?.value))
                 .map(([name, v]) => `${name} ${count(Number(v.value.toPrecision(4)))}`)
                 .join(', ') ||
      s.counters?.unavailable || none
  }
];
// ---- text of kernels ----
const tokens =
  /(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(^[ \t]*#[^\n]*)|\b(__global__|__device__|__shared__|__restrict__|__launch_bounds__|extern|template|typename|const|constexpr|static|inline|void|int|unsigned|float|double|bool|char|short|long|auto|struct|using|if|else|for|while|do|return|break|continue|switch|case|sizeof|namespace)\b/gm;
const codeLimit = 4000; // lines; longer lines than 20,000 characters are cut
function codeLine(line, open) {
  const nodes = [];
  let at = 0;
  if (line.length < 2000)
    for (const m of line.matchAll(tokens)) {
      nodes.push(visible(line.slice(at, m.index)),
        h('span', {class: m[1] ? 't-c'
            : m[2]             ? 't-s'
            : m[3]             ? 't-p'
                               : 't-k'},
          m[0]));
      at = m.index + m[0].length;
    }
  const rest = line.slice(at);
  return withMarks(
    [...nodes, rest.length > 20000 ? rest.slice(0, 20000) + ` [... ${rest.length - 20000} more characters]` : rest]);
}
/// The names of invisible marks stand out.
const withMarks = nodes =>
  nodes.flatMap(n => n instanceof Node ? [n]
                                       : visible(n)
                                           .split(/(\u27e8U\+[0-9A-F]{4}\u27e9)/)
                                           .map(t => /^\u27e8U/.test(t) ? h('span', {class: 'mark'}, t) : t));
const codeTable = rows => h('div', {class: 'code', tabindex: 0}, h('table', {}, h('tbody', {}, rows)));
function codeView(text) {
  const lines = text.replace(/\n$/, '').split('\n'), more = lines.length - codeLimit;
  const rows = lines.slice(0, codeLimit)
                 .map((line, i) => h('tr', {}, h('td', {class: 'line'}, i + 1), h('td', {}, codeLine(line))));
  return codeTable(more > 0 ? [...rows, h('tr', {}, h('td'), h('td', {}, `[... ${more} more lines]`))] : rows);
}
/// The lines of both texts as [' ', '-' or '+', line], by their longest common subsequence.
function lineDiff(before, after) {
  const a = before.split('\n'), b = after.split('\n'), middle = [];
  let head = 0, tail = 0;
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) ++head;
  while (tail < Math.min(a.length, b.length) - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) ++tail;
  const x = a.slice(head, a.length - tail), y = b.slice(head, b.length - tail), width = y.length + 1;
  if (x.length * y.length > 4e6)
    middle.push(...x.map(l => ['-', l]), ...y.map(l => ['+', l]));
  else {
    const best = new Uint16Array((x.length + 1) * width);
    for (let i = x.length - 1; i >= 0; --i)
      for (let j = y.length - 1; j >= 0; --j)
        best[i * width + j] = x[i] === y[j] ? best[(i + 1) * width + j + 1] + 1
                                            : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    let i = 0, j = 0;
    while (i < x.length || j < y.length) {
      if (i < x.length && j < y.length && x[i] === y[j]) {
        middle.push([' ', x[i]]);
        ++i;
        ++j;
      } else
        middle.push(i < x.length && (j === y.length || best[(i + 1) * width + j] >= best[i * width + j + 1])
            ? ['-', x[i++]]
            : ['+', y[j++]]);
    }
  }
  return [...a.slice(0, head).map(l => [' ', l]), ...middle, ...a.slice(a.length - tail).map(l => [' ', l])];
}
function diffView(before, after) {
  const lines = lineDiff(before, after), near = new Set(), rows = [];
  lines.forEach((l, i) => {
    if (l[0] !== ' ')
      for (let k = -4; k <= 4; ++k) near.add(i + k);
  });
  let one = 0, two = 0, skipped = 0;
  lines.forEach(([sign, line], i) => {
    one += sign !== '+', two += sign !== '-';
    if (!near.has(i)) return void ++skipped;
    if (skipped)
      rows.push(h('tr', {}, h('td', {class: 'line'}, '\u22ee'), h('td', {class: 'line'}),
        h('td', {class: 't-c'}, `${skipped} equal lines`)));
    skipped = 0;
    rows.push(h('tr', {class: sign === '+' ? 'add'
        : sign === '-'                     ? 'del'
                                           : null},
      h('td', {class: 'line'}, sign === '+' ? '' : one), h('td', {class: 'line'}, sign === '-' ? '' : two),
      h('td', {}, sign + ' ', codeLine(line))));
  });
  return near.size ? codeTable(rows) : note('The two texts are equal.');
}
/// Which of several devices of one model judged; empty: the store does not say.
const judgeText =
  result => [result.device_uuid, result.driver && `driver ${result.driver}`, result.worker && `worker ${result.worker}`]
              .filter(Boolean)
              .join(', ');
