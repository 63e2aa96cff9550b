/**
 * What lists show of the specs of versions, without their tasks: those of a page may be many megabytes, and PostgreSQL takes 100 ms to
 * find a few fields in the spec of a thousand tasks. A version never changes, so what was read of it stays true. Those that were read
 * last are kept.
 */
import type { DagSpec } from '@signalbox/engine';
import type { Ask } from '../database.ts';
import { call, statement } from '../statement.ts';
import { plainArray } from '../text.ts';
import type { VersionKey } from './known-specs.ts';

type Field =
  | 'priority'
  | 'maxActiveRuns'
  | 'maxActiveTasks'
  | 'maxActiveTasksPerRun'
  | 'concurrency'
  | 'description'
  | 'bundle'
  | 'source'
  | 'on'
  | 'tags'
  | 'owner';
/** PostgreSQL has null for what a spec lacks. */
export type ShownSpec = Pick<DagSpec, Field> & { readonly taskCount: number };

const FIELDS: readonly Field[] = [
  ...(['priority', 'maxActiveRuns', 'maxActiveTasks', 'maxActiveTasksPerRun', 'description', 'bundle'] as const),
  ...(['concurrency', 'source', 'on', 'tags', 'owner'] as const),
];

/**
 * By primary key. Each spec is taken apart once, by `json_to_record`. PostgreSQL looks into no JSON that has an escaped zero character;
 * of such a one, which the API does not let in, all is read.
 */
const selectShown = statement(
  'shown_specs',
  `
  select v.shard, v.dag_id, v.version_no, case when strpos(v.spec::text, '\\u0000') > 0 then v.spec::text else (
      select json_build_object(${FIELDS.map((field) => `'${field}', x."${field}"`).join(', ')}, 'taskCount', json_array_length(x.tasks))
        from json_to_record(v.spec) as x (${FIELDS.map((field) => `"${field}" json`).join(', ')}, tasks json))::text end
    from unnest($1::smallint[], $2::bigint[], $3::integer[]) as u (shard, dag_id, version_no)
    join dag_version v on v.shard = u.shard and v.dag_id = u.dag_id and v.version_no = u.version_no`,
);

const MOST = 20_000;

export class ShownSpecs {
  readonly #specs = new Map<string, ShownSpec>();
  readonly #most: number;

  constructor(most = MOST) {
    this.#most = most;
  }

  /** Those of all these versions, in their order. */
  async read(ask: Ask, versions: readonly VersionKey[]): Promise<ShownSpec[]> {
    const found = new Map<string, ShownSpec>();
    const missing: VersionKey[] = [];
    for (const version of versions) {
      const known = this.#specs.get(keyOf(version));
      if (known === undefined) missing.push(version);
      else found.set(keyOf(version), known);
    }
    if (missing.length > 0) {
      const columns = (['shard', 'dagId', 'versionNo'] as const).map((name) =>
        plainArray(missing.map((version) => version[name])),
      );
      const [answer] = await ask([call(selectShown, ...columns)]);
      for (const [shard, dagId, versionNo, text] of answer?.rows ?? []) {
        const key = `${shard} ${dagId} ${versionNo}`;
        const spec = shownOf(JSON.parse(text ?? '{}') as Read);
        found.set(key, spec);
        this.#keep(key, spec);
      }
    }
    return versions.map((version) => found.get(keyOf(version)) as ShownSpec);
  }

  #keep(key: string, spec: ShownSpec): void {
    this.#specs.set(key, spec);
    for (const oldest of this.#specs.keys()) {
      if (this.#specs.size <= this.#most) break;
      this.#specs.delete(oldest);
    }
  }
}

const keyOf = ({ shard, dagId, versionNo }: VersionKey): string => `${shard} ${dagId} ${versionNo}`;

type Read = Pick<DagSpec, Field> & { readonly taskCount?: number; readonly tasks?: readonly unknown[] };

/** Of a whole spec, or of what was read of one. */
export function shownOf({ taskCount, tasks = [], ...spec }: Read): ShownSpec {
  const fields = Object.fromEntries(FIELDS.map((field) => [field, spec[field] ?? null]));
  return { ...fields, taskCount: taskCount ?? tasks.length } as ShownSpec;
}
