/**
 * Settings, parsed once at the start into a frozen value. Nothing below `main.ts` reads the environment. Command line flags
 * use the names of their variables.
 */
import { isIP } from 'node:net';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseAllow } from '@signalbox/protocol/outbound';
import type { Rate } from './auth/rate.ts';
import type { WatchedFolder } from './files/folder-watch.ts';
import type { WatchedObjects } from './objects/object-watch.ts';

export interface BindAddress {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
}

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** The certificate of the authority that signs the certificates of all nodes; null for the public authorities. */
  readonly ca: string | null;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface ServerConfig {
  /** Null: the embedded PostgreSQL, in the data folder. */
  readonly databaseUrl: string | null;
  /** False behind a transaction pooler that does not carry named statements. */
  readonly preparedStatements: boolean;
  readonly dataDir: string;
  readonly http: BindAddress;
  readonly grpc: BindAddress;
  /** Where other nodes and workers reach the gRPC port; null for the address it is bound to. */
  readonly advertise: string | null;
  /** The gRPC API, logs from workers and bundles to them; served by the edge. */
  readonly services: BindAddress;
  /** Where workers, services and other nodes reach it; null for the host of `advertise` with the bound port. */
  readonly advertiseServices: string | null;
  /** Names beside the bound one under which HTTP is served. */
  readonly allowedHosts: readonly string[];
  /** Addresses and ranges of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed; none unless told. */
  readonly trustedProxies: readonly string[];
  /** Addresses beside the public ones that are called when runs have ended: names, addresses, ranges. */
  readonly callbackAllow: readonly string[];
  /** Folders of this machine whose new files become events. */
  readonly watchFolders: readonly WatchedFolder[];
  readonly watchObjects: WatchedObjects;
  readonly tls: TlsFiles | null;
  readonly logLevel: LogLevel;
  readonly retentionDays: number;
  /** How long a dead letter stays open, and how long a closed one is kept. */
  readonly deadLetterDays: number;
  /** Retries that this server lets begin in a second. */
  readonly retriesPerSecond: number;
  /** The size of all logs of this server. */
  readonly logBytes: number;
  readonly adminToken: string | null;
  readonly tokenFile: string;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  /** A break in service up to this long, such as a quick takeover, makes no window missed. */
  readonly windowGraceMs: number;
  /** A worker is reserved for a task that has waited for room for this long. */
  readonly reserveAfterMs: number;
  /** Claims per second of which is kept why their worker was chosen; as many of those that took the next worker in turn. */
  readonly decisionsPerSecond: number;
  /** A machine whose clock is further from the database's than this must not own shards. */
  readonly clockBoundMs: number;
  /** How many requests a caller may send; null for as many as it likes. */
  readonly rate: Rate | null;
  /** Live runs beyond which this server refuses submissions, low priority first. */
  readonly mostLiveRuns: number;
  /** A dag that creates more tasks in a minute, or whose live runs have more, is halted. */
  readonly mostFanOut: number;
  readonly mostLiveTasks: number;
  /** How many runs a caller may submit; null for as many as it likes. */
  readonly runRate: Rate | null;
}

/** What is wrong with a setting, and what to give instead. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

type Variables = Readonly<Record<string, string | undefined>>;

const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];
const DAY_MS = 86_400_000;
const MIB = 1024 * 1024;
const SHORTEST_TOKEN = 20;

/** @example parseConfig(process.env) */
export function parseConfig(variables: Variables): ServerConfig {
  const dataDir = dataFolder(variables);
  const config: ServerConfig = {
    databaseUrl: databaseUrl(variables),
    preparedStatements: !flag(variables, 'SIGNALBOX_NO_PREPARED_STATEMENTS'),
    dataDir,
    http: address(variables, 'SIGNALBOX_HTTP', '127.0.0.1:4500'),
    grpc: address(variables, 'SIGNALBOX_GRPC', '127.0.0.1:4501'),
    advertise: advertised(variables, 'SIGNALBOX_ADVERTISE'),
    services: address(variables, 'SIGNALBOX_SERVICES', '127.0.0.1:4502'),
    advertiseServices: advertised(variables, 'SIGNALBOX_ADVERTISE_SERVICES'),
    allowedHosts: list(variables.SIGNALBOX_ALLOWED_HOSTS),
    trustedProxies: proxies(variables),
    callbackAllow: allowed(variables),
    watchFolders: watchedFolders(variables),
    watchObjects: watchedObjects(variables),
    tls: tlsFiles(variables),
    logLevel: oneOf(variables, 'SIGNALBOX_LOG', LOG_LEVELS, 'info'),
    retentionDays: wholeNumber(variables, 'SIGNALBOX_RETENTION_DAYS', { least: 1, most: 3_650, usual: 30 }),
    deadLetterDays: wholeNumber(variables, 'SIGNALBOX_DEAD_LETTER_DAYS', { least: 1, most: 3_650, usual: 30 }),
    retriesPerSecond: wholeNumber(variables, 'SIGNALBOX_RETRIES_PER_SECOND', {
      least: 1,
      most: 1_000_000,
      usual: 1_000,
    }),
    logBytes: wholeNumber(variables, 'SIGNALBOX_LOG_BYTES', { least: MIB, most: 2 ** 50, usual: 10 * 1024 * MIB }),
    adminToken: adminToken(variables),
    tokenFile: resolve(variables.SIGNALBOX_TOKEN_FILE || join(dataDir, 'admin.token')),
    heartbeatMs: wholeNumber(variables, 'SIGNALBOX_HEARTBEAT_MS', { least: 50, most: DAY_MS, usual: 3_000 }),
    leaseMs: wholeNumber(variables, 'SIGNALBOX_LEASE_MS', { least: 200, most: DAY_MS, usual: 15_000 }),
    rate: rateOf(variables, 'SIGNALBOX_RATE', 2_000),
    mostFanOut: wholeNumber(variables, 'SIGNALBOX_DAG_FAN_OUT', { least: 1, most: 1_000_000_000, usual: 5_000_000 }),
    mostLiveTasks: wholeNumber(variables, 'SIGNALBOX_DAG_LIVE_TASKS', {
      least: 1,
      most: 1_000_000_000,
      usual: 5_000_000,
    }),
    mostLiveRuns: wholeNumber(variables, 'SIGNALBOX_LIVE_RUNS', { least: 1_000, most: 100_000_000, usual: 2_000_000 }),
    runRate: rateOf(variables, 'SIGNALBOX_RUN_RATE', 100_000),
    windowGraceMs: wholeNumber(variables, 'SIGNALBOX_WINDOW_GRACE_MS', { least: 2_000, most: 600_000, usual: 10_000 }),
    reserveAfterMs: wholeNumber(variables, 'SIGNALBOX_RESERVE_AFTER_MS', { least: 1_000, most: DAY_MS, usual: 60_000 }),
    decisionsPerSecond: wholeNumber(variables, 'SIGNALBOX_DECISIONS_PER_SECOND', { least: 0, most: 1_000, usual: 20 }),
    clockBoundMs: wholeNumber(variables, 'SIGNALBOX_CLOCK_BOUND_MS', { least: 1_000, most: DAY_MS, usual: 60_000 }),
  };
  if (config.heartbeatMs * 2 > config.leaseMs) {
    throw new ConfigError(
      `SIGNALBOX_HEARTBEAT_MS is ${config.heartbeatMs} and SIGNALBOX_LEASE_MS ${config.leaseMs}: give a lease of at least two heartbeats.`,
    );
  }
  refuseOpenDoors(config, flag(variables, 'SIGNALBOX_INSECURE'));
  return Object.freeze(config);
}

/** `orders=/srv/orders,rates=/srv/rates` */
function watchedFolders({ SIGNALBOX_WATCH_FOLDERS: text }: Variables): readonly WatchedFolder[] {
  const pairs = (text ?? '').split(',').flatMap((pair) => (pair.trim() === '' ? [] : [pair.trim()]));
  const folders = pairs.map((pair) => {
    const [, name = '', path = ''] = /^([A-Za-z0-9_.-]{1,100})=(\/.+)$/.exec(pair) ?? [];
    if (name === '')
      throw new ConfigError(
        `SIGNALBOX_WATCH_FOLDERS has "${pair}": give names and absolute paths, such as orders=/srv/orders,rates=/srv/rates.`,
      );
    return { name, path: resolve(path) };
  });
  const twice = folders.find(({ name }, no) => folders.findIndex((one) => one.name === name) !== no);
  if (twice !== undefined)
    throw new ConfigError(`SIGNALBOX_WATCH_FOLDERS names ${twice.name} twice: give each its own.`);
  return folders;
}

/** `orders=s3://shop/incoming/,rates=s3://rates` */
function watchedObjects(variables: Variables): WatchedObjects {
  const { SIGNALBOX_WATCH_OBJECTS: text, SIGNALBOX_S3_ENDPOINT: endpoint = '' } = variables;
  const pairs = (text ?? '').split(',').flatMap((pair) => (pair.trim() === '' ? [] : [pair.trim()]));
  const prefixes = pairs.map((pair) => {
    const [, name = '', bucket = '', prefix = ''] =
      /^([A-Za-z0-9_.-]{1,100})=s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.{0,900}))?$/.exec(pair) ?? [];
    if (name === '')
      throw new ConfigError(
        `SIGNALBOX_WATCH_OBJECTS has "${pair}": give names, buckets and prefixes, such as orders=s3://shop/incoming/.`,
      );
    return { name, bucket, prefix };
  });
  const twice = prefixes.find(({ name }, no) => prefixes.findIndex((one) => one.name === name) !== no);
  if (twice !== undefined)
    throw new ConfigError(`SIGNALBOX_WATCH_OBJECTS names ${twice.name} twice: give each its own.`);
  if (endpoint !== '' && !/^https?:\/\/[^/]+\/?$/.test(endpoint))
    throw new ConfigError(`SIGNALBOX_S3_ENDPOINT is "${endpoint}": give an address such as http://127.0.0.1:9000.`);
  return { prefixes, endpoint: endpoint === '' ? null : endpoint };
}

/** Where data and the admin token lie unless told: the CLI looks there too. */
export function dataFolder(variables: Variables): string {
  if (variables.SIGNALBOX_DATA) return resolve(variables.SIGNALBOX_DATA);
  if (process.getuid?.() === 0) return '/var/lib/signalbox';
  return join(variables.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'signalbox');
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

export function showAddress({ host, port }: BindAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Why an address can't be listened on, with what to do about it. */
export function explainBind(name: string, bind: BindAddress, error: Error): Error {
  const where = `${name}: the address ${showAddress(bind)}`;
  if (error.message.includes('EADDRINUSE')) {
    return new ConfigError(`${where} is in use. Is a server running already? Otherwise give another one.`);
  }
  if (/EACCES|EADDRNOTAVAIL/.test(error.message)) {
    return new ConfigError(`${where} can't be listened on: give an address of this machine and a port above 1023.`);
  }
  return error;
}

export function parseAddress(text: string): BindAddress | null {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_.-]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return host === undefined || port > 65_535 ? null : { host, port };
}

function allowed({ SIGNALBOX_CALLBACK_ALLOW: text }: Variables): readonly string[] {
  const entries = list(text);
  try {
    parseAllow(entries);
  } catch (error) {
    throw new ConfigError(`SIGNALBOX_CALLBACK_ALLOW: ${(error as Error).message}.`);
  }
  return entries;
}

/** `10.0.0.0/8`, `::1`: nothing wider than a range that somebody wrote down. */
function proxies({ SIGNALBOX_TRUSTED_PROXIES: text }: Variables): readonly string[] {
  const entries = list(text);
  for (const entry of entries) {
    const [address = '', bits, ...rest] = entry.split('/');
    const most = isIP(address) === 6 ? 128 : 32;
    const isRange = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= most);
    if (isIP(address) !== 0 && isRange && rest.length === 0) continue;
    throw new ConfigError(
      `SIGNALBOX_TRUSTED_PROXIES has "${entry}": give addresses or ranges of your proxies, such as 10.0.0.7,10.1.0.0/16.`,
    );
  }
  return entries;
}

function databaseUrl({ DATABASE_URL: url }: Variables): string | null {
  if (url === undefined || url === '') return null;
  // The value may hold a password, so it is not shown.
  if (!/^postgres(ql)?:\/\//.test(url)) {
    throw new ConfigError(
      'DATABASE_URL is no PostgreSQL address: give one such as postgresql://user@host:5432/signalbox.',
    );
  }
  return url;
}

function address(variables: Variables, name: string, usual: string): BindAddress {
  const text = variables[name] || usual;
  const parsed = parseAddress(text);
  if (parsed !== null) return parsed;
  throw new ConfigError(`${name} is "${text}": give host and port, such as ${usual}.`);
}

function advertised(variables: Variables, name: string): string | null {
  const text = variables[name];
  if (text === undefined || text === '') return null;
  const parsed = parseAddress(text);
  if (parsed !== null && parsed.port > 0) return showAddress(parsed);
  throw new ConfigError(`${name} is "${text}": give the host and port at which others reach this node.`);
}

function tlsFiles(variables: Variables): TlsFiles | null {
  const { SIGNALBOX_TLS_CERT: cert, SIGNALBOX_TLS_KEY: key, SIGNALBOX_TLS_CA: ca } = variables;
  if (!cert && !key) return null;
  if (!cert || !key) throw new ConfigError('SIGNALBOX_TLS_CERT and SIGNALBOX_TLS_KEY go together: give both, or none.');
  return { cert: resolve(cert), key: resolve(key), ca: ca ? resolve(ca) : null };
}

function adminToken({ SIGNALBOX_ADMIN_TOKEN: token }: Variables): string | null {
  if (token === undefined || token === '') return null;
  if (/^[\x21-\x7e]+$/.test(token) && token.length >= SHORTEST_TOKEN) return token;
  throw new ConfigError(
    `SIGNALBOX_ADMIN_TOKEN is too weak: give at least ${SHORTEST_TOKEN} printable characters, such as those of "openssl rand -hex 32".`,
  );
}

/** The burst is what two seconds bring. */
function rateOf(variables: Variables, name: string, usual: number): Rate | null {
  const perSecond = wholeNumber(variables, name, { least: 0, most: 1_000_000, usual });
  return perSecond === 0 ? null : { perSecond, burst: 2 * perSecond };
}

function wholeNumber(
  variables: Variables,
  name: string,
  { least, most, usual }: { least: number; most: number; usual: number },
): number {
  const text = variables[name];
  if (text === undefined || text === '') return usual;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new ConfigError(`${name} is "${text}": give a whole number from ${least} to ${most}, such as ${usual}.`);
}

function oneOf<T extends string>(variables: Variables, name: string, known: readonly T[], usual: T): T {
  const text = variables[name] || usual;
  const found = known.find((value) => value === text);
  if (found !== undefined) return found;
  throw new ConfigError(`${name} is "${text}": give one of ${known.join(', ')}.`);
}

function flag(variables: Variables, name: string): boolean {
  const text = variables[name] ?? '';
  if (['', '0', 'false', 'no'].includes(text)) return false;
  if (['1', 'true', 'yes'].includes(text)) return true;
  throw new ConfigError(`${name} is "${text}": give 1, or leave it out.`);
}

function list(text: string | undefined): readonly string[] {
  return (text ?? '').split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim().toLowerCase()]));
}

/** Tokens would travel for everybody on the way to read (D13). */
function refuseOpenDoors(config: ServerConfig, isInsecure: boolean): void {
  if (config.tls !== null || isInsecure) return;
  const doors = { SIGNALBOX_HTTP: config.http, SIGNALBOX_GRPC: config.grpc, SIGNALBOX_SERVICES: config.services };
  for (const [name, { host }] of Object.entries(doors)) {
    if (isLoopback(host)) continue;
    throw new ConfigError(
      `${name} binds ${host}, beyond this machine, without TLS: give SIGNALBOX_TLS_CERT and SIGNALBOX_TLS_KEY, or set SIGNALBOX_INSECURE=1 where the network is trusted.`,
    );
  }
}
