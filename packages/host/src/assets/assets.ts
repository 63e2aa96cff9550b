/**
 * Tells dags of fresh assets, between the shards of producer and consumer. Nothing here is durable: the producer's shard repeats what
 * is not answered, and who hears it twice takes it once (D10).
 */
import type { TellAsset } from '@signalbox/engine';
import type { Store } from '@signalbox/store';
import { KeyedLimiter } from '../children/keyed-limiter.ts';
import type { Log } from '../ports.ts';
import type { Routed, Router } from '../router.ts';

export interface AssetsPorts {
  readonly store: Pick<Store, 'dagsOnAsset'>;
  readonly router: Pick<Router, 'ask'>;
  readonly log: Log;
}

const DEADLINE_MS = 15_000;
/** At work at one time; the others wait for their turn. */
const AT_ONCE = 16;

/** It took the asset, or is not there any more. */
function hasHeard(routed: Routed): boolean {
  return routed.status === 'answered' && (routed.answer.ok || routed.answer.code === 'DAG_NOT_FOUND');
}

export class Assets {
  private readonly ports: AssetsPorts;
  private readonly limiter: KeyedLimiter<TellAsset>;

  constructor(ports: AssetsPorts) {
    this.ports = ports;
    this.limiter = new KeyedLimiter(AT_ONCE, (effect) => this.work(effect));
  }

  /** Only the newest word of an asset waits for its turn. */
  tell(effect: TellAsset): void {
    this.limiter.enter(`${effect.shard}/${effect.tenantId}/${effect.asset.name}`, effect);
  }

  private async work({ shard, tenantId, asset }: TellAsset): Promise<void> {
    try {
      const dags = await this.ports.store.dagsOnAsset(tenantId, asset.name);
      const answers = await Promise.all(
        dags.map(({ shard: to, dagId }) =>
          this.ports.router.ask({ kind: 'TakeAsset', shard: to, tenantId, dagId, from: shard, asset }, DEADLINE_MS),
        ),
      );
      // A dag that is gone by now takes nothing. Whoever gave no answer is told again, with all others.
      if (!answers.every(hasHeard)) return;
      const told = { kind: 'NoteAssetTold', shard, tenantId, name: asset.name, no: asset.no } as const;
      await this.ports.router.ask(told, DEADLINE_MS);
    } catch (error) {
      this.ports.log('warn', 'Word of a fresh asset could not be brought on its way; it is tried again.', {
        asset: asset.name,
        error: String(error),
      });
    }
  }
}
