/** Which gateway to try next: first the one that worked last, then the others in turn. */

export interface GatewayAddress {
  /** `host:port` */
  readonly target: string;
  readonly tls: boolean;
}

export function parseGateway(address: string): GatewayAddress {
  const match = /^(?:(https?):\/\/)?([^/\s]+:\d{1,5})\/?$/.exec(address);
  if (match?.[2] === undefined) {
    throw new TypeError(`gateway "${address}" is no address; give "host:port" or "https://host:port"`);
  }
  return { target: match[2], tls: match[1] === 'https' };
}

/** Gateways to which a token would be sent unencrypted over a network (D13). */
export function clearTextBeyondLoopback(addresses: readonly string[]): readonly string[] {
  return addresses.filter((address) => {
    const { target, tls } = parseGateway(address);
    return !tls && !/^(localhost|127\.[\d.]+|\[::1\]):/.test(target);
  });
}

const MAX_LEARNT = 64;

export class Gateways {
  readonly #configured: readonly GatewayAddress[];
  #all: readonly GatewayAddress[];
  #next = 0;

  constructor(configured: readonly string[]) {
    this.#configured = configured.map(parseGateway);
    this.#all = this.#configured;
  }

  get current(): GatewayAddress {
    return this.#all[this.#next] as GatewayAddress;
  }

  get count(): number {
    return this.#all.length;
  }

  /** The current one did not answer. */
  moveOn(): void {
    this.#next = (this.#next + 1) % this.#all.length;
  }

  /** Takes the list of a welcome in place of the one before; an empty one says nothing. Bare addresses of a gateway with TLS have TLS too: no step down. */
  learn(addresses: readonly string[]): void {
    const { current } = this;
    const learnt = addresses.slice(0, MAX_LEARNT).flatMap((address): GatewayAddress[] => {
      try {
        const parsed = parseGateway(address);
        return [{ target: parsed.target, tls: parsed.tls || current.tls }];
      } catch {
        return []; // One bad entry of a server's list must not cost the good ones.
      }
    });
    if (learnt.length === 0) return;
    const all = new Map([current, ...this.#configured, ...learnt].map((gateway) => [gateway.target, gateway]));
    this.#all = [...all.values()];
    this.#next = this.#all.findIndex(({ target }) => target === current.target);
  }
}
