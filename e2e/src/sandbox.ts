/**
 * A newcomer's machine: an empty data folder and the program as it is installed, used through its command line alone, as
 * this user or, when we are root, as another one.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Begun, begin, Commands } from '@signalbox/cli/testing';
import { until } from './processes.ts';

export const PROGRAM = fileURLToPath(new URL('../../packages/cli/bin/signalbox.js', import.meta.url));

export interface Who {
  readonly name: string;
  readonly ids: { readonly uid: number; readonly gid: number } | null;
}

const NOBODY: Who = { name: 'a normal user', ids: { uid: 65_534, gid: 65_534 } };

/** Root tries both; whoever else can only be themselves. A clone that others may not read can only be tried as oneself. */
export function users(): Who[] {
  if (process.getuid?.() !== 0) return [{ name: 'a normal user', ids: null }];
  const { status } = spawnSync(process.execPath, [PROGRAM, '--version'], { ...NOBODY.ids, cwd: '/', env: {} });
  return [{ name: 'root', ids: null }, ...(status === 0 ? [NOBODY] : [])];
}

export class Sandbox extends Commands {
  readonly folder: string;
  readonly data: string;
  readonly #who: Who;
  readonly #command: readonly string[];
  readonly #begun: Begun[] = [];
  /** Where the server that was started last is asked. */
  url = '';

  private constructor(folder: string, who: Who, command: readonly string[]) {
    super();
    this.#command = command;
    this.folder = folder;
    this.data = join(folder, 'data');
    this.#who = who;
  }

  /** `command` is what runs the program: that of the clone unless told. */
  static async make(who: Who, command: readonly string[] = [process.execPath, PROGRAM]): Promise<Sandbox> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'signalbox-first-')));
    await chmod(folder, 0o755); // as root PostgreSQL runs under another account, which must get there
    const sandbox = new Sandbox(folder, who, command);
    await mkdir(join(folder, 'dags'));
    for (const path of [folder, join(folder, 'dags')])
      if (who.ids !== null) await chown(path, who.ids.uid, who.ids.gid);
    return sandbox;
  }

  override begin(args: readonly string[], env: Readonly<Record<string, string>> = {}): Begun {
    const begun = begin([...this.#command, ...args], {
      ...this.#who.ids,
      cwd: this.folder,
      env: {
        PATH: process.env.PATH ?? '/usr/bin:/bin',
        HOME: this.folder,
        SIGNALBOX_DATA: this.data,
        // A worker that was killed is given up sooner than a person would want to wait.
        SIGNALBOX_LEASE_MS: '2000',
        SIGNALBOX_HEARTBEAT_MS: '500',
        ...(this.url === '' ? {} : { SIGNALBOX_URL: this.url }),
        ...env,
      },
      detached: true, // a group of its own, as a shell gives to what is typed: Ctrl-C goes to all of it
    });
    this.#begun.push(begun);
    return begun;
  }

  /** `signalbox start` on free ports, until it says that it runs. */
  async start(...more: string[]): Promise<Begun> {
    this.url = '';
    const ports = ['--http', '--grpc', '--services'].flatMap((flag) => [flag, '127.0.0.1:0']);
    const begun = this.begin(['start', '--data', this.data, ...ports, ...more]);
    await until('it runs', 60_000, () => begun.said.all.includes('Ctrl-C stops everything') || !begun.isRunning());
    const url = /API +(\S+)/.exec(begun.said.all)?.[1];
    if (url === undefined) throw new Error(`It did not start:\n${begun.said.all}`);
    this.url = url;
    return begun;
  }

  /** Processes that have to do with the data folder: named in their command line, or at work in it. */
  processes(): number[] {
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
    const own = all.filter((pid) => commandOf(pid).includes(this.data) || folderOf(pid).startsWith(this.data));
    return withChildren(own.map(Number));
  }

  async remove(): Promise<void> {
    for (const begun of this.#begun) if (begun.isRunning()) killAll([begun.pid]);
    killAll(this.processes());
    await until('nothing is left', 10_000, () => this.processes().length === 0);
    await rm(this.folder, { recursive: true, force: true });
  }
}

export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it has ended meanwhile
    }
  }
}

/** What tasks have started knows nothing of the folder; it is found by whose child it is. */
function withChildren(pids: readonly number[]): number[] {
  const found = new Set(pids);
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(name)]),
  );
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const [pid, parent] of parents) if (parent !== null && found.has(parent)) found.add(pid);
  }
  return [...found].filter((pid) => pid !== process.pid && !isZombie(pid));
}

function statOf(pid: number | string): string[] {
  const text = read(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

const isZombie = (pid: number): boolean => ['Z', 'X', ''].includes(statOf(pid)[0] ?? '');
const parentOf = (pid: string): number | null => Number(statOf(pid)[1]) || null;
const commandOf = (pid: string): string => read(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
const folderOf = (pid: string): string => read(() => readlinkSync(`/proc/${pid}/cwd`));

function read(look: () => string): string {
  try {
    return look();
  } catch {
    return '';
  }
}
