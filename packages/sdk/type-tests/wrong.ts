/** Does not compile, and says so at the lines that have the mark: each is a wire to the wrong place. */
import { dag, type HandlerContext } from '@signalbox/sdk';
import { testRun } from '@signalbox/sdk/testing';

const wantsText = ({ inputs }: HandlerContext<{ grams: string }>) => inputs.grams;
const wantsMore = ({ inputs }: HandlerContext<{ grams: number; beans: string }>) => inputs.beans;

const coffee = dag<{ cups: number }>('coffee', ({ task, process, params }) => {
  const grind = task('grind', async ({ params }) => ({ grams: 16 * params.cups, at: new Date() }));

  task('another-type', { inputs: { grams: grind.output.grams } }, wantsText); // TS2345
  task('missing', { inputs: { grams: grind.output.grams } }, wantsMore); // TS2345
  task('none-given', {}, wantsText); // TS2345
  task('another-literal', { inputs: { grams: 3 } }, wantsText); // TS2345
  task('function-too-strict', wantsText); // TS2345
  task('no-such-field', { inputs: { grams: grind.output.grammes } }, ({ inputs }) => inputs.grams); // TS2551
  task('used-as-text', { inputs: { grams: grind.output.grams } }, ({ inputs }) => inputs.grams.toUpperCase()); // TS2339
  task('not-wired', { inputs: { grams: grind.output.grams } }, ({ inputs }) => inputs.beans); // TS2339
  task('no-inputs', ({ inputs }) => inputs.grams.toFixed()); // TS2339
  task('date-through-json', { inputs: { at: grind.output.at } }, ({ inputs }) => inputs.at.getTime()); // TS2339
  task('wrong-param', { inputs: { mugs: params.mugs } }, ({ inputs }) => inputs.mugs); // TS2339
  task('param-as-text', ({ params }) => params.cups.trim()); // TS2339
  task('span', { timeout: '30 seconds' }, () => 1); // TS2322
  task('needs-a-name', { needs: ['grind'] }, () => 1); // TS2322
  task('inside-a-text', { inputs: { text: `${grind.output.grams.toFixed()} g` } }, ({ inputs }) => inputs.text); // TS2339
  const raw = process('raw', { run: 'true' });
  task('unknown-output', { inputs: { grams: raw.output, beans: 'a' } }, wantsMore); // TS2345
});

dag<{ day: string }>('mapped', ({ task, map, params }) => {
  const list = task('list', () => ({ files: [{ path: 'a' }], count: 3 }));
  task('no-list', { map: list.output.count }, () => 1); // TS2322
  task('no-list-of-params', { map: params.day }, () => 1); // TS2322
  task('item-has-not', { map: list.output.files }, ({ item }) => item.size); // TS2339
  task('item-of-a-list', { map: [1, 2] }, ({ item }) => item.trim()); // TS2339
  const load = task('load', { map: list.output.files }, ({ item }) => ({ rows: item.path.length }));
  task('one-for-many', { inputs: { grams: load.output.rows } }, wantsText); // TS2345
  task('used-as-one', { inputs: { rows: load.output.rows } }, ({ inputs }) => inputs.rows.toFixed()); // TS2339
  task('each-has-not', { inputs: { rows: load.output.grams } }, ({ inputs }) => inputs.rows); // TS2339
  task('over-parts', { map: load.output.rows }, () => 1); // TS2322
  task('another-mode', { map: { over: [1], mode: 'cross' } }, () => 1); // TS2322
  const inner = map('each', list.output.files, ({ item, task }) => {
    task('wrong-field', { inputs: { size: item.size } }, ({ inputs }) => inputs.size); // TS2339
    task('wrong-type', { inputs: { grams: item } }, wantsText); // TS2345
    return task('inner', ({ item }) => item.path);
  });
  task('inner-as-one', { inputs: { grams: inner.output } }, wantsText); // TS2345
});

dag('typo', { shedule: { cron: '0 7 * * *' } }, ({ task }) => void task('t', () => 1)); // TS2561
dag('two-kinds', { schedule: { cron: '@daily', every: '5m' } }, ({ task }) => void task('t', () => 1)); // TS2322
dag('untyped-params', ({ task }) => void task('t', ({ params }) => params.cups)); // TS18046
void testRun(coffee, { params: { cups: 'two' } }); // TS2322

const called = dag<{ region: string }, { load: { rows: number } }>('called', ({ task }) => {
  task('load', () => ({ rows: 1 }));
});
export const calls = dag('calls', ({ child, task }) => {
  child('missing', { dag: called }); // TS2769
  child('other type', { dag: called, inputs: { region: 1 } }); // TS2769
  const made = child('made', { dag: called, inputs: { region: 'x' } });
  task('use', { inputs: { rows: made.output.load.lines } }, () => 1); // TS2339
});

dag<{ day: string }>('missing-upstream', ({ task, params, window }) => {
  const count = task('count', () => ({ n: 3 }));
  task('lax', { rule: 'all_done', inputs: { n: count.output.n } }, ({ inputs }) => inputs.n.toFixed()); // TS18047
  task('lax-whole', { rule: 'one_success', inputs: { all: count.output } }, ({ inputs }) => inputs.all.n); // TS18047
  task('no-schedule', { inputs: { at: window.at } }, ({ inputs }) => inputs.at.slice(0, 10)); // TS18047
  task('no-such-window', { inputs: { at: window.until } }, ({ inputs }) => inputs.at); // TS2339
  task('param-is-there', { rule: 'all_done', inputs: { day: params.day } }, ({ inputs }) => inputs.day.toFixed()); // TS2551
});
