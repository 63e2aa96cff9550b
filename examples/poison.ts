// A task that can never work: it fails at once, and would do so ten times. After the third time it is given up, and waits as a
// dead letter for somebody who mends it.
//
//   npx signalbox runs trigger poison --wait
//   npx signalbox dead-letters list --dag poison
//   npx signalbox dead-letters replay --dag poison --latest --dry-run
import { dag } from '@signalbox/sdk';

interface Params {
  amount?: string;
}

export default dag<Params | null>('poison', { description: 'Given up after three failures at once.' }, ({ task }) => {
  task('parse', { retries: { maxAttempts: 10, baseMs: 100, maxMs: 500 } }, ({ params }) => {
    const amount = Number(params?.amount ?? '12,50');
    if (Number.isNaN(amount)) throw new TypeError(`"${params?.amount ?? '12,50'}" is no number.`);
    return amount;
  });

  // The same mistake, in a task that waits for something: it wants all of its attempts.
  task('patient', { retries: { maxAttempts: 5, baseMs: 100, maxMs: 500 }, poison: false }, ({ attempt }) => {
    if (attempt < 5) throw new Error('It is not there yet.');
    return `there at attempt ${attempt}`;
  });
});
