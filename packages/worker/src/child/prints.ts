/**
 * Whether user code has printed anything. Only then does the end of an attempt have to wait for output; for all other
 * attempts, two more writes and reads would be the larger part of their cost.
 */
import childProcess, { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Writable } from 'node:stream';

const writeSync = fs.writeSync;
const STANDARD: ReadonlySet<unknown> = new Set([1, 2, '/dev/stdout', '/dev/stderr']);
const pause = new Int32Array(new SharedArrayBuffer(4));

/** Takes what is printed to the attempt that prints it. False: nobody knows which one that is. */
type Route = (fd: number, chunk: Buffer) => boolean;

let route: Route | null = null;
let hasPrinted = false;
/** A process of its own may print at any time. */
let hasChildren = false;

export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let from = 0; from < bytes.length; ) {
    try {
      from += writeSync(fd, bytes, from);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A process that shares the pipe may have made it one that does not block.
      if (code === 'EAGAIN') Atomics.wait(pause, 0, 0, 1);
      else if (code === 'EPIPE') return;
      else throw error;
    }
  }
}

/** What is written is in the pipe when the call returns: in order with what other means write, and held up when it is full. */
class SyncOutput extends Writable {
  readonly fd: number;

  constructor(fd: number) {
    super({ decodeStrings: true });
    this.fd = fd;
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    if (route?.(this.fd, chunk) !== true) {
      hasPrinted = true;
      writeAll(this.fd, chunk);
    }
    done();
  }
}

type AnyFunction = (...args: unknown[]) => unknown;

function wrap(target: object, name: string, before: (args: readonly unknown[]) => void): void {
  const functions = target as Record<string, AnyFunction>;
  const original = functions[name];
  if (original === undefined) return;
  functions[name] = function (this: unknown, ...args: unknown[]) {
    before(args);
    return original.apply(this, args);
  };
}

export function watchPrints(): void {
  for (const [name, fd] of [
    ['stdout', 1],
    ['stderr', 2],
  ] as const) {
    const output = new SyncOutput(fd);
    Object.defineProperty(process, name, { configurable: true, enumerable: true, get: () => output });
  }
  const printing = ([target]: readonly unknown[]): void => {
    if (STANDARD.has(target)) hasPrinted = true;
  };
  for (const name of ['write', 'writev', 'writeFile', 'appendFile']) {
    wrap(fs, name, printing);
    wrap(fs, `${name}Sync`, printing);
  }
  const starting = (): void => {
    hasChildren = true;
  };
  wrap(ChildProcess.prototype, 'spawn', starting);
  for (const name of ['spawnSync', 'execSync', 'execFileSync']) wrap(childProcess, name, starting);
  // Named imports of user code see the same.
  syncBuiltinESMExports();
}

/** From now on what goes through `console` and the streams of `process` is told apart. */
export function routePrints(to: Route): void {
  route = to;
}

/** Says on both streams that the attempt is over, if it has printed anything; then counts anew. */
export function markEnd(mark: Buffer): boolean {
  if (!hasPrinted && !hasChildren) return false;
  hasPrinted = false;
  writeAll(1, mark);
  writeAll(2, mark);
  return true;
}
