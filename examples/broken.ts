// A task that fails each time: it is tried again until its attempts are used up, and what needs it never runs.
//
//   npx signalbox runs trigger broken --wait
import { dag } from '@signalbox/sdk';

export default dag('broken', { description: 'Fails on purpose.' }, ({ task }) => {
  const prepare = task('prepare', () => ({ rows: 3 }));

  const stumble = task(
    'stumble',
    { inputs: { rows: prepare.output.rows }, retries: { maxAttempts: 3, baseMs: 200 }, timeout: '10s' },
    ({ inputs, attempt, log }) => {
      for (let row = 1; row <= inputs.rows; row++) log.info(`looking at row ${row}`);
      console.log('row 3 has no price');
      throw new Error(`This example fails on purpose (attempt ${attempt}).`);
    },
  );

  task('never', { needs: [stumble] }, () => 'not reached');
});
