/**
 * Heartbeats and what their answers prove. A lease counts from when a heartbeat was *sent*: the server renewed it no earlier
 * than that, and the time that the answer took is unknown.
 */
const MAX_PENDING = 64;

export class Pulse {
  heartbeatMs = 3_000;
  leaseMs = 15_000;
  #no = 0;
  #pending: { readonly no: number; readonly sentAt: number }[] = [];
  #lastSentAt = 0;
  /** When the last heartbeat was sent that has been answered. */
  heardAt = 0;
  /** The number of the last one answered. */
  answeredNo = 0;

  get lastNo(): number {
    return this.#no;
  }

  /** A welcome answers the hello, which names all claims as a heartbeat does. */
  welcomed(times: { readonly heartbeatMs: number; readonly leaseMs: number }, helloSentAt: number): void {
    this.heartbeatMs = times.heartbeatMs;
    this.leaseMs = times.leaseMs;
    this.#pending = [];
    this.#lastSentAt = helloSentAt;
    this.heardAt = Math.max(this.heardAt, helloSentAt);
  }

  /** Takes the number of a heartbeat that is being sent. */
  beat(now: number): number {
    this.#no++;
    this.#lastSentAt = now;
    if (this.#pending.length < MAX_PENDING) this.#pending.push({ no: this.#no, sentAt: now });
    return this.#no;
  }

  answered(no: number): void {
    for (const { no: sentNo, sentAt } of this.#pending) {
      if (sentNo <= no) this.heardAt = Math.max(this.heardAt, sentAt);
    }
    this.#pending = this.#pending.filter((sent) => sent.no > no);
    this.answeredNo = Math.max(this.answeredNo, Math.min(no, this.#no));
  }

  isDue(now: number): boolean {
    return now - this.#lastSentAt >= this.heartbeatMs;
  }

  /** Two heartbeats in a row went without an answer, or could not even be written: the connection may be half open. */
  isSilent(now: number): boolean {
    return now - this.heardAt >= 3 * this.heartbeatMs;
  }

  /** Whether the server may have given up an attempt that came at this time. */
  hasLapsed(arrivedAt: number, now: number): boolean {
    return now - Math.max(this.heardAt, arrivedAt) >= this.leaseMs;
  }
}
