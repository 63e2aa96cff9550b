import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';

/** What the operating system says about a process. A zombie has ended, but nobody has asked for its exit code yet. */
type ProcessState = 'running' | 'stopped' | 'zombie' | 'gone';

type ProcessInfo = { state: ProcessState; parentPid: number };

// Linux answers from /proc, which needs no program: slim container images have no `ps`.
const hasProc = process.platform === 'linux';

export function processState(pid: number): ProcessState {
  return describe(pid)?.state ?? 'gone';
}

/** Whether the process can still do anything. A zombie cannot. */
export function isAlive(pid: number): boolean {
  const state = processState(pid);
  return state === 'running' || state === 'stopped';
}

/** Living children, not grandchildren: PostgreSQL has none. */
export function childrenOf(parentPid: number): number[] {
  return allPids().filter((pid) => {
    const info = describe(pid);
    return info !== undefined && info.parentPid === parentPid && info.state !== 'zombie';
  });
}

/** Whether the process is PostgreSQL working in the given folder, as a postmaster and all its children do. */
export function isPostgresIn(pid: number, dataDir: string): boolean {
  try {
    if (!/(^|\/)postgres$/.test(nameOf(pid))) return false;
    // By inode: the same folder may have been reached under another name (symbolic link, bind mount).
    const [theirs, ours] = [statSync(workingFolderOf(pid)), statSync(dataDir)];
    return theirs.dev === ours.dev && theirs.ino === ours.ino;
  } catch {
    return false; // ended meanwhile, or another user's: our folder has mode 0700, so that one is not ours
  }
}

function nameOf(pid: number): string {
  return hasProc
    ? readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
    : ask('ps', '-o', 'comm=', '-p', String(pid)).trim();
}

function workingFolderOf(pid: number): string {
  if (hasProc) return `/proc/${pid}/cwd`;
  const lines = ask('lsof', '-a', '-p', String(pid), '-d', 'cwd', '-Fn').split('\n');
  return lines.find((line) => line.startsWith('n'))?.slice(1) ?? '';
}

function describe(pid: number): ProcessInfo | undefined {
  const [letter, parentPid] = stateAndParent(pid)?.trim().split(/\s+/) ?? [];
  if (letter === undefined || letter === '') return undefined;
  return { state: stateOf(letter), parentPid: Number(parentPid) };
}

function stateOf(letter: string): ProcessState {
  if (/^[ZX]/.test(letter)) return 'zombie';
  return /^[Tt]/.test(letter) ? 'stopped' : 'running';
}

/** State and parent. In /proc they follow the name, which may contain anything, blanks and brackets included. */
function stateAndParent(pid: number): string | undefined {
  try {
    if (!hasProc) return ask('ps', '-o', 'stat=', '-o', 'ppid=', '-p', String(pid));
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2);
  } catch {
    return undefined;
  }
}

function allPids(): number[] {
  const names = hasProc ? readdirSync('/proc') : ask('ps', '-axo', 'pid=').split('\n');
  return names.map((name) => name.trim()).flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function ask(program: string, ...args: string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}
