/** Turns every error into a gRPC status, using the error table. What does not fit into a status is sent as metadata. */
import { randomUUID } from 'node:crypto';
import { Metadata, type ServerErrorResponse, status } from '@grpc/grpc-js';
import { ERRORS, type ProblemBody, SignalboxError } from '@signalbox/protocol';
import type { Logger } from '../log.ts';

export function refusalOf(error: unknown, logger: Logger): ServerErrorResponse {
  return refusalOfProblem((error instanceof SignalboxError ? error : incident(error, logger)).body());
}

export function refusalOfProblem({ code, detail, remedy, problems, retryAfterMs }: ProblemBody): ServerErrorResponse {
  const metadata = new Metadata();
  metadata.set('signalbox-code', code);
  metadata.set('signalbox-remedy', ascii(remedy));
  if (retryAfterMs !== undefined) metadata.set('retry-after-ms', String(retryAfterMs));
  if (problems !== undefined) metadata.set('problems-bin', Buffer.from(JSON.stringify(problems)));
  return { name: code, message: detail, details: detail, code: status[ERRORS[code].grpc], metadata };
}

function incident(error: unknown, logger: Logger): SignalboxError {
  const id = randomUUID();
  logger.error({ incident: id, error: error instanceof Error ? error.stack : String(error) }, 'A call failed.');
  return new SignalboxError('INTERNAL', { incident: id });
}

/** Metadata holds no other characters. */
function ascii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
