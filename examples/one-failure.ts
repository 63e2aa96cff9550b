// Three parts of a report, one of which can't be had: the same dag under each of the policies for failures.
//
//   npx signalbox runs trigger one-failure-skip_failed --wait
import { dag } from '@signalbox/sdk';

function report(onFailure: 'continue' | 'fail_fast' | 'skip_failed') {
  return dag(`one-failure-${onFailure}`, { onFailure }, ({ task }) => {
    const sales = task('sales', () => 12);
    const stock = task('stock', (): number => {
      throw new Error('The warehouse does not answer.');
    });
    const staff = task('staff', { needs: [sales] }, () => 7);
    // Under skip_failed it runs: what is missing is null, and it is told what failed.
    task(
      'report',
      { inputs: { sales: sales.output, stock: stock.output, staff: staff.output } },
      ({ inputs, failedUpstream }) => ({ ...inputs, missing: failedUpstream }),
    );
    // Under all policies but fail_fast somebody hears of it.
    task('complain', { needs: [stock], rule: 'one_failed' }, () => 'called the warehouse');
  });
}

export const dags = [report('continue'), report('fail_fast'), report('skip_failed')];
