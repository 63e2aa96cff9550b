/**
 * The heartbeat of a node. It is a file of its own, because the thread that renews it loads nothing else: with the whole
 * store and the engine that thread took 17 MiB more.
 */
import type { NodeId } from '@signalbox/engine';
import { Database } from './database.ts';
import { call, statement } from './statement.ts';

/** A beat that comes late ends a break: whatever the node owns was not served meanwhile. */
const raise = statement(
  'raise_beat',
  `
  update node set beat = beat + 1, beat_at = clock_timestamp(),
         break_ended_at = case when beat_at < clock_timestamp() - $2::integer * interval '1 ms'
                               then clock_timestamp() else break_ended_at end
   where node_id = $1::uuid returning beat`,
);

export async function raiseBeat(database: Database, nodeId: NodeId, windowGraceMs: number): Promise<void> {
  const { rows } = await database.one(call(raise, nodeId, windowGraceMs));
  if (rows.length === 0) throw new Error(`Node ${nodeId} is not registered: it was forgotten by another node.`);
}

export interface BeatOptions {
  readonly url: string;
  readonly preparedStatements: boolean;
  /** Within this a beat is raised, or fails. */
  readonly answerTimeoutMs: number;
}

/** A connection for heartbeats only. It connects with the first beat. */
export class BeatConnection {
  readonly #database: Database;

  constructor({ url, preparedStatements, answerTimeoutMs }: BeatOptions) {
    const timeouts = { connectTimeoutMs: answerTimeoutMs, answerTimeoutMs };
    this.#database = new Database({ url, preparedStatements, log: () => {}, ...timeouts, maxConnections: 1 });
  }

  raise(nodeId: NodeId, windowGraceMs: number): Promise<void> {
    return raiseBeat(this.#database, nodeId, windowGraceMs);
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
