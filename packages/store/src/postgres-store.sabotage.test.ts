/**
 * A test of the tests: a database whose fence was replaced by a weaker one does not pass the suite. Each replacement is one
 * that a reasonable person might have written.
 */
import { afterAll, expect, test } from 'vitest';
import { type ConformanceGroup, findings, type StoreSubject } from './conformance/index.ts';
import { PostgresSubjects } from './conformance/postgres-subject.ts';
import { loadingBeforeTheTake } from './conformance/sabotage.ts';

const subjects = await PostgresSubjects.start();
afterAll(() => subjects.stop());

const fence = (declarations: string, body: string): string => `
  create or replace function commit_fence(
    p_node uuid, p_chain_no bigint, p_commit_no bigint,
    p_shards smallint[], p_epochs bigint[], p_commit_nos bigint[], p_last_run_ids bigint[], p_last_dag_nos integer[]
  ) returns void language plpgsql as $$ declare v_count integer; ${declarations} begin ${body} end $$;`;

const ROWS = `unnest(p_shards, p_epochs, p_commit_nos, p_last_run_ids, p_last_dag_nos)
  as e (shard, epoch, commit_no, last_run_id, last_dag_no)`;
const COUNT_UP =
  'set commit_no = e.commit_no, last_run_id = e.last_run_id, last_dag_no = e.last_dag_no, load_count = 0';
const RAISE = `raise exception 'fenced' using errcode = 'SB001';`;
const WRITER = `update writer set commit_no = p_commit_no
  where node_id = p_node and chain_no = p_chain_no and commit_no = p_commit_no - 1;`;
const SHARDS = `perform 1 from shard where shard = any (p_shards) order by shard for update;
  update shard s ${COUNT_UP} from ${ROWS}
   where s.shard = e.shard and s.epoch = e.epoch and s.commit_no = e.commit_no - 1 and s.owner = p_node;
  get diagnostics v_count = row_count;`;
const RAISE_UNLESS_ALL = `if v_count <> cardinality(p_shards) then ${RAISE} end if;`;

/** Reads the rows and compares, as READ COMMITTED invites to; they are counted up at the end, with the journal. */
const WITHOUT_LOCK = `${fence(
  '',
  `select count(*) into v_count from shard s join ${ROWS}
     on s.shard = e.shard and s.epoch = e.epoch and s.commit_no = e.commit_no - 1 and s.owner = p_node;
   ${RAISE_UNLESS_ALL}
   perform set_config('test.run_ids', p_last_run_ids::text, true), set_config('test.dag_nos', p_last_dag_nos::text, true);`,
)}
  create function count_up() returns trigger language plpgsql as $$ begin
    update shard s ${COUNT_UP} from unnest(new.shards, new.epochs, new.commit_nos,
      current_setting('test.run_ids')::bigint[], current_setting('test.dag_nos')::integer[])
      as e (shard, epoch, commit_no, last_run_id, last_dag_no) where s.shard = e.shard;
    return null;
  end $$;
  create trigger count_up after insert on journal for each row execute function count_up();`;

const RAISE_UNLESS_WRITER = `if not found then ${RAISE} end if;`;
/** Locks and counts up, and leaves it to the client to look at the number of rows. */
const WITHOUT_RAISE = fence('', `${WRITER} ${RAISE_UNLESS_WRITER} ${SHARDS}`);
/**
 * Looks at shards only: nothing ties a commit to the chain it is of. (That what follows a failed commit fails too is kept by
 * PostgreSQL even so: its session stays in the failed transaction. Behind a pooler it is the fence that keeps it.)
 */
const WITHOUT_CHAIN = fence('', `${SHARDS} ${RAISE_UNLESS_ALL}`);

const CASES: readonly (readonly [string, ConformanceGroup, RegExp, () => Promise<StoreSubject>])[] = [
  [
    'without the lock',
    'takeover',
    /after fence is fenced off .* late bytes change nothing/,
    () => subjects.subject(WITHOUT_LOCK),
  ],
  [
    'without the lock',
    'takeover',
    /a take waits for a commit that is after fence/,
    () => subjects.subject(WITHOUT_LOCK),
  ],
  ['without the raise', 'fencing', /epoch of before is refused/, () => subjects.subject(WITHOUT_RAISE)],
  ['without the lock', 'chaos', /seed 1/, () => subjects.subject(WITHOUT_LOCK)],
  ['without the chain', 'chains', /voids the older one/, () => subjects.subject(WITHOUT_CHAIN)],
  [
    'that loads before the epoch is raised',
    'takeover',
    /a take waits .* and loads what it did/,
    async () => loadingBeforeTheTake(await subjects.subject()),
  ],
];

test.each(CASES)('the suite finds a store %s, by %s: %s', async (_what, group, expected, makeSubject) => {
  const found = await findings([group], makeSubject, expected);
  expect(found).toContainEqual(expect.stringMatching(expected));
});

test.each(CASES)('which otherwise works: %s', async (_what, _group, _expected, makeSubject) => {
  expect(await findings(['fencing'], makeSubject, /commits in flight on one chain are done/)).toEqual([]);
});

test.each(CASES)('and passes the whole one there: %s, by %s: %s', async (_what, group, expected) => {
  expect(await findings([group], () => subjects.subject(), expected)).toEqual([]);
});
