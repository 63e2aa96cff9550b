/** Runs a command as a user would: as a process, with its output kept. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Begun {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What it has said up to now. */
  readonly said: { readonly stdout: string; readonly stderr: string; readonly all: string };
  readonly ended: Promise<Ended>;
  isRunning(): boolean;
}

/** `stdin` is what it reads; nothing unless told. */
export function begin(
  command: readonly string[],
  { stdin, ...options }: SpawnOptions & { readonly stdin?: string | undefined },
): Begun {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { ...options, stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] });
  child.stdin?.end(stdin);
  const said = { stdout: '', stderr: '', all: '' };
  let isRunning = true;
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.on('data', (chunk: Buffer) => {
      said[stream] += chunk.toString();
      said.all += chunk.toString();
    });
  }
  child.on('exit', () => {
    isRunning = false;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, stdout: said.stdout, stderr: said.stderr }));
  });
  if (child.pid === undefined) throw new Error(`${program} did not start.`);
  return { child, pid: child.pid, said, ended, isRunning: () => isRunning };
}

/** What begins commands of `signalbox`: it says where they run, and with which settings. */
export abstract class Commands {
  abstract begin(args: readonly string[]): Begun;

  run(...args: string[]): Promise<Ended> {
    return this.begin(args).ended;
  }

  async json<T>(...args: string[]): Promise<T> {
    const { exitCode, stdout, stderr } = await this.run(...args, '--json');
    if (exitCode !== 0) throw new Error(`${args.join(' ')} ended with ${exitCode}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }
}
