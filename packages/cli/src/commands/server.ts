/** `signalbox server`. */

import { print, printJson } from '../output.ts';
import { refuseBusyPorts } from '../start/ports.ts';

export interface ServerFlags {
  readonly http?: string;
  readonly grpc?: string;
  readonly services?: string;
  readonly data?: string;
  readonly database?: string;
  readonly log?: string;
  readonly insecure?: boolean;
  readonly json?: boolean;
}

export async function server(flags: ServerFlags): Promise<void> {
  const { parseConfig, runServer } = await import('@signalbox/server');
  const variables = variablesOf(flags);
  await refuseBusyPorts(parseConfig(variables));
  await runServer(variables, ({ url, grpcAddress, nodeId }) => {
    if (flags.json) printJson({ url, grpcAddress, nodeId });
    else print(`signalbox serves the API on ${url} and workers on ${grpcAddress}`);
    return undefined;
  });
  process.exit(0);
}

/** Flags go before the environment. */
export function variablesOf(flags: ServerFlags): Record<string, string | undefined> {
  const given: Record<string, string | undefined> = {
    SIGNALBOX_HTTP: flags.http,
    SIGNALBOX_GRPC: flags.grpc,
    SIGNALBOX_SERVICES: flags.services,
    SIGNALBOX_DATA: flags.data,
    DATABASE_URL: flags.database,
    SIGNALBOX_LOG: flags.log,
    SIGNALBOX_INSECURE: flags.insecure ? '1' : undefined,
  };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...process.env, ...Object.fromEntries(set) };
}
