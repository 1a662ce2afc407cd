// Answers: what a person asks a board. The sentences are those of `winnow leaderboard`.
const summaryOf = b => board.summaries.find(s => ofBoard(s, b)), withoutFinal = b => summaryOf(b)?.final_at === null;
const leftOutOf = first =>
  board.not_ranked.filter(k => ['task', 'task_digest', 'device', 'device_name'].every(name => k[name] === first[name]));
const command = text => h('code', {class: 'command', title: 'A click selects the command.'}, text);
const spent = c => c ? `${counted(c.calls, 'call')}, ${
                         known(c.dollars) ? (c.calls_without_price ? 'at least ' : '') + dollars(c.dollars)
                                          : 'price unknown'}, ${digits(c.device_seconds, 1)} s of the device`
                     : none;
/// Saves a text as a file.
function download(name, type, text) {
  const anchor = document.createElement('a');
  anchor.href = URL.createObjectURL(new Blob([text], {type}));
  anchor.download = name.replace(/[^\w.-]+/g, '-').replace(/^(.{60}).*(\.\w+)$/, '$1$2');
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(anchor.href), 10000);
}
function downloadKernel(c) {
  const save = text => text === null ? button.replaceWith('The kernel file is not in this page. The store has it.')
                                     : download(`${c.task}-${c.candidate_id}.cu`, 'text/plain', text);
  const button = h('button', {
    class: 'plain',
    on: {click: () => part('kernels', c.candidate_id).then(save, error => button.replaceWith(error.message))}
  },
    'Download the kernel file');
  return button;
}
/// A speedup, or why there is none.
const heldOut = p => known(p?.held_out_speedup) ? speed(p.held_out_speedup) : p?.held_out_note || null;
/// The answers of a board, with links, commands to copy and the kernel's file.
function answers(b) {
  const summary = summaryOf(b), leader = byId.get(summary?.leader),
        more = leader ? {ship: [' ', toCandidate(leader.candidate_id)], 'take it': [' ', downloadKernel(leader)]} : {};
  return h('dl', {class: 'answers'},
    (summary?.answers ?? [{question: 'ship', answer: 'no kernel: none has a rank'}])
      .map(a => [h('dt', {}, a.question),
             h('dd', {class: a.question === 'sure' && !summary.final_at ? 'unsure' : null}, a.answer,
               a.command ? [' ', command(a.command)] : null, more[a.question])]));
}
/// Correct kernels without a place.
const leftOut = list => list.length ? [h('h3', {}, 'Correct, but not ranked'), table(list, [{name: 'kernel', value: k => k.candidate_id, cell: k => toCandidate(k.candidate_id)}, {name: 'task', value: k => k.task}, {name: 'by', value: author},
  {name: 'speedup', num: true, value: k => k.speedup, cell: k => `${speedOf(k)} (${bounds(k)})`}, {name: 'why', wide: true, value: k => k.reason}], {id: 'left-out-rows'}),
  list[0].of > list.length ? note(`${list[0].of - list.length} more are not in this page. The store has them.`) : ''] : [];
