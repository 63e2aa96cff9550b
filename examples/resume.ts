// A long task that goes on where it was left. After each part it saves how far it is; the attempt that comes after a failure, on
// whatever worker, begins with that. While it runs it tells how far it is: see `npx signalbox runs show <run>`.
//
//   npx signalbox runs trigger resume --wait
import { dag } from '@signalbox/sdk';

interface Done {
  parts: number;
  /** Which attempt did which part. */
  by: number[];
}

export default dag<{ parts?: number } | null>(
  'resume',
  { description: 'Fails twice, and does no part twice.' },
  ({ task }) => {
    task(
      'copy',
      { retries: { maxAttempts: 5, baseMs: 50, maxMs: 200 }, timeout: '30s' },
      async ({ params, attempt, checkpoint, progress, assertOwned, log }) => {
        const all = params?.parts ?? 6;
        const done = checkpoint.get<Done>() ?? { parts: 0, by: [] };
        log.info('begins', { from: done.parts });
        while (done.parts < all) {
          await assertOwned(); // nobody else copies this by now
          done.by.push(attempt);
          done.parts += 1;
          await checkpoint.set(done); // stored when this goes on
          progress(done.parts / all, `${done.parts} of ${all} parts`);
          if (attempt < 3 && done.parts === 2 * attempt) throw new Error(`The disk was full after part ${done.parts}.`);
        }
        return done;
      },
    );
  },
);
