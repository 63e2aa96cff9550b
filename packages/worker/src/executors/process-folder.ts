/**
 * The files of a process attempt, readable by the worker's own account only: a working folder, and beside it the files of
 * the worker.
 */
import { constants } from 'node:fs';
import { lstat, mkdir, mkdtemp, open, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_OUTPUT_BYTES } from '@signalbox/protocol';
import { InexactJson, parseExactJson } from '@signalbox/protocol/exact-json';
import { failure, type Result } from '../result.ts';
import { isLines, parseLines } from './output-lines.ts';

const WORK = 'work';

export class ProcessFolder {
  readonly #root: string;
  /** As of the last look. */
  #isUntouched = false;

  private constructor(root: string) {
    this.#root = root;
  }

  static async make(): Promise<ProcessFolder> {
    const folder = new ProcessFolder(await mkdtemp(join(tmpdir(), 'signalbox-run-')));
    await mkdir(folder.work);
    return folder;
  }

  get work(): string {
    return join(this.#root, WORK);
  }

  /** For the files of the dag, where the task has another working folder. */
  get files(): string {
    return join(this.#root, 'files');
  }

  get output(): string {
    return join(this.#root, 'output.json');
  }

  get checkpoint(): string {
    return join(this.#root, 'checkpoint.json');
  }

  get progress(): string {
    return join(this.#root, 'progress');
  }

  get failure(): string {
    return join(this.#root, 'failure.json');
  }

  /** Short: a path of a socket may have some 100 letters. */
  get socket(): string {
    return join(this.#root, 's');
  }

  async write(name: string, text: string): Promise<string> {
    const path = join(this.#root, name);
    await writeFile(path, text);
    return path;
  }

  /**
   * Whether nothing lies beside the working folder, so that no file has to be looked for. The socket is none: it is removed when the
   * process has ended.
   */
  async isUntouched(): Promise<boolean> {
    const names = await readdir(this.#root).catch(() => null);
    this.#isUntouched = names?.length === 1 && names[0] === WORK;
    return this.#isUntouched;
  }

  async remove(): Promise<void> {
    if (this.#isUntouched && (await this.#removeEmpty())) return;
    // Something that escaped everything may still write into it; what is left is the system's to clean.
    await rm(this.#root, { recursive: true, force: true, maxRetries: 2 }).catch(() => {});
  }

  /** Two calls in the place of the many that look into folders. */
  async #removeEmpty(): Promise<boolean> {
    try {
      await rmdir(this.work);
      await rmdir(this.#root);
      return true;
    } catch {
      return false;
    }
  }

  /** What can't be stored fails the task for good: trying again would do its work again for the same end (I56). */
  async readOutput(given: string | null): Promise<Result> {
    const found = this.#isUntouched ? null : await lstat(this.output).catch(() => null);
    if (found === null) return { outcome: 'succeeded', output: given ?? '', error: '' };
    // A pipe would be read for ever.
    if (!found.isFile()) return failure('permanent', 'What lies at $SIGNALBOX_OUTPUT is no file.');
    if (found.size > MAX_OUTPUT_BYTES) return tooLarge(found.size);
    const file = await open(this.output, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      // Nothing writes to it any more; what has escaped and does so gets what it had when it was looked at.
      const bytes = Buffer.alloc(found.size);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
      return outputOf(bytes.toString('utf8', 0, bytesRead).trim());
    } finally {
      await file.close();
    }
  }
}

function outputOf(text: string): Result {
  if (text === '') return { outcome: 'succeeded', output: '', error: '' };
  try {
    const output: unknown = isLines(text) ? parseLines(text) : parseExactJson(text);
    return { outcome: 'succeeded', output: JSON.stringify(output), error: '' };
  } catch (error) {
    if (error instanceof InexactJson) {
      return failure('permanent', `What was written to $SIGNALBOX_OUTPUT can't be kept: ${error.message}`);
    }
    const what = isLines(text) ? 'is not well-formed' : 'is not JSON, nor lines of name=value';
    return failure('permanent', `What was written to $SIGNALBOX_OUTPUT ${what}: ${(error as Error).message}`);
  }
}

function tooLarge(size: number): Result {
  return failure(
    'permanent',
    `The output has ${size} bytes; the limit is ${MAX_OUTPUT_BYTES}. Store it elsewhere and write a reference to it.`,
  );
}
