/**
 * Admission to the services port is decided by the header of a call, before any of its message is read: what a stranger
 * sends must not be kept in memory only to be refused (I66, I68). The method decides what the caller may do.
 */
import {
  type Metadata,
  type ServerInterceptingCallInterface as ServerCall,
  ServerInterceptingCall,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';
import { SignalboxError } from '@signalbox/protocol';
import { HEALTH_SERVICE, MAX_MESSAGE_BYTES, SCALER_SERVICE } from '@signalbox/protocol/grpc';
import { networkOf } from '../auth/network.ts';
import type { Logger } from '../log.ts';
import { EVERY_ROLE } from '../rest/operations/operation.ts';
import { type CallGuard, callerIn } from './caller.ts';
import { Places } from './places.ts';
import { refusalOf } from './refusal.ts';

/** Anybody may ask how we are; only so many questions are read at a time, and none for long. */
const MOST_UNREAD = { all: 64, ofNetwork: 16 };
const READ_MS = 5_000;

const HEALTH = `/${HEALTH_SERVICE}/`;
/** Its calls have their credential in the message, which is read by the same rules, and is short. */
const SCALER = `/${SCALER_SERVICE}/`;
const MOST_SCALER_BYTES = 64 * 1024;
const NODE_LOGS = '/signalbox.node.v1.NodeLogs/';
const WORKER_DATA = '/signalbox.data.v1.WorkerData/';
const ANYBODY = { may: EVERY_ROLE, action: 'call services' } as const;

export interface GateParts extends CallGuard {
  /** Whether another node of this cluster asks; they have no token. */
  readonly isNode: (metadata: Metadata) => boolean;
}

export function gateOf(parts: GateParts): ServerInterceptor {
  const unread = { health: new Places(MOST_UNREAD), scaler: new Places(MOST_UNREAD) };
  return ({ path }, call) => {
    if (path.startsWith(HEALTH)) return readSoon(call, unread.health, parts);
    if (path.startsWith(SCALER)) return readSoon(call, unread.scaler, parts);
    return knownOnly(path, call, parts);
  };
}

/** What a stranger may send is short. */
export function longestMessage(path: string): number {
  return path.startsWith(SCALER) ? MOST_SCALER_BYTES : MAX_MESSAGE_BYTES;
}

function knownOnly(path: string, call: ServerCall, parts: GateParts): ServerInterceptingCall {
  const mayEnter = async (metadata: Metadata): Promise<void> => {
    if (path.startsWith(NODE_LOGS) && parts.isNode(metadata)) return;
    try {
      await callerIn(metadata, parts, ANYBODY, networkOf(call.getPeer()));
    } catch (error) {
      // Workers take a limit for a batch that is refused for good, and it is only a matter of time.
      const isLimit = error instanceof SignalboxError && error.code === 'RATE_LIMITED' && path.startsWith(WORKER_DATA);
      throw isLimit
        ? new SignalboxError('UNAVAILABLE', { reason: 'too many wrong credentials came from there' })
        : error;
    }
  };
  return new ServerInterceptingCall(call, {
    start: (next) =>
      next({
        onReceiveMetadata: (metadata, enter) => {
          mayEnter(metadata).then(
            () => enter(metadata),
            (error: unknown) => call.sendStatus(statusOf(error, parts.logger)),
          );
        },
      }),
  });
}

function readSoon(call: ServerCall, unread: Places, { logger }: GateParts): ServerInterceptingCall {
  const refuse = () => call.sendStatus(statusOf(new SignalboxError('OVERLOADED', { retryAfterMs: 1_000 }), logger));
  const start: NonNullable<ConstructorParameters<typeof ServerInterceptingCall>[1]>['start'] = (next) => {
    const giveBack = unread.take(networkOf(call.getPeer()));
    if (giveBack === null) return refuse();
    const read = () => {
      giveBack();
      clearTimeout(late);
    };
    const late = setTimeout(() => {
      read();
      refuse();
    }, READ_MS);
    next({
      onReceiveMessage: (message, pass) => {
        read();
        pass(message);
      },
      onCancel: read,
    });
  };
  return new ServerInterceptingCall(call, { start });
}

function statusOf(error: unknown, logger: Logger): Parameters<ServerCall['sendStatus']>[0] {
  const { code, details, metadata } = refusalOf(error, logger);
  return { code: code ?? status.UNKNOWN, details: details ?? '', ...(metadata === undefined ? {} : { metadata }) };
}
