// A database for one run: made first, used, and taken down again, whatever becomes of the tasks between.
//
//   npx signalbox runs trigger teardown --wait
//   npx signalbox runs trigger teardown --wait --params '{"fails":true}'
import { dag } from '@signalbox/sdk';

export default dag<{ fails?: boolean } | null>('teardown', ({ task }) => {
  const make = task('make-database', ({ run }) => ({ name: `scratch_${run.slice(0, 8)}` }));
  const load = task('load', { inputs: { name: make.output.name } }, ({ inputs, params }) => {
    if (params?.fails) throw new Error('The file has no end.');
    return `loaded into ${inputs.name}`;
  });
  task('report', { needs: [load] }, () => 'sent');
  // Runs once load and report have ended, in whatever way, if the database was made; also after a cancel.
  task(
    'drop-database',
    { teardown: make, inputs: { name: make.output.name } },
    ({ inputs }) => `dropped ${inputs.name}`,
  );
});
