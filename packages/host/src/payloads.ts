/**
 * Params and outputs for assignments. They are cached for a while after they pass through, and fetched again when they are
 * gone (I36).
 */
import type { PayloadKey, Store } from '@signalbox/store';
import { payloadName, readLargeOutput } from '@signalbox/store';

const KEPT_BYTES = 32 * 1024 * 1024;
const ENTRY_BYTES = 200;

export class Payloads {
  private readonly store: Store;
  /** Oldest first. Null: known to have none. */
  private readonly kept = new Map<string, string | null>();
  private bytes = 0;
  /** What was read of the database before this changed may be out of date: another node may have had the shard meanwhile. */
  private generation = 0;

  constructor(store: Store) {
    this.store = store;
  }

  /** Stores what a committed batch has written. It replaces older values, because a cleared task can run again. */
  put(key: PayloadKey, text: string | null): void {
    const name = payloadName(key);
    const old = this.kept.get(name);
    if (old !== undefined) {
      this.kept.delete(name);
      this.bytes -= ENTRY_BYTES + (old?.length ?? 0);
    }
    this.add(name, text);
  }

  /** Shards were taken: what people had done over there is not known here. */
  forgetAll(): void {
    this.generation += 1;
    this.kept.clear();
    this.bytes = 0;
  }

  /** What was found; what a commit has written since stays. */
  keep(key: PayloadKey, text: string | null): void {
    const name = payloadName(key);
    if (!this.kept.has(name)) this.add(name, text);
  }

  private add(name: string, text: string | null): void {
    this.kept.set(name, text);
    this.bytes += ENTRY_BYTES + (text?.length ?? 0);
    if (this.bytes <= KEPT_BYTES) return;
    for (const [oldest, old] of this.kept) {
      if (this.bytes <= KEPT_BYTES) break;
      this.kept.delete(oldest);
      this.bytes -= ENTRY_BYTES + (old?.length ?? 0);
    }
  }

  /** Undefined when it is not known here. */
  peek(key: PayloadKey): string | null | undefined {
    return this.kept.get(payloadName(key));
  }

  /** What each of them holds. Taken from here and not from what is kept: that has a limit, and one may push out another. */
  async fetch(keys: readonly PayloadKey[]): Promise<(key: PayloadKey) => string | null> {
    const texts = new Map<string, string | null>();
    const lacking: PayloadKey[] = [];
    for (const key of keys) {
      const text = this.peek(key);
      if (text === undefined) lacking.push(key);
      else texts.set(payloadName(key), text);
    }
    const { generation } = this;
    const found = await this.store.fetchPayloads(lacking);
    for (const key of lacking) {
      const text = found.get(payloadName(key)) ?? null;
      texts.set(payloadName(key), text);
      // Large ones would push out all others. An attempt without an error may have one later: that is not remembered.
      const mayCome = key.errorOf !== undefined && text === null;
      if (key.large === undefined && !mayCome && generation === this.generation) this.keep(key, text);
    }
    return (key) => texts.get(payloadName(key)) ?? null;
  }

  /** The same with large outputs in place of where they are. */
  async fetchWhole(keys: readonly PayloadKey[]): Promise<(key: PayloadKey) => string | null> {
    const textOf = await this.fetch(keys);
    const rowOf = (key: PayloadKey) => readLargeOutput(textOf(key) ?? '')?.row;
    const large = keys.flatMap((key) => {
      const row = rowOf(key);
      return row === undefined ? [] : [{ ...key, large: row }];
    });
    if (large.length === 0) return textOf;
    const wholeOf = await this.fetch(large);
    return (key) => {
      const row = rowOf(key);
      return row === undefined ? textOf(key) : wholeOf({ ...key, large: row });
    };
  }
}
