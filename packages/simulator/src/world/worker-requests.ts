/** What users' functions ask for: sent until it is answered, on each new line again; now and then twice, and long after it was. */
import type { AttemptRequestAnswer, WorkerRequest } from '@signalbox/host';
import type { Attempt } from './attempt.ts';
import type { Chance } from './chance.ts';
import type { WorkerTold } from './happening.ts';
import type { Process } from './process.ts';
import type { WorkerFrame } from './worker-frames.ts';

const RESEND_MS = 5_000;

/** The worker process whose functions ask. */
export interface AskSender {
  readonly process: Process;
  readonly chance: Chance;
  /** How often it says things twice. */
  readonly repeats: number;
  tell(happening: WorkerTold): void;
  say(frame: WorkerFrame): void;
}

export class WorkerAsks {
  readonly #life: AskSender;
  readonly #open = new Map<number, WorkerRequest & { readonly attempt: Attempt }>();
  #lastNo = 0;

  constructor(life: AskSender) {
    this.#life = life;
  }

  ask(attempt: Attempt, request: WorkerRequest['request']): void {
    const { assignment } = attempt;
    this.#lastNo += 1;
    const token = new Uint8Array(Buffer.from(assignment.token, 'base64'));
    const ask = { no: this.#lastNo, claim: assignment.claim, token, request, attempt };
    this.#open.set(ask.no, ask);
    this.#life.tell({ what: 'asks', claim: ask.claim, no: ask.no, request });
    this.#send(ask);
  }

  answered(answer: AttemptRequestAnswer): void {
    const ask = this.#open.get(answer.no);
    if (ask === undefined) return;
    this.#open.delete(answer.no);
    this.#life.tell({ what: 'told', claim: ask.claim, no: ask.no, request: ask.request, ok: answer.ok });
    if (ask.request.kind === 'extend' && answer.ok) ask.attempt.extended(answer.leftMs);
    const { chance, process } = this.#life;
    if (!chance.happens(this.#life.repeats)) return;
    // By then another attempt may hold the task, or a newer checkpoint be there.
    process.after(chance.wait(4_000), () => this.#life.say({ kind: 'asks', asks: [ask] }));
  }

  sendAgain(): void {
    for (const ask of this.#open.values()) this.#life.say({ kind: 'asks', asks: [ask] });
  }

  #send(ask: WorkerRequest): void {
    if (!this.#open.has(ask.no)) return;
    this.#life.say({ kind: 'asks', asks: [ask] });
    this.#life.process.after(RESEND_MS, () => this.#send(ask));
  }
}
