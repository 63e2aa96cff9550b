/**
 * The verdict over a cluster that has been through something, from outside: what clients were promised, what handlers
 * saw, what the database holds and what the journal says. An empty list is a pass.
 */
import type { Change } from '@signalbox/engine';
import { openPostgresStore } from '@signalbox/store';
import type { Cluster } from './cluster.ts';
import type { Sighting } from './witness.ts';

export interface Promised {
  /** Uids of runs that a client was told are accepted. */
  readonly accepted: readonly string[];
  /** Workers that were killed or frozen: what they ran may run again elsewhere (not promised to run once). */
  readonly lostWorkers: readonly string[];
}

export async function verdict(cluster: Cluster, promised: Promised): Promise<string[]> {
  const faults: string[] = [];
  await checkRunsEnded(cluster, promised, faults);
  await checkWindows(cluster, faults);
  await checkJournal(cluster, faults);
  checkStartedOnce(cluster.sightings(), promised.lostWorkers, faults);
  return faults;
}

/** I10, I72: what was accepted is there, once, and has ended. */
async function checkRunsEnded(cluster: Cluster, { accepted }: Promised, faults: string[]): Promise<void> {
  const { rows } = await cluster.sql.query<{ uid: string; phase: number; count: string }>(
    'select uid, max(phase) as phase, count(*) from run group by uid',
  );
  const stored = new Map(rows.map((row) => [row.uid, row]));
  for (const uid of accepted) {
    const row = stored.get(uid);
    if (row === undefined) faults.push(`I10: run ${uid} was accepted and is not there`);
    else if (Number(row.count) !== 1) faults.push(`I11: run ${uid} is there ${row.count} times`);
  }
  const live = await cluster.sql.query<{ count: string }>('select count(*) from live_run');
  if (live.rows[0]?.count !== '0') faults.push(`I72: ${live.rows[0]?.count} runs have not ended`);
}

/** I1: no window has two runs. */
async function checkWindows(cluster: Cluster, faults: string[]): Promise<void> {
  const { rows } = await cluster.sql.query<{ dag_id: string; fires_at: string; count: string }>(
    'select dag_id, fires_at, count(*) from run where fires_at is not null group by 1, 2 having count(*) > 1',
  );
  for (const { dag_id, fires_at, count } of rows)
    faults.push(`I1: window ${fires_at} of dag ${dag_id} has ${count} runs`);
}

/** What each task went through, in the order of commits. */
interface TaskHistory {
  fence: number;
  attempt: number;
  isRunning: boolean;
  hasEnded: boolean;
}

/** I14, I20, I21, I23, I58: commits of a shard without a gap and by rising epoch; one claim at a time, numbered without a gap. */
async function checkJournal(cluster: Cluster, faults: string[]): Promise<void> {
  const store = await openPostgresStore({ url: cluster.postgres.url });
  try {
    for (let shard = 0; shard < 64; shard++) {
      let [commitNo, epoch] = [0, 0];
      const tasks = new Map<string, TaskHistory>();
      for (;;) {
        const page = await store.readJournal(shard as Parameters<typeof store.readJournal>[0], commitNo, 500);
        if (page.length === 0) break;
        for (const entry of page) {
          const stamp = entry.shards.find((each) => each.shard === shard);
          if (stamp === undefined) continue;
          if (stamp.commitNo !== commitNo + 1)
            faults.push(`I58: shard ${shard} goes from commit ${commitNo} to ${stamp.commitNo}`);
          if (stamp.epoch < epoch) faults.push(`I14: shard ${shard} has epoch ${stamp.epoch} after ${epoch}`);
          [commitNo, epoch] = [stamp.commitNo, stamp.epoch];
          if (entry.unreadable !== null)
            faults.push(`I19: shard ${shard} has an unreadable commit ${commitNo}: ${entry.unreadable.problem}`);
          for (const change of entry.changes) followTask(tasks, change, shard, faults);
        }
      }
    }
  } finally {
    await store.close();
  }
}

function followTask(tasks: Map<string, TaskHistory>, change: Change, shard: number, faults: string[]): void {
  if (change.kind !== 'AttemptClaimed' && change.kind !== 'AttemptEnded' && change.kind !== 'ClaimReturned') return;
  if (Math.floor(change.runId / 65_536) % 64 !== shard) return;
  const key = `${change.runId}/${change.taskNo}`;
  const task = tasks.get(key) ?? { fence: 0, attempt: 0, isRunning: false, hasEnded: false };
  tasks.set(key, task);
  if (change.kind === 'AttemptClaimed') {
    if (task.isRunning) faults.push(`I23: ${key} was claimed while it was running`);
    if (task.hasEnded) faults.push(`I32: ${key} was claimed after it had ended`);
    if (change.fence <= task.fence) faults.push(`I20: ${key} got fence ${change.fence} after ${task.fence}`);
    if (change.attemptNo !== task.attempt + 1)
      faults.push(`I23: ${key} goes from attempt ${task.attempt} to ${change.attemptNo}`);
    Object.assign(task, { fence: change.fence, isRunning: true });
    return;
  }
  if (!task.isRunning || change.fence !== task.fence)
    faults.push(`I21: ${key} took word of fence ${change.fence}, valid was ${task.fence}`);
  task.isRunning = false;
  if (change.kind === 'AttemptEnded') {
    task.attempt = change.attemptNo;
    task.hasEnded = change.taskState !== 'retrying';
  }
}

/** I17: with no worker lost, no handler begins twice, whatever happened to servers and the database. */
function checkStartedOnce(sightings: readonly Sighting[], lostWorkers: readonly string[], faults: string[]): void {
  const began = new Map<string, Sighting[]>();
  for (const sighting of sightings) {
    if (sighting.what !== 'began') continue;
    const key = `${sighting.run}/${sighting.task}`;
    began.set(key, [...(began.get(key) ?? []), sighting]);
  }
  for (const [key, starts] of began) {
    const kept = starts.filter(({ worker }) => !lostWorkers.includes(worker));
    if (kept.length > 1) faults.push(`I17: ${key} began ${kept.length} times: ${JSON.stringify(kept)}`);
  }
}
