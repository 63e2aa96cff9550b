// A task that adds tasks: `plan` finds out what there is to do, and adds a way of two tasks for each file that it finds; `sum` waits for
// all of them. Where each item goes the same way, a map says so in one line (nested-map.ts): adding is for graphs that only code can tell.
//
//   npx signalbox runs trigger add-tasks --params '{"files":["a.csv","b.csv","notes.txt"]}' --wait
import { dag, type HandlerContext } from '@signalbox/sdk';

type FileContext = HandlerContext<{ file: string }>;

export default dag<{ files?: string[] } | null>('add-tasks', { maxAddedTasks: 50 }, ({ task, template }) => {
  // Templates are tasks without a place in the graph: what they do, with retries and timeouts, is known before anything runs.
  const load = template('load', { retries: { maxAttempts: 3 }, timeout: '1m' }, ({ inputs }: FileContext) => ({
    file: inputs.file,
    rows: inputs.file.length,
  }));
  const check = template('check', ({ inputs, upstream }: FileContext) => {
    const { rows } = upstream[`load-${inputs.file}`] as { rows: number };
    return rows;
  });

  const plan = task('plan', { adds: true }, async ({ params, addTasks }) => {
    const files = params?.files ?? ['a.csv', 'b.csv'];
    const tables = files.filter((file) => file.endsWith('.csv'));
    // All of them or none. An attempt that is tried again adds the same names again, and nothing is added twice.
    await addTasks(
      tables.flatMap((file) => [
        { name: `load-${file}`, template: load, inputs: { file } },
        { name: `check-${file}`, template: check, inputs: { file }, needs: [`load-${file}`], before: ['sum'] },
      ]),
    );
  });

  // Needs `plan`, so that it has not begun when the tasks come that it is to wait for.
  task('sum', { needs: [plan] }, ({ upstream }) =>
    Object.entries(upstream).reduce(
      (rows, [name, found]) => (name.startsWith('check-') ? rows + Number(found) : rows),
      0,
    ),
  );
});
