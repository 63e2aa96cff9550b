/**
 * Which node owns which shard. Taking a shard raises the epoch in its row, so it waits for a commit that holds the row. If
 * that takes too long, the backend that holds the row is terminated, because its client may be gone without closing the
 * connection.
 */
import type { Epoch, NodeId, RunId, ShardNo } from '@signalbox/engine';
import type { CallResult } from './batch.ts';
import { raiseBeat } from './beat.ts';
import type { Database } from './database.ts';
import { JOURNAL_FORMAT } from './journal.ts';
import {
  type ClusterSeen,
  CommitError,
  type NodeReach,
  type NodeRegistration,
  type TakenShard,
  type TakeShards,
} from './port.ts';
import { type Call, call, statement } from './statement.ts';
import { encodeText, parseUuids, plainArray, uuidArray } from './text.ts';

const LOCK_NOT_AVAILABLE = '55P03';
const MAX_EVICTIONS = 5;
/** How long a chain that is opened or closed waits for the one before it. */
const CHAIN_LOCK_TIMEOUT_MS = 1_000;

const setLockTimeout = statement('set_lock_timeout', `select set_config('lock_timeout', $1::text, true)`);

const lockShards = statement(
  'lock_shards',
  'select from shard where shard = any ($1::smallint[]) order by shard for update',
);
/**
 * After the locks: as a statement of its own it sees what those waited for. An owner served its shards until its last beat;
 * a shard without an owner was served until its release. When that was longer ago than the grace, a break ends here. The end
 * of a break stays in the row: if this owner dies before it has decided the missed windows, the next one must know.
 */
const takeLocked = statement(
  'take_locked_shards',
  `
  update shard s set epoch = s.epoch + 1, owner = $1::uuid, load_count = s.load_count + 1, served_until = clock_timestamp(),
         break_ended_at = case
           when coalesce(o.beat_at, o.served_until) >= clock_timestamp() - $4::integer * interval '1 ms'
           then greatest(s.break_ended_at, o.break_ended_at)
           else clock_timestamp() end
    from unnest($2::smallint[], $3::bigint[]) as u (shard, seen_epoch)
    join (select h.shard, h.served_until, n.beat_at, n.break_ended_at
            from shard h left join node n on n.node_id = h.owner) o on o.shard = u.shard
   where s.shard = u.shard and s.epoch = u.seen_epoch
  returning s.shard, s.epoch, s.load_count, s.touching`,
);

/**
 * Before the take: how long the last owner has waited for silent workers, as far as its beats show (I25). While a shard is owned,
 * `served_until` is when it was taken.
 */
const creditWaiting = statement(
  'credit_waiting',
  `
  update silent_worker w set served_ms = w.served_ms + ${waitedMs('n.beat_at')}
    from unnest($1::smallint[], $2::bigint[]) as u (shard, seen_epoch)
    join shard s on s.shard = u.shard and s.epoch = u.seen_epoch
    join node n on n.node_id = s.owner
   where w.shard = s.shard and s.served_until is not null`,
);
/** The same before a release, whose instant is known. */
const creditReleased = statement(
  'credit_released',
  `
  update silent_worker w set served_ms = w.served_ms + ${waitedMs('clock_timestamp()')}
    from unnest($2::smallint[], $3::bigint[]) as u (shard, epoch)
    join shard s on s.shard = u.shard and s.epoch = u.epoch and s.owner = $1::uuid
   where w.shard = s.shard and s.served_until is not null`,
);

function waitedMs(until: string): string {
  return `greatest(0, floor(extract(epoch from ${until} - greatest(w.since, s.served_until)) * 1000))::bigint`;
}

/** A row's xmax is the transaction that holds it; pg_locks knows whose that is. */
const evictHolders = (table: 'shard' | 'writer', condition: string) =>
  statement(
    `evict_${table}_holders`,
    `
  select pg_terminate_backend(h.pid, 2000)
    from (select distinct l.pid from ${table} t
            join pg_locks l on l.locktype = 'transactionid' and l.transactionid = t.xmax and l.granted
           where ${condition} and l.pid <> pg_backend_pid()) h`,
  );
const evictShardHolders = evictHolders('shard', 't.shard = any ($1::smallint[])');
const evictWriterHolders = evictHolders('writer', 't.node_id = $1::uuid');

const nextChain = statement(
  'next_chain',
  `
  insert into writer (node_id, chain_no, commit_no) values ($1::uuid, 1, 0)
  on conflict (node_id) do update set chain_no = writer.chain_no + 1, commit_no = 0
  returning chain_no`,
);
const endChain = statement(
  'end_chain',
  'update writer set chain_no = chain_no + 1, commit_no = 0 where node_id = $1::uuid and chain_no = $2::bigint',
);

const release = statement(
  'release_shards',
  `
  update shard s set owner = null, served_until = clock_timestamp(),
         break_ended_at = greatest(s.break_ended_at, (select n.break_ended_at from node n where n.node_id = $1::uuid))
    from unnest($2::smallint[], $3::bigint[]) as u (shard, epoch)
   where s.shard = u.shard and s.epoch = u.epoch and s.owner = $1::uuid`,
);
const touch = statement(
  'touch_run',
  'update shard set touching = $3::bigint where shard = $1::smallint and epoch = $2::bigint returning 1',
);

/** The same node may say so twice: when the first answer was lost. */
const insertNode = statement(
  'insert_node',
  `
  insert into node (node_id, beat, peer_address, gateway_address, data_address, version, journal_format, cut_from, has_workers)
  values ($1::uuid, 1, $2::text, $3::text, $4::text, $5::text, $6::smallint, '{}', false)
  on conflict (node_id) do update set beat = node.beat + 1, leaving = false, cut_from = '{}', has_workers = false,
    peer_address = excluded.peer_address, gateway_address = excluded.gateway_address, data_address = excluded.data_address,
    version = excluded.version, journal_format = excluded.journal_format`,
);
const setLeaving = statement('set_leaving', 'update node set leaving = true where node_id = $1::uuid');
const setReach = statement(
  'set_reach',
  'update node set cut_from = $2::uuid[], has_workers = $3::boolean where node_id = $1::uuid',
);
const selectClock = statement('select_clock', 'select extract(epoch from clock_timestamp()) * 1000');
const noteClock = statement(
  'note_clock',
  'update node set clock_ahead_ms = $2::bigint, unfit = $3::text where node_id = $1::uuid',
);
const deleteNode = statement(
  'delete_node',
  `
  with gone as (
    delete from node where node_id = $1::uuid and not exists (select from shard where owner = $1::uuid) returning node_id)
  delete from writer where node_id in (select node_id from gone)`,
);
const selectNodes = statement(
  'select_nodes',
  `select node_id, beat, peer_address, gateway_address, data_address, leaving, cut_from, has_workers, journal_format
     from node order by node_id`,
);
const selectShards = statement('select_shards', 'select shard, epoch, owner from shard order by shard');

export class Ownership {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async registerNode(node: NodeRegistration): Promise<void> {
    const { nodeId, peerAddress, gatewayAddress, dataAddress, version } = node;
    await this.#database.one(
      call(insertNode, nodeId, peerAddress, gatewayAddress, dataAddress, version, JOURNAL_FORMAT),
    );
  }

  beat(nodeId: NodeId, windowGraceMs: number): Promise<void> {
    return raiseBeat(this.#database, nodeId, windowGraceMs);
  }

  async markLeaving(nodeId: NodeId): Promise<void> {
    await this.#database.one(call(setLeaving, nodeId));
  }

  async tellReach(nodeId: NodeId, { cutFrom, hasWorkers }: NodeReach): Promise<void> {
    await this.#database.one(call(setReach, nodeId, uuidArray(cutFrom), hasWorkers));
  }

  /** The database's time, in milliseconds since 1970. */
  async readClock(): Promise<number> {
    const { rows } = await this.#database.one(call(selectClock));
    return Number(rows[0]?.[0]);
  }

  /** For lists of servers: what the node knows about its clock. */
  async noteClock(nodeId: NodeId, { aheadMs, unfit }: { aheadMs: number; unfit: string | null }): Promise<void> {
    await this.#database.one(call(noteClock, nodeId, aheadMs, unfit === null ? null : encodeText(unfit)));
  }

  async forgetNode(nodeId: NodeId): Promise<void> {
    await this.#database.one(call(deleteNode, nodeId));
  }

  async observe(): Promise<ClusterSeen> {
    const [nodes, shards] = await this.#database.run([call(selectNodes), call(selectShards)]);
    return {
      nodes: (nodes?.rows ?? []).map(
        ([nodeId, beat, peerAddress, gatewayAddress, dataAddress, leaving, cutFrom, hasWorkers, journalFormat]) => ({
          nodeId: nodeId as NodeId,
          beat: Number(beat),
          peerAddress: peerAddress ?? '',
          gatewayAddress: gatewayAddress ?? '',
          dataAddress: dataAddress ?? '',
          leaving: leaving === 't',
          reach: readReach(cutFrom ?? null, hasWorkers ?? null),
          journalFormat: journalFormat == null ? null : Number(journalFormat),
        }),
      ),
      shards: (shards?.rows ?? []).map(([shard, epoch, owner]) => ({
        shard: Number(shard) as ShardNo,
        epoch: Number(epoch) as Epoch,
        owner: (owner ?? null) as NodeId | null,
      })),
    };
  }

  async takeShards({ nodeId, shards, lockTimeoutMs, windowGraceMs }: TakeShards): Promise<TakenShard[]> {
    if (shards.length === 0) return [];
    const numbers = plainArray(shards.map((wanted) => wanted.shard));
    const seenEpochs = plainArray(shards.map((wanted) => wanted.seenEpoch));
    const calls = [
      call(lockShards, numbers),
      call(creditWaiting, numbers, seenEpochs),
      call(takeLocked, nodeId, numbers, seenEpochs, windowGraceMs),
    ];
    const taken = await this.#writeEvicting(calls, call(evictShardHolders, numbers), lockTimeoutMs);
    return (taken.at(-1)?.rows ?? [])
      .map(([shard, epoch, loadCount, currentRun]) => ({
        shard: Number(shard) as ShardNo,
        epoch: Number(epoch) as Epoch,
        loadCount: Number(loadCount),
        currentRun: currentRun === null || currentRun === undefined ? null : (Number(currentRun) as RunId),
      }))
      .sort((a, b) => a.shard - b.shard);
  }

  async releaseShards(nodeId: NodeId, shards: readonly { shard: ShardNo; epoch: Epoch }[]): Promise<void> {
    if (shards.length === 0) return;
    const numbers = plainArray(shards.map((owned) => owned.shard));
    const epochs = plainArray(shards.map((owned) => owned.epoch));
    await this.#database.write([
      call(lockShards, numbers),
      call(creditReleased, nodeId, numbers, epochs),
      call(release, nodeId, numbers, epochs),
    ]);
  }

  async noteCurrentRun(shard: ShardNo, epoch: Epoch, runId: RunId | null): Promise<void> {
    const { rows } = await this.#database.one(call(touch, shard, epoch, runId));
    if (rows.length === 0) throw new CommitError('fenced', `Shard ${shard} is no longer at epoch ${epoch}.`);
  }

  /** The number of a new chain. Older chains of the node can commit nothing from here on. */
  async nextChain(nodeId: NodeId): Promise<number> {
    const evict = call(evictWriterHolders, nodeId);
    const results = await this.#writeEvicting([call(nextChain, nodeId)], evict, CHAIN_LOCK_TIMEOUT_MS);
    return Number(results.at(-1)?.rows[0]?.[0]);
  }

  /** What was sent on this chain is done or undone when this resolves. */
  async endChain(nodeId: NodeId, chainNo: number): Promise<void> {
    const evict = call(evictWriterHolders, nodeId);
    await this.#writeEvicting([call(endChain, nodeId, chainNo)], evict, CHAIN_LOCK_TIMEOUT_MS);
  }

  async #writeEvicting(calls: readonly Call[], evict: Call, lockTimeoutMs: number): Promise<readonly CallResult[]> {
    const all = [call(setLockTimeout, `${Math.max(1, Math.ceil(lockTimeoutMs))}ms`), ...calls];
    for (let evictions = 0; ; evictions++) {
      try {
        // Several rows may each be waited for.
        return await this.#database.write(all, lockTimeoutMs + this.#database.options.answerTimeoutMs);
      } catch (error) {
        if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE || evictions === MAX_EVICTIONS) throw error;
        const { rows } = await this.#database.one(evict);
        this.#database.options.log('warn', 'backends that held rows for too long were ended', { count: rows.length });
      }
    }
  }
}

/** Null where a server of an older version has written the row. */
function readReach(cutFrom: string | null, hasWorkers: string | null): NodeReach | null {
  if (cutFrom === null || hasWorkers === null) return null;
  return { cutFrom: parseUuids(cutFrom) as NodeId[], hasWorkers: hasWorkers === 't' };
}
