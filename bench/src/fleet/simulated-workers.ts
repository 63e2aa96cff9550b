/**
 * Many workers in one process, by the real protocol: each has a stream of its own, sends its heartbeats and pings, and takes no tasks.
 * As real ones, each has a connection of its own. Prints a line when all WORKERS of them are welcomed.
 */
import { randomUUID } from 'node:crypto';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { CHANNEL_OPTIONS, openWorkerStream, parseGatewayMessage, type WorkerStream } from '@signalbox/protocol/grpc';

const [gateway = ''] = (process.env['GATEWAYS'] ?? '').split(',');
const count = Number(process.env['WORKERS']);
const metadata = new Metadata();
metadata.set('authorization', `Bearer ${process.env['SIGNALBOX_TOKEN'] ?? ''}`);

/** So many open their streams at a time: a fleet does not start within one millisecond. */
const OPENING = 50;
const QUEUE = 'nobody-submits-here';
function open(no: number): Promise<void> {
  const client = new Client(gateway, credentials.createInsecure(), {
    ...CHANNEL_OPTIONS,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_channelz': 0,
  });
  const stream = openWorkerStream(client, metadata);
  return new Promise((resolve, reject) => {
    stream.on('error', (error: Error) => {
      console.error(`worker ${no}: ${error.message}`);
      reject(error);
    });
    stream.on('data', (input: unknown) => {
      const { welcome } = parseGatewayMessage(input);
      if (welcome === null) return;
      // A gateway says welcome again when others have come or gone.
      stream.removeAllListeners('data').on('data', () => undefined);
      live(stream, welcome.heartbeatMs, welcome.pingMs);
      resolve();
    });
    const hello = { workerId: randomUUID(), name: `simulated-${no}`, queues: [QUEUE], slots: 1 };
    stream.write({ hello: { ...hello, holds: [], holdTokens: [], draining: false, version: '0.1.0' } });
  });
}

/** Workers come up at different times, so their heartbeats are spread. */
function live(stream: WorkerStream, heartbeatMs: number, pingMs: number): void {
  let [no, ping] = [0, 0];
  setInterval(() => stream.write({ heartbeat: { no: ++no, holds: [], progress: [] } }), heartbeatMs);
  if (pingMs > 0) setInterval(() => stream.write({ ping: ++ping }), pingMs);
}

let next = 0;
const opener = async () => {
  while (next < count) await open(next++);
};
await Promise.all(Array.from({ length: OPENING }, opener));
console.log(`${count} workers are welcomed`);
