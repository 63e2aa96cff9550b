/** Files of watched folders that events were sent for. */
import type { Database } from '../database.ts';
import { call, statement } from '../statement.ts';
import { decodeText, encodeText, plainArray, textArray } from '../text.ts';

export interface WatchedFile {
  /** Below its folder. */
  readonly path: string;
  readonly modifiedAt: number;
  readonly size: number;
}

/** The newest file of a folder that an event was sent for. */
export interface LastFile {
  readonly path: string;
  readonly at: number;
}

const selectFiles = statement(
  'list_watched_files',
  'select path, modified_at, size from watched_file where folder = $1::text order by path',
);
const upsertFiles = statement(
  'keep_watched_files',
  `
  insert into watched_file (folder, path, modified_at, size)
  select $1::text, u.path, u.modified_at, u.size from unnest($2::text[], $3::bigint[], $4::bigint[]) as u (path, modified_at, size)
  on conflict (folder, path) do update set modified_at = excluded.modified_at, size = excluded.size`,
);
const deleteFiles = statement(
  'drop_watched_files',
  'delete from watched_file where folder = $1::text and path = any($2::text[])',
);
const selectLastFile = statement(
  'find_last_watched_file',
  'select last_file, last_file_at from watched_folder where folder = $1::text',
);
const upsertLastFile = statement(
  'keep_last_watched_file',
  `
  insert into watched_folder (folder, last_file, last_file_at) values ($1::text, $2::text, $3::bigint)
  on conflict (folder) do update set last_file = excluded.last_file, last_file_at = excluded.last_file_at`,
);

export async function findLastFile(database: Database, folder: string): Promise<LastFile | null> {
  const { rows } = await database.one(call(selectLastFile, encodeText(folder)));
  const [row] = rows;
  return row === undefined ? null : { path: decodeText(row[0] ?? ''), at: Number(row[1]) };
}

export async function keepLastFile(database: Database, folder: string, { path, at }: LastFile): Promise<void> {
  await database.one(call(upsertLastFile, encodeText(folder), encodeText(path), String(at)));
}

export async function listWatchedFiles(database: Database, folder: string): Promise<WatchedFile[]> {
  const { rows } = await database.one(call(selectFiles, encodeText(folder)));
  return rows.map(([path, modifiedAt, size]) => ({
    path: decodeText(path ?? ''),
    modifiedAt: Number(modifiedAt),
    size: Number(size),
  }));
}

export async function keepWatchedFiles(
  database: Database,
  folder: string,
  files: readonly WatchedFile[],
): Promise<void> {
  const paths = textArray(files.map(({ path }) => path));
  const times = plainArray(files.map(({ modifiedAt }) => modifiedAt));
  const sizes = plainArray(files.map(({ size }) => size));
  await database.one(call(upsertFiles, encodeText(folder), paths, times, sizes));
}

export async function dropWatchedFiles(database: Database, folder: string, paths: readonly string[]): Promise<void> {
  await database.one(call(deleteFiles, encodeText(folder), textArray(paths)));
}
