/** Where the JSON of a flag comes from: the word itself, a file (`@order.json`), or standard input (`-`). */
import { readFileSync } from 'node:fs';

/** A document in place of the flag's word. `from` names it in errors; null when the word is the JSON. */
export interface JsonSource {
  readonly text: string;
  readonly from: string | null;
}

/** Thrown for a source that cannot be read; the parser adds the flag. */
export class SourceError extends Error {
  override name = 'SourceError';
}

/** No JSON text starts with `@`, and `-` alone is no number, so neither can be meant as JSON. */
export function readSource(word: string): JsonSource {
  if (word === '-') return { text: readStdin(), from: 'standard input' };
  if (!word.startsWith('@')) return { text: word, from: null };
  const path = word.slice(1);
  if (path === '') throw new SourceError('Add a file name after the @, such as @params.json.');
  try {
    return { text: readFileSync(path, 'utf8'), from: path };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new SourceError(`The file ${path} ${why}.`);
  }
}

function readStdin(): string {
  if (process.stdin.isTTY) {
    throw new SourceError('Standard input is a terminal. Pipe the JSON in, or use a file: @params.json.');
  }
  try {
    return readFileSync(0, 'utf8');
  } catch (error) {
    throw new SourceError(`Standard input cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
