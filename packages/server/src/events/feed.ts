/**
 * The event stream of this server. Each reader pulls from its own position, so a slow reader holds up nobody; readers at the
 * same position share one read. While somebody waits, one query every tenth of a second checks whether any node has
 * committed (I59).
 */
import { SHARD_COUNT, type ShardNo, type TenantId } from '@signalbox/engine';
import { type EventView, SignalboxError } from '@signalbox/protocol';
import type { Commit, Cut, Queries } from '@signalbox/store';
import { toIso } from '../iso-instants.ts';
import { encodeCursor, type Position } from './cursor.ts';
import { describe, type Told } from './describe.ts';
import { Names } from './names.ts';
import { inOrder, type OrderedCommit } from './order.ts';

export interface FeedEvent {
  /** Null for a marker, which every tenant gets: it may have been about any of them. */
  readonly tenantId: TenantId | null;
  readonly view: Omit<EventView, 'cursor'>;
  /** After this event. */
  readonly position: Position;
  /** Its place in its commit, to find out whether it was read before. */
  readonly lead: ShardNo;
  readonly index: number;
  readonly before: Cut;
}

interface Batch {
  readonly events: readonly FeedEvent[];
  /** After all of them; the same as before when there was nothing. */
  readonly end: Position;
}

type FeedQueries = Pick<
  Queries,
  'readCut' | 'readOldestCut' | 'readCommits' | 'nameRuns' | 'nameDags' | 'nameTasks' | 'getRunMaps'
>;

/** One read of 64 rows; half of it is how late an event is told, on average. */
const LOOK_MS = 100;
const BATCHES_KEPT = 4;
/** How many of the edge's few connections readers may use: reading the journal from its start must not block others (I68). */
const READS_AT_ONCE = 2;

export class EventFeed {
  readonly #queries: FeedQueries;
  readonly #names: Names;
  readonly #batches = new Map<string, Promise<Batch>>();
  readonly #waiting = new Set<() => void>();
  #head: Cut | null = null;
  #isLookPlanned = false;
  #looking: Promise<Cut> | null = null;
  #reading = 0;
  readonly #inLine: (() => void)[] = [];

  constructor(queries: FeedQueries) {
    this.#queries = queries;
    this.#names = new Names(queries);
  }

  /** Where nothing was read yet: before what comes, or before the oldest that is kept. */
  async begin(from: 'now' | 'start'): Promise<Position> {
    const [now, oldest] = await Promise.all([this.look(), from === 'start' ? this.#queries.readOldestCut() : null]);
    return { cut: oldest ?? now, part: null };
  }

  /** What there is after a position, as far as the last look saw. Rejects when some of it was removed. */
  async read(after: Position): Promise<Batch> {
    const head = this.#head ?? (await this.look());
    const behind = shardsBehind(after.cut, head);
    if (behind.length === 0) return { events: [], end: after };
    const key = encodeCursor({ cut: after.cut, part: after.part && { ...after.part, changes: 0 } });
    const reading = this.#batches.get(key) ?? this.#readAnew(key, after, behind);
    const batch = await reading;
    if (after.part === null) return batch;
    const { part, cut } = after;
    const isKnown = ({ lead, index, before }: FeedEvent) =>
      lead === part.lead && index < part.changes && before[lead] === cut[lead];
    return { ...batch, events: batch.events.filter((event) => !isKnown(event)) };
  }

  /** Checks whether any node has committed anything. */
  look(): Promise<Cut> {
    this.#looking ??= this.#queries.readCut().finally(() => {
      this.#looking = null;
    });
    return this.#looking.then((head) => {
      this.#head = head;
      return head;
    });
  }

  /** Resolves when there is something after the position, when the time is over, or when the signal fires. */
  more({ cut }: Position, withinMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || (this.#head !== null && shardsBehind(cut, this.#head).length > 0)) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, withinMs);
      signal.addEventListener('abort', done, { once: true });
      this.#waiting.add(done);
      this.#planLook();
    });
  }

  async #lookForAll(): Promise<void> {
    const before = this.#head;
    // A database that is away is looked at again: who listens has its heartbeats meanwhile (I60).
    const head = await this.look().catch(() => before);
    this.#isLookPlanned = false;
    if (head !== null && (before === null || shardsBehind(before, head).length > 0)) {
      for (const wake of [...this.#waiting]) wake();
    }
    if (this.#waiting.size > 0) this.#planLook();
  }

  #planLook(): void {
    if (this.#isLookPlanned) return;
    this.#isLookPlanned = true;
    setTimeout(() => void this.#lookForAll(), LOOK_MS);
  }

  #readAnew(key: string, after: Position, behind: readonly ShardNo[]): Promise<Batch> {
    const reading = this.#readBatch(after, behind);
    this.#batches.set(key, reading);
    const [oldest] = this.#batches.keys();
    if (this.#batches.size > BATCHES_KEPT && oldest !== undefined) this.#batches.delete(oldest);
    reading.catch(() => this.#batches.delete(key));
    return reading;
  }

  /** One after the other, in the order in which they came. */
  async #readBatch(after: Position, behind: readonly ShardNo[]): Promise<Batch> {
    if (this.#reading >= READS_AT_ONCE) await new Promise<void>((resolve) => this.#inLine.push(resolve));
    else this.#reading += 1;
    try {
      return await this.#readNow(after, behind);
    } finally {
      // The place goes to the next, or is free.
      const next = this.#inLine.shift();
      if (next === undefined) this.#reading -= 1;
      else next();
    }
  }

  async #readNow({ cut, part }: Position, behind: readonly ShardNo[]): Promise<Batch> {
    const commits = await this.#queries.readCommits(cut, behind);
    const ordered = inOrder(cut, commits, part?.lead ?? null);
    const last = ordered.at(-1);
    // Something was committed, and the next of it is not there: it is too old.
    if (last === undefined) throw new SignalboxError('EVENTS_EXPIRED');
    return { events: await this.#eventsOf(ordered), end: { cut: last.after, part: null } };
  }

  async #eventsOf(ordered: readonly OrderedCommit[]): Promise<FeedEvent[]> {
    const all = ordered.map((from) => ({ from, told: toldOf(from.commit) }));
    for (const { from, told } of all) if (told !== null) this.#names.learn(from.commit.changes);
    const named = await this.#names.nameAll(all.flatMap(({ told }) => told ?? []).map(({ told }) => told));
    let next = 0;
    return all.flatMap(({ from, told: found }) => {
      if (found === null) return [markerOf(from)];
      const { lead } = from.commit;
      return found.flatMap(({ told, index }, i) => {
        const name = named[next++];
        if (name === null || name === undefined) return [];
        const { tenantId, dag, run, task } = name;
        const { kind, details } = told;
        const isLast = i === found.length - 1;
        const position = isLast
          ? { cut: from.after, part: null }
          : { cut: from.before, part: { lead, changes: index + 1 } };
        const view = { kind, at: toIso(told.at), dag, run, task, details };
        return [{ tenantId, view, position, lead, index, before: from.before }];
      });
    });
  }
}

/** Null when the commit can't be told: its row is unreadable, or holds something that makes no sense. */
function toldOf({ changes, unreadable }: Commit): { readonly told: Told; readonly index: number }[] | null {
  if (unreadable !== null) return null;
  try {
    return changes.flatMap((change, index) => {
      const told = describe(change);
      return told === null ? [] : [{ told, index }];
    });
  } catch {
    return null;
  }
}

/** Greater than any index: also whoever has read a part of the commit, at a newer server, has not read all of it. */
const WHOLE_COMMIT = Number.POSITIVE_INFINITY;

/** Stands for a whole commit, so that a reader knows that something is missing here, and what (I59). */
function markerOf({ commit, before, after }: OrderedCommit): FeedEvent {
  const { lead, unreadable } = commit;
  const commits = commit.shards.map(({ shard, commitNo }) => ({ shard, commit: commitNo }));
  const details = { commits, reason: unreadable?.reason ?? 'damaged', format: unreadable?.format ?? null };
  const at = toIso(commit.at);
  const view = { kind: 'events.skipped', at, dag: null, run: null, task: null, details };
  return { tenantId: null, view, position: { cut: after, part: null }, lead, index: WHOLE_COMMIT, before };
}

function shardsBehind(cut: Cut, head: Cut): ShardNo[] {
  const behind: ShardNo[] = [];
  for (let shard = 0; shard < SHARD_COUNT; shard++) {
    if ((cut[shard] ?? 0) < (head[shard] ?? 0)) behind.push(shard as ShardNo);
  }
  return behind;
}
