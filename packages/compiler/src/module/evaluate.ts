/**
 * Loads user code in a separate process (D7), with a time and a memory limit and without our environment, and kills it with
 * everything that it started. It reports its dags over a pipe that its own output does not use.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { DagDefinition } from '@signalbox/protocol';
import type { Place } from '@signalbox/sdk/authoring';

const PROGRAM = fileURLToPath(new URL('../../bin/evaluate.mjs', import.meta.url));
const MEMORY_MIB = 256;
const MAX_ANSWER_CHARS = 64 * 1024 * 1024;
/** Threads of the runtime compute as well, and a busy machine is slow: the clock of our own comes first. */
const SPARE_S = 20;
const MAX_STDERR_CHARS = 16 * 1024;
/** Nothing else is handed on: the environment of a server holds what a dag's file has no business with. */
const HANDED_ON = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'LANG', 'LC_ALL', 'TZ', 'SystemRoot'] as const;

export interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** Of a mistake that our own package found. */
  readonly reason: string | null;
  readonly remedy: string | null;
  readonly place: Place | null;
}

export interface Held {
  readonly dags: readonly {
    readonly definition: DagDefinition;
    /** As it was written; it may be anything. */
    readonly files: unknown;
    readonly place: Place | null;
    readonly places: readonly (Place | null)[];
    readonly groupPlaces: readonly (Place | null)[];
  }[];
  readonly functions: readonly { readonly name: string; readonly type: string }[];
}

export type Evaluated =
  | { readonly kind: 'held'; readonly held: Held }
  | { readonly kind: 'thrown'; readonly thrown: Thrown }
  | { readonly kind: 'ended'; readonly message: string; readonly remedy: string };

export async function evaluate(
  code: Buffer,
  { folder, timeLimitMs }: { readonly folder: string; readonly timeLimitMs: number },
): Promise<Evaluated> {
  const home = await mkdtemp(join(tmpdir(), 'signalbox-dag-'));
  try {
    const path = join(home, 'bundle.mjs');
    await writeFile(path, code);
    return await load(path, folder, timeLimitMs);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function load(path: string, cwd: string, timeLimitMs: number): Promise<Evaluated> {
  const [program, args] = commandFor(path, timeLimitMs);
  const child = spawn(program, args, {
    cwd,
    env: Object.fromEntries(HANDED_ON.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
    // A group of its own, so that it can be ended with all that it has started.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const endWithUs = (): void => endGroup(child);
  process.once('exit', endWithUs);
  return new Promise((resolve) => {
    let answer = '';
    let stderr = '';
    const settle = (evaluated: Evaluated): void => {
      clearTimeout(timer);
      process.removeListener('exit', endWithUs);
      endGroup(child);
      resolve(evaluated);
    };
    const timer = setTimeout(() => settle(tooSlow(timeLimitMs)), timeLimitMs);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-MAX_STDERR_CHARS)));
    const pipe = child.stdio[3] as Readable | null | undefined;
    pipe?.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
      if (answer.length > MAX_ANSWER_CHARS) {
        settle({ kind: 'ended', message: 'the definitions are too large', remedy: 'Split them over several dags.' });
      }
    });
    child.on('error', (error) => settle({ kind: 'ended', message: error.message, remedy: 'Start it again.' }));
    // What it has started may hold the pipes open: they close when that has ended as well.
    child.on('exit', () => endGroup(child));
    child.on('close', (code, signal) => settle(read(answer) ?? endedEarly(code, signal, stderr, timeLimitMs)));
  });
}

/**
 * The shell limits the time that it computes, so that a file that loops for ever ends even when we have been killed and
 * can't end it. Where there is no such shell, our own clock must do.
 */
function commandFor(path: string, timeLimitMs: number): readonly [string, string[]] {
  const node = [`--max-old-space-size=${MEMORY_MIB}`, PROGRAM, path, String(timeLimitMs)];
  if (process.platform === 'win32') return [process.execPath, node];
  const seconds = Math.ceil(timeLimitMs / 1000) + SPARE_S;
  return ['/bin/sh', ['-c', 'ulimit -t "$1"; shift; exec "$@"', 'sh', String(seconds), process.execPath, ...node]];
}

const tooSlow = (timeLimitMs: number): Evaluated => ({
  kind: 'ended',
  message: `the file did not load within ${timeLimitMs / 1000} s`,
  remedy: 'Move slow work into a task. A dag file should only define dags.',
});

function read(answer: string): Evaluated | null {
  try {
    const told = JSON.parse(answer) as Held & { readonly error?: Thrown };
    return told.error === undefined ? { kind: 'held', held: told } : { kind: 'thrown', thrown: told.error };
  } catch {
    return null;
  }
}

function endedEarly(
  code: number | null,
  signal: NodeJS.Signals | null,
  stderr: string,
  timeLimitMs: number,
): Evaluated {
  if (signal === 'SIGXCPU') return tooSlow(timeLimitMs);
  if (/heap out of memory/.test(stderr)) {
    return {
      kind: 'ended',
      message: `the file takes more than ${MEMORY_MIB} MiB to load`,
      remedy: 'Move what needs memory into the function of a task.',
    };
  }
  const last = stderr.trim().split('\n').at(-1) ?? '';
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  return {
    kind: 'ended',
    message: `the process that loads the file ended ${how} before its dags were known${last === '' ? '' : `: ${last}`}`,
    remedy: 'Remove process.exit() and similar calls. Loading the file should only define dags.',
  };
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it is gone already.
  }
}
