import {
  type Command,
  type DagId,
  DEFAULT_SETTINGS,
  type Epoch,
  type Instant,
  NOTHING_NEAR,
  type RunId,
  restoreSchedule,
  type ScheduleNo,
  type Seen,
  type ShardNo,
  State,
  scheduleIdOf,
  type TenantId,
} from '@signalbox/engine';
import type { CommitChain, RestCursor, Store } from '@signalbox/store';
import { expect, test } from 'vitest';
import { LOAD_SIZES } from '../ownership/load.ts';
import type { Outcome } from './inbox.ts';
import { Turns, WORTH_A_COMMIT } from './turns.ts';

const shard = 3 as ShardNo;
const NOTHING: Seen = {
  runs: [],
  dags: [],
  versions: [],
  due: [],
  zoned: null,
  schedules: [],
  deadLetters: [],
  windows: [],
  tables: {},
  pasts: [],
  requirements: [],
};
/** Of a dag that there is not: answered without a change. */
const dagId = 67 as DagId;
const command = {
  kind: 'SetSchedulePaused',
  shard,
  tenantId: 1 as TenantId,
  dagId,
  name: 'default',
  paused: true,
} as Command;
const refused = { status: 'answered', answer: { ok: false, code: 'DAG_NOT_FOUND' } };

/** Lets promises settle until it is so. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Promise.resolve();
}

function setUp() {
  const world = {
    epoch: 5 as Epoch,
    fetched: [] as Seen[],
    failures: [] as string[],
    errors: [] as string[],
    /** What is left to load after a takeover, turn by turn: `next` is null with the last part. */
    rest: [] as { readonly next: RestCursor | null }[],
    loadedParts: 0,
  };
  let mono = 0;
  let isSilent = false;
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  const after = (delayMs: number, run: () => void) => {
    const timer = { at: mono + delayMs, run };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const pass = (ms: number) => {
    mono += ms;
    for (const timer of timers) if (timer.at <= mono && timers.delete(timer)) timer.run();
  };
  /** The database gives no answer any more. */
  const silence = () => {
    isSilent = true;
  };
  const store = {
    observe: () => {
      if (isSilent) return new Promise(() => undefined);
      return Promise.resolve({ nodes: [], shards: [{ shard, epoch: world.epoch, owner: null }] });
    },
    fetch: async () => world.fetched.shift() ?? NOTHING,
    loadRest: async () => {
      world.loadedParts += 1;
      return { runs: [], dags: [], versions: [], ...(world.rest.shift() ?? { next: null }) };
    },
  };
  const chain: CommitChain = { commit: async () => undefined, close: async () => undefined };
  const turns = new Turns({
    store: store as unknown as Store,
    clock: { wall: () => 0 as never, mono: () => mono as never, after },
    random: { uint32: () => 1 },
    worthACommit: WORTH_A_COMMIT,
    mostLiveRuns: 1_000_000,
    loadSizes: LOAD_SIZES,
    log: (level, message) => level === 'error' && world.errors.push(message),
    onCommitted: () => undefined,
    onEffects: () => undefined,
    onTurn: () => undefined,
    onFailure: (reason) => {
      world.failures.push(reason);
      turns.halt(reason);
    },
  });
  const begin = () => {
    const span = { fromMs: -1e12, untilMs: 1e14 };
    const zoneData = (zone: string) => ({ zone, tzVersion: 'test', initialOffsetMs: 0, transitions: [], ...span });
    const state = new State({ ...DEFAULT_SETTINGS, zoneData });
    const fresh = { commitNo: 0, lastRunId: 0 as RunId, lastDagNo: 0, missedUntil: 0 as Instant };
    // The store here has no schedules to fetch.
    const near = { ...NOTHING_NEAR, nearUntil: 1e15 as Instant };
    state.shards.set(shard, { shard, epoch: 5 as Epoch, ...fresh, ...near });
    turns.begin(state, chain);
    return state;
  };
  const ask = () => new Promise<Outcome>((resolve) => turns.inbox.offer({ command, reply: resolve }));
  return { world, turns, begin, ask, pass, silence };
}

test('what is told without a commit is told by the owner', async () => {
  const { begin, ask } = setUp();
  begin();
  expect(await ask()).toMatchObject(refused);
});

/** A schedule of the dag whose windows depend on its other runs, or do not. */
function addSchedule(state: State, ifRunning: 'cancel_running' | 'allow'): void {
  const spec = { everyMs: 60_000, zone: 'UTC', gap: 'skip', ifRunning } as never;
  const [decidedUntil, dueAt] = [0 as Instant, 60_000 as Instant];
  const named = { dagId, scheduleNo: 1 as ScheduleNo, name: 'default', origin: 'definition' } as const;
  restoreSchedule(state, {
    shard,
    ...named,
    revision: 1,
    spec,
    paused: false,
    decidedUntil,
    fault: null,
    fired: 0,
    dueAt,
  });
  state.partial.set(dagId, new Set());
}

test.each([
  ['cancel_running', true],
  ['allow', false],
] as const)(
  'a command that decides windows which depend on other runs waits until those are loaded (I7): %s',
  async (ifRunning, isLate) => {
    const { world, turns, begin, ask } = setUp();
    world.rest = [...Array.from({ length: 49 }, () => ({ next: {} as RestCursor })), { next: null }];
    addSchedule(begin(), ifRunning);
    turns.loadRest([shard]);
    const answered = ask().then((outcome) => ({ outcome, loadedParts: world.loadedParts }));
    const { outcome, loadedParts } = await answered;
    expect(outcome).toMatchObject(refused);
    expect(loadedParts === 50).toBe(isLate);
  },
);

test('a command that waits for runs goes to the next engine when its own is gone (I16)', async () => {
  const { world, turns, begin, ask } = setUp();
  addSchedule(begin(), 'cancel_running');
  world.rest = Array.from({ length: 1_000 }, () => ({ next: {} as RestCursor }));
  turns.loadRest([shard]);
  const answered = ask();
  await until(() => world.loadedParts > 2);
  turns.halt('by the test');
  begin();
  expect(await answered).toMatchObject(refused);
});

test('once another node has taken the shard nothing is told from memory (I16)', async () => {
  const { world, turns, begin, ask } = setUp();
  begin();
  world.epoch = 6 as Epoch;
  expect(await ask()).toMatchObject({ status: 'unknown' });
  expect(world.failures).toEqual([expect.stringMatching(/another node has taken shard 3/)]);
  expect(turns.current()).toBeNull();
});

test('a database that gives no answer holds nobody for ever: what was sent has an unknown end (I72)', async () => {
  const { world, turns, begin, ask, pass, silence } = setUp();
  begin();
  await ask();
  silence();
  const answer = ask();
  await new Promise((resolve) => setImmediate(resolve));
  pass(9_000);
  expect(world.failures).toEqual([]);
  pass(1_000);
  expect(await answer).toMatchObject({ status: 'unknown' });
  expect(world.failures).toEqual([expect.stringMatching(/no answer within 10000 ms/)]);
  expect(turns.current()).toBeNull();
});

test('a decision that throws is tried again on fresh memory before anybody is blamed (I57)', async () => {
  const { world, begin, ask } = setUp();
  begin();
  const broken = { ...NOTHING, runs: [null] } as unknown as Seen;
  world.fetched = [broken];
  const answer = ask();
  while (world.failures.length === 0) await Promise.resolve();
  begin();
  expect(await answer).toMatchObject(refused);
  expect(world.errors).toEqual([]);
});

test('a decision that throws again, alone, is given up', async () => {
  const { world, begin, ask } = setUp();
  begin();
  const broken = { ...NOTHING, runs: [null] } as unknown as Seen;
  world.fetched = [broken, broken];
  const answer = ask();
  while (world.failures.length === 0) await Promise.resolve();
  begin();
  expect(await answer).toMatchObject({ status: 'unknown' });
  expect(world.errors).toEqual(['A decision threw.']);
});

test('a command that threw is not decided once its sender has begun anew (I11)', async () => {
  const { world, turns, begin, ask } = setUp();
  begin();
  world.fetched = [{ ...NOTHING, runs: [null] } as unknown as Seen];
  let isVoid = false;
  const answers: Outcome[] = [];
  turns.inbox.offer({ command, reply: (outcome) => answers.push(outcome), isVoid: () => isVoid });
  while (world.failures.length === 0) await Promise.resolve();
  isVoid = true;
  begin();
  await ask();
  expect(answers).toEqual([]);
});

test('what is told while no engine is at work is not kept for the next one (I25, I60)', () => {
  const { turns, begin } = setUp();
  turns.tell(command);
  expect(turns.inbox.size).toBe(0);
  begin();
  turns.tell(command);
  expect(turns.inbox.size).toBe(1);
  turns.halt('it broke');
  expect(turns.inbox.size).toBe(0);
});

test('a run that was to be set aside is loaded again once that is done, or is not ours to do (I57)', async () => {
  const { turns, begin, ask } = setUp();
  turns.charges.strikeRun(65_536 as RunId, 'it broke', true);
  expect([...turns.charges.quarantined]).toEqual([65_536]);
  begin();
  await ask();
  expect([...turns.charges.quarantined]).toEqual([]);
});

test('all strikes are decided in one step, and one by one if that throws (I44, I57)', async () => {
  const { turns, begin, ask, world } = setUp();
  const [one, two] = [65_536, 65_537] as RunId[];
  for (const runId of [one, two]) turns.charges.strikeRun(runId!, 'it broke', true);
  const batches: number[] = [];
  const { charges } = turns;
  const next = charges.next.bind(charges);
  charges.next = () => {
    const taken = next();
    if (taken !== null) batches.push(taken.length);
    return taken;
  };
  world.fetched = [{ ...NOTHING, runs: [null] } as unknown as Seen];
  begin();
  while (world.failures.length === 0) await Promise.resolve();
  expect([...charges.quarantined]).toEqual([one, two]);
  begin();
  await ask();
  expect(batches).toEqual([2, 1, 1]);
  expect([...charges.quarantined]).toEqual([]);
});

test('a tick that throws about a schedule, twice, has that schedule paused; the command beside it is decided (I57)', async () => {
  const { world, turns, begin, ask } = setUp();
  const dagId = 67 as DagId;
  const scheduleNo = 1 as ScheduleNo;
  const id = scheduleIdOf({ dagId, scheduleNo });
  const spoilt = () => {
    const state = begin();
    const timetable = new Proxy({}, { get: () => expect.fail('cron is broken') });
    // One that is always in memory: a run of its dag waits, and may be one that does not tell why.
    const policy = { missed: 'skip', missedLimit: 1, ifRunning: 'skip' } as const;
    const spec = { cron: '* * * * *', zone: 'UTC', gap: 'skip', ...policy } as const;
    const which = { id, shard, dagId, scheduleNo, name: 'default', origin: 'definition' };
    const stored = { ...which, revision: 1, spec, paused: false, decidedUntil: -1, fault: null, fired: 0, dueAt: 0 };
    const broken = { ...stored, timetable, watch: null as object | null };
    state.schedules.put(broken as never);
    state.dags.byId.set(dagId, { id: dagId, waitingRuns: { size: 1 } } as never);
    broken.watch = { at: 0, schedule: broken };
    state.windows.push(broken.watch as never);
    return state;
  };
  spoilt();
  const answer = ask();
  for (const failures of [1, 2]) {
    while (world.failures.length < failures) await new Promise((resolve) => setImmediate(resolve));
    if (failures === 1) spoilt();
  }
  const state = spoilt();
  expect(await answer).toMatchObject(refused);
  expect(state.schedules.get(id)).toMatchObject({ paused: true, fault: 'cron is broken' });
  expect(world.failures).toHaveLength(2);
  expect(turns.current()).not.toBeNull();
});

/** Everything that can go on without the database has gone on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('behind a batch in flight a few commands wait for it, and 200 do not', async () => {
  const { turns, begin, ask, silence } = setUp();
  begin();
  await settle();
  silence();
  void ask();
  await settle();
  expect(turns.inbox.size).toBe(0);
  for (let i = 0; i < 199; i++) void ask();
  await settle();
  expect(turns.inbox.size).toBe(199);
  void ask();
  await settle();
  expect(turns.inbox.size).toBe(0);
});

test('commands that wait for a batch in flight are decided when it is done', async () => {
  const { world, begin, ask } = setUp();
  begin();
  await settle();
  expect(await Promise.all([ask(), settle().then(ask), settle().then(ask)])).toMatchObject([refused, refused, refused]);
  expect(world.failures).toEqual([]);
});
