import { expect, test } from 'vitest';
import { ConfigError, parseConfig } from './config.ts';

test('without any setting it serves this machine only, with a database of its own', () => {
  const config = parseConfig({});
  expect(config).toMatchObject({
    databaseUrl: null,
    http: { host: '127.0.0.1', port: 4500 },
    grpc: { host: '127.0.0.1', port: 4501 },
    services: { host: '127.0.0.1', port: 4502 },
    advertiseServices: null,
    logBytes: 10 * 2 ** 30,
    leaseMs: 15_000,
    heartbeatMs: 3_000,
    retentionDays: 30,
  });
  expect(Object.isFrozen(config)).toBe(true);
});

test.each([
  [{ SIGNALBOX_HTTP: '4500' }, 'SIGNALBOX_HTTP is "4500": give host and port, such as 127.0.0.1:4500.'],
  [{ SIGNALBOX_GRPC: '127.0.0.1:99999' }, 'SIGNALBOX_GRPC is "127.0.0.1:99999"'],
  [{ SIGNALBOX_SERVICES: '0.0.0.0:4502' }, 'SIGNALBOX_SERVICES binds 0.0.0.0, beyond this machine, without TLS'],
  [{ SIGNALBOX_ADVERTISE_SERVICES: 'box' }, 'SIGNALBOX_ADVERTISE_SERVICES is "box": give the host and port'],
  [{ SIGNALBOX_LOG_BYTES: '10GB' }, 'SIGNALBOX_LOG_BYTES is "10GB": give a whole number'],
  [{ SIGNALBOX_LEASE_MS: '30s' }, 'SIGNALBOX_LEASE_MS is "30s": give a whole number'],
  [{ SIGNALBOX_LEASE_MS: '4000' }, 'give a lease of at least two heartbeats'],
  [{ SIGNALBOX_LOG: 'loud' }, 'give one of debug, info'],
  [{ SIGNALBOX_WATCH_FOLDERS: 'orders' }, 'give names and absolute paths'],
  [{ SIGNALBOX_WATCH_FOLDERS: 'a=relative' }, 'give names and absolute paths'],
  [{ SIGNALBOX_WATCH_FOLDERS: 'a=/x,a=/y' }, 'names a twice'],
  [{ SIGNALBOX_WATCH_OBJECTS: 'orders=/srv' }, 'give names, buckets and prefixes'],
  [{ SIGNALBOX_WATCH_OBJECTS: 'a=s3://one/x,a=s3://two' }, 'names a twice'],
  [{ SIGNALBOX_S3_ENDPOINT: 'minio' }, 'give an address'],
  [{ SIGNALBOX_RETENTION_DAYS: '0' }, 'give a whole number from 1'],
  [{ SIGNALBOX_HTTP: '0.0.0.0:4500' }, 'beyond this machine, without TLS'],
  [{ SIGNALBOX_GRPC: '[::]:4501' }, 'beyond this machine, without TLS'],
  [{ SIGNALBOX_HTTP: '0.0.0.0:4500', SIGNALBOX_INSECURE: 'maybe' }, 'SIGNALBOX_INSECURE is "maybe"'],
  [{ SIGNALBOX_TLS_CERT: 'a.pem' }, 'go together'],
  [{ SIGNALBOX_ADMIN_TOKEN: 'secret' }, 'is too weak'],
  [{ DATABASE_URL: 'mysql://me:hunter2@host/db' }, 'is no PostgreSQL address'],
] as [Record<string, string>, string][])('%j is refused with what to give instead', (variables, expected) => {
  expect(() => parseConfig(variables)).toThrow(ConfigError);
  expect(() => parseConfig(variables)).toThrow(expected);
  expect(() => parseConfig(variables)).not.toThrow(/hunter2|secret\b.*secret/);
});

test('beyond this machine it goes with TLS, or when told so', () => {
  const open = { SIGNALBOX_HTTP: '0.0.0.0:4500', SIGNALBOX_GRPC: '0.0.0.0:4501' };
  expect(parseConfig({ ...open, SIGNALBOX_INSECURE: '1' }).http.host).toBe('0.0.0.0');
  expect(parseConfig({ ...open, SIGNALBOX_TLS_CERT: '/c.pem', SIGNALBOX_TLS_KEY: '/k.pem' }).tls?.cert).toBe('/c.pem');
});

test.each(['10.0.0.1', '10.0.0.0/8', '::1, 2001:db8::/32'])('the proxies %s are taken', (text) => {
  expect(parseConfig({ SIGNALBOX_TRUSTED_PROXIES: text }).trustedProxies.length).toBeGreaterThan(0);
});

test.each(['all', 'proxy.example', '10.0.0.0/33', '10.0.0.0/0', '10.0.0.0/8/8', '1'])(
  'the proxies %s are refused',
  (text) => {
    expect(() => parseConfig({ SIGNALBOX_TRUSTED_PROXIES: text })).toThrow('SIGNALBOX_TRUSTED_PROXIES');
  },
);
