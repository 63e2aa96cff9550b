/**
 * `run:` — a program or a command line, as a process group of its own. It ends when its first process does: whatever it
 * leaves behind is killed, in its group and out of it. Its output is what it wrote to the file $SIGNALBOX_OUTPUT.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import type { ProcessWork } from '@signalbox/protocol';
import { PermanentError, type StopReason } from '@signalbox/sdk';
import { failure, type Result, resultOfFault } from '../result.ts';
import { Capture } from './capture.ts';
import type { ChildHome } from './child-home.ts';
import { LastLines } from './last-lines.ts';
import type { Execution, Executor, Job } from './port.ts';
import { ProcessFolder } from './process-folder.ts';
import { processVariables } from './process-variables.ts';
import { ATTEMPT_MARK, signalGroup, sweep } from './sweep.ts';

/** For what is still in the pipes when the process has ended. */
const DRAIN_MS = 1_000;

export class ProcessExecutor implements Executor {
  readonly #home: ChildHome;
  readonly #running = new Set<RunningProcess>();

  constructor(home: ChildHome) {
    this.#home = home;
  }

  start(job: Job, end: (result: Result) => void): Execution {
    const running = new RunningProcess(job, this.#home);
    this.#running.add(running);
    void running.run().then((result) => {
      this.#running.delete(running);
      end(result);
    });
    return running;
  }

  async close(): Promise<void> {
    for (const running of this.#running) running.kill();
  }
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

class RunningProcess implements Execution {
  readonly #job: Job;
  readonly #work: ProcessWork;
  readonly #home: ChildHome;
  readonly #mark = randomBytes(16).toString('hex');
  #child: ChildProcess | null = null;
  #isStopped = false;

  constructor(job: Job, home: ChildHome) {
    this.#job = job;
    this.#work = job.work.shape as ProcessWork;
    this.#home = home;
  }

  stop(reason: StopReason): void {
    // It may still finish and be reported: only the server knows whether it was given up.
    if (reason === 'lost') return;
    this.#isStopped = true;
    this.#signal('SIGTERM');
  }

  kill(): boolean {
    this.#isStopped = true;
    this.#signal('SIGKILL');
    return true;
  }

  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const pid = this.#child?.pid;
    if (pid === undefined || this.#child?.exitCode !== null || this.#child.signalCode !== null) return;
    this.#job.log.line('system', `${signal} was sent to the process and its group.`);
    signalGroup(pid, signal);
  }

  async run(): Promise<Result> {
    let folder: ProcessFolder | null = null;
    try {
      folder = await ProcessFolder.make();
      return await this.#runIn(folder);
    } catch (error) {
      return resultOfFault(error);
    } finally {
      await folder?.remove();
    }
  }

  async #runIn(folder: ProcessFolder): Promise<Result> {
    const variables = await processVariables(this.#job, folder);
    const cwd = this.#work.cwd ?? folder.work;
    if (this.#work.cwd !== undefined && !(await isFolder(cwd))) {
      throw new PermanentError(`The working folder ${cwd} does not exist on this worker.`);
    }
    if (this.#isStopped) return failure('cancelled', '');
    const stderr = new LastLines(this.#job.work.mask);
    const exit = await this.#spawn(cwd, variables, stderr);
    if (exit.code === 0) return folder.readOutput();
    return failure('transient', [describe(exit), ...stderr.lines()].join('\n'));
  }

  async #spawn(cwd: string, variables: Readonly<Record<string, string>>, stderr: LastLines): Promise<Exit> {
    const { run, shell } = this.#work;
    const [program, ...args] = typeof run === 'string' ? [shell ?? 'sh', '-c', run] : run;
    const child = spawn(program as string, args, {
      cwd,
      detached: true,
      env: { ...this.#home.environment, ...variables, ...this.#home.reaper.variables, [ATTEMPT_MARK]: this.#mark },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    const exited = new Promise<Exit>((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) => {
        const text = error.code === 'ENOENT' ? 'there is no such program on this worker' : error.message;
        reject(new PermanentError(`${String(program)} could not be started: ${text}.`));
      });
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    const { pid } = child;
    if (pid === undefined) return exited;
    this.#home.reaper.began(pid);
    const captures = this.#capture(child, stderr);
    try {
      return await exited;
    } finally {
      signalGroup(pid, 'SIGKILL');
      const swept = await sweep(ATTEMPT_MARK, this.#mark, pid);
      if (swept > 0) this.#job.log.line('system', `Killed what had left the group: ${swept} more.`);
      await drain(captures);
      this.#home.reaper.ended(pid);
    }
  }

  #capture(child: ChildProcess, stderr: LastLines): readonly Capture[] {
    const { log } = this.#job;
    const { relief } = this.#home;
    const out = new Capture(child.stdout as Readable, relief, (bytes) => log.bytes('stdout', bytes));
    const error = new Capture(child.stderr as Readable, relief, (bytes) => {
      stderr.push(bytes);
      log.bytes('stderr', bytes);
    });
    out.begin(log);
    error.begin(log);
    return [out, error];
  }
}

/** The pipes may be held by something that could not be found: they are not waited for. */
async function drain(captures: readonly Capture[]): Promise<void> {
  for (const capture of captures) capture.hurry();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, DRAIN_MS);
  });
  await Promise.race([Promise.all(captures.map(({ closed }) => closed)), late]);
  clearTimeout(timer);
  for (const capture of captures) capture.destroy();
}

function describe({ code, signal }: Exit): string {
  if (signal === null) {
    // A shell says so when what it ran was ended by a signal.
    const named = Object.entries(constants.signals).find(([, no]) => code !== null && code === 128 + no)?.[0];
    return `The process ended with exit code ${code}${named === undefined ? '' : ` (${named})`}.`;
  }
  const hint = signal === 'SIGKILL' ? ', which is also what a system without memory left sends' : '';
  return `The process was ended by ${signal}${hint}.`;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}
