/** Whether this node can serve, for load balancers: the same answer as `/readyz`. No credential is needed. */
import type { Server, ServerUnaryCall, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import { status } from '@grpc/grpc-js';
import { HEALTH_SERVICE, loadService, type OfferedService } from '@signalbox/protocol/grpc';
import { Watchers } from './watchers.ts';

interface Asked {
  readonly service: string;
}
interface Health {
  readonly status: 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';
}

export function addHealth(
  server: Server,
  { isReady, services }: { isReady: () => Promise<boolean>; services: () => readonly string[] },
): OfferedService {
  const service = loadService('health.proto', HEALTH_SERVICE);
  const look = async (name: string): Promise<Health> => {
    if (name !== '' && !services().includes(name)) return { status: 'SERVICE_UNKNOWN' };
    return { status: (await isReady().catch(() => false)) ? 'SERVING' : 'NOT_SERVING' };
  };
  const watchers = new Watchers();
  server.addService(service.definition, {
    Check: (call: ServerUnaryCall<Asked, Health>, send: sendUnaryData<Health>) => {
      void look(call.request.service).then((health) => {
        if (health.status === 'SERVICE_UNKNOWN') send({ code: status.NOT_FOUND, details: 'There is no such service.' });
        else send(null, health);
      });
    },
    Watch: (stream: ServerWritableStream<Asked, Health>) =>
      watchers.add(
        stream,
        () => look(stream.request.service),
        (error) => ({ code: status.INTERNAL, details: String(error) }),
      ),
  });
  return service;
}
