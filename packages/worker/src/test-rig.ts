/** What the tests of the worker share: a scripted gateway, a worker with short intervals, and a manual clock. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkShape } from '@signalbox/protocol';
import type { Assignment } from '@signalbox/protocol/grpc';
import type { Handler, HandlerContext } from '@signalbox/sdk';
import { onTestFinished } from 'vitest';
import type { Timing, WorkerOptions } from './options.ts';
import { ScriptedData } from './scripted-data.ts';
import { assignmentOf, ScriptedGateway, type Session } from './scripted-gateway.ts';
import { startWorker, type Worker } from './worker.ts';

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export async function startGateway(): Promise<ScriptedGateway> {
  const gateway = await ScriptedGateway.start();
  onTestFinished(() => gateway.stop());
  return gateway;
}

/** A handler whose attempts stay open until the test settles them. */
export class HeldHandler {
  readonly calls: {
    readonly context: HandlerContext;
    readonly resolve: (value: unknown) => void;
    readonly reject: (error: unknown) => void;
  }[] = [];
  #woken: (() => void)[] = [];

  readonly run: Handler = (context) =>
    new Promise((resolve, reject) => {
      this.calls.push({ context, resolve, reject });
      for (const wake of this.#woken.splice(0)) wake();
    });

  /** The call with this number, counted from 0, past or to come. */
  async call(no: number) {
    for (;;) {
      const found = this.calls[no];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#woken.push(resolve));
    }
  }
}

export class ManualClock {
  #ms = 1_000_000;
  readonly now = (): number => this.#ms;

  advance(ms: number): void {
    this.#ms += ms;
  }
}

export interface Rig {
  readonly worker: Worker;
  readonly gateway: ScriptedGateway;
  readonly held: HeldHandler;
  readonly clock: ManualClock;
}

export function startTestWorker(options: Partial<WorkerOptions> & Pick<WorkerOptions, 'gateways'>): Worker {
  const worker = startWorker({ token: 'secret', slots: 100, handlers: {}, log: quiet, ...options });
  onTestFinished(() => worker.kill());
  return worker;
}

/** Ticks are real and quick; the time that they see moves only when the test moves it. */
export const quickTiming = (clock: ManualClock): Partial<Timing> => ({
  now: clock.now,
  tickMs: 2,
  backoffMinMs: 1,
  backoffMaxMs: 20,
});

export async function startRig(
  options: Partial<WorkerOptions> & { readonly timing?: Partial<Timing> } = {},
): Promise<Rig> {
  const gateway = await startGateway();
  const clock = new ManualClock();
  const held = new HeldHandler();
  const worker = startTestWorker({
    gateways: [gateway.address],
    ...options,
    handlers: { noop: () => undefined, held: held.run, ...options.handlers },
    timing: { ...quickTiming(clock), ...options.timing },
  });
  return { worker, gateway, held, clock };
}

/** For what must *not* happen: a few ticks, and then whatever they made the worker say has arrived. */
export async function settleDown(session: Session | null): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setTimeout(resolve, 4));
  await session?.roundTrip();
}

export function aborted(context: HandlerContext): Promise<unknown> {
  const { signal } = context;
  if (signal.aborted) return Promise.resolve(signal.reason);
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason), { once: true }));
}

/** A folder of the test's own. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface BodyRig {
  readonly worker: Worker;
  readonly gateway: ScriptedGateway;
  readonly session: Session;
  readonly data: ScriptedData;
  /** Gives the worker an attempt and returns what it reported of it. */
  readonly run: (assignment: Assignment) => ReturnType<Session['reportOf']>;
}

/** A worker that runs real children, on the real clock, with a data service beside its gateway. */
export async function startBody(options: Partial<WorkerOptions> = {}): Promise<BodyRig> {
  const gateway = await startGateway();
  const data = await ScriptedData.start();
  onTestFinished(() => data.stop());
  gateway.welcome = { ...gateway.welcome, dataAddress: data.address };
  const worker = startTestWorker({
    gateways: [gateway.address],
    slots: 10,
    cacheFolder: join(testFolder(), 'cache'),
    ...options,
    timing: { tickMs: 5, backoffMinMs: 1, backoffMaxMs: 20, ...options.timing },
  });
  onTestFinished(() => {
    worker.kill();
    return worker.stopped;
  });
  const session = await gateway.session(0);
  return {
    worker,
    gateway,
    session,
    data,
    run: async (assignment) => {
      session.say({ assignments: [assignment] });
      const report = await session.reportOf(assignment.claim);
      session.say({ answers: [{ claim: assignment.claim, verdict: 'accepted' }] });
      return report;
    },
  };
}

let lastRun = 0;

/** An assignment of its own run for this work. */
export function workOf(
  shape: Partial<WorkShape> & Pick<WorkShape, 'kind'>,
  different: Partial<Assignment> = {},
): Assignment {
  return assignmentOf(++lastRun, { handler: '', work: JSON.stringify(shape), ...different });
}

export const commandOf = (run: string | readonly string[], different: Partial<Assignment> = {}): Assignment =>
  workOf({ kind: 'process', run }, different);
