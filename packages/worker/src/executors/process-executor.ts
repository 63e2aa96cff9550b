/**
 * `run:` — a program or a command line in its own process group. The attempt ends when its first process ends; everything
 * that it leaves behind is killed, inside its group and outside. Its output is what it wrote to the file $SIGNALBOX_OUTPUT.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import type { ProcessWork } from '@signalbox/protocol';
import { PermanentError, type StopReason } from '@signalbox/sdk';
import type { Bundles } from '../bundles/bundles.ts';
import { failure, type Result, resultOfFault, type Used } from '../result.ts';
import { Capture } from './capture.ts';
import type { ChildHome } from './child-home.ts';
import type { Execution } from './execution.ts';
import { LastLines } from './last-lines.ts';
import type { Watching } from './memory-watch.ts';
import { oomKills, overMemory, ranOutSince } from './out-of-memory.ts';
import type { Executor, Job, JobListener } from './port.ts';
import { AttemptVoice } from './process/attempt-voice.ts';
import { exitClass, exitCodeOf, type ProcessEnd } from './process/exit-class.ts';
import type { SaidFailure } from './process/said-failure.ts';
import { ProcessFolder } from './process-folder.ts';
import { processVariables } from './process-variables.ts';
import { ATTEMPT_MARK, signalGroup, sweep } from './sweep.ts';
import { placeFiles } from './work-files.ts';

/** For what is still in the pipes when the process has ended. */
const DRAIN_MS = 1_000;

export class ProcessExecutor implements Executor {
  readonly #home: ChildHome;
  readonly #bundles: Bundles;
  readonly #running = new Set<RunningProcess>();

  constructor(home: ChildHome, bundles: Bundles) {
    this.#home = home;
    this.#bundles = bundles;
  }

  start(job: Job, listener: JobListener): Execution {
    const running = new RunningProcess(job, this.#home, this.#bundles);
    this.#running.add(running);
    void running.run().then((result) => {
      this.#running.delete(running);
      listener.end(result);
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
  readonly #bundles: Bundles;
  readonly #mark = randomBytes(16).toString('hex');
  #child: ChildProcess | null = null;
  #isStopped = false;
  /** Null before it has ended. */
  #used: Used | null = null;
  /** Why it was ended, when it had more memory than it may. */
  #overMemory: string | null = null;

  constructor(job: Job, home: ChildHome, bundles: Bundles) {
    this.#job = job;
    this.#work = job.work.shape as ProcessWork;
    this.#home = home;
    this.#bundles = bundles;
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
      const result = await this.#runIn(folder);
      return this.#used === null ? result : { ...result, used: this.#used };
    } catch (error) {
      return resultOfFault(error);
    } finally {
      await folder?.remove();
    }
  }

  async #runIn(folder: ProcessFolder): Promise<Result> {
    const cwd = this.#work.cwd ?? folder.work;
    if (this.#work.cwd !== undefined && !(await isFolder(cwd))) {
      throw new PermanentError(`The working folder ${cwd} does not exist on this worker.`);
    }
    // In a working folder that the task has chosen nothing is written: there they lie beside it.
    const files = this.#work.cwd === undefined ? folder.work : folder.files;
    const { files: archive, tenant } = this.#job.assignment;
    if (archive !== '') await placeFiles(this.#bundles, { tenant, hash: archive, folder: files });
    const variables = {
      ...(archive === '' ? {} : { SIGNALBOX_FILES: files }),
      ...(await processVariables(this.#job, folder)),
    };
    const voice = await AttemptVoice.begin(this.#job, folder);
    try {
      if (this.#isStopped) return failure('cancelled', '');
      const stderr = new LastLines(this.#job.attempt.mask);
      const before = oomKills();
      // Last: what a definition sets under `env` is meant.
      const exit = await this.#spawn(cwd, { ...voice.variables, ...variables }, stderr);
      const said = await voice.end();
      const end: ProcessEnd = { ...exit, ranOut: ranOutSince(before), stderr: stderr.lines().join('\n') };
      return await this.#resultOf(end, said, () => folder.readOutput(voice.output));
    } finally {
      voice.close();
    }
  }

  async #resultOf(end: ProcessEnd, said: SaidFailure | null, readOutput: () => Promise<Result>): Promise<Result> {
    if (this.#overMemory !== null) return failure('resource', this.#overMemory, 'memory');
    const outcome = exitClass(end, this.#work.exitCodes);
    if (outcome === 'succeeded') return readOutput();
    const lines = [describe(end, this.#isStopped), said?.message ?? '', end.stderr].filter(Boolean);
    return {
      ...failure(said?.class ?? outcome, lines.join('\n'), said?.code || exitCodeOf(end)),
      ...(said === null || said.retryAfterMs === 0 ? {} : { retryAfterMs: said.retryAfterMs }),
      ...(said === null || said.memoryBytes === 0 ? {} : { memoryBytes: said.memoryBytes }),
    };
  }

  /** Ends the whole group, and tells why. */
  #tooLarge(bytes: number): void {
    this.#overMemory = overMemory('The process', bytes, this.#job.assignment.memoryBytes);
    this.#job.log.line('system', this.#overMemory);
    this.#signal('SIGKILL');
  }

  async #spawn(cwd: string, variables: Readonly<Record<string, string>>, stderr: LastLines): Promise<Exit> {
    const { run, shell } = this.#work;
    const { context } = this.#job;
    const [program, ...args] =
      typeof run === 'string'
        ? [shell ?? 'sh', '-c', run]
        : run.map((text, no) => context.text(`run[${no}]`, 'argument', text));
    this.#home.cpu.began();
    const spawnedAt = performance.now();
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
    const watching = this.#watchMemory(pid);
    const captures = this.#capture(child, stderr);
    try {
      const exit = await exited;
      const cpuMicros = await this.#home.cpu.exited(performance.now() - spawnedAt);
      const peakBytes = watching.peakBytes();
      if (cpuMicros !== null) this.#used = { cpuMicros: Math.max(1, cpuMicros), peakBytes };
      return exit;
    } finally {
      watching.end();
      signalGroup(pid, 'SIGKILL');
      const swept = await sweep(ATTEMPT_MARK, this.#mark, pid);
      if (swept > 0) this.#job.log.line('system', `Killed what had left the group: ${swept} more.`);
      await drain(captures);
      this.#home.reaper.ended(pid);
    }
  }

  #watchMemory(group: number): Watching {
    const { memoryBytes } = this.#job.assignment;
    const limitBytes = memoryBytes === 0 ? Number.POSITIVE_INFINITY : memoryBytes;
    return this.#home.memory.watch({ group, limitBytes, onOver: (bytes) => this.#tooLarge(bytes) });
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

function describe({ code, signal, ranOut }: ProcessEnd, isStopped: boolean): string {
  if (signal === null) {
    // A shell says so when what it ran was ended by a signal.
    const named = Object.entries(constants.signals).find(([, no]) => code !== null && code === 128 + no)?.[0];
    return `The process ended with exit code ${code}${named === undefined ? '' : ` (${named})`}.`;
  }
  if (signal !== 'SIGKILL' || isStopped || ranOut === false) return `The process was ended by ${signal}.`;
  return ranOut === true
    ? 'The process was ended by SIGKILL: the system had no memory left.'
    : 'The process was ended by SIGKILL, which is what a system without memory left sends.';
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}
