/**
 * Kills what a worker has started when the worker itself is killed without time to do so. It is a shell that holds the other
 * end of a pipe: when the pipe closes, the worker is gone, and every process with its mark is killed, even one in a busy
 * loop.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { WORKER_MARK } from './sweep.ts';

/** Told `+ <group>` and `- <group>`, for systems without /proc. Its words come from here alone, never from users (I69). */
const SCRIPT = `
trap '' HUP INT TERM
groups=' '
while read -r what group; do
  case $what in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -9 "-$group" 2>/dev/null; done
round=0
while [ -d /proc/self ] && [ $round -lt 50 ]; do
  found=$(grep -l -a -F "$1" /proc/[0-9]*/environ 2>/dev/null)
  [ -z "$found" ] && exit 0
  for file in $found; do
    pid=\${file#/proc/}
    kill -9 "\${pid%/environ}" 2>/dev/null
  done
  round=$((round + 1))
done
`;

export class Reaper {
  readonly #mark: string;
  #shell: ChildProcess | null = null;
  readonly #groups = new Set<number>();

  constructor(mark: string) {
    this.#mark = mark;
  }

  /** What every child must have in its environment. */
  get variables(): Readonly<Record<string, string>> {
    return { [WORKER_MARK]: this.#mark };
  }

  began(group: number): void {
    if (this.#shell === null) this.#start();
    this.#groups.add(group);
    this.#tell(`+ ${group}\n`);
  }

  ended(group: number): void {
    if (this.#groups.delete(group)) this.#tell(`- ${group}\n`);
  }

  /** It looks once more, and ends. */
  close(): void {
    this.#shell?.stdin?.end();
    this.#shell = null;
  }

  #start(): void {
    // In a group of its own: what kills the worker's group must not kill it.
    const shell = spawn('/bin/sh', ['-c', SCRIPT, 'signalbox-reaper', `${WORKER_MARK}=${this.#mark}`], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
      cwd: '/',
    });
    this.#shell = shell;
    shell.on('error', () => {});
    shell.on('exit', () => {
      // Somebody has ended it: the next child brings a new one.
      if (this.#shell === shell) this.#shell = null;
    });
    shell.stdin?.on('error', () => {});
    shell.unref();
    (shell.stdin as (Writable & { unref?: () => void }) | null)?.unref?.();
    for (const group of this.#groups) this.#tell(`+ ${group}\n`);
  }

  #tell(line: string): void {
    this.#shell?.stdin?.write(line);
  }
}
