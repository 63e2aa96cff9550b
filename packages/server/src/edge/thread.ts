/** The edge's thread: HTTP on one side, the main thread on the other, and a small pool of its own for questions (D12). */
import { parentPort, workerData } from 'node:worker_threads';
import { openQueries } from '@signalbox/store';
import { makeLogger, tellWith } from '../log.ts';
import { buildApp } from '../rest/app.ts';
import { MainLine } from './main-line.ts';
import type { EdgeData, FromEdge, ToEdge } from './messages.ts';

const CONNECT_MS = 2_000;
const STATEMENT_MS = 4_000;
const CONNECTIONS = 4;

if (parentPort === null) throw new Error('This file is the entry of a thread.');
const port = parentPort;
const say = (message: FromEdge): void => port.postMessage(message);
const { url, preparedStatements, bind, allowedHosts, tls, logLevel } = workerData as EdgeData;
const logger = makeLogger(logLevel, 'edge');

async function serve(): Promise<void> {
  const queries = await openQueries({
    url,
    preparedStatements,
    connectTimeoutMs: CONNECT_MS,
    statementTimeoutMs: STATEMENT_MS,
    maxConnections: CONNECTIONS,
    log: tellWith(logger),
  });
  const main = new MainLine(port);
  const app = await buildApp({ queries, main, logger, bind, allowedHosts, tls });
  port.on('message', (message: ToEdge) => {
    if (message.kind === 'answers') return main.take(message.answers);
    void app
      .close()
      .then(() => queries.close())
      .catch(() => undefined)
      .finally(() => say({ kind: 'closed' }));
  });
  await app.listen({ host: bind.host, port: bind.port });
  const address = app.server.address();
  say({ kind: 'listening', port: typeof address === 'object' && address !== null ? address.port : bind.port });
}

serve().catch((error: unknown) =>
  say({ kind: 'failed', error: error instanceof Error ? error.message : String(error) }),
);
