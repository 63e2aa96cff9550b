/**
 * Which addresses may be called for somebody (I70). Calls come from inside of the network that a worker or a server is in: without
 * a policy a definition could reach what only trusts its neighbours. Public addresses are allowed; all others only when it
 * was started with them.
 */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { BlockList, isIP } from 'node:net';

/** Not on the public net, by the registries of special addresses (RFC 6890 and those after it). */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** All that is public of IPv6 lies in here, and not all in here is public. */
const PUBLIC_V6 = '2000::/3';
/** Among them those that carry an IPv4 address inside: 6to4 and Teredo. */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

export class AddressRefused extends Error {}

/** Who makes the calls, for the sentence about one that is refused; `<host>` stands for the host. */
export interface Caller {
  readonly name: string;
  readonly remedy: string;
}

export interface AllowEntry {
  readonly host: string | null;
  readonly range: string | null;
}

/** A name, an address, or a range such as 10.1.0.0/16. Throws a `TypeError` that says which entry is wrong. */
export function parseAllow(entries: readonly string[]): readonly AllowEntry[] {
  return entries.map((entry) => {
    const [address = '', bits, more] = entry.split('/');
    const family = isIP(address);
    if (bits === undefined && family !== 0) return { host: null, range: `${address}/${family === 4 ? 32 : 128}` };
    if (bits === undefined && /^[a-z0-9_]([a-z0-9._-]*[a-z0-9])?$/i.test(entry)) {
      return { host: entry.toLowerCase(), range: null };
    }
    const isRange = family !== 0 && /^\d{1,3}$/.test(bits ?? '') && Number(bits) <= (family === 4 ? 32 : 128);
    if (isRange && more === undefined) return { host: null, range: entry };
    throw new TypeError(
      `"${entry}" is nothing that can be allowed; give a host name, an address, or a range such as 10.0.0.0/8`,
    );
  });
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

const specialV4 = listOf(SPECIAL_V4);
const publicV6 = listOf([PUBLIC_V6]);
const specialV6 = listOf(SPECIAL_V6);

/** An IPv4 address in the clothes of IPv6 is the IPv4 address: ::ffff:127.0.0.1, ::ffff:7f00:1. */
export function plainAddress(address: string): string {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (isIP(bare) !== 6) return bare;
  // The address bar's own reading brings all forms of one address to one.
  const canonical = new URL(`http://[${bare}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical);
  if (mapped === null) return canonical;
  const [high, low] = [Number.parseInt(mapped[1] as string, 16), Number.parseInt(mapped[2] as string, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

export class AddressPolicy {
  readonly #hosts: ReadonlySet<string>;
  readonly #ranges: BlockList;

  readonly #caller: Caller;

  constructor(allow: readonly AllowEntry[], caller: Caller) {
    this.#caller = caller;
    this.#hosts = new Set(allow.flatMap(({ host }) => (host === null ? [] : [host])));
    this.#ranges = listOf(allow.flatMap(({ range }) => (range === null ? [] : [range])));
  }

  allows(host: string, address: string): boolean {
    const plain = plainAddress(address);
    const family = isIP(plain);
    if (family === 0) return false;
    if (this.#hosts.has(host.toLowerCase()) || this.#ranges.check(plain, family === 4 ? 'ipv4' : 'ipv6')) return true;
    if (family === 4) return !specialV4.check(plain, 'ipv4');
    return publicV6.check(plain, 'ipv6') && !specialV6.check(plain, 'ipv6');
  }

  /** What a URL names as an address must be allowed and written as one: 0x7f.1, 017700000001 and 2130706433 are tricks. */
  checkLiteral(url: URL, written: string): void {
    const host = url.hostname;
    const address = plainAddress(host);
    if (isIP(address) === 0) return;
    if (!this.allows(host, address)) throw refused(this.#caller, host, [address]);
    const authority = /^[a-z]+:[\\/]*([^\\/?#]*)/i.exec(written.trim())?.[1] ?? '';
    const writtenHost = authority.replace(/^.*@/, '').replace(/:\d*$/, '').toLowerCase();
    if (isIP(host) === 4 && writtenHost !== host && !this.#ranges.check(address, 'ipv4')) {
      throw new AddressRefused(`The host "${writtenHost}" is an odd way to write ${host}: write it plainly.`);
    }
  }

  /** For a request's `lookup`: the connection goes to an address that was checked, whatever the name says a moment later. */
  readonly lookup = (
    host: string,
    options: object,
    done: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
  ): void => {
    systemLookup(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return done(error, '');
      const allowed = found.filter(({ address }) => this.allows(host, address));
      const [first] = allowed;
      if (first === undefined) {
        return done(
          refused(
            this.#caller,
            host,
            found.map(({ address }) => address),
          ),
          '',
        );
      }
      if ('all' in options && options.all === true) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };
}

function refused({ name, remedy }: Caller, host: string, addresses: readonly string[]): AddressRefused {
  const which = addresses.includes(host) ? host : `${host} (${addresses.slice(0, 3).join(', ')})`;
  return new AddressRefused(
    `The ${name} may not call ${which}: it is no public address. ${remedy.replace('<host>', host)}`,
  );
}
