import type { ServerWritableStream } from '@grpc/grpc-js';
import { STALLED_MS } from '../../rest/sse.ts';
import type { Message } from './message.ts';

/** False when the reader has taken nothing for too long: it holds a place that others may want. */
export function isDrained(stream: ServerWritableStream<Message, object>, gone: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (isTaken: boolean) => {
      clearTimeout(timer);
      gone.removeEventListener('abort', onGone);
      resolve(isTaken);
    };
    const onGone = () => done(true);
    const timer = setTimeout(() => done(false), STALLED_MS);
    stream.once('drain', () => done(true));
    gone.addEventListener('abort', onGone, { once: true });
  });
}
