/** The options of a worker, checked once when it starts. */
import { randomUUID } from 'node:crypto';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { MAX_QUEUE_WEIGHT, MAX_SLOTS, MAX_UNANSWERED_REPORTS, type WorkerOffers } from '@signalbox/protocol';
import { type AllowEntry, parseAllow } from '@signalbox/protocol/outbound';
import type { Handler, Log } from '@signalbox/sdk';
import { parseGateway } from './gateways.ts';
import { jsonLog } from './log.ts';
import { offersOf } from './offers.ts';
import { Secrets } from './secrets.ts';
import { WORK_KINDS, type WorkKind } from './work.ts';

export interface WorkerOptions {
  /** `host:port` in clear text, or `https://host:port` with TLS. One is enough: a gateway names the others. */
  readonly gateways: readonly string[];
  readonly token: string;
  /**
   * Names it listens to. With weights, such as `{ high: 4, default: 4, batch: 2 }`, it takes from them in that proportion while all have
   * work; with names alone the oldest run goes first.
   */
  readonly queues?: readonly string[] | Readonly<Record<string, number>>;
  /** How many attempts it runs at a time. */
  readonly slots: number;
  /** What tasks can ask for: `cpu` in processors, `memory` and `disk` as sizes, anything else in pieces. Processors and memory are found unless told. */
  readonly resources?: Readonly<Record<string, number | string>>;
  /** What tasks can ask for by name and value, such as `{ zone: 'eu-1', disk: 'ssd' }`. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Functions by the names under which dags know them. Without any the worker runs bundles, processes and calls. */
  readonly handlers?: Readonly<Record<string, Handler>> | undefined;
  /** Which kinds of tasks it takes: handler, function, process, http. All unless told; the others fail for good. */
  readonly allow?: readonly WorkKind[];
  /** What `http` tasks may call beside public addresses: host names, addresses, ranges such as 10.0.0.0/8. */
  readonly httpAllow?: readonly string[];
  /** Where bundles are kept: below the user's cache folder unless told. */
  readonly cacheFolder?: string;
  /** For people. */
  readonly name?: string;
  /** A folder with a file for each secret, named as it is. Variables SIGNALBOX_SECRET_<NAME> count as well, and first. */
  readonly secretsFolder?: string;
  /** Where variables are read from; the process's own unless told. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly log?: Log;
  /** PEM of the authority that signs the gateways' certificates, where it is not a public one. */
  readonly rootCertificates?: Buffer;
  /** For tests: intervals and clocks other than the real ones. */
  readonly timing?: Partial<Timing>;
}

/** Every span that the worker decides by itself; the heartbeat and the lease are the gateway's to say. */
export interface Timing {
  /** Milliseconds that never jump. */
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly wallNow: () => number;
  readonly random: () => number;
  /** How often timeouts, leases, heartbeats and repeats are looked at: they are exact to this much. */
  readonly tickMs: number;
  /** An attempt that no message has named for so long is named in a heartbeat ahead of time: at 2 s it counts as undelivered (D5). */
  readonly earlyHeartbeatMs: number;
  /** A report that is not answered for so long is sent again. */
  readonly resendMs: number;
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
  /** A gateway that has not said welcome for so long is given up, at most. */
  readonly welcomeMs: number;
  /** The same while there are others to try. */
  readonly firstWelcomeMs: number;
  /** How long a stopping worker looks for a gateway to say goodbye, if it has none. */
  readonly lastWordsMs: number;
  /** How long a handler whose time is over may take to settle before it is reported without it. */
  readonly timeoutGraceMs: number;
  /** An attempt that was ended by force and is still there after so long is reported without waiting for it. */
  readonly forceMs: number;
  /** Attempts are begun for so long at a stretch, then the event loop goes round: handlers may be busy before their first await. */
  readonly startBudgetMs: number;
  /** An attempt that has not begun after so long goes back to the server, if the worker has more than it has slots for. */
  readonly waitMs: number;
  /** How many claims it takes beyond its slots at the least, however long its attempts take. */
  readonly leastAhead: number;
  /** With so many reports, or so many bytes of them, not answered, nothing new is taken on (I73). */
  readonly unansweredLimit: number;
  readonly unansweredBytesLimit: number;
}

const DEFAULT_TIMING: Timing = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  random: Math.random,
  tickMs: 50,
  earlyHeartbeatMs: 500,
  resendMs: 5_000,
  backoffMinMs: 50,
  backoffMaxMs: 2_000,
  welcomeMs: 5_000,
  firstWelcomeMs: 1_500,
  lastWordsMs: 5_000,
  timeoutGraceMs: 250,
  forceMs: 10_000,
  startBudgetMs: 20,
  waitMs: 1_000,
  leastAhead: 0,
  unansweredLimit: MAX_UNANSWERED_REPORTS,
  unansweredBytesLimit: 64 * 1024 * 1024,
};

export interface WorkerConfig {
  readonly id: string;
  readonly name: string;
  readonly gateways: readonly string[];
  readonly token: string;
  readonly queues: readonly string[];
  /** One for each queue, in their order; empty: the oldest run goes first. */
  readonly queueWeights: readonly number[];
  readonly slots: number;
  readonly offers: WorkerOffers;
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly allow: ReadonlySet<WorkKind>;
  readonly httpAllow: readonly AllowEntry[];
  readonly cacheFolder: string;
  readonly rootCertificates: Buffer | null;
  readonly timing: Timing;
}

export function parseOptions(options: WorkerOptions): WorkerConfig {
  const { slots, gateways } = options;
  if (!Number.isInteger(slots) || slots < 1 || slots > MAX_SLOTS) {
    throw new TypeError(`slots is ${slots}; give a whole number from 1 to ${MAX_SLOTS}`);
  }
  if (gateways.length === 0)
    throw new TypeError('gateways is empty; give at least one address such as "127.0.0.1:7412"');
  gateways.forEach(parseGateway);
  const { queues, queueWeights } = parseQueues(options.queues ?? ['default']);
  if (queues.length === 0) throw new TypeError('queues is empty; give at least one name such as "default"');
  const handlers = options.handlers ?? {};
  const allow = options.allow ?? WORK_KINDS;
  if (allow.length === 0) throw new TypeError(`allow is empty; give at least one of ${WORK_KINDS.join(', ')}`);
  for (const kind of allow) {
    if (WORK_KINDS.includes(kind)) continue;
    throw new TypeError(`allow has "${String(kind)}"; give some of ${WORK_KINDS.join(', ')}`);
  }
  const environment = options.environment ?? process.env;
  for (const [name, handler] of Object.entries(handlers)) {
    if (typeof handler !== 'function') throw new TypeError(`handler ${name} is not a function`);
  }
  return {
    id: randomUUID(),
    name: options.name ?? `${hostname()}:${process.pid}`,
    gateways,
    token: options.token,
    queues,
    queueWeights,
    slots,
    offers: offersOf(options),
    handlers: new Map(Object.entries(handlers)),
    log: options.log ?? jsonLog(),
    secrets: new Secrets({ folder: options.secretsFolder ?? null, environment }),
    environment,
    allow: new Set(allow),
    httpAllow: parseAllow(options.httpAllow ?? []),
    cacheFolder: options.cacheFolder ?? usualCacheFolder(environment),
    rootCertificates: options.rootCertificates ?? null,
    timing: { ...DEFAULT_TIMING, ...options.timing },
  };
}

function parseQueues(said: NonNullable<WorkerOptions['queues']>): Pick<WorkerConfig, 'queues' | 'queueWeights'> {
  if (isList(said)) return { queues: said, queueWeights: [] };
  for (const [name, weight] of Object.entries(said)) {
    if (Number.isInteger(weight) && weight >= 1 && weight <= MAX_QUEUE_WEIGHT) continue;
    throw new TypeError(`queue ${name} has the weight ${weight}; give a whole number from 1 to ${MAX_QUEUE_WEIGHT}`);
  }
  return { queues: Object.keys(said), queueWeights: Object.values(said) };
}

/** `Array.isArray` does not tell the compiler that a list may be read-only. */
function isList(said: NonNullable<WorkerOptions['queues']>): said is readonly string[] {
  return Array.isArray(said);
}

function usualCacheFolder(environment: Readonly<Record<string, string | undefined>>): string {
  const cache = environment.XDG_CACHE_HOME;
  return join(cache !== undefined && cache.startsWith('/') ? cache : join(homedir(), '.cache'), 'signalbox', 'bundles');
}
