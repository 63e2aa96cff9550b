/** What the routes of the REST API work with. */
import type { Retention } from '@signalbox/protocol';
import type { Queries } from '@signalbox/store';
import type { FastifyRequest } from 'fastify';
import type { TokenBuckets } from '../auth/rate.ts';
import type { MainLine } from '../edge/main-line.ts';
import type { LogReader } from '../logs/log-reader.ts';
import type { ParamsChecker } from '../params/params-checker.ts';
import type { DagLookup } from './dag-lookup.ts';
import type { OpenStreams } from './open-streams.ts';

export interface RestParts {
  readonly queries: Queries;
  readonly main: MainLine;
  readonly logs: LogReader;
  /** Where this server keeps its logs. */
  readonly logFolder: string;
  readonly retention: Retention;
  /** Behind TLS: cookies must not leave it. */
  readonly isSecure: boolean;
  readonly dags: DagLookup;
  readonly params: ParamsChecker;
  /** Runs that one caller may submit. */
  readonly runRate: TokenBuckets | null;
  readonly streams: OpenStreams;
  /** Whether the credential that began a long answer would still be let in. */
  readonly isStillValid: (request: FastifyRequest) => Promise<boolean>;
  /** How long the request may still take (I60). */
  readonly leftMs: (request: FastifyRequest) => number;
}
