/** Whether this node can serve, for load balancers: the same answer as `/readyz`. No credential is needed. */
import type { Server, ServerUnaryCall, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import { HEALTH_SERVICE, loadService, type OfferedService } from '@signalbox/protocol/grpc';

interface Asked {
  readonly service: string;
}
interface Health {
  readonly status: 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';
}

const LOOK_MS = 1_000;
const MOST_WATCHING = 100;

export function addHealth(
  server: Server,
  { isReady, services }: { isReady: () => Promise<boolean>; services: () => readonly string[] },
): OfferedService {
  const service = loadService('health.proto', HEALTH_SERVICE);
  const look = async (name: string): Promise<Health> => {
    if (name !== '' && !services().includes(name)) return { status: 'SERVICE_UNKNOWN' };
    return { status: (await isReady().catch(() => false)) ? 'SERVING' : 'NOT_SERVING' };
  };
  let watching = 0;
  server.addService(service.definition, {
    Check: (call: ServerUnaryCall<Asked, Health>, send: sendUnaryData<Health>) => {
      void look(call.request.service).then((health) => {
        if (health.status === 'SERVICE_UNKNOWN') send({ code: status.NOT_FOUND, details: 'There is no such service.' });
        else send(null, health);
      });
    },
    Watch: (stream: ServerWritableStream<Asked, Health>) => {
      stream.on('error', () => undefined);
      if (watching >= MOST_WATCHING) {
        stream.emit('error', { code: status.RESOURCE_EXHAUSTED, details: 'Too many are watching.' });
        return;
      }
      watching += 1;
      let last = '';
      const tell = async () => {
        const health = await look(stream.request.service);
        if (health.status !== last) stream.write(health);
        last = health.status;
      };
      const timer = setInterval(() => void tell(), LOOK_MS);
      stream.once('close', () => {
        clearInterval(timer);
        watching -= 1;
      });
      stream.once('cancelled', () => stream.end());
      void tell();
    },
  });
  return service;
}
