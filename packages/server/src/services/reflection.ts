/**
 * Lists the services of this port for clients without proto files, such as grpcurl (both versions of the protocol). Any
 * credential may ask; without one nothing is listed (I66).
 */
import type { Server, ServerDuplexStream } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import { loadService, type OfferedService, REFLECTION_SERVICES } from '@signalbox/protocol/grpc';
import { EVERY_ROLE } from '../rest/operations/operation.ts';
import { type CallGuard, callerIn } from './caller.ts';
import { refusalOf } from './refusal.ts';

interface Asked {
  readonly host: string;
  readonly messageRequest?: string;
  readonly fileByFilename?: string;
  readonly fileContainingSymbol?: string;
}

const ANYBODY = { may: EVERY_ROLE, action: 'ask what is offered' } as const;

export function addReflection(server: Server, offered: readonly OfferedService[], guard: CallGuard): void {
  const own = REFLECTION_SERVICES.map((name) => loadService(`reflection-${name.split('.')[2]}.proto`, name));
  const all = [...offered, ...own];
  for (const { definition } of own) {
    server.addService(definition, {
      ServerReflectionInfo: (stream: ServerDuplexStream<Asked, object>) => void answer(stream, all, guard),
    });
  }
}

async function answer(
  stream: ServerDuplexStream<Asked, object>,
  services: readonly OfferedService[],
  guard: CallGuard,
): Promise<void> {
  stream.on('error', () => undefined);
  try {
    await callerIn(stream.metadata, guard, ANYBODY);
  } catch (error) {
    stream.emit('error', refusalOf(error, guard.logger));
    return;
  }
  stream.on('data', (asked: Asked) => {
    stream.write({ validHost: asked.host, originalRequest: asked, ...found(asked, services) });
  });
  stream.on('end', () => stream.end());
}

function found(asked: Asked, services: readonly OfferedService[]): object {
  switch (asked.messageRequest) {
    case 'listServices':
      return { listServicesResponse: { service: services.map(({ name }) => ({ name })) } };
    case 'fileByFilename': {
      const file = services.flatMap(({ files }) => files).find(({ name }) => name === asked.fileByFilename);
      return file === undefined ? missing('file') : { fileDescriptorResponse: { fileDescriptorProto: [file.bytes] } };
    }
    case 'fileContainingSymbol': {
      const symbol = (asked.fileContainingSymbol ?? '').replace(/^\./, '');
      const service = services.find(({ symbols }) => symbols.includes(symbol));
      if (service === undefined) return missing('symbol');
      return { fileDescriptorResponse: { fileDescriptorProto: service.files.map(({ bytes }) => bytes) } };
    }
    default:
      return missing('extension'); // there are none in proto3
  }
}

function missing(what: string): object {
  return { errorResponse: { errorCode: status.NOT_FOUND, errorMessage: `There is no such ${what}.` } };
}
