/** What needs a person, from what the home page has read anyway. */
import type { BreakerPage, DeadLetterGroups, NodePage, RunColumns, WorkerPage } from '@signalbox/protocol';
import { plural } from '../../parts/format.ts';

export interface Attention {
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
  readonly faultySchedules: readonly { readonly dag: string; readonly fault: string }[];
}

export function attentionOf({ letters, breakers, workers, nodes, waiting, faultySchedules }: Facts): Attention[] {
  const found: Attention[] = [];
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
  for (const { dag, fault } of faultySchedules) {
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
