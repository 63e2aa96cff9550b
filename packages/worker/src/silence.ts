/**
 * Detects a gateway that hangs. The worker pings it every `pingMs`. If nothing at all arrives for three times as long, the
 * gateway counts as hung. Other servers take its shards after about the same time.
 *
 * A gateway that does not answer pings (`pingMs` is 0: an older server) is watched by its heartbeats alone.
 */

/**
 * Of a longer gap between two looks only this much counts. A worker that was paused, or kept busy by a handler, was not
 * listening: what the gateway said meanwhile is still in its socket.
 */
const LONGEST_GAP_MS = 500;
const PINGS = 3;

export class Silence {
  #pingMs = 0;
  #no = 0;
  #silentMs = 0;
  #sinceAskedMs = 0;
  #lookedAt: number | null = null;

  /** A stream is up, or the gateway has changed its mind. */
  begin(pingMs: number): void {
    this.#pingMs = pingMs;
    this.#silentMs = 0;
    this.#sinceAskedMs = 0;
    this.#lookedAt = null;
  }

  /** Any message of the gateway shows that it is alive. */
  heard(): void {
    this.#silentMs = 0;
  }

  nextNo(): number {
    this.#no += 1;
    return this.#no;
  }

  look(now: number): 'well' | 'ping' | 'hung' {
    if (this.#pingMs === 0) return 'well';
    const passedMs = Math.min(now - (this.#lookedAt ?? now), LONGEST_GAP_MS);
    this.#lookedAt = now;
    this.#silentMs += passedMs;
    this.#sinceAskedMs += passedMs;
    if (this.#silentMs >= PINGS * this.#pingMs) return 'hung';
    if (this.#sinceAskedMs < this.#pingMs) return 'well';
    this.#sinceAskedMs = 0;
    return 'ping';
  }
}
