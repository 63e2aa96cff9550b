/**
 * `npm run screenshots`: pictures of the web UI for the documents, from a real server with a day's small work. Into `docs/images`.
 * `npm run screenshots -- --all <folder>`: every page and dialog, light, dark and on a phone, without data, with little and with a lot, for
 * whoever changes how pages look. `--only <pattern>`: those whose file name it matches.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { eventually, type Rig } from '@signalbox/server/testing';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { DIALOGS, NIGHTLY } from './screenshot-dialogs.ts';
import { SIDEBAR_PAGES } from './ui-pages.ts';
import { type SignedIn, startUiRig, type UiRig } from './ui-rig.ts';

const FOLDER = fileURLToPath(new URL('../../docs/images/', import.meta.url));

interface Context {
  readonly params: { readonly day?: string; readonly bad?: boolean } | null;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly progress: (fraction: number, note: string) => void;
  readonly log: { info(text: string, fields?: object): void; warn(text: string): void };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Pictures name no path of the machine that they were taken on. */
function failure(text: string, at: string): Error {
  const error = new Error(text);
  error.stack = `Error: ${text}\n    at ${at}`;
  return error;
}

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
    throw failure('connect ETIMEDOUT 10.0.4.12:5432', 'extractPayments (/srv/dags/warehouse.ts:48:11)');
  },
  step: () => pause(90),
  load: async ({ params }: Context) => {
    await pause(200);
    if (params?.bad === true)
      throw failure(
        'duplicate key value violates unique constraint "orders_pkey"',
        'load (/srv/dags/warehouse.ts:91:13)',
      );
  },
  bad: ({ params }: Context) => {
    const { no } = params as unknown as { readonly no: number };
    throw failure(
      `relation "partner_${'abcdefgh'[no % 8]}_orders_of_the_day" does not exist, though it was there yesterday`,
      'load (/srv/dags/partners.ts:12:9)',
    );
  },
  /** Until the worker stops. */
  long: ({ signal, progress }: Context) => {
    progress(0.62, '18,450 of 29,800 pages');
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  },
  /** Some of many fail. */
  page: async ({ attempt }: Context) => {
    await pause(20);
    if (Math.random() < 0.06 && attempt === 1)
      throw failure('503 Service Unavailable', 'read (/srv/dags/crawl.ts:27:15)');
  },
  lean: () => {
    throw failure('connect ECONNREFUSED 10.0.7.3:443', 'push (/srv/dags/crm.ts:19:7)');
  },
};

interface Seeded {
  readonly failed: string;
  readonly running: string;
  /** With a map, of which some items failed. */
  readonly crawl: string;
  /** Others go first, and the only slot of its queue is in use. */
  readonly waiting: string;
  /** No worker offers what it asks for. */
  readonly unfit: string;
  /** Workers fit, and others use what it asks for. */
  readonly crowded: string;
}

async function seed(rig: Rig, folder: string): Promise<Seeded> {
  await rig.addWorker(HANDLERS as never, {
    name: 'etl-1',
    resources: { cpu: 8, memory: '32GiB' },
    labels: { zone: 'eu-1' },
  });
  await rig.addWorker(HANDLERS as never, {
    name: 'etl-2',
    queues: ['default', 'reports'],
    resources: { cpu: 8, memory: '32GiB' },
  });
  const task = (name: string, handler: string, ...needs: string[]) => ({ name, handler, needs });
  const deploy = (dag: { readonly name: string; readonly [field: string]: unknown }) =>
    rig.ask('PUT', `/v1/dags/${dag.name}`, dag);
  const nightly = {
    name: NIGHTLY,
    description: 'Loads the orders, customers and payments of a day.',
    tags: ['warehouse', 'nightly'],
    owner: 'team-data',
    schedule: { cron: '0 2 * * *', zone: 'Europe/Berlin' },
    params: {
      type: 'object',
      properties: {
        day: { type: 'string', format: 'date', default: '2026-11-16', description: 'The day that is loaded.' },
        bad: { type: 'boolean', default: false, description: 'Loads a row twice, to try what happens then.' },
        source: { enum: ['shop', 'partners', 'both'], default: 'both' },
      },
    },
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
  const earlier = nightly.tasks
    .slice(0, -1)
    .map((one) => ('retries' in one ? { ...one, retries: { maxAttempts: 2 } } : one));
  await deploy({ ...nightly, tasks: earlier });
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
  await seedSources(rig, folder);
  const crawl = await seedTrouble(rig);
  const running = await submit('search-index');
  const waiting = await seedQueue(rig);
  const placed = await seedPlacement(rig);
  await seedQuotas(rig);
  await pause(500);
  return { failed, running, crawl, waiting, ...placed };
}

/** Workers with labels and resources, one of them a spot worker, and tasks that find no room or no worker. */
async function seedPlacement(rig: Rig): Promise<Pick<Seeded, 'unfit' | 'crowded'>> {
  const worker = (name: string, cpu: number, memory: string, more: object, labels: Record<string, string>) =>
    rig.addWorker(HANDLERS as never, {
      name,
      queues: ['training'],
      slots: 8,
      resources: { cpu, memory, ...more },
      labels,
    });
  await worker('gpu-1', 16, '64GiB', { gpu: 2 }, { disk: 'ssd', zone: 'eu-1', team: 'data' });
  await worker('spot-1', 8, '32GiB', {}, { spot: 'true', zone: 'eu-2' });
  const train = async (name: string, asked: object, priority = 'normal') => {
    const tasks = [{ name: 'fit', handler: 'long', queue: 'training', ...asked }];
    await rig.ask('PUT', `/v1/dags/${name}`, { name, tags: ['models'], owner: 'team-lab', priority, tasks });
    return (await rig.ask('POST', `/v1/dags/${name}/runs`, {})).body.id;
  };
  const isRunning = (id: string) =>
    eventually(async () => (await rig.ask('GET', `/v1/runs/${id}/tasks/fit`)).body.state === 'running');
  await isRunning(await train('train-ranking', { resources: { cpu: 12, memory: '40GiB', gpu: 2 } }));
  await isRunning(await train('embed-products', { resources: { cpu: 6, memory: '20GiB' }, labels: { zone: 'eu-2' } }));
  const crowded = await train('train-forecast', { resources: { cpu: 4, memory: '32GiB', gpu: 1 } });
  const unfit = await train('archive-models', { labels: { disk: 'tape' }, resources: { memory: '128GiB' } });
  return { unfit, crowded };
}

/** Quotas of a tenant, of which one is raised for a while. */
async function seedQuotas(rig: Rig): Promise<void> {
  const path = '/v1/tenants/team-shop/quotas';
  await rig.ask('PUT', `${path}/submits`, { soft: 300, hard: 600 });
  await rig.ask('PUT', `${path}/tasks`, { soft: null, hard: 2_000 });
  await rig.ask('PUT', `${path}/failures`, { soft: 50, hard: null });
  await rig.ask('POST', `${path}/submits/raise`, { soft: 900, hard: 1_200, for: '6h', reason: 'sale of the year' });
}

/** A queue with one slot, in use, and runs that wait for it. */
async function seedQueue(rig: Rig): Promise<string> {
  await rig.addWorker(HANDLERS as never, { name: 'images-1', queues: ['images'], slots: 1 });
  await rig.ask('PUT', '/v1/dags/thumbnails', {
    name: 'thumbnails',
    description: 'Makes small pictures of new products.',
    tags: ['shop'],
    owner: 'team-shop',
    tasks: [
      { name: 'resize', handler: 'long', queue: 'images' },
      { name: 'publish', handler: 'step', needs: ['resize'] },
    ],
  });
  const { body } = await rig.ask('POST', '/v1/dags/thumbnails/runs/batch', { runs: [{}, {}, {}, {}] });
  const ids = (body as unknown as { readonly ids: readonly string[] }).ids;
  return ids.at(-1) ?? '';
}

/** Schedules beside the deployed ones, a trigger with its webhook, a backfill that has ended and one that goes on. */
async function seedTime(rig: Rig): Promise<void> {
  const create = (schedule: object) => rig.ask('POST', `/v1/dags/${NIGHTLY}/schedules`, schedule);
  const workdays = { weekdays: ['MON', 'TUE', 'WED', 'THU', 'FRI'], exclude: ['12-24', '12-25'] };
  await create({ name: 'noon-refresh', cron: '0 12 * * *', zone: 'Europe/Berlin', calendar: workdays, jitter: '5m' });
  await create({
    ...{ name: 'with-rates', cron: '15 3 * * *', zone: 'Europe/Berlin', unmet: 'run' },
    retry: { every: '20m', times: 6 },
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

/** A breaker that is open, a map of which some items failed, and a call that nobody answers. */
async function seedTrouble(rig: Rig): Promise<string> {
  const submit = (dag: string, params = {}) => rig.ask('POST', `/v1/dags/${dag}/runs`, { params });
  await rig.ask('PUT', '/v1/dags/crawl-shop', {
    name: 'crawl-shop',
    description: 'Reads all pages of the shop.',
    tags: ['shop'],
    owner: 'team-shop',
    callbackUrl: 'http://127.0.0.1:9/crawled',
    tasks: [
      { name: 'page', handler: 'page', map: '${{ params.pages }}' },
      { name: 'merge', handler: 'step', needs: ['page'], rule: 'all_done' },
    ],
  });
  const { body } = await submit('crawl-shop', { pages: Array.from({ length: 240 }, (_, no) => `/p/${no}`) });
  const breaker = { share: 0.5, minimum: 2, pause: '1h', maxPause: '1h' };
  await rig.ask('PUT', '/v1/dags/sync-crm', {
    name: 'sync-crm',
    description: 'Sends new customers to the CRM.',
    tags: ['billing'],
    owner: 'team-money',
    breaker,
    tasks: [{ name: 'push', handler: 'lean' }],
  });
  for (let run = 0; run < 4; run++) await submit('sync-crm');
  await eventually(async () => (await rig.ask('GET', '/v1/breakers')).body.items.length > 0, 60_000);
  await eventually(async () => (await rig.ask('GET', `/v1/runs/${body.id}`)).body.state === 'ended', 60_000);
  return body.id;
}

/** Events that must come by a time, one of which has not, and files in a watched folder. */
async function seedSources(rig: Rig, folder: string): Promise<void> {
  await rig.ask('PUT', '/v1/dags/daily-close', {
    name: 'daily-close',
    description: 'Closes the books of a day.',
    tags: ['billing'],
    owner: 'team-money',
    expect: [
      { name: 'bank-statement', type: 'bank.statement', source: '/bank/*', by: '0 6 * * 1-5', zone: 'Europe/Berlin' },
      { type: 'heartbeat.shop', within: '1s' },
      { type: 'order.paid', where: 'event.data.total > 0', within: '2h' },
    ],
    tasks: [{ name: 'close', handler: 'step' }],
  });
  await rig.ask('POST', '/v1/events', {
    ...{ specversion: '1.0', id: 'statement-1', source: '/bank/eu', type: 'bank.statement', data: {} },
  });
  const paid = { specversion: '1.0', id: 'paid-1', source: '/shop/eu', type: 'order.paid', data: { total: 12, id: 7 } };
  await rig.ask('POST', '/v1/events', paid);
  for (const file of ['orders-2026-11-16.csv', 'orders-2026-11-17.csv'])
    await writeFile(join(folder, file), 'id;total');
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
  await seedLimits(rig);
  await seedCosts(rig);
}

/** A month of sums, prices and two budgets, one of which is crossed. */
async function seedCosts(rig: Rig): Promise<void> {
  const card = {
    currency: 'EUR',
    slotHour: 0.04,
    cpuHour: 0.02,
    gibHour: 0.005,
    burst: { aboveSlots: 40, premium: 1.5 },
  };
  await rig.ask('PUT', '/v1/costs/rates', card);
  await rig.sql(`
    update rate_card set from_day = from_day - 60;
    insert into usage_rollup (shard, dag_id, day, version_no, task_no, priority, tenant_id, attempts, slot_ms, cpu_ms, memory_mib_ms)
      select shard, dag_id, extract(epoch from now())::bigint / 86400 - ago, 1, 0, 2, tenant_id, 40 + dag_id % 7 * 90,
          (2 + dag_id % 11) * (3 + (ago * 7 + dag_id) % 5) * 3600000 * case when ago % 7 in (2, 3) then 1 else 3 end,
          (1 + dag_id % 5) * 900000 * (3 + ago % 5), (1 + dag_id % 9) * 1024 * 3600000::bigint * (2 + ago % 3)
        from dag, generate_series(0, 34) ago
      on conflict do nothing;
    insert into usage_hour (shard, tenant_id, hour, slot_ms)
      select 0, tenant_id, day * 24 + 9, sum(slot_ms) from usage_rollup group by tenant_id, day on conflict do nothing`);
  await rig.ask('PUT', '/v1/costs/budgets/tenant', { amount: 2_500 });
  await rig.ask('PUT', `/v1/costs/budgets/dag:${NIGHTLY}`, { amount: 100 });
}

/** A pool that is full, caps, a frozen queue, and slots that are kept each night. */
async function seedLimits(rig: Rig): Promise<void> {
  await rig.ask('PUT', '/v1/limits/pool:warehouse', { slots: 1 });
  await rig.ask('PUT', '/v1/limits/queue:default', { slots: 200 });
  await rig.ask('PUT', '/v1/limits/tenant:team-shop', { slots: 40 });
  await rig.ask('PUT', '/v1/freezes/queue:gpu', { reason: 'new drivers are installed' });
  const nightly = { dag: NIGHTLY, slots: 2, from: '22:00', until: '04:00', timezone: 'Europe/Berlin' };
  await rig.ask('POST', '/v1/reservations', { ...nightly, reason: 'the nightly load comes first' });
  const pool = { name: 'warehouse', slots: 2 };
  await rig.ask('PUT', '/v1/dags/refresh-views', {
    name: 'refresh-views',
    tasks: [{ name: 'refresh', handler: 'step', pool }],
  });
  await rig.ask('POST', '/v1/dags/refresh-views/runs/batch', { runs: Array.from({ length: 3 }, () => ({})) });
}

/** A server that has just started has no past: the sums of a night job of four months. */
async function seedPast({ databaseUrl }: Rig): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `insert into run_rollup (shard, dag_id, hour, outcome, bucket, runs)
     select d.shard, d.dag_id, floor(extract(epoch from now()) / 3600)::integer - 24 * day, case when day % 17 = 5 then 1 else 0 end,
         74 + (3 * sin(day / 5.0))::integer + part, 4 - part
       from dag d, generate_series(1, 120) day, generate_series(0, 3) part
      where d.name = $1 and day % 7 <> 3`,
      [NIGHTLY],
    );
    // The last day of the dags that run often.
    await client.query(
      `insert into run_rollup (shard, dag_id, hour, outcome, bucket, runs)
     select d.shard, d.dag_id, floor(extract(epoch from now()) / 3600)::integer - back, case when part = 3 then 1 else 0 end,
         60 + part, case when part = 3 then (case when back in (4, 5, 13) then 2 else 0 end) else 3 + ((back * 7 + part) % 5) end
       from dag d, generate_series(1, 23) back, generate_series(0, 3) part
      where d.name in ('invoice-mails', 'currency-rates') and (part <> 3 or back in (4, 5, 13))`,
    );
  } finally {
    await client.end();
  }
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
  const many = Array.from({ length: 40 }, (_, no) => no);
  for (const no of many) {
    const name = `import-of-partner-number-${no}-with-a-rather-long-name`;
    await rig.ask('POST', `/v1/dags/${name}/schedules`, {
      name: `every-night-of-region-${no % 7}`,
      cron: `${no} 2 * * *`,
    });
    await rig.ask('POST', '/v1/jobs', {
      run: `psql -c 'vacuum analyze partner_${no}' --host database-${no}.internal.example.com --port 5432`,
      name: `vacuum the tables of partner number ${no}, which are many`,
      cron: `${no} 4 * * *`,
      tags: ['database', 'partner', `region-${no % 7}`],
      owner: `team-${no % 5}`,
    });
    await rig.ask('POST', '/v1/tenants', {
      name: `team-of-partner-number-${no}-with-a-long-name`,
      weight: 1 + (no % 4),
    });
    await rig.ask(
      'POST',
      `/v1/assets/${encodeURIComponent(`warehouse/partners/number-${no}/orders-of-the-day`)}/materialize`,
      {},
    );
    await rig.ask('POST', '/v1/tokens', { name: `deployer-of-partner-${no}`, role: 'operator' });
    await rig.ask('PUT', `/v1/dags/fails-${no}`, { name: `fails-${no}`, tasks: [{ name: 'load', handler: 'bad' }] });
    await rig.ask('POST', `/v1/dags/fails-${no}/runs`, { params: { no } });
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

const { values } = parseArgs({ options: { all: { type: 'string' }, only: { type: 'string' } } });
const only = values.only === undefined ? null : new RegExp(values.only);
const isWanted = (path: string): boolean => only === null || only.test(basename(path));

async function shoot(page: Page, path: string): Promise<void> {
  await eventually(async () => (await page.locator('.loading').count()) === 0);
  await pause(600); // Charts and fonts are drawn.
  await page.screenshot({ path });
}

/** What is in the documents: `docs/images/<name>.png`. */
async function shootForDocs({ page, go }: SignedIn, { failed, crawl, waiting }: Seeded): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const pages: readonly (readonly [string, string])[] = [
    ['home', '/'],
    ['dags', '/dags'],
    ['grid', `/dags/${NIGHTLY}?tab=grid`],
    ['run', `/runs/${failed}`],
    ['history', `/dags/${NIGHTLY}?tab=history`],
    ['gantt', `/runs/${failed}?tab=gantt`],
    ['task', `/runs/${failed}/tasks/extract_orders`],
    ['why', `/runs/${waiting}/tasks/publish`],
    ['items', `/runs/${crawl}/tasks/page?items=failed`],
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
    ['callbacks', '/callbacks'],
    ['workers', '/workers'],
    ['queues', '/queues'],
    ['limits', '/limits'],
    ['costs', '/costs'],
    ['events', '/events?from=start'],
    ['tenants', '/tenants'],
    ['sources', '/sources'],
    ['system', '/system'],
  ];
  for (const [name, path] of pages) {
    if (!isWanted(`${name}.png`)) continue;
    // Its charts are below one another.
    await page.setViewportSize({ width: 1200, height: name === 'history' ? 1120 : 720 });
    await go(path);
    if (name === 'why') await page.getByRole('region', { name: 'What holds it' }).waitFor();
    await shoot(page, join(FOLDER, `${name}.png`));
  }
  if (isWanted('trigger.png')) {
    await go(`/dags/${NIGHTLY}`);
    await page
      .getByRole('button', { name: /^Trigger/ })
      .first()
      .click();
    await shoot(page, join(FOLDER, 'trigger.png'));
  }
  if (!isWanted('run-dark.png')) return;
  await page.emulateMedia({ colorScheme: 'dark' });
  await go(`/runs/${failed}`);
  await shoot(page, join(FOLDER, 'run-dark.png'));
}

const LOOKS = [
  { name: 'light', colorScheme: 'light', width: 1280, height: 860 },
  { name: 'dark', colorScheme: 'dark', width: 1280, height: 860 },
  { name: 'phone', colorScheme: 'light', width: 390, height: 844 },
  { name: 'phone-dark', colorScheme: 'dark', width: 390, height: 844 },
] as const;

interface Shots {
  readonly folder: string;
  /** In front of the names of the files. */
  readonly kind: string;
  readonly pages: readonly string[];
  readonly looks?: readonly (typeof LOOKS)[number]['name'][];
  /** Ids that are not to be in the names of files. */
  readonly names?: Readonly<Record<string, string>>;
}

async function shootPages({ page, go }: SignedIn, { folder, kind, pages, looks, names = {} }: Shots): Promise<void> {
  for (const { name, colorScheme, width, height } of LOOKS) {
    if (looks !== undefined && !looks.includes(name)) continue;
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    for (const path of pages) {
      const plain = Object.entries(names).reduce((text, [id, word]) => text.replace(id, word), path);
      const file = plain.replaceAll(/[^a-z]+/g, '-').replaceAll(/^-|-$/g, '') || 'home';
      const picture = join(folder, `${kind}.${file}.${name}.png`);
      if (!isWanted(picture)) continue;
      await go(path);
      await shoot(page, picture);
    }
  }
}

const OF_DAG = [
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
const OF_RUN = ['graph', 'tasks', 'gantt', 'timeline', 'data', 'log', 'compare'];

async function shootLittle(
  visitor: SignedIn,
  folder: string,
  { failed, running, crawl, waiting, unfit, crowded }: Seeded,
): Promise<void> {
  const pages = [
    ...SIDEBAR_PAGES,
    '/dags/ship-orders?tab=triggers',
    '/dags/daily-close?tab=triggers',
    ...OF_DAG.map((tab) => `/dags/${NIGHTLY}?tab=${tab}`),
    ...OF_RUN.map((tab) => `/runs/${failed}?tab=${tab}`),
    `/runs/${failed}/tasks/load`,
    `/runs/${failed}/tasks/extract_orders`,
    `/runs/${failed}/tasks/extract_payments?attempt=1&times=on`,
    `/runs/${running}/tasks/send`,
    `/runs/${waiting}/tasks/publish`,
    `/runs/${waiting}/tasks/resize`,
    `/runs/${unfit}/tasks/fit`,
    `/runs/${crowded}/tasks/fit`,
    `/runs/${crawl}`,
    `/runs/${crawl}/tasks/page`,
    `/runs/${crawl}/tasks/page?items=failed`,
    '/runs?dag=sync-crm',
    '/nowhere',
  ];
  const names = {
    [failed]: 'run',
    [running]: 'running',
    [crawl]: 'crawl',
    [waiting]: 'waiting',
    [unfit]: 'unfit',
    [crowded]: 'crowded',
  };
  await shootPages(visitor, { folder, kind: 'little', pages, names });
  const { page, go } = visitor;
  for (const { name, colorScheme, width, height } of LOOKS) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    for (const [dialog, path, open] of DIALOGS) {
      const picture = join(folder, `dialog.${dialog}.${name}.png`);
      if (!isWanted(picture)) continue;
      await go(path({ failed, running }));
      await open(page);
      await shoot(page, picture);
    }
  }
}

async function shootMuch(visitor: SignedIn, folder: string, wide: string): Promise<void> {
  const pages = [
    ...SIDEBAR_PAGES,
    '/dags?q=partner',
    `/dags/${WIDE}?tab=grid`,
    `/runs/${wide}`,
    `/runs/${wide}?groups=folded`,
    `/runs/${wide}?tab=tasks`,
    `/runs/${wide}?tab=gantt`,
    `/runs/${wide}?tab=log&fold=on`,
  ];
  await shootPages(visitor, { folder, kind: 'much', pages, looks: ['light', 'phone'], names: { [wide]: 'wide' } });
}

/** What somebody of a tenant sees that does not run the installation. */
async function shootOther(ui: UiRig, folder: string): Promise<void> {
  const { body } = await ui.rig.ask('POST', '/v1/tokens', { name: 'shop', role: 'admin', tenant: 'team-shop' });
  const visitor = await ui.signIn('admin', (body as unknown as { token: string }).token);
  const pages = ['/system', '/sources', '/queues', '/tenants'];
  await shootPages(visitor, { folder, kind: 'other', pages, looks: ['light', 'phone-dark'] });
}

const watched = await mkdtemp(join(tmpdir(), 'orders-'));
const ui = await startUiRig({ SIGNALBOX_WATCH_FOLDERS: `orders=${watched}` });
try {
  const visitor = await ui.signIn();
  const { all: folder } = values;
  if (folder === undefined) {
    await shootForDocs(visitor, await seed(ui.rig, watched));
  } else {
    await mkdir(folder, { recursive: true });
    await shootPages(visitor, { folder, kind: 'empty', pages: SIDEBAR_PAGES, looks: ['light', 'phone'] });
    await shootLittle(visitor, folder, await seed(ui.rig, watched));
    await shootOther(ui, folder);
    if (only === null || values.only?.includes('much')) await shootMuch(visitor, folder, await seedMuch(ui.rig));
  }
} finally {
  await ui.stop();
  await rm(watched, { recursive: true, force: true });
}
