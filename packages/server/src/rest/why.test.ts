/** Why a task or a run is not running: one sentence, and a code for programs (I75). */
import { type Request, requestKey } from '@signalbox/engine';
import type { TaskView } from '@signalbox/protocol';
import { expect, test } from 'vitest';
import { queueFacts } from './queue-facts.ts';
import { type LimitFact, type RunFacts, type TaskFacts, whyOf, whyRunWaits } from './why.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const SOON = '2026-01-01T00:01:00.000Z';
const PAUSE = { by: 'ada', since: '2026-01-01T00:00:00.000Z', until: null };

const worker = (queues: string[], slots: number, running: number, draining = false) => ({
  id: 'w',
  name: 'w',
  node: 'n',
  queues,
  slots,
  running,
  draining,
  silentMs: 0, // biome-ignore format: a row
});
const run = (more: Partial<RunFacts> = {}): RunFacts => ({
  state: 'open',
  paused: null,
  setAsideReason: null,
  maxActiveRuns: null,
  maxActiveTasks: null,
  queues: queueFacts([
    worker(['default', 'full'], 1, 0),
    worker(['full'], 2, 3),
    worker(['leaving'], 4, 0, true),
    worker(['one'], 1, 1),
  ]),
  now: NOW,
  ...more,
});
const task = (state: TaskView['state'], more: Partial<TaskView> = {}): TaskView =>
  ({ name: 'a', role: 'task', state, attempt: 1, instances: null, retryAt: null, heldBy: null, deadLetter: null, child: null, reason: null, paused: null, why: null, ...more }) as TaskView; // biome-ignore format: a row
const of = (more: Partial<TaskFacts> = {}): TaskFacts => ({ queue: 'default', unmet: [], ...more });

const limit = (more: Partial<LimitFact>): LimitFact => ({
  kind: 'pool',
  name: 'db',
  takes: 1,
  slots: 5,
  used: 5,
  heldBy: 'a',
  ...more,
});

test.each<[string, TaskView, TaskFacts, RunFacts, string | null, string]>([
  ['runs', task('running'), of(), run(), null, ''],
  ['has succeeded', task('succeeded'), of(), run(), null, ''],
  ['is about to start', task('ready'), of(), run(), null, ''],
  [
    'is in a queue that nobody listens to',
    task('ready'),
    of({ queue: 'gpu' }),
    run(),
    'no_worker',
    'No worker serves queue "gpu".',
  ],
  ['has only a worker that is leaving', task('ready'), of({ queue: 'leaving' }), run(), 'no_worker', 'leaving'],
  ['waits for a slot', task('ready'), of({ queue: 'full' }), run(), 'workers_busy', 'All 3 slots'],
  [
    'waits for the only slot',
    task('ready'),
    of({ queue: 'one' }),
    run(),
    'workers_busy',
    'The only slot for queue "one" is in use.',
  ],
  [
    'waits for attempts of other runs',
    task('ready'),
    of({ limits: [limit({ kind: 'task', name: 'a' })] }),
    run(),
    'task_limit',
    'At most 5 attempts of a',
  ],
  [
    'waits for other tasks of its run',
    task('ready'),
    of(),
    run({ ofRun: { most: 2, running: 2 } }),
    'run_limit',
    'At most 2 tasks of a run',
  ],
  [
    'is in a pool that nobody set',
    task('ready'),
    of({ limits: [limit({ slots: null })] }),
    run(),
    'pool_missing',
    'limits set pool:db',
  ],
  [
    'takes more than its pool has',
    task('ready'),
    of({ limits: [limit({ takes: 9 })] }),
    run(),
    'pool_too_small',
    'takes 9',
  ],
  [
    'waits for its pool',
    task('ready'),
    of({ limits: [limit({})] }),
    run(),
    'pool_full',
    'has 5 slots, and 5 are in use, one by a',
  ],
  [
    'waits for a cap',
    task('ready'),
    of({ limits: [limit({ kind: 'queue' })] }),
    run(),
    'cap_full',
    'Queue "db" runs at most 5',
  ],
  [
    'is under a cap of 0',
    task('ready'),
    of({ limits: [limit({ kind: 'cluster', name: '', slots: 0, used: 0, heldBy: null })] }),
    run(),
    'cap_full',
    'The cluster runs at most 0 tasks at once.',
  ],
  ['is under a limit that has room', task('ready'), of({ limits: [limit({ used: 4 })] }), run(), null, ''],
  ['may be held by a limit', task('ready'), of(), run({ maxActiveTasks: 2 }), 'limit', 'at most 2 tasks'],
  ['is unknown where servers did not answer', task('ready'), of({ queue: 'gpu' }), run({ queues: null }), null, ''],
  ['waits for its retry', task('retrying', { retryAt: SOON }), of({ queue: 'gpu' }), run(), 'retry', SOON],
  [
    'is due for its retry, behind a breaker',
    task('retrying', { retryAt: '2025-01-01T00:00:00Z', heldBy: 'breaker a1' }),
    of(),
    run(),
    'breaker',
    'breaker a1',
  ],
  [
    'is held by the breaker of the dag',
    task('ready', { heldBy: 'breaker of the dag' }),
    of({ queue: 'gpu' }),
    run(),
    'breaker',
    'breaker of the dag',
  ],
  ['is paused', task('ready', { paused: PAUSE, heldBy: 'breaker of the dag' }), of(), run(), 'task_paused', 'by ada'],
  [
    'is in a paused run',
    task('ready', { paused: PAUSE }),
    of(),
    run({ paused: PAUSE }),
    'run_paused',
    'The run is paused, by ada',
  ],
  [
    'is blocked in a paused run',
    task('blocked'),
    of({ unmet: [{ name: 'b', state: 'ready' }] }),
    run({ paused: PAUSE }),
    'run_paused',
    'ada',
  ],
  [
    'is in a queued run',
    task('ready'),
    of(),
    run({ state: 'queued', maxActiveRuns: 1 }),
    'run_queued',
    'maxActiveRuns: 1',
  ],
  [
    'is in a run that was set aside',
    task('ready'),
    of(),
    run({ state: 'set_aside', setAsideReason: 'bug 7' }),
    'set_aside',
    'bug 7',
  ],
  [
    'waits for others',
    task('blocked'),
    of({ unmet: ['b', 'c', 'd', 'e'].map((name) => ({ name, state: 'running' })) }),
    run(),
    'upstream',
    'b (running), c (running), d (running) and 1 more',
  ],
  ['closes the run', task('blocked', { role: 'teardown' }), of(), run(), 'closing', 'when the run closes'],
  [
    'waits for a child',
    task('waiting', { child: { dag: 'other', run: 'r-1' } }),
    of(),
    run(),
    'child',
    'run r-1 of dag other',
  ],
  ['was skipped', task('skipped', { reason: 'The branch chose b.' }), of(), run(), 'skipped', 'The branch chose b.'],
  ['could not run', task('upstream_failed', { reason: 'b failed' }), of(), run(), 'upstream_failed', 'b failed'],
  ['is poison', task('failed', { deadLetter: 'poison', attempt: 5 }), of(), run(), 'given_up', 'poison: 5 attempts'],
  [
    'has used its retries',
    task('failed', { deadLetter: 'retries', attempt: 3 }),
    of(),
    run(),
    'given_up',
    '3 attempts',
  ],
  ['failed, and its letter was replayed', task('failed'), of(), run(), null, ''],
  [
    'is a map whose items nobody takes',
    task('expanded', { instances: { total: 2, states: { ready: 2 } } }),
    of({ queue: 'gpu' }),
    run(),
    'no_worker',
    'gpu',
  ],
  [
    'is a map that runs',
    task('expanded', { instances: { total: 2, states: { ready: 1, running: 1 } } }),
    of({ queue: 'full' }),
    run(),
    null,
    '',
  ],
])('a task that %s says so', (_, its, facts, inRun, code, words) => {
  // biome-ignore format: a table
  const why = whyOf(its, facts, inRun);
  expect(why?.code ?? null).toBe(code);
  expect(why?.message ?? '').toContain(words);
});

test('a run says what holds it while nothing of it runs, the most telling first', () => {
  const why = (code: 'no_worker' | 'retry') => ({ code, message: 'M.', until: null });
  const waiting = [task('retrying', { why: why('retry') }), task('ready', { name: 'b', why: why('no_worker') })];
  expect(whyRunWaits(waiting, run())).toEqual({ code: 'no_worker', message: 'Task b: M.', until: null });
  expect(whyRunWaits([...waiting, task('running')], run())).toBeNull();
  expect(whyRunWaits(waiting, run({ state: 'ended' }))).toBeNull();
  expect(whyRunWaits(waiting, run({ paused: PAUSE }))).toMatchObject({ code: 'run_paused' });
});

const request = (more: Partial<Request>): Request => ({
  resources: {},
  labels: {},
  exclusive: false,
  noSpot: false,
  ...more,
});
const GIB = 2 ** 30;
const fleet = queueFacts([
  { ...worker(['default'], 4, 1), resources: { memory: 32 * GIB }, free: { memory: GIB }, labels: { disk: 'ssd' } },
  { ...worker(['default'], 4, 1), resources: { gpu: 1 }, free: { gpu: 1 }, labels: { zone: 'b', spot: 'true' } },
  { ...worker(['default'], 4, 0, true), resources: { memory: 64 * GIB }, free: {}, labels: {} },
]);

test.each<[string, Partial<Request>, string | null, string]>([
  ['fits', { labels: { disk: 'ssd' } }, null, ''],
  ['a label', { labels: { disk: 'tape' } }, 'no_worker_fits', 'No worker of queue "default" offers label disk=tape.'],
  [
    'too much',
    { resources: { memory: 64 * GIB } },
    'no_worker_fits',
    'No worker of queue "default" has 64 GiB of memory; the largest has 32 GiB of memory.',
  ],
  [
    'never all',
    { labels: { disk: 'ssd' }, resources: { gpu: 1 } },
    'no_worker_fits',
    'offers all that the task asks for',
  ],
  ['no spot', { noSpot: true, resources: { gpu: 1 } }, 'no_worker_fits', 'offers all that the task asks for'],
  [
    'room',
    { resources: { memory: 4 * GIB } },
    'no_room',
    'The task waits for 4 GiB of memory: 1 worker fits, with at most 1 GiB of memory free.',
  ],
  ['idle', { exclusive: true }, 'no_room', 'The task wants a worker for itself: 2 workers fit, and none is idle.'],
])('a task that asks for what is not there says so: %s', (_, asked, code, message) => {
  const why = whyOf(task('ready'), of({ request: request(asked) }), run({ queues: fleet }));
  expect(why?.code ?? null).toBe(code);
  if (code !== null) expect(why?.message).toContain(message);
});

test.each<[string, Partial<Request>, string | null, string]>([
  ['has room', { gang: { size: 2 } }, null, ''],
  [
    'is larger than the fleet',
    { gang: { size: 3 } },
    'no_worker_fits',
    'The gang needs 3 workers at once, and queue "default" has 2 that fit.',
  ],
  [
    'waits for idle workers',
    { gang: { size: 2 }, exclusive: true },
    'gang',
    'waits for 2 workers at once: 0 have room.',
  ],
  ['waits for places', { gang: { size: 7, share: true } }, 'gang', 'waits for 7 places at once: 6 are free.'],
  ['needs more places', { gang: { size: 9, share: true } }, 'no_worker_fits', 'workers of queue "default" have 8.'],
])('a gang that %s says so', (_, asked, code, message) => {
  const why = whyOf(task('ready'), of({ request: request(asked) }), run({ queues: fleet }));
  expect(why?.code ?? null).toBe(code);
  expect(why?.message ?? '').toContain(message);
});

test('a member of a gang says which other one it waits for', () => {
  const blockers = [{ code: 'gang', subject: 'fit[2] is retrying' }];
  const why = whyOf(task('ready'), of({ wait: { blockers, ahead: 0 } }), run({ queues: fleet }));
  expect(why).toMatchObject({ code: 'gang', message: expect.stringContaining('fit[2] is retrying') });
});

test('a task says that a worker is reserved for it, and others that theirs is for somebody else', () => {
  const LARGE = request({ exclusive: true });
  const one = { ...worker(['default'], 4, 1), resources: { cpu: 4_000 }, free: { cpu: 4_000 }, labels: {} };
  const reserved = (reservedFor: { queue: string; key: string } | null) => queueFacts([{ ...one, reservedFor }]);
  const own = reserved({ queue: 'default', key: requestKey(LARGE) });
  const say = (asked: Request | undefined, queues = own) =>
    whyOf(task('ready'), of(asked === undefined ? {} : { request: asked }), run({ queues }));
  expect(say(LARGE)).toMatchObject({
    code: 'no_room',
    message: expect.stringContaining('A worker is reserved for it'),
  });
  const others = expect.stringContaining('reserved for tasks that have waited longer');
  expect(say(request({ resources: { cpu: 1_000 } }))).toMatchObject({ code: 'no_room', message: others });
  expect(say(LARGE, reserved(null))).toMatchObject({ code: 'no_room', message: others });
  expect(say(undefined)).toMatchObject({
    code: 'workers_busy',
    message: 'All 4 slots for queue "default" are in use, or reserved for a larger task that has waited for long.',
  });
});
