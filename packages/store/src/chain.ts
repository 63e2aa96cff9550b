/**
 * The commits of one node, in order, on one connection. Each is one message with one Sync; the next is sent while the last
 * is in flight. A failure ends the chain: the connection is dropped, and all commits in flight and all later ones are
 * rejected.
 *
 * The server can still carry out a commit after the connection is gone. So `close` advances the writer row of the node,
 * which waits for a commit in progress and makes all later ones fail. It resolves only after that.
 */
import type { NodeId } from '@signalbox/engine';
import type pg from 'pg';
import { runBatch } from './batch.ts';
import { assertShardsCovered, commitCalls } from './commit.ts';
import { assertCommitted, type Database, dropClient } from './database.ts';
import { LateMoves, type LateMovesOptions } from './late-moves.ts';
import type { KnownDays } from './leaf.ts';
import { type CommitBatch, type CommitChain, CommitError } from './port.ts';
import type { Call } from './statement.ts';

const FENCED = 'SB001';
const SURE_SEVERITY = 'ERROR';

interface ChainOptions {
  readonly database: Database;
  readonly client: pg.Client;
  readonly nodeId: NodeId;
  readonly chainNo: number;
  readonly days: () => KnownDays;
  readonly lateMoves?: LateMovesOptions | undefined;
  readonly isAccounting: () => boolean;
  /** Makes all that was sent on this chain impossible, or done. */
  readonly fenceOff: () => Promise<void>;
}

interface InFlight {
  warning: string | null;
}

export class PostgresChain implements CommitChain {
  readonly #options: ChainOptions;
  readonly #inFlight: InFlight[] = [];
  readonly #late: LateMoves;
  #commitNo = 0;
  /** The error of the first commit that failed. All commits in flight behind it get the same. */
  #failure: CommitError | null = null;
  /** Why nothing more is sent: that failure, or a commit that could not be built. */
  #broken: CommitError | null = null;
  #settled: Promise<unknown> = Promise.resolve();

  constructor(options: ChainOptions) {
    this.#options = options;
    this.#late = new LateMoves(options.lateMoves);
    // Answers come in order, so a notice belongs to the oldest commit in flight.
    options.client.on('notice', ({ severity, message }) => {
      const head = this.#inFlight[0];
      if (head !== undefined && severity === 'WARNING') head.warning ??= message ?? 'a warning without text';
    });
  }

  commit(batch: CommitBatch): Promise<void> {
    const outcome = this.#send(batch);
    // In the order of the calls, also when one was refused before it was sent.
    const previous = this.#settled;
    const inOrder = previous.then(() => outcome);
    this.#settled = inOrder.catch(() => {});
    outcome.catch(() => {});
    return inOrder;
  }

  async close(): Promise<void> {
    const sent = this.#inFlight.length > 0 || this.#failure?.failure === 'unknown';
    this.#fail(new CommitError('unknown', 'The chain was closed while this commit was in flight.'));
    if (sent) await this.#options.fenceOff();
  }

  async #send(batch: CommitBatch): Promise<void> {
    if (this.#broken !== null) {
      const message = `An earlier commit of this chain failed: ${this.#broken.message}`;
      throw new CommitError('fenced', message, { cause: this.#broken });
    }
    const calls = this.#build(batch);
    const mark: InFlight = { warning: null };
    this.#inFlight.push(mark);
    try {
      const { client, database } = this.#options;
      const results = await runBatch(client, calls, database.options.preparedStatements);
      if (mark.warning !== null) throw new CommitError('unknown', `The commit ended with a warning: ${mark.warning}`);
      assertCommitted(results);
    } catch (error) {
      throw this.#fail(this.#failure ?? commitError(error));
    } finally {
      this.#inFlight.splice(this.#inFlight.indexOf(mark), 1);
    }
  }

  #build(batch: CommitBatch): Call[] {
    try {
      const { nodeId, chainNo, days, isAccounting } = this.#options;
      assertShardsCovered(batch);
      return commitCalls(batch, {
        nodeId,
        chainNo,
        commitNo: ++this.#commitNo,
        days: days(),
        late: this.#late,
        isAccounting: isAccounting(),
      });
    } catch (error) {
      // Those in flight before it may still succeed.
      this.#broken = new CommitError('refused', `The commit could not be built: ${messageOf(error)}`, { cause: error });
      throw this.#broken;
    }
  }

  #fail(error: CommitError): CommitError {
    if (this.#failure === null) {
      this.#failure = error;
      this.#broken ??= error;
      dropClient(this.#options.client);
    }
    return error;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function commitError(error: unknown): CommitError {
  if (error instanceof CommitError) return error;
  const message = messageOf(error);
  const { code, severity } = error as { code?: string; severity?: string };
  if (code === FENCED) return new CommitError('fenced', message, { cause: error });
  // FATAL and PANIC end the connection, and may come after the commit was written.
  if (severity === SURE_SEVERITY) {
    return new CommitError('refused', `The database refused the commit: ${message}`, { cause: error });
  }
  return new CommitError('unknown', `The connection was lost during the commit: ${message}`, { cause: error });
}
