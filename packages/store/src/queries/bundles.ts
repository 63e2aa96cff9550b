/**
 * Code of dags and archives of their files, by tenant and hash. The content of a hash never changes; storing it again only
 * marks it as wanted. A bundle that no version names is removed a day after it was last wanted.
 */
import type { TenantId } from '@signalbox/engine';
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';

export interface NewBundle {
  /** SHA-256 of the code in hex, checked by the caller. */
  readonly hash: string;
  readonly code: Buffer;
}

export interface StoredBundle {
  readonly code: Buffer;
  readonly sourceMap: Buffer | null;
}

const BUNDLES_PER_STEP = 100;
/** Between the upload and the deploy that names it lie seconds; a day is for who is interrupted. */
const KEPT_UNNAMED = `interval '1 day'`;

const insertBundle = statement(
  'insert_bundle',
  `
  insert into bundle (tenant_id, hash, code) values ($1::integer, $2::text, $3::bytea)
  on conflict (tenant_id, hash) do update set touched_at = clock_timestamp()
  returning xmax = 0`,
);
const setSourceMap = statement(
  'set_source_map',
  `
  update bundle set source_map = $3::bytea, touched_at = clock_timestamp()
   where tenant_id = $1::integer and hash = $2::text returning 1`,
);
const selectBundle = statement(
  'select_bundle',
  'select code, source_map from bundle where tenant_id = $1::integer and hash = $2::text',
);
const setTouched = statement(
  'touch_bundle',
  `
  update bundle set touched_at = clock_timestamp() where tenant_id = $1::integer and hash = $2::text returning 1`,
);

/**
 * Leans on the indexes `dag_version_bundle` and `dag_version_files`. One that is touched meanwhile has a new place in the table, so it is not among
 * those that go.
 */
const deleteUnused = statement(
  'delete_unused_bundles',
  `
  with gone as (
    delete from bundle where ctid = any (array (
      select b.ctid from bundle b
       where b.touched_at < clock_timestamp() - ${KEPT_UNNAMED}
         and not exists (
           select from dag_version v join dag d on d.shard = v.shard and d.dag_id = v.dag_id
            where v.bundle = b.hash and d.tenant_id = b.tenant_id)
         and not exists (
           select from dag_version v join dag d on d.shard = v.shard and d.dag_id = v.dag_id
            where v.files = b.hash and d.tenant_id = b.tenant_id)
       limit ${BUNDLES_PER_STEP}))
    returning 1)
  select count(*) from gone`,
);

/** True when it is new to the tenant. */
export async function putBundle(database: Database, tenantId: TenantId, { hash, code }: NewBundle): Promise<boolean> {
  return (await database.one(call(insertBundle, tenantId, hash, code))).rows[0]?.[0] === 't';
}

/** False when there is no such bundle. */
export async function putSourceMap(
  database: Database,
  tenantId: TenantId,
  { hash, sourceMap }: { hash: string; sourceMap: Buffer },
): Promise<boolean> {
  return (await database.one(call(setSourceMap, tenantId, hash, sourceMap))).rows.length > 0;
}

export async function getBundle(database: Database, tenantId: TenantId, hash: string): Promise<StoredBundle | null> {
  const [row] = (await database.one(call(selectBundle, tenantId, hash))).rows;
  if (row === undefined) return null;
  const [code, sourceMap] = row;
  return {
    code: bytesOf(code ?? ''),
    sourceMap: sourceMap === null || sourceMap === undefined ? null : bytesOf(sourceMap),
  };
}

/** Says that a deploy is about to name it. False when there is no such bundle. */
export async function touchBundle(database: Database, tenantId: TenantId, hash: string): Promise<boolean> {
  return (await database.one(call(setTouched, tenantId, hash))).rows.length > 0;
}

/** One step; the next call goes on. */
export async function dropUnusedBundles(database: Database): Promise<{ dropped: number; complete: boolean }> {
  const dropped = Number((await database.one(call(deleteUnused))).rows[0]?.[0]);
  return { dropped, complete: dropped < BUNDLES_PER_STEP };
}

/** As PostgreSQL writes bytes: `\x` and hex. */
function bytesOf(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex');
}
