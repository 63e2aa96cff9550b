/**
 * What a process says while it runs, through its socket and through files: $SIGNALBOX_PROGRESS, $SIGNALBOX_CHECKPOINT and,
 * for its end, $SIGNALBOX_FAILURE. The files are read twice a second and once more when the process has ended. A file that
 * is half written is left for the next reading.
 */

import { chmodSync, constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { InexactJson, parseExactJson } from '@signalbox/protocol/exact-json';
import { MAX_CHECKPOINT_BYTES, MAX_PROGRESS_NOTE_CHARS } from '@signalbox/protocol/limits';
import type { AttemptRequester } from '@signalbox/sdk/attempt-requests';
import type { Job } from '../port.ts';
import type { ProcessFolder } from '../process-folder.ts';
import { AttemptDoor } from './attempt-door.ts';
import { readSaid, type SaidFailure } from './said-failure.ts';

const LOOK_MS = 500;
/** For the last checkpoint, when the process has ended: it is worth a while, and not an attempt that never ends. */
const LAST_SAVE_MS = 5_000;
const HELPERS = fileURLToPath(new URL('../../../helpers', import.meta.url));

export class AttemptVoice {
  readonly #job: Job;
  readonly #folder: ProcessFolder;
  readonly #door: AttemptDoor;
  readonly #requester: AttemptRequester;
  readonly #seen = new Map<string, string>();
  #checkpoint: string;
  #isOpen = false;
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;

  private constructor(job: Job, folder: ProcessFolder) {
    const { assignment, context } = job;
    this.#job = job;
    this.#folder = folder;
    this.#requester = context.requester;
    this.#checkpoint = assignment.checkpoint;
    const { tenant, dag, run, taskName: task, effectKey } = assignment;
    const { attempt, fence } = assignment.claim;
    this.#door = new AttemptDoor({
      requester: this.#requester,
      checkpoint: () => this.#checkpoint,
      onCheckpoint: (value) => this.#save(value),
      about: { tenant, dag, run, task, attempt, fence, effectKey },
    });
  }

  static async begin(job: Job, folder: ProcessFolder): Promise<AttemptVoice> {
    const voice = new AttemptVoice(job, folder);
    const { checkpoint } = job.assignment;
    if (checkpoint !== '') {
      await folder.write('checkpoint.json', checkpoint);
      await voice.#look(); // What is there now is nothing that the process has said.
    }
    try {
      await voice.#door.open(folder.socket);
      chmodSync(folder.socket, 0o600);
      voice.#isOpen = true;
    } catch (error) {
      job.log.line('system', `$SIGNALBOX_SOCKET could not be opened, files work all the same: ${String(error)}`);
    }
    voice.#timer = setInterval(() => void voice.#look(), LOOK_MS).unref();
    return voice;
  }

  get variables(): Readonly<Record<string, string>> {
    const { checkpoint, progress, failure, socket } = this.#folder;
    return {
      SIGNALBOX_CHECKPOINT: checkpoint,
      SIGNALBOX_PROGRESS: progress,
      SIGNALBOX_FAILURE: failure,
      SIGNALBOX_HELPERS: HELPERS,
      ...(this.#isOpen ? { SIGNALBOX_SOCKET: socket } : {}),
    };
  }

  /** JSON text of an output that was given by the door. */
  get output(): string | null {
    return this.#door.output;
  }

  /** The process has ended: what it has left in files counts. */
  async end(): Promise<SaidFailure | null> {
    this.close();
    while (this.#isLooking) await new Promise((resolve) => setTimeout(resolve, 5));
    if (await this.#folder.isUntouched()) return this.#door.failure;
    await within(LAST_SAVE_MS, this.#look());
    return (await this.#readFailure()) ?? this.#door.failure;
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#door.close();
  }

  async #save(value: string): Promise<void> {
    this.#checkpoint = value;
    await this.#requester.saveCheckpoint(value);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const progress = await this.#changed(this.#folder.progress);
      if (progress !== null) this.#hearProgress(progress);
      const text = await this.#changed(this.#folder.checkpoint);
      const value = text === null ? null : exact(text);
      if (value !== undefined && value !== null) {
        const checkpoint = JSON.stringify(value);
        if (checkpoint !== this.#checkpoint) await this.#save(checkpoint);
      } else if (text !== null && text.trim() !== '' && this.#timer === null) {
        this.#job.log.line('system', 'What was written to $SIGNALBOX_CHECKPOINT is not JSON: it was not saved.');
      }
    } catch (error) {
      this.#job.log.line(
        'system',
        `The checkpoint was not saved: ${error instanceof Error ? error.message : String(error)}`,
      );
    } finally {
      this.#isLooking = false;
    }
  }

  /** `{"fraction":0.5,"note":"half"}`, or a line such as `0.5 half of them`. */
  #hearProgress(text: string): void {
    const said = text.startsWith('{')
      ? (parsed(text) as { fraction?: unknown; note?: unknown } | undefined)
      : plain(text);
    if (said === undefined) return;
    const fraction = typeof said.fraction === 'number' ? Math.min(1, Math.max(0, said.fraction)) : null;
    const note = typeof said.note === 'string' ? said.note : '';
    this.#requester.progress(fraction, note.slice(0, MAX_PROGRESS_NOTE_CHARS));
  }

  async #readFailure(): Promise<SaidFailure | null> {
    const text = await this.#changed(this.#folder.failure);
    const value = text === null ? undefined : parsed(text);
    if (value === undefined || value === null || typeof value !== 'object') return null;
    const said = readSaid(value as Record<string, unknown>);
    if (typeof said !== 'string') return said;
    this.#job.log.line('system', `What was written to $SIGNALBOX_FAILURE counts for nothing: ${said}.`);
    return null;
  }

  /** What a file holds, if that is not what it held at the last look. */
  async #changed(path: string): Promise<string | null> {
    const found = await lstat(path).catch(() => null);
    if (found === null || !found.isFile() || found.size > MAX_CHECKPOINT_BYTES) return null;
    const stamp = `${found.ino}/${found.mtimeMs}/${found.size}`;
    if (this.#seen.get(path) === stamp) return null;
    // A pipe or a link in its place would be read for ever, or from elsewhere.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(() => null);
    if (file === null) return null;
    try {
      const bytes = Buffer.alloc(MAX_CHECKPOINT_BYTES);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
      this.#seen.set(path, stamp);
      return bytes.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  }
}

function plain(text: string): { readonly fraction: number | null; readonly note: string } {
  const [, number, note = ''] = /^\s*(\d*\.?\d+)?\s*(.*)$/m.exec(text) ?? [];
  return { fraction: number === undefined ? null : Number(number), note };
}

/** Undefined for what is no JSON, or not yet. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined for what is no JSON; throws for what would not be the same when it is read again. */
function exact(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof InexactJson) throw error;
    return undefined;
  }
}

async function within(ms: number, done: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([done, late]);
  clearTimeout(timer);
}
