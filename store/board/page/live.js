// A page that `winnow serve` sends asks its server for newer data.
const pollEvery = 5000, quietFor = 30000; // ms
let touched = Date.now();
async function poll() {
  let version = null;
  try {
    const answer = await fetch('version', {cache: 'no-store'});
    version = answer.ok ? (await answer.text()).trim() : null;
  } catch { /* the server is not there; it may come back */
  }
  if (version === null || version === board.live_version) {
    setTimeout(poll, pollEvery);
    return;
  }
  const reload = () => location.reload(); // the fragment stays, so the page stays where it is
  document.getElementById('foot').append(
    ' ', h('button', {id: 'newer', class: 'plain', on: {click: reload}}, 'There are newer results: show them'));
  setInterval(() => {
    if (Date.now() - touched > quietFor) reload();
  }, 1000); // nobody is reading
}
for (const event of ['pointerdown', 'keydown', 'wheel', 'scroll'])
  window.addEventListener(event, () => { touched = Date.now(); }, {passive: true});
setTimeout(poll, pollEvery);
