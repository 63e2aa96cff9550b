import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';

/** What the operating system says about a process. A zombie has ended, but nobody has asked for its exit code yet. */
export type ProcessState = 'running' | 'stopped' | 'zombie' | 'gone';

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

/**
 * Whether the process is PostgreSQL working in the given folder. A postmaster and all its children have the data folder as
 * working folder. Where the system does not show that (macOS), the name has to do, and a query asks the server itself later.
 */
export function isPostgresIn(pid: number, dataDir: string): boolean {
  if (!hasProc) return /(^|\/)postgres$/.test(ps('comm=', pid) ?? '');
  try {
    if (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() !== 'postgres') return false;
    // By inode: the same folder may have been reached under another name (symbolic link, bind mount).
    const [theirs, ours] = [statSync(`/proc/${pid}/cwd`), statSync(dataDir)];
    return theirs.dev === ours.dev && theirs.ino === ours.ino;
  } catch {
    return false; // ended meanwhile, or another user's: our folder has mode 0700, so that one is not ours
  }
}

function describe(pid: number): ProcessInfo | undefined {
  const line = hasProc ? statLine(pid) : ps('stat=,ppid=', pid);
  const [letter, parentPid] = line?.trim().split(/\s+/) ?? [];
  if (letter === undefined || letter === '') return undefined;
  return { state: stateOf(letter), parentPid: Number(parentPid) };
}

function stateOf(letter: string): ProcessState {
  if (/^[ZX]/.test(letter)) return 'zombie';
  return /^[Tt]/.test(letter) ? 'stopped' : 'running';
}

/** State and parent, the fields that follow the name; the name may contain anything, blanks and brackets included. */
function statLine(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2);
  } catch {
    return undefined;
  }
}

function allPids(): number[] {
  const names = hasProc ? readdirSync('/proc') : execFileSync('ps', ['-axo', 'pid='], { encoding: 'utf8' }).split('\n');
  return names.map((name) => name.trim()).flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function ps(columns: string, pid: number): string | undefined {
  try {
    return execFileSync('ps', ['-o', columns, '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}
