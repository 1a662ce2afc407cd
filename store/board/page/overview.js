// Overview: runs, and the best of each model at each task.
pages.overview = {
  title: 'Overview',
  draw(main) {
    main.append(h('h2', {}, 'Who is fastest, and how sure that is'));
    main.append(note(
      `Speedup: time of ${
        everyVersus === 'baseline.cu'
          ? 'the task\u2019s own baseline.cu'
          : everyVersus} / time of the kernel, geometric mean over the search shapes; above 1 is faster. ` +
      'The range beside it is the 95 % interval: what another final may find. Ranks rest on the races of a final; kernels that no race tells apart share a rank (=2). ~: not sure, because the interval spans more than a factor of 100.'));
    for (const text of board.dropped)
      main.append(note('Left out, because the page would have been larger than asked for: ' + text + '.', 'warn'));
    if (!candidates.length) main.append(note('This store has no candidate yet.', 'warn'));
    this.leaders(main);
    main.append(...leftOut(
      board.not_ranked.filter(k => !boards.some(b => leftOutOf(b.first).includes(k))))); // of tasks without a board
    this.grid(main);
    this.runs(main);
  },
  leaders(main) {
    if (!boards.length) return;
    main.append(h('h3', {}, 'The leader of each board'));
    const open = boards.filter(withoutFinal), several = open.length > 1;
    if (open.length)
      main.append(h('p', {class: 'warn'},
        several && open.length === boards.length ? 'No board has a final yet'
                                                 : `${open.map(b => b.name).join('; ')}: no final yet`,
        ', so the order is provisional: the leaders were not timed against each other. ',
        several ? 'The page of each board has the command that holds a final.'
                : ['A final does that: ', command(summaryOf(open[0]).final_command)]));
    const label = new Set(boards.map(b => b.first.device_name)).size > 1 ? b => b.name : b => b.first.task;
    whiskers(main, 'The fastest kernel of each board, with its 95 % interval', boards.map(b => ({
      ...whiskerRow(b.first, b.first.origin === 'model' ? hue(0) : 'var(--grey)'),
      label: label(b),
      short: null,
      href: link({page: 'board', board: b.key})
    })),
      {lines: [{at: 1, text: everyVersus}], whole: true});
    main.append(table(boards, filled(boards, [
      {name: 'board', cell: b => h('a', {href: link({page: 'board', board: b.key})}, b.name)},
      {name: 'leader', cell: b => toCandidate(b.first.candidate_id, `#${b.first.candidate_id} ${author(b.first)}`)},
      {name: 'rank', num: true, cell: b => rank(b.first)}, {
        name: 'final',
        cell: b => h('span', {class: summaryOf(b)?.final_at ? 'whole' : 'unsure'},
          summaryOf(b)?.final_at?.slice(0, 10) ?? 'none yet')
      },
      {name: 'speedup', num: true, cell: b => speedOf(b.first)},
      {name: '95 % interval', num: true, cell: b => bounds(b.first)}, {
        name: 'held-out shapes',
        num: true,
        cell: b => [heldOut(b.first) ?? none, b.first.fitted].filter(Boolean).join('; ')
      },
      {name: 'of light', num: true, value: b => summaryOf(b)?.of_light, cell: b => percent(summaryOf(b)?.of_light)}, {
        name: 'times as fast as the best library',
        wide: true,
        value: b => summaryOf(b)?.versus_alternative,
        cell: b => summaryOf(b)?.alternative
          ? `${speed(summaryOf(b).versus_alternative, b.first)} (${summaryOf(b).alternative})`
          : none
      },
      {name: 'spent up to it', wide: true, value: b => summaryOf(b)?.cost?.calls, cell: b => spent(summaryOf(b)?.cost)},
      {name: 'kernels', num: true, cell: b => b.rows.length}
    ])));
  },
  grid(main) {
    const models = [...new Set(candidates.filter(c => c.origin !== 'baseline').map(c => c.by))],
          tasks = [...new Set(candidates.map(c => c.task))];
    if (!models.length) return;
    main.append(h('h3', {}, 'Models and tasks: the best speedup, or how far the model came'));
    const best = (model, task) => {
      const all = candidates.filter(c => c.by === model && c.task === task),
            top = all.map(c => placeOf.get(c.candidate_id)).filter(Boolean).sort((a, b) => b.speedup - a.speedup)[0];
      if (top)
        return toCandidate(top.candidate_id, [speedOf(top) + ' ', h('span', {class: 'whole'}, `(${bounds(top)})`)]);
      const failed = [...groups(all, c => c.verdict)].sort((a, b) => b[1].length - a[1].length)[0];
      return failed ? h('a', {href: link({page: 'verdicts', task, by: model})}, failed[0]) : none;
    };
    main.append(table(models, [{name: 'by', value: m => m}, ...tasks.map(t => ({name: t, cell: m => best(m, t)}))]));
  },
  runs(main) {
    main.append(h('h3', {}, 'Runs'));
    const cost = r => known(r.dollars)
      ? (r.calls_without_price || r.unconfirmed_sendings ? 'at least ' : '') + dollars(r.dollars)
      : 'unknown';
    main.append(table(board.runs, [
      {name: 'run', value: r => r.run}, {name: 'status', value: r => r.status},
      {name: 'started', value: r => r.started_at?.slice(0, 16).replace('T', ' ')},
      {name: 'device', value: r => r.device_name}, {name: 'isolation', value: r => r.isolation},
      {name: 'evaluator', num: true, value: r => r.evaluator_version},
      {name: 'candidates', num: true, cell: r => count(r.candidates)}, {
        name: 'calls',
        num: true,
        cell: r => count(r.calls) + (r.calls_from_record ? ` (${r.calls_from_record} recorded)` : '')
      },
      {
        name: 'tokens in / out',
        num: true,
        cell: r =>
          r.calls && !r.completion_tokens ? 'unknown' : `${count(r.prompt_tokens)} / ${count(r.completion_tokens)}`
      },
      {name: 'cost', num: true, cell: cost}
    ]));
  },
};
