/** The worker of `start`, in a separate process: user code never runs in the server (D7). */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

interface WorkerChildOptions {
  readonly gateway: string;
  readonly token: string;
  readonly slots: number;
  readonly data: string;
  /** Told when it has ended without being asked to. */
  readonly onTrouble: (what: string) => void;
}

const PROGRAM = fileURLToPath(new URL('../../bin/signalbox.js', import.meta.url));
const READY_MS = 30_000;
const RESTART_MS = 1_000;
/** How long running tasks have to finish. After that the worker is told again, and kills them. */
const DRAIN_MS = 10_000;
const FORCE_MS = 5_000;
const LAST_WORDS = 2_000;

export class WorkerChild {
  readonly #options: WorkerChildOptions;
  #child: ChildProcess | null = null;
  #restart: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(options: WorkerChildOptions) {
    this.#options = options;
  }

  /** Resolves when it is connected, or has not come in its time. */
  start(): Promise<void> {
    const { gateway, token, slots, data, onTrouble } = this.#options;
    const args = ['worker', '--gateway', gateway, '--slots', String(slots), '--data', data, '--json'];
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      // User code may read the environment of its worker's process: what opens the database is not in it.
      env: { ...process.env, DATABASE_URL: undefined, SIGNALBOX_ADMIN_TOKEN: undefined, SIGNALBOX_TOKEN: token },
      // It ends with its parent, also when that is killed: the channel between them closes.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // A group of its own: Ctrl-C in the terminal is for us, who then end it in order.
      detached: true,
    });
    this.#child = child;
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-LAST_WORDS);
    });
    child.on('exit', (exitCode, signal) => {
      this.#child = null;
      if (this.#isStopped) return;
      onTrouble(`The worker exited (${signal ?? exitCode}) and is restarted. ${said.trim()}`);
      this.#restart = setTimeout(() => void this.start(), RESTART_MS);
    });
    return new Promise((resolve) => {
      child.once('message', () => resolve());
      setTimeout(resolve, READY_MS).unref();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#restart !== null) clearTimeout(this.#restart);
    const child = this.#child;
    if (child === null) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    const again = setTimeout(() => child.kill('SIGTERM'), DRAIN_MS);
    const force = setTimeout(() => this.kill(), DRAIN_MS + FORCE_MS);
    await gone;
    clearTimeout(again);
    clearTimeout(force);
  }

  /** At once, with all that is in its group. */
  kill(): void {
    this.#isStopped = true;
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // it has ended meanwhile
    }
  }
}
