/**
 * The files that go along with a dag, in one piece that is addressed by the hash of its bytes, like code. The same files give the
 * same bytes on every machine: paths are sorted, and of the mode only "executable" is kept. Uncompressed, so that
 * the version of a compressor does not change a hash.
 *
 * Layout: a line `SIGNALBOX-FILES 1`, a line of JSON that lists the files, then their contents one after the other.
 */
import { MAX_FILES, MAX_FILES_BYTES } from './limits.ts';

export interface ArchivedFile {
  /** Within the working folder, with `/` between its parts. */
  readonly path: string;
  readonly isExecutable: boolean;
  readonly content: Buffer;
}

const FIRST_LINE = 'SIGNALBOX-FILES 1\n';
const MAX_PATH_CHARS = 400;

/** False for a path that could leave the folder that it is put into, or that no system takes. */
export function isSafePath(path: string): boolean {
  if (path === '' || path.length > MAX_PATH_CHARS || /[\0\\]/.test(path)) return false;
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && !/^[A-Za-z]:$/.test(part));
}

export function packFiles(files: readonly ArchivedFile[]): Buffer {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  const list = sorted.map(({ path, isExecutable, content }) => [path, content.length, isExecutable ? 1 : 0]);
  return Buffer.concat([
    Buffer.from(`${FIRST_LINE}${JSON.stringify(list)}\n`),
    ...sorted.map(({ content }) => content),
  ]);
}

/** Throws on anything that `packFiles` would not have made, because unpacking writes to a disk. */
export function unpackFiles(archive: Buffer): ArchivedFile[] {
  const listAt = Buffer.byteLength(FIRST_LINE);
  const contentAt = archive.indexOf('\n', listAt) + 1;
  if (archive.toString('utf8', 0, listAt) !== FIRST_LINE || contentAt === 0) throw broken('it does not begin as one');
  const list = JSON.parse(archive.toString('utf8', listAt, contentAt)) as unknown;
  if (!Array.isArray(list) || list.length > MAX_FILES) throw broken('its list is no list');
  let [at, last] = [contentAt, ''];
  const files = list.map((entry: unknown): ArchivedFile => {
    const [path, size, bit] = Array.isArray(entry) ? (entry as unknown[]) : [];
    if (typeof path !== 'string' || !isSafePath(path) || path <= last) throw broken('a path in it is not allowed');
    if (typeof size !== 'number' || !Number.isInteger(size) || size < 0 || size > MAX_FILES_BYTES)
      throw broken('a size in it is wrong');
    last = path;
    const content = archive.subarray(at, at + size);
    at += size;
    return { path, isExecutable: bit === 1, content };
  });
  if (at !== archive.length) throw broken('its length is wrong');
  return files;
}

const broken = (why: string): Error => new Error(`The files of the dag can't be unpacked: ${why}.`);
