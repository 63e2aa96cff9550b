/**
 * Rows of `journal`. One insert per commit, whatever its size. Reading a shard uses the primary key (shard, commit_no, at)
 * of `journal` and `journal_member` in each partition.
 */

import type { Leaf } from '../leaf.ts';
import type { ShardStamp } from '../port.ts';
import { type Call, call, leafStatement, statement } from '../statement.ts';
import { plainArray } from '../text.ts';

const insertJournal = leafStatement(
  'insert_journal',
  (leaf) => `
  insert into journal_${leaf} (at, node_id, shard, commit_no, shards, epochs, commit_nos, format, changes)
  values ($1::bigint, $2::uuid, ($3::smallint[])[1], ($5::bigint[])[1], $3::smallint[], $4::bigint[], $5::bigint[],
    $6::smallint, $7::bytea)`,
);

const insertMembers = leafStatement(
  'insert_journal_members',
  (leaf) => `
  insert into journal_member_${leaf} (at, lead_shard, lead_commit_no, shard, commit_no)
  select $1::bigint, $2::smallint, $3::bigint, u.* from unnest($4::smallint[], $5::bigint[]) as u`,
);

interface JournalRow {
  readonly at: number;
  readonly nodeId: string;
  /** In order of their number. */
  readonly stamps: readonly ShardStamp[];
  readonly format: number;
  readonly changes: Buffer;
}

export function writeJournal(leaf: Leaf, { at, nodeId, stamps, format, changes }: JournalRow): Call[] {
  const [lead, ...members] = stamps;
  if (lead === undefined) return []; // a commit of no shard has changed nothing
  const shards = plainArray(stamps.map((stamp) => stamp.shard));
  const epochs = plainArray(stamps.map((stamp) => stamp.epoch));
  const commitNos = plainArray(stamps.map((stamp) => stamp.commitNo));
  const row = call(insertJournal(leaf), at, nodeId, shards, epochs, commitNos, format, changes);
  if (members.length === 0) return [row];
  const memberShards = plainArray(members.map((stamp) => stamp.shard));
  const memberCommits = plainArray(members.map((stamp) => stamp.commitNo));
  return [row, call(insertMembers(leaf), at, lead.shard, lead.commitNo, memberShards, memberCommits)];
}

export const selectJournal = statement(
  'select_journal',
  `
  select found.commit_no, j.at, j.node_id, j.shards::text, j.epochs::text, j.commit_nos::text, j.format, j.changes
    from (
      (select commit_no, shard as lead_shard, commit_no as lead_commit_no, at from journal
        where shard = $1::smallint and commit_no > $2::bigint order by commit_no limit $3::integer)
      union all
      (select commit_no, lead_shard, lead_commit_no, at from journal_member
        where shard = $1::smallint and commit_no > $2::bigint order by commit_no limit $3::integer)
      order by commit_no limit $3::integer
    ) found
    join journal j on j.shard = found.lead_shard and j.commit_no = found.lead_commit_no and j.at = found.at
   order by found.commit_no`,
);
