/**
 * A call that is not part of a chain: on a connection of its own, once, with the outcome told or lost. A call that writes
 * locks the rows of its shards first, as an update does.
 */
import type { NodeId, ShardNo } from '@signalbox/engine';
import type { Connection, LockKey } from './connection.ts';
import type { FakeDatabase } from './database.ts';
import type { CallKind, Step, StepPoint } from './faults.ts';

/** A call failed. `unknown`: it may have been done. */
export class FakeDatabaseError extends Error {
  readonly failure: 'refused' | 'unknown';
  constructor(failure: 'refused' | 'unknown', message: string) {
    super(message);
    this.name = 'FakeDatabaseError';
    this.failure = failure;
  }
}

/** Thrown by the effect of a call that the database refuses. */
export class RefusedCall extends Error {}

export interface Caller {
  readonly store: string;
  /** Runs what the node does on hearing an answer: at once, later when it is paused, never when it is gone. */
  deliver(run: () => void): void;
}

export interface Call<T> {
  readonly kind: CallKind;
  readonly nodeId: NodeId | null;
  readonly shards: readonly ShardNo[];
  /** Rows that are locked before `run`, in this order. */
  readonly locks: readonly LockKey[];
  /** How long to wait for each of them before its holder is terminated; null to wait for ever. */
  readonly lockTimeoutMs: number | null;
  /** Runs when the request is there, before it waits for any lock. */
  readonly arrived?: () => void;
  /** The effect, in one instant. */
  readonly run: () => T;
}

export function call<T>(database: FakeDatabase, caller: Caller, what: Call<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (failure: 'refused' | 'unknown', why: string) =>
      caller.deliver(() => reject(new FakeDatabaseError(failure, `${what.kind}: ${why}`)));
    if (database.outage !== null) return failLater(database, () => fail('refused', 'the database is down'));
    const connection = database.connect(`${caller.store} ${what.kind}`, (why) => fail('unknown', why));
    const writes = what.kind !== 'read';
    if (writes) giveUpAfter(database, connection, ANSWER_TIMEOUT_MS + (what.lockTimeoutMs ?? 0));
    const refuse = (why: string) => {
      database.locks.releaseAll(connection);
      connection.answer(
        (go) => go(),
        () => {
          fail('refused', why);
          leave(database, connection);
        },
      );
    };
    const at = (point: StepPoint, go: () => void) => {
      const step: Step = {
        point,
        call: what.kind,
        store: caller.store,
        nodeId: what.nodeId,
        shards: what.shards,
        writeNo: 0,
      };
      database.reach(connection, step, go, refuse);
    };
    const finish = () => {
      let result: T;
      try {
        result = what.run();
      } catch (error) {
        if (!(error instanceof RefusedCall)) throw error;
        database.tables.log.undo();
        return refuse(error.message);
      }
      database.tables.log.keep();
      database.locks.releaseAll(connection);
      connection.answer(
        (go) => at('answer', go),
        () => {
          caller.deliver(() => resolve(result));
          leave(database, connection);
        },
      );
    };
    connection.send(() =>
      at('connect', () => {
        what.arrived?.();
        if (!writes) return finish();
        if (database.readOnly) return refuse('the database is read-only');
        at('begin', () => lockAll(database, connection, what, () => at('commit', finish)));
      }),
    );
  });
}

/** As the real store does: the wait has an end, though the statement may still be done once its locks are free (I72). */
const ANSWER_TIMEOUT_MS = 5_000;

function giveUpAfter(database: FakeDatabase, connection: Connection, ms: number): void {
  database.scheduler.after(ms, `${connection.name}: gave up waiting`, () =>
    connection.endClient(`no answer within ${ms} ms`),
  );
}

/** Out of service: told at once, or found out by waiting. */
function failLater(database: FakeDatabase, fail: () => void): void {
  const { outage, scheduler } = database;
  if (outage?.kind === 'silent') return scheduler.after(outage.giveUpMs, 'gave up on the database', fail);
  database.hop('the database is down', fail);
}

function leave(database: FakeDatabase, connection: Connection): void {
  connection.clientAlive = false;
  connection.serverAlive = false;
  database.rolledBack(connection);
}

function lockAll<T>(database: FakeDatabase, connection: Connection, what: Call<T>, granted: () => void): void {
  const lockFrom = (at: number): void => {
    const row = what.locks[at];
    if (row === undefined) return granted();
    if (what.lockTimeoutMs !== null) terminateHolderAfter(database, connection, row, what.lockTimeoutMs);
    database.locks.acquire(connection, row, () => lockFrom(at + 1));
  };
  lockFrom(0);
}

/** Whoever has the row for that long is ended, and so is the next one: the wait has an end whatever the holders do. */
function terminateHolderAfter(database: FakeDatabase, connection: Connection, row: LockKey, ms: number): void {
  const isStillWaiting = () => connection.serverAlive && !connection.locked.has(row);
  if (database.locks.holder(row) === undefined) return;
  database.scheduler.after(ms, `${connection.name}: lock timeout on ${row}`, () => {
    if (!isStillWaiting()) return;
    database.locks.holder(row)?.endServer('terminated: held a row for too long');
    if (isStillWaiting()) terminateHolderAfter(database, connection, row, ms);
  });
}
