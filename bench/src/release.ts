/**
 * Thousands of tasks of one dag become ready at once: what others wait meanwhile. Another dag of the same tenant and priority submits a
 * run over and over: the hardest case, since tenants share slots by weight and priorities are strict.
 */
import { type Cluster, pause } from '@signalbox/e2e';
import { type Figure, quantile } from './figure.ts';
import { runEnded, wideDefinition } from './throughput.ts';

const ALONE_MS = 3_000;

export async function release(cluster: Cluster, count: number): Promise<Figure[]> {
  const client = cluster.client();
  await client.deployDag({ name: 'small', tasks: [{ name: 'only', handler: 'noop' }] });
  await client.deployDag({
    name: 'map',
    maxMapSize: count,
    tasks: [
      { name: 'list', handler: 'list' },
      { name: 'each', handler: 'noop', map: '${{ tasks.list.output }}' },
    ],
  });
  await client.deployDag({ ...wideDefinition(count), name: 'wide' });
  const shown = count.toLocaleString('en');
  const large = {
    'nothing else': null,
    [`a map of ${shown}`]: () => client.submit('map', { params: { count } }),
    [`a dag of ${shown} tasks`]: () => client.submit('wide', {}),
  };
  const figures: Figure[] = [];
  for (const [beside, begin] of Object.entries(large)) {
    const ms: number[] = [];
    const run = begin === null ? null : await begin();
    const began = performance.now();
    const goesOn = async () =>
      run === null ? performance.now() - began < ALONE_MS : !(await runEnded(cluster, run.id));
    while (await goesOn()) {
      const from = performance.now();
      const { id } = await client.submit('small', {});
      while (!(await runEnded(cluster, id))) await pause(1);
      ms.push(performance.now() - from);
    }
    figures.push({
      what: `a small run beside ${beside}: submit to end`,
      value: quantile(ms, 0.5),
      unit: 'ms',
      details: {
        'p99 ms': quantile(ms, 0.99),
        'max ms': quantile(ms, 1),
        samples: ms.length,
        's in all': (performance.now() - began) / 1_000,
      },
    });
  }
  return figures;
}
