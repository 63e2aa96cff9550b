/**
 * The settings of the cluster, in memory: the engine asks for them in the middle of a step. They are looked at again and again;
 * what was computed by others is then computed again.
 */
import type { ClusterSettings } from '@signalbox/store';

const LOOK_MS = 5_000;

export interface SettingsBookParts {
  readonly store: { readSettings(): Promise<ClusterSettings> };
  readonly onChanged: (reason: string) => void;
  /** Whether there is a rate card. */
  readonly onAccounting?: (isOn: boolean) => void;
}

export class SettingsBook {
  readonly #parts: SettingsBookParts;
  #settings: ClusterSettings = { defaultJitterMs: 0, isAccounting: false };
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: SettingsBookParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    this.#settings = await this.#parts.store.readSettings();
    this.#parts.onAccounting?.(this.#settings.isAccounting);
    this.#timer = setInterval(() => void this.runOnce().catch(() => undefined), LOOK_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  readonly defaultJitterMs = (): number => this.#settings.defaultJitterMs;

  /** A database that is away is asked again. */
  async runOnce(): Promise<void> {
    const read = await this.#parts.store.readSettings();
    this.#parts.onAccounting?.(read.isAccounting);
    const before = this.#settings;
    this.#settings = read;
    if (read.defaultJitterMs === before.defaultJitterMs) return;
    this.#parts.onChanged(`schedules have a jitter of ${read.defaultJitterMs} ms unless they name one`);
  }
}
