// Something outside that is not always there. The first two attempts fail; after each one it waits a little longer. Whatever
// must happen once is done under `effectKey`, which is the same for all attempts of the task.
//
//   npx signalbox runs trigger flaky --wait
import { dag, PermanentError } from '@signalbox/sdk';

interface Order {
  order: number;
}

export default dag<Partial<Order> | null>('flaky', { description: 'Succeeds at the third attempt.' }, ({ task }) => {
  const charge = task(
    'charge',
    { retries: { maxAttempts: 5, baseMs: 100, maxMs: 1_000 }, timeout: '5s' },
    ({ params, attempt, effectKey, log }) => {
      if ((params?.order ?? 1) < 0) throw new PermanentError('There is no such order.'); // no retry would help
      if (attempt < 3) throw new Error(`The bank does not answer (attempt ${attempt}).`);
      log.info('charged', { effectKey });
      return { order: params?.order ?? 1, attempts: attempt };
    },
  );

  task('receipt', { inputs: { charged: charge.output } }, ({ inputs }) => {
    const { order, attempts } = inputs.charged;
    return `order ${order} was paid at attempt ${attempts}`;
  });
});
