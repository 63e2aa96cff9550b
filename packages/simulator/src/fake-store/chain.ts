/**
 * A chain of commits on one connection. Each commit is sent as begin, fence, two writes and commit, without waiting for
 * the one before. The fence locks the row of the node's writer and the rows of its shards, then compares; a commit that
 * failed leaves its place in the chain unfilled, so that the next one finds the wrong number, whatever shards it touches.
 *
 * A failure ends the chain on the caller's side. What was sent may still arrive: only the fence stops it.
 */
import type { NodeId } from '@signalbox/engine';
import { type CommitBatch, type CommitChain, CommitError, type CommitFailure } from '@signalbox/store';
import { copyOf } from '../copy.ts';
import { type Caller, call } from './call.ts';
import type { Connection } from './connection.ts';
import type { FakeDatabase } from './database.ts';
import type { StepPoint } from './faults.ts';
import { inOrder } from './locks.ts';

interface Pending {
  readonly resolve: () => void;
  readonly reject: (error: CommitError) => void;
}

/** One transaction in the database. Once something in it has failed the rest is skipped, and its commit rolls back. */
interface Transaction {
  readonly batch: CommitBatch;
  readonly place: number;
  failed: CommitError | null;
}

export class FakeChain implements CommitChain {
  readonly nodeId: NodeId;
  readonly connection: Connection;
  readonly #chainNo: number;
  readonly #database: FakeDatabase;
  readonly #caller: Caller;
  readonly #pending: Pending[] = [];
  /** The caller's side: how many were sent, and why no more will be. */
  #sent = 0;
  #broken: CommitError | null = null;

  constructor(database: FakeDatabase, caller: Caller, nodeId: NodeId, chainNo: number) {
    this.nodeId = nodeId;
    this.#chainNo = chainNo;
    this.#database = database;
    this.#caller = caller;
    this.connection = database.connect(`${caller.store} chain ${chainNo}`, (why) =>
      caller.deliver(() => this.#break(new CommitError('unknown', why))),
    );
  }

  commit(batch: CommitBatch): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#broken !== null) return reject(afterFailure(this.#broken));
      this.#pending.push({ resolve, reject });
      this.#send({ batch: copyOf(batch), place: ++this.#sent, failed: null });
    });
  }

  async close(): Promise<void> {
    const isInDoubt = this.#pending.length > 0 || this.#broken?.failure === 'unknown';
    this.#break(new CommitError('unknown', 'the chain was closed'));
    if (!isInDoubt) return;
    const { nodeId } = this;
    const { writers } = this.#database.tables;
    const run = () => {
      if (writers.get(nodeId)?.chainNo === this.#chainNo)
        writers.set(nodeId, { chainNo: this.#chainNo + 1, commitNo: 0 });
    };
    const waits = { shards: [], locks: [nodeId], lockTimeoutMs: this.#database.chainLockTimeoutMs };
    await call(this.#database, this.#caller, { kind: 'close chain', nodeId, ...waits, run });
  }

  #send(transaction: Transaction): void {
    const { connection } = this;
    connection.send((done) => this.#at('begin', transaction, 0, done));
    connection.send((done) => this.#at('fence', transaction, 0, () => this.#fence(transaction, done)));
    // The effect is applied as one at the commit: until then nobody could see it, the rows being locked.
    for (const writeNo of [1, 2]) connection.send((done) => this.#at('write', transaction, writeNo, done));
    connection.send((done) => this.#at('commit', transaction, 0, () => this.#finish(transaction, done)));
  }

  #at(point: StepPoint, transaction: Transaction, writeNo: number, go: () => void): void {
    if (transaction.failed !== null) return go();
    const shards = transaction.batch.shards.map(({ shard }) => shard);
    const step = { point, call: 'commit', store: this.#caller.store, nodeId: this.nodeId, shards, writeNo } as const;
    this.#database.reach(this.connection, step, go, (why) => {
      transaction.failed = new CommitError('refused', why);
      go();
    });
  }

  #fence(transaction: Transaction, done: () => void): void {
    if (transaction.failed !== null) return done();
    const { locks, tables, sabotage, readOnly } = this.#database;
    const { batch, place } = transaction;
    const compare = () => {
      const fail = (failure: CommitFailure, why: string) => {
        transaction.failed ??= new CommitError(failure, why);
      };
      if (readOnly) fail('refused', 'the database is read-only');
      const writer = tables.writers.get(this.nodeId) ?? NO_WRITER;
      const isNewest = writer.chainNo === this.#chainNo;
      if (sabotage.voidOlderChains && !isNewest) fail('fenced', 'the node has a newer chain');
      if (sabotage.chainCheck && isNewest && writer.commitNo + 1 !== place)
        fail('fenced', 'an earlier commit of the chain was not done');
      for (const { shard, epoch, commitNo } of batch.shards) {
        const row = tables.shard(shard);
        if (sabotage.epochCheck && row.epoch !== epoch)
          fail('fenced', `shard ${shard} has epoch ${row.epoch}, not ${epoch}`);
        if (sabotage.epochCheck && row.owner !== this.nodeId) fail('fenced', `shard ${shard} is not the node's own`);
        if (sabotage.commitNoCheck && row.commitNo + 1 !== commitNo)
          fail('fenced', `shard ${shard} is at commit ${row.commitNo}, ${commitNo} can't follow`);
      }
      done();
    };
    if (!sabotage.lock) return compare();
    const shards = inOrder(batch.shards.map(({ shard }) => shard));
    locks.acquireAll(this.connection, [this.nodeId, ...shards], compare);
  }

  #finish(transaction: Transaction, done: () => void): void {
    const database = this.#database;
    const { batch } = transaction;
    if (transaction.failed === null) {
      const violation = database.takeEffect(batch);
      if (violation !== null) {
        transaction.failed = new CommitError('refused', violation.message, { cause: violation });
      } else {
        database.tables.writers.set(this.nodeId, { chainNo: this.#chainNo, commitNo: transaction.place });
        database.tables.log.keep();
        const { store } = this.#caller;
        const no = database.journal.length + 1;
        database.journal.push({
          kind: 'commit',
          no,
          committedAt: database.scheduler.now(),
          store,
          nodeId: this.nodeId,
          ...batch,
        });
      }
    }
    database.locks.releaseAll(this.connection);
    const { failed } = transaction;
    const leave = (go: () => void) => (failed === null ? this.#at('answer', transaction, 0, go) : go());
    this.connection.answer(leave, () => this.#caller.deliver(() => this.#settle(failed)));
    done();
  }

  #settle(failed: CommitError | null): void {
    if (failed !== null) return this.#break(failed);
    this.#pending.shift()?.resolve();
  }

  /** The first failure is told as it is; all that were sent after it fail with it. */
  #break(error: CommitError): void {
    if (this.#broken !== null) return;
    this.#broken = error;
    this.connection.clientAlive = false;
    this.connection.hangUp();
    const [first, ...rest] = this.#pending.splice(0);
    first?.reject(error);
    for (const later of rest) later.reject(afterFailure(error));
  }
}

const NO_WRITER = { chainNo: 0, commitNo: 0 } as const;

function afterFailure(cause: CommitError): CommitError {
  const failure = cause.failure === 'unknown' ? 'unknown' : 'fenced';
  return new CommitError(failure, `an earlier commit of the chain failed: ${cause.message}`, { cause });
}
