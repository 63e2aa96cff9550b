// One of eight parts hangs: its disk has gone bad. It has run three times as long as its siblings took, so a speculative attempt begins
// beside it, at another worker if there is one, and is done at once. The first to succeed counts; the other is stopped.
//
//   npx signalbox runs trigger speculative --wait
//   npx signalbox runs show <run> --all        # read[5] has two attempts; the first is `cancelled: superseded`
import { setTimeout } from 'node:timers/promises';
import { dag } from '@signalbox/sdk';

const PARTS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

export default dag('speculative', { description: 'Does not wait for the slowest of its items.' }, ({ task }) => {
  const read = task(
    'read',
    { map: PARTS, speculate: { factor: 3, after: '2s' }, timeout: '5m' },
    async ({ item, index, attempt, signal, log }) => {
      if (index === 5 && attempt === 1) {
        log.warn('the disk does not answer');
        await setTimeout(240_000, undefined, { signal }); // fires when the attempt is stopped
      }
      return { part: item, by: attempt };
    },
  );
  task('join', { inputs: { parts: read.output } }, ({ inputs }) => inputs.parts.map(({ part }) => part).join(''));
});
