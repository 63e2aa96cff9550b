/**
 * Logs on other nodes. A worker that changes its gateway leaves parts of a log on two nodes, so a reader asks all of them.
 * Like a peer, it proves with the key of the cluster that it is a node and which node it wants.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type ChannelCredentials, Client, Metadata, type sendUnaryData } from '@grpc/grpc-js';
import { SignalboxError } from '@signalbox/protocol';
import { askNodeLogs, CHANNEL_OPTIONS, LOG_STREAMS, parseEnvelope, type ReadLogsCall } from '@signalbox/protocol/grpc';
import type { NodeAddress } from '@signalbox/store';
import type { Logger } from '../log.ts';
import { systemClock } from '../ports/clock.ts';
import { refusalOf } from '../services/refusal.ts';
import type { LogPage, LogStore, ReadLog } from './log-store.ts';

interface ClusterKey {
  readonly tokenKey: Buffer;
  readonly incarnation: string;
}

interface NodeLogsOptions {
  /** Our own: we do not ask ourselves. */
  readonly nodeId: string;
  readonly key: ClusterKey;
  readonly credentials: ChannelCredentials;
  readonly listNodes: () => Promise<readonly NodeAddress[]>;
}

/** What one question may read on a node, in lines' text. */
const QUESTION_BYTES = 4 * 1024 * 1024;
const MOST_READS = 500;
const PATIENCE_MS = 1_000;
/** How long the list of nodes is believed. */
const NODES_MS = 2_000;
const MOST_CLIENTS = 100;

export class NodeLogs {
  readonly #options: NodeLogsOptions;
  readonly #clients = new Map<string, Client>();
  #nodes: readonly NodeAddress[] = [];
  #nodesUntil = 0;

  constructor(options: NodeLogsOptions) {
    this.#options = options;
  }

  /** The pages of each read on each other node, and the nodes that gave no answer. */
  async read(reads: readonly ReadLog[]): Promise<{ pages: LogPage[][]; missing: string[] }> {
    const pages: LogPage[][] = reads.map(() => []);
    const missing: string[] = [];
    const body = Buffer.from(JSON.stringify(reads));
    await Promise.all(
      (await this.others()).map(async ({ nodeId, dataAddress }) => {
        try {
          const answer = await askNodeLogs(this.#client(dataAddress), body, this.#proof(dataAddress), PATIENCE_MS);
          for (const [i, page] of decodePages(answer).entries()) pages[i]?.push(page);
        } catch {
          missing.push(nodeId);
        }
      }),
    );
    return { pages, missing: missing.sort() };
  }

  async others(): Promise<readonly NodeAddress[]> {
    if (systemClock.mono() > this.#nodesUntil) {
      this.#nodes = await this.#options.listNodes();
      this.#nodesUntil = systemClock.mono() + NODES_MS;
      const known = new Set(this.#nodes.map(({ dataAddress }) => dataAddress));
      for (const [address, client] of this.#clients) {
        if (known.has(address)) continue;
        client.close();
        this.#clients.delete(address);
      }
    }
    return this.#nodes.filter(({ nodeId }) => nodeId !== this.#options.nodeId).slice(0, MOST_CLIENTS);
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
  }

  #client(address: string): Client {
    let client = this.#clients.get(address);
    if (client === undefined) {
      client = new Client(address, this.#options.credentials, {
        ...CHANNEL_OPTIONS,
        'grpc.enable_channelz': 0,
        'grpc.initial_reconnect_backoff_ms': 100,
        'grpc.max_reconnect_backoff_ms': 2_000,
      });
      this.#clients.set(address, client);
    }
    return client;
  }

  #proof(address: string): Metadata {
    const metadata = new Metadata();
    metadata.set('signalbox-node', this.#options.nodeId);
    metadata.set('signalbox-proof', proofOf(this.#options.key, address, this.#options.nodeId).toString('base64url'));
    return metadata;
  }
}

interface AnswerLogs {
  readonly key: ClusterKey;
  /** Our own, as others know it. */
  readonly address: () => string;
  readonly logs: LogStore;
  readonly logger: Logger;
}

export async function answerReadLogs(
  call: ReadLogsCall,
  answer: sendUnaryData<Buffer>,
  { key, address, logs, logger }: AnswerLogs,
): Promise<void> {
  try {
    if (!isNode(call.metadata, key, address())) throw new SignalboxError('UNAUTHENTICATED');
    const reads = JSON.parse(parseEnvelope(call.request).toString()) as ReadLog[];
    answer(null, encodePages(await readMany(logs, reads.slice(0, MOST_READS))));
  } catch (error) {
    answer(refusalOf(error, logger));
  }
}

/** Whether a call comes from a node of this cluster, and is meant for the one that is reached at this address. */
export function isNode(metadata: Metadata, key: ClusterKey, address: string): boolean {
  const text = (name: string): string => String(metadata.get(name)[0] ?? '');
  const proof = Buffer.from(text('signalbox-proof'), 'base64url');
  const expected = proofOf(key, address, text('signalbox-node'));
  return proof.length === expected.length && timingSafeEqual(proof, expected);
}

/** One after the other, until there is enough: what is left says that there is more. */
export async function readMany(logs: LogStore, reads: readonly ReadLog[]): Promise<LogPage[]> {
  const pages: LogPage[] = [];
  let left = QUESTION_BYTES;
  for (const read of reads) {
    if (left <= 0) {
      pages.push({ lines: [], hasMore: true });
      continue;
    }
    const page = await logs.read({ ...read, bytesLimit: Math.min(left, QUESTION_BYTES / 4) });
    left -= page.lines.reduce((sum, { text }) => sum + text.length, 0);
    pages.push(page);
  }
  return pages;
}

type WireLine = [no: number, at: number, stream: number, text: string];

function encodePages(pages: readonly LogPage[]): Buffer {
  const wire = pages.map(({ lines, hasMore }) => ({
    lines: lines.map(({ no, at, stream, text }): WireLine => [no, at, LOG_STREAMS.indexOf(stream), text]),
    hasMore,
  }));
  return Buffer.from(JSON.stringify(wire));
}

function decodePages(body: Buffer): LogPage[] {
  const wire = JSON.parse(body.toString()) as { lines: WireLine[]; hasMore: boolean }[];
  return wire.map(({ lines, hasMore }) => ({
    lines: lines.map(([no, at, stream, text]) => ({ no, at, stream: LOG_STREAMS[stream] ?? 'stdout', text })),
    hasMore,
  }));
}

function proofOf({ tokenKey, incarnation }: ClusterKey, address: string, nodeId: string): Buffer {
  const said = JSON.stringify(['read-logs', incarnation, address, nodeId]);
  return createHmac('sha256', tokenKey).update(said).digest();
}
