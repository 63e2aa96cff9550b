/** What needs a person, from what the home page has read anyway. */
import type {
  BreakerPage,
  DeadLetterGroups,
  NodePage,
  QueueView,
  RunColumns,
  RunSummary,
  SchedulePage,
  Storage,
  WorkerPage,
} from '@signalbox/protocol';
import { bytes, plural, span } from '../../parts/format.ts';

interface Attention {
  readonly key: string;
  readonly tone: 'bad' | 'warn';
  readonly text: string;
  readonly to: string;
  readonly action: string;
}

export interface Facts {
  readonly letters: DeadLetterGroups | undefined;
  readonly breakers: BreakerPage | undefined;
  readonly workers: WorkerPage | undefined;
  readonly nodes: NodePage | undefined;
  /** Why runs that are open do not go on. */
  readonly waiting: readonly Pick<RunColumns, 'id' | 'dag' | 'why'>[];
  readonly schedules: readonly Pick<SchedulePage['items'][number], 'dag' | 'fault' | 'nextAt' | 'paused'>[];
  readonly queues: readonly Pick<QueueView, 'name' | 'waiting' | 'workers'>[];
  readonly open: readonly Pick<RunSummary, 'dag' | 'slowAt'>[];
  readonly storage: Pick<Storage, 'disk'> | undefined;
  /** What the server said when it could not read its database. */
  readonly databaseTrouble: string | null;
  readonly now: number;
}

/** A firing is decided within a second or two; a minute late means that something holds the scheduler up. */
export const LATE_MS = 60_000;
const LOW_SHARE = 0.05;
const LOW_BYTES = 1e9;

export function attentionOf(facts: Facts): Attention[] {
  const { letters, breakers, workers, nodes, waiting } = facts;
  const found: Attention[] = [...storageTrouble(facts)];
  const add = (one: Attention) => found.push(one);
  if (nodes !== undefined && nodes.unowned > 0) {
    const text = `${plural(nodes.unowned, 'shard')} of 64 have no owner: their runs stand still.`;
    add({ key: 'shards', tone: 'bad', text, to: '/system', action: 'Servers' });
  }
  for (const node of nodes?.items ?? []) {
    if (node.unfit === null) continue;
    add({
      key: `unfit ${node.id}`,
      tone: 'bad',
      text: `Server ${node.address} owns nothing: ${node.unfit}`,
      to: '/system',
      action: 'Servers',
    });
  }
  if (workers !== undefined && workers.items.length === 0 && workers.missing.length === 0) {
    add({
      key: 'workers',
      tone: 'bad',
      text: 'No worker is connected, so no task can run.',
      to: '/workers',
      action: 'Start one',
    });
  }
  for (const { id, dag, why } of oncePerReason(waiting)) {
    if (why?.code === 'no_worker' && (workers?.items.length ?? 0) > 0) {
      add({ key: `why ${id}`, tone: 'bad', text: `${dag}: ${why.message}`, to: `/runs/${id}`, action: 'Open the run' });
    } else if (why?.code === 'set_aside') {
      add({ key: `why ${id}`, tone: 'bad', text: `${dag}: ${why.message}`, to: `/runs/${id}`, action: 'Open the run' });
    }
  }
  const open = breakers?.items.filter(({ state }) => state === 'open') ?? [];
  if (open.length > 0) {
    const dags = [...new Set(open.map(({ dag }) => dag))];
    const text = `${plural(open.length, 'breaker')} open: tasks of ${list(dags)} are held back.`;
    add({ key: 'breakers', tone: 'warn', text, to: '/breakers', action: 'Breakers' });
  }
  const count = letters?.items.reduce((sum, group) => sum + group.count, 0) ?? 0;
  if (count > 0) {
    const groups = letters?.items.length ?? 0;
    const text = `${plural(count, 'task')} failed for good, for ${plural(groups, 'reason')}. Replay or discard them.`;
    add({ key: 'letters', tone: 'warn', text, to: '/dead-letters', action: 'Dead letters' });
  }
  found.push(...unserved(facts, found), ...late(facts));
  for (const { dag, fault } of facts.schedules) {
    if (fault === null) continue;
    add({
      key: `fault ${dag}`,
      tone: 'bad',
      text: `The schedule of ${dag} is paused: ${fault}`,
      to: `/dags/${dag}`,
      action: 'Open the DAG',
    });
  }
  return found;
}

function storageTrouble({ storage, databaseTrouble }: Facts): Attention[] {
  const found: Attention[] = [];
  if (databaseTrouble !== null) {
    const text = `The database gives no answer: ${databaseTrouble}`;
    found.push({ key: 'database', tone: 'bad', text, to: '/system', action: 'System' });
  }
  if (storage !== undefined) {
    const { freeBytes, totalBytes } = storage.disk;
    if (freeBytes < LOW_BYTES || freeBytes < totalBytes * LOW_SHARE) {
      const text = `The disk is nearly full: ${bytes(freeBytes)} of ${bytes(totalBytes)} are free.`;
      found.push({ key: 'disk', tone: 'bad', text, to: '/system', action: 'System' });
    }
  }
  return found;
}

/** Queues that nobody serves, unless a run that waits there was named already. */
function unserved({ queues, workers }: Facts, named: readonly Attention[]): Attention[] {
  if ((workers?.items.length ?? 0) === 0) return [];
  return queues
    .filter(({ name, waiting, workers: serving }) => {
      const isNamed = named.some(({ key, text }) => key.startsWith('why ') && text.includes(`"${name}"`));
      return waiting > 0 && serving === 0 && !isNamed;
    })
    .map(({ name, waiting }) => ({
      key: `queue ${name}`,
      tone: 'bad',
      text: `${plural(waiting, 'task')} in queue ${name}, which no worker serves.`,
      to: '/queues',
      action: 'Queues',
    }));
}

function late({ schedules, open, now }: Facts): Attention[] {
  const found: Attention[] = [];
  for (const { dag, nextAt, paused } of schedules) {
    const lateMs = nextAt === null || paused ? 0 : now - Date.parse(nextAt);
    if (lateMs < LATE_MS) continue;
    const text = `The next run of ${dag} is ${span(lateMs)} late.`;
    found.push({ key: `late ${dag}`, tone: 'bad', text, to: `/dags/${dag}`, action: 'Open the DAG' });
  }
  const slow = open.filter(({ slowAt }) => slowAt !== null);
  if (slow.length > 0) {
    const text = `${plural(slow.length, 'run')} of ${list([...new Set(slow.map(({ dag }) => dag))])} ${slow.length === 1 ? 'takes' : 'take'} longer than expected.`;
    found.push({ key: 'slow', tone: 'warn', text, to: '/runs', action: 'Runs' });
  }
  return found;
}

/** A hundred runs that wait for one queue are one message. */
function oncePerReason(waiting: Facts['waiting']): Facts['waiting'] {
  const seen = new Set<string>();
  return waiting.filter(({ dag, why }) => {
    const key = `${dag} ${why?.code} ${why?.message.replace(/^Task \S+: /, '')}`;
    return !seen.has(key) && seen.add(key);
  });
}

const SHOWN = 3;
function list(names: readonly string[]): string {
  const more = names.length - SHOWN;
  return more > 0 ? `${names.slice(0, SHOWN).join(', ')} and ${more} more` : names.join(', ');
}
