// An order in three steps, two of which can be undone. When the last one fails, or the run is cancelled, what was done is
// undone, the newest first, and somebody hears of it.
//
//   npx signalbox runs trigger saga --wait --params '{"order":7,"inStock":false}'
import { dag, PermanentError } from '@signalbox/sdk';

const options = {
  compensate: true,
  hooks: { onFailure: { run: 'echo "the order could not be taken: $INPUT_failed"' } },
} as const;

export default dag<{ order: number; inStock: boolean }>('saga', options, ({ task, undo, params }) => {
  const reserve = task('reserve', { inputs: { order: params.order } }, ({ inputs }) => ({
    seat: `seat ${inputs.order}`,
  }));
  const pay = task('pay', { needs: [reserve] }, ({ params }) => ({ payment: `payment ${params.order}` }));
  task('ship', { needs: [pay] }, ({ params }) => {
    if (!params.inStock) throw new PermanentError('There is nothing to ship.');
    return 'on its way';
  });
  undo(reserve, ({ inputs }) => `${inputs.output.seat} is free again`);
  undo(pay, { function: ({ inputs }) => `${inputs.output.payment} is paid back`, retries: { maxAttempts: 5 } });
});
