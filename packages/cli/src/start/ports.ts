/** Which process listens on a port of this machine, as far as the system shows it. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { type BindAddress, showAddress } from '@signalbox/server/config';
import { CliError } from '../problem.ts';

interface PortHolder {
  readonly pid: number;
  /** Its command line, cut short. */
  readonly command: string;
}

const LISTENING = '0A';
const LONGEST_COMMAND = 120;

export async function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'EADDRINUSE'));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** Null if no process is found: only root sees the sockets of other users. */
export function holderOf(port: number): PortHolder | null {
  try {
    const pid = process.platform === 'linux' ? pidFromProc(port) : pidFromLsof(port);
    return pid === null ? null : { pid, command: commandOf(pid) };
  } catch {
    return null;
  }
}

function pidFromProc(port: number): number | null {
  const sockets = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => socketsOn(table, port)));
  if (sockets.size === 0) return null;
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name) && holdsOneOf(Number(name), sockets)) return Number(name);
  }
  return null;
}

/** Inodes of the sockets that listen on the port. Columns: number, local address, remote address, state, … inode. */
function socketsOn(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readOr(table, '').split('\n').slice(1);
  return rows.flatMap((row) => {
    const columns = row.trim().split(/\s+/);
    return columns[1]?.endsWith(suffix) && columns[3] === LISTENING ? [`socket:[${columns[9]}]`] : [];
  });
}

function holdsOneOf(pid: number, sockets: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((fd) => sockets.has(linkOr(`${folder}/${fd}`)));
  } catch {
    return false; // ended meanwhile, or not ours to see
  }
}

function linkOr(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function pidFromLsof(port: number): number | null {
  const said = execFileSync('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-t'], { encoding: 'utf8' });
  return Number(said.trim().split('\n')[0]) || null;
}

export function commandOf(pid: number): string {
  const text = readOr(`/proc/${pid}/cmdline`, '').replaceAll('\0', ' ').trim();
  return text.length > LONGEST_COMMAND ? `${text.slice(0, LONGEST_COMMAND)}…` : text;
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return otherwise;
  }
}

/** Said before anything is started: otherwise a newcomer would read of a port after seconds of database messages. */
export async function refuseBusyPorts(config: Partial<Record<(typeof PORTS)[number], BindAddress>>): Promise<void> {
  for (const name of PORTS) {
    const bind = config[name];
    if (bind === undefined || bind.port === 0 || (await isFree(bind.host, bind.port))) continue;
    const holder = holderOf(bind.port);
    const who = holder === null ? 'by a process that you cannot see' : `by process ${holder.pid}: ${holder.command}`;
    throw new CliError(
      `The address ${showAddress(bind)} (--${name}) is in use, ${who}`,
      `Stop it, or choose another address: --${name} ${bind.host}:${bind.port + 100}, or port 0 for a free port.`,
    );
  }
}

/** Flags and settings of the same names. */
export const PORTS = ['http', 'grpc', 'services'] as const;
