/** The gRPC API on the services port. */
import type {
  Server,
  ServerUnaryCall,
  ServiceDefinition,
  sendUnaryData,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { API_SERVICE, loadService, type OfferedService, orMalformed } from '@signalbox/protocol/grpc';
import { followEvents } from './follow-events.ts';
import { type ApiMethod, type Message, refuseMalformed } from './message.ts';
import { API_METHODS } from './methods.ts';
import { callRest, type RestRequest, statusOf } from './rest-call.ts';
import { getTaskLogs, type TaskLogsPorts } from './task-logs.ts';

export function addApi(server: Server, ports: TaskLogsPorts): OfferedService {
  const service = loadService('api.proto', API_SERVICE);
  const handlers: UntypedServiceImplementation = {
    GetTaskLogs: (stream: Parameters<typeof getTaskLogs>[0]) => void getTaskLogs(stream, ports),
    FollowEvents: (stream: Parameters<typeof followEvents>[0]) => void followEvents(stream, ports),
  };
  for (const [name, method] of Object.entries(API_METHODS)) handlers[name] = unary(method, ports);
  server.addService(tolerant(service.definition), handlers);
  return service;
}

/** Bytes that are no message reach the handler, which refuses them in its own words. */
function tolerant(definition: ServiceDefinition): ServiceDefinition {
  const methods = Object.entries(definition).map(([name, method]) => {
    const requestDeserialize = orMalformed(method.requestDeserialize);
    return [name, { ...method, requestDeserialize }] as const;
  });
  return Object.fromEntries(methods);
}

const ANY_QUESTION: RestRequest = { method: 'GET', path: '/v1/dags', query: { limit: 1 } };

function unary(method: ApiMethod, ports: TaskLogsPorts) {
  const answer = async (call: ServerUnaryCall<Message, object>): Promise<object> => {
    const message = call.request;
    const request = await requestOf(method, call);
    if (method.before !== undefined) await callRest(ports, call, method.before(message));
    return method.answer(await callRest(ports, call, request), message);
  };
  /** A message that makes no request is refused for want of a credential first, as REST would (I66). */
  const requestOf = async (asked: ApiMethod, call: ServerUnaryCall<Message, object>): Promise<RestRequest> => {
    try {
      refuseMalformed(call.request);
      return asked.ask(call.request);
    } catch (error) {
      await callRest(ports, call, ANY_QUESTION);
      throw error;
    }
  };
  return (call: ServerUnaryCall<Message, object>, send: sendUnaryData<object>): void => {
    answer(call).then(
      (message) => send(null, message),
      (error: unknown) => send(statusOf(error, ports.logger)),
    );
  };
}
