/**
 * `npm run screenshots`: pictures of the web UI for the documents, from a real server with a day's small work. Into `docs/images`.
 * `npm run screenshots -- --all <folder>`: every page and dialog, light, dark and on a phone, for whoever changes how pages look.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { eventually, type Rig } from '@signalbox/server/testing';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { DIALOGS, NIGHTLY } from './screenshot-dialogs.ts';
import { type SignedIn, startUiRig } from './ui-rig.ts';

const FOLDER = fileURLToPath(new URL('../../docs/images/', import.meta.url));

interface Context {
  readonly params: { readonly day?: string; readonly bad?: boolean } | null;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly log: { info(text: string, fields?: object): void; warn(text: string): void };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const HANDLERS = {
  extract: async ({ log, params }: Context) => {
    log.info('reading', { day: params?.day });
    await pause(120);
    for (let part = 1; part <= 8; part++)
      log.info(`\u001b[32mok\u001b[0m part ${part} of 8`, { rows: 2_000 + part * 37 });
    return { rows: 17_368 };
  },
  flaky: async ({ attempt, log }: Context) => {
    await pause(80);
    if (attempt > 1) return { rows: 912 };
    log.warn('the source is slow to answer');
    throw new Error('connect ETIMEDOUT 10.0.4.12:5432');
  },
  step: () => pause(90),
  load: async ({ params }: Context) => {
    await pause(200);
    if (params?.bad === true) throw new Error('duplicate key value violates unique constraint "orders_pkey"');
  },
  /** Until the worker stops. */
  long: ({ signal }: Context) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
};

async function seed(rig: Rig): Promise<{ failed: string; running: string }> {
  await rig.addWorker(HANDLERS as never, { name: 'etl-1' });
  await rig.addWorker(HANDLERS as never, { name: 'etl-2', queues: ['default', 'reports'] });
  const task = (name: string, handler: string, ...needs: string[]) => ({ name, handler, needs });
  const deploy = (dag: { readonly name: string; readonly [field: string]: unknown }) =>
    rig.ask('PUT', `/v1/dags/${dag.name}`, dag);
  const nightly = {
    name: NIGHTLY,
    description: 'Loads the orders, customers and payments of a day.',
    tags: ['warehouse', 'nightly'],
    owner: 'team-data',
    schedule: { cron: '0 2 * * *', zone: 'Europe/Berlin' },
    tasks: [
      task('extract_orders', 'extract'),
      task('extract_customers', 'step'),
      { ...task('extract_payments', 'flaky'), retries: { maxAttempts: 3, baseMs: 60 } },
      task('clean_orders', 'step', 'extract_orders'),
      task('join', 'step', 'clean_orders', 'extract_customers', 'extract_payments'),
      task('check_quality', 'step', 'join'),
      { ...task('load', 'load', 'check_quality'), produces: ['orders'] },
      task('report', 'step', 'load'),
      task('notify', 'step', 'load'),
    ],
  };
  await deploy({ ...nightly, tasks: nightly.tasks.slice(0, -1) });
  await deploy(nightly);
  const small = (name: string, cron: string, description: string, tags: readonly string[], handler = 'step') =>
    deploy({
      name,
      description,
      tags,
      owner: tags.includes('billing') ? 'team-money' : 'team-shop',
      schedule: { cron, zone: 'UTC' },
      tasks: [task('collect', 'step'), task('send', handler, 'collect')],
    });
  await small('invoice-mails', '*/15 * * * *', 'Sends invoices that are due.', ['billing']);
  await small('currency-rates', '5 * * * *', 'Fetches the rates of the central bank.', ['billing']);
  await small('search-index', '30 3 * * 1-5', 'Builds the index of the shop.', ['shop'], 'long');
  const submit = async (dag: string, params: object | null = null) => {
    const { body } = await rig.ask('POST', `/v1/dags/${dag}/runs`, { params });
    return body.id;
  };
  const ended = (id: string) => eventually(async () => (await rig.ask('GET', `/v1/runs/${id}`)).body.state === 'ended');
  for (let day = 1; day <= 10; day++) {
    await ended(await submit(NIGHTLY, { day: `2026-11-${String(day).padStart(2, '0')}`, bad: day === 6 }));
    await submit('invoice-mails');
    await submit('currency-rates');
  }
  const failed = await submit(NIGHTLY, { day: '2026-11-16', bad: true });
  await ended(failed);
  await seedPast(rig);
  await seedTime(rig);
  await seedJobs(rig);
  const running = await submit('search-index');
  await pause(500);
  return { failed, running };
}

/** Schedules beside the deployed ones, a trigger with its webhook, a backfill that has ended and one that goes on. */
async function seedTime(rig: Rig): Promise<void> {
  const create = (schedule: object) => rig.ask('POST', `/v1/dags/${NIGHTLY}/schedules`, schedule);
  const workdays = { weekdays: ['MON', 'TUE', 'WED', 'THU', 'FRI'], exclude: ['12-24', '12-25'] };
  await create({ name: 'noon-refresh', cron: '0 12 * * *', zone: 'Europe/Berlin', calendar: workdays, jitter: '5m' });
  await create({
    ...{ name: 'with-rates', cron: '15 3 * * *', zone: 'Europe/Berlin', wait: '2h', unmet: 'run' },
    requires: [
      { dag: 'currency-rates', within: '6h' },
      { dag: 'search-index', window: 'same' },
    ],
  });
  await create({ name: 'month-end', cron: '30 23 L * *', zone: 'America/New_York', params: { full: true } });
  await rig.ask('POST', `/v1/dags/${NIGHTLY}/schedules/month-end/pause`, {});
  await rig.ask('PUT', '/v1/dags/ship-orders', {
    name: 'ship-orders',
    description: 'Ships an order once it is paid.',
    tags: ['shop'],
    owner: 'team-shop',
    on: [
      {
        type: 'order.paid',
        source: '/shop/*',
        where: 'event.data.total > 100',
        params: { order: '${{ event.data.id }}' },
      },
      { assets: { all: ['orders', 'rates'] } },
      { name: 'returns', type: 'order.returned', batch: { max: 50, within: '5m', key: 'event.data.warehouse' } },
      { type: 'webhook.github.push' },
    ],
    tasks: [{ name: 'pack', handler: 'step' }],
  });
  await rig.ask('POST', '/v1/webhooks', { dag: 'ship-orders', scheme: 'github' });
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString();
  const fill = (dag: string, body: object) => rig.ask('POST', `/v1/dags/${dag}/backfills`, body);
  await fill(NIGHTLY, { from: day(9), to: day(2) });
  await eventually(async () => (await rig.ask('GET', '/v1/backfills')).body.items[0]?.state === 'ended', 60_000);
  await fill('search-index', { from: day(40), maxActive: 2 });
}

/** Jobs of each kind and state, and two tenants beside the first. */
async function seedJobs(rig: Rig): Promise<void> {
  const job = (body: object) => rig.ask('POST', '/v1/jobs', body);
  await job({
    run: 'vacuumdb --analyze shop',
    name: 'vacuum the shop',
    cron: '30 4 * * *',
    zone: 'Europe/Berlin',
    tags: ['database'],
    owner: 'team-shop',
  });
  await job({
    http: { url: 'https://status.example.com/ping' },
    name: 'ping the status page',
    every: '15m',
    tags: ['health'],
    owner: 'team-web',
  });
  await job({
    task: { dag: NIGHTLY, task: 'extract_orders' },
    name: 'orders of last Friday',
    delay: '6h',
    tags: ['warehouse'],
    owner: 'team-data',
  });
  await job({
    run: 'pg_dump shop | gzip > /backup/shop.sql.gz',
    name: 'dump before the migration',
    delay: '2h',
    tags: ['database', 'once'],
    owner: 'team-shop',
  });
  const { body } = await job({ run: 'rm -rf /tmp/exports', delay: '3d' });
  await rig.ask('POST', `/v1/jobs/${body.id}/pause`, {});
  await rig.ask('POST', '/v1/tenants', { name: 'team-shop', weight: 3, critical: false });
  await rig.ask('POST', '/v1/tenants', { name: 'team-lab', weight: 0.5, defaultPriority: 'low', critical: false });
  await rig.ask('POST', '/v1/tenants/team-lab/suspend', { reason: 'a loop of submissions' });
}

/** A server that has just started has no past: the sums of a night job of four months. */
async function seedPast({ databaseUrl }: Rig): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    `insert into run_rollup (shard, dag_id, hour, outcome, bucket, runs)
     select d.shard, d.dag_id, (extract(epoch from now()) / 3600)::integer - 24 * day, case when day % 17 = 5 then 1 else 0 end,
         74 + (3 * sin(day / 5.0))::integer + part, 4 - part
       from dag d, generate_series(1, 120) day, generate_series(0, 3) part
      where d.name = $1 and day % 7 <> 3`,
    [NIGHTLY],
  );
  await client.end();
}

const WIDE = 'wide-import';

/** Many dags, and a run of many tasks in groups: for how pages look with a lot to show. */
async function seedMuch(rig: Rig): Promise<string> {
  for (let no = 0; no < 150; no++) {
    const name = `import-of-partner-number-${no}-with-a-rather-long-name`;
    await rig.ask('PUT', `/v1/dags/${name}`, {
      name,
      description:
        'Reads what the partner sent in the night, and complains in a long sentence when it was nothing at all.',
      tags: ['partner', `region-${no % 7}`, 'nightly'],
      owner: `team-${no % 5}`,
      tasks: [{ name: 'only', handler: 'step' }],
    });
  }
  const groups = Array.from({ length: 12 }, (_, no) => ({ name: `region_${no}` }));
  const tasks = groups.flatMap(({ name: group }, no) =>
    Array.from({ length: 50 }, (_, at) => ({
      name: `${group}_part_${at}`,
      handler: no === 7 && at === 30 ? 'extract' : 'step',
      group,
      needs: at < 10 ? [] : [`${group}_part_${at - 10}`],
    })),
  );
  await rig.ask('PUT', `/v1/dags/${WIDE}`, { name: WIDE, groups, tasks });
  const { body } = await rig.ask('POST', `/v1/dags/${WIDE}/runs`, {});
  await eventually(async () => (await rig.ask('GET', `/v1/runs/${body.id}/columns`)).body.state === 'ended', 120_000);
  return body.id;
}

async function shoot(page: Page, path: string): Promise<void> {
  await eventually(async () => (await page.locator('.loading').count()) === 0);
  await pause(600); // Charts and fonts are drawn.
  await page.screenshot({ path });
}

/** What is in the documents: `docs/images/<name>.png`. */
async function shootForDocs({ page, go }: SignedIn, failed: string): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const pages: readonly (readonly [string, string])[] = [
    ['home', '/'],
    ['dags', '/dags'],
    ['grid', `/dags/${NIGHTLY}?tab=grid`],
    ['run', `/runs/${failed}`],
    ['history', `/dags/${NIGHTLY}?tab=history`],
    ['gantt', `/runs/${failed}?tab=gantt`],
    ['task', `/runs/${failed}/tasks/extract_orders`],
    ['dead-letters', '/dead-letters'],
    ['schedules', `/dags/${NIGHTLY}?tab=schedules`],
    ['backfills', '/backfills'],
    ['triggers', '/dags/ship-orders?tab=triggers'],
    ['versions', `/dags/${NIGHTLY}?tab=versions`],
    ['compare', `/runs/${failed}?tab=compare`],
    ['log', `/runs/${failed}?tab=log`],
    ['runs', '/runs'],
    ['jobs', '/jobs'],
    ['assets', '/assets'],
    ['breakers', '/breakers'],
    ['workers', '/workers'],
    ['queues', '/queues'],
    ['events', '/events?from=start'],
    ['tenants', '/tenants'],
    ['system', '/system'],
  ];
  for (const [name, path] of pages) {
    // Its charts are below one another.
    await page.setViewportSize({ width: 1200, height: name === 'history' ? 1120 : 720 });
    await go(path);
    await shoot(page, join(FOLDER, `${name}.png`));
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  await go(`/runs/${failed}`);
  await shoot(page, join(FOLDER, 'run-dark.png'));
}

const LOOKS = [
  { name: 'light', colorScheme: 'light', width: 1280, height: 860 },
  { name: 'dark', colorScheme: 'dark', width: 1280, height: 860 },
  { name: 'phone', colorScheme: 'light', width: 390, height: 844 },
] as const;

async function shootAll(
  { page, go }: SignedIn,
  { failed, running, wide }: { readonly failed: string; readonly running: string; readonly wide: string },
  folder: string,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const ofDag = [
    'runs',
    'grid',
    'graph',
    'history',
    'schedules',
    'triggers',
    'backfills',
    'versions',
    'code',
    'settings',
  ];
  const ofRun = ['graph', 'tasks', 'gantt', 'timeline', 'data', 'log', 'compare'];
  const pages = [
    ...[
      '/',
      '/dags',
      '/runs',
      '/schedules',
      '/backfills',
      '/jobs',
      '/tenants',
      '/assets',
      '/dags/ship-orders?tab=triggers',
      '/dead-letters',
      '/breakers',
      '/workers',
      '/queues',
      '/events?from=start',
      '/system',
    ],
    ...ofDag.map((tab) => `/dags/${NIGHTLY}?tab=${tab}`),
    ...ofRun.map((tab) => `/runs/${failed}?tab=${tab}`),
    `/runs/${failed}/tasks/load`,
    `/runs/${failed}/tasks/extract_orders`,
    `/dags?q=partner`,
    `/dags/${WIDE}?tab=grid`,
    `/runs/${wide}`,
    `/runs/${wide}?groups=folded`,
    `/runs/${wide}?tab=tasks`,
    `/runs/${wide}?tab=gantt`,
    `/runs/${wide}?tab=log&fold=on`,
  ];
  for (const { name, colorScheme, width, height } of LOOKS) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    for (const path of pages) {
      await go(path);
      const file = path
        .replace(failed, 'run')
        .replace(wide, 'wide')
        .replaceAll(/[^a-z]+/g, '-')
        .replaceAll(/^-|-$/g, '');
      await shoot(page, join(folder, `${file || 'home'}.${name}.png`));
    }
    for (const [dialog, path, open] of DIALOGS) {
      await go(path({ failed, running }));
      await open(page);
      await shoot(page, join(folder, `dialog-${dialog}.${name}.png`));
    }
  }
}

const { values } = parseArgs({ options: { all: { type: 'string' } } });
const ui = await startUiRig();
try {
  const seeded = await seed(ui.rig);
  const visitor = await ui.signIn();
  if (values.all === undefined) await shootForDocs(visitor, seeded.failed);
  else await shootAll(visitor, { ...seeded, wide: await seedMuch(ui.rig) }, values.all);
} finally {
  await ui.stop();
}
