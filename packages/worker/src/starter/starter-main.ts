/**
 * Starts programs for a worker, until the worker is gone. `spawn` of Node.js forks, which takes longer the more memory a process
 * has, and nothing else happens in it meanwhile. So this process is small: it loads little and keeps nothing.
 *
 * The output of a program does not pass through here. Two connections to a socket of the worker become its stdout and stderr.
 * `node starter-main.js <socket of the worker>`
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { connect, Socket } from 'node:net';
import { dirname } from 'node:path';
import { FROM_WORKER_FD, FrameReader, frame, TO_WORKER_FD } from '../child/frames.ts';
import { ReapedCpu } from '../executors/reaped-cpu.ts';
import {
  BEGIN,
  BEGUN,
  ENDED,
  FAILED,
  NO_OUTPUT,
  PING,
  PONG,
  type ProgramEnd,
  type ProgramOrder,
  READY,
  STDERR,
  STDOUT,
  type StartFault,
} from './words.ts';

const path = String(process.argv[2]);
const cpu = new ReapedCpu();
const toWorker = new Socket({ fd: TO_WORKER_FD, readable: false, writable: true });
const fromWorker = new Socket({ fd: FROM_WORKER_FD, readable: true, writable: false });

const say = (kind: number, no: number, text = ''): void => {
  toWorker.write(frame(kind, no, text));
};

async function begin(no: number, order: ProgramOrder): Promise<void> {
  let streams: readonly Socket[];
  try {
    streams = await Promise.all([connected(order.token + STDOUT), connected(order.token + STDERR)]);
  } catch (error) {
    return say(NO_OUTPUT, no, String(error));
  }
  try {
    start(no, order, streams);
  } catch (error) {
    fail(no, error as NodeJS.ErrnoException, true);
  } finally {
    for (const stream of streams) stream.destroy();
  }
}

function start(no: number, { program, args, cwd, env }: ProgramOrder, streams: readonly Socket[]): void {
  const [stdout, stderr] = streams as [Socket, Socket];
  cpu.began();
  const startedAt = performance.now();
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', stdout, stderr] });
  child.once('error', (error) => {
    if (child.pid === undefined) fail(no, error, false);
  });
  if (child.pid === undefined) return;
  say(BEGUN, no, String(child.pid));
  child.once('exit', (code, signal) => {
    void cpu.exited(performance.now() - startedAt).then((cpuMicros) => {
      say(ENDED, no, JSON.stringify({ code, signal, cpuMicros } satisfies ProgramEnd));
    });
  });
}

function fail(no: number, { name, message, code = '' }: NodeJS.ErrnoException, isThrown: boolean): void {
  say(FAILED, no, JSON.stringify({ name, message, code, isThrown } satisfies StartFault));
}

/** The worker knows by the first bytes whose output it is. They are on their way before the program can write any. */
function connected(head: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('error', reject);
    socket.once('connect', () => socket.write(head, () => resolve(socket)));
  });
}

/** The worker has ended this starter, or is gone. */
function leave(): void {
  try {
    rmSync(dirname(path), { recursive: true, force: true });
  } finally {
    process.exit(0);
  }
}

const reader = new FrameReader((kind, no, content) => {
  if (kind === BEGIN) void begin(no, JSON.parse(content.toString()) as ProgramOrder);
  else if (kind === PING) say(PONG, no);
});
fromWorker.on('data', (bytes) => {
  if (!reader.push(bytes)) leave();
});
fromWorker.on('error', leave);
fromWorker.on('close', leave);
toWorker.on('error', leave);
say(READY, 0);
