/**
 * What commits leave out while many windows are due at once: `decided_until` and `fired` in the rows of their schedules, a quarter of what
 * a window costs the database. They are written with the due time, which follows the burst anyway, or by a later commit.
 *
 * A schedule is then *behind* in the database, and its shard says from which run on that may be so. A takeover brings those up to date
 * from the runs, in its own transaction (migration 0250): nobody but the owner ever reads a row that is behind. So only windows that
 * became runs are left out. The owner has the schedule in memory until its row is written (`tables/schedule/due.ts` of the engine).
 */
import {
  type Epoch,
  type FoldedRows,
  type Instant,
  instantOfRun,
  type RunId,
  type ScheduleFold,
  type ScheduleId,
  type ShardNo,
  scheduleIdOf,
  type WindowDecided,
} from '@signalbox/engine';
import type { ShardStamp } from './port.ts';
import { type Call, call, statement } from './statement.ts';
import { nullableArray, plainArray } from './text.ts';

export interface LateMovesOptions {
  /** A commit with fewer windows leaves nothing out. */
  readonly fromWindows: number;
  /** So many schedules are behind at most: a takeover takes about a second for them. */
  readonly most: number;
  /** For so long after the first one: a takeover reads all runs since. */
  readonly longestMs: number;
  /** How many a commit without a burst brings up to date. */
  readonly perCommit: number;
}

export const LATE_MOVES: LateMovesOptions = { fromWindows: 50, most: 100_000, longestMs: 30_000, perCommit: 500 };

interface LateShard {
  readonly epoch: Epoch;
  /** Oldest first. */
  readonly moves: Map<ScheduleId, ScheduleFold>;
  /** The first run since which some are behind, as the row of the shard says it, and as it should. */
  stored: RunId | null;
  from: RunId | null;
}

/** Leans on the primary key (shard) of `shard`, whose rows the fence has locked. */
const markBehind = statement(
  'mark_behind',
  `
  update shard s set behind_from = u.behind_from from unnest($1::smallint[], $2::bigint[]) as u (shard, behind_from)
   where s.shard = u.shard`,
);

export class LateMoves {
  readonly #options: LateMovesOptions;
  readonly #shards = new Map<ShardNo, LateShard>();
  #count = 0;

  constructor(options = LATE_MOVES) {
    this.#options = options;
  }

  /** Which rows of schedules this commit writes. Those that it leaves out are kept for a later one. */
  settle(rows: Pick<FoldedRows, 'schedules' | 'windows'>, stamps: readonly ShardStamp[], at: Instant): ScheduleFold[] {
    const isBurst = rows.windows.length >= this.#options.fromWindows;
    if (!isBurst && this.#count === 0) return [...rows.schedules.values()];
    for (const stamp of stamps) this.#begin(stamp);
    const burst = isBurst ? burstOf(rows.windows) : null;
    const written: ScheduleFold[] = [];
    let isParking = false;
    for (const [id, fold] of rows.schedules) {
      const shard = this.#shards.get(fold.shard)!;
      isParking ||= fold.dueAt !== undefined;
      const firstRun = burst?.firstRuns.get(fold.shard);
      const mayWait = firstRun !== undefined && isMove(fold) && !burst!.skipped.has(id) && this.#hasRoom(shard, at);
      if (mayWait) this.#keep(shard, id, fold, firstRun);
      else written.push(this.#withLate(shard, id, fold));
    }
    const isQuiet = !isBurst && !isParking;
    if (isQuiet || stamps.some(({ shard }) => this.#isOld(this.#shards.get(shard)!, at))) {
      written.push(...this.#oldest(stamps));
    }
    return written;
  }

  /** After all rows of the commit: what the rows of its shards say is behind. */
  marks(stamps: readonly ShardStamp[]): Call[] {
    const changed: { readonly shard: ShardNo; readonly from: RunId | null }[] = [];
    for (const { shard: no } of stamps) {
      const shard = this.#shards.get(no);
      if (shard === undefined) continue;
      if (shard.moves.size === 0) shard.from = null;
      if (shard.from !== shard.stored) changed.push({ shard: no, from: shard.from });
      shard.stored = shard.from;
    }
    if (changed.length === 0) return [];
    const columns = [plainArray(changed.map(({ shard }) => shard)), nullableArray(changed.map(({ from }) => from))];
    return [call(markBehind, ...columns)];
  }

  /** A shard that was taken again since is not behind: its takeover has written all. */
  #begin({ shard: no, epoch }: ShardStamp): void {
    const known = this.#shards.get(no);
    if (known?.epoch === epoch) return;
    this.#count -= known?.moves.size ?? 0;
    this.#shards.set(no, { epoch, moves: new Map(), stored: null, from: null });
  }

  #hasRoom(shard: LateShard, at: Instant): boolean {
    return this.#count < this.#options.most && !this.#isOld(shard, at);
  }

  #isOld({ from }: LateShard, at: Instant): boolean {
    return from !== null && at - instantOfRun(from) > this.#options.longestMs;
  }

  #keep(shard: LateShard, id: ScheduleId, fold: ScheduleFold, firstRun: RunId): void {
    const before = shard.moves.get(id);
    if (before === undefined) {
      shard.moves.set(id, fold);
      this.#count += 1;
    } else {
      before.decidedUntil = fold.decidedUntil;
      before.fired += fold.fired;
    }
    shard.from ??= firstRun;
  }

  /** A row that is written is up to date. What sets or removes a schedule knows all that was decided. */
  #withLate(shard: LateShard, id: ScheduleId, fold: ScheduleFold): ScheduleFold {
    const late = shard.moves.get(id);
    if (late === undefined) return fold;
    shard.moves.delete(id);
    this.#count -= 1;
    if (fold.set !== null || fold.removed !== null) return fold;
    const decidedUntil = Math.max(late.decidedUntil ?? 0, fold.decidedUntil ?? 0) as Instant;
    return { ...fold, decidedUntil, fired: fold.fired + late.fired };
  }

  #oldest(stamps: readonly ShardStamp[]): ScheduleFold[] {
    const found: ScheduleFold[] = [];
    for (const { shard: no } of stamps) {
      const { moves } = this.#shards.get(no)!;
      for (const [id, fold] of moves) {
        if (found.length === this.#options.perCommit) return found;
        moves.delete(id);
        this.#count -= 1;
        found.push(fold);
      }
    }
    return found;
  }
}

/** Its windows were decided, and nothing else. */
function isMove({ set, removed, dueAt, decidedUntil }: ScheduleFold): boolean {
  return set === null && removed === null && dueAt === undefined && decidedUntil !== null;
}

interface Burst {
  /** The first run of a window in each shard. */
  readonly firstRuns: ReadonlyMap<ShardNo, RunId>;
  /** Schedules with windows that have no run: nothing but their rows says that those are decided. */
  readonly skipped: ReadonlySet<ScheduleId>;
}

function burstOf(windows: readonly WindowDecided[]): Burst {
  const firstRuns = new Map<ShardNo, RunId>();
  const skipped = new Set<ScheduleId>();
  for (const window of windows) {
    const { shard, runId } = window;
    if (runId === null) skipped.add(scheduleIdOf(window));
    else if (runId < (firstRuns.get(shard) ?? Number.POSITIVE_INFINITY)) firstRuns.set(shard, runId);
  }
  return { firstRuns, skipped };
}
