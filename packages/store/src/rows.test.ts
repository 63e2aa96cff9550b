import {
  type AttemptClaimed,
  type AttemptEnded,
  type Change,
  type ClaimReturned,
  type Fence,
  foldRows,
  RESIDENT,
  type RunCreated,
  type ScheduleNo,
  scheduleIdOf,
  type TaskNo,
} from '@signalbox/engine';
import { expect, test } from 'vitest';
import { commitCalls } from './commit.ts';
import { claimed, created, deployed, ended, newWorkerId, START, succeeded } from './conformance/changes.ts';
import { LateMoves } from './late-moves.ts';

const worker = newWorkerId();
const dag = deployed(5, 1);
const run: RunCreated = created(dag, (5 * 65_536) as RunCreated['runId'], { admitted: false });
const claim: AttemptClaimed = claimed(run, worker);
const claimAgain: AttemptClaimed = { ...claim, firstOfTask: false, firstOfRun: false, fence: 2 as never };
const returned: ClaimReturned = {
  kind: 'ClaimReturned',
  runId: run.runId,
  taskNo: 0 as TaskNo,
  fence: claim.fence,
  reason: 'refused',
  at: START,
};
const failed: AttemptEnded = {
  ...succeeded(claim),
  outcome: 'lost',
  taskState: 'retrying',
  retryAt: START,
  lostCount: 1,
  error: 'gone',
};
const admitted: Change = { kind: 'RunAdmitted', runId: run.runId, at: START };
const closing: Change = { kind: 'RunClosing', runId: run.runId, outcome: 'cancelled', actor: dag.actor, at: START };
const struck: Change = { kind: 'RunStruck', runId: run.runId, strikes: 1, setAside: false, reason: 'x', at: START };
const done = [succeeded(claim), ended(run)];

const days = { run: new Set<number>(), journal: new Set<number>(), window: new Set<number>() };

/** The statements between fence and journal. */
function statementsOf(changes: readonly Change[]): string[] {
  const batch = { shards: [], changes, at: START };
  const calls = commitCalls(batch, { nodeId: worker as never, chainNo: 1, commitNo: 1, days, late: new LateMoves() });
  return calls.slice(2, -1).map(({ statement }) => statement.name.replace('_default', ''));
}

test.each<[string, Change[], string[]]>([
  ['created', [run], ['insert_runs', 'insert_live_runs']],
  ['created and admitted', [run, admitted], ['insert_runs', 'insert_live_runs']],
  ['created and claimed', [run, claim], ['insert_runs', 'insert_claimed_tasks', 'insert_live_runs']],
  ['created to ended', [run, claim, ...done], ['insert_whole_runs', 'insert_whole_tasks']],
  ['created and struck', [run, struck], ['insert_whole_runs', 'insert_live_runs']],
  ['claimed', [claim], ['insert_claimed_tasks', 'mark_live_runs']],
  ['claimed and returned', [claim, returned], ['insert_whole_tasks', 'mark_live_runs']],
  ['claimed, returned, claimed', [claim, returned, claimAgain], ['insert_claimed_tasks', 'mark_live_runs']],
  [
    'claimed, failed, claimed',
    [claim, failed, claimAgain],
    ['insert_whole_tasks', 'mark_live_runs', 'insert_attempts'],
  ],
  ['ended', done, ['end_runs', 'end_tasks', 'delete_live_runs']],
  ['failed, to be retried', [failed], ['end_tasks', 'insert_attempts']],
  ['failed and claimed again', [failed, claimAgain], ['change_tasks', 'insert_attempts']],
  ['claimed again and ended', [claimAgain, ...done], ['end_runs', 'change_tasks', 'delete_live_runs']],
  ['returned', [returned], ['change_tasks']],
  ['admitted', [admitted], ['change_runs', 'mark_live_runs']],
  ['closing', [closing], ['change_runs']],
  ['closing and ended', [closing, ended(run)], ['change_runs', 'delete_live_runs']],
])('%s: each row is written once', (_, changes, expected) => {
  expect(statementsOf(changes)).toEqual(expected);
});

const reopened: Change = {
  kind: 'RunReopened',
  runId: run.runId,
  admitted: true,
  retryNo: 0,
  actor: dag.actor,
  at: START,
};
const cleared: Change = {
  kind: 'TaskCleared',
  runId: run.runId,
  taskNo: 0 as TaskNo,
  attemptNo: claim.attemptNo,
  fence: claim.fence,
  from: 'failed',
  freshBudget: true,
  more: false,
  actor: dag.actor,
  at: START,
};
const marked: Change = {
  kind: 'TaskMarked',
  runId: run.runId,
  taskNo: 0 as TaskNo,
  attemptNo: claim.attemptNo,
  fence: 2 as Fence,
  firstOfTask: false,
  firstOfRun: false,
  state: 'succeeded',
  output: '{}',
  facts: null,
  reason: null,
  actor: dag.actor,
  at: START,
};
const paused: Change = {
  kind: 'PauseSet',
  runId: run.runId,
  taskNo: null,
  paused: true,
  until: null,
  actor: dag.actor,
  at: START,
};
const MANUAL = ['roll_back_runs', 'open_runs', 'live_again', 'keep_attempts', 'clear_tasks', 'close_letters'];

test.each<[string, Change[], string[]]>([
  ['opened again', [reopened, cleared], MANUAL],
  [
    'cleared and marked',
    [cleared, marked],
    ['keep_attempts', 'clear_tasks', 'close_letters', 'keep_attempts', 'mark_tasks', 'put_payloads', 'close_letters'],
  ],
  [
    'marked first',
    [{ ...marked, firstOfTask: true, firstOfRun: true, output: null }],
    ['insert_marked_tasks', 'claim_live_runs', 'drop_payloads'],
  ],
  ['paused twice', [paused, { ...paused, paused: false }], ['set_pauses', 'set_pauses']],
  ['opened and claimed', [reopened, cleared, claimAgain], [...MANUAL, 'change_tasks']],
  ['ended and opened', [...done, reopened, cleared], ['end_runs', 'end_tasks', 'delete_live_runs', ...MANUAL]],
])('by hand, %s: what was left is read before it is overwritten', (_, changes, expected) => {
  expect(statementsOf(changes)).toEqual(expected);
});

test('a task claimed anew after it was lost keeps the count of lost attempts', () => {
  const task = foldRows([claim, failed, claimAgain])
    .runs.get(run.runId)
    ?.tasks?.get(0 as TaskNo);
  expect(task).toMatchObject({ isNew: true, last: claimAgain, end: { lostCount: 1 } });
});

test('the output of an attempt is kept only if it succeeded (I36)', () => {
  expect(foldRows([{ ...failed, output: 'half' }]).payloads).toEqual([]);
  expect(foldRows([succeeded(claim, '{}')]).payloads).toEqual([{ runId: run.runId, taskNo: 0, body: '{}' }]);
});

const first = { scheduleNo: 1 as ScheduleNo, name: 'default' };
const window = (firesAt: number): Change => ({
  kind: 'WindowDecided',
  ...first,
  shard: dag.shard,
  dagId: dag.dagId,
  firesAt: firesAt as never,
  wallTime: null,
  runId: null,
  skipped: 'missed',
  count: 1,
  untilAt: firesAt as never,
  at: START,
});
const set = (decidedUntil: number): Change => ({
  kind: 'ScheduleSet',
  ...first,
  origin: 'definition',
  fired: 0,
  dueAt: RESIDENT,
  shard: dag.shard,
  dagId: dag.dagId,
  revision: 1,
  spec: { cron: '* * * * *', zone: 'UTC', gap: 'skip', missed: 'skip', missedLimit: 1 },
  paused: false,
  decidedUntil: decidedUntil as never,
  fault: null,
  actor: dag.actor,
  at: START,
});
const removed: Change = {
  kind: 'ScheduleRemoved',
  ...first,
  shard: dag.shard,
  dagId: dag.dagId,
  decidedUntil: 20 as never,
  actor: dag.actor,
  at: START,
};

test.each<[string, Change[], number | null]>([
  ['windows move it to the last of them', [window(20), window(10)], 20],
  ['an edit says where it is', [window(20), set(10)], 10],
  ['windows after an edit move it on', [set(10), window(20)], 20],
  ['a removed schedule has none', [window(20), removed], null],
  ['one removed and set anew', [removed, set(5)], 5],
])('decided until: %s', (_, changes, expected) => {
  expect(foldRows(changes).schedules.get(scheduleIdOf({ ...dag, ...first }))?.decidedUntil).toBe(expected);
});

test.each<[string, Change['kind'][], { heard: boolean; silent: boolean }]>([
  ['silent', ['WorkerSilenced'], { heard: false, silent: true }],
  ['heard', ['WorkerHeardAgain'], { heard: true, silent: false }],
  ['silent, then heard', ['WorkerSilenced', 'WorkerHeardAgain'], { heard: true, silent: false }],
  ['heard, then silent: a new silence', ['WorkerHeardAgain', 'WorkerSilenced'], { heard: true, silent: true }],
])('a worker that was %s', (_, kinds, expected) => {
  const rows = foldRows(kinds.map((kind) => ({ kind, shard: dag.shard, workerId: worker }) as Change));
  expect([...rows.silence.values()]).toMatchObject([expected]);
});
