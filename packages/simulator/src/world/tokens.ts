/** Tokens that are as good as real ones here: nobody in this world forges, but many mix them up. */
import type { ClaimRef, ShardNo } from '@signalbox/engine';
import type { Tokens } from '@signalbox/host';

export class SimTokens implements Tokens {
  readonly #incarnation: number;

  constructor(incarnation: number) {
    this.#incarnation = incarnation;
  }

  mint(shard: ShardNo, { runId, taskNo, attemptNo, fence }: ClaimRef): Uint8Array {
    return new TextEncoder().encode([this.#incarnation, shard, runId, taskNo, attemptNo, fence].join('.'));
  }

  check(shard: ShardNo, claim: ClaimRef, token: Uint8Array): boolean {
    return Buffer.compare(this.mint(shard, claim), token) === 0;
  }

  seal(shard: ShardNo, claim: ClaimRef, text: string): string {
    return `${text}~${Buffer.from(this.mint(shard, claim)).toString()}`;
  }

  open(shard: ShardNo, claim: ClaimRef, sealed: string): string | null {
    const end = `~${Buffer.from(this.mint(shard, claim)).toString()}`;
    return sealed.endsWith(end) ? sealed.slice(0, -end.length) : null;
  }
}
