/** A program that runs for an attempt, whoever has started it. */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { PermanentError } from '@signalbox/sdk';
import type { ProgramEnd, ProgramOrder } from '../../starter/words.ts';
import type { ReapedCpu } from '../reaped-cpu.ts';

export interface Program {
  /** The leader of its process group. */
  readonly pid: number;
  readonly stdout: Promise<Readable>;
  readonly stderr: Promise<Readable>;
  /** Rejects with `StarterLost` if nobody can tell any more how it ended. */
  readonly ended: Promise<ProgramEnd>;
  /** Output that has not arrived is not waited for any more. */
  readonly forgetOutput: () => void;
}

/** The starter of a program has ended before the program did. */
export class StarterLost extends Error {
  /** Whether no other program can be to blame. */
  readonly wasAlone: boolean;

  constructor(how: string, wasAlone: boolean) {
    super(how);
    this.wasAlone = wasAlone;
  }
}

export function cannotStart(
  program: string,
  { code, message }: { readonly code?: string | undefined; readonly message: string },
) {
  const text = code === 'ENOENT' ? 'there is no such program on this worker' : message;
  return new PermanentError(`${program} could not be started: ${text}.`);
}

/** As a child of this process. */
export async function startHere({ program, args, cwd, env }: ProgramOrder, cpu: ReapedCpu): Promise<Program> {
  cpu.began();
  const startedAt = performance.now();
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<ProgramEnd>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => reject(cannotStart(program, error)));
    child.once('exit', (code, signal) => {
      void cpu.exited(performance.now() - startedAt).then((cpuMicros) => resolve({ code, signal, cpuMicros }));
    });
  });
  const { pid, stdout, stderr } = child;
  if (pid === undefined) return ended as Promise<never>;
  return { pid, stdout: Promise.resolve(stdout), stderr: Promise.resolve(stderr), ended, forgetOutput: () => {} };
}
