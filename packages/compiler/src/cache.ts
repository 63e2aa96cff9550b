/** Results by file, kept until one of their inputs changes, so watching a folder compiles only what has changed. */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { FileResult, SourceFile } from './compiled.ts';

interface Mark {
  readonly mtimeMs: number;
  readonly size: number;
  readonly hash: string;
}

interface Kept {
  readonly result: FileResult;
  readonly marks: Map<string, Mark>;
}

const MAX_KEPT = 2_000;
const kept = new Map<string, Kept>();

const keyOf = ({ path, folder, shown, isNamed, timeLimitMs }: SourceFile): string =>
  JSON.stringify([path, folder, shown, isNamed, timeLimitMs]);

export async function keptOr(file: SourceFile, make: () => Promise<FileResult>): Promise<FileResult> {
  const key = keyOf(file);
  const known = kept.get(key);
  if (known !== undefined && (await isUnchanged(known.marks))) return known.result;
  kept.delete(key);
  const before = Date.now();
  const result = await make();
  if (result.madeOf !== null) await keep(key, result, result.madeOf, before);
  return result;
}

async function keep(key: string, result: FileResult, paths: readonly string[], before: number): Promise<void> {
  const marks = new Map<string, Mark>();
  for (const path of paths) {
    const mark = await markOf(path);
    // Written while it was being read: what was read is not what is there now.
    if (mark === null || mark.mtimeMs >= before) return;
    marks.set(path, mark);
  }
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value as string);
  kept.set(key, { result, marks });
}

async function markOf(path: string): Promise<Mark | null> {
  try {
    const { mtimeMs, size } = await stat(path);
    return {
      mtimeMs,
      size,
      hash: createHash('sha256')
        .update(await readFile(path))
        .digest('hex'),
    };
  } catch {
    return null;
  }
}

/** A file that was only touched, or written with the same content, has not changed. */
async function isUnchanged(marks: Map<string, Mark>): Promise<boolean> {
  for (const [path, mark] of marks) {
    const now = await stat(path).catch(() => null);
    if (now === null) return false;
    if (now.mtimeMs === mark.mtimeMs && now.size === mark.size) continue;
    const fresh = await markOf(path);
    if (fresh?.hash !== mark.hash) return false;
    marks.set(path, fresh);
  }
  return true;
}
