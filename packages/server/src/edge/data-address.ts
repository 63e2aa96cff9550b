/** The address under which others reach a port of this node. */
import { hostname } from 'node:os';
import { type BindAddress, parseAddress, type ServerConfig, showAddress } from '../config.ts';

/** Of services: told, or the host that others know this node by, with the port that it has. */
export function dataAddressOf(
  { advertise, advertiseServices }: Pick<ServerConfig, 'advertise' | 'advertiseServices'>,
  boundHost: string,
  port: number,
): string {
  if (advertiseServices !== null) return advertiseServices;
  const known = advertise === null ? null : parseAddress(advertise);
  return known === null ? reachable({ host: boundHost, port }) : showAddress({ host: known.host, port });
}

/** Bound to every address, it is reached by the machine's name. */
export function reachable({ host, port }: BindAddress): string {
  return showAddress({ host: host === '0.0.0.0' || host === '::' ? hostname() : host, port });
}
