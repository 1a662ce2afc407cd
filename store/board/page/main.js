// Shows the page that the fragment names.
let shown = 0;
async function show() {
  const state = readState(), mine = ++shown, main = document.getElementById('main'), page = pages[state.page];
  delete document.body.dataset.ready;
  document.getElementById('tabs').replaceChildren(...Object.entries(pages).map(([name, p]) => h('a', {
    href: link({page: name, ...(state.board ? {board: state.board} : {})}),
    class: name === state.page ? 'now' : null,
    'aria-current': name === state.page ? 'page' : null
  },
                                                                                 p.title)));
  document.title = `${page.title} \u2013 Winnow`;
  const box = h('div');
  main.replaceChildren(box); // before drawing, because charts fit the width
  try {
    await page.draw(box, state);
  } catch (error) { box.append(h('p', {class: 'warn bad'}, 'This page could not be drawn in full: ' + error.message)); }
  if (mine === shown) document.body.dataset.ready = state.page;
}
document.getElementById('foot').append(`Made by Winnow ${board.winnow} at ${board.made_at} from ${board.store}. ${
  board.with_prompts ? 'It has prompts and replies.'
                     : 'It has no prompts and no replies.'} Of hidden shapes it has only the verdicts.`);
window.addEventListener('hashchange', () => {
  window.scrollTo(0, 0);
  show();
});
window.addEventListener('resize', () => {
  clearTimeout(show.later);
  show.later = setTimeout(show, 250);
});
show();
