/** The web UI in a real browser: how soon pages show, how smoothly they move, and what a long look at them costs. */
import { chromium, pause, type SignedIn, startUiRig, type UiRig, until } from '@signalbox/e2e';
import { atLeast, atMost } from './bar.ts';
import { type Figure, quantile } from './figure.ts';

const GRID_TASKS = 1_000;
const LARGE = 10_000;
const LINE = 'a line of a log that is as long as lines of logs usually are, '.repeat(2).slice(0, 99);

/** Each task writes 100 kB at once, about every second: what is written faster than it is stored is dropped. */
const LINES_AT_ONCE = 1_000;
const CHAT_PAUSE_MS = 1_000;
/** The log of one attempt has at most 8 MiB, so a log of 100 MB is that of a run. */
const LOG_TASKS = 20;

export async function webUi(scale: number): Promise<Figure[]> {
  if (chromium === null) throw new Error('Chromium is missing: node scripts/test-tools.mjs installs it.');
  const ui = await startUiRig();
  try {
    const logLines = Math.round(1_000_000 * scale);
    await ui.rig.addWorker(handlers(logLines / LOG_TASKS), { slots: 500 });
    // Without any dag the home page is the first steps.
    await ui.rig.ask('PUT', '/v1/dags/live', { name: 'live', tasks: [{ name: 'only', handler: 'noop' }] });
    const visitor = await ui.signIn();
    return [
      ...(await home(visitor)),
      ...(await grid(ui, visitor, Math.round(100 * scale))),
      ...(await largeRun(ui, visitor)),
      ...(await liveUpdates(ui, visitor, 20)),
      ...(await manyDags(ui, visitor, Math.round(10_000 * scale))),
      ...(await longLog(ui, visitor)),
      ...(await longSession(ui, visitor, RUNS_OF_AN_HOUR * scale)),
    ];
  } finally {
    await ui.stop();
  }
}

const handlers = (logLines: number) => ({
  noop: () => null,
  chat: async ({ log }: { log: { info(text: string): void } }) => {
    for (let written = 0; written < logLines; written += LINES_AT_ONCE) {
      for (let no = 0; no < LINES_AT_ONCE; no++) log.info(LINE);
      await pause(CHAT_PAUSE_MS);
    }
  },
});

async function home({ page, go }: SignedIn): Promise<Figure[]> {
  let bytes = 0;
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  const cold: number[] = [];
  for (let time = 0; time < 5; time++) {
    bytes = 0;
    cold.push(await timed(() => go('/').then(() => page.getByRole('heading', { name: 'Home' }).waitFor())));
  }
  await session.detach();
  return [
    { what: 'ui: home, first load to heading', value: quantile(cold, 0.5), unit: 'ms', bar: atMost({ goal: 1_000 }) },
    { what: 'ui: bytes of that load', value: bytes / 1000, unit: 'kB', bar: atMost({ must: 300 }) },
  ];
}

async function grid(ui: UiRig, { page, go }: SignedIn, runs: number): Promise<Figure[]> {
  const tasks = Array.from({ length: GRID_TASKS }, (_, no) => ({ name: `t${no}`, handler: 'noop' }));
  await ui.rig.ask('PUT', '/v1/dags/grid', { name: 'grid', tasks });
  for (let run = 0; run < runs; run++) await endedRun(ui, 'grid');
  // The server has read none of them yet.
  const cold = await timed(() => ui.rig.ask('GET', '/v1/dags/grid/grid?runs=100'));
  const shown = await timed(async () => {
    await go('/dags/grid?tab=grid');
    await page.getByRole('rowheader', { name: 't0', exact: true }).waitFor();
  });
  const asked = await fetchTimes(page, '/v1/dags/grid/grid?runs=100');
  const frames = await framesWhile(page, "document.querySelector('.virtual').scrollTop += 40");
  const size = `${runs} runs of ${GRID_TASKS} tasks`;
  return [
    { what: `ui: first request of the grid, ${size}`, value: cold, unit: 'ms', bar: atMost({ must: 300 }) },
    { what: 'ui: each later one', value: quantile(asked, 0.5), unit: 'ms', bar: atMost({ must: 300 }) },
    { what: 'ui: grid shown', value: shown, unit: 'ms' },
    frameFigure('ui: frames while the grid scrolls', frames),
  ];
}

/** From the click on DAGs to rows with everything that is shown of them. */
async function manyDags(ui: UiRig, { page, go }: SignedIn, dags: number): Promise<Figure[]> {
  await ui.rig.sql(`
    insert into dag (shard, dag_id, tenant_id, name, version_no)
      select d.shard, 1000000 + no, d.tenant_id, 'many-' || lpad(no::text, 5, '0'), d.version_no
        from dag d, generate_series(1, ${dags}) no where d.name = 'live';
    insert into dag_version (shard, dag_id, version_no, hash, spec, actor, at)
      select v.shard, 1000000 + no, v.version_no, v.hash, v.spec, v.actor, v.at
        from dag d join dag_version v on v.shard = d.shard and v.dag_id = d.dag_id and v.version_no = d.version_no,
          generate_series(1, ${dags}) no where d.name = 'live'`);
  const taken: number[] = [];
  for (let time = 0; time < 5; time++) {
    await go('/');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    taken.push(
      await timed(async () => {
        await page.getByRole('link', { name: 'DAGs', exact: true }).click();
        await page.getByRole('button', { name: 'Trigger many-00001' }).waitFor();
      }),
    );
  }
  const frames = await framesWhile(page, "document.querySelector('.dag-rows').scrollTop += 60");
  await ui.rig.sql(`delete from dag_version where dag_id > 1000000; delete from dag where dag_id > 1000000`);
  return [
    { what: `ui: list of ${dags} dags shown`, value: quantile(taken, 0.5), unit: 'ms', bar: atMost({ goal: 500 }) },
    frameFigure('ui: frames while it scrolls', frames),
  ];
}

async function largeRun(ui: UiRig, { page, go }: SignedIn): Promise<Figure[]> {
  const tasks = Array.from({ length: LARGE }, (_, no) => ({
    name: `t${no}`,
    handler: 'noop',
    needs: no === 0 ? [] : [`t${Math.floor((no - 1) / 20)}`],
  }));
  await ui.rig.ask('PUT', '/v1/dags/large', { name: 'large', tasks });
  const id = await endedRun(ui, 'large');
  const shown = await timed(async () => {
    await go(`/runs/${id}`);
    await page.getByRole('img', { name: `Graph of ${LARGE} tasks` }).waitFor();
    await page.getByText('Laying out …').waitFor({ state: 'detached' });
  });
  const asked = await fetchTimes(page, `/v1/runs/${id}/columns`);
  await page.getByRole('img', { name: /^Graph of/ }).focus();
  const pan = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }))";
  const frames = await framesWhile(page, pan);
  return [
    {
      what: `ui: request of a run of ${LARGE} tasks`,
      value: quantile(asked, 0.5),
      unit: 'ms',
      bar: atMost({ must: 150 }),
    },
    { what: `ui: its graph laid out and shown`, value: shown, unit: 'ms' },
    frameFigure('ui: frames while the graph moves', frames),
  ];
}

/** From the request that makes a run to its line on the page of somebody else. */
async function liveUpdates(ui: UiRig, { page, go }: SignedIn, samples: number): Promise<Figure[]> {
  await go('/runs?dag=live');
  await page.getByText('Live', { exact: true }).waitFor();
  const taken: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    await pause(600); // A page that was just read rests for a moment.
    const from = performance.now();
    const { body } = await ui.rig.ask('POST', '/v1/dags/live/runs', {});
    await page.locator(`a[title="${body.id}"]`).waitFor();
    taken.push(performance.now() - from);
  }
  const [value, p95] = [quantile(taken, 0.5), quantile(taken, 0.95)];
  return [{ what: 'ui: a new run shows elsewhere', value, unit: 'ms', bar: atMost({ goal: 500 }), details: { p95 } }];
}

async function longLog(ui: UiRig, { page, go }: SignedIn): Promise<Figure[]> {
  const tasks = Array.from({ length: LOG_TASKS }, (_, no) => ({ name: `t${no}`, handler: 'chat' }));
  await ui.rig.ask('PUT', '/v1/dags/chat', { name: 'chat', tasks });
  const id = await endedRun(ui, 'chat');
  // When the reading fails the browser is closed: that error is the one to tell.
  const stands = page.evaluate(STANDSTILL).catch(() => Number.NaN);
  const read = await timed(async () => {
    await page.evaluate(
      `history.pushState(null, '', '/runs/${id}?tab=log'); dispatchEvent(new PopStateEvent('popstate'))`,
    );
    await page.getByText(/lines, complete/).waitFor({ timeout: 300_000 });
  });
  const shown = Number((await page.getByText(/lines, complete/).textContent())?.replaceAll(/\D/g, ''));
  // A worker that can't keep up drops lines, and says so in the log: what counts is what is shown.
  await page.evaluate('window.standstillOver = true');
  const longest = (await stands) as number;
  const heap = await heapOf(page);
  await go('/');
  const size = `${shown.toLocaleString('en')} lines`;
  return [
    {
      what: `ui: log of a run with ${size} read to its end`,
      value: read / 1000,
      unit: 's',
      details: { 'heap MB': heap / 1e6 },
    },
    { what: 'ui: longest standstill meanwhile', value: longest, unit: 'ms', bar: atMost({ goal: 200 }) },
  ];
}

/** What an hour brings where five runs a second are made. A run has six events. */
const RUNS_OF_AN_HOUR = 18_000;
const AT_ONCE = 15;
/** Pages that show what happens while it happens. */
const LIVE_PAGES = ['Runs', 'Events', 'Home'];

/**
 * Pages that look at runs while as many of them are made as in an hour, only faster: memory that is lost is lost with what arrives,
 * not with the time that passes.
 */
async function longSession(ui: UiRig, { page, go }: SignedIn, runs: number): Promise<Figure[]> {
  await go('/');
  await page.getByText('Live', { exact: true }).waitFor();
  await pause(3_000);
  const before = await heapOf(page);
  const from = performance.now();
  for (const [no, name] of LIVE_PAGES.entries()) {
    await page.getByRole('link', { name, exact: true }).click();
    const end = (runs * (no + 1)) / LIVE_PAGES.length;
    for (let made = (runs * no) / LIVE_PAGES.length; made < end; made += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, () => ui.rig.ask('POST', '/v1/dags/live/runs', {})));
      await pause(200);
    }
  }
  const seconds = (performance.now() - from) / 1000;
  await pause(3_000);
  const after = await heapOf(page);
  const details = { 'before MB': before / 1e6, 'after MB': after / 1e6, 'in s': seconds };
  const hours = runs / RUNS_OF_AN_HOUR;
  const what = `ui: heap gained by the events of ${hours === 1 ? 'an hour' : `${hours} h`} (${runs} runs)`;
  return [{ what, value: (after - before) / 1e6, unit: 'MB', bar: atMost({ goal: 20 }), details }];
}

async function endedRun(ui: UiRig, dag: string): Promise<string> {
  const { body } = await ui.rig.ask('POST', `/v1/dags/${dag}/runs`, {});
  const path = `/v1/runs/${body.id}/columns`;
  const isEnded = async () => (await ui.rig.ask('GET', path)).body.state === 'ended';
  await until(`a run of ${dag} has ended`, 300_000, isEnded);
  return body.id;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await run();
  return performance.now() - from;
}

type BrowserPage = SignedIn['page'];

/** As the page asks: over its connection, with the answer read. */
async function fetchTimes(page: BrowserPage, path: string): Promise<number[]> {
  return (await page.evaluate(`(async () => {
    const taken = [];
    for (let time = 0; time < 7; time++) {
      const from = performance.now();
      await (await fetch(${JSON.stringify(path)})).json();
      taken.push(performance.now() - from);
    }
    return taken;
  })()`)) as number[];
}

/** How long each of 120 frames took while something is done in each of them. */
async function framesWhile(page: BrowserPage, action: string): Promise<number[]> {
  return (await page.evaluate(`new Promise((resolve) => {
    const taken = [];
    let last = performance.now();
    const frame = () => {
      const now = performance.now();
      taken.push(now - last);
      last = now;
      if (taken.length >= 120) return resolve(taken.slice(5));
      ${action};
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  })`)) as number[];
}

/** The longest time between two frames until it is told to end. */
const STANDSTILL = `new Promise((resolve) => {
  window.standstillOver = false;
  let last = performance.now();
  let longest = 0;
  const frame = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (window.standstillOver) resolve(longest);
    else requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})`;

function frameFigure(what: string, frames: readonly number[]): Figure {
  const perSecond = 1000 / quantile(frames, 0.5);
  return {
    what,
    value: perSecond,
    unit: 'frames/s',
    bar: atLeast({ goal: 55 }),
    details: { 'p95 ms': quantile(frames, 0.95) },
  };
}

async function heapOf(page: BrowserPage): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}
