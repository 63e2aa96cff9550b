/** Plays the host for limits that span shards: brings what shards and homes say to each other, or loses it, as a test says. */
import type { AskHome, TellSlots } from '../decide/effect.ts';
import { homeOf } from '../model/limit.ts';
import type { Scenario } from './scenario.ts';

export class SlotLines {
  readonly box: Scenario;
  private seen = 0;

  constructor(box: Scenario) {
    this.box = box;
  }

  /** What has been said since the last time, in order; it is now off the line. */
  take(): (AskHome | TellSlots)[] {
    const { effects } = this.box;
    const said = effects.slice(this.seen);
    this.seen = effects.length;
    return said.filter((effect) => effect.kind === 'AskHome' || effect.kind === 'TellSlots');
  }

  /** Until nobody has anything to say. */
  deliver(): this {
    for (let rounds = 0; rounds < 1_000; rounds++) {
      const said = this.take();
      if (said.length === 0) return this;
      for (const word of said) this.bring(word);
    }
    throw new Error('Shards and homes never stop to talk.');
  }

  bring(word: AskHome | TellSlots): void {
    if (word.kind === 'TellSlots') {
      this.box.feed({ ...word, kind: 'TakeSlots' });
      return;
    }
    const { limit, from } = word;
    const answer = this.box.feed({ ...word, kind: 'AskSlots', shard: homeOf(limit) });
    if (!answer.ok || answer.kind !== 'slots') throw new Error(`No word of slots: ${JSON.stringify(answer)}`);
    const { given, recall, isTight, isWanting, heard } = answer;
    this.box.feed({ kind: 'TakeSlots', shard: from, limit, given, recall, isTight, isWanting, heard });
  }
}
