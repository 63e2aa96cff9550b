/** Tokens that are as good as real ones here: nobody in this world forges, but many mix them up. */
import type { ClaimRef, ShardNo, WorkerId } from '@signalbox/engine';
import type { Tokens } from '@signalbox/host';

export class SimTokens implements Tokens {
  readonly #incarnation: number;

  constructor(incarnation: number) {
    this.#incarnation = incarnation;
  }

  mint(shard: ShardNo, claim: ClaimRef, workerId: WorkerId): Uint8Array {
    return new TextEncoder().encode(`${this.#name(shard, claim)}.${workerId}`);
  }

  check(shard: ShardNo, claim: ClaimRef, workerId: WorkerId, token: Uint8Array): boolean {
    return Buffer.compare(this.mint(shard, claim, workerId), token) === 0;
  }

  #name(shard: ShardNo, { runId, taskNo, attemptNo, fence }: ClaimRef): string {
    return [this.#incarnation, shard, runId, taskNo, attemptNo, fence].join('.');
  }

  seal(shard: ShardNo, claim: ClaimRef, text: string): string {
    return `${text}~${this.#name(shard, claim)}`;
  }

  open(shard: ShardNo, claim: ClaimRef, sealed: string): string | null {
    const end = `~${this.#name(shard, claim)}`;
    return sealed.endsWith(end) ? sealed.slice(0, -end.length) : null;
  }
}
