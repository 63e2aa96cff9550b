/** The script of the overview. It writes text into nodes, never markup, so a name can be anything (I69). */
export const overviewScript = `
const EVERY_MS = 3000;
const byId = (id) => document.getElementById(id);
byId('address').textContent = location.host;

const ask = async (path) => {
  const answer = await fetch(path, { headers: { accept: 'application/json' } });
  if (answer.status === 401) { location.reload(); throw new Error('The session has ended.'); }
  if (!answer.ok) throw new Error('The server answers ' + answer.status + ' to ' + path + '.');
  return answer.json();
};
const cell = (content, className) => {
  const td = document.createElement('td');
  if (className) td.className = className;
  td.append(content);
  return td;
};
const link = (href, label) => {
  const a = document.createElement('a');
  a.href = href;
  a.textContent = label;
  return a;
};
const row = (...cells) => {
  const tr = document.createElement('tr');
  tr.append(...cells);
  return tr;
};
const ago = (at) => {
  const s = Math.round((Date.now() - Date.parse(at)) / 1000);
  const [n, unit] = s < 90 ? [s, 's'] : s < 5400 ? [s / 60, 'min'] : s < 129600 ? [s / 3600, 'h'] : [s / 86400, 'd'];
  return Math.round(n) + ' ' + unit;
};
const time = (at) => (at ? new Date(at).toLocaleString() : '–');
const colour = (run) => ({ succeeded: 'good', failed: 'bad', cancelled: 'soft' })[run.outcome] || (run.state === 'set_aside' ? 'bad' : 'busy');
const state = (run) => run.outcome || run.state.replace('_', ' ');
const took = (run) => (run.endedAt ? ((Date.parse(run.endedAt) - Date.parse(run.createdAt)) / 1000).toFixed(1) + ' s' : '');
const many = (page) => page.items.length + (page.cursor ? '+' : '');

async function show() {
  const [dags, runs, open, workers, nodes] = await Promise.all(
    ['/v1/dags?limit=100', '/v1/runs?limit=100', '/v1/runs?state=open&limit=500', '/v1/workers', '/v1/nodes'].map(ask));
  byId('dag-count').textContent = many(dags);
  byId('open-count').textContent = many(open);
  byId('worker-count').textContent = workers.items.length;
  const sum = (field) => workers.items.reduce((total, worker) => total + worker[field], 0);
  byId('slot-count').textContent = sum('running') + ' / ' + sum('slots');
  byId('node-count').textContent = nodes.items.length;
  byId('dags').replaceChildren(...dags.items.map((dag) => {
    const run = dag.lastRun;
    const plan = dag.schedule ? (dag.schedule.paused ? 'paused' : time(dag.schedule.nextAt)) : dag.event ? 'on ' + dag.event : '–';
    return row(
      cell(link('/v1/dags/' + encodeURIComponent(dag.name), dag.name)), cell(String(dag.version)), cell(String(dag.taskCount)),
      cell(run ? state(run) + ', ' + ago(run.createdAt) + ' ago' : '–', run ? 'state ' + colour(run) : 'soft'),
      cell(plan), cell(dag.description || '', 'wide soft'));
  }));
  byId('runs').replaceChildren(...runs.items.slice(0, 20).map((run) => row(
    cell(link('/v1/runs/' + run.id, run.id), 'mono'), cell(run.dag), cell(state(run), 'state ' + colour(run)),
    cell(run.cause, 'soft'), cell(ago(run.createdAt) + ' ago'), cell(took(run)))));
}

async function again() {
  const trouble = byId('trouble');
  try {
    if (!document.hidden) await show();
    trouble.hidden = true;
  } catch (error) {
    trouble.textContent = error.message;
    trouble.hidden = false;
  }
  setTimeout(again, EVERY_MS);
}
again();
`;
