/** Objects under watched prefixes that events were sent for, and which server looks at a prefix. */
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeText, encodeText, plainArray, textArray } from '../text.ts';

export interface WatchedObject {
  readonly key: string;
  readonly modifiedAt: number;
  readonly etag: string;
}

/** Leans on the primary key. By the clock of the database alone. */
const claimWatch = statement(
  'claim_object_watch',
  `
  insert into object_watch as w (prefix, holder, busy_until) values ($1::text, $2::uuid, now() + $3::integer * interval '1 ms')
  on conflict (prefix) do update set holder = excluded.holder, busy_until = excluded.busy_until where w.busy_until <= now()
  returning is_looked`,
);
const renewWatch = statement(
  'renew_object_watch',
  `
  update object_watch set busy_until = now() + $3::integer * interval '1 ms', is_looked = is_looked or $4::boolean
   where prefix = $1::text and holder = $2::uuid
  returning 1`,
);
/** Leans on the primary key, whose order is that of object stores. */
const selectObjects = statement(
  'select_watched_objects',
  'select key, modified_at, etag from watched_object where prefix = $1::text and key = any ($2::text[])',
);
const upsertObjects = statement(
  'keep_watched_objects',
  `
  insert into watched_object (prefix, key, modified_at, etag)
  select $1::text, u.key, u.modified_at, u.etag from unnest($2::text[], $3::bigint[], $4::text[]) as u (key, modified_at, etag)
  on conflict (prefix, key) do update set modified_at = excluded.modified_at, etag = excluded.etag`,
);
const deleteBetween = statement(
  'drop_watched_objects',
  `
  delete from watched_object where prefix = $1::text and key > $2::text and ($3::text is null or key <= $3::text) and key <> all ($4::text[])`,
);

export interface WatchHolder {
  readonly prefix: string;
  readonly holder: string;
}

/** Null while another server has it, or while it is too early for the next look. */
export async function claimObjectWatch(
  database: Database,
  { prefix, holder }: WatchHolder,
  forMs: number,
): Promise<{ readonly isLooked: boolean } | null> {
  const [row] = (await database.one(call(claimWatch, encodeText(prefix), holder, forMs))).rows;
  return row === undefined ? null : { isLooked: row[0] === 't' };
}

/** False when another server has taken it meanwhile. */
export async function renewObjectWatch(
  database: Database,
  { prefix, holder }: WatchHolder,
  { forMs, isLooked = false }: { readonly forMs: number; readonly isLooked?: boolean },
): Promise<boolean> {
  return (await database.one(call(renewWatch, encodeText(prefix), holder, forMs, isLooked))).rows.length > 0;
}

/** Those of these keys that are known, by key. */
export async function findWatchedObjects(
  database: Database,
  prefix: string,
  keys: readonly string[],
): Promise<Map<string, WatchedObject>> {
  const { rows } = await database.one(call(selectObjects, encodeText(prefix), textArray(keys)));
  return new Map(
    rows.map(([key, modifiedAt, etag]) => {
      const object = { key: decodeText(key ?? ''), modifiedAt: Number(modifiedAt), etag: decodeText(etag ?? '') };
      return [object.key, object];
    }),
  );
}

export async function keepWatchedObjects(
  database: Database,
  prefix: string,
  objects: readonly WatchedObject[],
): Promise<void> {
  if (objects.length === 0) return;
  const keys = textArray(objects.map(({ key }) => key));
  const times = plainArray(objects.map(({ modifiedAt }) => modifiedAt));
  const etags = textArray(objects.map(({ etag }) => etag));
  await database.one(call(upsertObjects, encodeText(prefix), keys, times, etags));
}

/** A page of a listing: all keys after `after`, up to `until`; null: to the end. */
export interface ListedPage {
  readonly after: string;
  readonly until: string | null;
  readonly keys: readonly string[];
}

/** Those that the page no longer has. */
export async function dropGoneObjects(database: Database, prefix: string, page: ListedPage): Promise<void> {
  const until = page.until === null ? null : encodeText(page.until);
  await database.one(call(deleteBetween, encodeText(prefix), encodeText(page.after), until, textArray(page.keys)));
}
