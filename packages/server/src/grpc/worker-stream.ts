/**
 * The stream of one worker at its gateway. It begins with hello, once its token is checked. From then on its messages go to
 * the host part by part: what the worker holds before what it has done.
 */
import { type ServerErrorResponse, status } from '@grpc/grpc-js';
import type { Host, WorkerSays } from '@signalbox/host';
import { ERRORS, MAX_UNANSWERED_REPORTS, SignalboxError } from '@signalbox/protocol';
import {
  type GatewayMessageParts,
  type GatewayStream,
  parseWorkerMessage,
  type Welcome,
  type WorkerMessage,
} from '@signalbox/protocol/grpc';
import type { Bearers, Caller, Role } from '../auth/bearer.ts';
import { networkOf } from '../auth/network.ts';
import type { Tell } from '../log.ts';
import { systemClock } from '../ports/clock.ts';
import {
  claimFromWire,
  epochFromWire,
  helloFromWire,
  progressFromWire,
  reportFromWire,
  requestFromWire,
} from './claims.ts';
import { refuseQueues, slotsLimitOf, type TakenSlots } from './taken-slots.ts';
import { type EndReason, WorkerOutbox } from './worker-outbox.ts';

interface WorkerStreamPorts {
  readonly bearers: Bearers;
  readonly gateway: () => Host['gateway'] | null;
  readonly welcome: () => Omit<Welcome, 'workerId' | 'shared'>;
  readonly tell: Tell;
  /** The slots of all workers of this server. */
  readonly slots: TakenSlots;
}

const HELLO_MS = 5_000;
/** How often it is asked whether the token is still good; what is found is believed for longer. */
const LOOK_MS = 1_000;
/** Reports, refusals, asks, epochs and names of queues: senders cut at far fewer. */
const MOST_OTHER_ITEMS = 10_000;
const UNPROVEN = new SignalboxError('BAD_REQUEST', {
  problems: [
    {
      path: 'heartbeat.holds',
      message:
        'names claims that were not assigned to this worker on this stream: connect again, and prove them in hello',
    },
  ],
});
const MAY_WORK: readonly Role[] = ['admin', 'worker'];

export async function serveWorker(stream: GatewayStream, ports: WorkerStreamPorts): Promise<void> {
  stream.on('error', () => undefined); // whoever is gone is told of by `close`
  let isGone = false;
  stream.once('close', () => {
    isGone = true;
  });
  stream.once('cancelled', () => {
    isGone = true;
  });
  try {
    const caller = await identify(stream, ports, networkOf(stream.getPeer()));
    if (caller === null) throw new SignalboxError('UNAUTHENTICATED');
    if (!MAY_WORK.includes(caller.role)) throw new SignalboxError('FORBIDDEN', { action: 'run tasks' });
    if (!isGone) new WorkerStream(stream, ports, caller).begin();
  } catch (error) {
    fail(stream, error, ports.tell);
  }
}

function identify(stream: GatewayStream, { bearers }: WorkerStreamPorts, from: string | null = null) {
  const [header] = stream.metadata.get('authorization');
  return bearers.identify(typeof header === 'string' ? header : undefined, from);
}

class WorkerStream {
  readonly #stream: GatewayStream;
  readonly #ports: WorkerStreamPorts;
  /** Whoever its credential names: whatever it says of itself, it works for nobody else (I65). */
  readonly #caller: Caller;
  #says: WorkerSays | null = null;
  #workerId = '';
  #outbox: WorkerOutbox | null = null;
  #helloTimer: NodeJS.Timeout | null = null;
  #isOver = false;
  #lookedAt = systemClock.mono();
  #toldGateways = '';

  constructor(stream: GatewayStream, ports: WorkerStreamPorts, caller: Caller) {
    this.#caller = caller;
    this.#stream = stream;
    this.#ports = ports;
  }

  begin(): void {
    const stream = this.#stream;
    this.#helloTimer = setTimeout(() => this.#refuse(new SignalboxError('BAD_REQUEST')), HELLO_MS);
    stream.on('data', (input: unknown) => this.#receive(input));
    stream.on('end', () => {
      this.#over();
      stream.end();
    });
    stream.on('cancelled', () => this.#over());
    stream.on('close', () => this.#over());
    stream.on('error', () => this.#over());
  }

  #receive(input: unknown): void {
    if (this.#isOver) return;
    try {
      const message = parseWorkerMessage(input, this.#mostItems());
      if (this.#says === null) this.#greet(message);
      if (this.#says !== null) this.#tellHost(this.#says, message);
      if (message.ping > 0) this.#answerPing(message.ping);
      // Whatever it is: anything that a worker says keeps its stream.
      if (systemClock.mono() - this.#lookedAt > LOOK_MS) void this.#lookAgain();
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Less than before is told before the claims come back that there was no time for: else they would come here again. */
  #tellHost(says: WorkerSays, message: WorkerMessage): void {
    const { ahead } = message;
    if (ahead !== null) says.ahead(this.#ports.slots.takeAhead(this.#caller, { by: this, count: ahead.count }));
    tellHost(says, message);
  }

  /** A token of the fleet: also one that serves a single tenant today keeps it apart from those of tomorrow. */
  get #isShared(): boolean {
    return this.#caller.work.serves !== null;
  }

  /** Here and not in the host: a ping asks whether this process goes on, and nothing else. */
  #answerPing(no: number): void {
    this.#outbox?.pingAnswered(no);
    const welcome = this.#ports.welcome();
    if (welcome.gateways.join() === this.#toldGateways) return;
    // Servers have come or gone since the worker came: it must know where to go should this one hang.
    this.#toldGateways = welcome.gateways.join();
    this.#outbox?.welcomeAgain({ ...welcome, workerId: this.#workerId, shared: this.#isShared });
  }

  /** Before anything is decoded: more than this no honest worker names in one message (I68). */
  #mostItems(): number {
    if (this.#says !== null) return 3 * this.#says.mostHolds() + MOST_OTHER_ITEMS;
    return 2 * (slotsLimitOf(this.#caller) + MAX_UNANSWERED_REPORTS) + MOST_OTHER_ITEMS;
  }

  /** A token that was revoked ends the streams that it opened, too (I66). A database that is away ends none. */
  async #lookAgain(): Promise<void> {
    this.#lookedAt = systemClock.mono();
    try {
      if ((await identify(this.#stream, this.#ports)) === null) this.#refuse(new SignalboxError('UNAUTHENTICATED'));
    } catch {
      // Nobody can say; the next message asks again.
    }
  }

  #greet({ hello }: WorkerMessage): void {
    const gateway = this.#ports.gateway();
    if (gateway === null) throw new SignalboxError('UNAVAILABLE', { reason: 'the server is starting or stopping' });
    if (hello === null) {
      throw new SignalboxError('BAD_REQUEST', { problems: [{ path: 'hello', message: 'must come first' }] });
    }
    if (this.#helloTimer !== null) clearTimeout(this.#helloTimer);
    const parsed = helloFromWire(hello, this.#caller);
    this.#workerId = parsed.workerId;
    refuseQueues(this.#caller, parsed.queues);
    this.#ports.slots.take(this.#caller, { workerId: parsed.workerId, slots: parsed.slots, by: this });
    const line = {
      write: (parts: GatewayMessageParts, written: () => void) => {
        this.#stream.write(parts, (error?: Error | null) => {
          if (error === null || error === undefined) written();
        });
      },
      end: (reason: EndReason) => this.#endedByUs(reason),
    };
    const welcome = this.#ports.welcome();
    this.#toldGateways = welcome.gateways.join();
    this.#outbox = new WorkerOutbox(line, { ...welcome, workerId: this.#workerId, shared: this.#isShared });
    this.#says = gateway.attach(parsed, this.#outbox);
  }

  /** The host has dropped the session, or the worker does not read. */
  #endedByUs(reason: EndReason): void {
    if (reason === 'slow') return this.#refuse(new SignalboxError('OVERLOADED'));
    if (reason === 'unproven') return this.#refuse(UNPROVEN);
    this.#isOver = true;
    this.#ports.slots.release(this.#caller, this);
    this.#stream.end();
  }

  #refuse(error: unknown): void {
    if (this.#isOver) return;
    fail(this.#stream, error, this.#ports.tell);
    this.#over();
  }

  #over(): void {
    if (this.#helloTimer !== null) clearTimeout(this.#helloTimer);
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ports.slots.release(this.#caller, this);
    this.#outbox?.discard();
    this.#says?.closed();
  }
}

function tellHost(says: WorkerSays, message: WorkerMessage): void {
  const { heartbeat, holdings, reports, refusals, draining, requests, leaving } = message;
  if (draining) says.draining();
  if (holdings !== null) says.holdings(holdings.epochs.map(epochFromWire), holdings.holds.map(claimFromWire));
  if (reports.length > 0) says.reports(reports.map(reportFromWire));
  if (refusals.length > 0) {
    says.refusals(refusals.map(({ claim, token }) => ({ claim: claimFromWire(claim), token })));
  }
  if (heartbeat !== null) {
    const { no, holds, progress, clockMs } = heartbeat;
    says.heartbeat(no, holds.map(claimFromWire), progress.map(progressFromWire), clockMs);
  }
  if (requests.length > 0) says.requests(requests.map(requestFromWire));
  if (leaving) says.leaving();
}

/** Ends a stream with the status of the error table. */
export function fail(stream: GatewayStream, error: unknown, tell: Tell): void {
  if (!(error instanceof SignalboxError)) tell('warn', 'A worker could not be served.', { error: String(error) });
  const known =
    error instanceof SignalboxError
      ? error
      : new SignalboxError('UNAVAILABLE', { reason: 'the database is unreachable' });
  const response: Partial<ServerErrorResponse> = {
    name: known.code,
    message: known.message,
    code: status[ERRORS[known.code].grpc],
    details: known.message,
  };
  stream.emit('error', response);
}
