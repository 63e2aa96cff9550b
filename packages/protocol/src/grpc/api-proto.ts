/** The services for programs: the API, health and reflection, with their descriptors as clients ask for them. */
import { fileURLToPath } from 'node:url';
import type { ServiceDefinition } from '@grpc/grpc-js';
import { loadSync, type PackageDefinition } from '@grpc/proto-loader';

export interface OfferedService {
  /** With its package: `signalbox.v1.Signalbox`. */
  readonly name: string;
  readonly definition: ServiceDefinition;
  readonly files: readonly DescriptorFile[];
  /** Full names of the service, its methods and all messages of its file. */
  readonly symbols: readonly string[];
}

/** A `FileDescriptorProto`. */
export interface DescriptorFile {
  readonly name: string;
  readonly bytes: Buffer;
}

export const API_SERVICE = 'signalbox.v1.Signalbox';
export const HEALTH_SERVICE = 'grpc.health.v1.Health';
/** The name is KEDA's. */
export const SCALER_SERVICE = 'externalscaler.ExternalScaler';
export const REFLECTION_SERVICES = [
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
] as const;

/** @example const { definition } = loadService('api.proto', API_SERVICE); server.addService(definition, handlers); */
export function loadService(file: string, name: string): OfferedService {
  const path = fileURLToPath(new URL(`../../proto/${file}`, import.meta.url));
  const loaded = loadSync(path, { longs: Number, enums: String, defaults: true, arrays: true, oneofs: true });
  const definition = loaded[name];
  if (definition === undefined || 'format' in definition) throw new Error(`${file} has no service ${name}.`);
  const methods = Object.keys(definition).map((method) => `${name}.${method}`);
  return {
    name,
    definition,
    files: filesOf(loaded),
    symbols: [...Object.keys(loaded), ...methods],
  };
}

function filesOf(loaded: PackageDefinition): DescriptorFile[] {
  const files = new Map<string, DescriptorFile>();
  for (const type of Object.values(loaded)) {
    if (!('fileDescriptorProtos' in type) || !Array.isArray(type.fileDescriptorProtos)) continue;
    for (const bytes of type.fileDescriptorProtos) files.set(fileName(bytes), { name: fileName(bytes), bytes });
  }
  return [...files.values()];
}

/** The name is the first field of a descriptor: its tag, its length in one byte or two, its text. */
function fileName(bytes: Buffer): string {
  const [tag = 0, low = 0, high = 0] = bytes;
  if (tag !== 0x0a) throw new Error('A descriptor does not begin with its name.');
  const isLong = low >= 0x80;
  const length = isLong ? (low & 0x7f) + (high << 7) : low;
  const at = isLong ? 3 : 2;
  return bytes.toString('utf8', at, at + length);
}
