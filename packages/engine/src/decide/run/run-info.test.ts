import { expect, test } from 'vitest';
import { START } from '../../testing/node.ts';
import { scenario } from '../../testing/scenario.ts';
import { dag, every, task } from '../../testing/specs.ts';

test('a task that looks at its run is told of it; every task of a run for a window is told of the window', () => {
  const spec = dag([task('looks', [], { runInfo: true }), task('other')], { schedule: every('* * * * *') });
  const box = scenario({ dag: spec, runs: 0 });
  box.submit();
  box.advance('61s');
  while (box.tryClaim() !== null);
  const infos = box.effects.flatMap((effect) => (effect.kind === 'SendAssignment' ? [effect.runInfo] : []));
  const common = { createdAt: expect.any(Number), priority: 'normal', unmet: null, assets: null };
  const window = { at: START + 60_000, start: START };
  expect(infos).toEqual([{ ...common, window: null }, null, { ...common, window }, { ...common, window }]);
});
