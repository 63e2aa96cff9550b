/** Which dags a list shows, as a condition over `dag d` and its current version `v`. Null stands for any. */
import { phases, runOutcomes } from '../codes.ts';
import { encodeText, textArray } from '../text.ts';
import { OWNER_BY_HAND } from './dag-owners.ts';

/** `running`, `failed`: what its newest run does or did. `scheduled`, `paused`: whether one of its schedules is. */
export type DagShow = 'running' | 'failed' | 'scheduled' | 'paused';

export interface DagFilter {
  readonly retired?: boolean;
  readonly tag?: string | null;
  readonly owner?: string | null;
  /** Words, each of which is somewhere in name, description, tags or owner. */
  readonly words?: readonly string[];
  readonly show?: DagShow | null;
  /** With those that servers make for jobs. */
  readonly hidden?: boolean;
}

/** Names of dags that servers make for jobs begin so. */
export const HIDDEN_DAG_PREFIX = '.job-';

/** PostgreSQL looks into no JSON that has an escaped zero character; the API lets none in. */
const IS_ODD = `strpos(v.spec::text, '\\u0000') > 0`;
const OWNER = `coalesce(${OWNER_BY_HAND}, v.spec->>'owner')`;
const SEARCHED = `lower(concat_ws(' ', d.name, v.spec->>'description', (v.spec->'tags')::text, ${OWNER}))`;
const schedules = (more: string) =>
  `exists (select 1 from dag_schedule x where x.shard = d.shard and x.dag_id = d.dag_id and not x.delayed${more})`;
/** Leans on the index (shard, dag_id, run_id) of the newest partition that has a run of the dag. */
const newestRun = (condition: string) =>
  `coalesce((select ${condition} from run r where r.shard = d.shard and r.dag_id = d.dag_id order by r.run_id desc limit 1), false)`;

/** $2 retired too, $6 show, $7 hidden too. A `case` keeps what nobody asked for from being computed. */
export const OF_DAG = `($2::boolean or d.retired_at is null)
     and ($7::boolean or d.name not like '${HIDDEN_DAG_PREFIX}%')
     and case $6::text when 'scheduled' then ${schedules('')} when 'paused' then ${schedules(' and x.paused')}
           when 'running' then ${newestRun(`r.phase <> ${phases.code('ended')}`)}
           when 'failed' then ${newestRun(`r.phase = ${phases.code('ended')} and r.outcome = ${runOutcomes.code('failed')}`)}
           else true end`;

/** $3 tag, $4 owner, $5 words. */
const OF_VERSION = `case when $3::text is null and $4::text is null then true when ${IS_ODD} then false
           else ($3::text is null or (v.spec->'tags')::jsonb ? $3::text) and ($4::text is null or ${OWNER} = $4::text) end
     and case when $5::text[] is null then true when ${IS_ODD} then false
           else not exists (select 1 from unnest($5::text[]) w where strpos(${SEARCHED}, w) = 0) end`;

export const DAG_FILTER = `${OF_DAG} and ${OF_VERSION}`;

/** In place of it, in a statement that reads no versions. */
export const NO_VERSION_FILTER = '$3::text is null and $4::text is null and $5::text[] is null';

/** Whether the version of a dag says if it is shown. */
export const looksIntoVersions = ({ tag = null, owner = null, words = [] }: DagFilter): boolean =>
  tag !== null || owner !== null || words.length > 0;

export function filterValues({
  retired = false,
  tag = null,
  owner = null,
  words = [],
  show = null,
  hidden = false,
}: DagFilter) {
  const searched = words.length === 0 ? null : textArray(words.map((word) => word.toLowerCase()));
  return [retired, tag, owner === null ? null : encodeText(owner), searched, show, hidden] as const;
}
