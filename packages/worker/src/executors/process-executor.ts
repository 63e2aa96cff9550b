/**
 * `run:` — a program or a command line in its own process group. The attempt ends when its first process ends; everything
 * that it leaves behind is killed, inside its group and outside. Its output is what it wrote to the file $SIGNALBOX_OUTPUT.
 */
import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import type { ProcessWork } from '@signalbox/protocol';
import { type Log, PermanentError, type StopReason } from '@signalbox/sdk';
import type { Bundles } from '../bundles/bundles.ts';
import { failure, type Result, resultOfFault, type Used } from '../result.ts';
import { TOKEN_CHARS } from '../starter/words.ts';
import { Capture } from './capture.ts';
import type { ChildHome } from './child-home.ts';
import type { Execution } from './execution.ts';
import { LastLines } from './last-lines.ts';
import type { Watching } from './memory-watch.ts';
import { oomKills, overMemory, ranOutSince } from './out-of-memory.ts';
import type { Ended, Executor, Job, JobListener } from './port.ts';
import { AttemptVoice } from './process/attempt-voice.ts';
import { exitClass, exitCodeOf, KILLED_IN_SHELL, type ProcessEnd } from './process/exit-class.ts';
import { type Program, StarterLost } from './process/program.ts';
import { Programs } from './process/programs.ts';
import type { SaidFailure } from './process/said-failure.ts';
import { ProcessFolder } from './process-folder.ts';
import { processVariables } from './process-variables.ts';
import { Suspects } from './suspects.ts';
import { ATTEMPT_MARK, signalGroup, sweep } from './sweep.ts';
import { placeFiles } from './work-files.ts';

/** For what is still in the pipes when the process has ended. */
const DRAIN_MS = 1_000;
/** For what was killed when the worker leaves. */
const CLOSE_MS = 2_000;
const NO_OUTPUT =
  'The output of the process has not reached the worker, which may have too many files open (ulimit -n).';
const NEIGHBOUR = 'what starts processes for the worker was ended while several ran';

export class ProcessExecutor implements Executor {
  readonly #parts: ProcessParts;
  readonly #running = new Map<RunningProcess, Promise<void>>();
  readonly #suspects = new Suspects();

  constructor(home: ChildHome, bundles: Bundles, log: Log) {
    this.#parts = { home, bundles, programs: new Programs(home, log) };
  }

  start(job: Job, listener: JobListener): Execution {
    const running = new RunningProcess(job, this.#parts, this.#suspects.has(job.assignment));
    const over = running.run().then((ended) => {
      this.#running.delete(running);
      if ('returned' in ended) this.#suspects.add(job.assignment);
      else this.#suspects.clear(job.assignment);
      listener.end(ended);
    });
    this.#running.set(running, over);
    return running;
  }

  async close(): Promise<void> {
    for (const running of this.#running.keys()) running.kill();
    await within(CLOSE_MS, Promise.all(this.#running.values()));
    await within(CLOSE_MS, this.#parts.programs.close());
  }
}

interface ProcessParts {
  readonly home: ChildHome;
  readonly bundles: Bundles;
  readonly programs: Programs;
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
  readonly #programs: Programs;
  /** It may have ended the starter of an attempt before: it gets one of its own. */
  readonly #isAlone: boolean;
  readonly #mark = randomBytes(16).toString('hex');
  /** Null before it has begun, and when it has ended. */
  #pid: number | null = null;
  #isStopped = false;
  /** The last signal that could not be sent yet. */
  #unsent: 'SIGTERM' | 'SIGKILL' | null = null;
  /** Null before it has ended. */
  #used: Used | null = null;
  /** Why it was ended, when it had more memory than it may. */
  #overMemory: string | null = null;

  constructor(job: Job, { home, bundles, programs }: ProcessParts, isAlone: boolean) {
    this.#job = job;
    this.#work = job.work.shape as ProcessWork;
    this.#home = home;
    this.#bundles = bundles;
    this.#programs = programs;
    this.#isAlone = isAlone;
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
    if (this.#pid === null) {
      this.#unsent = signal;
      return;
    }
    this.#job.log.line('system', `${signal} was sent to the process and its group.`);
    signalGroup(this.#pid, signal);
  }

  async run(): Promise<Ended> {
    let folder: ProcessFolder | null = null;
    try {
      folder = await ProcessFolder.make();
      const result = await this.#runIn(folder);
      return this.#used === null ? result : { ...result, used: this.#used };
    } catch (error) {
      return error instanceof StarterLost ? this.#starterLost(error) : resultOfFault(error);
    } finally {
      await folder?.remove();
    }
  }

  /** How it would have ended nobody knows. Where it may not be to blame it goes back, and runs apart from others the next time. */
  #starterLost({ message, wasAlone }: StarterLost): Ended {
    if (this.#overMemory !== null) return failure('resource', this.#overMemory, 'memory');
    if (!wasAlone) return { returned: NEIGHBOUR, hasBegun: true, isSuspect: true };
    const text = `The parent of the process, which starts programs for the worker, was ended (${message}) while the attempt ran, so nothing is known of its end. It was killed.`;
    return failure('lost', text, 'lost:starter');
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
      const isKilled = exit.signal === 'SIGKILL' || exit.code === KILLED_IN_SHELL;
      const ranOut = isKilled ? ranOutSince(before) : null;
      const end: ProcessEnd = { ...exit, ranOut, stderr: stderr.lines().join('\n') };
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
    const env = { ...this.#home.environment, ...variables, ...this.#home.reaper.variables, [ATTEMPT_MARK]: this.#mark };
    const token = randomBytes(TOKEN_CHARS / 2).toString('hex');
    const order = { program: program as string, args, cwd, env, token };
    let started: Program;
    const startedAt = performance.now();
    try {
      started = await this.#programs.start(order, this.#isAlone);
    } catch (error) {
      if (error instanceof StarterLost) await sweep(ATTEMPT_MARK, this.#mark);
      throw error;
    }
    const { pid } = started;
    this.#pid = pid;
    this.#home.reaper.began(pid);
    if (this.#unsent !== null) this.#signal(this.#unsent);
    const watching = this.#watchMemory(pid);
    const captures = this.#capture(started, stderr);
    try {
      const { cpuMicros, ...exit } = await started.ended;
      const peakBytes = watching.peakBytes();
      if (cpuMicros !== null) this.#used = { cpuMicros: Math.max(1, cpuMicros), peakBytes };
      return exit;
    } finally {
      this.#pid = null;
      watching.end();
      signalGroup(pid, 'SIGKILL');
      const swept = await sweep(ATTEMPT_MARK, this.#mark, { pid, startedAt });
      if (swept > 0) this.#job.log.line('system', `Killed what had left the group: ${swept} more.`);
      if (!(await drain(captures))) this.#job.log.line('system', NO_OUTPUT);
      started.forgetOutput();
      this.#home.reaper.ended(pid);
    }
  }

  #watchMemory(group: number): Watching {
    const { memoryBytes } = this.#job.assignment;
    const limitBytes = memoryBytes === 0 ? Number.POSITIVE_INFINITY : memoryBytes;
    return this.#home.memory.watch({ group, limitBytes, onOver: (bytes) => this.#tooLarge(bytes) });
  }

  #capture({ stdout, stderr }: Program, last: LastLines): readonly Promise<Capture>[] {
    const { log } = this.#job;
    const { relief } = this.#home;
    const captured = async (source: Promise<Readable>, onBytes: (bytes: Buffer) => void): Promise<Capture> => {
      const capture = new Capture(await source, relief, onBytes);
      capture.begin(log);
      return capture;
    };
    return [
      captured(stdout, (bytes) => log.bytes('stdout', bytes)),
      captured(stderr, (bytes) => {
        last.push(bytes);
        log.bytes('stderr', bytes);
      }),
    ];
  }
}

/**
 * The pipes may be held by something that could not be found: they are not waited for. False where one has not even come: it is there
 * before the process is, unless the worker could not take it.
 */
async function drain(captures: readonly Promise<Capture>[]): Promise<boolean> {
  let arrived = 0;
  const all = captures.map(async (coming) => {
    const capture = await coming;
    arrived++;
    capture.hurry();
    await capture.closed;
  });
  await within(DRAIN_MS, Promise.all(all));
  for (const coming of captures) void coming.then((capture) => capture.destroy());
  return arrived === captures.length;
}

async function within(ms: number, awaited: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([awaited, late]);
  clearTimeout(timer);
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
