// One dag runs another, and waits for it: `regions` loads each region by a run of `load-region`, which may as well be started by
// itself. A run that was called is a run like any other, with its own tasks, retries and log; cancelling `regions` cancels what it called.
//
//   npx signalbox runs trigger regions --params '{"day":"2026-01-01"}' --wait
import { dag } from '@signalbox/sdk';

interface Region {
  readonly region: string;
  readonly day: string;
}

// What a run leaves for whoever calls it: the outputs of its last tasks, by their names.
export const loadRegion = dag<Region, { load: { rows: number } }>('load-region', ({ task }) => {
  const fetched = task('fetch', ({ params }) => ({ lines: [`${params.region} ${params.day}`, 'another line'] }));
  task('load', { inputs: { lines: fetched.output.lines } }, ({ inputs }) => ({ rows: inputs.lines.length }));
});

export default dag<{ day?: string } | null>('regions', ({ task, child }) => {
  const day = task('day', ({ params }) => params?.day ?? '2026-01-01');
  const north = child('north', { dag: loadRegion, inputs: { region: 'north', day: day.output }, timeout: '1h' });
  const south = child('south', { dag: loadRegion, inputs: { region: 'south', day: day.output }, timeout: '1h' });
  const rows = { north: north.output.load.rows, south: south.output.load.rows };
  task('sum', { inputs: rows }, ({ inputs }) => inputs.north + inputs.south);
});
