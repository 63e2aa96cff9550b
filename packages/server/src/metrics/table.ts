/** Every metric of a server, once: the source for Prometheus and for docs/reference/metrics.md. */
import type { HistogramSeen, HostMetrics } from '@signalbox/host';
import type { LogStats } from '../logs/log-store.ts';
import type { ClockSeen } from '../ports/database-clock.ts';
import type { RequestCount, RequestTimes } from './http-metrics.ts';
import type { LoopDelay } from './loop-delay.ts';

export interface Seen {
  /** Null while the scheduler is starting. */
  readonly host: HostMetrics | null;
  /** Null before the first measurement. */
  readonly clock: ClockSeen | null;
  readonly loops: Readonly<Record<'main' | 'edge', LoopDelay>>;
  readonly requests: { readonly counts: readonly RequestCount[]; readonly times: readonly RequestTimes[] };
  readonly streams: number;
  readonly logs: LogStats;
  readonly memory: { readonly rss: number; readonly heapUsed: number };
  readonly uptimeSeconds: number;
  readonly build: { readonly version: string; readonly node: string };
}

type Labels = Readonly<Record<string, string>>;
export type Sample =
  | { readonly labels: Labels; readonly value: number }
  | { readonly labels: Labels; readonly histogram: HistogramSeen /** To base units. */; readonly scale: number };

export interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** A sentence. */
  readonly help: string;
  samples(seen: Seen): readonly Sample[];
}

const one = (value: number): Sample[] => [{ labels: {}, value }];
const ofHost = (read: (host: HostMetrics) => number) => (seen: Seen) =>
  seen.host === null ? [] : one(read(seen.host));
const byWord =
  (label: string, read: (host: HostMetrics) => Readonly<Record<string, number>>) =>
  (seen: Seen): Sample[] =>
    Object.entries(seen.host === null ? {} : read(seen.host)).map(([word, value]) => ({
      labels: { [label]: word },
      value,
    }));
const spread =
  (read: (host: HostMetrics) => HistogramSeen, scale = 1) =>
  (seen: Seen): Sample[] =>
    seen.host === null ? [] : [{ labels: {}, histogram: read(seen.host), scale }];

const gauge = (name: string, help: string, samples: Metric['samples'], labels: string[] = []): Metric => ({
  name: `signalbox_${name}`,
  type: 'gauge',
  labels,
  help,
  samples,
});
const counter = (name: string, help: string, samples: Metric['samples'], labels: string[] = []): Metric => ({
  ...gauge(`${name}_total`, help, samples, labels),
  type: 'counter',
});
const histogram = (name: string, help: string, samples: Metric['samples'], labels: string[] = []): Metric => ({
  ...gauge(name, help, samples, labels),
  type: 'histogram',
});

/** Of the shards of this server. At most 200 queues, the largest ones. */
const ofQueues = (name: string, help: string, read: (queue: HostMetrics['queues'][number]) => number): Metric =>
  gauge(
    `queue_${name}`,
    help,
    ({ host }) => (host?.queues ?? []).map((queue) => ({ labels: { queue: queue.queue }, value: read(queue) })),
    ['queue'],
  );

export const METRICS: readonly Metric[] = [
  gauge(
    'shards_owned',
    'Shards that this server owns.',
    ofHost((host) => host.shardsOwned),
  ),
  gauge(
    'clock_ahead_seconds',
    "How far this machine's clock is ahead of the database's; negative if it is behind.",
    ({ clock }) => (clock === null ? [] : one(clock.aheadMs / 1000)),
  ),
  gauge('unfit', '1 while this server owns no shards because its clock is wrong, otherwise 0.', ({ clock }) =>
    one(clock === null || clock.unfit === null ? 0 : 1),
  ),
  gauge(
    'live_runs',
    'Runs of these shards that have not ended.',
    ofHost((host) => host.liveRuns),
  ),
  gauge(
    'ready_tasks',
    'Tasks that can start, including those that a limit holds back.',
    byWord('priority', (host) => host.readyTasks),
    ['priority'],
  ),
  ofQueues('waiting_tasks', 'Tasks that can start, including those that a limit holds back.', ({ waiting }) => waiting),
  ofQueues('held_tasks', 'Tasks that a limit or a freeze holds back.', ({ held }) => held),
  ofQueues('running_tasks', 'Tasks that run on workers.', ({ running }) => running),
  gauge(
    'running_attempts',
    'Attempts that run on workers.',
    ofHost((host) => host.runningAttempts),
  ),
  gauge(
    'breakers',
    'Breakers that hold tasks back or are releasing them.',
    byWord('state', (host) => host.breakers),
    ['state'],
  ),
  gauge(
    'held_retries',
    'Retries that wait for a breaker or for the retry rate limit.',
    ofHost((host) => host.heldRetries),
  ),
  gauge(
    'inbox_length',
    'Commands that wait for the next batch.',
    ofHost((host) => host.inboxLength),
  ),
  gauge(
    'workers',
    'Workers connected to this server.',
    ofHost((host) => host.workers),
  ),
  gauge(
    'worker_slots',
    'Slots of these workers.',
    ofHost((host) => host.slots),
  ),
  gauge(
    'worker_free_slots',
    'Free slots of these workers.',
    ofHost((host) => host.freeSlots),
  ),
  counter(
    'runs_created',
    'Runs created.',
    byWord('cause', (host) => host.runsCreated),
    ['cause'],
  ),
  counter(
    'runs_ended',
    'Runs ended.',
    byWord('outcome', (host) => host.runsEnded),
    ['outcome'],
  ),
  counter(
    'dead_letters_written',
    'Tasks that failed for good.',
    byWord('reason', (host) => host.deadLettersWritten),
    ['reason'],
  ),
  counter(
    'dead_letters_closed',
    'Dead letters replayed as new runs, discarded or expired.',
    byWord('state', (host) => host.deadLettersClosed),
    ['state'],
  ),
  counter(
    'runs_reopened',
    'Runs that a retry opened again.',
    ofHost((host) => host.runsReopened),
  ),
  counter(
    'claims',
    'Attempts assigned to a worker.',
    ofHost((host) => host.claims),
  ),
  counter(
    'claims_returned',
    'Assignments that never started.',
    byWord('reason', (host) => host.claimsReturned),
    ['reason'],
  ),
  counter(
    'attempts_ended',
    'Attempts ended.',
    byWord('outcome', (host) => host.attemptsEnded),
    ['outcome'],
  ),
  counter(
    'attempts_displaced',
    'Attempts that were told to stop and run again: for a critical task (preempted), or because their worker was taken away (evicted).',
    byWord('cause', (host) => host.attemptsDisplaced),
    ['cause'],
  ),
  counter(
    'second_attempts',
    'Speculative attempts that started, and those that were the first to succeed.',
    byWord('what', (host) => host.speculativeAttempts),
    ['what'],
  ),
  counter(
    'commits',
    'Commits of decisions.',
    ofHost((host) => host.commits),
  ),
  counter(
    'changes',
    'Changes in these commits.',
    ofHost((host) => host.changes),
  ),
  counter(
    'reloads',
    'Times that the server dropped its memory and loaded again.',
    ofHost((host) => host.reloads),
  ),
  histogram(
    'commit_seconds',
    'Duration of commits.',
    spread((host) => host.commitMs, 0.001),
  ),
  histogram(
    'batch_commands',
    'Commands per batch.',
    spread((host) => host.commandsPerBatch),
  ),
  histogram(
    'commit_changes',
    'Changes per commit.',
    spread((host) => host.changesPerCommit),
  ),
  counter(
    'http_requests',
    'Requests answered.',
    ({ requests }) =>
      requests.counts.map(({ route, method, status, count }) => ({ labels: { route, method, status }, value: count })),
    ['route', 'method', 'status'],
  ),
  histogram(
    'http_request_seconds',
    'Duration of requests, without streams.',
    ({ requests }) =>
      requests.times.map(({ route, method, seconds }) => ({ labels: { route, method }, histogram: seconds, scale: 1 })),
    ['route', 'method'],
  ),
  gauge('event_listeners', 'Open streams of events and logs.', ({ streams }) => one(streams)),
  gauge('log_bytes', 'Size of the logs on disk, with indexes.', ({ logs }) => one(logs.bytes)),
  gauge('log_segments', 'Log segment files.', ({ logs }) => one(logs.segments)),
  counter('log_lines', 'Log lines stored.', ({ logs }) => one(logs.lines)),
  counter(
    'log_pieces_refused',
    'Log pieces refused because their token or number did not match their attempt.',
    ({ logs }) => one(logs.refusedPieces),
  ),
  gauge(
    'event_loop_delay_seconds',
    'Event loop delay since the last scrape.',
    ({ loops }) =>
      Object.entries(loops).flatMap(([thread, { p50, p99, max }]) => [
        { labels: { thread, quantile: '0.5' }, value: p50 },
        { labels: { thread, quantile: '0.99' }, value: p99 },
        { labels: { thread, quantile: '1' }, value: max },
      ]),
    ['thread', 'quantile'],
  ),
  gauge('resident_memory_bytes', 'Memory of the process.', ({ memory }) => one(memory.rss)),
  gauge('edge_heap_bytes', 'Heap in use by the thread that serves requests.', ({ memory }) => one(memory.heapUsed)),
  gauge('uptime_seconds', 'Seconds since the process started.', ({ uptimeSeconds }) => one(uptimeSeconds)),
  gauge('build_info', 'Always 1; the labels say what runs.', ({ build }) => [{ labels: { ...build }, value: 1 }], [
    'version',
    'node',
  ]),
];
