/** Counts answered requests by operation. A name that a user chose never becomes a label. */
import { Histogram, type HistogramSeen } from '@signalbox/host';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface AnsweredRequest {
  /** As in the table of operations; empty for a route that is not there. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
  /** A stream is as long as its reader likes: its time says nothing. */
  readonly isStream: boolean;
}

export interface RequestCount {
  readonly route: string;
  readonly method: string;
  /** `2xx`. */
  readonly status: string;
  readonly count: number;
}

export interface RequestTimes {
  readonly route: string;
  readonly method: string;
  readonly seconds: HistogramSeen;
}

export class HttpMetrics {
  readonly #counts = new Map<string, { -readonly [K in keyof RequestCount]: RequestCount[K] }>();
  readonly #times = new Map<string, { route: string; method: string; seconds: Histogram }>();

  /** Routes, methods and classes are few, so is what is kept. */
  answered({ route, method, status, seconds, isStream }: AnsweredRequest): void {
    const group = `${Math.floor(status / 100)}xx`;
    const name = `${method} ${route}`;
    const known = this.#counts.get(`${name} ${group}`);
    if (known === undefined) this.#counts.set(`${name} ${group}`, { route, method, status: group, count: 1 });
    else known.count += 1;
    if (isStream) return;
    let times = this.#times.get(name);
    if (times === undefined) {
      times = { route, method, seconds: new Histogram(SECONDS) };
      this.#times.set(name, times);
    }
    times.seconds.add(seconds);
  }

  seen(): { readonly counts: readonly RequestCount[]; readonly times: readonly RequestTimes[] } {
    return {
      counts: [...this.#counts.values()],
      times: [...this.#times.values()].map(({ route, method, seconds }) => ({
        route,
        method,
        seconds: seconds.seen(),
      })),
    };
  }
}
