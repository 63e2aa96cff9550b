/** A. Backfills: which windows they give a run to, how many at a time, and that they end by themselves. */
import {
  type BackfillMoved,
  type BackfillSet,
  type BackfillSpec,
  type BackfillState,
  type BackfillUid,
  type Change,
  type DagId,
  isLiveBackfill,
  type RunCreated,
  type RunId,
  type RunOutcome,
  type TenantId,
} from '@signalbox/engine';
import type { Checker, Scene } from './checker.ts';
import { isWindow, windowBefore } from './window-model.ts';

interface Book {
  readonly dagId: DagId;
  readonly tenantId: TenantId;
  readonly spec: BackfillSpec;
  state: BackfillState;
  cursorAt: number | null;
  isDone: boolean;
  readonly live: Set<RunId>;
  readonly windows: Set<number>;
  changedAt: number;
}

/** The newest run of a window; no outcome while it is live. */
interface Newest {
  readonly runId: RunId;
  outcome: RunOutcome | null;
}

/** Longer than anything takes that a well cluster has to do before a backfill goes on. */
const STANDS_STILL_MS = 20_000;

export function backfills(scene: Scene): Checker {
  const { ledger } = scene;
  const books = new Map<BackfillUid, Book>();
  /** Tenants that had a quota of runs. */
  const limited = new Set<TenantId>();
  const bookOfRun = new Map<RunId, Book>();
  const newestOf = new Map<string, Newest>();
  const windowOfRun = new Map<RunId, Newest>();

  function checkRun(change: RunCreated): void {
    const { runId, firesAt, dagId, scheduleNo = 1, backfill } = change;
    if (firesAt === null) return;
    const key = `${dagId}/${scheduleNo}/${firesAt}`;
    const earlier = newestOf.get(key);
    const book = backfill === undefined ? undefined : books.get(backfill);
    if (backfill === undefined) {
      if (earlier !== undefined) scene.fail('I1', `run ${runId} is of window ${key}, which has run ${earlier.runId}`);
    } else if (book === undefined) scene.fail('I37', `run ${runId} is of backfill ${backfill}, which never started`);
    else checkOfBackfill(book, change, firesAt, earlier);
    const newest: Newest = { runId, outcome: null };
    newestOf.set(key, newest);
    windowOfRun.set(runId, newest);
    if (book === undefined) return;
    book.live.add(runId);
    book.windows.add(firesAt);
    bookOfRun.set(runId, book);
  }

  function checkOfBackfill(book: Book, change: RunCreated, firesAt: number, earlier: Newest | undefined): void {
    const { spec, state, live, windows } = book;
    const what = `run ${change.runId} of a backfill for window ${firesAt}`;
    if (state !== 'running') scene.fail('I37', `${what} was created though that is ${state}`);
    if (firesAt < spec.fromAt || firesAt > spec.toAt || !isWindow(spec.schedule, firesAt)) {
      scene.fail('I37', `${what} is outside of ${spec.fromAt} to ${spec.toAt}, or no window`);
    }
    if (windows.has(firesAt)) scene.fail('I1', `${what} is the second one`);
    if (live.size >= spec.maxActive) scene.fail('I7', `${what} was created beside ${live.size} of ${spec.maxActive}`);
    if (!change.admitted) scene.fail('I7', `${what} waits for its dag: live windows wait behind it`);
    const start = windowBefore(spec.schedule, firesAt) ?? firesAt;
    if (change.windowStart !== start) scene.fail('I3', `${what} begins at ${change.windowStart}`);
    const isWanted =
      earlier === undefined
        ? spec.which !== 'failed'
        : spec.which !== 'missing' &&
          earlier.outcome !== null &&
          (spec.which === 'all' || earlier.outcome === 'failed');
    if (!isWanted) scene.fail('I37', `${what} is not one of the ${spec.which}: there is ${JSON.stringify(earlier)}`);
  }

  function checkMove({ uid, cursorAt, isDone }: BackfillMoved): void {
    const book = books.get(uid);
    if (book === undefined || !isLiveBackfill(book.state) || book.isDone) {
      return scene.fail('I37', `backfill ${uid} moved, and is ${book?.state ?? 'unknown'}`);
    }
    const [from, to] = [book.cursorAt, cursorAt];
    const isBack = from !== null && to !== null && (book.spec.order === 'forward' ? to < from : to > from);
    if (isBack) scene.fail('I37', `the cursor of backfill ${uid} went from ${from} to ${to}`);
    Object.assign(book, { cursorAt, isDone, changedAt: ledger.at });
  }

  function checkSet({ uid, state }: BackfillSet): void {
    const book = books.get(uid);
    if (book === undefined || !isLiveBackfill(book.state)) {
      return scene.fail('I37', `backfill ${uid} is ${state}, and was ${book?.state ?? 'unknown'}`);
    }
    if (state === 'ended' && (!book.isDone || book.live.size > 0)) {
      scene.fail('I37', `backfill ${uid} has ended with ${book.live.size} live runs, done: ${book.isDone}`);
    }
    Object.assign(book, { state, changedAt: ledger.at });
  }

  function endRun(runId: RunId, outcome: RunOutcome | null): void {
    const newest = windowOfRun.get(runId);
    if (newest !== undefined) newest.outcome = outcome;
    const book = bookOfRun.get(runId);
    book?.live.delete(runId);
    if (book !== undefined) book.changedAt = ledger.at;
  }

  return {
    invariants: ['I1', 'I3', 'I7', 'I37', 'I72'],
    onChange(change: Change) {
      switch (change.kind) {
        case 'BackfillStarted': {
          const fresh = { state: 'running', cursorAt: null, isDone: false } as const;
          const { dagId, tenantId, spec } = change;
          const book: Book = {
            dagId,
            tenantId,
            spec,
            ...fresh,
            live: new Set(),
            windows: new Set(),
            changedAt: ledger.at,
          };
          books.set(change.uid, book);
          return;
        }
        case 'QuotaSet':
          if (change.quota === 'runs' && change.hard !== null) limited.add(change.tenantId);
          return;
        case 'BackfillMoved':
          return checkMove(change);
        case 'BackfillSet':
          return checkSet(change);
        case 'RunCreated':
          return checkRun(change);
        case 'RunEnded':
          return endRun(change.runId, change.outcome);
        case 'RunStruck':
          // One that is set aside has no outcome: nobody runs its window again but by `all`, and it is no live run of the backfill.
          if (change.setAside) bookOfRun.get(change.runId)?.live.delete(change.runId);
          return;
        case 'RunReopened': {
          const newest = windowOfRun.get(change.runId);
          if (newest !== undefined) newest.outcome = null;
          bookOfRun.get(change.runId)?.live.add(change.runId);
          return;
        }
        default:
      }
    },
    atEnd() {
      if (scene.health.wellForMs() < STANDS_STILL_MS) return;
      const busy = new Set([...ledger.live].map((run) => run.created.dagId));
      for (const [uid, { state, dagId, tenantId, live, changedAt }] of books) {
        const isStill = state === 'running' && live.size === 0 && ledger.at - changedAt > STANDS_STILL_MS;
        // Over the quota of its tenant a backfill waits, and the quota is of a day.
        const mayWait = busy.has(dagId) || limited.has(tenantId);
        if (isStill && !mayWait) scene.fail('I72', `backfill ${uid} stands still`);
      }
    },
  };
}
