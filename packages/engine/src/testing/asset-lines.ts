/** Plays the host for word of fresh assets within one scenario: brings it to the dags that wait, or loses it, as a test says. */
import type { TellAsset } from '../decide/effect.ts';
import type { Answer } from '../model/answer.ts';
import { triggersOf } from '../model/trigger/event-trigger.ts';
import type { Scenario } from './scenario.ts';

export class AssetLines {
  readonly box: Scenario;
  private seen = 0;

  constructor(box: Scenario) {
    this.box = box;
  }

  /** What has been said since the last time, in order; it is now off the line. */
  take(): TellAsset[] {
    const { effects } = this.box;
    const said = effects.slice(this.seen);
    this.seen = effects.length;
    return said.filter((effect) => effect.kind === 'TellAsset');
  }

  /** Brings all word on its way, and the answers back. */
  deliver(): this {
    for (const word of this.take()) {
      this.tell(word);
      this.answer(word);
    }
    return this;
  }

  /** To all dags whose newest version waits for the asset. */
  tell({ shard: from, tenantId, asset }: TellAsset): void {
    const newest = new Map(this.box.changes('DagDeployed').map((change) => [change.dagId, change]));
    for (const { dagId, shard, spec } of newest.values()) {
      if (!triggersOf(spec).some(({ assets }) => assets?.names.includes(asset.name))) continue;
      this.box.feed({ kind: 'TakeAsset', shard, tenantId, dagId, from, asset });
    }
  }

  answer({ shard, tenantId, asset: { name, no } }: TellAsset): Answer {
    return this.box.feed({ kind: 'NoteAssetTold', shard, tenantId, name, no });
  }
}
