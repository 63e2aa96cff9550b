/** Streams that tell a value at once and whenever it has changed. Their number is bounded (I68). */
import { type ServerWritableStream, status } from '@grpc/grpc-js';
import { networkOf } from '../auth/network.ts';
import { Places } from './places.ts';

const LOOK_MS = 1_000;
const MOST_WATCHING = { all: 200, ofNetwork: 50 };

export class Watchers {
  readonly #places = new Places(MOST_WATCHING);

  /** `look` is asked once a second. If it throws, the stream ends with what `refuse` makes of it. */
  add<Asked, Told>(
    stream: ServerWritableStream<Asked, Told>,
    look: () => Promise<Told>,
    refuse: (error: unknown) => object,
  ): void {
    stream.on('error', () => undefined);
    const giveBack = this.#places.take(networkOf(stream.getPeer()));
    if (giveBack === null) {
      stream.emit('error', { code: status.RESOURCE_EXHAUSTED, details: 'Too many are watching.' });
      return;
    }
    let last = '';
    let isLooking = false;
    const tell = async (): Promise<void> => {
      if (isLooking) return;
      isLooking = true;
      try {
        const told = await look();
        const text = JSON.stringify(told);
        if (text !== last) stream.write(told);
        last = text;
      } catch (error) {
        stream.emit('error', refuse(error));
      }
      isLooking = false;
    };
    const timer = setInterval(() => void tell(), LOOK_MS);
    const stop = (): void => {
      clearInterval(timer);
    };
    stream.once('error', stop);
    stream.once('close', () => {
      stop();
      giveBack();
    });
    stream.once('cancelled', () => stream.end());
    void tell();
  }
}
